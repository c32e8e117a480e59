"""Published figures with ours beside them: what agrees, what is blank, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally import store
from sally.analysis.published import Figure
from sally.core import shelf
from sally.core.drive import play_bots
from sally.core.errors import BadInput
from sally.core.log import Episode, Instance, Setup, Sitter
from sally.core.match import Match
from sally.core.player import Decision, Turn
from sally.core.probe import Report
from sally.games.repeated_games.rules import PARTNER
from sally.output.reproduce import Effort, compared, overlap, reproduce
from sally.runner.seating import seated
from sally.stats.intervals import Estimate

KEYS = [
    "table",
    "row",
    "metric",
    "published",
    "published_interval",
    "ours",
    "ours_interval",
    "agrees",
    "published_spread",
    "n",
    "computed",
    "censored",
    "forfeited",
    "method",
    "exact",
    "missing",
    "run",
    "note",
]


def figure(value: float, interval: tuple[float, float] | None) -> Figure:
    return Figure({"game": "rps"}, "regret", value, interval, None, None, "Table 1")


def test_a_row_in_json_has_these_keys():
    row = msgspec.to_builtins(reproduce("riemer2025:text")[0])
    assert list(row) == KEYS


def test_intervals_that_touch_agree():
    assert overlap((0.1, 0.2), (0.2, 0.3)) and overlap((0.2, 0.3), (0.1, 0.2))
    assert overlap((0.1, 0.4), (0.2, 0.3))
    assert not overlap((0.1, 0.2), (0.21, 0.3))
    assert overlap((0.105, 0.105), (0.1 + 0.005, 0.1 + 0.005))  # equal up to rounding


def test_ours_may_agree_with_any_printed_value_and_the_nearest_is_shown():
    two = [figure(0.224, (0.217, 0.231)), figure(0.211, (0.204, 0.218))]
    near = compared("t", two, two, Estimate(0.214, 0.213, 0.215, 9, "t"))
    assert near.published == 0.211 and near.agrees is True
    far = compared("t", two, two, Estimate(0.1, 0.09, 0.11, 9, "t"))
    assert far.published == 0.211 and far.agrees is False


def test_a_figure_without_an_interval_must_lie_in_ours():
    bare = [figure(1.0, None)]
    assert compared("t", bare, bare, Estimate(1.1, 0.9, 1.3, 9, "t")).agrees is True
    assert compared("t", bare, bare, Estimate(1.1, 1.05, 1.3, 9, "t")).agrees is False


def test_what_cannot_be_had_is_blank_and_neither_agrees_nor_disagrees():
    row = compared("t", [figure(1.0, None)], [figure(1.0, None)], None)
    assert (row.ours, row.ours_interval, row.agrees) == (None, None, None)


def test_the_same_seed_gives_the_same_figures():
    few = Effort(repeats=20, seed=3)
    assert reproduce("riemer2025:tabular", effort=few) == reproduce(
        "riemer2025", "tabular", effort=few
    )
    other = reproduce("riemer2025:tabular", effort=Effort(repeats=20, seed=4))
    assert other != reproduce("riemer2025:tabular", effort=few)


# --- from stored episodes -----------------------------------------------------------------------


class Stubborn:
    """Always move 0, and always predicts move 0."""

    def decide(self, turn: Turn[Any, Any]) -> Decision[int]:
        return Decision(0)

    def report(self, turn: Turn[Any, Any]) -> Report:
        return Report(0)


def language_episode(seed: int, action: int, model: str, **params: Any) -> Episode:
    """An episode in the name of a language model, played by hand."""
    spec = shelf.game("rps")
    lineup = {
        "agent": Sitter("language", {"model": model, "strategy": "qa"}),
        "partner": Sitter("single_action", {"action": action}),
    }
    given = {"names": ["J", "F", "B"], **params}
    setup = Setup(Instance("rps", "rps", given), seed, lineup, arms={"agent": ("their_move",)})
    match = Match(spec, setup)
    partner = seated(spec, match.game, PARTNER, lineup["partner"])
    play_bots(match, {"agent": Stubborn(), "partner": partner})
    return match.episode()


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    with store.Writer(tmp_path) as writer:
        for seed in range(6):
            writer.add(language_episode(seed, seed % 3, "mistral-large-2"))
            writer.add(language_episode(seed, 0, "mistral-large-2", rounds=10))  # not the paper's
            writer.add(language_episode(seed, 1, "another"))
    return tmp_path


def rows_of(episodes: Path | None, model: str | None = None) -> dict[str, Any]:
    rows = reproduce("riemer2025", "9", episodes, model, Effort(repeats=4))
    wanted = {"game": "rps", "strategy": "qa", "player": "language"}
    printed = [row for row in rows if row.published is not None]
    return {row.metric: row for row in printed if wanted.items() <= row.row.items()}


def test_stored_episodes_stand_beside_the_row_whose_conditions_they_meet(stored):
    rows = rows_of(stored)
    # against 0 a tie, against 1 a loss, against 2 a win: 1, 2 and 0 below the best
    assert rows["functional_regret"].ours == pytest.approx(1.0)
    assert rows["tom_percent"].ours == pytest.approx(100 / 3)
    assert rows["tom_regret"].ours == pytest.approx(1.0)  # 1.5 in two of three episodes
    assert rows["functional_regret"].agrees is not None


def test_another_model_may_stand_for_the_published_one_if_asked(stored):
    assert rows_of(stored, "another")["functional_regret"].ours == pytest.approx(2.0)
    with pytest.raises(BadInput, match="known are another and mistral-large-2"):
        rows_of(stored, "nobody")


def test_without_episodes_such_rows_are_blank():
    assert rows_of(None)["functional_regret"].ours is None


# --- what is refused ----------------------------------------------------------------------------


def test_unknown_papers_tables_and_stores_are_refused_with_what_there_is(tmp_path):
    with pytest.raises(BadInput, match="riemer2025"):
        reproduce("riemer2052")
    with pytest.raises(BadInput, match="tabular"):
        reproduce("riemer2025:tabluar")
    with pytest.raises(BadInput, match="There is no store"):
        reproduce("riemer2025:text", episodes=tmp_path / "nowhere")
    with pytest.raises(BadInput, match="repeats must be at least 2"):
        Effort(repeats=1)
