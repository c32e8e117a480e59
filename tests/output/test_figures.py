"""Figures that explain themselves: every player named, nothing overlapping, nothing lost."""

from __future__ import annotations

import builtins
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.analysis.profile.columns import COLUMNS
from sally.analysis.profile.doing_scale import Mark
from sally.analysis.profile.knowing_scale import Predictor
from sally.analysis.profile.profile import CalibrationPoint, ProfileRow
from sally.core.errors import BadInput
from sally.output.figures import panels
from sally.output.figures import profile as figures
from sally.output.figures.panels import LINE, short, spread
from sally.stats.intervals import Estimate
from tests.fixtures.any_text import any_text

agg = pytest.importorskip("matplotlib.backends.backend_agg")
Text = pytest.importorskip("matplotlib.text").Text
BLANK = Estimate(None, None, None, 0, "none")
LONG = "openai/gpt-with-a-very-long-name-2026-11-15 tom_guide_with_reflection"


def value(middle: float, half: float = 0.1) -> Estimate:
    return Estimate(middle, middle - half, middle + half, 20, "bootstrap")


def row(player: str = "random", knowing: float | None = 50, doing: float | None = 0.5, **options):
    estimates = {column.field: BLANK for column in COLUMNS} | {"raw": value(0.3)}
    if knowing is not None:
        estimates["accuracy"] = value(knowing, 8)
        estimates["skill"] = value((knowing - 100 / 3) / (200 / 3))
    if doing is not None:
        estimates["doing"] = value(doing)
    estimates |= {field: options.pop(field) for field in list(options) if field in estimates}
    plain = ProfileRow(
        family="repeated_games", game="rps", cell="", part="", seat="agent", player=player,
        episodes=20, censored=0, moves=200, forfeits=0,
        predictor=Predictor("as last time", 60.0, 0.4),
        guess=None if knowing is None else 100 / 3, unread=0.0, even_brier=None,
        calibration=(), metric="reward_per_round", unit="payoff per round",
        room=0.5, random=Mark("chance", 0.0, 33.0, None, 0, 20, 0.0),
        mindless=Mark("copy_last", 0.3, 30.0, None, 0, 20, 0.3),
        reference=Mark("optimum", 1.0, None, "exact", 0, 0, 1.0),
        judged=0, judged_fits=0, habit=None, decides=None, called="",
        why={} if doing is not None else {"doing": "no room here"}, clusters="instances",
        cluster_count=20, arms=(), estimates=estimates,
    )  # fmt: skip
    return msgspec.structs.replace(plain, **options)


def words(figure) -> list[str]:
    """Every text of a figure, as it is written into SVG."""
    tree = ElementTree.fromstring(panels.svg(figure))
    return ["".join(e.itertext()) for e in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_figure_names_players_reference_points_and_axes():
    figure_words = words(figures.profile_figure([row("tabular"), row("random", doing=-0.2)]))
    assert {"tabular", "random", "copy_last (best mindless)", "optimum (exact)"} <= set(
        figure_words
    )
    assert "knowing (0 = uniform guess, 1 = always right)" in figure_words
    assert "doing (0 = random player, 1 = optimum)" in figure_words


def test_family_of_several_games_shares_a_panel_with_labelled_players():
    figure_words = words(figures.profile_figure([row("a"), row("a", game="ipd")]))
    assert {"a (rps)", "a (ipd)", "repeated_games: rps and ipd"} <= set(figure_words)
    assert figure_words.count("optimum (exact)") == 1


def test_each_family_has_its_own_panel():
    figure = figures.profile_figure([row(), row(family="toma_po", game="toma_po")])
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "repeated_games: rps",
        "toma_po",
    ]


def test_mindless_player_with_a_point_is_drawn_once():
    figure_words = words(figures.profile_figure([row("copy_last", doing=0.0), row("b")]))
    assert figure_words.count("copy_last (best mindless)") == 1 and "copy_last" not in figure_words


def test_players_without_knowing_are_drawn_aside_and_without_doing_listed():
    silent, lost_row = row("silent", knowing=None), row("lost", doing=None)
    figure_words = words(figures.profile_figure([silent, lost_row]))
    assert {"silent", "answers"} <= set(figure_words)
    assert "Not drawn in rps: lost (no room here)." in figure_words


def test_raw_scores_are_drawn_if_no_player_has_a_scale():
    figure_words = words(figures.profile_figure([row("a", doing=None), row("b", doing=None)]))
    assert {"a", "b", "As scored: no room here."} <= set(figure_words)
    assert "doing: reward_per_round (payoff per round)" in figure_words


def test_outlier_is_drawn_at_the_edge_with_its_value():
    figure = figures.profile_figure([row("wild", doing=-9.3)])
    assert "wild (-9.3)" in words(figure)
    low, high = figure.axes[0].get_ylim()
    assert low > -3 and high < 2


