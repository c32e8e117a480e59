"""Figures that papers print as images: our data in them, as tables and as pictures."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sally.core.errors import BadInput
from sally.output.figures.paper_figures import Picture, Point, Series, as_rows, draw, point
from sally.output.tables.reproduce import Effort, Reproduction, engine_of
from sally.stats.intervals import Estimate
from tests.analysis.scripted_models import (
    repeated_episode,
    scenario_episode,
    speechless_episode,
    stored,
)

FEW = Effort(repeats=20)


def figure(paper, name, folder=None):
    (text,) = Reproduction(paper, engine_of(paper), folder, None, FEW).pictures(name)
    return text


def ends(picture: Picture) -> dict[tuple[str, str], float | None]:
    """The last value of every series, by panel and label."""
    return {(s.panel, s.label): s.points[-1].y for s in picture.series}


# --- what is in them ----------------------------------------------------------------------------


def test_every_figure_is_available_without_episodes_as_not_run():
    for paper in ("riemer2025", "tang2024", "kang2026", "tradecraft2026"):
        reproduction = Reproduction(paper, engine_of(paper), effort=FEW)
        assert reproduction.engine.figures
        for picture in reproduction.pictures():
            assert picture.missing == "not run", (paper, picture.name)
            assert picture.name in reproduction.engine.figures
            assert picture.x and picture.y  # every axis says what it is


def test_regret_falls_over_rounds_for_learner_but_not_for_constant(tmp_path):
    plays = [repeated_episode("rps", a, 1, model="llama-3-70b-instruct") for a in range(3)]
    result = figure("riemer2025", "figure20", stored(tmp_path, *plays))
    panel = "RPS, Single Action partner"
    assert ends(result)[panel, "neutral"] == pytest.approx(1.0)
    assert result.missing is None
    learner = next(s for s in result.series if s.label == "tabular")
    values = [p.y for p in learner.points if p.y is not None]
    assert len(values) == 100
    assert values[-1] < 0.2 < values[0]
    rows, columns = as_rows(result, panel)
    assert columns == ["round", "neutral", "tabular"]
    assert [row["round"] for row in rows] == ["1", "2", "5", "10", "20", "50", "100"]


def test_new_model_appears_only_in_the_first_set_of_figures(tmp_path):
    folder = stored(tmp_path, repeated_episode("rps", 1, 1, model="new/one"))
    first, second = (figure("riemer2025", f"figure{n}", folder) for n in (20, 32))
    assert [s.label for s in first.series] == ["one, neutral", "tabular"]
    assert [s.label for s in second.series] == ["tabular"]
    assert second.missing == "not run"


def test_figures_of_names_separate_the_name_sets(tmp_path):
    model = "llama-3-70b-instruct"
    folder = stored(
        tmp_path,
        repeated_episode("ipd", 0, 1, model=model),
        repeated_episode("ipd", 0, 1, model=model, names=("Cooperate", "Defect")),
        repeated_episode("ipd", 0, 1, model=model, names=("A", "B")),
    )
    labels = [s.label for s in figure("riemer2025", "figure24", folder).series]
    assert labels == ["neutral", "canonical", "A B", "tabular"]


def test_injected_truths_by_error_are_shown_beside_no_injection(tmp_path):
    episodes = [
        scenario_episode("toma_mg", 1, n, "solver", told=e) for n in (0, 1) for e in (0.0, 0.5)
    ]
    untold = scenario_episode("toma_mg", 1, 0, "solver")
    level0 = scenario_episode("toma_po", 0, 0, "random")  # others do not matter there
    result = figure("kang2026", "figure9", stored(tmp_path, *episodes, untold, level0))
    series = {s.label: s for s in result.series}
    assert set(series) == {"qwen2.5-3b-instruct", "qwen2.5-3b-instruct, not told"}
    assert [p.x for p in series["qwen2.5-3b-instruct"].points] == [0.0, 0.5]
    assert [p.n for p in series["qwen2.5-3b-instruct"].points] == [2, 2]


def test_levels_are_means_over_models(tmp_path):
    folder = stored(
        tmp_path,
        *(scenario_episode("toma_mg", 1, n, "solver") for n in range(4)),
        speechless_episode("toma_mg", 1, 0),
    )
    result = figure("kang2026", "figure7b", folder)
    # one model right in all of four, one wrong in its only one: each counts once
    assert ends(result)["Minority", "Zero-shot"] == pytest.approx(0.5)


def test_consistency_uses_probed_predictions(tmp_path):
    asked_episodes = [scenario_episode("toma_mg", 1, n, "solver", asked=True) for n in range(3)]
    result = figure("kang2026", "figure5a", stored(tmp_path, *asked_episodes))
    assert ends(result) == {("Minority", "qwen2.5-3b-instruct"): 1.0}
    assert figure("kang2026", "figure8", tmp_path).missing == "not run"  # of another family


def test_mindless_managers_are_shown_beside_published_bars():
    result = figure("tang2024", "figure6")
    values = ends(result)
    published = [y for (_, label), y in values.items() if label.endswith("published")]
    best = values["Pick the Right Stuff", "no mind: start"]
    assert best is not None
    assert len(published) == 6
    assert all(y is not None and y < best for y in published)


# --- tables and pictures ------------------------------------------------------------------------

LINES = Picture(
    "f", "A title", "error", "share", "lines",
    (
        Series("left", "one", (Point(0.0, 0.5, (0.4, 0.6), 9), Point(1.0, None, None, 0))),
        Series("left", "two", (Point(0.0, 0.1, None, 3), Point(1.0, 0.2, None, 3))),
        Series("right", "one", (Point(0.0, 0.3, None, 1),)),
    ),
    limits=(0.0, 1.0),
)  # fmt: skip


def test_panel_as_a_table():
    rows, columns = as_rows(LINES, "left")
    assert columns == ["error", "one", "two"]
    assert rows == [
        {"error": "0", "one": "0.500 ±0.100", "two": "0.100"},
        {"error": "1", "one": "-", "two": "0.200"},
    ]


def test_table_of_many_series_is_transposed():
    many = tuple(Series("p", f"s{n}", (Point("zero", n / 10, None, 1),)) for n in range(6))
    rows, columns = as_rows(Picture("f", "t", "mode", "y", "dots", many), "p")
    assert columns == ["series", "zero"]
    assert rows[3] == {"series": "s3", "zero": "0.300"}


def test_estimate_without_interval_is_a_point_without_one():
    assert point("x", Estimate(0.5, None, None, 1, "t")) == Point("x", 0.5, None, 1)


MAP = Picture(
    "m", "A map", "slope", "r", "map",
    (Series("p", "model", (Point(0.2, 0.4, (0.1, 0.6), 5, (0.1, 0.3)), Point(0.5, 0.6, None, 5))),),
)  # fmt: skip
DOTS = Picture(
    "d", "Dots", "strategy", "share", "dots",
    (Series("p", "one", (Point("CoT", 0.5, (0.4, 0.6), 3),)), Series("p", "<b>", ())),
)  # fmt: skip


@pytest.mark.parametrize("picture", [LINES, MAP, DOTS], ids=lambda p: p.kind)
@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_figures_are_drawn_with_their_labels(picture, ending, tmp_path):
    path = tmp_path / f"out.{ending}"
    draw(picture, path)
    data = path.read_bytes()
    start = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}[ending]
    assert data.startswith(start)
    if ending == "svg":
        text = data.decode()
        for word in (picture.title, picture.x, picture.y, picture.series[0].label):
            assert word in text


def test_empty_figure_and_unknown_suffix_are_refused(tmp_path):
    with pytest.raises(BadInput, match="nothing to draw in e"):
        draw(Picture("e", "t", "x", "y", "lines"), tmp_path / "e.svg")
    with pytest.raises(BadInput, match=r"\.svg, \.pdf or \.png"):
        draw(LINES, tmp_path / "e.gif")


def test_matplotlib_is_imported_only_when_drawing():
    code = (
        "import sys; from sally.output.tables.reproduce import reproduce; "
        "reproduce('tang2024', 'settings'); sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_scatter_figure_has_a_table_line_and_a_drawing(tmp_path: Path) -> None:
    points = tuple(Point(float(x), 1.0 + 2 * x, None, 1) for x in range(5))
    picture = Picture(
        "p", "Proposals", "requested", "offered", "scatter", (Series("m", "v0", points),)
    )
    rows, columns = as_rows(picture, "m")
    assert columns == ["series", "n", "mean requested", "mean offered", "slope"]
    assert [float(rows[0][c]) for c in columns[1:]] == [5, 2, 5, 2]
    draw(picture, tmp_path / "cloud.svg")
    text = (tmp_path / "cloud.svg").read_text()
    assert all(word in text for word in ("Proposals", "requested", "offered"))
    ticks = len(re.findall(r'id="[xy]tick_', text))
    assert text.count("<use ") == ticks + len(points)  # one mark for each tick and each point
