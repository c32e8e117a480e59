"""The frozen deals that ship with the package: generated once, never edited.

A deal's number already determines its cards; the files list them for other programs and let a test
detect a change of the shuffle.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import msgspec

from sally.core.errors import unknown
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.spec import PRESETS
from sally.games.hanabi.state import Card, shuffled

SETS: Mapping[str, Hanabi] = {
    "hanabi": Hanabi(),
    **{name: msgspec.convert(params, Hanabi) for name, params in PRESETS.items()},
}
DEALS = 1_000  # the usual number for comparisons of Hanabi bots
FIRST_LETTER = ord("a")


class FrozenDeals(msgspec.Struct, frozen=True):
    """Deals 0, 1, 2 ... of one game; a letter is a card, starting at a, colour by colour."""

    game: str
    colours: int
    ranks: int
    decks: tuple[str, ...]


def frozen_decks(game: str) -> tuple[tuple[Card, ...], ...]:
    """Return the decks of a game's frozen deals in order. Raises BadInput for an unknown game."""
    if game not in SETS:
        raise unknown("frozen set of deals", game, SETS)
    source = files(__package__) / "instances" / f"{game}.json"
    found = msgspec.json.decode(source.read_bytes(), type=FrozenDeals)
    return tuple(tuple(ord(card) - FIRST_LETTER for card in deck) for deck in found.decks)


def made(game: str) -> FrozenDeals:
    """Return the deals as the current shuffle gives them."""
    rules = SETS[game]
    decks = (shuffled(rules.cards, deal) for deal in range(DEALS))
    letters = tuple("".join(chr(FIRST_LETTER + card) for card in deck) for deck in decks)
    return FrozenDeals(game, rules.colours, rules.ranks, letters)


def written(deals: FrozenDeals) -> bytes:
    """Return the deals as JSON, one deck per line for readable diffs."""
    return msgspec.json.format(msgspec.json.encode(deals), indent=1) + b"\n"
