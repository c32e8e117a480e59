"""Pairs of the step race: the same turns in another order, after which one opponent moves
differently.

The race is silent. The next player is a machine: its move depends on the asked player's last move
and its own last move, and on neither of the two alone. The third player always
chooses the same number. Both members have the same own moves and the same results in another order,
so positions at the asked turn are equal. There the asked player lacks one step and the others more
than they can move: it wins with the number that neither of the others chooses.
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
from sally.games.step_race.partners import free_of_last, repeat_own_last
from sally.games.step_race.rules import MOVES, SEATS, State, StepRace, Triple, View, gains
from sally.games.step_race.spec import best_replies
from sally.parts.machines import (
    Moves,
    Predict,
    distinct_histories,
    expected_move,
    mindless_predictions,
    what_followed,
)

TURNS = 9  # before the one that is asked about
NEXT, THIRD = 1, 2  # numbers of the other seats
FEWEST_MISSING, MOST_MISSING = 8, 20  # steps of each other seat at the asked turn
FEWEST_STEPS = 10  # positions have two digits, so pages have the same length
COUNT = len(MOVES)


# --- construction ---------------------------------------------------------------------------------


def _triples(own_moves: Moves, their: Sequence[int], third: int) -> list[Triple]:
    """Return the moves of all seats, turn by turn."""
    return [
        (MOVES[own_move], MOVES[their_move], MOVES[third])
        for own_move, their_move in zip(own_moves, their, strict=True)
    ]


def _signature(own_moves: Moves, their: Moves, order: int) -> tuple[Any, ...]:
    """Return what must be equal in both members besides the own moves."""
    past = their[:-1]
    predictions = mindless_predictions(COUNT, order).values()
    return (
        tuple(sorted(Counter(zip(own_moves, past, strict=True)).items())),
        *(predict(own_moves, past) for predict in predictions),
    )


def _draw(chance: Stream, order: int) -> tuple[Member, Member]:
    for _ in range(MOST_TRIES):
        own_moves = tuple(chance.below(COUNT) for _ in range(TURNS))
        groups: dict[Any, list[Moves]] = defaultdict(list)
        for their in sorted(distinct_histories(chance, own_moves, order, COUNT)):
            groups[_signature(own_moves, their, order)].append(their)
        choices = [
            (first, second)
            for members in groups.values()
            for first, second in product(members, repeat=2)
            if first < second and first[-1] != second[-1]
        ]
        if choices:
            return _members(chance, own_moves, chance.pick(choices))
    raise BadInput(f"No pair of the step race of order {order} was found in {MOST_TRIES} tries.")


def _members(
    chance: Stream, own_moves: Moves, histories: tuple[Moves, Moves]
) -> tuple[Member, Member]:
    """Return both members; the third player chooses the number that is the next player's in neither
    of them, so one number is free in each."""
    (third,) = set(range(COUNT)) - {history[-1] for history in histories}
    turns = _triples(own_moves, histories[0][:-1], third)
    gained = [sum(gains(moves)[seat] for moves in turns) for seat in range(len(SEATS))]
    spread = MOST_MISSING - FEWEST_MISSING + 1
    missing = [1, *(FEWEST_MISSING + chance.below(spread) for _ in (NEXT, THIRD))]
    needed = [steps + steps_missing for steps, steps_missing in zip(gained, missing, strict=True)]
    target = FEWEST_STEPS + max(needed) + chance.below(5)
    params = {
        "talks": 0,
        "target": target,
        "positions": [target - steps for steps in needed],
    }
    first, second = (
        Member(
            params,
            tuple(
                dict(zip(SEATS, moves, strict=True))
                for moves in _triples(own_moves, history[:-1], third)
            ),
            {
                SEATS[NEXT]: PlayerSpec("reacting", _machine(own_moves, history)),
                SEATS[THIRD]: PlayerSpec("always", {"move": MOVES[third]}),
            },
        )
        for history in histories
    )
    return first, second


def _machine(own_moves: Moves, history: Moves) -> dict[str, Any]:
    """Return the parameters of the next player: what was seen, and its last move again else."""
    replies = [list(MOVES) for _ in MOVES]
    for own_move, their, next_move in zip(own_moves, history, history[1:], strict=False):
        replies[own_move][their] = MOVES[next_move]
    return {"first": MOVES[history[0]], "replies": replies}


# --- answers --------------------------------------------------------------------------------------


def _history(view: View, number: int = NEXT) -> tuple[list[int], list[int]]:
    """Return the own moves and those of another seat, as places among the moves."""
    return (
        [MOVES.index(turn.moves[view.number]) for turn in view.past],
        [MOVES.index(turn.moves[number]) for turn in view.past],
    )


def _truth(game: StepRace, state: State, others: Mapping[str, PlayerSpec]) -> int:
    """Return the move of the machine after the last turn."""
    last = state.past.last
    assert last is not None
    replies = others[SEATS[NEXT]].params["replies"]
    return int(replies[MOVES.index(last.moves[0])][MOVES.index(last.moves[NEXT])])


def _best_moves(game: StepRace, view: View, predicted: int) -> tuple[int, ...]:
    """Return the best replies if the next player moves as predicted and the third one as ever."""
    third = MOVES[expected_move(*_history(view, THIRD), 2)]
    return best_replies(game, view, {SEATS[NEXT]: predicted, SEATS[THIRD]: third}) or ()


def _minds(game: StepRace, view: View, order: int) -> list[int]:
    """Return the next moves of the machines that fit: one, if the last pair of moves occurred."""
    next_move = what_followed(*_history(view), True, True)
    return list(MOVES) if next_move is None else [MOVES[next_move]]


def _reason(game: StepRace, view: View, order: int) -> int:
    return MOVES[expected_move(*_history(view), order)]


def _answer(predict: Predict, game: StepRace, view: View, question: QuestionKind) -> int | None:
    place = predict(*_history(view))
    if place is None or question == "know":
        return None if place is None else MOVES[place]
    return _best_moves(game, view, MOVES[place])[0]


def _follow_habit(
    habit: Callable[[View], int], game: StepRace, view: View, question: QuestionKind
) -> int:
    return habit(view)


def _third_last(view: View) -> int:
    last = view.past.last
    assert last is not None
    return last.moves[THIRD]


def _rules(order: int) -> Mapping[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {
        name: partial(_answer, predict)
        for name, predict in mindless_predictions(COUNT, order).items()
    }
    for name, habit in (
        ("largest number that neither other chose last", free_of_last),
        ("own last move", repeat_own_last),
        ("last move of the third player", _third_last),
    ):
        rules[name] = partial(_follow_habit, habit)
    return rules


PAIRS = (
    PairRecipe(
        name="reacting",
        title="step race",
        game="step_race",
        about="the same turns in another order, after which the next player moves differently",
        seat=SEATS[0],
        probe="next_pick",
        subject=SEATS[NEXT],
        orders=(2,),  # at order 1 a learner that reads pages of other pairs finds the answer
        draw=_draw,
        truth=_truth,
        best_moves=_best_moves,
        minds=_minds,
        minds_about="machines whose move depends on the asked player's last move and their own",
        rules=_rules,
        reason=_reason,
    ),
)
