"""Pages of results: short, with generated tables that agree with those of their appendices."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import causal_acting
from benchmarks.result_pages import (
    END,
    MODELS,
    START,
    TABLE_PICTURES,
    WRITERS,
    draw_table,
    fill_table,
)

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs/results"
MOST_WORDS = 600  # of a page, without tables and code
MOST_SENTENCES, MOST_ANSWER_WORDS = 5, 200  # of an answer
MOST_LINES = 5  # of what is not claimed
LISTS = {"index", "licences"}
PAGES = [page for page in sorted(RESULTS.glob("*.md")) if page.stem not in LISTS]


def text_of(name: str) -> str:
    return (RESULTS / f"{name}.md").read_text(encoding="utf-8")


def rows_of(text: str, table: str) -> list[list[str]]:
    """Return the rows of a generated table, cell by cell, without its head."""
    lines = text.partition(START.format(table))[2].partition(END)[0].strip().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_of_results_can_be_finished(page):
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    prose = re.sub(r"^\|.*$", "", prose, flags=re.M)
    assert len(prose.split()) <= MOST_WORDS
    for part in ("**Question.**", "**Answer.**", "What is not claimed", "](appendix/", "\n```"):
        assert part in text
    assert len(re.findall(r"^\|---", text, re.M)) in (1, 2)
    assert len(re.findall(r"!\[", text)) == 1
    answer = text.partition("**Answer.**")[2].partition("\n\n")[0].strip()
    assert len(re.split(r"(?<=[.!?*]) (?=[A-Z*])", answer)) <= MOST_SENTENCES
    assert len(answer.split()) <= MOST_ANSWER_WORDS
    not_claimed = text.partition("What is not claimed")[2].partition("\n```")[0]
    assert 1 <= len(re.findall(r"^- ", not_claimed, re.M)) <= MOST_LINES


@pytest.mark.parametrize("name", TABLE_PICTURES)
def test_picture_shows_its_table(name):
    drawn = (ROOT / f"docs/pictures/{name}.svg").read_text(encoding="utf-8")
    assert drawn == draw_table(TABLE_PICTURES[name]), "python -m benchmarks.result_pages pictures"
    assert f"(../pictures/{name}.svg)" in text_of(name)


def test_generated_tables_are_filled():
    assert len(rows_of(text_of("appendix/akata2025"), "joint")) >= 2
    for name in WRITERS.keys() - {"akata2025"}:
        assert len(rows_of(text_of(name), name)) >= len(MODELS)
    for name in ("sally_1", "sally_2"):
        for model in MODELS:
            assert len(rows_of(text_of(f"appendix/{name}"), model)) >= 10


def test_slopes_after_stated_forecasts_are_those_of_the_bundles():
    players = causal_acting.results_by_player()
    tables = {
        "causal_acting": ("players", causal_acting.table_of_players(players)),
        "appendix/causal_acting": ("moves", causal_acting.table_of_moves(players)),
    }
    for page, (table, lines) in tables.items():
        assert fill_table(text_of(page), table, list(lines)) == text_of(page)
    drawn = (ROOT / "docs/pictures/causal_acting.svg").read_text(encoding="utf-8")
    assert drawn == causal_acting.draw_slopes(players), "python -m benchmarks.causal_acting"


def test_means_on_pairs_are_those_of_the_appendix():
    means = {row[0]: row[2:4] for row in rows_of(text_of("sally_2"), "sally_2")}
    for model, name in MODELS.items():
        last_row = rows_of(text_of("appendix/sally_2"), model)[-1]
        assert last_row[0] == "mean" and means[name] == last_row[2:4]


def test_picture_of_pairs_shows_the_scores_of_the_appendix():
    picture = (ROOT / "docs/pictures/sally_2.svg").read_text(encoding="utf-8")
    for model, name in MODELS.items():
        for game, _, *scores, _, _ in rows_of(text_of("appendix/sally_2"), model)[:-1]:
            for measure, score in zip(("knowing", "doing"), scores, strict=True):
                value = "0.00" if score == "all 0" else score.removeprefix("all ").split()[0]
                hint = f"{name}, {game.strip('`')}: {measure} {value}<"
                assert (hint in picture) == (score != "-"), hint


def test_registered_figures_are_those_of_the_appendix():
    table = text_of("appendix/qwen").partition("Knowing, primary cells:")[2]
    for game, model, strategy, right, beyond, *_ in rows_of(text_of("qwen"), "qwen"):
        cells = f"| {model} | {strategy.strip('`')} | {game.strip('`')} | 144 | {right.split()[0]} "
        line = next(line for line in table.splitlines() if line.startswith(cells))
        assert float(line.split("|")[-2].split()[0]) == float(beyond.split()[0])


def test_a_page_without_the_marks_is_refused():
    page = f"before\n{START.format('x')}\nold\n{END}\nafter\n"
    filled = fill_table(page, "x", ["| a |"])
    assert filled == f"before\n{START.format('x')}\n\n| a |\n\n{END}\nafter\n"
    assert fill_table(filled, "x", ["| a |"]) == filled
    with pytest.raises(SystemExit):
        fill_table("no marks", "x", [])
