"""A copy of a match goes on by itself."""

from __future__ import annotations

from typing import Any, cast

import pytest

from sally.core.log.events import Told, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Forfeit
from sally.testing.bench import finish_match, players_at
from tests.table import all_probes, bench, match_of, play_episode, table


def begin_run(name: str, answers: int) -> Match:
    """A match in the middle of a turn, in a condition in which a seat is told what is kept."""
    current_bench = bench(name)
    arms, injections = next(c for c in current_bench.conditions if any(i.keep for i in c[1]))
    match = match_of(current_bench.table(5, arms=arms, injections=injections))
    answer(match, answers)
    return match


def answer(match: Match, answers: int) -> None:
    """Answer so many asks one by one, the last first, if there are so many."""
    players = players_at(match)
    while answers and (asks := match.asks()):
        turn, player = asks[-1], cast(Any, players[asks[-1].seat])  # the log has them in order
        match.answer(turn.id, player.report(turn) if turn.question else player.decide(turn))
        answers -= 1


@pytest.mark.parametrize("answers", [1, 7])
@pytest.mark.parametrize("name", ["haggle", "hanabi_mini"])
def test_match_and_its_copy_both_end_like_an_uncopied_match(name: str, answers: int) -> None:
    match = begin_run(name, answers)
    twin, expected_match = match.copy(), finish_match(match.setup)
    for item in (twin, match):
        Driver(item, players_at(item)).run()
        assert to_line(item.episode()) == to_line(expected_match.episode())
        assert any(isinstance(event, Told) for event in item.events)
        for seat in item.game.seats:
            assert (
                item.context(seat).injected_history == expected_match.context(seat).injected_history
            )


def test_playing_a_copy_does_not_change_the_match() -> None:
    match = match_of(setup := table("haggle", arms=all_probes("haggle")))
    twin = match.copy()
    while asks := twin.asks():
        turn = asks[0]
        forfeit = Forfeit("unreadable") if turn.question is None else None
        twin.answer(turn.id, forfeit or players_at(twin)[turn.seat].report(turn))  # type: ignore[attr-defined]
        if turn.question is None and turn.seat in twin.game.helpers:
            break
    assert twin.events and not match.replay.reports
    answer(match, -1)
    assert to_line(match.episode()) == to_line(play_episode(setup))
