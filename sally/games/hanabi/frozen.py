"""The frozen deals that ship with the package: made once, never edited.

A deal's number already fixes its cards; the files say so in plain sight, for other programs, and
hold the shuffle to what it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import msgspec

from sally.core.errors import unknown
from sally.games.hanabi.cards import Card, shuffled
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.spec import PRESETS

SETS: Mapping[str, Hanabi] = {
    "hanabi": Hanabi(),
    **{name: msgspec.convert(params, Hanabi) for name, params in PRESETS.items()},
}
DEALS = 1_000  # as many as bots of Hanabi are usually compared on
FIRST_LETTER = ord("a")


class FrozenDeals(msgspec.Struct, frozen=True):
    """Deals 0, 1, 2 ... of one game; a letter is a card, from a on, colour by colour."""

    game: str
    colours: int
    ranks: int
    decks: tuple[str, ...]


def frozen_decks(game: str) -> tuple[tuple[Card, ...], ...]:
    """The decks of a game's frozen deals, by their number."""
    if game not in SETS:
        raise unknown("frozen set of deals", game, SETS)
    source = files(__package__) / "instances" / f"{game}.json"
    found = msgspec.json.decode(source.read_bytes(), type=FrozenDeals)
    return tuple(tuple(ord(card) - FIRST_LETTER for card in deck) for deck in found.decks)


def made(game: str) -> FrozenDeals:
    """The deals anew, as the shuffle gives them today."""
    rules = SETS[game]
    decks = (shuffled(rules.cards, deal) for deal in range(DEALS))
    letters = tuple("".join(chr(FIRST_LETTER + card) for card in deck) for deck in decks)
    return FrozenDeals(game, rules.colours, rules.ranks, letters)


def written(deals: FrozenDeals) -> bytes:
    """The deals as JSON, one deck a line so that differences can be read."""
    return msgspec.json.format(msgspec.json.encode(deals), indent=1) + b"\n"
