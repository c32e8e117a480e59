"""Play by people in a browser, with the same matches, words, probes and logs as for models."""
