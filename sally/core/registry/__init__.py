"""Games, players, studies and papers by name."""
