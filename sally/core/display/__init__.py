"""Display of episodes and positions, the same for terminal, page and browser."""
