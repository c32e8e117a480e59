"""One module or package per game. Each defines `GAME`; its file name is its name."""
