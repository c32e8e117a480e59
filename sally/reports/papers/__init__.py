"""One module per paper: how its figures are had again."""
