"""Files: bundles, exports, datasets, transcripts."""
