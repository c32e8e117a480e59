"""What is drawn and written: transcripts, pages, figures, tables, exports, bundles."""
