"""Tables as the papers lay them out: the same lines, columns and groups, ours under each line."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from sally.analysis.compare.published_figures import (
    Figure,
    PublishedTable,
    Spread,
    load,
    papers,
    table,
)
from sally.core.errors import BadInput
from sally.output.tables.grid_files import csv_of, escape_latex, fresh, latex_of, write_grids
from sally.output.tables.layout import Column, Grid, Layout, Stub, laid_out, plain
from sally.output.tables.reproduce import OwnValue, Row, engine_of
from sally.output.value_text import figure


def row(model: str, metric: str = "regret", game: str = "rps", **arguments: object) -> Row:
    known = {
        "published": 0.5, "published_interval": (0.4, 0.6), "ours": None, "ours_interval": None,
        "verdict": None, "missing": "not run",
    }  # fmt: skip
    return Row("1", {"model": model, "game": game}, metric, **{**known, **arguments})  # type: ignore[arg-type]


def ours(value: float, low: float, high: float) -> dict[str, object]:
    return {"ours": value, "ours_interval": (low, high), "verdict": "equivalent", "missing": None}


TABLE = PublishedTable("A table", ("model", "game", "regret", "gain"), ())
LAYOUT = Layout(
    ("model",),
    (Stub("Model", lambda row: str(row["model"]).upper()),),
    (
        Column("RPS", "regret", {"game": "rps"}, "Regret", beside="gain"),
        Column("IBS", "regret", {"game": "ibs"}, "Regret", places=1),
    ),
)


def grid(*rows: Row, exact: bool = False) -> Grid:
    return laid_out("1", TABLE, rows, LAYOUT, exact)


def cells(of: Grid) -> list[tuple[str, ...]]:
    return [(*line.labels, line.data, *line.cells) for line in of.lines]


def test_values_of_one_line_are_side_by_side_with_ours_below():
    result = grid(row("a", **ours(0.45, 0.35, 0.55)), row("a", game="ibs"), row("b"))
    assert result.headings == ("RPS", "IBS")
    assert result.groups == ("Regret", "Regret")
    assert cells(result) == [
        ("A", "published", "0.500 ±0.100", "0.5 ±0.1"),
        ("A", "ours", "0.450 ±0.100 ≈", "not run"),
        ("B", "published", "0.500 ±0.100", ""),
        ("B", "ours", "not run", ""),
    ]


def test_second_value_is_in_parentheses():
    gain = row("a", "gain", published=0.0312, ours=-0.2, missing=None)
    result = cells(grid(row("a", **ours(0.45, 0.35, 0.55)), gain))
    assert result[0][2] == "0.500 ±0.100 (+0.03)"
    assert result[1][2] == "0.450 ±0.100 (-0.20) ≈"


def test_differences_are_marked_and_unavailable_values_are_called_missing():
    far = row("a", **{**ours(0.9, 0.8, 1.0), "verdict": "different"})
    never = row("a", game="ibs", missing="it is no game of ours")
    assert cells(grid(far, never))[1][2:] == ("0.900 ±0.100 ≠", "missing")


def test_model_not_in_the_paper_has_one_line():
    new = row("c", published=None, published_interval=None, **ours(0.1, 0.0, 0.3))
    assert cells(grid(row("a"), new))[-1] == ("C", "ours", "0.100 [0.000, 0.300] ≈", "")


def test_printed_standard_deviation_is_labelled_as_such():
    spread = row("a", published_interval=None, published_spread=Spread("sd", 0.28))
    assert cells(grid(spread))[0][2] == "0.500 (SD 0.280)"


def test_exact_option_replaces_the_published_convention():
    both = row("a", exact=OwnValue("regret", 0.7, (0.6, 0.8)), **ours(0.45, 0.35, 0.55))
    assert cells(grid(both))[1][2] == "0.450 ±0.100 ≈"
    assert cells(grid(both, exact=True))[1][2] == "0.700 ±0.100"


def test_unprinted_label_is_shown_only_if_it_distinguishes_lines():
    whose = Stub("Model", lambda row: str(row["model"]), printed=False)
    layout = Layout(("model",), (whose,), LAYOUT.columns)
    assert laid_out("1", TABLE, [row("a")], layout).stubs == ()
    assert laid_out("1", TABLE, [row("a"), row("b")], layout).stubs == ("Model",)


@pytest.mark.parametrize(
    ("value", "interval", "places", "shown"),
    [
        (0.25, None, 3, "0.250"),
        (0.25, (0.15, 0.35), 2, "0.25 ±0.10"),
        (0.25, (0.2, 0.35), 2, "0.25 [0.20, 0.35]"),
        (40.0, None, None, "40"),
        (-1.0, (-1.0, 1.0), None, "-1 [-1, 1]"),
        (0.9, None, None, "0.900"),
        (12.34, None, None, "12.3"),
    ],
)
def test_values_are_formatted_as_text(value, interval, places, shown):
    assert figure(value, interval, places) == shown


def test_table_of_many_metrics_has_a_line_per_value():
    rows = tuple(Figure({}, f"m{n}", float(n), "Text") for n in range(6))
    many = PublishedTable("Settings", tuple(f"m{n}" for n in range(6)), rows)
    assert plain(many).columns == ()
    shown = laid_out("settings", many, [Row("s", {}, "m3", 3.0, None, 3.0, (3.0, 3.0), "equivalent",
                                            method="exact")])  # fmt: skip
    assert cells(shown) == [("m3", "published", "3"), ("m3", "ours", "3 ≈")]


# --- the papers' own layouts --------------------------------------------------------------------


def print_text(paper: str, name: str) -> list[Row]:
    """A table's figures as rows with nothing of ours; a cell that is printed twice counts once."""
    cells = {(tuple(sorted(f.row.items())), f.metric): f for f in table(load(paper), name).rows}
    return [
        Row(name, f.row, f.metric, f.value, f.interval, None, None, None, f.spread)
        for f in cells.values()
    ]


