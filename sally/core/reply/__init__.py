"""Reading an answer from a reply."""
