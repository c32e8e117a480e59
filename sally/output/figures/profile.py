"""Figures of the knowing-doing profile and of calibration, labelled without a legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from sally.analysis.profile.doing_scale import Mark
from sally.analysis.profile.profile import ProfileRow
from sally.core.errors import BadInput, join_names
from sally.frames.knowing import uncounted_probes_note
from sally.output.figures.knowing_doing import (
    CAME_TRUE,
    EXPLANATION,
    KNOWING,
    LEAST_KNOWING,
    MANY,
    ODDS,
    clip_doing,
    doing_label,
    doing_limits,
    lowest_knowing,
    mindless_knowing,
)
from sally.output.figures.ladder import CAPTION as LADDER
from sally.output.figures.ladder import ladder_panels
from sally.output.figures.panels import (
    COLOURS,
    GREY,
    INK,
    LONGEST,
    MARKERS,
    SIZE,
    Named,
    Panel,
    figure_of,
    name_beside,
    short,
)
from sally.stats.intervals import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "What each player knew about the others, and how well it acted on it"


# --- the profile ----------------------------------------------------------------------------------

GUTTER = -0.2  # x position of players that were not probed


def profile_figure(rows: Sequence[ProfileRow], columns: int = 2) -> Figure:
    """Draw doing (y) against knowing (x), with one panel per family of games; a panel with many
    players has one row per player.

    Raises:
        BadInput: There are no rows, or Matplotlib is not installed.
    """
    families = list(dict.fromkeys(row.family for row in rows))
    if not families:
        raise BadInput("There is nothing to draw: no player has a profile.")
    panels: list[Panel] = []
    captions: dict[str, None] = {}
    for family in families:
        family_rows = [row for row in rows if row.family == family]
        is_ladder = len(family_rows) > MANY and any(
            row.doing.value is not None for row in family_rows
        )
        panels += ladder_panels(family_rows) if is_ladder else [_profile_panel(family_rows)]
        captions[LADDER if is_ladder else EXPLANATION] = None
    return figure_of(panels, columns, TITLE, " ".join(captions))


def _profile_panel(rows: Sequence[ProfileRow]) -> Panel:
    """Return the panel of one family of games. It shows how much players gained, from 0 (random
    player) to 1 (best known score), or raw scores if this scale is undefined for all of them."""
    scaled = any(row.doing.value is not None for row in rows)
    plot = Plot(tuple(rows), scaled)
    games = list(dict.fromkeys(row.game for row in rows))
    family = rows[0].family
    title = family if games == [family] else f"{family}: {join_names(games)}"

    def draw(axes: Axes, height: float) -> None:
        _frame(axes, plot)
        labels = [_point(axes, row, plot) for row in plot.drawn_rows]
        name_beside(axes, labels + _mark_points(axes, plot), height)

    notes = [] if scaled else [f"As scored: {_reason(rows[0], 'doing')}."]
    notes += [note for note in dict.fromkeys(map(uncounted_probes_note, games)) if note]
    return Panel(title, draw, len(plot.drawn_rows) + len(plot.marks), (*notes, *_undrawn(plot)))


class Plot(msgspec.Struct, frozen=True):
    """The rows of a panel, and whether it shows gains on a scale from 0 (random player) to 1 (best
    known score), or raw scores."""

    rows: tuple[ProfileRow, ...]
    scaled: bool

    def doing(self, row: ProfileRow) -> Estimate:
        return row.doing if self.scaled else row.raw

    @property
    def drawn_rows(self) -> list[ProfileRow]:
        return [row for row in self.rows if self.doing(row).value is not None]

    @property
    def games(self) -> list[str]:
        return list(dict.fromkeys(row.game for row in self.rows))

    @property
    def marks(self) -> dict[tuple[Role, str, str], list[tuple[ProfileRow, Mark]]]:
        """The scores of baseline players, by role, name and kind of score; a baseline player that
        has a row of its own in the panel is left out."""
        marks_by_key: dict[tuple[Role, str, str], list[tuple[ProfileRow, Mark]]] = {}
        for row in self.drawn_rows:
            for role in ROLES:
                mark: Mark | None = getattr(row, role)
                if mark is not None and not any(_is(r, mark, row.game) for r in self.drawn_rows):
                    key = (role, mark.player, mark.standing or "best mindless")
                    marks_by_key.setdefault(key, []).append((row, mark))
        return marks_by_key


Role = Literal["mindless", "reference"]
ROLES: tuple[Role, ...] = ("mindless", "reference")


def _is(row: ProfileRow, mark: Mark, game: str) -> bool:
    return row.player == mark.player and row.game == game


def _frame(axes: Axes, plot: Plot) -> None:
    axes.set_ylim(*_span(plot))
    silent = any(row.skill.value is None for row in plot.drawn_rows)
    axes.set_xlabel(KNOWING, labelpad=11 if silent else 4)
    skills = [row.skill for row in plot.drawn_rows]
    left_limit = lowest_knowing(e for s in skills for e in (s.value, s.low) if e is not None)
    axes.set_xlim(min(2 * GUTTER if silent else left_limit, left_limit), 1.05)
    axes.set_xticks([x / 5 for x in range(int(min(left_limit, 0) * 5), 6)])
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":", zorder=1)
    if silent:
        axes.text(
            GUTTER, -0.025, "no\nanswers", transform=axes.get_xaxis_transform(), size=SIZE - 1,
            color=INK, ha="center", va="top",
        )  # fmt: skip
    if plot.scaled:
        axes.set_ylabel(doing_label(_top_name(plot.rows)))
        for y in (0, 1):
            axes.axhline(y, color=GREY, linewidth=0.8, linestyle="--", zorder=1)
    else:
        axes.set_ylabel(f"doing: {plot.rows[0].metric} ({plot.rows[0].unit})")


def _span(plot: Plot) -> tuple[float, float]:
    estimates = [plot.doing(row) for row in plot.drawn_rows]
    ends = [end for e in estimates for end in (e.value, e.low, e.high) if end is not None]
    if plot.scaled:
        return doing_limits(ends)
    ends += [row.random.value for row in plot.drawn_rows if row.random] or [0.0]
    room = max(0.1, max(ends, default=1.0) - min(ends, default=0.0))
    return min(ends, default=0.0) - 0.1 * room, max(ends, default=1.0) + 0.1 * room


def _top_name(rows: Sequence[ProfileRow]) -> str:
    tops = list(dict.fromkeys(row.reference.player for row in rows if row.reference))
    return short(tops[0], 14) if len(tops) == 1 else "reference"


def _point(axes: Axes, row: ProfileRow, plot: Plot) -> Named:
    players = list(dict.fromkeys(r.player for r in plot.rows))
    colour = COLOURS[players.index(row.player) % len(COLOURS)]
    doing = plot.doing(row)
    value = doing.value or 0.0
    y = clip_doing(value) if plot.scaled else value
    x = GUTTER if row.skill.value is None else max(row.skill.value, LEAST_KNOWING)
    shape = MARKERS[plot.games.index(row.game) % len(MARKERS)]
    if beyond := y != value:
        shape = "v" if value < y else "^"
    if row.skill.interval:
        ends = [max(end, LEAST_KNOWING) for end in row.skill.interval]
        axes.plot(ends, [y, y], color=colour, linewidth=1, zorder=2)
    if doing.interval and not beyond:
        ends = [clip_doing(e) if plot.scaled else e for e in doing.interval]
        axes.plot([x, x], ends, color=colour, linewidth=1, zorder=2)
    fill: Literal["none", "full"] = "none" if beyond else "full"
    axes.plot([x], [y], shape, color=colour, ms=5, zorder=3, clip_on=False, fillstyle=fill)
    return x, y, _name(row, plot, f"{value:.1f}" if beyond else ""), colour


def _name(row: ProfileRow, plot: Plot, value: str) -> str:
    """Return the player's label with everything needed to identify its point."""
    rows = plot.rows
    roles = {
        "best mindless": row.mindless is not None and row.player == row.mindless.player,
        str(row.reference and row.reference.standing): row.reference is not None
        and row.player == row.reference.player,
        row.game: len({r.game for r in rows}) > 1,
        row.seat: len({r.seat for r in rows}) > 1,
        row.cell: len({r.cell for r in rows}) > 1,
        row.part: bool(row.part),
        value: bool(value),
    }
    details = ", ".join(name for name, is_needed in roles.items() if is_needed)
    tail = f" ({details})" if details else ""
    return short(row.player, max(14, LONGEST - len(tail))) + tail


