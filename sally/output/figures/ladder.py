"""A figure for many players: one line per player, the best first, with knowing and doing on one
scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sally.analysis.profile.profile import ProfileRow
from sally.core.grouping import group_by
from sally.frames.knowing import uncounted_probes_note
from sally.output.figures.knowing_doing import HIGHEST, LOWEST, clip_doing
from sally.output.figures.panels import COLOURS, GREY, MARKERS, Named, Panel, name_beside, short
from sally.stats.intervals import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 34  # letters of a name
CAPTION = (
    "A line a player, the best on top. Full mark: doing, 0 as a random player and 1 as the optimum "
    "or the reference player. Ring: knowing, 0 as an even guess and 1 all right; no ring where "
    "nobody asked. A ring far to the right of its mark: knows and does not use it. Colours are "
    "models, shapes strategies. Thin lines: 95% intervals of doing over whole clusters of episodes."
)


def parts_of(player: str) -> tuple[str, str]:
    """Return a player's label in two parts: the model and its strategy, or a bot's name and ""."""
    turned = player.startswith("not ")
    name, _, remainder = player.removeprefix("not ").partition(" ")
    return (f"not {name}" if turned else name), remainder.partition(" ")[0]


def ladder_panels(rows: Sequence[ProfileRow]) -> list[Panel]:
    """Return one panel for each game, seat, cell and subset of episodes; all use the same colours
    and shapes."""
    names = [parts_of(row.player) for row in rows]
    models = list(dict.fromkeys(model for model, _ in names))
    ways = list(dict.fromkeys(strategy for _, strategy in names))
    groups = group_by(rows, lambda row: (row.game, row.seat, row.cell, row.part))
    seats = {(row.game, row.seat) for row in rows}
    several_seats = len(seats) > len({game for game, _ in seats})
    return [
        _panel(group, ", ".join(filter(None, (key[0], key[1] if several_seats else "", *key[2:]))),
               models, ways)
        for key, group in groups.items()
    ]  # fmt: skip


def _panel(
    rows: Sequence[ProfileRow], title: str, models: Sequence[str], ways: Sequence[str]
) -> Panel:
    drawn_rows = sorted(
        (row for row in rows if _has(row.doing) or _has(row.skill)),
        key=lambda row: (-_or(row.doing, -math.inf), -_or(row.skill, -math.inf), row.player),
    )
    reasons: dict[str, int] = {}
    for row in rows:
        if not _has(row.doing):
            reason = row.why.get("doing", "no value")
            reasons[reason] = reasons.get(reason, 0) + 1
    notes = [f"No doing for {n} of {len(rows)} players: {reason}." for reason, n in reasons.items()]
    notes += [
        note for note in dict.fromkeys(uncounted_probes_note(row.game) for row in rows) if note
    ]

    def draw(axes: Axes, height: float) -> None:
        axes.set_xlim(LOWEST - 0.1, HIGHEST + 0.1)
        axes.set_ylim(-len(drawn_rows) + 0.3, 0.7)
        axes.set_yticks([])
        axes.set_xlabel("ring: knowing, mark: doing")
        for x in (0, 1):
            axes.axvline(x, color=GREY, linewidth=0.8, linestyle="--", zorder=1)
        labels = [_rung(axes, -n, row, models, ways) for n, row in enumerate(drawn_rows)]
        name_beside(axes, labels, height)

    return Panel(title, draw, len(drawn_rows), tuple(notes))


def _rung(
    axes: Axes, y: float, row: ProfileRow, models: Sequence[str], ways: Sequence[str]
) -> Named:
    """Draw the marks of one player (ring, dot, the line between them, and the interval of doing);
    return its label."""
    model, strategy = parts_of(row.player)
    colour = COLOURS[models.index(model) % len(COLOURS)]
    shape = MARKERS[ways.index(strategy) % len(MARKERS)]
    ends = [clip_doing(e.value) for e in (row.skill, row.doing) if e.value is not None]
    axes.plot([min(ends), HIGHEST + 0.1], [y, y], color=GREY, linewidth=0.3, alpha=0.5, zorder=1)
    if len(ends) == 2:
        axes.plot(ends, [y, y], color=colour, linewidth=2, alpha=0.35, zorder=2)
    if row.skill.value is not None:
        ring = clip_doing(row.skill.value)
        axes.plot([ring], [y], "o", color=colour, ms=5, fillstyle="none", zorder=3, clip_on=False)
    beyond = ""
    if (value := row.doing.value) is not None:
        if row.doing.interval:
            low, high = map(clip_doing, row.doing.interval)
            axes.plot([low, high], [y, y], color=colour, linewidth=0.8, zorder=2)
        beyond = "" if LOWEST <= value <= HIGHEST else f" ({value:.1f})"
        edge = {True: "<", False: ">"}[value < LOWEST]
        mark = edge if beyond else shape
        axes.plot([clip_doing(value)], [y], mark, color=colour, ms=5, zorder=4, clip_on=False)
    return HIGHEST + 0.1, y, short(row.player, LONGEST - len(beyond)) + beyond, colour


def _has(estimate: Estimate) -> bool:
    return estimate.value is not None


def _or(estimate: Estimate, default: float) -> float:
    return default if estimate.value is None else estimate.value
