"""The knowing-doing profile on the page: a plot for each game, and the table behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from sally.analysis.profile import Mark, ProfileRow
from sally.output.page.html import Html, joined, tag
from sally.output.page.results import scrolled
from sally.output.plots import Curve, Dot, calibration_plot, estimate, number, profile_plot
from sally.stats import Estimate

Find = Callable[[ProfileRow], str | None]  # where the episodes of a row are listed on the page
LOSSES = ("inference", "translation", "format", "horizon")


def profile_section(rows: Sequence[ProfileRow], find: Find) -> Html:
    """Plots of those that have both numbers, and everybody in the table."""
    games = [
        (key, list(group)) for key, group in groupby(rows, key=lambda row: (row.game, row.seat))
    ]
    plots = [plot for (game, seat), group in games if (plot := _plot(game, seat, group, find))]
    return joined(
        tag(
            "p",
            "Across: how often a player was right about the others. Up: what it got, on a scale "
            "from the best mindless player (0) to the optimum or the reference player (1) on the "
            "same problems, with the same chance and company. Low on the right: it knows and does "
            "not use it. High on the left: it does well without knowing. Bars are 95% intervals, "
            "from resampling whole clusters of episodes.",
        ),
        tag("div", plots, class_="plots") if plots else None,
        _table(rows, find),
        _calibrations(games, find),
        _blanks(rows),
    )


def _plot(game: str, seat: str, rows: Sequence[ProfileRow], find: Find) -> Html | None:
    dots = [
        Dot(row.player, row.accuracy.value, row.doing.value, row.accuracy.interval,
            row.doing.interval, find(row))
        for row in rows
        if row.accuracy.value is not None and row.doing.value is not None
    ]  # fmt: skip
    if not dots:
        return None
    first = next(row for row in rows if row.doing.value is not None)
    guesses = [row.guess for row in rows if row.guess is not None]
    drawn = profile_plot(
        f"knowing and doing of {seat} in {game}",
        dots,
        guesses[0] if guesses else None,
        f"best mindless: {first.mindless.player}" if first.mindless else "",
        _best(first.reference),
    )
    left: dict[str, list[str]] = {}
    for row in rows:
        if row.accuracy.value is None or row.doing.value is None:
            left.setdefault(_why_left_out(row), []).append(row.player)
    said = "; ".join(f"{', '.join(who)} ({why})" for why, who in left.items())
    note = tag("p", tag("small", f"Not drawn: {said}.")) if left else None
    return tag("figure", tag("figcaption", tag("b", f"{game}, {seat}")), drawn, note)


def _calibrations(
    games: Sequence[tuple[tuple[str, str], Sequence[ProfileRow]]], find: Find
) -> Html | None:
    """Where odds were stated: how often they came true."""
    plots = []
    for (game, seat), rows in games:
        curves = [
            Curve(row.player, [(p.forecast, p.share.value, p.share.interval, p.n)
                  for p in row.calibration if p.share.value is not None], find(row))
            for row in rows
            if any(p.share.value is not None for p in row.calibration)
        ]  # fmt: skip
        if curves:
            drawn = calibration_plot(f"calibration of {seat} in {game}", curves)
            caption = tag("figcaption", tag("b", f"{game}, {seat}"))
            plots.append(tag("figure", caption, drawn))
    if not plots:
        return None
    said = "On the dashed line, stated odds come true as often as they say."
    head = tag("summary", f"Calibration of stated odds ({len(plots)})")
    return tag("details", head, tag("p", said), tag("div", plots, class_="plots"))


def _best(mark: Mark | None) -> str:
    if mark is None:
        return ""
    return mark.player if mark.standing == "exact" else f"{mark.player} (best known)"


def _why_left_out(row: ProfileRow) -> str:
    return row.why.get("accuracy" if row.accuracy.value is None else "doing", "no value")


def _table(rows: Sequence[ProfileRow], find: Find) -> Html:
    heads = [
        tag("th", "player", scope="col"),
        *(tag("th", name, scope="col", class_="broad") for name in ("game", "seat")),
        *(
            tag("th", tag("abbr", name, title=about), scope="col", class_="number")
            for name, about in (
                ("knowing ↑ %", "predictions about others that were right"),
                ("Brier ↓", "squared error of stated odds"),
                ("doing ↑", "0: as the best mindless player, 1: as the optimum or the reference"),
                ("in its unit", "doing as it was measured"),
                ("inference", "lost by predicting wrongly"),
                ("translation", "lost by not acting on the prediction"),
                ("format", "lost by forfeited moves"),
                ("horizon", "what the whole episode adds to the losses of single moves"),
                ("episodes", "played"),
                ("no result", "censored episodes"),
                ("forfeits", "moves that could not be read"),
            )
        ),
        tag("th", "compared with", scope="col"),
    ]
    body = [_line(row, find(row)) for row in rows]
    caption = "The profile in numbers"
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", heads)),
        tag("tbody", body),
        class_="sortable",
    )
    return scrolled(table, caption)


def _line(row: ProfileRow, href: str | None) -> Html:
    def cell(found: Estimate, field: str) -> Html:
        if found.value is None:
            return tag("td", "–", class_="number quiet", title=row.why.get(field))
        said = estimate(found.value, found.interval)
        value, _, interval = said.partition(" ")
        shown = tag("a", value, href=href) if href else value
        small = tag("small", interval) if interval else None
        return tag("td", shown, small, class_="number", data_v=found.value)

    under = tag("small", f"{row.game}, {row.seat}", class_="narrow")
    return tag(
        "tr",
        tag("th", tag("bdi", row.player), under, scope="row"),
        tag("td", row.game, class_="broad"),
        tag("td", row.seat, class_="broad"),
        cell(row.accuracy, "accuracy"),
        cell(row.brier, "brier"),
        cell(row.doing, "doing"),
        cell(row.raw, "raw"),
        *(cell(getattr(row, name), name) for name in LOSSES),
        *(
            tag("td", number(n), class_="number", data_v=n)
            for n in (row.episodes, row.censored, row.forfeits)
        ),
        tag("td", tag("small", _compared(row)), class_="wide"),
    )


def _blanks(rows: Sequence[ProfileRow]) -> Html | None:
    """Why cells of the table are blank: by reason, what and whose they are."""
    whose: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for field, why in row.why.items():
            if field in ("accuracy", "brier", "doing", "raw", *LOSSES):
                named = {"accuracy": "knowing", "raw": "in its unit"}.get(field, field)
                whose.setdefault((why, named), []).append(f"{row.player} in {row.game}")
    reasons: dict[str, dict[str, str]] = {}
    for (why, field), who in whose.items():
        everybody = "everybody" if len(who) == len(rows) else ", ".join(dict.fromkeys(who))
        reasons.setdefault(why, {})[field] = everybody
    if not reasons:
        return None
    entries = []
    for why, fields in reasons.items():
        by_whom: dict[str, list[str]] = {}
        for field, who_said in fields.items():
            by_whom.setdefault(who_said, []).append(field)
        said = [tag("p", f"{', '.join(names)}: {who}") for who, names in by_whom.items()]
        entries.append(joined(tag("dt", why), tag("dd", said)))
    return tag("details", tag("summary", "Why cells are blank"), tag("dl", entries))


def _compared(row: ProfileRow) -> str:
    marks = []
    if row.mindless is not None:
        marks.append(f"mindless {row.mindless.player} {number(row.mindless.value)}")
    if row.reference is not None:
        marks.append(f"{_best(row.reference)} {number(row.reference.value)}")
    unit = f"; in {row.unit}" if marks else ""
    return f"{', '.join(marks)}{unit}; resampled: {row.clusters}".strip("; ")
