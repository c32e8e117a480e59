"""The page "What people do with what they expect" holds what its script prints."""

from __future__ import annotations

from pathlib import Path

from benchmarks import belief_contests
from sally.analysis.compare.published_figures import load
from sally.papers.belief_records import columns_of, records_of_episodes
from sally.stats import belief_measures as measures

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/results/beliefs.md").read_text("utf-8")
APPENDIX = (ROOT / "docs/results/appendix/beliefs.md").read_text("utf-8")
REVIEW = (ROOT / "docs/results/appendix/review.md").read_text("utf-8")


def test_rows_of_people_are_on_the_page() -> None:
    assert belief_contests.HEAD in PAGE
    for row in (*belief_contests.full_records(), *belief_contests.sample_rows()):
        assert belief_contests.line(row) in PAGE


def test_rows_of_a_model_are_on_the_page() -> None:
    rows = belief_contests.model_rows("qwen-1.5b", ["rps"])
    assert len(rows) == 3
    for row in rows:
        assert belief_contests.line(row) in PAGE
        assert (row.usual or 0) > 0.75


def test_figures_of_the_answer_are_those_of_the_protocol() -> None:
    answer = PAGE.partition("**Answer.**")[2].partition("![")[0]
    answer += APPENDIX.partition("**Beliefs about another role.**")[2].partition("\n\n")[0]
    acting = {
        name: {str(f.row["figure"]): f.value for t in load(name).tables.values() for f in t.rows}
        for name in ("andreozzi2020", "mori2024", "vanbaar2022")
    }
    people, groups = acting["andreozzi2020"], acting["mori2024"]
    figures = [
        people["acts"],
        people["usual"],
        people["contest: best reply"],
        people["contest: believed"],
        people["doing if best-replied, partner"],
        people["doing if best-replied, crowd"],
        *(groups[f"{part}: {name}"] for part in ("main", "additional")
          for name in ("acts", "constant", "contest: best reply", "contest: believed",
                       "doing if best-replied")),
        acting["vanbaar2022"]["first price: acts"],
        acting["vanbaar2022"]["first price: beliefs against that choice, acts"],
        acting["vanbaar2022"]["doing if best-replied"],
    ]  # fmt: skip
    for value in figures:
        text = f"{value:.3f}"[1:]
        rounded = {f"{value + shift:.2f}".lstrip("0") for shift in (-1e-4, 0.0, 1e-4)}
        assert any(item in answer for item in rounded), text


def test_statements_that_the_data_do_not_support_are_not_made() -> None:
    text = PAGE.casefold()
    for part in ("about half", "54.4", ".544", "half the time", "people project their"):
        assert part not in text
    claims = PAGE.partition("**What is not claimed**")[0]
    assert "know but do not act" not in claims and "rank" not in claims
    assert "checked them on samples only" in claims


def test_review_figures_come_from_the_samples() -> None:
    records = records_of_episodes(
        belief_contests.load(belief_contests.BUNDLES / "beliefs_mori2024.sally.zip")
    )
    main = [record for record in records if record.row.source == "mori2024"]
    table = measures.keep_judged(columns_of(main))
    contested = measures.find_contests(table)
    two = table.on_menu.sum(axis=1) == 2
    assert f"{(contested & two).sum() / contested.sum():.0%} of the contests" in REVIEW
    three = contested & ~two
    acts = measures.acts(table)[three].mean()
    expected = table.at_move(measures.largest(table.expected))[three].mean()
    text = f"{acts:.2f} and {expected:.2f} of {three.sum()} contests in mori2024".replace("0.", ".")
    assert text in REVIEW
    others, constant = measures.constant_of_others(table).mean(), measures.constant(table).mean()
    assert f"from {constant:.2f} to {others:.2f} in the sample".replace("0.", ".") in REVIEW