@pytest.mark.parametrize("rows", [
    [row()],
    [row(f"{n} {LONG}", knowing=8.0 * n, doing=0.01 * n) for n in range(12)],
])  # fmt: skip
def test_names_do_not_overlap_and_stay_on_the_page(rows):
    figure = figures.profile_figure(rows)
    agg.FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    boxes = sorted((Text.get_window_extent(text) for text in axes.texts), key=lambda b: b.y0)
    beside = [box for box in boxes if box.x0 > axes.bbox.x1]
    assert len(beside) == len(rows) + 2
    for lower, upper in pairwise(beside):
        assert upper.y0 >= lower.y0 + 0.9 * LINE * figure.dpi
    assert max(box.x1 for box in beside) <= figure.bbox.x1


@pytest.mark.parametrize("count", [3, 30])  # names beside points, and one line per player
def test_names_of_wide_letters_end_inside_the_figure_and_stay_distinct(count):
    rows = [row(f"own:WWW_MMM_a_player_with_a_long_name_{n:02}") for n in range(count)]
    figure = figures.profile_figure(rows)
    agg.FigureCanvasAgg(figure).draw()
    labels = [text for text in figure.axes[0].texts if text.get_text().startswith("own:")]
    assert len({label.get_text() for label in labels}) == count
    assert max(Text.get_window_extent(label).x1 for label in labels) <= figure.bbox.x1


def test_name_is_text_and_never_a_formula_or_markup():
    figure_words = words(figures.profile_figure([row("$x_1$ <b>&amp;")]))
    assert "$x_1$ <b>&amp;" in figure_words


def test_figure_files_are_reproducible(tmp_path: Path):
    for name in ("a.svg", "a.pdf", "a.png"):
        first, second = tmp_path / name, tmp_path / f"again-{name}"
        panels.write(figures.profile_figure([row()]), first)
        panels.write(figures.profile_figure([row()]), second)
        assert first.read_bytes() == second.read_bytes() and first.stat().st_size > 1000
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_svg_uses_current_color():
    text = panels.svg(figures.profile_figure([row()]))
    assert text.startswith("<svg") and "currentColor" in text and "#1b1b1b" not in text


def test_calibration_figure_shows_curve_and_error():
    points = (
        CalibrationPoint(0.55, Estimate(0.5, 0.4, 0.6, 40, "b"), 40),
        CalibrationPoint(0.95, Estimate(0.75, 0.7, 0.8, 10, "b"), 10),
    )
    figure_words = words(figures.calibration_figure([row("sure", calibration=points)]))
    assert "sure (8)" in figure_words  # (40 * 5 + 10 * 20) / 50 points
    assert "stated odds (%)" in figure_words
    with pytest.raises(BadInput, match="no player stated odds"):
        figures.calibration_figure([row()])


def test_empty_figure_and_unknown_suffix_are_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="nothing to draw"):
        figures.profile_figure([])
    with pytest.raises(BadInput, match=r"\.svg, \.pdf or \.png"):
        panels.write(figures.profile_figure([row()]), tmp_path / "a.jpg")


def test_missing_matplotlib_error_states_the_install_command(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **options)

    panels._figure_class.cache_clear()  # an earlier test may have made it
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(BadInput, match=r"pip install .*\[figures\]'"):
        figures.profile_figure([row()])


# --- names ----------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1), max_size=12))
def test_spread_keeps_order_distance_and_bounds(wanted):
    places = spread(wanted, 0.05, 0.02, 0.98)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    kept_places = [places[i] for i in order]
    assert all(b - a >= 0.0499 for a, b in pairwise(kept_places))
    assert all(0.019 <= place <= 0.981 for place in kept_places)


def test_spread_moves_positions_only_if_too_close():
    assert spread([0.2, 0.8], 0.1, 0, 1) == [0.2, 0.8]
    assert spread([0.5, 0.5], 0.1, 0, 1) == pytest.approx([0.45, 0.55])


# names without a remark, settings, the sum of a words pack or the mark itself
PLAIN = any_text().filter(lambda name: not set(name) & set("(=@…"))


@given(PLAIN, st.integers(5, 40))
def test_short_name_fits_and_marks_truncation(name, longest):
    cut = short(name, longest)
    assert len(cut) <= longest
    if len(name) > longest:
        assert cut[0] == name[0] and "…" in cut


def test_figure_of_many_players_notes_world_probes():
    locker = {"family": "pick_the_right_stuff", "game": "pick_the_right_stuff"}
    text = " ".join(words(figures.profile_figure([row(f"p{n}", **locker) for n in range(13)])))
    assert "true_box is about the world" in text
