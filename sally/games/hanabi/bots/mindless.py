"""Players that do not reason about other players."""

from __future__ import annotations

from sally.games.hanabi.bots.rule_agents import Odds, evenly
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Policy, View, last_touched


def _any_hint(game: Hanabi, view: View) -> Odds:
    return evenly(a for a in game.legal(view, view.me) if a >= 2 * game.hand_size) or {}


def _hint_or_discard(game: Hanabi, view: View) -> Odds:
    """Give any hint; without a token, discard the oldest card."""
    return _any_hint(game, view) if view.tokens else {0: 1.0}


def hint_always(game: Hanabi) -> Policy:
    """Give any hint while there is a token, otherwise discard the oldest card."""
    return lambda view: _hint_or_discard(game, view)


def play_oldest(game: Hanabi) -> Policy:
    """Play the oldest card."""
    return lambda view: {game.play(0): 1.0}


def play_newest(game: Hanabi) -> Policy:
    """Play the newest card."""
    return lambda view: {game.play(view.slots - 1): 1.0}


def discard_oldest(game: Hanabi) -> Policy:
    """Discard the oldest card, or give any hint while all tokens are available."""
    return lambda view: {0: 1.0} if view.tokens < game.hints else _any_hint(game, view)


def discard_newest(game: Hanabi) -> Policy:
    """Discard the newest card, or give any hint while all tokens are available."""
    return lambda view: {view.slots - 1: 1.0} if view.tokens < game.hints else _any_hint(game, view)


def play_hinted(game: Hanabi) -> Policy:
    """Play the card that a hint touched last; otherwise give any hint or discard the oldest
    card."""

    def policy(view: View) -> Odds:
        slot = last_touched(view, view.me)
        return _hint_or_discard(game, view) if slot is None else {game.play(slot): 1.0}

    return policy


def shun_hinted(game: Hanabi) -> Policy:
    """Play the oldest card that no hint has touched; otherwise give any hint or discard."""

    def policy(view: View) -> Odds:
        touched = _ever_touched(game, view)
        slots = [s for s in range(view.slots) if s not in touched]
        return {game.play(slots[0]): 1.0} if slots else _hint_or_discard(game, view)

    return policy


def _ever_touched(game: Hanabi, view: View) -> set[int]:
    """Return the seat's own slots whose colour or rank a hint has revealed."""
    has_several_colours = game.colours > 1  # a single colour is known without a hint
    slots = set()
    for slot, mark in enumerate(view.marks[view.me]):
        colours, ranks = mark & (1 << game.colours) - 1, mark >> game.colours
        if (has_several_colours and colours.bit_count() == 1) or ranks.bit_count() == 1:
            slots.add(slot)
    return slots


MINDLESS = {
    make.__name__: make
    for make in (
        hint_always,
        play_oldest,
        play_newest,
        discard_oldest,
        discard_newest,
        play_hinted,
        shun_hinted,
    )
}
