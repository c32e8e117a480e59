"""Plots of the page: scales, places and numbers with known answers, and no text that is lost."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.output.figures.short_names import shorten, split_common
from sally.output.figures.svg import (
    Bar,
    Curve,
    Dot,
    Scale,
    calibration_plot,
    estimate,
    interval_plot,
    number,
    profile_plot,
    spread,
    ticks,
)

FINITE = st.floats(-1e6, 1e6, allow_nan=False)


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (0, 1, [0, 0.25, 0.5, 0.75, 1]),
        (-1, 1, [-1, -0.5, 0, 0.5, 1]),
        (0.03, 97, [25, 50, 75]),
        (5, 5, [5]),
    ],
)
def test_ticks_are_round(low: float, high: float, found: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(found)


@given(FINITE, st.floats(1e-3, 1e6))
def test_ticks_are_few_and_within(low: float, width: float) -> None:
    actual_ticks = ticks(low, low + width)
    assert 1 <= len(actual_ticks) <= 6
    assert all(low - width * 1e-6 <= t <= low + width * (1 + 1e-6) for t in actual_ticks)


@given(st.lists(st.floats(0, 300), min_size=1, max_size=12))
def test_names_beside_a_plot_do_not_touch_and_keep_their_order(wanted: list[float]) -> None:
    values = spread(wanted, 13, 0, 300)
    assert all(-1e-6 <= place <= 300 + 1e-6 for place in values)
    assert all(b - a >= 13 - 1e-6 for a, b in pairwise(sorted(values)))
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    assert [values[i] for i in order] == sorted(values)


def test_scale_clips_values_at_its_edges() -> None:
    scale = Scale(-1, 1, 200, 0)
    assert [scale(v) for v in (-9, -1, 0, 1, 9)] == [200, 200, 100, 0, 0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (-0.25, "−0.25"),
        (1234567.0, "1,234,567"),
        (12.0, "12"),
        (0.12345, "0.123"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_are_short_and_have_a_true_minus(value: float, said: str) -> None:
    assert number(value) == said


def test_tiny_negative_is_not_shown_as_minus_zero() -> None:
    assert estimate(-0.0001, [-0.0004, 0.0002]) == "0.000 [0.000, 0.000]"
    assert estimate(-1.5, [-2.0, -1.0]) == "−1.50 [−2.00, −1.00]"
    assert estimate(50.0, None) == "50.0"


def test_every_bar_has_its_whisker_its_name_and_its_link() -> None:
    bars = [Bar("a<b", "with c", 1.0, [0.5, 1.5], 9, "#g1-0"), Bar("d", "", 3.0, None, 1, "#g2-0")]
    text = str(interval_plot("title", "points", bars))
    assert text.count("whisker") == 1 and text.count("<circle") == 2
    assert re.findall(r'href="([^"]*)"', text) == ["#g1-0", "#g2-0"]
    assert "a&lt;b, with c: 1.00 [0.50, 1.50] (n 9)" in text and ">points<" in text


def test_doing_beyond_the_edge_is_stated_in_words() -> None:
    dots = [
        Dot("here", 0.6, 0.5, [0.5, 0.7], [0.4, 0.6], "#p1"),
        Dot("far below", 0.1, -7.25, None, None, None),
    ]
    text = str(profile_plot("title", dots, (0.4, 0.3), "optimum"))
    shapes = re.findall(r"<(\w+) [^>]*class=\"dot", text)
    assert shapes == ["circle", "polyline"]  # the one beyond points out of the plot
    assert ">far below −7.2<" in text and ">here<" in text
    assert "uniform guess" in text and "random player" in text and ">optimum<" in text
    assert text.count("whisker") == 2


@pytest.mark.parametrize("knows", [0.0, 0.5, 0.97])
def test_mindless_label_is_inside_the_plot_and_avoids_dots(knows: float) -> None:
    dots = [Dot("beside", knows + 0.06, 0.5, None, None, None)]
    text = str(profile_plot("title", dots, (knows, 0.5), "optimum"))
    (left, base), *_ = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>mindless', text)
    (x, y), *_ = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', text)
    assert float(left) >= 46 and float(left) + 42 <= 252
    assert not (
        float(left) - 5 < float(x) < float(left) + 47 and float(base) - 14 < float(y) < float(base)
    )


@pytest.mark.parametrize(
    ("name", "most", "said"),
    [
        ("tit_for_tat", 20, "tit_for_tat"),
        ("person (with a known optimum)", 20, "person (with a …mum)"),
        ("person (without a known optimum)", 20, "person (without…mum)"),
        ("Qwen2.5-0.5B-Instruct tom_cot", 20, "Qwen2.5-…uct tom_cot"),
        ("Qwen2.5-0.5B-Instruct qa words=ipd_order@0123456789abcdef", 20, "Qwen2…ct qa ipd_o…er"),
        ("Qwen2.5-0.5B-Instruct tom_cot words=ipd_labels T=0.7", 20, "Qw… tom_cot ip… T=…7"),
    ],
)
def test_long_name_keeps_its_strategy(name: str, most: int, said: str) -> None:
    assert shorten(name, most) == said and len(said) <= most


def test_calibration_curve_goes_through_its_points() -> None:
    curve = Curve("a", [(0.5, 0.5, [0.4, 0.6], 20), (1.0, 0.75, None, 4)], None)
    text = str(calibration_plot("title", [curve]))
    assert "a: odds of 50 % came true in 50 % of 20" in text
    assert text.count("<circle") == 2 and text.count("whisker") == 1


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["m cot T=0.7", "m qa T=0.7"], ("m T=0.7", ["cot", "qa"])),
        (["m cot T=0", "n cot T=1"], ("cot", ["m T=0", "n T=1"])),
        (["m cot", "m"], ("m", ["cot", "m"])),  # one would have no name
        (["m cot"], ("", ["m cot"])),
        (["random", "tit_for_tat"], ("", ["random", "tit_for_tat"])),
    ],
)
def test_words_that_all_names_share_are_said_once(
    names: list[str], expected: tuple[str, list[str]]
) -> None:
    assert split_common(names) == expected


def test_dots_are_named_by_what_tells_their_players_apart() -> None:
    dots = [
        Dot(f"qwen-0.5b {way} T=0.7 p=0.95", 0.5, 0.5, None, None, None) for way in ("cot", "qa")
    ]
    drawing = str(profile_plot("title", dots, (None, None), "best"))
    assert re.findall(r'class="name hue\d">([^<]*)<', drawing) == ["cot", "qa"]
