"""A shared room, no game: words, their vectors, and minds that associate in declared ways."""
