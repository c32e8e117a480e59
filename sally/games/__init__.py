"""One module or package per game. Each defines `GAME`, and its file name is the name of the
game."""
