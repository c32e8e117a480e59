"""Dull players and the perfect bot: a small run of `benchmarks/dull_players.py`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import dull_players, pair_rules
from sally.analysis.design.claims import ACTS_ON, KNOWS, ORDER, THEORY
from sally.analysis.evaluation import certified_order
from sally.core.registry.recipes import find_recipe
from sally.core.rules.pair import draw_pair
from sally.studies import sally_2

CHOSEN = (
    dull_players.PERFECT,
    "perfect mind-reader",
    "key-presser that knows",
    "rationaliser",
    "report noise 1.0",
    "random",
)


@pytest.fixture(scope="module")
def rows() -> dict[str, dull_players.TableRow]:
    best, lines = None, []
    for player in dull_players.players():
        if player.name in CHOSEN:
            line, row = dull_players.measure_game(player, "battery", "S", best)
            best = best or row
            lines.append(line)
    return {row.player: row for row in dull_players.table_rows(lines)}


def test_only_those_pass_who_should(rows: dict[str, dull_players.TableRow]) -> None:
    assert {name: row.wrong for name, row in rows.items() if row.wrong} == {}


def test_measures_tell_the_players_apart(rows: dict[str, dull_players.TableRow]) -> None:
    def passed(name: str) -> set[str]:
        return {measure for measure, games in rows[name].passed.items() if games}

    doing = {dull_players.ACTS, dull_players.CARD}
    perfect = {dull_players.PREDICTS, KNOWS, ACTS_ON, *doing}
    assert passed(dull_players.PERFECT) == perfect
    assert passed("perfect mind-reader") == {*perfect, THEORY}
    assert passed("key-presser that knows") == {dull_players.PREDICTS, KNOWS}
    assert passed("report noise 1.0") == doing
    assert passed("rationaliser") == passed("random") == set()


@pytest.mark.parametrize("game", ["ibs", "bargaining", "eleven_twenty"])
def test_record_of_tables_is_what_they_score(game: str) -> None:
    """On the first pairs, the table that the record names does as well as on all of them."""
    score = sally_2.table_scores()[game]
    (table,) = (player for player in dull_players.players() if player.name == score.table)
    line = dull_players.GameLine(game, "S", table.name, dull_players.play_pairs(table, game, "S"))
    (sample,) = dull_players.score_tables([line]).values()
    assert sample.low <= score.j <= sample.high
    assert (sample.low > 0) == (game in sally_2.solved_by_tables())


def test_orders_that_no_table_and_no_short_rule_reaches() -> None:
    assert sally_2.certifying_orders(ORDER) == {"battery": (4,)}


def test_player_of_order_three_certifies_no_order_in_the_battery() -> None:
    """Short rules solve orders 2 and 3, so reaching them shows no reasoning about minds."""
    orders = sally_2.certifying_orders(ORDER)["battery"]
    for reached, certified in ((4, 4), (3, None)):
        result = SimpleNamespace(game="battery", order=reached, tells_apart=True, acts_apart=True)
        pairs: Any = SimpleNamespace(games=(result,))
        assert certified_order(pairs, "battery", orders) == certified
    assert certified_order(pairs, "battery", None) == 3


@pytest.mark.parametrize(("game", "order"), [("battery", 2), ("toma_po", 2)])
def test_record_of_short_rules_is_what_a_search_finds(game: str, order: int) -> None:
    """A search on few fresh pairs finds a rule as good as the one of the record."""
    ((recipe, _),) = (kind for kind in sally_2.row_named(game).kinds if kind[1] == order)
    *_, score = pair_rules.search(game, recipe, order, 12)
    assert score.j == sally_2.rule_scores()[game][order].j == 1.0


def test_rule_that_reads_one_member_only_gains_nothing() -> None:
    """The constant choice of a line has J 0, whichever line it is."""
    recipe = find_recipe("battery", "watched")
    features = pair_rules.FEATURES["battery"]
    drawn = [draw_pair(recipe, 2, 1, number) for number in range(10)]
    read = pair_rules.read_pairs(recipe, drawn, features)
    for rule in pair_rules.rules_of(features.names, 0):
        if rule.choice.feature == 0:  # the first or the last line
            assert not pair_rules.gains_of(rule, read).any()


def test_contrasts_of_random_players_are_adjusted_over_the_whole_table() -> None:
    """One of 100 random players is above 0 at the 2 % level; a perfect player stays above 0."""
    lines = [
        dull_players.GameLine("rps", "S", f"random {n}", p_contrast=0.02 if n == 7 else 0.5)
        for n in range(100)
    ]
    lines.append(dull_players.GameLine("rps", "S", dull_players.PERFECT, p_contrast=1e-6))
    lines.append(dull_players.GameLine("ibs", "S", dull_players.PERFECT))  # it cannot be shown
    contrasted = dull_players.contrasted_games(lines)
    assert [key for key, is_above in contrasted.items() if is_above] == [
        (dull_players.PERFECT, "rps")
    ]
    assert len(contrasted) == 101
