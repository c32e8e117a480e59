"""Scripted minds for the four games of ToMA (kang2026)."""
