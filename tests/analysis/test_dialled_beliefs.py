"""Dialled players through the table of stated beliefs: recovered, and told apart where possible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sally.analysis.beliefs.decisions import decisions_of
from sally.analysis.beliefs.table import HABIT_FITS, NO_CONTEST, BeliefSummary, belief_table
from sally.frames.replays import replay_for_measures
from sally.games.elicitation.importers.beliefs import import_beliefs

MENU = ("L", "M", "H")
PEOPLE, PERIODS = 60, 8
STEPS = np.array([0.0, 50.0, 100.0])


def odds(rng: np.random.Generator) -> list[float]:
    """Odds in steps of .05 over three options."""
    first, second = sorted(rng.integers(0, 21, 2))
    counts = (first, second - first, 20 - second)
    return [round(0.05 * int(count), 2) for count in counts]


def row(person: int, period: int, peer: list[float], replies: list[list[float]], move: int) -> Any:
    beliefs = [
        {"ask": f"reply_to_{name}", "options": MENU, "kind": "odds", "value": reply,
         "truth": "M", "asked": "before", "bears": "payoff"}
        for name, reply in zip(MENU, replies, strict=True)
    ]  # fmt: skip
    beliefs.append(
        {"ask": "same_move", "options": MENU, "kind": "odds", "value": peer, "truth": "M",
         "asked": "before", "bears": "peer"}
    )  # fmt: skip
    return {
        "source": "dialled",
        "person": f"p{person}",
        "instance": f"{person}:{period}",
        "cell": f"period {period}",
        "period": period,
        "menu": MENU,
        "action": MENU[move],
        "payoff": "sequential_transfer",
        "params": {"endowment": 100, "factor": 3, "steps": STEPS.tolist()},
        "beliefs": beliefs,
    }


def dialled(
    folder: Path,
    best: float = 0,
    match: float = 0,
    habit: float = 0,
    seed: int = 1,
    **options: bool,
) -> BeliefSummary:
    """The summary of people who best-reply, match their expectation or repeat their habit with
    these probabilities, and otherwise choose at random.

    With `stable`, a person states the same beliefs in all periods; with `coordinate`, the move that
    is expected of others is always the best reply.
    """
    rng, rows = np.random.default_rng(seed), []
    for person in range(PEOPLE):
        own_number = int(rng.integers(3))
        beliefs = _beliefs(rng, options)
        for period in range(PERIODS):
            if not options.get("stable"):
                beliefs = _beliefs(rng, options)
            peer, replies = beliefs
            value = 100 - STEPS + 3 * np.array(replies) @ STEPS
            draw = rng.random()
            move = int(rng.integers(3))
            if draw < best:
                move = int(rng.choice(np.flatnonzero(value >= value.max() - 1e-7)))
            elif draw < best + match:
                move = int(rng.choice(np.flatnonzero(np.array(peer) >= max(peer) - 1e-9)))
            elif draw < best + match + habit:
                move = own_number
            rows.append(row(person, period, peer, replies, move))
    file = folder / f"{len(list(folder.iterdir()))}.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    episodes = import_beliefs(file).episodes
    (summary,) = belief_table(d for e in episodes for d in decisions_of(replay_for_measures(e)))
    return summary


def _beliefs(rng: np.random.Generator, how: dict[str, bool]) -> tuple[Any, Any]:
    target = rng.integers(3)  # every action is a best reply equally often
    while True:
        peer, replies = odds(rng), [odds(rng) for _ in MENU]
        value = 100 - STEPS + 3 * np.array(replies) @ STEPS
        is_single = (value >= value.max() - 1e-7).sum() == 1 and peer.count(max(peer)) == 1
        if value.argmax() != target:
            continue
        if is_single and (not how.get("coordinate") or int(np.argmax(peer)) == value.argmax()):
            return peer, replies


@pytest.mark.parametrize("best", [0.0, 0.7])
def test_player_that_best_replies_with_probability_q_is_recovered(
    tmp_path: Path, best: float
) -> None:
    summary = dialled(tmp_path, best=best)
    assert summary.rows == PEOPLE * PERIODS and summary.people == PEOPLE
    assert summary.random == pytest.approx(1 / 3)
    assert summary.acting.value == pytest.approx(best, abs=0.08)
    assert summary.swap_person.value == pytest.approx(1 / 3, abs=0.05)
    assert summary.contest is not None and summary.contest.best.value == pytest.approx(
        best + (1 - best) / 3, abs=0.07
    )
    assert summary.stakes.value == pytest.approx(best, abs=0.1)


def test_player_that_matches_its_expectation_is_told_apart_by_contests(tmp_path: Path) -> None:
    summary = dialled(tmp_path, match=1.0)
    assert summary.contest is not None
    assert (summary.contest.best.value, summary.contest.expected.value) == (0, 1)
    assert summary.contest.expected_null.value == pytest.approx(1 / 3, abs=0.05)
    assert summary.acting.value == pytest.approx(0, abs=0.1)


def test_player_that_repeats_its_habit_is_no_better_than_its_habit(tmp_path: Path) -> None:
    summary = dialled(tmp_path, habit=1.0)
    assert summary.usual.value == summary.acts.value
    assert (summary.beyond_habits.value or 0) <= 0
    assert summary.swap_period_gain.value == pytest.approx(0, abs=0.03)
    assert summary.contest is not None
    assert summary.contest.best.value == pytest.approx(
        summary.contest.best_null.value or 0, abs=0.07
    )


@pytest.mark.parametrize(("best", "match", "habit"), [(0.2, 0.6, 0.2)])
def test_mixtures_are_recovered_in_contests(
    tmp_path: Path, best: float, match: float, habit: float
) -> None:
    summary = dialled(tmp_path, best=best, match=match, habit=habit)
    contest = summary.contest
    assert contest is not None
    third = (1 - best - match) / 3  # the habits of people with any belief
    assert contest.best.value == pytest.approx(best + third, abs=0.07)
    assert contest.expected.value == pytest.approx(match + third, abs=0.07)
    both_count = (contest.best.value or 0) + (contest.expected.value or 0)
    assert 1.5 * (1 - both_count) == pytest.approx(1.5 * third, abs=0.08)  # the rest is neither


def test_best_replies_and_matching_are_not_separable_where_they_coincide(tmp_path: Path) -> None:
    for weights in ({"best": 0.8}, {"match": 0.8}):
        summary = dialled(tmp_path, coordinate=True, **weights)
        assert summary.contest is None and summary.notes == (NO_CONTEST,)
        assert summary.acting.value == pytest.approx(0.8, abs=0.05)


def test_best_replies_and_habits_are_not_separable_if_beliefs_never_change(tmp_path: Path) -> None:
    summary = dialled(tmp_path, best=1.0, stable=True)
    assert summary.acts.value == 1 and summary.usual.value == 1
    assert summary.beyond_habits.value is None and HABIT_FITS in summary.notes
    assert summary.swap_period_gain.value == 0
    assert (summary.swap_person_gain.value or 0) > 0.5  # but not everybody has the same belief
    changing = dialled(tmp_path, best=1.0)
    assert changing.beyond_habits.value == pytest.approx(1) and HABIT_FITS not in changing.notes


def test_acting_of_a_dominant_action_is_blank(tmp_path: Path) -> None:
    menu = [str(n) for n in range(6)]
    rows = [
        {
            "source": "good", "person": f"p{n % 7}", "instance": str(n), "cell": "one",
            "menu": menu, "action": menu[n % 3], "payoff": "linear_public_good",
            "params": {"tokens": 5, "players": 4, "back": 0.4},
            "beliefs": [{"ask": "others_mean", "options": [0, 5], "kind": "number",
                         "value": n % 6, "truth": 2, "asked": "before", "bears": "payoff"}],
        }
        for n in range(42)
    ]  # fmt: skip
    file = tmp_path / "good.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    episodes = import_beliefs(file).episodes
    (summary,) = belief_table(d for e in episodes for d in decisions_of(replay_for_measures(e)))
    assert summary.acts.value is None and summary.acting.value is None
    assert summary.doing.value is not None
    assert "the best reply is the same whatever is believed" in summary.notes
