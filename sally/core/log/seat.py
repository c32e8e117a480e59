"""Names that rules, words, probes and the log share: seats, nature and three type variables."""

from __future__ import annotations

from typing import NewType, TypeVar

Seat = NewType("Seat", str)
NATURE = Seat("nature")  # deals and dice are logged as moves, so a replay needs no seed

S = TypeVar("S")  # state: frozen, complete, seen by no player
A = TypeVar("A")  # action: an int, a str, or a tagged frozen struct
V = TypeVar("V")  # view: what one seat knows, its whole past included
