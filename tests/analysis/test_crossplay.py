"""The cross-play table and its picture; the analyses of an arm in one place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sally import store
from sally.analysis.compare.crossplay import Pairing, Players
from sally.analysis.compare.crossplay import crossplay as tables_of
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.registry.study import grid, player_spec
from sally.core.rules.metric import Played
from sally.frames.frame import as_frame
from sally.games.tradecraft.problems import problems
from sally.games.tradecraft.trades import decisions, exchange_of, fit_decisions, reporting
from sally.output.figures.heat_maps import crossplay_figure
from sally.output.figures.panels import write
from sally.papers.tradecraft2026.figures import divergence_by_turn
from sally.papers.tradecraft2026.study import CROSSPLAY, TRADERS
from sally.runner.seating import players_of, resolve_setup
from tests.games.tradecraft.table import P1

FEW = ("zero_order", "hoarder", "generous")


def meet(item: str, two: str, first: int = 3, **arms: tuple[str, ...]) -> list[Match]:  # type: ignore[type-arg]
    results = []
    for n, problem in enumerate(problems("minecraft_core_2p_2", first)):
        (lineup,) = grid(p1=player_spec(item), p2=player_spec(two))
        match = Match(
            registry.game("tradecraft"), resolve_setup(Setup(problem, n, lineup, arms=arms))
        )
        Driver(match, players_of(match)).run()
        results.append(match)
    return results


def crossplay(episodes: list[Episode]) -> dict[Players, Pairing]:
    """Return the table of the one game of these episodes."""
    (table,) = tables_of(as_frame(episodes)).values()
    return table


def test_repeats_of_a_problem_do_not_narrow_the_interval() -> None:
    once = [match.episode() for match in meet("zero_order", "generous", first=6)]
    (few,), (many,) = (crossplay(subset).values() for subset in (once, once * 20))
    assert many.episodes == 120 and few.first == pytest.approx(many.first)
    assert many.first_interval == pytest.approx(few.first_interval)


def met() -> list[Episode]:
    return [match.episode() for item in FEW for two in FEW for match in meet(item, two)]


def test_table_holds_the_means_of_every_pair() -> None:
    table = crossplay(met())
    assert set(table) == {(item, two) for item in FEW for two in FEW}
    paid = [match.episode().payoffs or {} for match in meet("zero_order", "generous")]
    pairing = table["zero_order", "generous"]
    assert pairing.episodes == 3
    assert pairing.first == pytest.approx(sum(actual_item["p1"] for actual_item in paid) / 3)
    assert pairing.second == pytest.approx(sum(actual_item["p2"] for actual_item in paid) / 3)
    assert table["hoarder", "hoarder"].first == 0


def test_crossplay_figure_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "crossplay.svg"
    write(crossplay_figure(crossplay(met())), path)
    text = path.read_text()
    assert all(word in text for word in ("first seat", "second seat", "hoarder"))
    with pytest.raises(BadInput, match="nothing to draw"):
        crossplay_figure({})


def test_study_pairs_every_trader_with_every_trader() -> None:
    for cell in CROSSPLAY.cells:
        assert len(cell.lineups) == len(TRADERS) ** 2
        assert len(cell.instances) == 40


def test_value_reports_of_an_arm() -> None:
    arms: dict[str, tuple[str, ...]] = {"p1": ("v0", "v1"), "p2": ("v0",)}
    plays = [
        (Played(match.spec, match.episode(), match.replay), P1)
        for match in meet("first_order", "hoarder", 4, **arms)
    ]
    counts = [reporting(played, seat) for played, seat in plays]
    assert [(count.whole, count.partial, count.refused) for count in counts] == [(30, 0, 0)] * 4
    beliefs = divergence_by_turn(plays)
    assert list(beliefs) == list(range(1, 16))
    assert all(kl.n == 4 for kl in beliefs.values())
    assert exchange_of(plays, seed=1, draws=50).proposals > 0
    decision_table = decisions(plays, 1)
    with pytest.raises(ValueError):  # a hoarder's demands are all rejected: nothing to fit
        fit_decisions(
            decision_table.features, decision_table.accepted, decision_table.episodes, 1, seed=1
        )


def test_command_reports_each_game_separately(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with store.Writer(out) as writer:
        for episode in met():
            writer.add(episode)
    ran = CliRunner().invoke(
        cli, ["score", "--crossplay", str(out), "--json"], catch_exceptions=False
    )
    data = json.loads(ran.output)
    assert list(data) == ["tradecraft"]
    assert len(data["tradecraft"]) == len(FEW) ** 2
    assert all(pair["episodes"] == 3 for pair in data["tradecraft"])
    result = CliRunner().invoke(cli, ["score", "--crossplay", str(out)], catch_exceptions=False)
    assert "first seat" in result.output and "generous" in result.output
