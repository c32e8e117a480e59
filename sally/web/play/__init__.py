"""Free play: the lobby and the HTTP interface of a seat."""
