"""People at the table: the same match, words, probes and log, in a browser."""
