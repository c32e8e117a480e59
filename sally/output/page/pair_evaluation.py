"""The page of an evaluation on certified pairs: the verdict, one picture, and every table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sally.analysis.pairs.evaluation import GamePairs, PairEvaluation, PersonScore
from sally.output.html import Html, join, tag
from sally.output.page.columns import table
from sally.output.page.document import made, tiles, write_document
from sally.output.page.evaluation import said_calls
from sally.output.page.pair_figure import FigureRow, draw_knowing_and_doing
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
    "on it: moves against its own predictions, where these call for different moves. Not "
    "done: pairs predicted rightly in both positions and not played rightly in both. Order: the "
    "highest order of pairs whose predictions are above 0, with all lower ones; short rules reach "
    "orders 2 and 3, too, so only order 4 is evidence of reasoning about minds. Same move twice: "
    "share of pairs with the same move in both positions. Brackets: 95% intervals over "
    "pairs."
)


def write_pair_evaluation(evaluation: PairEvaluation, out: Path) -> None:
    """Write the page of an evaluation on pairs.

    Raises:
        BadInput: If the file cannot be written.
    """
    title = f"{evaluation.player}: {evaluation.suite}"
    write_document(out, title, _heading(evaluation), _parts(evaluation))


def _parts(evaluation: PairEvaluation) -> Iterator[Html]:
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


def _heading(evaluation: PairEvaluation) -> tuple[Html | None, ...]:
    pairs = sum(game.pairs for game in evaluation.games)
    unreadable = evaluation.unreadable
    facts = [
        ("games", f"{len(evaluation.games)}"),
        ("pairs", f"{pairs:,}"),
        ("answers that could not be read", f"{unreadable.count:,} of {unreadable.answers:,}"),
        ("calls", f"{evaluation.calls.calls:,}"),
    ]
    unfinished = None
    if not evaluation.is_complete:
        text = f"Unfinished: {evaluation.episodes:,} of {evaluation.planned:,} positions."
        unfinished = tag("p", f"{text} The same command continues.", class_="warn")
    return (
        tag("h1", tag("bdi", evaluation.player)),
        tag("p", f"{evaluation.suite}, size {evaluation.size}.", class_="lede"),
        tiles(facts),
        unfinished,
        made(),
    )


# --- the picture ----------------------------------------------------------------------------------


AXIS = ((-0.5, "-.5"), (0.0, "0: ignores it"), (0.5, ".5"), (1.0, "1"))  # values and labels


def picture(evaluation: PairEvaluation) -> Html:
    """Return knowing and doing of every game, and their means, on one scale."""
    rows: list[FigureRow] = [
        (game.game, _j(game.knowing), _j(game.doing)) for game in evaluation.games
    ]
    rows.append(("mean", evaluation.knowing, evaluation.doing))
    return draw_knowing_and_doing("Knowing and doing by game, from -.5 to 1", rows, AXIS)


# --- tables ---------------------------------------------------------------------------------------


def _j(score: PairScore | None) -> Estimate | None:
    return score.j if score else None


def games_table(games: Sequence[GamePairs]) -> Html:
    """Return the main table, with one row per game."""
    top = ["game", "pairs", "knowing", "doing", "acting on it", "not done", "order",
           "same move twice", "unreadable"]  # fmt: skip
    rows = [
        [game.game, game.pairs, *map(_j, (game.knowing, game.doing, game.acting)),
         None if game.known is None else f"{game.known_not_done} of {game.known}", game.order,
         None if game.doing is None else game.doing.same_twice,
         f"{game.unreadable} of {game.answers}"]
        for game in games
    ]  # fmt: skip
    return table(top, rows)


def _p(p: float | None) -> str | None:
    return None if p is None else f"{p:.3f}"


def _orders_table(games: Sequence[GamePairs]) -> Html:
    orders = sorted({order for game in games for order in game.orders})
    rows = [[game.game, *map(game.orders.get, orders)] for game in games]
    return table(["knowing", *(f"order {order}" for order in orders)], rows)


def _arms_table(evaluation: PairEvaluation) -> Html:
    rows = [
        [effect.arm, ARM_QUESTIONS.get(effect.arm, ""), effect.measure, effect.difference,
         effect.pairs]
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
    rows = [
        [game.game, name, score.d, score.both_right, score.crosswise, score.same_twice,
         _p(score.p), _p(p_of_j)]
        for game in games
        for name, score, p_of_j in (("knowing", game.knowing, game.knowing_p),
                                    ("doing", game.doing, game.doing_p))
        if score is not None
    ]  # fmt: skip
    note = (
        "D: both right less exactly crosswise; p of D: exact sign test, not adjusted; p of J: J "
        "above 0, by sign flips over pairs, adjusted over games by Holm's method."
    )
    top = ["game", "question", "D", "both right", "crosswise", "same answer twice", "p of D",
           "p of J"]  # fmt: skip
    return join(table(top, rows), tag("p", note, class_="quiet"))


def _people_table(people: Sequence[PersonScore]) -> Html:
    rows = [
        [person.participant[:8], person.pairs, person.knowing, person.doing, person.same_twice]
        for person in people
    ]
    note = (
        "Means over games. With several participants, all intervals and tests above are over "
        "participants, and the means are those of participants with pairs in every game."
    )
    top = ["participant", "pairs", "knowing", "doing", "same move twice"]
    return join(table(top, rows), tag("p", note, class_="quiet"))
