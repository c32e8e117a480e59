"""Means of a store by what is kept apart."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.analysis.columns.scores import (
    ScoreQuery,
    chosen,
    keys_for,
    matches,
    studied,
)
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.output.tables.console import SCREEN, print_page
from sally.runner.local import play
from sally.runner.seating import resolved
from tests.analysis.episode_means import means, seats_of

MET = [
    ("easy", PlayerSpec("constant"), PlayerSpec("tit_for_tat")),
    ("easy", PlayerSpec("random"), PlayerSpec("tit_for_tat")),
    ("hard", PlayerSpec("constant"), PlayerSpec("random")),
]


@pytest.fixture(scope="module")
def rows():
    instance = Instance("ipd-2", "ipd", {"rounds": 2})
    episodes = [
        play(resolved(Setup(instance, seed, {"agent": one, "partner": two})), cell)
        for cell, one, two in MET
        for seed in (1, 2)
    ]
    return seats_of(episodes, ("payoff",))


def test_cells_are_pooled_unless_grouped_by_cell(rows):
    agents = chosen(rows, ScoreQuery(seats=("agent",)))
    pooled = {r["player"]: r["episodes"] for r in means(agents, ("payoff",), keys_for(()))}
    assert pooled == {"constant": 4, "random": 2}
    apart = means(agents, ("payoff",), keys_for(("cell",)))
    assert [(r["cell"], r["player"], r["episodes"]) for r in apart] == [
        ("easy", "constant", 2),
        ("easy", "random", 2),
        ("hard", "constant", 2),
    ]


def test_rows_are_chosen_by_cell_player_game_and_seat(rows):
    kept = chosen(
        rows, ScoreQuery(seats=("agent",), cells=("h*",), players=("const*",), games=("ipd",))
    )
    assert {(r["cell"], r["player"]) for r in kept} == {("hard", "constant")}
    with pytest.raises(BadInput, match="together"):
        chosen(rows, ScoreQuery(cells=("hard",), players=("tit_for_tat",)))
    with pytest.raises(BadInput, match="cell in this store"):
        chosen(rows, ScoreQuery(cells=("heard",)))


def test_star_is_the_only_wildcard_in_patterns():
    assert matches("table 3: *", "table 3: ipd, [x]")
    assert matches("a[b]*", "a[b]c")
    assert not matches("a?", "ab")


def test_all_rows_are_studied_if_no_seat_is_marked(rows):
    assert studied(rows) == rows
    asked = [{**row, "studied": row["seat"] == "agent"} for row in rows]
    assert {row["seat"] for row in studied(asked)} == {"agent"}


@pytest.mark.parametrize("page", [1, 2, 7])
def test_page_holds_no_more_than_a_screen(page, capsys):
    wide = {f"m{k}": "1.00 ±0.20" for k in range(20)}
    table = [{"player": f"a rather long name {n} " * (n % 4 + 1), **wide} for n in range(300)]
    shown = print_page(table, ["player"], list(wide), page)
    assert capsys.readouterr().out.count("\n") <= SCREEN
    assert shown.pages > 1 and shown.columns
    assert shown.first == 1 + (page - 1) * (shown.last - shown.first + 1)


def test_every_row_is_on_exactly_one_page(capsys):
    table = [{"player": f"p{n}.", "m": str(n)} for n in range(100)]
    pages = print_page(table, ["player"], ["m"]).pages
    for page in range(2, pages + 1):
        print_page(table, ["player"], ["m"], page)
    said = capsys.readouterr().out
    assert all(said.count(f"p{n}.") == 1 for n in range(100))
    with pytest.raises(BadInput, match=f"has {pages}"):
        print_page(table, ["player"], ["m"], pages + 1)


def test_requested_metric_is_shown_even_if_all_zero(tmp_path):
    with store.Writer(tmp_path) as writer:
        for game in ("rps", "ipd"):
            writer.add(sally.play(game, {"agent": "random", "partner": "tit_for_tat"}, 1, rounds=4))
    said = CliRunner().invoke(cli, ["score", str(tmp_path), "--metric", "forfeits"]).output
    assert said.count("forfeits") == 2 and "0.000" in said


def test_mean_without_an_interval_gives_the_reason_in_text_and_json(tmp_path):
    with store.Writer(tmp_path) as writer:
        for seed in range(2):
            lineup = {"agent": "random", "partner": "tit_for_tat"}
            writer.add(sally.play("rps", lineup, seed, rounds=4))
    named = {"score": "random, tit_for_tat", "crossplay": "random against tit_for_tat"}
    for command, more in named.items():
        said = CliRunner().invoke(cli, [command, str(tmp_path)]).output
        assert f"no interval ({more}): fewer than 5 clusters" in said
        assert "no interval: fewer than 5 clusters" in (
            CliRunner().invoke(cli, [command, str(tmp_path), "--json"]).output
        )
