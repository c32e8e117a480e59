"""The page of an evaluation: one figure, one table, the controls, and the cost of the calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sally.analysis.bounds import find_metric
from sally.analysis.call_totals import CallTotals
from sally.analysis.evaluation import CONTRASTS, Control, Evaluation, GameResult, Recorded
from sally.output.html import Html, join, tag
from sally.output.page.axis import Axis, key
from sally.output.page.columns import Value, table
from sally.output.page.document import made, tiles, write_document
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
    "beyond learning rules": "knowing_beyond_learning",
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
    "knowing: predictions about others, 0 for an even guess; beyond learning rules: 0 for the "
    "best simple rule, tables of what followed included. acting on it: moves that are best "
    "replies to the player's own predictions, 0 for a random move; beyond habits: 0 for its own "
    "habits, such as one label. doing: 0 for a random player, 1 for the optimum; practice and "
    "test: doing against opponents that may be trained on, and against opponents held out by "
    "behaviour. label and position bias: 0 for moves spread evenly, 1 for always the same. error "
    "survival: payoff that may come from others' forfeits. predictions judged: those that "
    "knowing rests on; the others were unreadable, or a forfeited move made their round void. "
    "After ± or in brackets: 95% intervals over problems. There is no mean over games."
)
ROW, TOP = 26, 30
AXIS = Axis(left_edge=128, width=340, margin=10, low=-0.25, high=1.1)


def write_evaluation(evaluation: Evaluation, out: Path) -> None:
    """Write the page of an evaluation.

    Raises:
        BadInput: If the file cannot be written.
    """
    title = f"{evaluation.player}: {evaluation.suite}"
    write_document(out, title, _top(evaluation), _parts(evaluation))


def _parts(evaluation: Evaluation) -> Iterator[Html]:
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


def _top(evaluation: Evaluation) -> tuple[Html | None, ...]:
    moves = sum(game.moves + game.forfeits for game in evaluation.games)
    forfeits = sum(game.forfeits for game in evaluation.games)
    facts = [
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
    return (
        tag("h1", tag("bdi", evaluation.player)),
        tag("p", f"{evaluation.suite}. {settings}".strip(), class_="lede"),
        tiles(facts),
        partly,
        made(),
    )


# --- the figure -----------------------------------------------------------------------------------


def figure(games: Sequence[GameResult], player: str) -> Html:
    """Return three panels with one row per game, which show the player and its reference
    players."""
    panels = [tag("div", _panel(field, games), class_="panel") for field in PANELS]
    keys = [
        join(key("dot"), f" {player}"),
        join(key("mindless"), " best mindless player or simple rule"),
        join(key("ring"), " learners and bots on the same problems"),
    ]
    return tag(
        "figure",
        tag("div", panels, class_="panels"),
        tag("figcaption", [tag("span", label) for label in keys], class_="marks"),
    )


def _panel(field: str, games: Sequence[GameResult]) -> Html:
    title, ends = PANELS[field]
    height = TOP + ROW * len(games) + 24
    shapes = [
        *AXIS.grid((0.0, 0.5, 1.0), TOP - 8, height - 22),
        *AXIS.labels(((0.0, "0"), (0.5, ".5"), (1.0, "1")), height - 6),
    ]
    for n, game in enumerate(games):
        shapes += _row(field, game, TOP + ROW * n + ROW / 2)
    drawing = tag("svg", tag("title", f"{title}: {ends}"), shapes,
                viewBox=f"0 0 {AXIS.width} {height}", role="img")  # fmt: skip
    return join(tag("h3", title), tag("small", ends), drawing)


def _row(field: str, game: GameResult, y: float) -> Iterator[Html]:
    estimate: Estimate = getattr(game, field)
    yield tag("text", game.game, x=AXIS.left_edge - 8, y=y + 4, text_anchor="end", class_="name")
    yield tag("line", x1=AXIS.x(AXIS.low), x2=AXIS.x(AXIS.high), y1=y, y2=y, class_="base")
    for line in game.lines:
        value = getattr(line, field)
        if value is not None:
            ring = tag("circle", tag("title", f"{line.player}: {value:.2f}"),
                       cx=AXIS.x(value), cy=y, r=4, class_="ring")  # fmt: skip
            yield ring
    best = game.rule_knowing if field == "knowing" else game.mindless if field == "doing" else None
    if best is not None:
        baseline = game.rule if field == "knowing" else game.mindless_name
        yield tag("line", tag("title", f"{baseline}: {best:.2f}"), x1=AXIS.x(best), x2=AXIS.x(best),
                  y1=y - 8, y2=y + 8, class_="mindless")  # fmt: skip
    if estimate.value is None:
        yield tag("text", "-", x=AXIS.x(0) + 6, y=y + 4, class_="axis")
    yield from AXIS.estimate(game.game, estimate, y, "dot", radius=5)


# --- tables ---------------------------------------------------------------------------------------


def measures_table(games: Sequence[GameResult]) -> Html:
    """Return a table of all measures, with one row per game."""
    top = ["game", "problems", *TABLE, "forfeits", "predictions judged"]
    rows = [
        [game.game, game.problems, *(getattr(game, field) for field in TABLE.values()),
         f"{game.forfeits} of {game.forfeits + game.moves}",
         f"{game.predictions} of {game.predictions_asked}"]
        for game in games
    ]  # fmt: skip
    return table(top, rows)


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
    rows = list[list[Value]]()
    for game in games:
        for field, (title, _) in PANELS.items():
            odd, even = game.halves.get(field, (None, None))
            reliability = game.reliability.get(field)
            if odd is None and even is None and reliability is None:
                continue
            values = (
                (reliability.tau, reliability.retest, reliability.split_half)
                if reliability
                else (None, None, None)
            )
            rows.append([game.game, title, odd, even, *values])
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
    rows: list[list[Value]] = [
        [record.game, record.who,
         Estimate(record.value, record.low, record.high, record.n or 0, record.unit),
         record.measure, record.unit if record.n is None else f"{record.n:,} {record.unit}",
         record.source]
        for record in recorded
    ]  # fmt: skip
    note = (
        "Recorded play, not the suite: other problems, opponents and measures. A figure here shows "
        "where people or published models stood in their own setting and cannot be compared with "
        "the figures above."
    )
    top = ["game", "player", "value", "measure", "n", "source"]
    return join(tag("p", note), table(top, rows))


CONTROLS = ("game", "condition", "metric", "unit", "difference", "verdict", "pairs")  # headings


def _controls(controls: Sequence[Control]) -> Html:
    if not controls:
        return tag("p", "No other arm has a pair with the asked arm: a bot reads no words.")
    parts = []
    for arm, (_, question) in CONTRASTS.items():
        contrasts = [control for control in controls if control.arm == arm]
        if not contrasts:
            continue
        rows: list[list[Value]] = [
            [control.game, control.condition, *_measure(control), control.difference,
             control.verdict, control.pairs]
            for control in contrasts
        ]  # fmt: skip
        counts = {
            v: sum(o.verdict == v for o in contrasts)
            for v in dict.fromkeys(o.verdict for o in contrasts)
        }
        verdicts = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        details = table(CONTROLS, rows)
        parts.append(
            tag("details", tag("summary", f"{arm.capitalize()}: {question} ({verdicts})"), details)
        )
    note = "difference: this arm minus the asked arm, on the same problems and seeds."
    return join(parts, tag("p", note, class_="quiet"))


def _measure(control: Control) -> tuple[str, str]:
    """Return the heading and the unit of a control's metric."""
    metric = find_metric(control.metric, control.game)
    return (metric.label or metric.name, metric.unit) if metric else (control.metric, "")


def _depths(evaluation: Evaluation) -> Html:
    rows: list[list[Value]] = [
        [point.game, point.depth, point.right, point.chance, point.instances]
        for point in evaluation.depths
    ]
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
