"""Published figures with ours beside them: verdicts, blanks and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally import store
from sally.analysis.compare.published_figures import Figure
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Decision, Turn
from sally.core.registry import registry
from sally.core.rules.probe import ProbeReport
from sally.games.repeated_games.rules import PARTNER
from sally.output.tables.reproduce import Effort, comparison_row, reproduce
from sally.runner.seating import seat_player
from sally.stats.intervals import Estimate

KEYS = [
    "table",
    "row",
    "metric",
    "published",
    "published_interval",
    "ours",
    "ours_interval",
    "verdict",
    "published_spread",
    "p",
    "p_equivalent",
    "margin",
    "needs",
    "target",
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
    return Figure({"game": "rps"}, "regret", value, "Table 1", interval)


def test_row_in_json_has_these_keys():
    row = msgspec.to_builtins(reproduce("riemer2025:text")[0])
    assert list(row) == KEYS


def test_target_is_the_unflagged_value_of_the_table_itself():
    suspect = msgspec.structs.replace(figure(0.224, (0.217, 0.231)), flag="printed twice")
    two = [suspect, figure(0.211, (0.204, 0.218))]
    near_row = comparison_row("t", two, Estimate(0.214, 0.213, 0.215, 9, "t"))
    assert (near_row.published, near_row.verdict, near_row.target) == (
        0.211,
        "equivalent",
        "Table 1",
    )
    far_row = comparison_row("t", two, Estimate(0.1, 0.09, 0.11, 9, "t"))
    assert far_row.published == 0.211 and far_row.verdict == "different" and far_row.p < 0.001


def test_touching_intervals_are_different():
    """Two that are two errors away each are 2.8 errors apart: p is .006, not .05."""
    touching = comparison_row(
        "t", [figure(0.1, (0.0, 0.2))], Estimate(0.3, 0.2, 0.4, 9, "t"), None, 0.0
    )
    assert touching.verdict == "different" and touching.p == pytest.approx(0.0056, abs=0.0005)


def test_value_printed_without_error_has_the_error_of_its_n():
    """Our nine values have an error of .05; a printed mean of nine has the same, one of 900 has a
    tenth of it."""
    ours = Estimate(1.13, 1.03, 1.23, 9, "t")
    printed = {n: msgspec.structs.replace(figure(1.02, None), n=n) for n in (9, 900)}
    rows = {n: comparison_row("t", [bare], ours, 1.0) for n, bare in printed.items()}
    assert rows[9].verdict == rows[900].verdict == "undecided" and rows[9].p > rows[900].p
    far = Estimate(1.4, 1.3, 1.5, 9, "t")
    assert comparison_row("t", [printed[9]], far, 1.0).verdict == "different"


def test_value_without_error_and_n_is_never_different():
    bare = [figure(1.02, None)]
    for ours in (Estimate(1.2, 1.1, 1.3, 9, "t"), Estimate(9.0, 8.99, 9.01, 10_000, "t")):
        row = comparison_row("t", bare, ours)
        assert (row.verdict, row.p, row.needs) == ("undecided", None, None)


def test_recomputed_value_is_equivalent_if_it_is_equal_as_far_as_printed():
    recomputed = msgspec.structs.replace(figure(0.333, None), source="computed from play.csv")
    ours = Estimate(0.3334, 0.2, 0.4, 40, "t")
    assert comparison_row("t", [recomputed], ours).verdict == "equivalent"
    assert comparison_row("t", [figure(0.333, None)], ours).verdict == "undecided"
    alternative = Estimate(0.34, 0.2, 0.5, 40, "t")
    assert comparison_row("t", [recomputed], alternative).verdict == "undecided"


def test_exact_values_are_equivalent_as_far_as_they_are_printed():
    exact = Estimate(0.3334, 0.3334, 0.3334, 1, "exact")
    assert comparison_row("t", [figure(0.333, None)], exact).verdict == "equivalent"
    assert comparison_row("t", [figure(0.335, None)], exact).verdict == "undecided"
    formula = msgspec.structs.replace(figure(0.335, None), source="Formula in Appendix A")
    assert comparison_row("t", [formula], exact).verdict == "different"


def test_statistics_and_settings_get_no_verdict():
    ours = Estimate(2.0, 2.0, 2.0, 9, "t")
    z = msgspec.structs.replace(figure(2.0, None), metric="z")
    assert comparison_row("hypotheses", [z], ours).verdict is None
    assert comparison_row("settings", [figure(2.0, None)], ours).verdict is None


def test_little_data_is_undecided_and_the_stated_n_decides():
    printed = [figure(0.5, (0.49, 0.51))]
    vague = comparison_row("t", printed, Estimate(0.51, 0.31, 0.71, 40, "t"), 1.0, 0.0)
    assert vague.verdict == "undecided" and vague.margin == 0.05 and vague.needs is not None
    half = 0.2 * (40 / vague.needs) ** 0.5  # of the interval with that many
    sure = Estimate(0.5, 0.5 - half, 0.5 + half, vague.needs, "t")
    assert comparison_row("t", printed, sure, 1.0, 0.0).verdict == "equivalent"


def test_needs_is_none_if_the_printed_error_is_too_large():
    printed = [figure(0.5, (0.4, 0.6))]
    row = comparison_row("t", printed, Estimate(0.52, 0.2, 0.84, 6, "t"), span=1.0)
    assert (row.verdict, row.needs) == ("undecided", None)


def test_significant_difference_within_the_margin_is_still_different():
    printed = [figure(0.5, (0.499, 0.501))]
    row = comparison_row("t", printed, Estimate(0.51, 0.505, 0.515, 9, "t"), 1.0, 0.0)
    assert row.p < 0.05 and row.p_equivalent < 0.05 and row.verdict == "different"


def test_value_without_our_result_has_no_verdict():
    row = comparison_row("t", [figure(1.0, None)], None)
    assert (row.ours, row.ours_interval, row.verdict) == (None, None, None)


def test_same_seed_gives_the_same_figures():
    few = Effort(repeats=20, seed=3)
    assert reproduce("riemer2025:tabular", effort=few) == reproduce(
        "riemer2025", "tabular", effort=few
    )
    other_rows = reproduce("riemer2025:tabular", effort=Effort(repeats=20, seed=4))
    assert other_rows != reproduce("riemer2025:tabular", effort=few)


# --- from stored episodes -----------------------------------------------------------------------


class Stubborn:
    """Always move 0, and always predicts move 0."""

    def decide(self, turn: Turn) -> Decision[int]:
        return Decision(0)

    def report(self, turn: Turn) -> ProbeReport:
        return ProbeReport(0)


def language_episode(seed: int, action: int, model: str, **params: Any) -> Episode:
    """An episode in the name of a language model, played by hand."""
    spec = registry.game("rps")
    lineup = {
        "agent": PlayerSpec("language", {"model": model, "strategy": "qa"}),
        "partner": PlayerSpec("single_action", {"action": action}),
    }
    actual_params = {"names": ["J", "F", "B"], **params}
    setup = Setup(
        Instance("rps", "rps", actual_params), seed, lineup, arms={"agent": ("their_move",)}
    )
    match = Match(spec, setup)
    partner = seat_player(spec, match.game, PARTNER, lineup["partner"])
    Driver(match, {"agent": Stubborn(), "partner": partner}).run()
    return match.episode()


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    with store.Writer(tmp_path) as writer:
        for seed in range(9):
            writer.add(language_episode(seed, seed % 3, "mistral-large-2"))
            writer.add(language_episode(seed, 0, "mistral-large-2", rounds=10))  # not the paper's
            writer.add(language_episode(seed, 1, "another"))
    return tmp_path


def rows_of(episodes: Path | None, model: str | None = None) -> dict[str, Any]:
    rows = reproduce("riemer2025", "9", episodes, model, Effort(repeats=4))
    expected_fields = {"game": "rps", "strategy": "qa", "player": "language"}
    printed = [row for row in rows if row.published is not None]
    return {row.metric: row for row in printed if expected_fields.items() <= row.row.items()}


def test_stored_episodes_are_matched_to_rows_by_condition(stored):
    rows = rows_of(stored)
    # against 0 a tie, against 1 a loss, against 2 a win: 1, 2 and 0 below the best
    assert rows["functional_regret"].ours == pytest.approx(1.0)
    assert rows["tom_percent"].ours == pytest.approx(100 / 3)
    assert rows["tom_regret"].ours == pytest.approx(1.0)  # 1.5 in two of three episodes
    # Partners are strata of the design: within them the player does not vary at all.
    assert rows["functional_regret"].ours_interval == pytest.approx((1.0, 1.0))
    assert rows["functional_regret"].verdict == "different"


def test_other_model_can_substitute_the_published_one_on_request(stored):
    assert rows_of(stored, "another")["functional_regret"].ours == pytest.approx(2.0)
    with pytest.raises(BadInput, match="the known names are another and mistral-large-2"):
        rows_of(stored, "nobody")


def test_rows_are_blank_without_episodes():
    assert rows_of(None)["functional_regret"].ours is None


# --- what is refused ----------------------------------------------------------------------------


def test_unknown_papers_tables_and_stores_are_refused_with_suggestions(tmp_path):
    with pytest.raises(BadInput, match="riemer2025"):
        reproduce("riemer2052")
    with pytest.raises(BadInput, match="tabular"):
        reproduce("riemer2025:tabluar")
    with pytest.raises(BadInput, match="There is no store"):
        reproduce("riemer2025:text", episodes=tmp_path / "nowhere")
    with pytest.raises(BadInput, match="repeats must be at least 2"):
        Effort(repeats=1)
