"""Names that rules, words, probes and the log share: seats, nature and three type variables."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, NewType

if TYPE_CHECKING:  # a default lets `Match` stand for `Match[Any, Any, Any]`; Python 3.13 has it
    from typing_extensions import TypeVar
else:

    def TypeVar(name, default):
        return typing.TypeVar(name)


Seat = NewType("Seat", str)
NATURE = Seat("nature")  # deals and dice are logged as moves, so a replay needs no seed

S = TypeVar("S", default=Any)  # state: frozen, complete, seen by no player
A = TypeVar("A", default=Any)  # action: an int, a str, or a tagged frozen struct
V = TypeVar("V", default=Any)  # view: what one seat knows, its whole past included
