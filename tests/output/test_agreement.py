"""A self-test of "agrees": true copies agree in about 95%, false ones do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sally import store
from sally.analysis.compare.published import Figure
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.match.drive import play_bots
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.games.repeated_games.rules import PARTNER
from sally.output.tables.reproduce import Effort, compared, reproduce
from sally.runner.seating import seated
from sally.stats.cluster_interval import lone_by_rule

RUNS = 600


def printed(values: np.ndarray) -> Figure:
    """A sample as a paper prints it: a mean and a 95% interval, to four places."""
    found = lone_by_rule(values)
    value, low, high = (round(float(x), 4) for x in (found.value, found.low, found.high))
    return Figure({"game": "rps"}, "regret", value, "Table 1", (low, high))


def agreeing(theirs, ours) -> float:
    rng = np.random.default_rng(8)
    found = (
        compared("t", [printed(theirs(rng))], lone_by_rule(ours(rng))).agrees for _ in range(RUNS)
    )
    return sum(map(bool, found)) / RUNS


def true(rng: np.random.Generator, n: int = 60) -> np.ndarray:
    return rng.gamma(2.0, 0.5, n)  # skewed, as regrets are


def test_resampled_true_data_agree_in_about_nineteen_of_twenty():
    assert 0.92 <= agreeing(true, true) <= 0.98


def test_contaminated_data_are_noticed():
    def contaminated(rng: np.random.Generator) -> np.ndarray:
        found = true(rng)
        found[: len(found) // 3] += 1.5  # a third of the episodes are somebody else's
        return found

    assert agreeing(true, contaminated) < 0.25


def relabelled(model: str, game: str, names: list[str]) -> Iterator[Episode]:
    """A bot's episodes in the name of a language model, against the partners of the paper."""
    spec = registry.game(game)
    moves = len(names)
    partners = [PlayerSpec("single_action", {"action": a}) for a in range(moves)]
    for n, partner in enumerate([*partners * 8, *[PlayerSpec("tit_for_tat")] * 8 * moves]):
        lineup = {
            "agent": PlayerSpec("language", {"model": model, "strategy": "qa"}),
            "partner": partner,
        }
        params: dict[str, Any] = {"names": names}
        setup = Setup(Instance(game, game, params), n, lineup, arms={"agent": ("their_move",)})
        match = Match(spec, setup)
        bot = seated(spec, match.game, "agent", PlayerSpec("random"))
        play_bots(match, {"agent": bot, "partner": seated(spec, match.game, PARTNER, partner)})
        yield match.episode()


def test_a_bot_under_a_models_name_disagrees_on_most_rows(tmp_path: Path):
    """A random player in the name of Mistral Large 2: fourteen of twenty rows once agreed."""
    with store.Writer(tmp_path) as writer:
        for episode in relabelled("mistral-large-2", "rps", ["J", "F", "B"]):
            writer.add(episode)
    rows = reproduce("riemer2025", "9", tmp_path, None, Effort(repeats=4))
    judged = [row for row in rows if row.agrees is not None and row.published is not None]
    assert len(judged) >= 3
    assert sum(row.agrees is True for row in judged) / len(judged) < 0.5


@pytest.mark.parametrize("apart", [0.0, 3.0])
def test_the_verdict_does_not_hang_on_the_unit(apart: float):
    for unit in (1.0, 100.0):
        figure = Figure({}, "m", 5 * unit, "Table 1", (4 * unit, 6 * unit))
        ours = lone_by_rule([unit * (5 + apart + x) for x in (-0.2, -0.1, 0.0, 0.1, 0.2)])
        assert compared("t", [figure], ours).agrees is (apart == 0)
