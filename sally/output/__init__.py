"""Output: transcripts, pages, figures, tables, exports and bundles."""
