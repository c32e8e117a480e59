"""Write the tables and pictures of the first pages of results from the shipped bundles.

    python -m benchmarks.result_pages [sally_2 | sally_1 | qwen | akata2025 | pictures ...]

fills the generated parts of each page in docs/results and of its appendix (from a line
`<!-- table: NAME -->` to the line `<!-- end -->`) and draws docs/pictures/sally_2.svg and
sally_1.svg. Models are read from bundles; the bots of Sally-2 are played. `pictures` draws tables
that stand on other pages. Without a name everything is written (some minutes).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import msgspec

import sally
from benchmarks.sally_2 import evaluation_of_bundle, table_of_games
from sally import store
from sally.analysis.evaluation import Evaluation, evaluate
from sally.analysis.pairs.evaluation import PairEvaluation
from sally.frames.frame import as_frame
from sally.output.tables.console import estimate_cell
from sally.stats.intervals import Estimate
from sally.stats.pairs import PairScore
from sally.store.bundles import open_store
from sally.studies import sally_1, sally_2

ROOT = Path(__file__).parent.parent
RESULTS, PICTURES = ROOT / "docs/results", ROOT / "docs/pictures"
START, END = "<!-- table: {} -->", "<!-- end -->"
MODELS = {
    "qwen-1.5b": "Qwen2.5-Coder 1.5B",
    "qwen-0.5b": "Qwen2.5-Coder 0.5B",
    "smollm2": "SmolLM2 135M",
}
# The same models with the strategy `lm`: the options are scored, and nothing is written.
SCORED = {
    "scored-qwen-1.5b": "Qwen 1.5B, scored",
    "scored-qwen-0.5b": "Qwen 0.5B, scored",
}
BOTS = ("random", "knows_only", "knows_half", "acts_half", "reasoner")
WIDTH, LEFT, RIGHT = 480, 164, 18  # of a picture, in pixels
BLUE, ORANGE, DARK, GREY = "#0072b2", "#d55e00", "#1c1e21", "#5d636b"


# --- pages ----------------------------------------------------------------------------------------


def fill_table(text: str, name: str, lines: Sequence[str]) -> str:
    """Return the text of a page with its generated part replaced."""
    text_before, start, remainder = text.partition(START.format(name))
    _, end, text_after = remainder.partition(END)
    if not (start and end):
        raise SystemExit(f"The page has no lines {START.format(name)} and {END}.")
    return "\n".join([text_before + start, "", *lines, "", end + text_after])


def write_tables(page: str, tables: Mapping[str, Sequence[str]]) -> None:
    """Replace the generated parts of a page of results."""
    path = RESULTS / f"{page}.md"
    text = path.read_text(encoding="utf-8")
    for name, lines in tables.items():
        text = fill_table(text, name, lines)
    path.write_text(text, encoding="utf-8")


def format_cell(estimate: Estimate | None) -> str:
    """Return a value with its interval, or `-`."""
    if estimate is None or estimate.value is None:
        return "-"
    return estimate_cell(estimate.value, estimate.interval, 2)


# --- pictures -------------------------------------------------------------------------------------


class Axis(msgspec.Struct, frozen=True):
    """The horizontal axis of a picture."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def x(self, value: float) -> float:
        """Return the position of a value, in pixels; values outside lie at the edge."""
        inside = min(max(value, self.low), self.high)
        return LEFT + (WIDTH - LEFT - RIGHT) * (inside - self.low) / (self.high - self.low)

    def draw(self, top: float, bottom: float) -> Iterator[str]:
        """Yield a line and a number for each tick."""
        for tick in self.ticks:
            x, dash = self.x(tick), "" if tick in (0, 1) else ' stroke-dasharray="2 4"'
            yield (
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="#c6cad0"{dash}/>'
                f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" fill="{GREY}" '
                f'font-size="12">{tick:g}</text>'
            )


