"""The page of an evaluation: one figure, one table, the controls, and the cost of the calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sally.analysis.call_totals import CallTotals
from sally.analysis.evaluation import CONTRASTS, Control, Evaluation, GameResult, Recorded
from sally.output.files.new_file import new_file
from sally.output.html import Html, join, tag
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
    "predictions judged: those that knowing rests on; the others were unreadable, or a forfeited "
    "move made their round void. "
    "After ± or in brackets: 95% intervals over problems. There is no mean over games."
)
LEFT, WIDTH, ROW, TOP = 128, 340, 26, 30
LOW, HIGH = -0.25, 1.1


def write_evaluation(evaluation: Evaluation, out: Path, timestamp: datetime | None = None) -> int:
    """Write the page of an evaluation; return its size in bytes.

    Raises:
        BadInput: If the file cannot be written.
    """
    moment = timestamp or datetime.now(UTC)
    text = "\n".join(map(str, pieces(evaluation, moment)))
    with new_file(out, "page") as unfinished:
        unfinished.write_text(text, "utf-8")
    return len(text.encode())


def pieces(evaluation: Evaluation, timestamp: datetime) -> Iterator[Html | str]:
    """Yield the parts of the page in order."""
    yield head(f"{evaluation.player}: {evaluation.suite}")
    yield tag("header", _top(evaluation, timestamp))
    yield "<main>"
    yield tag("h2", "What it knew, whether it acted on it, what it did", id="results")
    yield figure(evaluation.games, evaluation.player)
    yield tag("ul", [tag("li", sentence) for sentence in evaluation.sentences])
    yield tag(
        "p",
        "A statement that is not refused may still be wrong: the checklist covers rules, habits "
        "and missing controls, not every simple explanation.",
        class_="quiet",
    )
    yield tag("h2", "Every measure", id="measures")
    yield measures_table(evaluation.games)
    yield tag("p", LEGEND, class_="quiet")
    yield _reasons(evaluation.games)
    yield tag("h2", "Reliability", id="reliability")
    yield _reliability(evaluation.games)
    if evaluation.recorded:
        yield tag("h2", "People and published models", id="recorded")
        yield recorded_table(evaluation.recorded)
    yield tag("h2", "Controls", id="controls")
    yield _controls(evaluation.controls)
    if evaluation.depths:
        yield tag("h2", "Depth of reasoning", id="depths")
        yield _depths(evaluation)
    yield tag("h2", "Calls", id="calls")
    yield tag("p", said_calls(evaluation.bill))
    yield "</main>"
    yield tag("footer", tag("p", "Made by Sally. The page makes no network requests."))
    yield foot()


def _top(evaluation: Evaluation, timestamp: datetime) -> Html:
    moves = sum(game.moves + game.forfeits for game in evaluation.games)
    forfeits = sum(game.forfeits for game in evaluation.games)
    tiles = [
        ("games", f"{len(evaluation.games)}"),
        (
            "episodes",
            f"{evaluation.episodes:,}"
            + (f" of {evaluation.wanted:,}" if evaluation.wanted else ""),
        ),
        ("moves forfeited", f"{100 * forfeits / moves:.1f} %" if moves else "-"),
        ("calls", f"{evaluation.bill.calls:,}"),
    ]
    settings = ", ".join(
        f"{key} {value}"
        for key, value in {
            **{k: v for k, v in evaluation.settings.items() if k != "settings"},
            **(evaluation.settings.get("settings") or {}),
        }.items()
    )
    partly = None
    if not evaluation.complete:
        unfinished_text = f"Unfinished: {evaluation.episodes:,} of {evaluation.wanted:,} episodes."
        partly = tag("p", f"{unfinished_text} The same command continues.", class_="warn")
    return join(
        tag("h1", tag("bdi", evaluation.player)),
        tag("p", f"{evaluation.suite}. {settings}".strip(), class_="lede"),
        tag("ul", [tag("li", tag("b", v), tag("small", n)) for n, v in tiles], class_="tiles"),
        partly,
        tag("p", f"Made {timestamp:%Y-%m-%d}.", class_="quiet"),
    )


# --- the figure -----------------------------------------------------------------------------------


def figure(games: Sequence[GameResult], player: str) -> Html:
    """Return three panels with one row per game, which show the player and its reference
    players."""
    panels = [tag("div", _panel(field, games), class_="panel") for field in PANELS]
    keys = [
        join(_svg_key("dot"), f" {player}"),
        join(_svg_key("tick"), " best mindless player or rule"),
        join(_svg_key("ring"), " learners and bots on the same problems"),
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
    text = tag("text", f"{value:.2f}", x=x - 8 * side, y=y - 6, class_=f"axis {anchor}")
    return join(arrow, text)


def _panel(field: str, games: Sequence[GameResult]) -> Html:
    title, ends = PANELS[field]
    height = TOP + ROW * len(games) + 24
    shapes = [
        tag("line", x1=_x(tick), x2=_x(tick), y1=TOP - 8, y2=height - 22, class_="grid")
        for tick in (0.0, 0.5, 1.0)
    ]
    shapes += [
        tag("text", name, x=_x(tick), y=height - 6, text_anchor="middle", class_="axis")
        for tick, name in ((0.0, "0"), (0.5, ".5"), (1.0, "1"))
    ]
    for n, game in enumerate(games):
        shapes += _row(field, game, TOP + ROW * n + ROW / 2)
    drawing = tag("svg", tag("title", f"{title}: {ends}"), shapes,
                viewBox=f"0 0 {WIDTH} {height}", role="img")  # fmt: skip
    return join(tag("h3", title), tag("small", ends), drawing)


def _row(field: str, game: GameResult, y: float) -> Iterator[Html]:
    estimate: Estimate = getattr(game, field)
    yield tag("text", game.game, x=LEFT - 8, y=y + 4, text_anchor="end", class_="name")
    yield tag("line", x1=_x(LOW), x2=_x(HIGH), y1=y, y2=y, class_="base")
    for line in game.lines:
        value = getattr(line, field)
        if value is not None:
            ring = tag("circle", tag("title", f"{line.player}: {value:.2f}"),
                       cx=_x(value), cy=y, r=4, class_="ring")  # fmt: skip
            yield ring
    best = game.rule_knowing if field == "knowing" else game.mindless if field == "doing" else None
    if best is not None:
        baseline = game.rule if field == "knowing" else game.mindless_name
        yield tag("line", tag("title", f"{baseline}: {best:.2f}"), x1=_x(best), x2=_x(best),
                  y1=y - 8, y2=y + 8, class_="mindless")  # fmt: skip
    if estimate.value is None:
        yield tag("text", "-", x=_x(0) + 6, y=y + 4, class_="axis")
        return
    if estimate.low is not None and estimate.high is not None:
        yield tag("line", x1=_x(estimate.low), x2=_x(estimate.high), y1=y, y2=y, class_="interval")
    value_text = estimate_cell(estimate.value, estimate.interval, 2)
    yield tag("circle", tag("title", f"{game.game}: {value_text}"), cx=_x(estimate.value),
              cy=y, r=5, class_="dot")  # fmt: skip
    if (mark := outside_mark(_x(estimate.value), y, estimate.value, LOW, HIGH)) is not None:
        yield mark


# --- tables ---------------------------------------------------------------------------------------


def measures_table(games: Sequence[GameResult]) -> Html:
    """Return a table of all measures, with one row per game."""
    top = ["game", "problems", *TABLE, "forfeits", "predictions judged"]
    rows = []
    for game in games:
        cells = [figure_cell(getattr(game, field)) for field in TABLE.values()]
        rows.append(
            tag("tr", tag("th", game.game, scope="row"), tag("td", game.problems), cells,
                tag("td", f"{game.forfeits} of {game.forfeits + game.moves}"),
                tag("td", f"{game.predictions} of {game.predictions_asked}"))
        )  # fmt: skip
    return table(top, rows)


def figure_cell(estimate: Estimate) -> Html:
    """Return a table cell with a value and its interval, sorted by the value."""
    return tag("td", estimate_cell(estimate.value, estimate.interval, 2), data_v=estimate.value)


def table(top: Sequence[str], rows: Sequence[Html]) -> Html:
    """Return a table that scrolls sideways on a narrow screen."""
    heads = tag("thead", tag("tr", [tag("th", name, scope="col") for name in top]))
    inside = tag("table", heads, tag("tbody", rows), class_="sortable")
    return tag("div", inside, class_="scroll", tabindex=0)


def _reasons(games: Sequence[GameResult]) -> Html:
    """Return why claims are refused and why values are missing, game by game."""
    parts = []
    for game in games:
        refusals = [
            f"{word}{'' if word in game.unshowable else ' refused'}: {'; '.join(reasons)}"
            for word, reasons in game.refused.items()
            if reasons
        ]
        blank = [f"no {field.replace('_', ' ')}: {reason}" for field, reason in game.why.items()]
        if refusals or blank:
            parts.append(
                tag("details", tag("summary", f"{game.game}: what speaks against a claim"),
                    tag("ul", [tag("li", sentence) for sentence in [*refusals, *blank]]))
            )  # fmt: skip
    return join(parts)


def said_reliability(game: GameResult) -> str:
    """Return the retest correlations of three scores, separated by commas: predictions of others,
    best replies to the player's own predictions, and gains. A correlation that was not measured is
    "-"."""
    reliabilities = [game.reliability.get(field) for field in PANELS]
    if not any(reliabilities):
        return "-"
    return ", ".join(
        "-" if r is None or r.retest is None else f"{r.retest:.2f}" for r in reliabilities
    )


def _reliability(games: Sequence[GameResult]) -> Html:
    rows = []
    for game in games:
        for field, (title, _) in PANELS.items():
            odd, even = game.halves.get(field, (None, None))
            reliability = game.reliability.get(field)
            if odd is None and even is None and reliability is None:
                continue
            values = [
                odd,
                even,
                *(
                    (reliability.tau, reliability.retest, reliability.split_half)
                    if reliability
                    else ()
                ),
            ]
            cells = [tag("td", "-" if v is None else f"{v:.2f}") for v in values]
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
    return join(table(top, rows), tag("p", note, class_="quiet"))


def said_recorded(record: Recorded) -> str:
    """Return one result of recorded play as a line of text."""
    interval = None if record.low is None or record.high is None else (record.low, record.high)
    count_text = f", n {record.n:,} {record.unit}" if record.n is not None else f", {record.unit}"
    value = estimate_cell(record.value, interval, 2)
    return f"{record.who} {value}, {record.measure} ({record.source}{count_text})"


def recorded_table(recorded: Sequence[Recorded]) -> Html:
    """Return the results of people and published models, marked as recorded play."""
    rows = []
    for record in recorded:
        interval = None if record.low is None or record.high is None else (record.low, record.high)
        count_text = record.unit if record.n is None else f"{record.n:,} {record.unit}"
        rows.append(
            tag("tr", tag("th", record.game, scope="row"), tag("td", record.who),
                tag("td", estimate_cell(record.value, interval, 2), data_v=record.value),
                tag("td", record.measure), tag("td", count_text), tag("td", record.source))
        )  # fmt: skip
    note = (
        "Recorded play, not the suite: other problems, opponents and measures. A figure here shows "
        "where people or published models stood in their own setting and cannot be compared with "
        "the figures above."
    )
    top = ["game", "player", "value", "measure", "n", "source"]
    return join(tag("p", note), table(top, rows))


def _controls(controls: Sequence[Control]) -> Html:
    if not controls:
        return tag("p", "No other arm has a pair with the asked arm: a bot reads no words.")
    parts = []
    for arm, (_, question) in CONTRASTS.items():
        contrasts = [control for control in controls if control.arm == arm]
        if not contrasts:
            continue
        rows = [
            tag("tr", tag("th", control.game, scope="row"), tag("td", control.condition),
                tag("td", control.metric),
                tag("td", estimate_cell(control.difference.value, control.difference.interval, 2)),
                tag("td", control.verdict), tag("td", control.pairs))
            for control in contrasts
        ]  # fmt: skip
        counts = {
            v: sum(o.verdict == v for o in contrasts)
            for v in dict.fromkeys(o.verdict for o in contrasts)
        }
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        details = table(["game", "condition", "metric", "difference", "verdict", "pairs"], rows)
        parts.append(
            tag("details", tag("summary", f"{arm.capitalize()}: {question} ({verdicts})"), details)
        )
    note = "difference: this arm minus the asked arm, on the same problems and seeds."
    return join(parts, tag("p", note, class_="quiet"))


def _depths(evaluation: Evaluation) -> Html:
    rows = [
        tag("tr", tag("th", point.game, scope="row"), tag("td", point.depth),
            tag("td", estimate_cell(point.right.value, point.right.interval, 2)),
            tag("td", f"{point.chance:.2f}"), tag("td", point.instances))
        for point in evaluation.depths
    ]  # fmt: skip
    depths_table = table(["game", "reasoner depth", "right", "chance", "problems"], rows)
    note = (
        "A reasoner of the block's depth answers all of it; every shallower one is right as often "
        "as chance."
    )
    return join(depths_table, tag("p", note, class_="quiet"))


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