@pytest.mark.parametrize("paper", papers())
def test_every_figure_of_every_table_is_in_its_layout(paper):
    """Nothing is lost on the way from the data to the page, and nothing stands there twice."""
    layouts = engine_of(paper).layouts
    for name, of in load(paper).tables.items():
        rows, layout = print_text(paper, name), layouts.get(name)
        shown = laid_out(name, of, rows, layout).lines
        beside = {column.beside for column in layout.columns} if layout else set()
        existing = [
            cell for line in shown if line.data == "published" for cell in line.cells if cell
        ]
        assert len(existing) == sum(row.metric not in beside for row in rows), (paper, name)


SHAPES = {  # lines of the printed tables, and their columns
    ("riemer2025", "1"): (9, ["ΔFunctional/T", "ΔToM/T", "ToM %"]),
    ("riemer2025", "2"): (21, ["ΔFunctional/T", "ΔToM/T", "ToM %"]),
    ("riemer2025", "3"): (14, ["RPS", "IBS", "IPD"]),
    ("riemer2025", "4"): (12, ["ΔFunctional/T", "ΔToM/T", "ToM %"]),
    ("riemer2025", "8"): (36, ["ΔFunctional/T", "ΔToM/T", "ToM %"]),
    ("riemer2025", "9"): (15, ["ΔFunctional/T", "ΔToM/T", "ToM %"]),
    ("riemer2025", "10"): (28, ["RPS", "IBS", "IPD"]),
    ("kang2026", "1"): (12, ["Acc ToM", "Zero-shot", "SC", "CoT", "ToM-Guide", "ToM-CoT"]),
    ("kang2026", "2"): (12, ["Acc ToM", "Zero-shot", "SC", "CoT", "ToM-Guide", "ToM-CoT"]),
    ("kang2026", "3"): (4, ["Zero-shot", "CoT", "ToM-CoT", "ToM-Guide"]),
    ("kang2026", "9"): (55, ["Total", "L0", "L1", "L2", "L3", "L4"]),
    ("kang2026", "10"): (55, ["Total", "L1", "L2", "L3"]),
    ("tradecraft2026", "1"): (4, ["Zero-order", "First-order", "Second-order"]),
}


@pytest.mark.parametrize(("paper", "name"), SHAPES)
def test_table_has_the_lines_and_columns_of_the_printed_one(paper, name):
    layout = engine_of(paper).layouts.get(name)
    of = laid_out(name, table(load(paper), name), print_text(paper, name), layout)
    lines, headings = SHAPES[paper, name]
    assert sum(line.data == "published" for line in of.lines) == lines
    assert list(of.headings) == headings


def test_first_lines_of_riemer2025_table_10_read_as_in_print():
    layout = engine_of("riemer2025").layouts["10"]
    of = laid_out("10", table(load("riemer2025"), "10"), print_text("riemer2025", "10"), layout)
    lines = [line for line in of.lines if line.data == "published"]
    assert lines[0].labels == ("Tabular", "N/A")
    assert lines[0].cells == ("0.211 ±0.007", "0.468 ±0.031", "0.248 ±0.005")
    assert lines[9].labels == ("Mixtral 8x7B Instruct v1", "Reflexion 3")
    assert lines[-1].labels == ("LLAMA-3 70B Instruct", "Reflexion 3")
    assert lines[-1].cells == ("1.003 ±0.016", "5.531 ±0.105", "2.442 ±0.029")


# --- files --------------------------------------------------------------------------------------


def test_repeated_labels_are_shown_once():
    assert fresh(("Qwen", "3B", "CoT"), ("Qwen", "3B", "SC")) == ["", "", "CoT"]
    assert fresh(("Gemma", "3B"), ("Qwen", "3B")) == ["Gemma", "3B"]
    assert fresh(("a",), None) == ["a"]


def test_csv_repeats_labels_and_names_the_groups():
    read = list(csv.reader(StringIO(csv_of([grid(row("a, b"))]))))
    assert read[0] == ["table", "Model", "data", "Regret: RPS", "Regret: IBS"]
    assert read[1] == ["1", "A, B", "published", "0.500 ±0.100", ""]
    assert read[2] == ["1", "A, B", "ours", "not run", ""]


def test_latex_escapes_names_and_prints_groups_over_their_columns():
    text = latex_of([grid(row("my_model & co"))])
    assert r"\multicolumn{2}{c}{Regret}" in text
    assert r"MY\_MODEL \& CO & published & 0.500 $\pm$0.100 &  \\" in text
    assert text.count(r"\begin{tabular}{llrr}") == 1
    assert escape_latex("ΔToM/T ≈ 50%") == r"$\Delta$ToM/T $\approx$ 50\%"


def test_tables_go_into_files_that_can_be_written(tmp_path):
    write_grids([grid(row("a"))], tmp_path / "new" / "t.csv")
    assert (tmp_path / "new" / "t.csv").read_text().startswith("table,Model,data")
    with pytest.raises(BadInput, match=r"\.csv or \.tex"):
        write_grids([grid(row("a"))], tmp_path / "t.docx")
