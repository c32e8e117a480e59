"""The functional core: the types and functions of games, players, matches, probes and logs."""
