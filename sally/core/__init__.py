"""The functional core: what a game, a player, a match, a probe and a log are."""
