"""The published figures are whole, sourced, consistent with each other, and flagged where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import isclose, sqrt
from statistics import mean

import msgspec
import pytest

from sally.analysis.compare.published_figures import (
    Figure,
    PublishedTable,
    figures_at,
    load,
    papers,
    select_figures,
    table,
    the,
)

EPS = 1e-9  # decimal fractions are not exact in binary

# Cells of each table, counted from its printed shape.
CELLS = {
    ("riemer2025", "1"): 9 * 3,
    ("riemer2025", "2"): 7 * 3 * 3,  # strategies x games x metrics
    ("riemer2025", "3"): 14 * 3,
    ("riemer2025", "4"): 2 * 3 * 2 * 3,  # players x games x partners x metrics
    ("riemer2025", "8"): (3 + 9) * 3 * 3,
    ("riemer2025", "9"): 5 * 3 * 3,
    ("riemer2025", "10"): (1 + 3 * 9) * 3,
    ("riemer2025", "tabular"): 18 + 1,  # one cell is printed with two values
    ("riemer2025", "text"): 1,
    ("riemer2025", "brockbank_vul"): 7,
    ("tang2024", "first_run"): 6 * 2 + 2 + 1,
    ("tang2024", "rerun"): 7 * 2,
    ("tang2024", "settings"): 3,
    ("kang2026", "1"): 11 * (1 + 5 + 4) + 2,  # ToM accuracy, five strategies, four gains; o4-mini
    ("kang2026", "2"): 11 * (1 + 5 + 4) + 2,
    ("kang2026", "3"): 4 * (4 + 3),
    ("kang2026", "9"): 11 * 5 * 6,
    ("kang2026", "10"): 11 * 5 * 4,
    ("moore2025", "success"): 11 + 5 + 4,  # released rates, their stated n, rates in the text
    ("moore2025", "effects"): 2,
    # z, p, verdict, z of the release; one p of the release
    ("moore2025", "hypotheses"): 7 * 4 + 1,
    ("moore2025", "counts"): 8,
    ("moore2025", "baseline"): 4 + 8,
    ("moore2025", "variants"): 3 * 4 + 3 + 1,
    ("moore2025", "play"): 28,
    ("moore2025", "replay"): 17,
    ("akata2025", "people"): 2 * 4 + 12,
    ("akata2025", "models"): 2 * 7 + 2,
    ("akata2025", "totals"): 5 * 2 + 2 * 3,
    ("akata2025", "grudge"): 6,
    ("akata2025", "all_games"): 5 + 7 + 4 * 2,
    ("akata2025", "bots"): 4 * 2,
    ("brockbank2024", "stable"): 7 * 3,
    ("brockbank2024", "adaptive"): 8 * 6,
    ("brockbank2024", "rules_stable"): 7 * 2,
    ("brockbank2024", "rules_adaptive"): 8 * 3,
    ("brockbank2024", "records"): 2 * 5,
    ("appendix_a", "neighbours"): 2,
    ("level_k", "people"): 10,
    ("level_k", "theory"): 3,
    ("level_k", "k_tom"): 5,
    ("level_k", "k_tom_chances"): 4 * 2,
    ("hanabi_bots", "means"): 5 * 4,
    ("hanabi_bots", "perfect"): 1 + 4,
    ("step_game", "mindless"): 7 * 2,
    ("step_game", "findings"): 14,
    ("step_game", "models"): 30 * 9,
    ("andreozzi2020", "knowing"): 22,
    ("andreozzi2020", "acting"): 29,
    ("andreozzi2020", "stakes"): 13,
    ("andreozzi2020", "doing"): 5,
    ("andreozzi2020", "projection"): 15,
    ("andreozzi2020", "periods"): 6,
    ("vanbaar2022", "predictions"): 38,
    ("vanbaar2022", "first_price"): 12,
    ("vanbaar2022", "thresholds"): 20,
    ("mori2024", "acting"): 70,
    ("mori2024", "thresholds"): 10,
    ("mori2024", "knowing"): 10,
    ("fischbacher2010", "knowing"): 12,
    ("fischbacher2010", "contributions"): 18,
    ("fischbacher2010", "projection"): 9,
    ("kahn2026", "forecasts"): 21,
    ("kahn2026", "moves"): 10,
    ("tradecraft2026", "1"): 4 * 3,
    ("tradecraft2026", "directions"): 29,
    ("tradecraft2026", "released"): 20,
    ("tradecraft2026", "validation"): 3,
    ("tradecraft2026", "settings"): 8,
}


def every_figure() -> Iterator[tuple[str, str, Figure]]:
    for paper in papers():
        for name, of in load(paper).tables.items():
            for figure in of.rows:
                yield paper, name, figure


def key(figure: Figure) -> tuple[object, ...]:
    return (figure.metric, *sorted(figure.row.items()))


# All papers


def test_papers_ship_their_figures() -> None:
    assert set(papers()) >= {
        "riemer2025", "tang2024", "kang2026", "moore2025", "tradecraft2026", "level_k",
    }  # fmt: skip
    assert all(load(paper).paper == paper for paper in papers())


def test_every_table_has_the_printed_number_of_cells() -> None:
    assert Counter((paper, name) for paper, name, _ in every_figure()) == CELLS


def test_every_value_names_its_source_and_every_flag_is_a_sentence() -> None:
    for paper, name, figure in every_figure():
        assert figure.source.strip(), (paper, name, figure)
        if name.isdigit():
            assert figure.source == f"Table {name}", (paper, name, figure)
        if figure.flag is not None:
            assert figure.flag.endswith("."), figure.flag
            assert len(figure.flag.split()) >= 4, figure.flag


def test_cell_is_printed_once_except_the_tabular_regret_against_rps_tit_for_tat() -> None:
    counts = Counter((paper, name, key(figure)) for paper, name, figure in every_figure())
    twice = [cell for cell, times in counts.items() if times > 1]
    assert [(paper, name) for paper, name, _ in twice] == [("riemer2025", "tabular")]
    row = {"game": "rps", "partner": "tit_for_tat", "player": "tabular"}
    pair = figures_at(table(load("riemer2025"), "tabular"), row, "functional_regret")
    assert {(figure.source, figure.value) for figure in pair} == {
        ("Table 4", 0.224),
        ("Table 10", 0.211),
    }
    assert all(figure.flag for figure in pair)


def test_every_column_is_used() -> None:
    for paper in papers():
        for name, of in load(paper).tables.items():
            used = {column for figure in of.rows for column in (*figure.row, figure.metric)}
            assert used == set(of.columns), (paper, name)


# Intervals given as low and high, each rounded.
LOW_AND_HIGH = {
    "step_game", "andreozzi2020", "vanbaar2022", "mori2024", "fischbacher2010", "kahn2026",
}  # fmt: skip


def test_intervals_surround_the_value_and_match_the_printed_spread() -> None:
    for paper, _, figure in every_figure():
        if paper in LOW_AND_HIGH:
            assert figure.spread is None
            continue
        if figure.interval is None:
            assert figure.spread is None or figure.spread.kind == "sd"
            continue
        assert figure.spread is not None
        low, high = figure.interval
        if figure.spread.kind == "se":  # a t interval over 20 to 32 people, to four digits
            half = (high - low) / 2
            assert isclose(half + low, figure.value, abs_tol=1e-4)
            assert 2.03 * figure.spread.value - 1e-4 < half < 2.10 * figure.spread.value + 1e-4
            continue
        assert figure.spread.kind == "ci95"
        assert isclose(high - figure.value, figure.spread.value, abs_tol=EPS)
        assert isclose(figure.value - low, figure.spread.value, abs_tol=EPS)


SHARES = {
    "task_success", "tom_accuracy", "success", "macro_f1", "agreement", "mean_absolute_error",
    "win_rate", "win_probability", "appealed_to_all", "appealed_to_all_at_most",
    "success_by_turn", "sink_state", "p", "p_below",
}  # fmt: skip
PERCENTAGES = {"tom_percent", "score"}


def test_shares_are_within_0_and_1_and_percentages_within_0_and_100() -> None:
    for paper, name, figure in every_figure():
        top = 1 if figure.metric in SHARES else 100 if figure.metric in PERCENTAGES else None
        if top is not None:
            assert 0 <= figure.value <= top, (paper, name, figure)


# tang2024


def scores(of: PublishedTable) -> dict[tuple[object, object], float]:
    return {
        (f.row["model"], f.row["belief_history"]): f.value
        for f in select_figures(of, "score")
        if f.row["model"] != "all"
    }


@pytest.mark.parametrize(("history", "printed"), [("zero", 32.06), ("finite", 26.33)])
def test_printed_mean_over_models_is_the_mean_of_the_models(history: str, printed: float) -> None:
    of = table(load("tang2024"), "first_run")
    models = [score for (_, kind), score in scores(of).items() if kind == history]
    assert len(models) == 6
    assert the(of, "score", model="all", belief_history=history).value == printed
    assert mean(models) == pytest.approx(printed, abs=0.01)


def test_every_score_is_a_whole_number_of_right_answers() -> None:
    reference = load("tang2024")
    settings = table(reference, "settings")
    questions = the(settings, "games").value * the(settings, "users").value
    for name in ("first_run", "rerun"):
        for cell, score in scores(table(reference, name)).items():
            right = round(score * questions / 100)
            assert score == round(100 * right / questions, 2), (name, cell)


def test_finite_history_is_harder_for_every_model_in_both_runs() -> None:
    reference = load("tang2024")
    first = table(reference, "first_run")
    for name in ("first_run", "rerun"):
        actual_scores = scores(table(reference, name))
        assert all(
            actual_scores[model, "zero"] > actual_scores[model, "finite"]
            for model, _ in actual_scores
        )
    difference = the(first, "score_difference").value
    assert difference == pytest.approx(32.06 - 26.33)


def test_score_is_flagged_exactly_if_the_rerun_changed_it() -> None:
    reference = load("tang2024")
    repeated_scores = scores(table(reference, "rerun"))
    for figure in select_figures(table(reference, "first_run"), "score"):
        cell = (figure.row["model"], figure.row["belief_history"])
        changed = repeated_scores.get(cell, figure.value) != figure.value
        assert (figure.flag is not None) == changed, cell
        assert not changed or f"{repeated_scores[cell]:.2f}" in str(figure.flag)


def test_gemma_falls_from_first_to_last_of_the_five_models_in_both_runs() -> None:
    reference = load("tang2024")
    first, repeated_score = (scores(table(reference, name)) for name in ("first_run", "rerun"))
    both_models = {model for model, _ in first} & {model for model, _ in repeated_score}
    assert len(both_models) == 5
    for history in ("zero", "finite"):
        assert first["gemma:7b-instruct", history] == max(first[m, history] for m in both_models)
        assert repeated_score["gemma:7b-instruct", history] == min(
            repeated_score[m, history] for m in both_models
        )


# tradecraft2026


def test_printed_deviation_is_possible_for_scores_between_0_and_1() -> None:
    cells = table(load("tradecraft2026"), "1").rows
    for cell in cells:
        assert cell.interval is None  # a deviation over folds is no interval of the mean
        assert cell.spread is not None
        assert cell.spread.kind == "sd"
        # Scores in [0, 1] with mean m have variance at most m(1 - m); 3/2 for the sample version.
        low, high = cell.value - 0.005, min(cell.value + 0.005, 1)
        largest = max(sqrt(1.5 * m * (1 - m)) for m in (low, high))
        assert cell.spread.value <= largest + 0.005, cell
        if cell.value == 1:
            assert cell.spread.value == 0


def test_macro_f1_rises_with_each_order_except_for_gpt_5() -> None:
    of = table(load("tradecraft2026"), "1")
    models = dict.fromkeys(f.row["model"] for f in of.rows)
    falls = set()
    for model in models:
        zero, first, second = (f.value for f in select_figures(of, "macro_f1", model=model))
        assert zero < first
        if second < first:
            falls.add(model)
    assert falls == {"gpt-5-medium"}


def test_directions_are_signs_and_split_the_models_in_two() -> None:
    of = table(load("tradecraft2026"), "directions")
    assert {figure.value for figure in of.rows} == {-1, 1}
    for metric in ("slope_over_order", "correlation_over_order"):
        signs = {f.row["model"]: f.value for f in select_figures(of, metric)}
        assert signs == {"gpt-4o": -1, "o3": -1, "o4-mini": 1, "gpt-5-medium": 1}
    assert all(f.value == 1 for f in select_figures(of, "coefficient_g2"))
    assert all(f.value == -1 for f in select_figures(of, "coefficient_l2"))
    assert (
        len(select_figures(of, "coefficient_g2")) == len(select_figures(of, "coefficient_l2")) == 4
    )


# The loader


def test_unknown_name_is_refused_with_a_list_of_names() -> None:
    riemer = load("riemer2025")
    with pytest.raises(ValueError, match=r"no paper named 'qqq'.*riemer2025"):
        load("qqq")
    with pytest.raises(ValueError, match=r"riemer2025 has no table '99'; it has 1, 2"):
        table(riemer, "99")
    with pytest.raises(ValueError, match=r"no column \['regret'\]; its columns are game"):
        select_figures(table(riemer, "1"), "regret")
    with pytest.raises(ValueError, match=r"'First results.*has 27 figures"):
        the(table(riemer, "1"))
    with pytest.raises(ValueError, match=r"has 0 figures"):
        the(table(riemer, "1"), "tom_percent", player="tabular", game="ibs")
    with pytest.raises(ValueError, match=r"no column \['opponent'\]"):
        select_figures(table(riemer, "1"), opponent="tit_for_tat")


def test_at_matches_all_row_keys_and_where_only_given_keys() -> None:
    of = table(load("riemer2025"), "3")
    assert figures_at(of, {"game": "rps", "player": "tabular"}, "functional_regret") == ()
    assert the(of, game="rps", player="tabular").value == 0.083
    assert the(of, game="ipd", strategy="oracle_max", history="off").value == 0.206


def broken(**changes: object) -> bytes:
    figure = {
        "row": {"game": "rps"}, "metric": "regret", "value": 1.0, "interval": [0.9, 1.1],
        "spread": None, "flag": None, "source": "Table 1", **changes,
    }  # fmt: skip
    return msgspec.json.encode({"title": "t", "columns": ["game", "regret"], "rows": [figure]})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"interval": [1.1, 0.9]}, r"outside its interval \[1.1, 0.9\]"),
        ({"interval": [1.2, 1.4]}, "outside its interval"),
        ({"source": ""}, "has no source"),
        ({"metric": "reward"}, r"no column \['reward'\]"),
        ({"spread": {"kind": "range", "value": 1}}, "Invalid enum value 'range'"),
        ({"sauce": "Table 1"}, "unknown field `sauce`"),
        ({"value": "1.0"}, "Expected `float`"),
    ],
)
def test_damaged_file_is_refused(changes: dict[str, object], complaint: str) -> None:
    msgspec.json.decode(broken(), type=PublishedTable)
    with pytest.raises(msgspec.ValidationError, match=complaint):
        msgspec.json.decode(broken(**changes), type=PublishedTable)
