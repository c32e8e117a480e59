"""Persuasion measured message by message, with known answers."""

from __future__ import annotations

from typing import Any

from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.games.mindgames import metrics
from sally.games.mindgames.claims import Asked, claims
from sally.games.mindgames.metrics import METRICS
from sally.games.mindgames.rules import PERSUADER
from tests.games.mindgames.table import EVERYTHING, NOTHING, PUZZLE, Talk, X, Y, Z, laid_open

A_Y, C_Y, B_X, A_X = ("A", Y, 1), ("C", Y, -1), ("B", X, -1), ("A", X, 1)


def finish_game(talk: Talk) -> Played:
    while not talk.match.over:
        talk.say("Thanks.", NOTHING)
    return laid_open(talk.match.episode())


def measure_metric(name: str, played: Played) -> float | None:
    return registry.metrics("mindgames")[f"mindgames_{name}"].measure(played, PERSUADER)


def test_success_by_message_does_not_look_ahead() -> None:
    """After A's y the top is tied: the target stays with C, whatever it chooses in the end."""
    played = finish_game(Talk(puzzle=PUZZLE).tell(A_Y).tell(C_Y))
    assert metrics.would_win(played) == (False, *[True] * 7)
    assert metrics.won_with_look_ahead(played) == (True, *[True] * 7)
    assert measure_metric("success", played) == 1.0
    assert measure_metric("time_at_goal", played) == 7 / 8
    assert measure_metric("time_at_goal_published", played) == 1.0


def test_lost_game_is_not_won_with_look_ahead() -> None:
    played = finish_game(Talk(puzzle=PUZZLE).tell(A_Y))
    assert not any(metrics.won_with_look_ahead(played))
    assert measure_metric("success", played) == 0.0


def test_trap_is_absorbing_with_sequential_but_not_frozen_memory() -> None:
    told: list[Any] = [B_X, C_Y, A_Y]
    for memory, ends in (("sequential", True), ("frozen", False)):
        talk = Talk(puzzle=PUZZLE, memory=memory)
        for cell in told:
            talk.tell(cell)
        played = finish_game(talk)
        assert metrics.sunk(played)[1] is True  # B alone is best
        assert metrics.sunk(played)[-1] is ends  # a tie of A and B falls back to C
        assert measure_metric("sink", played) == float(ends)


def test_disclosures_count_repeats_but_not_rejected_messages() -> None:
    talk = Talk(puzzle=PUZZLE).tell(A_Y, C_Y).tell(("C", Y, 1)).tell(A_Y)
    played = finish_game(talk)
    assert metrics.disclosures(played) == (2, 1, 0, 0, 0, 0, 0, 0)
    assert measure_metric("disclosures", played) == 3.0
    assert measure_metric("turned_down", played) == 1.0


def test_lead_equals_the_value_of_the_disclosures() -> None:
    assert measure_metric("lead", finish_game(Talk(puzzle=PUZZLE))) == -1.0
    assert measure_metric("lead", finish_game(Talk(puzzle=PUZZLE).tell(A_Y))) == 0.0
    assert measure_metric("lead", finish_game(Talk(puzzle=PUZZLE).tell(A_Y, C_Y))) == 1.0


def test_ranking_request_counts_as_appeal_to_all_but_not_literally() -> None:
    ranking = claims(inferential=("A", "B", "C"))
    played = finish_game(Talk(puzzle=PUZZLE).say("?", ranking))
    assert measure_metric("appealed_to_all", played) == 1.0
    assert measure_metric("appealed_to_all_literally", played) == 0.0
    assert measure_metric("motivational_appeals", played) == 0.0
    part = finish_game(Talk(puzzle=PUZZLE).say("?", claims(inferential=("A", "B"))))
    assert measure_metric("appealed_to_all", part) == 0.0


def test_repeated_appeals_are_counted_once() -> None:
    talk = Talk(puzzle=PUZZLE)
    talk.say("?", claims((), (X, Y, Z)))
    for proposal in "ABC":
        talk.say("?", claims((), (X,), [Asked(proposal, a) for a in (X, Y, Z)]))
    played = finish_game(talk)
    new = metrics.new_appeals(played)
    assert [len(request.likes) for request in new[:4]] == [3, 0, 0, 0]
    assert [len(request.cells) for request in new[:4]] == [0, 3, 3, 3]
    assert measure_metric("appealed_to_all_literally", played) == 1.0
    assert measure_metric("informational_appeals", played) == 9.0


def test_unfinished_game_has_no_metrics() -> None:
    talk = Talk(puzzle=PUZZLE).say("?", EVERYTHING)
    talk.match.censor("left")
    played = laid_open(talk.match.episode())
    for name in registry.metrics("mindgames"):
        if name.startswith("mindgames_"):
            assert registry.metrics("mindgames")[name].measure(played, PERSUADER) is None


def test_metric_names_are_unique_and_shadow_no_general_metric() -> None:
    names = [metric.name for metric in METRICS]
    assert len(names) == len(set(names))
    assert not set(names) & set(registry.metrics("rps"))
