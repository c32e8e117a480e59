"""The page of an evaluation: one figure, one table, the controls, and the cost of the calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sally.analysis.call_totals import CallTotals
from sally.analysis.evaluation import CONTRASTS, Control, Evaluation, GameResult, Recorded
from sally.output.files.new_file import new_file
from sally.output.html import Html, joined, tag
from sally.output.page.write import foot, head
from sally.output.tables.console import estimate_cell
from sally.runner.budget import money_text
from sally.stats.intervals import Estimate

PANELS = {  # field -> heading, what 0 and 1 are
    "knowing": ("Knowing", "0: an even guess, 1: every prediction right"),
    "acting": ("Acting on it", "0: a random move, 1: always the best reply to its own prediction"),
    "doing": ("Doing", "0: a random player, 1: the exact optimum or best known player"),
}
TABLE = {  # heading -> field
    "knowing": "knowing",
    "beyond rules": "knowing_beyond",
    "acting on it": "acting",
    "beyond habits": "acting_beyond",
    "doing": "doing",
    "practice": "practice",
    "test": "test",
    "label bias": "pooled_label_bias",
    "position bias": "pooled_position_bias",
    "error survival": "error_survival",
}
LEGEND = (
    "knowing: predictions about others, 0 for an even guess; beyond rules: 0 for the best mindless "
    "rule. acting on it: moves that are best replies to the player's own predictions, 0 for a "
    "random move; beyond habits: 0 for its own habits, such as one label. doing: 0 for a random "
    "player, 1 for the optimum; practice and test: doing against opponents that may be trained on, "
    "and against opponents held out by behaviour. label and position bias: 0 for moves spread "
    "evenly, 1 for always the same. error survival: payoff that may come from others' forfeits. "
    "After ± or in brackets: 95% intervals over problems. There is no mean over games."
)
LEFT, WIDTH, ROW, TOP = 118, 330, 26, 30
LOW, HIGH = -0.25, 1.1


def write_evaluation(found: Evaluation, out: Path, made: datetime | None = None) -> int:
    """Write the page of an evaluation; return its size in bytes.

    Raises:
        BadInput: If the file cannot be written.
    """
    when = made or datetime.now(UTC)
    text = "\n".join(map(str, pieces(found, when)))
    with new_file(out, "page") as unfinished:
        unfinished.write_text(text, "utf-8")
    return len(text.encode())


def pieces(found: Evaluation, made: datetime) -> Iterator[Html | str]:
    """Yield the parts of the page in order."""
    yield head(f"{found.player}: {found.suite}")
    yield tag("header", _top(found, made))
    yield "<main>"
    yield tag("h2", "What it knew, whether it acted on it, what it did", id="results")
    yield figure(found.games, found.player)
    yield tag("ul", [tag("li", said) for said in found.sentences])
    yield tag(
        "p",
        "A statement that is not refused may still be wrong: the checklist covers rules, habits "
        "and missing controls, not every simple explanation.",
        class_="quiet",
    )
    yield tag("h2", "Every measure", id="measures")
    yield measures_table(found.games)
    yield tag("p", LEGEND, class_="quiet")
    yield _reasons(found.games)
    yield tag("h2", "Reliability", id="reliability")
    yield _reliability(found.games)
    if found.recorded:
        yield tag("h2", "People and published models", id="recorded")
        yield recorded_table(found.recorded)
    yield tag("h2", "Controls", id="controls")
    yield _controls(found.controls)
    if found.depths:
        yield tag("h2", "Depth of reasoning", id="depths")
        yield _depths(found)
    yield tag("h2", "Calls", id="calls")
    yield tag("p", said_calls(found.bill))
    yield "</main>"
    yield tag("footer", tag("p", "Made by Sally. The page makes no network requests."))
    yield foot()


def _top(found: Evaluation, made: datetime) -> Html:
    moves = sum(one.moves + one.forfeits for one in found.games)
    lost = sum(one.forfeits for one in found.games)
    tiles = [
        ("games", f"{len(found.games)}"),
        ("episodes", f"{found.episodes:,}" + (f" of {found.wanted:,}" if found.wanted else "")),
        ("moves forfeited", f"{100 * lost / moves:.1f} %" if moves else "-"),
        ("calls", f"{found.bill.calls:,}"),
    ]
    settings = ", ".join(
        f"{key} {value}"
        for key, value in {
            **{k: v for k, v in found.settings.items() if k != "settings"},
            **(found.settings.get("settings") or {}),
        }.items()
    )
    partly = None
    if not found.complete:
        said = f"Unfinished: {found.episodes:,} of {found.wanted:,} episodes."
        partly = tag("p", f"{said} The same command continues.", class_="warn")
    return joined(
        tag("h1", tag("bdi", found.player)),
        tag("p", f"{found.suite}. {settings}".strip(), class_="lede"),
        tag("ul", [tag("li", tag("b", v), tag("small", n)) for n, v in tiles], class_="tiles"),
        partly,
        tag("p", f"Made {made:%Y-%m-%d}.", class_="quiet"),
    )


# --- the figure -----------------------------------------------------------------------------------


def figure(games: Sequence[GameResult], player: str) -> Html:
    """Return three panels with one row per game, which show the player and its reference
    players."""
    panels = [tag("div", _panel(field, games), class_="panel") for field in PANELS]
    keys = [
        joined(_svg_key("dot"), f" {player}"),
        joined(_svg_key("tick"), " best mindless player or rule"),
        joined(_svg_key("ring"), " learners and bots on the same problems"),
    ]
    return tag(
        "figure",
        tag("div", panels, class_="panels"),
        tag("figcaption", [tag("span", key) for key in keys], class_="marks"),
    )


def _svg_key(kind: str) -> Html:
    shapes = {
        "dot": tag("circle", cx=8, cy=8, r=5, class_="dot"),
        "tick": tag("line", x1=8, x2=8, y1=1, y2=15, class_="mindless"),
        "ring": tag("circle", cx=8, cy=8, r=4, class_="ring"),
    }
    return tag("svg", shapes[kind], width=16, height=16, aria_hidden="true")


def _x(value: float) -> float:
    inside = min(max(value, LOW), HIGH)
    return LEFT + (inside - LOW) / (HIGH - LOW) * (WIDTH - LEFT - 10)


def outside_mark(x: float, y: float, value: float, low: float, high: float) -> Html | None:
    """Return an arrow with the value, at the edge of the axis, if the value lies outside of it."""
    if low <= value <= high:
        return None
    side = -1 if value < low else 1
    tip, back = x + 9 * side, x + 2 * side
    points = f"{tip},{y} {back},{y - 5} {back},{y + 5} {tip},{y}"
    arrow = tag("polyline", tag("title", f"outside the axis: {value:.2f}"), points=points,
                class_="outside")  # fmt: skip
    anchor = "start" if side < 0 else "end"
    text = tag("text", f"{value:.2f}", x=x - 8 * side, y=y - 6, text_anchor=anchor, class_="axis")
    return joined(arrow, text)


def _panel(field: str, games: Sequence[GameResult]) -> Html:
    title, ends = PANELS[field]
    height = TOP + ROW * len(games) + 24
    shapes = [
        tag("line", x1=_x(at), x2=_x(at), y1=TOP - 8, y2=height - 22, class_="grid")
        for at in (0.0, 0.5, 1.0)
    ]
    shapes += [
        tag("text", name, x=_x(at), y=height - 6, text_anchor="middle", class_="axis")
        for at, name in ((0.0, "0"), (0.5, ".5"), (1.0, "1"))
    ]
    for n, game in enumerate(games):
        shapes += _row(field, game, TOP + ROW * n + ROW / 2)
    drawn = tag("svg", tag("title", f"{title}: {ends}"), shapes,
                viewBox=f"0 0 {WIDTH} {height}", role="img")  # fmt: skip
    return joined(tag("h3", title), tag("small", ends), drawn)


def _row(field: str, game: GameResult, y: float) -> Iterator[Html]:
    found: Estimate = getattr(game, field)
    name = game.game.replace("pick_the_right_stuff", "right_stuff")
    yield tag("text", name, x=LEFT - 8, y=y + 4, text_anchor="end", class_="name")
    yield tag("line", x1=_x(LOW), x2=_x(HIGH), y1=y, y2=y, class_="base")
    for line in game.lines:
        value = getattr(line, field)
        if value is not None:
            ring = tag("circle", tag("title", f"{line.player}: {value:.2f}"),
                       cx=_x(value), cy=y, r=4, class_="ring")  # fmt: skip
            yield ring
    best = game.rule_knowing if field == "knowing" else game.mindless if field == "doing" else None
    if best is not None:
        who = game.rule if field == "knowing" else game.mindless_name
        yield tag("line", tag("title", f"{who}: {best:.2f}"), x1=_x(best), x2=_x(best),
                  y1=y - 8, y2=y + 8, class_="mindless")  # fmt: skip
    if found.value is None:
        yield tag("text", "-", x=_x(0) + 6, y=y + 4, class_="axis")
        return
    if found.low is not None and found.high is not None:
        yield tag("line", x1=_x(found.low), x2=_x(found.high), y1=y, y2=y, class_="interval")
    said = estimate_cell(found.value, found.interval, 2)
    yield tag("circle", tag("title", f"{game.game}: {said}"), cx=_x(found.value), cy=y, r=5,
              class_="dot")  # fmt: skip
    if (mark := outside_mark(_x(found.value), y, found.value, LOW, HIGH)) is not None:
        yield mark


# --- tables ---------------------------------------------------------------------------------------


def measures_table(games: Sequence[GameResult]) -> Html:
    """Return a table of all measures, with one row per game."""
    top = ["game", "problems", *TABLE, "forfeits"]
    rows = []
    for one in games:
        cells = [figure_cell(getattr(one, field)) for field in TABLE.values()]
        rows.append(
            tag("tr", tag("th", one.game, scope="row"), tag("td", one.problems), cells,
                tag("td", f"{one.forfeits} of {one.forfeits + one.moves}"))
        )  # fmt: skip
    return table(top, rows)


def figure_cell(found: Estimate) -> Html:
    """Return a table cell with a value and its interval, sorted by the value."""
    return tag("td", estimate_cell(found.value, found.interval, 2), data_v=found.value)


def table(top: Sequence[str], rows: Sequence[Html]) -> Html:
    """Return a table that scrolls sideways on a narrow screen."""
    heads = tag("thead", tag("tr", [tag("th", name, scope="col") for name in top]))
    inside = tag("table", heads, tag("tbody", rows), class_="sortable")
    return tag("div", inside, class_="scroll", tabindex=0)


def _reasons(games: Sequence[GameResult]) -> Html:
    """Return why claims are refused and why values are missing, game by game."""
    parts = []
    for one in games:
        said = [
            f"{word}{'' if word in one.unshowable else ' refused'}: {'; '.join(why)}"
            for word, why in one.refused.items()
            if why
        ]
        blank = [f"no {field.replace('_', ' ')}: {why}" for field, why in one.why.items()]
        if said or blank:
            parts.append(
                tag("details", tag("summary", f"{one.game}: what speaks against a claim"),
                    tag("ul", [tag("li", each) for each in [*said, *blank]]))
            )  # fmt: skip
    return joined(parts)


def said_reliability(game: GameResult) -> str:
    """Return the retest correlations of three scores, separated by commas: predictions of others,
    best replies to the player's own predictions, and gains. A correlation that was not measured is
    "-"."""
    known = [game.reliability.get(field) for field in PANELS]
    if not any(known):
        return "-"
    return ", ".join("-" if r is None or r.retest is None else f"{r.retest:.2f}" for r in known)


def _reliability(games: Sequence[GameResult]) -> Html:
    rows = []
    for game in games:
        for field, (title, _) in PANELS.items():
            odd, even = game.halves.get(field, (None, None))
            known = game.reliability.get(field)
            if odd is None and even is None and known is None:
                continue
            shown = [odd, even, *((known.tau, known.retest, known.split_half) if known else ())]
            cells = [tag("td", "-" if v is None else f"{v:.2f}") for v in shown]
            cells += [tag("td", "-")] * (5 - len(cells))
            rows.append(tag("tr", tag("th", game.game, scope="row"), tag("td", title), cells))
    top = ["game", "measure", "odd problems", "even problems", "tau", "retest", "split halves"]
    note = (
        "odd and even problems: this player on each half of the problems; a large difference means "
        "that the measure depends on which problems are drawn. tau, retest, split halves: twelve "
        "bots of graded skill in this size: Kendall's tau between skill and score (the lower of "
        "two sessions), correlation of the sessions, correlation of the halves stepped up to full "
        "length. They hold for bots from random to optimal; players closer to each other are told "
        "apart less well."
    )
    return joined(table(top, rows), tag("p", note, class_="quiet"))


def said_recorded(one: Recorded) -> str:
    """Return one result of recorded play as a line of text."""
    interval = None if one.low is None or one.high is None else (one.low, one.high)
    many = f", n {one.n:,} {one.unit}" if one.n is not None else f", {one.unit}"
    value = estimate_cell(one.value, interval, 2)
    return f"{one.who} {value}, {one.measure} ({one.source}{many})"


def recorded_table(recorded: Sequence[Recorded]) -> Html:
    """Return the results of people and published models, marked as recorded play."""
    rows = []
    for one in recorded:
        interval = None if one.low is None or one.high is None else (one.low, one.high)
        many = one.unit if one.n is None else f"{one.n:,} {one.unit}"
        rows.append(
            tag("tr", tag("th", one.game, scope="row"), tag("td", one.who),
                tag("td", estimate_cell(one.value, interval, 2), data_v=one.value),
                tag("td", one.measure), tag("td", many), tag("td", one.source))
        )  # fmt: skip
    note = (
        "Recorded play, not the suite: other problems, opponents and measures. A figure here shows "
        "where people or published models stood in their own setting and cannot be compared with "
        "the figures above."
    )
    top = ["game", "player", "value", "measure", "n", "source"]
    return joined(tag("p", note), table(top, rows))


def _controls(controls: Sequence[Control]) -> Html:
    if not controls:
        return tag("p", "No other arm has a pair with the asked arm: a bot reads no words.")
    parts = []
    for arm, (_, question) in CONTRASTS.items():
        mine = [one for one in controls if one.arm == arm]
        if not mine:
            continue
        rows = [
            tag("tr", tag("th", one.game, scope="row"), tag("td", one.condition),
                tag("td", one.metric),
                tag("td", estimate_cell(one.difference.value, one.difference.interval, 2)),
                tag("td", one.verdict), tag("td", one.pairs))
            for one in mine
        ]  # fmt: skip
        counts = {
            v: sum(o.verdict == v for o in mine) for v in dict.fromkeys(o.verdict for o in mine)
        }
        said = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        shown = table(["game", "condition", "metric", "difference", "verdict", "pairs"], rows)
        parts.append(
            tag("details", tag("summary", f"{arm.capitalize()}: {question} ({said})"), shown)
        )
    note = "difference: this arm minus the asked arm, on the same problems and seeds."
    return joined(parts, tag("p", note, class_="quiet"))


def _depths(found: Evaluation) -> Html:
    rows = [
        tag("tr", tag("th", point.game, scope="row"), tag("td", point.depth),
            tag("td", estimate_cell(point.right.value, point.right.interval, 2)),
            tag("td", f"{point.chance:.2f}"), tag("td", point.instances))
        for point in found.depths
    ]  # fmt: skip
    shown = table(["game", "reasoner depth", "right", "chance", "problems"], rows)
    note = (
        "A reasoner of the block's depth answers all of it; every shallower one is right as often "
        "as chance."
    )
    return joined(shown, tag("p", note, class_="quiet"))


def said_calls(totals: CallTotals) -> str:
    """Return one sentence on calls, tokens, time and cost."""
    if not totals.calls:
        return "No model was called."
    hours = totals.seconds / 3600
    time = f"{hours:.1f} hours" if hours >= 1 else f"{totals.seconds / 60:.1f} minutes"
    cost = "cost not known"
    if totals.cost is not None:
        cost = f"cost {money_text(totals.cost, totals.currency)}" if totals.cost else "cost 0"
    uncounted = f" (those of {totals.uncounted:,} calls not known)" if totals.uncounted else ""
    return (
        f"{totals.calls:,} calls ({totals.lost:,} without a usable reply), {totals.input:,} input "
        f"and {totals.output:,} output tokens{uncounted}, {time} of calls added up, {cost}."
    )
