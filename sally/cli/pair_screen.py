"""The one screen of an evaluation on certified pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sally.analysis.pairs.evaluation import GamePairs, PairEvaluation, PersonScore
from sally.core.errors import join_names
from sally.output.page.evaluation import said_calls
from sally.output.page.pair_evaluation import ARM_QUESTIONS, LEGEND
from sally.output.tables.console import estimate_cell, print_table, print_text
from sally.runner.budget import money_text
from sally.stats.intervals import Estimate
from sally.stats.pairs import PairScore
from sally.studies import sally_2


def print_evaluation(evaluation: PairEvaluation, show_all: bool) -> None:
    """Print the verdict, a line per game and the means; with `show_all` also every table."""
    print_text(*evaluation.sentences)
    rows = [_row(game) for game in evaluation.games]
    rows.append(
        {"game": "mean", "knowing": _cell(evaluation.knowing), "doing": _cell(evaluation.doing)}
    )
    title = f"{evaluation.player}, {evaluation.suite}, size {evaluation.size}"
    print_table(rows, list(rows[0]), title=title)
    print_text(
        "J: 0 for every player that ignores the fact in which the positions of a pair differ, 1 "
        "for a perfect one; []: 95% intervals; same move: share of pairs with the same move twice."
    )
    if evaluation.people:
        _print_people(evaluation.people)
    if show_all:
        _print_tables(evaluation)
    print_text(said_calls(evaluation.calls))
    if evaluation.answered_as:
        print_text(f"The server named its model {join_names(evaluation.answered_as)}.")


def _print_people(people: Sequence[PersonScore]) -> None:
    rows = [
        {
            "participant": person.participant[:8],
            "pairs": person.pairs,
            "knowing": person.knowing,
            "doing": person.doing,
            "same move": person.same_twice,
        }
        for person in people
    ]
    print_table(rows, list(rows[0]), title="Means over games")


def _row(game: GamePairs) -> dict[str, Any]:
    return {
        "game": game.game,
        "knowing": _score(game.knowing),
        "doing": _score(game.doing),
        "not done": "-" if game.known is None else f"{game.known_not_done} of {game.known}",
        "order": game.order,
        "same move": None if game.doing is None else game.doing.same_twice,
    }


def _score(score: PairScore | None) -> str:
    return _cell(score.j if score else None)


def _cell(estimate: Estimate | None) -> str:
    return "-" if estimate is None else estimate_cell(estimate.value, estimate.interval, 2)


def _print_tables(evaluation: PairEvaluation) -> None:
    rows = [
        {
            "game": game.game,
            "pairs": game.pairs,
            "acting on it": _score(game.acting),
            "D knowing": _cell(game.knowing.d if game.knowing else None),
            "D doing": _cell(game.doing.d if game.doing else None),
            **{f"order {order}": _cell(estimate) for order, estimate in game.orders.items()},
            "unreadable": f"{game.unreadable}/{game.answers}",
        }
        for game in evaluation.games
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    print_table([{name: row.get(name) for name in names} for row in rows], names)
    for effect in evaluation.arms:
        print_text(
            f"{effect.arm}, {effect.measure} ({ARM_QUESTIONS.get(effect.arm, '')}): "
            f"{_cell(effect.difference)} over {effect.pairs} pairs"
        )
    print_text(LEGEND)


def print_plan(rows: Sequence[Mapping[str, Any]], currency: str) -> None:
    """Print what each size costs and what it can detect."""
    cost = f"cost ({currency})" if currency else "cost"
    lines = []
    for row in rows:
        line = {cost if name == "cost" else name: value for name, value in row.items()}
        for name in ("pairs", "calls", "input tokens", "output tokens"):
            line[name] = f"{row[name]:,}"
        line["interval of the mean"] = f"±{row['interval of the mean']:.2f}"
        if row["cost"] is None:
            del line[cost]
        else:
            line[cost] = money_text(row["cost"], currency).split()[0]
        lines.append(line)
    print_table(lines, list(lines[0]), title=f"Sally-2, version {sally_2.VERSION}")
    print_text(
        "found in a game: the J of a player that is found with 80% power in the game with the "
        "fewest pairs (one-sided t test at .05; it guesses between two options where it does not "
        "know); interval of the mean: of a player that guesses everywhere. Calls are exact if "
        "every answer can be read; an answer that cannot is asked for up to three times."
    )
