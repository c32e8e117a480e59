"""A self-contained HTML page for a study: tables, plots, episodes and provenance."""
