"""Episodes as columns: tidy rows and measured seats."""
