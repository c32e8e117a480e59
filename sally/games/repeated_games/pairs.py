"""Pairs of repeated games: the same rounds in another order, after which the partner moves
differently.

The partner is a machine: its move depends on the player's last move and its own last move. Both
members have the same own moves and the same results in another order, so counts, points and the
length of the page are equal. The prisoner's dilemma has no pair: in the last round one move is best
whatever the partner does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.rules.chance import Stream
from sally.core.rules.pair import MOST_TRIES, Member, PairRecipe, QuestionKind
from sally.games.repeated_games.partners.tables import remembering_last
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame, State, View
from sally.games.repeated_games.spec import PRESETS
from sally.parts.machines import (
    Moves,
    Predict,
    distinct_histories,
    expected_move,
    mindless_predictions,
    what_followed,
)

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"


# --- rules, minds, reasoners --------------------------------------------------------------------


def _history(view: View) -> tuple[list[int], list[int]]:
    rounds = view.played()
    return [own_moves for own_moves, _ in rounds], [their for _, their in rounds]


def _answer(predict: Predict, game: RepeatedGame, view: View, question: QuestionKind) -> int | None:
    predicted = predict(*_history(view))
    if predicted is None or question == "know":
        return predicted
    return game.best_replies(view.seat, predicted)[0]


def _rules(order: int, count: int) -> Mapping[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {
        name: partial(_answer, predict)
        for name, predict in mindless_predictions(count, order).items()
    }
    rules["own last move"] = lambda game, view, question: view.last[0]
    if order:  # members of order 0 differ in the last result
        rules["win stay, lose shift"] = _win_stay
    return rules


def _win_stay(game: RepeatedGame, view: View, question: QuestionKind) -> int:
    own_moves, their = view.last or (0, 0)
    if own_moves in game.best_replies(view.seat, their):
        return own_moves
    return (own_moves + 1) % len(game.moves_of(view.seat))


def _minds(game: RepeatedGame, view: View, order: int) -> list[int]:
    """Return the next moves of the machines that fit: one, if the last pair of moves occurred."""
    next_move = what_followed(*_history(view), True, True)
    return list(game.moves_of(PARTNER)) if next_move is None else [next_move]


def _reason(game: RepeatedGame, view: View, order: int) -> int:
    return expected_move(*_history(view), order)


# --- construction -------------------------------------------------------------------------------


def _signature(
    own_moves: Moves, their: Moves, order: int, matrix: Sequence[Sequence[Sequence[float]]]
) -> tuple[Any, ...]:
    """Return what must be equal in both members besides the own moves.

    Order 0 has other results, of which only the length on the page can be equal.
    """
    past = their[:-1]
    rules = mindless_predictions(len(matrix), order).values()
    results = Counter(zip(own_moves, past, strict=True))
    digits = sum(
        len(f"{pay:g}") for m, t in zip(own_moves, past, strict=True) for pay in matrix[m][t]
    )
    surface: Any = tuple(sorted(results.items())) if order else digits
    return (surface, *(rule(own_moves, past) for rule in rules))


def _draw(
    game: str, params: Mapping[str, Any], rounds: int, chance: Stream, order: int
) -> tuple[Member, Member]:
    matrix = params["matrix"]
    count = len(matrix)
    best = RepeatedGame(matrix=_as_tuples(matrix)).best_replies
    for _ in range(MOST_TRIES):
        own_moves = tuple(chance.below(count) for _ in range(rounds))
        groups: dict[Any, list[Moves]] = defaultdict(list)
        for their in sorted(distinct_histories(chance, own_moves, order, count)):
            groups[_signature(own_moves, their, order, matrix)].append(their)
        choices = [
            (first, second)
            for members in groups.values()
            for first, second in product(members, repeat=2)
            if first < second
            and not set(best(AGENT, first[-1])) & set(best(AGENT, second[-1]))
            and first[-1] != second[-1]
        ]
        if choices:
            histories = chance.pick(choices)
            return _members(game, params, rounds, own_moves, histories, chance)
    raise BadInput(f"No pair of {game} of order {order} was found in {MOST_TRIES} tries.")


def _members(
    game: str,
    params: Mapping[str, Any],
    rounds: int,
    own_moves: Moves,
    histories: tuple[Moves, Moves],
    chance: Stream,
) -> tuple[Member, Member]:
    count = len(params["matrix"])
    shown_params = {
        **(params if game == "repeated_games" else {}),
        "rounds": rounds + 1,
        "names": chance.shuffled(LETTERS)[:count],
        "order": chance.shuffled(range(count)),
    }
    first, second = (
        Member(
            shown_params,
            tuple(
                {AGENT: own_move, PARTNER: their}
                for own_move, their in zip(own_moves, history[:-1], strict=True)
            ),
            {PARTNER: PlayerSpec("policy_table", {"table": _table_of(own_moves, history, count)})},
        )
        for history in histories
    )
    return first, second


def _table_of(own_moves: Moves, history: Moves, count: int) -> dict[str, Any]:
    """Return the partner as a table: what was seen, and its last move again in unseen cases."""
    replies = {(their, own_move): their for their in range(count) for own_move in range(count)}
    replies |= {
        (their, own_move): next_move
        for own_move, their, next_move in zip(own_moves, history, history[1:], strict=False)
    }
    certain = [[float(move == chosen) for move in range(count)] for chosen in range(count)]
    return remembering_last(
        certain[history[0]], {pair: certain[move] for pair, move in replies.items()}
    )


def _as_tuples(matrix: Any) -> Any:
    return tuple(tuple(tuple(pay) for pay in row) for row in matrix)


def _truth(game: RepeatedGame, state: State, others: Mapping[str, PlayerSpec]) -> int:
    """Return the move of the partner's table after the last round."""
    table = others[PARTNER].params["table"]
    own_move, their = state.last or (0, 0)
    odds: list[float] = table["states"][f"{their} {own_move}"]["odds"]
    return odds.index(1.0)


def _best_moves(game: RepeatedGame, view: View, predicted: int) -> tuple[int, ...]:
    return game.best_replies(view.seat, predicted)


def _recipe(
    name: str, title: str, game: str, params: Mapping[str, Any], orders: tuple[int, ...] = (0, 1, 2)
) -> PairRecipe:
    count = len(params["matrix"])
    return PairRecipe(
        name=name,
        title=title,
        game=game,
        about="the same rounds in another order, after which the partner moves differently",
        seat=AGENT,
        probe="their_move",
        subject=PARTNER,
        orders=orders,
        draw=partial(_draw, game, params, 9 if count > 2 else 10),
        truth=_truth,
        best_moves=_best_moves,
        minds=_minds,
        minds_about="machines whose move depends on both last moves",
        rules=lambda order: _rules(order, count),
        reason=_reason,
    )


STAG_HUNT = [[[9, 9], [2, 6]], [[6, 2], [6, 6]]]
MATCHING_PENNIES = [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]
CHICKEN = [[[6, 6], [2, 8]], [[8, 2], [0, 0]]]

PAIRS = (
    _recipe("rps", "rock, paper, scissors", "rps", PRESETS["rps"]),
    _recipe("ibs", "battle of the sexes", "ibs", PRESETS["ibs"]),
    _recipe("stag_hunt", "stag hunt", "repeated_games", {"matrix": STAG_HUNT}),
    _recipe(
        "matching_pennies",
        "matching pennies",
        "repeated_games",
        {"matrix": MATCHING_PENNIES, "signed": True},
    ),
    _recipe("chicken", "chicken", "repeated_games", {"matrix": CHICKEN}),
)
