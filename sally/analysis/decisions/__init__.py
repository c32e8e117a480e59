"""What single decisions cost."""
