"""The printed tables of riemer2025 agree with each other, or the cell is flagged."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from statistics import mean

import pytest

from sally.analysis.compare.published_figures import (
    Figure,
    PublishedTable,
    Reference,
    figures_at,
    load,
    select_figures,
    table,
    the,
)

EPS = 1e-9  # decimal fractions are not exact in binary

# Payoffs to the agent, [own action][partner's action] (riemer2025, Tables 5 to 7).
PAYOFFS = {
    "rps": ((0, -1, 1), (1, 0, -1), (-1, 1, 0)),
    "ibs": ((10, 0), (0, 7)),
    "ipd": ((8, 0), (10, 5)),
}
REPLY = {"rps": (1, 2, 0), "ibs": (0, 1), "ipd": (0, 1)}  # tit for tat's move after each own action
RATE = {"rps": 1, "ibs": 10, "ipd": 8}  # reward a step of the best play against tit for tat
ROUNDS = 100


@pytest.fixture(scope="module")
def riemer() -> Reference:
    return load("riemer2025")


def losses(game: str, partner_move: int) -> list[int]:
    """What each own action loses against the best reply to a partner's move."""
    payoffs = [row[partner_move] for row in PAYOFFS[game]]
    return [max(payoffs) - payoff for payoff in payoffs]


def worst_total(game: str, opening: int) -> int:
    """The least total reward of any play against tit for tat, by dynamic programming."""
    payoffs, moves = PAYOFFS[game], range(len(PAYOFFS[game]))
    least = dict.fromkeys(moves, 0)
    for _ in range(ROUNDS):
        least = {b: min(payoffs[a][b] + least[REPLY[game][a]] for a in moves) for b in moves}
    return least[opening]


def largest_regret(game: str, partner: str) -> float:
    """The largest functional regret a step that any play can have, in the published convention."""
    moves = range(len(PAYOFFS[game]))
    if partner == "single_action":
        return max(max(losses(game, move)) for move in moves)
    return max(RATE[game] - worst_total(game, opening) / ROUNDS for opening in moves)


def test_worst_play_against_ipd_tit_for_tat_loses_3_per_step() -> None:
    lost = [RATE["ipd"] - worst_total("ipd", opening) / ROUNDS for opening in (0, 1)]
    assert lost == pytest.approx([3.00, 3.05])  # partner opens with cooperation, with defection


def test_only_the_flagged_4_789_exceeds_the_largest_possible_regret(riemer: Reference) -> None:
    impossible = [
        figure
        for of in riemer.tables.values()
        for figure in of.rows
        if figure.metric == "functional_regret"
        and figure.value > largest_regret(str(figure.row["game"]), str(figure.row["partner"]))
    ]
    [culprit] = impossible
    assert (culprit.value, culprit.source) == (4.789, "Table 4")
    assert culprit.row["model"] == "deepseek-r1-distill-qwen-32b"
    assert (culprit.row["game"], culprit.row["partner"]) == ("ipd", "tit_for_tat")
    assert culprit.flag
    assert "Impossible" in culprit.flag
    assert culprit.interval
    assert culprit.interval[0] > largest_regret("ipd", "tit_for_tat")
    assert culprit.value < largest_regret("ibs", "tit_for_tat")


def costs(game: str, partner: str) -> tuple[float, float]:
    """The least and the largest fixed cost of one wrong prediction, as published."""
    by_move = [
        mean(loss for loss in losses(game, move) if loss) for move in range(len(PAYOFFS[game]))
    ]
    if partner == "tit_for_tat":
        return mean(by_move), mean(by_move)
    return min(by_move), max(by_move)


def fits(regret: float, percent: float, cost: tuple[float, float]) -> bool:
    """Whether the printed regret is cost times wrong predictions, both within rounding."""
    wrong = 1 - percent / 100
    low, high = cost[0] * (wrong - 0.0005), cost[1] * (wrong + 0.0005)
    return low - 0.0005 - EPS <= regret <= high + 0.0005 + EPS


def rows_with_predictions(riemer: Reference) -> list[tuple[Figure, Figure]]:
    """The ToM regret and ToM % of every printed row that has both."""
    pairs = []
    for name, of in riemer.tables.items():
        if name.isdigit():
            for regret in select_figures(of, "tom_regret") if "tom_regret" in of.columns else ():
                pairs.append((regret, the(of, "tom_percent", **regret.row)))
    return pairs


def test_wrong_prediction_costs_1_5_in_rps_7_or_10_in_ibs_and_2_or_5_in_ipd() -> None:
    assert costs("rps", "single_action") == (1.5, 1.5)
    assert costs("ibs", "single_action") == (7, 10)
    assert costs("ipd", "single_action") == (2, 5)
    assert [costs(game, "tit_for_tat")[0] for game in PAYOFFS] == [1.5, 8.5, 3.5]


