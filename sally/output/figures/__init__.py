"""Figures for papers, and plots for the report page."""