def _mark_points(axes: Axes, plot: Plot) -> list[Named]:
    """Plot marks for the best mindless player and for the reference player; return the position and
    name of each mark."""
    points: list[Named] = []
    for (role, player, standing), row_marks in plot.marks.items():
        heights = [mark.doing if plot.scaled else mark.value for _, mark in row_marks]
        known_heights = [height for height in heights if height is not None]
        if not known_heights:
            continue
        y = (
            clip_doing(sum(known_heights) / len(known_heights))
            if plot.scaled
            else sum(known_heights) / len(known_heights)
        )
        x = mindless_knowing([row for row, _ in row_marks]) or 0.0 if role == "mindless" else 1.0
        shape = "d" if role == "mindless" else "*"
        axes.plot([x], [y], shape, color=INK, ms=6, fillstyle="none", zorder=4, clip_on=False)
        games = list(dict.fromkeys(row.game for row, _ in row_marks))
        of = f", {'/'.join(games)}" if len(games) < len({r.game for r in plot.drawn_rows}) else ""
        tail = f" ({standing}{of})"
        points.append((x, y, short(player, max(12, LONGEST - len(tail))) + tail, GREY))
    return points


def _undrawn(plot: Plot) -> list[str]:
    """Return notes on players that are not drawn, by reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in plot.rows:
        if row not in plot.drawn_rows:
            reasons.setdefault((row.game, _reason(row, "doing")), []).append(short(row.player))
    return [
        f"Not drawn in {game}: {join_names(players)} ({reason})."
        for (game, reason), players in reasons.items()
    ]


def _reason(row: ProfileRow, field: str) -> str:
    return row.why.get(field, "no value")


# --- calibration ----------------------------------------------------------------------------------

CALIBRATION_TITLE = "How often did stated odds come true?"
CALIBRATION_CAPTION = (
    "Horizontal: the odds that a player gave to the choice it found most likely, in ten bins. "
    "Vertical: how often that choice was true, with 95% intervals. On the line, odds are "
    "calibrated; below it, the player is overconfident. Larger dots stand for more answers; in "
    "brackets, the mean distance from the line in percentage points."
)


def calibration_figure(rows: Sequence[ProfileRow], columns: int = 2) -> Figure:
    """Draw observed frequencies (y) against stated odds (x), one panel per game.

    Raises:
        BadInput: No player stated odds, or Matplotlib is not installed.
    """
    games = list(dict.fromkeys(row.game for row in rows if row.calibration))
    if not games:
        raise BadInput("There is nothing to draw: no player stated odds.")
    panels = []
    for game in games:
        game_rows = [row for row in rows if row.game == game and row.calibration]
        for start in range(0, len(game_rows), MANY):  # more curves would be unreadable
            panels.append(_calibration_panel(game_rows[start : start + MANY]))
    return figure_of(panels, columns, CALIBRATION_TITLE, CALIBRATION_CAPTION)


def _calibration_panel(rows: Sequence[ProfileRow]) -> Panel:
    def draw(axes: Axes, height: float) -> None:
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 100)
        axes.plot([0, 100], [0, 100], "--", color=GREY, linewidth=0.8)
        axes.set_xlabel(ODDS)
        axes.set_ylabel(CAME_TRUE)
        largest_count = max(point.n for row in rows for point in row.calibration)
        ends = [_curve(axes, n, row, largest_count) for n, row in enumerate(rows)]
        name_beside(axes, ends, height)

    return Panel(rows[0].game, draw, len(rows))


def _curve(axes: Axes, n: int, row: ProfileRow, largest_count: int) -> Named:
    colour, marker = COLOURS[n % len(COLOURS)], MARKERS[n // len(COLOURS) % len(MARKERS)]
    points = [p for p in row.calibration if p.share.value is not None]
    xs, ys = [100 * p.forecast for p in points], [100 * (p.share.value or 0.0) for p in points]
    axes.plot(xs, ys, color=colour, linewidth=1, alpha=0.7)
    for x, y, point in zip(xs, ys, points, strict=True):
        size = 2.5 + 4 * (point.n / largest_count) ** 0.5
        axes.plot([x], [y], marker, color=colour, markersize=size, clip_on=False)
        if point.share.interval:
            axes.plot([x, x], [100 * end for end in point.share.interval], color=colour, lw=0.8)
    error = sum(p.n * abs(x - y) for x, y, p in zip(xs, ys, points, strict=True))
    mean_error = error / sum(p.n for p in points)
    tail = f" ({mean_error:.0f})"
    return xs[-1], ys[-1], short(row.player, LONGEST - len(tail)) + tail, colour
