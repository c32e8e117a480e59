"""Reference rates of people against fifteen bots, and the same figures from games written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from sally import store
from sally.analysis.compare.published_figures import figures_at, load
from sally.core.registry import registry
from sally.core.registry.paper import ImportResult
from sally.output.tables.reproduce import Row, reproduce
from sally.papers.brockbank2024.importer import ADAPTIVE, IMPORTER, STABLE
from tests.papers.test_brockbank2024_importer import ADAPTIVE as ONE_ADAPTIVE
from tests.papers.test_brockbank2024_importer import beats_rock, rock, rows_of, write_files

REFERENCE = load("brockbank2024").tables


def test_every_bot_has_a_win_rate_of_people_with_an_interval() -> None:
    for table, bots in (("stable", STABLE), ("adaptive", ADAPTIVE)):
        for bot in bots.values():
            (rate,) = figures_at(REFERENCE[table], {"partner": bot}, "win_rate")
            assert rate.interval is not None and rate.interval[0] < rate.value < rate.interval[1]
            assert bot in registry.partners("repeated_games")


def test_stable_rates_equal_those_in_riemer2025() -> None:
    ladder = load("riemer2025").tables["brockbank_vul"]
    theirs = {str(f.row["partner"]): f.value for f in ladder.rows if "partner" in f.row}
    ours = {str(f.row["partner"]): f.value for f in REFERENCE["stable"].rows
            if f.metric == "win_rate"}  # fmt: skip
    assert theirs.keys() == ours.keys()
    for bot, rate in ours.items():
        assert theirs[bot] == pytest.approx(rate, abs=5e-4)


def test_win_differentials_agree_with_the_two_win_rates() -> None:
    """The sign of the differential agrees with the two win rates of each row."""
    for bot in ADAPTIVE.values():
        row = {"partner": bot}
        (person,), (machine,), (gap,) = (
            figures_at(REFERENCE["adaptive"], row, m)
            for m in ("win_rate", "bot_win_rate", "win_differential")
        )
        assert gap.value == pytest.approx(300 * (machine.value - person.value), abs=0.05)


def store_episodes(import_result: ImportResult, out: Path) -> Path:
    store.claim(out, store.Manifest("import", asks="published games"))
    with store.Writer(out) as writer:
        for episode in import_result.episodes:
            writer.add(episode)
    return out


def figures(rows: list[Row]) -> dict[str, float | None]:
    partner = "adaptive_opponent_previous"
    return {r.metric: r.ours for r in rows if r.row.get("partner") == partner}


def test_table_values_equal_hand_counts(tmp_path: Path) -> None:
    strategy, version, _ = ONE_ADAPTIVE

    def late(number: int) -> str:
        return "none" if number == 300 else "rock"

    rows = rows_of(rock, beats_rock, strategy, version, "one")
    rows += rows_of(late, beats_rock, strategy, version, "two")
    out = store_episodes(
        IMPORTER.read(write_files(tmp_path, {"rps_v3_data.csv": rows})), tmp_path / "out"
    )
    ours = figures(reproduce("brockbank2024", "adaptive", out))
    assert ours["people"] == 2 and ours["win_rate"] == 0
    assert ours["bot_win_rate"] == pytest.approx(298 / 300)  # not moving in time is a loss
    assert ours["win_differential"] == pytest.approx(298)
    assert ours["gain_own"] == pytest.approx(1.0986, abs=1e-4)  # always the same step: ln 3
    rules = figures(reproduce("brockbank2024", "rules_adaptive", out))
    assert rules["one_best_move"] == 298 + 298 and rules["two_tied"] == 0
    assert rules["outside_after_void"] == 0
    records = {r.metric: r.ours for r in reproduce("brockbank2024", "records", out)
               if r.row["bots"] == "adaptive"}  # fmt: skip
    assert records["games"] == 2 and records["games_with_void"] == 1
    assert records["no_move_in_time"] == 1 and records["lost_by_server"] == 0
