"""The knowing-doing profile on the page: a plot per game, and a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from sally.analysis.design.claims import Verdict
from sally.analysis.profile.columns import COLUMNS
from sally.analysis.profile.doing_scale import Mark
from sally.analysis.profile.ideal_scale import IDEAL_COLUMNS, IdealRow
from sally.analysis.profile.literal_beside import LITERAL_COLUMNS, LITERAL_NOTE, LiteralBeside
from sally.analysis.profile.profile import ProfileRow, shown_columns
from sally.frames.knowing import uncounted_probes_note
from sally.frames.schema import Column
from sally.output.figures.knowing_doing import (
    EXPLANATION,
    KNOWING,
    MANY,
    doing_label,
    mindless_doing,
    mindless_knowing,
)
from sally.output.figures.short_names import in_two, split_common
from sally.output.figures.svg import (
    Bar,
    Curve,
    Dot,
    calibration_plot,
    interval_plot,
    number,
    profile_plot,
)
from sally.output.html import Html, join, tag
from sally.output.page.columns import (
    head,
    key_cells,
    key_heads,
    number_cells,
    scroll_frame,
    sortable,
)
from sally.output.tables.columns import legend
from sally.stats.intervals import Estimate

Find = Callable[[ProfileRow], str | None]  # returns the link to the episodes of a row
HOW_TO_READ_LISTS = (
    "Two lists with one line per player, sorted by doing. Left: its score, 0 for a random player, "
    "1 for the optimum or the reference player on the same instances, with the same random draws "
    "and other players; forfeited moves score as the rules say. Right: how often it was right "
    "about the others, 0 for a uniform guess, 1 for always. High left and low right: does "
    "well without knowing; the reverse: knows but does not act on it. Bars are 95% intervals over "
    "clusters of episodes."
)
NO_PICTURE = (
    "No plot: no player has both probe answers and a score on the doing scale. The table shows "
    "what is available, with 95% intervals over clusters of episodes."
)


def profile_section(rows: Sequence[ProfileRow], find: Find) -> Html:
    """Return plots of the players that have both a knowing and a doing score, and a table of all
    players."""
    games = [
        (key, list(group)) for key, group in groupby(rows, key=lambda row: (row.game, row.seat))
    ]
    plots = [plot for (game, seat), group in games if (plot := _plot(game, seat, group, find))]
    sizes = [sum(map(_has_both, group)) for _, group in games]
    notes = [
        *([EXPLANATION] if any(0 < size <= MANY for size in sizes) else []),
        *([HOW_TO_READ_LISTS] if any(size > MANY for size in sizes) else []),
    ]
    return join(
        tag("div", plots, class_="plots") if plots else None,
        *(tag("p", text) for text in notes or [NO_PICTURE]),
        _table(rows, find),
        _calibrations(games, find),
        _missing(rows),
    )


def _has_both(row: ProfileRow) -> bool:
    return row.skill.value is not None and row.doing.value is not None


def _plot(game: str, seat: str, rows: Sequence[ProfileRow], find: Find) -> Html | None:
    dots = [
        Dot(_player_label(row), row.skill.value, row.doing.value, row.skill.interval,
            row.doing.interval, find(row))
        for row in rows
        if row.skill.value is not None and row.doing.value is not None
    ]  # fmt: skip
    if not dots:
        return None
    if len(dots) > MANY:
        return _lines(f"{seat} in {game}", dots, len(rows) - len(dots))
    first = next(row for row in rows if row.doing.value is not None)
    drawing = profile_plot(
        f"knowing and doing of {seat} in {game}",
        dots,
        (mindless_knowing(rows), mindless_doing(rows)),
        _best(first.reference),
    )
    left_out: dict[str, list[str]] = {}
    for row in rows:
        if row.skill.value is None or row.doing.value is None:
            left_out.setdefault(_why_left_out(row), []).append(row.player)
    reasons = "; ".join(f"{', '.join(players)} ({reason})" for reason, players in left_out.items())
    note = tag("p", tag("small", f"Not drawn: {reasons}.")) if left_out else None
    shared, _ = split_common([dot.name for dot in dots])
    shared_note = tag("p", tag("small", f"All players drawn: {shared}.")) if shared else None
    uncounted = uncounted_probes_note(game)
    uncounted_note = tag("p", tag("small", uncounted)) if uncounted else None
    return tag(
        "figure",
        tag("figcaption", tag("b", f"{game}, {seat}")),
        drawing,
        shared_note,
        uncounted_note,
        note,
    )


def _lines(subject: str, dots: Sequence[Dot], omitted: int) -> Html:
    """Return two interval plots with one row per player: one of the score `doing` (how much the
    player gained) and one of `knowing` (how well it predicted others)."""
    ordered = sorted(dots, key=lambda dot: (-dot.doing, dot.name))
    doing = [Bar(*in_two(d.name), d.doing, d.doing_interval, None, d.href) for d in ordered]
    knowing = [Bar(*in_two(d.name), d.knowing, d.knowing_interval, None, d.href) for d in ordered]
    note = f"Not drawn: {omitted} players without one of the two." if omitted else ""
    return tag(
        "figure",
        tag("figcaption", tag("b", subject), " doing and knowing, sorted by doing"),
        tag(
            "div",
            interval_plot(f"doing of {subject}", doing_label(), doing),
            interval_plot(f"knowing of {subject}", KNOWING, knowing),
            class_="lists",
        ),
        tag("p", tag("small", note)) if note else None,
        class_="whole",
    )


def _calibrations(
    games: Sequence[tuple[tuple[str, str], Sequence[ProfileRow]]], find: Find
) -> Html | None:
    """Return calibration plots of stated odds, or None if there are none."""
    plots = []
    for (game, seat), rows in games:
        curves = [
            Curve(row.player, [(p.forecast, p.share.value, p.share.interval, p.n)
                  for p in row.calibration if p.share.value is not None], find(row))
            for row in rows
            if any(p.share.value is not None for p in row.calibration)
        ]  # fmt: skip
        if curves:
            drawing = calibration_plot(f"calibration of {seat} in {game}", curves)
            caption = tag("figcaption", tag("b", f"{game}, {seat}"))
            plots.append(tag("figure", caption, drawing))
    if not plots:
        return None
    explanation = "On the dashed line, stated odds match observed frequencies."
    head = tag("summary", f"Calibration of stated odds ({len(plots)})")
    return tag("details", head, tag("p", explanation), tag("div", plots, class_="plots"))


def _player_label(row: ProfileRow) -> str:
    return f"{row.player} ({row.part})" if row.part else row.player


def _best(mark: Mark | None) -> str:
    if mark is None:
        return ""
    return mark.player if mark.standing == "exact" else f"{mark.player} (best known)"


def _why_left_out(row: ProfileRow) -> str:
    return row.why.get("skill" if row.skill.value is None else "doing", "no value")


COUNTS = (
    Column("results", "n", about="episodes with a result"),
    Column("censored", "missing", about="episodes without a result, censored or void"),
    Column("forfeits", "forfeits", about="unreadable moves"),
)


def _table(rows: Sequence[ProfileRow], find: Find) -> Html:
    columns = shown_columns(rows)
    heads = [
        *key_heads(("player", "game", "seat")),
        *map(head, (*columns, *COUNTS)),
        tag("th", "compared with", scope="col"),
    ]
    lines = [
        tag(
            "tr",
            *key_cells(_player_label(row), (row.game, row.seat)),
            *number_cells(row, columns, find(row), row.why),
            *number_cells(row, COUNTS),
            tag("td", tag("small", _baselines_text(row)), class_="wide"),
        )
        for row in rows
    ]
    return sortable("The profile in numbers", heads, lines)


def _missing(rows: Sequence[ProfileRow]) -> Html | None:
    """Return the reasons why cells are missing, with columns and players."""
    whose: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for column in COLUMNS:
            if column.field in row.why and not column.has_reason_of_other:
                key = (row.why[column.field], column.title)
                whose.setdefault(key, []).append(f"{row.player} in {row.game}")
    reasons: dict[str, dict[str, str]] = {}
    for (reason, field), players in whose.items():
        everybody = (
            "all players" if len(players) == len(rows) else ", ".join(dict.fromkeys(players))
        )
        reasons.setdefault(reason, {})[field] = everybody
    if not reasons:
        return None
    entries = []
    for reason, fields in reasons.items():
        by_whom: dict[str, list[str]] = {}
        for field, who_said in fields.items():
            by_whom.setdefault(who_said, []).append(field)
        paragraphs = [
            tag("p", f"{', '.join(names)}: {players_text}")
            for players_text, names in by_whom.items()
        ]
        entries.append(join(tag("dt", reason), tag("dd", paragraphs)))
    return tag("details", tag("summary", "Why cells are missing"), tag("dl", entries))


IDEAL_ABOUT = (
    "The ideal observer forecasts the partner by Bayes' rule over a declared pool, given the same "
    "past; the Bayes-adaptive player maximises the expected total, counting what a move reveals. "
    "Only episodes with a partner of the pool and a fixed number of rounds count."
)
ADAPTIVE = Column("adaptive", "Bayes-adaptive", about="what the Bayes-adaptive player expects")


def literal_section(lines: Sequence[LiteralBeside]) -> Html:
    """Return a table that shows, for each model, its scores on a battery of test questions about
    other minds (literal theory of mind) next to its scores for knowing and doing in games."""
    heads = [*key_heads(("model", "game", "player")), *map(head, LITERAL_COLUMNS)]
    body = [
        tag(
            "tr",
            *key_cells(line.model, (line.game, line.player)),
            *number_cells(line, LITERAL_COLUMNS),
        )
        for line in lines
    ]
    table = sortable("Literal beside knowing and doing", heads, body)
    return join(tag("p", f"{legend(LITERAL_COLUMNS[:4])} {LITERAL_NOTE}"), table)


def ideal_section(rows: Sequence[IdealRow]) -> Html:
    """Return a comparison of each player with the ideal observer and the Bayes-adaptive player."""
    games = [(key, list(group)) for key, group in groupby(rows, key=lambda r: (r.game, r.seat))]
    plots = [plot for (game, seat), group in games for plot in _ideal_plots(game, seat, group)]
    columns = (*IDEAL_COLUMNS, ADAPTIVE)
    heads = [*key_heads(("player", "game", "seat")), *map(head, columns)]
    lines = [
        tag("tr", *key_cells(row.player, (row.game, row.seat)), *number_cells(row, columns))
        for row in rows
    ]
    return join(
        tag("p", IDEAL_ABOUT),
        tag("div", plots, class_="plots") if plots else None,
        sortable("Players beside an ideal mind", heads, lines),
    )


def _ideal_plots(game: str, seat: str, rows: Sequence[IdealRow]) -> list[Html]:
    """Return two plots: knowing, with the ideal observer, and regret, with the Bayes-adaptive
    player."""
    knowing_rows = [r for r in rows if r.knowing_of_ideal.value is not None]
    played = [r for r in rows if r.pool_regret.value is not None]
    bars = {
        "knowing: 0 uniform guess, 1 ideal observer": [
            Bar("ideal observer", "", 1.0, None, None, None),
            *(_ideal_bar(r.player, r.knowing_of_ideal) for r in knowing_rows),
        ],
        "regret per round; of the Bayes-adaptive player: the price of finding out": [
            *(_ideal_bar("Bayes-adaptive", r.price) for r in played[:1]),
            *(_ideal_bar(r.player, r.pool_regret) for r in played),
        ],
    }
    return [
        tag(
            "figure",
            tag("figcaption", tag("b", f"{game}, {seat}")),
            interval_plot(f"{axis.partition(':')[0]} of {seat} in {game}", axis, player_bars),
        )
        for axis, player_bars in bars.items()
        if len(player_bars) > 1
    ]


def _ideal_bar(player: str, estimate: Estimate) -> Bar:
    assert estimate.value is not None  # rows without this value are left out
    return Bar(*in_two(player), estimate.value, estimate.interval, None, None)


def claims_section(verdicts: Sequence[Verdict]) -> Html:
    """Return the claims about each player that its episodes do not support, with the reasons."""
    words = list(verdicts[0].refused)
    heads = [tag("th", name, scope="col") for name in ("player", "game", *words)]
    body = [
        tag(
            "tr",
            tag("th", tag("bdi", verdict.player), scope="row"),
            tag("td", verdict.game),
            *(
                tag(
                    "td",
                    tag(
                        "details",
                        tag("summary", verdict.describe_claim(word)),
                        tag("p", "; ".join(reasons)),
                    ),
                )
                if (reasons := verdict.refused[word])
                else tag("td", "–")
                for word in words
            ),
        )
        for verdict in verdicts
    ]
    caption = "Words that these episodes support"
    table = tag(
        "table", tag("caption", caption), tag("thead", tag("tr", heads)), tag("tbody", body)
    )
    explanation = (
        "Refused where a simple rule foresees as much, a habit explains the moves, there are "
        "fewer than five clusters, or arms are missing or did not come out as they must. A word "
        "that is not refused (–) is not thereby true."
    )
    return join(tag("p", explanation), scroll_frame(table, caption))


def _draws_note(mark: Mark) -> str:
    """Return a note on the number of draws from which an expected score was estimated; empty if the
    score is exact."""
    if mark.error is None:
        return ""
    return f" (mean of {mark.draws} draws, standard error {mark.error:.2g})"


def _baselines_text(row: ProfileRow) -> str:
    marks = [f"random {number(row.random.value)}{_draws_note(row.random)}"] if row.random else []
    if row.mindless is not None:
        marks.append(f"mindless {row.mindless.player} {number(row.mindless.value)}")
    if row.reference is not None:
        marks.append(f"{_best(row.reference)} {number(row.reference.value)}")
    unit = f"; in {row.unit}" if marks else ""
    return f"{', '.join(marks)}{unit}; resampled: {row.clusters}".strip("; ")
