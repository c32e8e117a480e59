"""The page of an evaluation on certified pairs: the verdict, one picture, and every table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sally.analysis.pairs.evaluation import GamePairs, PairEvaluation, PersonScore
from sally.output.files.new_file import new_file
from sally.output.html import Html, join, tag
from sally.output.page.evaluation import said_calls, table
from sally.output.page.pair_figure import FigureRow, draw_knowing_and_doing
from sally.output.page.write import foot, head
from sally.output.tables.console import estimate_cell
from sally.stats.intervals import Estimate
from sally.stats.pairs import PairScore

ARM_QUESTIONS = {
    "together": "does it help to show its own prediction before the move?",
    "told": "do its moves follow a stated prediction, true or false by a coin?",
    "reworded": "does another wording change it?",
    "twin": "is it different where a mechanism stands in place of a mind?",
}
LEGEND = (
    "All scores are J: how much more often the right answer is given where it is right than where "
    "it is not. 0: every player, fixed or random, whose answers do not use the fact in which the "
    "two positions of a pair differ; 1: always right. Knowing: predictions; doing: moves; acting "
    "on it: moves against its own predictions, where these call for different moves. Known not "
    "done: pairs predicted rightly in both positions and not played rightly in both. Order: the "
    "highest order of reasoning whose predictions are above 0, with all lower ones. Same move "
    "twice: share of pairs with the same move in both positions. Brackets: 95% intervals over "
    "pairs."
)


def write_pair_evaluation(
    evaluation: PairEvaluation, out: Path, timestamp: datetime | None = None
) -> int:
    """Write the page of an evaluation on pairs; return its size in bytes.

    Raises:
        BadInput: If the file cannot be written.
    """
    text = "\n".join(map(str, page_parts(evaluation, timestamp or datetime.now(UTC))))
    with new_file(out, "page") as unfinished:
        unfinished.write_text(text, "utf-8")
    return len(text.encode())


def page_parts(evaluation: PairEvaluation, timestamp: datetime) -> Iterator[Html | str]:
    """Yield the parts of the page in order."""
    yield head(f"{evaluation.player}: {evaluation.suite}")
    yield tag("header", _heading(evaluation, timestamp))
    yield "<main>"
    yield tag("ul", [tag("li", sentence) for sentence in evaluation.sentences])
    yield tag("h2", "What it knew and what it did", id="results")
    yield picture(evaluation)
    yield games_table(evaluation.games)
    yield tag("p", LEGEND, class_="quiet")
    if evaluation.people:
        yield tag("h2", "Participants", id="people")
        yield _people_table(evaluation.people)
    yield tag("h2", "By order of reasoning", id="orders")
    yield _orders_table(evaluation.games)
    if evaluation.arms:
        yield tag("h2", "Arms", id="arms")
        yield _arms_table(evaluation)
    yield tag("h2", "Strict scores and tests", id="strict")
    yield _strict_table(evaluation.games)
    yield tag("h2", "Calls", id="calls")
    yield tag("p", said_calls(evaluation.calls))
    yield "</main>"
    yield tag("footer", tag("p", "Made by Sally. The page makes no network requests."))
    yield foot()


def _heading(evaluation: PairEvaluation, timestamp: datetime) -> Html:
    pairs = sum(game.pairs for game in evaluation.games)
    unreadable = evaluation.unreadable
    tiles = [
        ("games", f"{len(evaluation.games)}"),
        ("pairs", f"{pairs:,}"),
        ("answers that could not be read", f"{unreadable.count:,} of {unreadable.answers:,}"),
        ("calls", f"{evaluation.calls.calls:,}"),
    ]
    unfinished = None
    if not evaluation.is_complete:
        text = f"Unfinished: {evaluation.episodes:,} of {evaluation.planned:,} positions."
        unfinished = tag("p", f"{text} The same command continues.", class_="warn")
    return join(
        tag("h1", tag("bdi", evaluation.player)),
        tag("p", f"{evaluation.suite}, size {evaluation.size}.", class_="lede"),
        tag("ul", [tag("li", tag("b", v), tag("small", n)) for n, v in tiles], class_="tiles"),
        unfinished,
        tag("p", f"Made {timestamp:%Y-%m-%d}.", class_="quiet"),
    )


# --- the picture ----------------------------------------------------------------------------------


AXIS = ((-0.5, "-.5"), (0.0, "0: ignores it"), (0.5, ".5"), (1.0, "1"))  # values and labels


def picture(evaluation: PairEvaluation) -> Html:
    """Return knowing and doing of every game, and their means, on one scale."""
    rows: list[FigureRow] = [
        (game.game, _j(game.knowing), _j(game.doing)) for game in evaluation.games
    ]
    rows.append(("mean", evaluation.knowing, evaluation.doing))
    return draw_knowing_and_doing("Knowing and doing by game, from -.5 to 1", rows, -0.5, AXIS)


# --- tables ---------------------------------------------------------------------------------------


def _j(score: PairScore | None) -> Estimate | None:
    return score.j if score else None


def _estimate_cell(estimate: Estimate | None) -> Html:
    if estimate is None:
        return tag("td", "-")
    return tag("td", estimate_cell(estimate.value, estimate.interval, 2), data_v=estimate.value)


def games_table(games: Sequence[GamePairs]) -> Html:
    """Return the main table, with one row per game."""
    top = ["game", "pairs", "knowing", "doing", "acting on it", "known not done", "order",
           "same move twice", "unreadable"]  # fmt: skip
    rows = []
    for game in games:
        scores = [_estimate_cell(_j(score)) for score in (game.knowing, game.doing, game.acting)]
        repeated = "-" if game.doing is None else f"{game.doing.same_twice:.2f}"
        known_text = "-" if game.known is None else f"{game.known_not_done} of {game.known}"
        order = "-" if game.order is None else game.order
        values = [known_text, order, repeated, f"{game.unreadable} of {game.answers}"]
        cells = [tag("td", value) for value in values]
        rows.append(
            tag("tr", tag("th", game.game, scope="row"), tag("td", game.pairs), scores, cells)
        )
    return table(top, rows)


def _p(p: float | None) -> str:
    return "-" if p is None else f"{p:.3f}"


def _orders_table(games: Sequence[GamePairs]) -> Html:
    orders = sorted({order for game in games for order in game.orders})
    rows = [
        tag("tr", tag("th", game.game, scope="row"),
            [_estimate_cell(game.orders.get(order)) for order in orders])
        for game in games
    ]  # fmt: skip
    return table(["knowing", *(f"order {order}" for order in orders)], rows)


def _arms_table(evaluation: PairEvaluation) -> Html:
    rows = [
        tag("tr", tag("th", effect.arm, scope="row"), tag("td", ARM_QUESTIONS.get(effect.arm, "")),
            tag("td", effect.measure), _estimate_cell(effect.difference), tag("td", effect.pairs))
        for effect in evaluation.arms
    ]  # fmt: skip
    note = (
        "Mean over games of the difference to the arm in which prediction and move are asked "
        "separately; of told the slope: how much more often the move is right where the stated "
        "prediction is true; changed moves: the share of moves that differ where the question is "
        "asked in the conversation of the move, before it."
    )
    top = ["arm", "question", "measure", "difference", "pairs"]
    return join(table(top, rows), tag("p", note, class_="quiet"))


def _strict_table(games: Sequence[GamePairs]) -> Html:
    rows = []
    for game in games:
        scores = (
            ("knowing", game.knowing, game.knowing_p),
            ("doing", game.doing, game.doing_p),
        )
        for name, score, p_of_j in scores:
            if score is None:
                continue
            rows.append(
                tag("tr", tag("th", game.game, scope="row"), tag("td", name),
                    _estimate_cell(score.d), tag("td", score.both_right),
                    tag("td", score.crosswise), tag("td", f"{score.same_twice:.2f}"),
                    tag("td", _p(score.p)), tag("td", _p(p_of_j)))
            )  # fmt: skip
    note = (
        "D: both right less exactly crosswise; p of D: exact sign test, not adjusted; p of J: J "
        "above 0, by sign flips over pairs, adjusted over games by Holm's method."
    )
    top = ["game", "question", "D", "both right", "crosswise", "same answer twice", "p of D",
           "p of J"]  # fmt: skip
    return join(table(top, rows), tag("p", note, class_="quiet"))


def _people_table(people: Sequence[PersonScore]) -> Html:
    rows = [
        tag("tr", tag("th", person.participant[:8], scope="row"), tag("td", person.pairs),
            *(tag("td", "-" if value is None else f"{value:.2f}")
              for value in (person.knowing, person.doing, person.same_twice)))
        for person in people
    ]  # fmt: skip
    note = (
        "Means over games. With several participants, all intervals and tests above are over "
        "participants, and the means are those of participants with pairs in every game."
    )
    top = ["participant", "pairs", "knowing", "doing", "same move twice"]
    return join(table(top, rows), tag("p", note, class_="quiet"))
