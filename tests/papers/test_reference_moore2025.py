"""The text of moore2025 agrees with its released games, or the figure is flagged."""

from __future__ import annotations

from math import isclose

import pytest
from scipy.stats import norm

from sally.analysis.compare.published_figures import (
    Reference,
    figures_at,
    load,
    select_figures,
    table,
    the,
)

EPS = 1e-9  # decimal fractions are not exact in binary


@pytest.fixture(scope="module")
def moore() -> Reference:
    return load("moore2025")


def test_released_rates_are_whole_numbers_of_wins_unless_flagged(moore: Reference) -> None:
    of = table(moore, "success")
    for rate in select_figures(of, "success", data="released"):
        stated = figures_at(of, rate.row, "games")
        games = stated[0].value if stated else 200  # what the paper says of each model
        whole = round(round(rate.value * games) / games, 3) == rate.value
        assert whole or rate.flag, rate
        if rate.row["persuader"] == "llama-3.1-405b" and rate.row["condition"] == "hidden":
            assert not whole


def test_human_wins_explain_the_mean_bonus_and_the_games_a_person_played(
    moore: Reference,
) -> None:
    of, play = table(moore, "success"), table(moore, "play")
    wins, games = 0, 0.0
    for condition in ("hidden", "revealed"):
        row = {"persuader": "human", "condition": condition, "data": "released"}
        played = the(of, "games", **row).value
        wins += round(the(of, "success", **row).value * played)
        games += played
    people = the(play, "participants").value
    assert wins / people == pytest.approx(the(play, "bonus_usd").value, abs=0.005)
    assert games / people == pytest.approx(the(play, "games_per_participant").value, abs=0.05)


def test_text_rounds_the_released_rates(moore: Reference) -> None:
    of = table(moore, "success")
    compared = 0
    for printed in select_figures(of, "success", data="paper"):
        for released in figures_at(of, {**printed.row, "data": "released"}, "success"):
            assert abs(printed.value - released.value) <= 0.005 + EPS, printed
            compared += 1
    assert compared == 3


def test_each_stated_difference_that_the_release_contradicts_is_flagged(moore: Reference) -> None:
    rates = {
        (f.row["persuader"], f.row["condition"]): f.value
        for f in select_figures(table(moore, "success"), "success", data="released")
    }
    gain = rates["o1-preview", "revealed"] - rates["o1-preview", "hidden"]
    lead = rates["human", "hidden"] - rates["o1-preview", "hidden"]
    for stated, released in zip(table(moore, "effects").rows, (gain, lead), strict=True):
        assert (stated.flag is not None) == (abs(stated.value - released) > 0.005 + EPS), stated


def test_both_sets_of_z_agree_on_every_verdict(moore: Reference) -> None:
    of = table(moore, "hypotheses")
    for name in (f"H{number}" for number in range(1, 8)):
        printed = the(of, "z", hypothesis=name, data="paper").value
        refitted = the(of, "z", hypothesis=name, data="released").value
        confirmed = the(of, "confirmed", hypothesis=name, data="paper").value
        assert printed == pytest.approx(refitted, abs=0.08), name
        assert (abs(printed) > 1.96) == (abs(refitted) > 1.96) == bool(confirmed), name
    assert sum(f.value for f in select_figures(of, "confirmed")) == 5


def test_each_printed_p_belongs_to_its_z(moore: Reference) -> None:
    of = table(moore, "hypotheses")
    for p in (*select_figures(of, "p"), *select_figures(of, "p_below")):
        two_sided = 2 * norm.sf(abs(the(of, "z", **p.row).value))
        if p.metric == "p_below":
            assert two_sided < p.value, p
        else:
            assert two_sided == pytest.approx(p.value, abs=0.002), p


def test_random_disclosure_baseline_follows_the_formula(moore: Reference) -> None:
    def wins(n: int) -> float:
        return (7 / 9) ** n * (1 - 2 * (6 / 7) ** n + (5 / 7) ** n)

    frozen = select_figures(table(moore, "baseline"), memory="frozen")
    assert {f.row["disclosures"] for f in frozen} == {*range(2, 11), 12}
    for figure in frozen:
        assert figure.value == pytest.approx(wins(int(figure.row["disclosures"])), abs=5e-5)
    assert max(range(1, 30), key=wins) == 6


def test_variants_were_played_twenty_times_and_the_text_is_flagged(moore: Reference) -> None:
    of = table(moore, "variants")
    games = the(of, "games_per_variant").value
    released = select_figures(of, "success", data="released")
    assert len(released) == 12
    assert all(isclose(f.value * games, round(f.value * games)) for f in released)
    for printed in select_figures(of, "success", data="paper"):
        assert printed.flag, printed
        for figure in figures_at(of, {**printed.row, "data": "released"}, "success"):
            assert figure.value != printed.value


def test_appeals_to_all_are_whole_numbers_of_games(moore: Reference) -> None:
    games = {"hidden": 202, "revealed": 199}
    appeals = select_figures(table(moore, "play"), "appealed_to_all", data="released")
    assert len(appeals) == 4
    for figure in appeals:
        n = games[str(figure.row["condition"])]
        assert round(round(figure.value * n) / n, 3) == figure.value, figure


def test_replayed_games_add_up(moore: Reference) -> None:
    of = table(moore, "replay")
    for metric in ("final_choices_reproduced", "final_choices_with_superseded"):
        parts = [
            the(of, metric, persuader=player_name).value for player_name in ("human", "models")
        ]
        random = the(of, metric.replace("_with_superseded", ""), persuader="random").value
        assert sum(parts) + random == the(of, metric, persuader="all").value
    kept = [
        the(of, "final_choices", persuader=player_name).value
        for player_name in ("human", "random", "models")
    ]
    assert sum(kept) == the(of, "final_choices", persuader="all").value - 40  # 40 of o3