def test_fixed_cost_per_wrong_prediction_fits_91_of_93_rows(riemer: Reference) -> None:
    pairs = rows_with_predictions(riemer)
    misfits = [
        regret
        for regret, percent in pairs
        if not fits(
            regret.value,
            percent.value,
            costs(str(regret.row["game"]), str(regret.row["partner"])),
        )
    ]
    assert (len(pairs), len(misfits)) == (93, 2)
    assert {(miss.source, miss.value) for miss in misfits} == {
        ("Table 4", 0.945),
        ("Table 8", 0.109),
    }
    assert all(miss.flag for miss in misfits)


def test_impossible_rows_tom_regret_fits_the_scale_of_ibs(riemer: Reference) -> None:
    row = select_figures(table(riemer, "4"), game="ipd", partner="tit_for_tat", player="language")
    figures = {figure.metric: figure for figure in row}
    regret, percent = figures["tom_regret"].value, figures["tom_percent"].value
    assert fits(regret, percent, costs("ibs", "tit_for_tat"))
    assert not fits(regret, percent, costs("ipd", "tit_for_tat"))
    assert all(figure.flag for figure in row)


def test_true_best_response_would_leave_no_tom_regret_in_ipd(riemer: Reference) -> None:
    # Defection is the best reply to either move, so a wrong prediction would cost nothing.
    assert [losses("ipd", move).index(0) for move in (0, 1)] == [1, 1]
    ipd = [
        regret.value for regret, _ in rows_with_predictions(riemer) if regret.row["game"] == "ipd"
    ]
    assert len(ipd) == 28
    assert min(ipd) > 0.05


def test_tabular_learner_has_eighteen_values(riemer: Reference) -> None:
    of = table(riemer, "tabular")
    assert len({(f.metric, f.row["game"], f.row["partner"]) for f in of.rows}) == 18
    for game, partner in product(PAYOFFS, ("single_action", "tit_for_tat")):
        row = {"game": game, "partner": partner, "player": "tabular"}
        printed = {figure.value for figure in figures_at(of, row, "functional_regret")}
        for name in ("1", "3", "4", "10"):
            for figure in figures_at(table(riemer, name), row, "functional_regret"):
                assert figure.value in printed, (name, row)


def same_cells(first: PublishedTable, other: PublishedTable, metric: str, **conditions: str) -> int:
    """How many cells both tables print; each must have one value in both."""
    shared = 0
    for figure in select_figures(first, metric, **conditions):
        for twin in figures_at(other, figure.row, metric):
            assert (twin.value, twin.interval) == (figure.value, figure.interval), figure
            shared += 1
    return shared


def test_tables_that_repeat_a_row_print_the_same_numbers(riemer: Reference) -> None:
    published_table, two, three, eight = (table(riemer, name) for name in ("1", "2", "3", "8"))
    assert same_cells(three, eight, "functional_regret") == 9 * 3  # Llama-3, J F B
    for metric in ("functional_regret", "tom_regret", "tom_percent"):
        assert same_cells(published_table, eight, metric) == 1  # Llama-2 70B Chat, R P S
        assert same_cells(published_table, two, metric) == 1  # Mixtral


def test_reflexion_remembers_one_plan_except_three_in_ipd_of_table_3(riemer: Reference) -> None:
    def memory(name: str) -> dict[object, set[object]]:
        fields: dict[object, set[object]] = defaultdict(set)
        for figure in select_figures(table(riemer, name), strategy="reflexion"):
            fields[figure.row["game"]].add(figure.row["memory"])
        return dict(fields)

    assert memory("2") == {"rps": {1}, "ibs": {1}, "ipd": {1}}
    assert memory("3") == {"rps": {1}, "ibs": {1}, "ipd": {3}}
    assert memory("10") == {game: {1, 3} for game in PAYOFFS}


def test_action_names_are_those_the_paper_gives_each_table(riemer: Reference) -> None:
    def names(name: str, game: str) -> set[object]:
        return {
            f.row.get("names")
            for f in select_figures(table(riemer, name), game=game, player="language")
        }

    assert names("1", "rps") == names("2", "rps") == {"R P S"}
    assert names("3", "rps") == names("10", "rps") == {"J F B"}
    assert names("4", "rps") == {"Rock Paper Scissors"}
    assert names("8", "rps") == {"R P S", "J F B", None}  # None: the paper does not say


def test_people_beat_four_bots_more_often_than_chance_gives(riemer: Reference) -> None:
    rates = [f.value for f in table(riemer, "brockbank_vul").rows]
    assert rates == sorted(rates, reverse=True)
    assert min(rates) > 1 / 3
    assert sum(rate > 0.5 for rate in rates) == 4
