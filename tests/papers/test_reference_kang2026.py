"""The printed tables of kang2026 agree with each other, or the cell is flagged."""

from __future__ import annotations

from statistics import mean

import pytest

from sally.analysis.compare.published_figures import (
    Figure,
    PublishedTable,
    Reference,
    load,
    select_figures,
    table,
    the,
)

EPS = 1e-9  # decimal fractions are not exact in binary


@pytest.fixture(scope="module")
def kang() -> Reference:
    return load("kang2026")


def totals_beside_levels(of: PublishedTable) -> list[tuple[Figure, float]]:
    """Each printed total with the mean of its levels."""
    return [
        (
            total,
            mean(
                f.value
                for f in select_figures(
                    of, model=total.row["model"], strategy=total.row["strategy"]
                )
                if f.row["level"] != "total"
            ),
        )
        for total in select_figures(of, level="total")
    ]


@pytest.mark.parametrize("name", ["9", "10"])
def test_total_is_the_mean_of_its_levels_unless_flagged(kang: Reference, name: str) -> None:
    # Total and levels are each rounded to .001, so they may differ by .001 together.
    for total, levels in totals_beside_levels(table(kang, name)):
        assert (total.flag is None) == (abs(total.value - levels) <= 0.001 + EPS), total


def test_flagged_totals_are_the_known_ones(kang: Reference) -> None:
    flagged = {
        (f.source, f.row["model"], f.row["strategy"], f.value)
        for name in ("9", "10")
        for f in table(kang, name).rows
        if f.flag
    }
    assert flagged == {
        ("Table 9", "qwen2.5-7b-instruct", "sc", 0.224),
        ("Table 9", "gemma-3-4b-it", "zero_shot", 0.255),
        ("Table 10", "qwen2.5-14b-instruct", "cot", 0.353),  # off by .0017, more than rounding
    }


@pytest.mark.parametrize(("overview", "levels"), [("1", "9"), ("2", "10")])
def test_overview_repeats_the_totals_of_the_level_table(
    kang: Reference, overview: str, levels: str
) -> None:
    by_level = table(kang, levels)
    shared = 0
    for figure in select_figures(table(kang, overview), "task_success"):
        if figure.row["model"] != "o4-mini":
            total = the(by_level, "task_success", **{**figure.row, "level": "total"})
            assert total.value == figure.value, figure
            assert (total.flag is None) == (figure.flag is None), figure
            shared += 1
    assert shared == 55


def test_gain_is_the_difference_to_zero_shot(kang: Reference) -> None:
    for name in ("1", "2", "3"):
        of = table(kang, name)
        for gain in select_figures(of, "gain_over_zero_shot"):
            reached = the(of, "task_success", **gain.row).value
            start = the(of, "task_success", **{**gain.row, "strategy": "zero_shot"}).value
            assert abs(reached - start - gain.value) <= 0.006 + EPS, gain


def test_table_10_is_read_by_totals_and_not_by_its_displaced_labels(kang: Reference) -> None:
    of = table(kang, "10")
    total = {
        model: the(
            of, "task_success", game="toma_mg", model=model, strategy="zero_shot", level="total"
        ).value
        for model in ("gemini-2.0-flash", "gemini-2.5-flash-lite", "gpt-4o-mini", "gpt-5.1")
    }
    # The stored text puts gpt labels beside the first two of these.
    assert list(total.values()) == [0.440, 0.278, 0.168, 0.260]


def test_tom_guide_and_tom_cot_are_not_swapped_between_the_tables(kang: Reference) -> None:
    published_table, three = table(kang, "1"), table(kang, "3")
    qwen = "qwen2.5-3b-instruct"
    by_strategy = [
        the(three, "task_success", game="ipd", model=qwen, strategy=strategy).value
        for strategy in ("zero_shot", "cot", "tom_cot", "tom_guide")
    ]
    assert by_strategy == [0.000, 0.355, 0.386, 0.507]
    assert (
        the(published_table, "task_success", game="toma_po", model=qwen, strategy="tom_cot").value
        == 0.301
    )
    assert (
        the(published_table, "task_success", game="toma_po", model=qwen, strategy="tom_guide").value
        == 0.292
    )


def test_reasoning_model_has_two_values_and_no_tom_accuracy(kang: Reference) -> None:
    for name in ("1", "2"):
        of = table(kang, name)
        assert [f.row["strategy"] for f in select_figures(of, model="o4-mini")] == [
            "zero_shot",
            "sc",
        ]
        assert len(select_figures(of, "tom_accuracy")) == 11