def draw_picture(height: int, title: str, parts: Sequence[str]) -> str:
    """Return an SVG picture."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" '
            'font-family="system-ui, sans-serif" font-size="14">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def draw_text(x: float, y: float, text: str, colour: str = DARK, size: int = 14) -> str:
    """Return a line of text."""
    return f'<text x="{x}" y="{y}" fill="{colour}" font-size="{size}">{escape(text)}</text>'


def draw_dot(x: float, y: float, colour: str, about: str, is_filled: bool) -> str:
    """Return a mark: a translucent dot, or a ring."""
    style = (
        f'fill="{colour}" fill-opacity=".5"'
        if is_filled
        else f'fill="none" stroke="{colour}" stroke-width="1.6" stroke-opacity=".8"'
    )
    return f'<circle cx="{x:.1f}" cy="{y}" r="5" {style}><title>{escape(about)}</title></circle>'


def draw_value(axis: Axis, value: float, y: float, colour: str, about: str, is_filled: bool) -> str:
    """Return the mark of a value; beyond the axis, an arrow at its edge with the value."""
    if axis.low <= value <= axis.high:
        return draw_dot(axis.x(value), y, colour, about, is_filled)
    x, is_below = axis.x(value), value < axis.low
    arrow, anchor = (f"◂ {value:.2f}", "start") if is_below else (f"{value:.2f} ▸", "end")
    return (
        f'<text x="{x:.1f}" y="{y + 4}" fill="{colour}" font-size="12" text-anchor="{anchor}">'
        f"{arrow}<title>{escape(about)}</title></text>"
    )


# --- Sally-2 --------------------------------------------------------------------------------------


def scores_by_game(evaluation: PairEvaluation, measure: str) -> dict[str, PairScore]:
    """Return the scores of a measure (`knowing` or `doing`) of the games that have one."""
    scores = {game.game: getattr(game, measure) for game in evaluation.games}
    return {game: score for game, score in scores.items() if score is not None}


def draw_pairs(evaluations: Mapping[str, PairEvaluation], about: Mapping[str, str]) -> str:
    """Return the picture of J by player: a dot and a ring for each game, a tick at the means."""
    axis, top, row = Axis(-0.2, 1.0, (0, 0.25, 0.5, 0.75, 1)), 88, 48
    bottom = top + row * len(evaluations) - 8
    parts = [
        draw_text(12, 24, "Do they use the fact that matters?", size=17),
        draw_dot(18, 46, BLUE, "knowing", True),
        draw_text(28, 51, "knowing: predictions of the other"),
        draw_dot(286, 46, ORANGE, "doing", False),
        draw_text(296, 51, "doing: own moves"),
        draw_text(12, 71, "One mark for each game, a bar at the mean.", GREY, 12),
        *axis.draw(top - 6, bottom),
    ]
    for number, (player, evaluation) in enumerate(evaluations.items()):
        y = top + row * number
        parts += [draw_text(12, y + 14, player), draw_text(12, y + 30, about[player], GREY, 11)]
        for lane, (measure, colour) in enumerate((("knowing", BLUE), ("doing", ORANGE))):
            lane_y = y + 9 + 17 * lane
            for game, score in scores_by_game(evaluation, measure).items():
                if score.j.value is not None:
                    hint = f"{player}, {game}: {measure} {score.j.value:.2f}"
                    parts.append(draw_value(axis, score.j.value, lane_y, colour, hint, lane == 0))
            mean = getattr(evaluation, measure)
            if mean is not None and mean.value is not None:
                x = axis.x(mean.value)
                parts.append(
                    f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{lane_y - 8}" y2="{lane_y + 8}" '
                    f'stroke="{DARK}" stroke-width="2"/>'
                )
    parts += [
        draw_text(12, bottom + 36, "0: a player that ignores the fact in which the two", GREY, 12),
        draw_text(12, bottom + 52, "positions of a pair differ; 1: a perfect one.", GREY, 12),
    ]
    return draw_picture(bottom + 64, "Knowing and doing on certified pairs", parts)


def same_twice(evaluation: PairEvaluation, measure: str) -> str:
    """Return the least and the largest share of pairs with the same answer twice, over games."""
    shares = [score.same_twice for score in scores_by_game(evaluation, measure).values()]
    measured = [share for share in shares if share is not None]
    return f"{min(measured):.2f} to {max(measured):.2f}" if measured else "-"


def write_sally_2() -> None:
    """Write the table and the picture of Sally-2."""
    evaluations: dict[str, Any] = {}
    about = {}
    models = MODELS | SCORED
    for model, name in models.items():
        file = f"sally_2-{model}" if model in MODELS else f"sally_2_{model}"
        evaluations[name] = evaluation_of_bundle(RESULTS / f"bundles/{file}.sally.zip")
        count = len(scores_by_game(evaluations[name], "knowing"))
        others = ", others unreadable" if model in MODELS else ", answers not written"
        about[name] = f"{count} games" + (others if count < 10 else "")
    for bot in BOTS:
        evaluations[bot] = sally.evaluate(bot=bot, size="M").evaluation
        about[bot] = sally_2.BOTS[bot].about.replace(" of the positions", "")
    lines = [
        "| player | games with a score | knowing | doing | same prediction twice | "
        "same move twice |",
        "|---|---|---|---|---|---|",
    ]
    for player, evaluation in evaluations.items():
        label = player if player in models.values() else f"bot `{player}`"
        lines.append(
            f"| {label} | {len(scores_by_game(evaluation, 'knowing'))} | "
            f"{format_cell(evaluation.knowing)} | {format_cell(evaluation.doing)} | "
            f"{same_twice(evaluation, 'knowing')} | {same_twice(evaluation, 'doing')} |"
        )
    write_tables("sally_2", {"sally_2": lines})
    details = {model: table_of_games(evaluations[name]) for model, name in models.items()}
    write_tables("appendix/sally_2", details)
    (PICTURES / "sally_2.svg").write_text(draw_pairs(evaluations, about), encoding="utf-8")


# --- Sally-1 --------------------------------------------------------------------------------------


def evaluation_of_board(model: str) -> Evaluation:
    """Return the evaluation of a model on Sally-1, from its bundle on the board."""
    with open_store(ROOT / f"docs/board/{model}.sally.zip") as (place, _):
        episodes = [e for e in store.load(place).episodes.values() if not store.to_run_again(e)]
    frame = as_frame(episodes, studies=[sally_1.suite("S")])
    return evaluate(frame, player=model, suite="Sally-1")


def is_above(estimate: Estimate, mark: float | None = 0.0) -> bool:
    """Return whether the whole interval lies above 0 and above a mark."""
    interval = estimate.interval
    return interval is not None and mark is not None and interval[0] > max(mark, 0.0)


def table_of_results(evaluation: Evaluation) -> list[str]:
    """Return the lines of the table of all measures by game."""
    lines = [
        "| game | knowing | beyond fixed rules | beyond rules that learn | acting on it | "
        "beyond habits | acting by contrast | doing | best mindless | forfeits | "
        "predictions judged |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for game in evaluation.games:
        measures = (
            game.knowing,
            game.knowing_beyond,
            game.knowing_beyond_learning,
            game.acting,
            game.acting_beyond,
            game.acting_contrast,
            game.doing,
        )
        mindless = "-" if game.mindless is None else f"{game.mindless:.2f}"
        lines.append(
            f"| `{game.game}` | {' | '.join(map(format_cell, measures))} | {mindless} | "
            f"{game.forfeits} of {game.forfeits + game.moves} | "
            f"{game.predictions} of {game.predictions_asked} |"
        )
    return lines


def draw_doing(evaluations: Mapping[str, Evaluation]) -> str:
    """Return the picture of doing by game: a dot for each model, a mark for the best mindless."""
    axis, top, row = Axis(-0.85, 1.0, (-0.5, 0, 0.5, 1)), 78, 42
    games = sally_1.GAMES
    bottom = top + row * len(games) - 6
    colours = dict(zip(evaluations, (BLUE, "#009e73", "#cc79a7"), strict=True))
    parts = [draw_text(12, 24, "What they gain in whole games", size=17)]
    for number, (model, colour) in enumerate(colours.items()):
        parts += [
            draw_dot(18 + 152 * number, 44, colour, model, True),
            draw_text(28 + 152 * number, 49, model.replace("2.5-Coder", ""), size=13),
        ]
    parts += [
        draw_text(12, 66, "Bars: 95% intervals. Orange: the best mindless player.", GREY, 12),
        *axis.draw(top - 4, bottom),
    ]
    for number, game in enumerate(games):
        y = top + row * number
        parts.append(draw_text(12, y + 22, game, size=13))
        results = [
            (model, result)
            for model, evaluation in evaluations.items()
            for result in evaluation.games
            if result.game == game
        ]
        for lane, (model, result) in enumerate(results):
            lane_y = y + 6 + 11 * lane
            if result.doing.value is None:
                continue
            if result.doing.interval is not None:
                low, high = (axis.x(end) for end in result.doing.interval)
                parts.append(
                    f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{lane_y}" y2="{lane_y}" '
                    f'stroke="{colours[model]}" stroke-opacity=".6"/>'
                )
            hint = f"{model}, {game}: doing {result.doing.value:.2f}"
            dot = draw_value(axis, result.doing.value, lane_y, colours[model], hint, True)
            parts.append(dot)
            if result.mindless is not None:
                x = axis.x(result.mindless)
                parts.append(
                    f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{lane_y - 6}" y2="{lane_y + 6}" '
                    f'stroke="{ORANGE}" stroke-width="2.5"/>'
                )
    parts.append(draw_text(12, bottom + 36, "0: a random player; 1: the optimum.", GREY, 12))
    return draw_picture(bottom + 48, "Doing in whole games of Sally-1", parts)


def write_sally_1() -> None:
    """Write the table and the picture of Sally-1."""
    evaluations = {name: evaluation_of_board(model) for model, name in MODELS.items()}
    lines = [
        "| model | episodes | moves forfeited | knowing above every simple rule | "
        "moves change with own forecasts | doing above random play and the best mindless player |",
        "|---|---|---|---|---|---|",
    ]
    for name, evaluation in evaluations.items():
        games = evaluation.games
        knowing = sum(is_above(game.knowing_beyond_learning) for game in games)
        acting = sum(is_above(game.acting_contrast) for game in games)
        contrasted = sum(game.acting_contrast.value is not None for game in games)
        doing = sum(is_above(game.doing, game.mindless) for game in games)
        forfeits = sum(game.forfeits for game in games)
        moves = sum(game.moves for game in games)
        lines.append(
            f"| {name} | {evaluation.episodes} of 306 | {forfeits:,} of {forfeits + moves:,} | "
            f"{knowing} of {len(games)} games | {acting} of {contrasted} | "
            f"{doing} of {len(games)} |"
        )
    write_tables("sally_1", {"sally_1": lines})
    details = {model: table_of_results(evaluations[name]) for model, name in MODELS.items()}
    write_tables("appendix/sally_1", details)
    (PICTURES / "sally_1.svg").write_text(draw_doing(evaluations), encoding="utf-8")


# --- akata2025 ------------------------------------------------------------------------------------


def write_akata2025() -> None:
    """Write the table of joint outcomes in the appendix of akata2025 from published figures."""
    path = ROOT / "sally/papers/akata2025/published.json"
    rows = msgspec.json.decode(path.read_bytes())["tables"]["people"]["rows"]
    values = {(row["row"].get("label"), row["metric"]): row["value"] for row in rows}
    lines = ["| label saved | printed as joint cooperation | joint cooperation |", "|---|---|---|"]
    lines += [
        f"| {label} | {values[label, 'joint_defection']:.3f} | "
        f"{values[label, 'joint_cooperation']:.3f} |"
        for label in ("Base", "Prompted")
    ]
    write_tables("appendix/akata2025", {"joint": lines})


# --- the registered study -------------------------------------------------------------------------


def write_qwen() -> None:
    """Write the table of the registered study: knowing beyond rules that learn, and acting."""
    lines = [
        "| game | model | strategy | right % (best simple rule) | beyond three fixed rules | "
        "beyond rules that learn | moves change with forecasts |",
        "|---|---|---|---|---|---|---|",
    ]
    rows = []
    for model in MODELS:
        bundle = RESULTS / f"bundles/knowing_doing-{model}.sally.zip"
        rows += sally.profile(bundle, cells=["primary:*"]).estimates
    order = ["rps", "ipd", "ibs"]
    for row in sorted(rows, key=lambda row: (order.index(row.game), row.player)):
        if row.beyond_learning.value is None:
            continue  # hardly any prediction could be read
        model, strategy, _ = row.player.split()
        missed = 100 - row.accuracy.value
        best_rule = 100 - missed / (1 - row.beyond_learning.value)  # where *beyond* is 0
        lines.append(
            f"| `{row.game}` | {model} | `{strategy}` | {row.accuracy.value:.1f} "
            f"({best_rule:.1f}) | "
            f"{format_cell(row.beyond)} | {format_cell(row.beyond_learning)} | "
            f"{format_cell(row.acting_contrast)} |"
        )
    write_tables("qwen", {"qwen": lines})


# --- pictures of tables that stand on a page ------------------------------------------------------


MOST_LABEL = 32  # characters of a label on one line


class TablePicture(msgspec.Struct, frozen=True):
    """A picture of a table: a row for each line, a mark for each of some columns."""

    page: str
    head: str  # how the first line of the table begins
    title: str
    marks: dict[str, int]  # legend -> column
    axis: Axis
    caption: str
    unit: float = 1.0  # of the numbers in the table
    labels: tuple[int, ...] = (0,)  # columns that name a row
    only: tuple[str, ...] = ()  # draw only rows with one of these cells
    chance: float | None = None  # a line at this value


TABLE_PICTURES = {
    "step_race": TablePicture(
        "step_race",
        "| rule, on the same turns",
        "Simple rules in the step race",
        {"win doing": 1, "steps doing": 2},
        Axis(-0.6, 1.0, (-0.5, 0, 0.5, 1)),
        "0: a random move; 1: the best move in hindsight.",
    ),
    "bargaining": TablePicture(
        "appendix/bargaining",
        "| player | doing in hindsight |",
        "Models and simple rules in bargaining",
        {"doing in hindsight": 1},
        Axis(0.0, 1.0, (0, 0.25, 0.5, 0.75, 1)),
        "0: random quotes; 1: best replies to the recorded quotes.",
    ),
    "batteries": TablePicture(
        "batteries",
        "| items | chance | best rule",
        "Rules and learners on published batteries",
        {"best rule": 2, "blind learner": 3, "chance": 1},
        Axis(0.0, 1.0, (0, 0.25, 0.5, 0.75, 1)),
        "Share of right answers.",
        100.0,
    ),
    "cipher": TablePicture(
        "cipher",
        "| encoder | interceptor by history",
        "Decisions won, by encoder",
        {"against history": 1, "against Bayes": 2},
        Axis(0.0, 1.0, (0, 0.25, 0.5, 0.75, 1)),
        "Share of 200 decisions of the set `which`.",
        100.0,
    ),
    "recorded_play": TablePicture(
        "recorded_play",
        "| bot | people (n)",
        "Against stable bots in rock, paper, scissors",
        {"people": 1, "learner": 2},
        Axis(-0.1, 1.0, (0, 0.25, 0.5, 0.75, 1)),
        "0: a random player; 1: the optimum.",
    ),
}
TABLE_PICTURES |= {
    "akata2025": TablePicture(
        "appendix/akata2025",
        "| label saved |",
        "Joint cooperation of people and GPT-4",
        {"as printed": 1, "recorded": 2},
        Axis(0.3, 0.5, (0.3, 0.35, 0.4, 0.45, 0.5)),
        "Share of rounds of the dilemma. Printed: joint defection.",
    ),
    "brockbank2024": TablePicture(
        "brockbank2024",
        "| bot |",
        "Rounds that people win against bots",
        {"people": 2},
        Axis(0.2, 0.8, (0.2, 0.4, 0.6, 0.8)),
        "Orange: a third, which is chance. Bars: 95% intervals.",
        chance=1 / 3,
    ),
    "controls": TablePicture(
        "controls",
        "| game | measure | players",
        "Reliability of knowing and of doing",
        {"split half": 4},
        Axis(0.0, 1.0, (0, 0.25, 0.5, 0.75, 1)),
        "Correlation of two halves of the problems; bars: 95% intervals.",
        labels=(0, 1),
    ),
    "first_records": TablePicture(
        "appendix/first_records",
        "| game | model | strategy",
        "Partner's moves that two models foresaw",
        {"knew": 4},
        Axis(0.0, 1.0, (0, 0.25, 0.5, 0.75, 1)),
        "Strategies qa and zero_shot. Bars: 95% intervals. A guess differs by game.",
        100.0,
        labels=(0, 1),
        only=("qa", "zero_shot"),
    ),
}
NUMBER = re.compile(r"(-?\d*\.?\d+)%?(?: \[(-?\d*\.?\d+), (-?\d*\.?\d+)\])?")


def read_table(text: str, head: str) -> list[list[str]]:
    """Return the cells of the table whose first line begins so, without its head."""
    lines = text[text.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def draw_table(plan: TablePicture) -> str:
    """Return the picture of a table; bars are the intervals in it."""
    text = (RESULTS / f"{plan.page}.md").read_text(encoding="utf-8")
    rows = [
        cells
        for cells in read_table(text, plan.head)
        if (not plan.only or set(plan.only) & set(cells))
        and any(NUMBER.match(cells[column]) for column in plan.marks.values())
    ]
    top, row_height = 76, 34
    bottom = top + row_height * len(rows)
    colours = dict(zip(plan.marks, (BLUE, ORANGE, GREY), strict=False))
    parts = [draw_text(12, 24, plan.title, size=17)]
    for number, (legend, colour) in enumerate(colours.items()):
        x = 18 + 152 * number
        parts += [
            draw_dot(x, 44, colour, legend, number == 0),
            draw_text(x + 10, 49, legend, size=13),
        ]
    parts += plan.axis.draw(top - 8, bottom)
    if plan.chance is not None:
        line_x = plan.axis.x(plan.chance)
        parts.append(
            f'<line x1="{line_x:.1f}" x2="{line_x:.1f}" y1="{top - 8}" y2="{bottom}" '
            f'stroke="{ORANGE}" stroke-width="1.5"/>'
        )
    for number, cells in enumerate(rows):
        y = top + row_height * number + 10
        label = " ".join(cells[column] for column in plan.labels).replace("`", "")
        label = label.replace("hf:", "")
        size = 13 if len(label) < 18 else 11 if len(label) < 26 else 9
        if len(label) > MOST_LABEL and "_" in label[:MOST_LABEL]:
            middle = label.rindex("_", 0, MOST_LABEL) + 1
            parts.append(draw_text(12, y - 4, label[:middle], size=size))
            parts.append(draw_text(12, y + 8, label[middle:], size=size))
        else:
            parts.append(draw_text(12, y + 4, label, size=size))
        for order, (legend, column) in enumerate(plan.marks.items()):
            match = NUMBER.match(cells[column])
            if match is None:
                continue
            value, *interval = (
                None if part is None else float(part) / plan.unit for part in match.groups()
            )
            assert value is not None
            mark_y = y - 4 + 8 * order if len(plan.marks) < 3 else y
            if interval[0] is not None and interval[1] is not None:
                low, high = plan.axis.x(interval[0]), plan.axis.x(interval[1])
                parts.append(
                    f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{mark_y}" y2="{mark_y}" '
                    f'stroke="{colours[legend]}" stroke-opacity=".6"/>'
                )
            hint = f"{label}: {legend} {value:.2f}"
            dot = draw_value(plan.axis, value, mark_y, colours[legend], hint, order == 0)
            parts.append(dot)
    parts.append(draw_text(12, bottom + 36, plan.caption, GREY, 12))
    return draw_picture(bottom + 48, plan.title, parts)


def write_pictures() -> None:
    """Draw the pictures of tables."""
    for name, plan in TABLE_PICTURES.items():
        (PICTURES / f"{name}.svg").write_text(draw_table(plan), encoding="utf-8")


WRITERS = {
    "sally_2": write_sally_2,
    "sally_1": write_sally_1,
    "qwen": write_qwen,
    "akata2025": write_akata2025,
}
ALL = {**WRITERS, "pictures": write_pictures}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", choices=[*ALL, []], help="pages to write [all]")
    for name in parser.parse_args().pages or ALL:
        ALL[name]()


if __name__ == "__main__":
    main()
