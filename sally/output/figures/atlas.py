"""The atlas figure: one panel per game and setting, as SVG and as a self-contained page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

import msgspec

from sally.output.figures.short_names import shorten
from sally.output.figures.svg import Scale, number
from sally.parts.atlas import KINDS, AtlasColumn, AtlasDot

Columns = Mapping[AtlasColumn, Sequence[AtlasDot]]

WIDTH, NAMES, RIGHT = 420, 164, 92  # of a panel, its names, and its values and n
TOP, ROW, BOTTOM = 62, 22, 40
GAP, ACROSS = 24, 3
DATED = 16  # letters of a name that leave room for its year
MANY = 12  # models in one panel; beyond, they are grouped by family
LOWEST, HIGHEST = -1.0, 1.05  # a dot beyond the scale is drawn at its edge, with its value

# Colours from Okabe and Ito (2008), which readers with colour blindness can tell apart; each kind
# also has its own shape.
HUES = {
    "people": "#D55E00",
    "model": "#0072B2",
    "learner": "#009E73",
    "bot": "#767676",
    "rule": "#CC79A7",
}
PLURALS = {
    "people": "people",
    "model": "models",
    "learner": "learners",
    "bot": "bots",
    "rule": "rules of thumb",
}

CAN = (
    ("recorded play has moves and words", "few probes: knowing is blank almost everywhere"),
    ("doing is exact within one column", "columns differ in rules, stakes and partners: never "
     "compare a figure of one column with one of another"),
    ("a label is what the authors called it", "versions, settings and prompts behind a label are "
     "not checked; a year is that of the name or the record"),
    ("intervals are over people, matches or tables", "they hold for this record, not for another "
     "sample of people or another prompt"),
    ("unreadable replies are left out", "where they are not missing at random, the rest is no "
     "sample of the model"),
)  # fmt: skip


class Row(msgspec.Struct, frozen=True):
    """One line of a panel: a player, or all models of a family."""

    label: str
    dots: tuple[tuple[int, AtlasDot], ...]  # with their places in the column


def rows_of(dots: Sequence[AtlasDot]) -> list[Row]:
    """Return the lines of a panel; if there are more than MANY models, they are grouped by family,
    the best family first."""
    models = [(n, dot) for n, dot in enumerate(dots) if dot.kind == "model"]
    if len(models) <= MANY or not all(dot.family for _, dot in models):
        return [Row(dot.who, ((n, dot),)) for n, dot in enumerate(dots)]
    families: dict[str, list[tuple[int, AtlasDot]]] = {}
    for n, dot in models:
        families.setdefault(dot.family, []).append((n, dot))
    folded = [Row(f"{name} ({len(of)})", tuple(of)) for name, of in families.items()]
    folded.sort(key=lambda row: -max(dot.value for _, dot in row.dots))
    ahead = [Row(d.who, ((n, d),)) for n, d in enumerate(dots) if d.kind == "people"]
    other_rows = [
        Row(d.who, ((n, d),)) for n, d in enumerate(dots) if d.kind not in ("people", "model")
    ]
    return [*ahead, *folded, *other_rows]


def height_of(dots: Sequence[AtlasDot]) -> int:
    """Return the height of a panel in pixels."""
    return TOP + ROW * len(rows_of(dots)) + BOTTOM


def _shape(kind: str, x: float, y: float) -> str:
    """Return the SVG mark of a kind of player; each kind has its own colour and shape."""
    hue = HUES[kind]
    if kind == "people":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{hue}"/>'
    corners = {
        "model": ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
        "learner": ((0, -6), (6, 0), (0, 6), (-6, 0)),
        "bot": ((-5.5, 4.5), (5.5, 4.5), (0, -5.5)),
        "rule": ((-5.5, -4.5), (5.5, -4.5), (0, 5.5)),
    }[kind]
    points = " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in corners)
    return f'<polygon points="{points}" fill="{hue}"/>'


def _count(n: int) -> str:
    """Return a number of decisions as it fits beside a value."""
    return f"n {n}" if n < 100_000 else f"n {n // 1000}k"


def panel(column: AtlasColumn, dots: Sequence[AtlasDot], first: int = 0, page: str = "") -> str:
    """Return one panel as an SVG group.

    Args:
        column: The game, setting and measure.
        dots: The players in the panel.
        first: The number of the panel's first dot within the figure.
        page: The HTML file whose lists of episodes the dots link to; "" for the same page.
    """
    rows = rows_of(dots)
    ends = [v for d in dots for v in (d.value, d.low, d.high) if v is not None]
    low = max(LOWEST, min(0.0, math.floor(min(ends) * 4) / 4))
    start = NAMES
    across = Scale(low, HIGHEST, start, WIDTH - RIGHT)
    bottom = TOP + ROW * len(rows)
    out = [
        f'<text x="4" y="16" class="head">{escape(column.game)}</text>',
        f'<text x="4" y="32" class="sub">{escape(shorten(column.setting, 66))}</text>',
        f'<text x="4" y="46" class="sub">{escape(shorten(column.measure, 66))}</text>',
    ]
    marks = [low / 2] if low < -0.6 else []
    for tick in (low, *marks, 0.0, 0.5, 1.0) if low < 0 else (0.0, 0.5, 1.0):
        strong = " strong" if tick in (0.0, 1.0) else ""
        x = across(tick)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{bottom}" '
                   f'class="grid{strong}"/>')  # fmt: skip
        out.append(f'<text x="{x:.1f}" y="{bottom + 13}" class="tick">{number(tick)}</text>')
    out.append(f'<text x="4" y="{bottom + 29}" class="sub">0: {escape(shorten(column.zero, 30))}; '
               f"1: {escape(shorten(column.one, 32))}</text>")  # fmt: skip
    for line, row in enumerate(rows):
        y = TOP + ROW * line + ROW / 2
        lone = row.dots[0][1] if len(row.dots) == 1 else None
        dated = lone is not None and lone.kind == "model" and len(row.label) <= DATED
        year = f" ({lone.year})" if lone and lone.year and dated else ""
        name = f"{escape(shorten(row.label, DATED if year else 22))}{year}"
        if lone is None:
            best = max(dot.value for _, dot in row.dots)
            value, few = f"to {number(best, 2)}", ""
            out.append(f'<text x="{start - 8}" y="{y + 4:.1f}" class="who">{name}</text>')
        for n, dot in row.dots:
            whisker = ""
            if lone and dot.low is not None and dot.high is not None:
                whisker = (
                    f'<line x1="{across(dot.low):.1f}" x2="{across(dot.high):.1f}" y1="{y:.1f}" '
                    f'y2="{y:.1f}" stroke="{HUES[dot.kind]}" stroke-width="2" opacity=".55"/>'
                )
            inside = _shape(dot.kind, across(dot.value), y)
            if lone:
                value, few = number(dot.value, 2), _count(dot.n)
                inside = (
                    f'<rect x="0" y="{y - ROW / 2:.1f}" width="{WIDTH}" height="{ROW}" '
                    f'class="hit"/><text x="{start - 8}" y="{y + 4:.1f}" class="who">{name}</text>'
                    f"{whisker}{inside}"
                )
            out.append(
                f'<a href="{escape(page, quote=True)}#dot-{first + n}">'
                f'<g class="dot" data-kind="{dot.kind}" data-n="{first + n}">'
                f"<title>{escape(describe_dot(dot))}</title>{inside}</g></a>"
            )
        out.append(
            f'<text x="{WIDTH - 48}" y="{y + 4:.1f}" class="value">{value}</text>'
            f'<text x="{WIDTH - 4}" y="{y + 4:.1f}" class="value few">{few}</text>'
        )
    return "\n".join(out)


def describe_dot(dot: AtlasDot) -> str:
    """Describe a dot in one sentence."""
    interval = "no interval" if dot.low is None else f"[{dot.low:.2f}, {dot.high:.2f}]"
    knowing_text = "" if dot.knowing is None else f", knowing {dot.knowing:.2f}"
    note = f"; {dot.note}" if dot.note else ""
    return (
        f"{dot.who}: {dot.value:.3f} {interval}{knowing_text}, {dot.n} {dot.unit} in "
        f"{dot.clusters} "
        f"clusters, {dot.source}{note}"
    )


STYLE = """
text { font: 12px system-ui, sans-serif; fill: var(--ink, #1a1a1a); }
.head { font-weight: 600; font-size: 14px; }
.sub, .tick { font-size: 10.5px; fill: var(--soft, #555); }
.tick { text-anchor: middle; }
.who, .value { text-anchor: end; }
.value { font-variant-numeric: tabular-nums; }
.few { font-size: 10px; fill: var(--soft, #555); }
.grid { stroke: var(--line, #ddd); } .strong { stroke: var(--soft, #888); }
.hit { fill: transparent; } a { text-decoration: none; }
"""


def atlas_svg(columns: Columns, page: str = "atlas.html") -> str:
    """Return the whole figure as one SVG with a legend; dots link to the lists of episodes on
    `page`."""
    heights = [0] * ACROSS
    placed = []
    first = 0
    for column, dots in columns.items():
        lane = heights.index(min(heights))
        placed.append((lane * (WIDTH + GAP), heights[lane] + 30, panel(column, dots, first, page)))
        heights[lane] += height_of(dots) + GAP
        first += len(dots)
    wide, high = ACROSS * WIDTH + (ACROSS - 1) * GAP, max(heights) + 30
    parts = [f'<g transform="translate({x} {y})">{inside}</g>' for x, y, inside in placed]
    legend = []
    for n, kind in enumerate(KINDS):
        legend.append(_shape(kind, 12 + 130 * n, 12))
        legend.append(f'<text x="{24 + 130 * n}" y="16">{PLURALS[kind]}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" '
        f'aria-label="People, models, learners, bots and rules by game">'
        f"<style>{STYLE}</style>" + "".join(legend) + "".join(parts) + "</svg>\n"
    )


def _asset(name: str) -> str:
    """Return the style sheet or the script of the page."""
    return (files(__package__) / name).read_text("utf-8")


def _ranking_table(column: AtlasColumn, dots: Sequence[AtlasDot], first: int) -> str:
    """Return a table of a panel's players, highest value first, with commands that show their
    episodes."""
    rows = []
    for n, dot in sorted(enumerate(dots, first), key=lambda numbered: -numbered[1].value):
        ends = "" if dot.low is None else f"[{dot.low:.2f}, {dot.high:.2f}]"
        knowing = "" if dot.knowing is None else f"{dot.knowing:.2f}"
        commands = "<br>".join(
            f"<code>sally show {escape(dot.store)}/{escape(id)}</code>" for id in dot.episodes
        )
        cells = (dot.who, dot.kind, f"{dot.value:.2f}", ends, knowing, f"{dot.n} {dot.unit}")
        rows.append(
            f'<tr id="dot-{n}">'
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + f"<td>{commands or 'none stored'}</td></tr>"
        )
    heads = ("player", "kind", "value", "95%", "knowing", "n", "episodes")
    head = "".join(f"<th>{heading}</th>" for heading in heads)
    title = escape(f"{column.game}, {column.setting}: {column.measure}")
    return (
        f"<details><summary>{title}</summary><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></details>"
    )


def atlas_page(columns: Columns) -> str:
    """Return the interactive figure as one HTML page that loads no other file."""
    panels: list[str] = []
    lists: list[str] = []
    data: list[dict[str, object]] = []
    for column, dots in columns.items():
        size = f"0 0 {WIDTH} {height_of(dots)}"
        name = f"{column.game}, {column.setting}"
        panels.append(
            f'<svg viewBox="{size}" role="group" aria-label="{escape(name, quote=True)}">'
            f"{panel(column, dots, len(data))}</svg>"
        )
        lists.append(_ranking_table(column, dots, len(data)))
        data += [
            {
                "told": describe_dot(dot),
                "column": f"{column.game}, {column.setting}. {column.measure}: 0 is "
                f"{column.zero}, 1 is {column.one}.",
                "episodes": list(dot.episodes),
                "store": dot.store,
            }
            for dot in dots
        ]
    kinds = {dot.kind for dots in columns.values() for dot in dots}
    boxes = "".join(
        f'<label><input type="checkbox" value="{kind}" checked>'
        f'<svg width="14" height="14" viewBox="0 0 14 14">{_shape(kind, 7, 7)}</svg>'
        f"{PLURALS[kind]}</label>"
        for kind in KINDS
        if kind in kinds
    )
    rows = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in CAN)
    json_text = json.dumps(data).replace("<", "\\u003c")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Atlas: people and models by game</title>
<style>{STYLE}{_asset("atlas.css")}</style></head><body>
<h1>People, models, learners, bots and rules, each in its own game</h1>
<p>One panel is one game in one setting with one measure. Bars are 95% intervals. A dot links to its
entry in the ranked list below, with its n, source and episodes; panels with more than {MANY} models
have one line per provider, and each mark has its name. Do not compare figures across panels.</p>
<div class="filters">{boxes}</div>
<div class="panels">{"".join(panels)}</div>
<div id="about" aria-live="polite">Select a row.</div>
<h2>Players and episodes</h2>
<p>Ranked within each panel. Knowing is blank where a record holds no predictions.</p>
{"".join(lists)}
<h2>What this can and cannot say</h2>
<table><tr><th>it can, because</th><th>it cannot, because</th></tr>{rows}</table>
<script type="application/json" id="dots">{json_text}</script>
<script>{_asset("atlas.js")}</script>
</body></html>
"""
