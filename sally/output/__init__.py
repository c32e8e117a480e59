"""From episodes to rows, tables, transcripts, figures and pages."""
