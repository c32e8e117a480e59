"""A laboratory for interactive theory of mind."""
