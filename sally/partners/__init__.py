"""Scripted minds, one module or package per game. Each defines `PARTNERS`: name -> Partner."""
