"""What came of a game of speak or wait, a measure a file."""
