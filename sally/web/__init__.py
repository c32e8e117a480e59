"""People as players: the same match, words, probes and log, in a browser."""
