"""A partner given as data: any finite-state machine, written as a table of states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sally.core.errors import BadInput, join_names
from sally.core.match.partner import Automaton, Line
from sally.core.rules.game import Seat
from sally.core.rules.probe import odds_problem
from sally.games.repeated_games.partners.basis import Odds, finite
from sally.games.repeated_games.rules import RepeatedGame, other_seat


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One state: its move probabilities, and the next state by (own move, other's move)."""

    odds: tuple[float, ...]
    after: tuple[tuple[str, ...], ...]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finite-state machine as data; `start` names the initial state."""

    start: str
    states: dict[str, Row]


def read_table(game: RepeatedGame, seat: Seat, table: Any) -> Table:
    """Return the machine described by plain data.

    Raises: BadInput if the table is invalid or does not fit the game.
    """
    if table is None:
        raise BadInput('policy_table needs `table`, such as {"start": "a", "states": {"a": ...}}')
    try:
        read = msgspec.convert(table, Table)
    except msgspec.ValidationError as error:
        raise BadInput(f"table: {error}") from None
    n_own, n_other = len(game.moves_of(seat)), len(game.moves_of(other_seat(seat)))
    for name in {read.start} - set(read.states):
        raise BadInput(f"table: start {name!r} is not one of the states {join_names(read.states)}")
    for name, row in read.states.items():
        if (why_not := odds_problem(row.odds, n_own)) is not None:
            raise BadInput(f"table: state {name!r}: {why_not}")
        if [len(line) for line in row.after] != [n_other] * n_own:
            raise BadInput(
                f"table: state {name!r}: after must have {n_own} rows of {n_other} states"
            )
        for unknown in {to for line in row.after for to in line} - set(read.states):
            raise BadInput(f"table: state {name!r} leads to {unknown!r}, which does not exist")
    return read


def remembering_last(
    first: Sequence[float], odds_by_joint: Mapping[tuple[int, int], Sequence[float]]
) -> dict[str, Any]:
    """Return the table of a player that remembers only the last pair of moves (own, other's).

    The table can represent a trained learner whose state is the last joint action, with move
    probabilities for the first round and for each pair of moves.
    """
    n_own = 1 + max(own_move for own_move, _ in odds_by_joint)
    n_other = 1 + max(their for _, their in odds_by_joint)
    next_states = [[f"{m} {t}" for t in range(n_other)] for m in range(n_own)]
    states = {
        f"{m} {t}": {"odds": list(odds), "after": next_states}
        for (m, t), odds in odds_by_joint.items()
    }
    return {
        "start": "first",
        "states": {"first": {"odds": list(first), "after": next_states}, **states},
    }


def _automaton(game: RepeatedGame, seat: Seat, table: Any = None) -> Automaton[str]:
    read = read_table(game, seat, table)
    chances: dict[str, Odds] = {
        name: {move: p for move, p in enumerate(row.odds) if p > 0}
        for name, row in read.states.items()
    }
    return Automaton(
        read.start,
        chances.__getitem__,
        lambda q, own_move, their: read.states[q].after[own_move][their],
    )


ALTERNATES = {
    "start": "even",
    "states": {
        "even": {"odds": [1, 0], "after": [["odd", "odd"], ["odd", "odd"]]},
        "odd": {"odds": [0, 1], "after": [["even", "even"], ["even", "even"]]},
    },
}
_TIT_FOR_TAT = remembering_last(
    (1, 0), {(0, 0): (1, 0), (0, 1): (0, 1), (1, 0): (1, 0), (1, 1): (0, 1)}
)

PARTNERS = {
    "policy_table": finite(
        automaton=_automaton,
        memory=None,
        name="policy_table",
        about="a frozen policy, given as a table of states, odds and transitions (`table`)",
        source="Moore 1956; Rubinstein 1986 for repeated games",
        params={"table": None},
        lines=(
            Line("JFJFF", "JFJFJ", "ipd", {"table": ALTERNATES}),
            Line("JFJFF", "JJFJF", "ipd", {"table": _TIT_FOR_TAT}),
        ),
    )
}
