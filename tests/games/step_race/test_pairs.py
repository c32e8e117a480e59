"""Pairs of the step race: what the machine does, what the members share, and what is refused."""

from __future__ import annotations

import msgspec
import pytest

import sally
from sally.analysis.pairs.certificate import certify
from sally.analysis.pairs.positions import open_position, right_answers
from sally.core.errors import BadInput
from sally.core.log.events import Moved, PlayerSpec
from sally.core.rules.pair import Member, draw_pair
from sally.games.step_race.pairs import PAIRS
from sally.games.step_race.rules import SEATS, gains

(RECIPE,) = PAIRS


def play_machine(replies: object, turns: int = 4) -> list[int]:
    """Return the moves of `player_2` after a player who always chooses 3."""
    episode = sally.play(
        "step_race",
        {
            "player_1": PlayerSpec("always", {"move": 3}),
            "player_2": PlayerSpec("reacting", {"first": 1, "replies": replies}),
            "player_3": PlayerSpec("always", {"move": 3}),
        },
        talks=0,
        target=50,
        max_turns=turns,
    )
    return [
        event.action
        for event in episode.events
        if isinstance(event, Moved) and event.seat == "player_2" and isinstance(event.action, int)
    ]


def test_machine_looks_at_the_player_before_it_and_at_itself() -> None:
    assert play_machine([[1, 1, 1], [5, 1, 3], [1, 1, 1]]) == [1, 5, 3, 1]


@pytest.mark.parametrize("replies", [[[1, 3, 5]], [[1, 3], [1, 3], [1, 3]], [[2, 2, 2]] * 3])
def test_replies_must_be_moves_in_three_rows(replies: object) -> None:
    with pytest.raises(BadInput, match="in 3 rows of 3"):
        play_machine(replies)


@pytest.mark.parametrize("order", RECIPE.orders)
def test_members_share_own_moves_results_and_positions(order: int) -> None:
    for number in range(10):
        pair = draw_pair(RECIPE, order, 3, number)
        first, second = pair.members
        assert first.params == second.params
        results = []
        for member in pair.members:
            moves = [tuple(turn[seat] for seat in SEATS) for turn in member.past]
            results.append((sorted(moves), [move[0] for move in moves], moves[-1]))
            steps = [sum(gains(move)[seat] for move in moves) for seat in range(3)]
            ends = [a + b for a, b in zip(member.params["positions"], steps, strict=True)]
            assert member.params["target"] - ends[0] == 1
            assert min(member.params["target"] - end for end in ends[1:]) > 5
        assert results[0] == results[1]


@pytest.mark.parametrize("order", RECIPE.orders)
def test_free_number_wins(order: int) -> None:
    pair = draw_pair(RECIPE, order, 3, 0)
    answers = [right_answers(RECIPE, open_position(RECIPE, pair, member)) for member in (0, 1)]
    assert answers[0]["know"] == answers[1]["do"] and answers[1]["know"] == answers[0]["do"]


def test_machine_outside_the_declared_class_has_no_certificate() -> None:
    pair = draw_pair(RECIPE, 2, 3, 0)
    members = []
    for member in pair.members:
        replies = [[3 if move == 5 else 5 for move in row] for row in [[1, 3, 5]] * 3]
        machine = PlayerSpec("reacting", {"first": 1, "replies": replies})
        members.append(Member(member.params, member.past, {**member.others, "player_2": machine}))
    changed = msgspec.structs.replace(pair, members=(members[0], members[1]))
    assert certify(pair).holds
    assert any(problem.startswith("C3") for problem in certify(changed).problems)
