"""The 2x2 of knowing (every prediction right) and doing (the right choice), a cell a file."""
