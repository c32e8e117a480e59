"""Pairs of repeated games: the same rounds in another order, after which the partner moves
differently.

The partner is a machine: its move depends on the player's last move and its own last move. Both
members have the same own moves and the same results in another order, so counts, points and the
length of the page are equal. The prisoner's dilemma has no pair: in the last round one move is best
whatever the partner does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
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

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
MACHINES = 400  # drawn for one row of own moves, if there are too many to try them all
ALL_MACHINES = 100

Moves = tuple[int, ...]
Table = tuple[int, ...]  # the next move by own_moves last move * number of moves + its last move
Followed = Callable[[Sequence[int], Sequence[int]], int | None]


def played_by(table: Table, first: int, own_moves: Moves, count: int) -> Moves:
    """Return the moves of a machine against a row of own moves, with its move after them."""
    moves = [first]
    for own_move in own_moves:
        moves.append(table[own_move * count + moves[-1]])
    return tuple(moves)


def what_followed(
    own_moves: Sequence[int], their: Sequence[int], by_own: bool, by_their: bool
) -> int | None:
    """Return the partner's move after the latest earlier round like the last one, or None.

    Rounds are alike if the own moves are equal (`by_own`), the partner's (`by_their`), or both.
    """
    for index in range(len(own_moves) - 2, -1, -1):
        is_like = (not by_own or own_moves[index] == own_moves[-1]) and (
            not by_their or their[index] == their[-1]
        )
        if is_like:
            return their[index + 1]
    return None


def fits_order(own_moves: Sequence[int], their: Sequence[int], order: int) -> bool:
    """Return whether a machine of that order may have made these moves.

    A machine of order 0 repeats one move, one of order 1 looks at one of the two last moves, one of
    order 2 at both.
    """
    if order == 0:
        return len(set(their)) == 1
    rounds = list(zip(own_moves, their, their[1:], strict=False))
    if order == 1:
        return _is_function(
            ((own_move, next_move) for own_move, _, next_move in rounds)
        ) or _is_function(((last, next_move) for _, last, next_move in rounds))
    return _is_function((((own_move, last), next_move) for own_move, last, next_move in rounds))


def _is_function(cases: Iterator[tuple[Any, int]]) -> bool:
    outcomes: dict[Any, int] = {}
    return all(outcomes.setdefault(case, outcome) == outcome for case, outcome in cases)


# --- rules, minds, reasoners --------------------------------------------------------------------


def _history(view: View) -> tuple[list[int], list[int]]:
    rounds = view.played()
    return [own_moves for own_moves, _ in rounds], [their for _, their in rounds]


def _predictors(count: int, order: int) -> Mapping[str, Followed]:
    """Return the mindless predictions that must be the same in both members of a pair."""
    rules: dict[str, Followed] = {}
    for shift in range(count):
        rules[f"always option {shift}"] = partial(_constant, shift)
        rules[f"{shift} after our last move"] = partial(_shifted_own, shift, count)
    rules["our first move"] = lambda own_moves, their: own_moves[0]
    if order == 0:
        return rules
    for shift in range(count):
        rules[f"{shift} after its last move"] = partial(_shifted_its, shift, count)
    rules["its most frequent move"] = partial(_most_frequent, count, 1)
    rules["its least frequent move"] = partial(_most_frequent, count, -1)
    rules["its move two rounds ago"] = lambda own_moves, their: their[-2]
    if order == 2:
        rules["what followed its last move"] = partial(what_followed, by_own=False, by_their=True)
        rules["what followed our last move"] = partial(what_followed, by_own=True, by_their=False)
    return rules


def _constant(option: int, own_moves: Sequence[int], their: Sequence[int]) -> int:
    return option


def _shifted_own(shift: int, count: int, own_moves: Sequence[int], their: Sequence[int]) -> int:
    return (own_moves[-1] + shift) % count


def _shifted_its(shift: int, count: int, own_moves: Sequence[int], their: Sequence[int]) -> int:
    return (their[-1] + shift) % count


def _most_frequent(count: int, sign: int, own_moves: Sequence[int], their: Sequence[int]) -> int:
    """Return the partner's most frequent move, or with sign -1 its least frequent one."""
    counts = Counter(their)
    return max(range(count), key=lambda move: (sign * counts[move], -move))


def _answer(
    predict: Followed, game: RepeatedGame, view: View, question: QuestionKind
) -> int | None:
    predicted = predict(*_history(view))
    if predicted is None or question == "know":
        return predicted
    return game.best_replies(view.seat, predicted)[0]


def _rules(order: int, count: int) -> Mapping[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {
        name: partial(_answer, predict) for name, predict in _predictors(count, order).items()
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
    """Return the prediction of a reasoner that considers machines up to an order.

    If none of them fits, it expects the last move again.
    """
    own_moves, their = _history(view)
    if order == 0 or fits_order(own_moves, their, 0):
        return their[-1]
    if fits_order(own_moves, their, 1):
        for by_own, by_their in ((True, False), (False, True)):
            rounds = list(zip(own_moves if by_own else their, their[1:], strict=False))
            next_move = what_followed(own_moves, their, by_own, by_their)
            if _is_function(iter(rounds)) and next_move is not None:
                return next_move
    if order == 2 and (next_move := what_followed(own_moves, their, True, True)) is not None:
        return next_move
    return their[-1]


# --- construction -------------------------------------------------------------------------------


def _histories(chance: Stream, own_moves: Moves, order: int, count: int) -> set[Moves]:
    """Return what machines of exactly this order play against a row of own moves, with the move
    that comes next."""
    tables = _tables(chance, order, count)
    histories = set()
    for table, first in tables:
        their = played_by(table, first, own_moves, count)
        is_right_order = fits_order(own_moves, their, order) and not (
            order and fits_order(own_moves, their, order - 1)
        )
        if is_right_order and what_followed(own_moves, their[:-1], True, True) is not None:
            histories.add(their)
    return histories


def _tables(chance: Stream, order: int, count: int) -> Iterator[tuple[Table, int]]:
    if order == 0:
        return (((move,) * count**2, move) for move in range(count))
    if order == 1:
        replies = list(product(range(count), repeat=count))
        by_own = (tuple(reply[i // count] for i in range(count**2)) for reply in replies)
        by_their = (tuple(reply[i % count] for i in range(count**2)) for reply in replies)
        return ((table, first) for table in (*by_own, *by_their) for first in range(count))
    if count ** (count**2) <= ALL_MACHINES:
        return product(product(range(count), repeat=count**2), range(count))
    return (
        (tuple(chance.below(count) for _ in range(count**2)), chance.below(count))
        for _ in range(MACHINES)
    )


def _signature(
    own_moves: Moves, their: Moves, order: int, matrix: Sequence[Sequence[Sequence[float]]]
) -> tuple[Any, ...]:
    """Return what must be equal in both members besides the own moves.

    Order 0 has other results, of which only the length on the page can be equal.
    """
    past = their[:-1]
    rules = _predictors(len(matrix), order).values()
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
        for their in sorted(_histories(chance, own_moves, order, count)):
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
