"""The turns of an episode of Hanabi, one by one, as its metrics need them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import msgspec

from sally.core.log.events import Reported
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.hanabi.belief import Posterior, counted
from sally.games.hanabi.bots.every import BOTS
from sally.games.hanabi.probes import PERCENT, is_next
from sally.games.hanabi.reading import read
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.table import State, View

REFERENCES = {2: "smart", 3: "info", 4: "info", 5: "info"}  # best of the bots here, by players


class Decided(msgspec.Struct, frozen=True):
    """One turn of a seat."""

    turn: int
    before: State
    action: int | None  # None: forfeited
    plays: int | None  # the slot it played, if it did
    scores: bool  # whether that went onto a pile
    believed: dict[int, float] | None  # its own chances that each slot can be played, if asked


def rules_of(played: Played) -> Hanabi:
    """The rules of an episode."""
    game = played.replay.game
    assert isinstance(game, Hanabi)
    return game


def decided(played: Played, seat: Seat) -> Iterator[Decided]:
    """Every turn of a seat, in order."""
    game = rules_of(played)
    for step in played.replay.steps():
        if seat not in (*step.moves, *step.forfeited):
            continue
        action = step.moves.get(seat)
        slot, scores = None, False
        if action is not None and game.hand_size <= action < 2 * game.hand_size:
            slot = action - game.hand_size
            scores = is_next(game, step.before, step.before.hands[step.before.mover][slot])
        said = played.replay.report(step.turn, seat, "own_playable")
        yield Decided(step.turn, step.before, action, slot, scores, _believed(said))


def _believed(said: Reported | None) -> dict[int, float] | None:
    if said is None or not isinstance(said.value, dict):
        return None
    return {int(slot) - 1: p / PERCENT for slot, p in said.value.items()}


def said_odds(played: Played, seat: Seat) -> Iterator[tuple[View, int, tuple[float, ...], int]]:
    """Every report of odds of an own card: what the seat saw, the slot, the odds, the truth."""
    game = rules_of(played)
    me = game.seats.index(seat)
    for report in played.replay.reports.values():
        if report.seat == seat and report.probe == "own_card_odds" and report.odds is not None:
            state, slot = played.replay.state(report.turn), int(report.about) - 1
            view = game.observe(state, seat)
            yield view, slot, report.odds, state.hands[me][slot]


def brier(odds: tuple[float, ...], truth: int) -> float:
    """The Brier score of odds: 0 is perfect, 2 is certain and wrong."""
    return sum((p - (card == truth)) ** 2 for card, p in enumerate(odds))


@lru_cache(maxsize=4096)
def _counted(game: Hanabi, view: View) -> Posterior:
    return counted(game, view)


def by_counting(game: Hanabi, view: View, slot: int) -> tuple[float, ...]:
    """The odds that hints and counting give."""
    return _counted(game, view).odds(slot)


def by_reading(played: Played, view: View, slot: int) -> tuple[float, ...] | None:
    """The odds that the others' moves give besides, where all of them are bots with a policy."""
    game, lineup = rules_of(played), played.episode.setup.lineup
    others = {n: lineup[s].player for n, s in enumerate(game.seats) if n != view.me}
    small = game.highest**game.hand_size <= MOST_HANDS
    if not small or any(name not in BOTS for name in others.values()):
        return None
    found = _read(game, view, tuple(sorted(others.items())))
    return None if found is None else found[slot]


MOST_HANDS = 1_000  # the variants in which every hand can be gone through


@lru_cache(maxsize=4096)
def _read(
    game: Hanabi, view: View, others: tuple[tuple[int, str], ...]
) -> tuple[tuple[float, ...], ...] | None:
    found = read(game, view, {seat: BOTS[name](game) for seat, name in others})
    return None if found is None else found.odds


@lru_cache(maxsize=1024)
def reference_score(game: Hanabi, deck: tuple[int, ...]) -> int:
    """What the reference scores with itself on the same deal, piles counted in any case."""
    policies = [BOTS[REFERENCES[game.players]](game) for _ in game.seats]
    state = game.dealt(deck)
    while not game.over(state):
        seat = game.seats[state.mover]
        (action,) = policies[state.mover](game.observe(state, seat))
        state = game.step(state, {seat: action})
    return sum(state.piles)
