"""Training on repeated games: partners in order of difficulty, held-out partners, and exact move
values.

Partners are held out by behaviour, not by name: in rock paper scissors, tit for tat *is* the bot
that beats the other's last move. So partners are compared as automata, state by state.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry import registry
from sally.core.rules.game import Game, Seat
from sally.games.repeated_games import rounds
from sally.games.repeated_games.optimum import Machine, pay_table, plan, transitions_of
from sally.games.repeated_games.partners.tables import ALTERNATES
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame, View, other_seat
from sally.parts.training import Split, Task, Training, Worths

ROUNDS = 10  # of a game to learn from
OPENING = 2  # rounds in which a partner's play may still be transient
Transitions = list[list[list[int]]]  # by state, the machine's move and the other's move
Tables = list[list[list[float]]]  # by rounds left - 1, state and move

_RPS = {
    "train": (
        PlayerSpec("single_action", {"action": 0}),
        PlayerSpec("single_action", {"action": 1}),
        PlayerSpec("previous_move_plus", {"follow": 1.0}),
        PlayerSpec("opponent_previous_nil", {"follow": 1.0}),
        PlayerSpec("win_nil_lose_plus", {"follow": 1.0}),
        PlayerSpec("win_nil_lose_plus", {"follow": 0.8}),
    ),
    "validation": (PlayerSpec("single_action", {"action": 2}),),
    "held_out": (  # near: the rule turned around; far: rules that no training partner has
        PlayerSpec("previous_move_minus", {"follow": 1.0}),
        PlayerSpec("opponent_previous_plus", {"follow": 1.0}),
        PlayerSpec("win_plus_lose_minus", {"follow": 1.0}),
        PlayerSpec("outcome_transition_dual", {"follow": 1.0}),
    ),
}
_TWO_MOVES = {
    "train": (
        PlayerSpec("single_action", {"action": 0}),
        PlayerSpec("single_action", {"action": 1}),
        PlayerSpec("tit_for_tat"),
        PlayerSpec("win_stay_lose_shift"),
    ),
    "validation": (PlayerSpec("tit_for_two_tats"),),
    "held_out": (
        PlayerSpec("grim_trigger"),
        PlayerSpec("policy_table", {"table": ALTERNATES}),
    ),
}
_PARTNERS = {"rps": _RPS, "ipd": _TWO_MOVES, "ibs": _TWO_MOVES, "repeated_games": _TWO_MOVES}
# By part, the names of the moves: a learner must not associate letters with payoffs.
_LETTERS = {"train": ("JFB", "FBJ", "BJF"), "validation": ("QTV",), "held_out": ("VQT",)}


def split(game: str) -> Split | None:
    """Return the training split of a game; None if the game has none."""
    partners = _PARTNERS.get(game)
    if partners is None:
        return None
    parts = {
        part: tuple(
            _task(game, letters, partner)
            for letters in _LETTERS[part]
            for partner in partners[part]
        )
        for part in partners
    }
    about = "partners held out by behaviour, from constant to reactive; other letters as well"
    return Split(game, about, parts)


def _task(game: str, letters: str, partner: PlayerSpec) -> Task:
    names = list(letters if game == "rps" else letters[:2])
    instance = Instance(f"{game}_{''.join(names)}", game, {"rounds": ROUNDS, "names": names})
    return Task(instance, AGENT, {PARTNER: partner})


# --- what a move is worth -------------------------------------------------------------------------


def worths(game: Game, seat: Seat, lineup: Mapping[str, PlayerSpec]) -> Worths | None:
    """Return exact move values if the partner is a finite-state machine; None for any other
    partner."""
    assert isinstance(game, RepeatedGame)
    automaton = rounds.automaton_maker(lineup.get(other_seat(seat)))
    return None if automaton is None else _MoveValues(*_solve_machine(game, seat, *automaton))


class _MoveValues:
    """A function that returns the exact value of each possible move, given a view of an episode. It
    remembers how much of the episode it has read; this affects only its speed, never the result."""

    def __init__(self, follow: Transitions, tables: Tables) -> None:
        self._follow, self._tables = follow, tables
        self._read, self._at = 0, 0

    def __copy__(self) -> _MoveValues:
        """Return a copy of this object for another episode, four times faster than the default
        copy."""
        new = _MoveValues.__new__(_MoveValues)
        new._follow, new._tables = self._follow, self._tables
        new._read, new._at = self._read, self._at
        return new

    def __call__(self, view: View) -> list[float] | None:
        machine_state, rounds_read, past = self._at, view.round - 1, self._read
        for joint in view.rounds(past) if rounds_read > past else ():
            if joint is not None:  # a void round leaves the machine where it is
                machine_state = self._follow[machine_state][joint[1]][joint[0]]
        self._at, self._read = machine_state, rounds_read
        rounds_left = len(self._tables) - rounds_read
        return self._tables[rounds_left - 1][machine_state] if rounds_left > 0 else None


@lru_cache(maxsize=256)
def _solve_machine(
    game: RepeatedGame, seat: Seat, make: rounds.Maker, params: bytes
) -> tuple[Transitions, Tables]:
    """Return the transitions of an automaton, and the values of each move and, last, of a forfeit;
    both as nested lists, which are faster to index than arrays."""
    machine = rounds.machine(game, seat, make, params)
    pay, goes_on = pay_table(game, seat), 1 - game.stop_chance
    values = plan(game, seat, machine, game.rounds).values
    tables = []
    for rounds_left in range(1, game.rounds + 1):
        value_after = np.einsum(
            "qb,qba->qa", machine.odds, values[rounds_left - 1][machine.next_states]
        )
        moves = machine.odds @ pay.T + goes_on * value_after
        void = goes_on * values[rounds_left - 1][:, None]
        tables.append(np.concatenate([moves, void], axis=1).tolist())
    return transitions_of(machine).tolist(), tables


def _machine(game: RepeatedGame, seat: Seat, partner: PlayerSpec | None) -> Machine | None:
    automaton = rounds.automaton_maker(partner)
    return None if automaton is None else rounds.machine(game, seat, *automaton)


# --- which partners are one to a learner ----------------------------------------------------------


def alike(a: Task, b: Task) -> str:
    """Return why the partner of task b is not new to a learner trained with the partner of task a;
    "" if it is new. Noise is ignored."""
    if a.instance.game != b.instance.game or a.seat != b.seat:
        return ""
    build = registry.game(a.instance.game).build
    first_game, second_game = build(a.instance.params), build(b.instance.params)
    assert isinstance(first_game, RepeatedGame) and isinstance(second_game, RepeatedGame)
    seat = Seat(a.seat)
    first_machine = _machine(first_game, seat, a.others.get(other_seat(seat)))
    two = _machine(second_game, seat, b.others.get(other_seat(seat)))
    if first_machine is None or two is None or first_game.matrix != second_game.matrix:
        return ""
    return (
        "which behaves the same after at most two rounds, apart from noise"
        if _becomes(two, first_machine)
        else ""
    )


def _becomes(new: Machine, known_machine: Machine) -> bool:
    """Return whether `new`, after at most `OPENING` rounds, is always in a state that is equivalent
    to a state of `known_machine`."""
    habits = [*_habits(known_machine), *_habits(new)]
    n = len(known_machine.odds)
    goes = [*_goes(known_machine, 0), *_goes(new, n)]
    group = _told_apart(habits, goes)
    known_groups, reached = {*group[:n]}, {n}
    for _ in range(OPENING + 1):
        if all(group[q] in known_groups for q in reached):
            return True
        reached = {to for q in reached for to in goes[q]}
    return False


def _told_apart(habits: list[tuple[int, ...]], goes: list[tuple[int, ...]]) -> list[int]:
    """Return the equivalence class of each state, by Moore's partition refinement."""
    names: dict[Any, int] = {habit: i for i, habit in enumerate(dict.fromkeys(habits))}
    group = [names[habit] for habit in habits]
    while True:
        marks = [(group[q], *(group[to] for to in goes[q])) for q in range(len(group))]
        names = {mark: i for i, mark in enumerate(dict.fromkeys(marks))}
        if len(names) == len(set(group)):
            return group
        group = [names[mark] for mark in marks]


def _habits(machine: Machine) -> list[tuple[int, ...]]:
    """Return each state's likeliest moves, that is, its rule without noise."""
    likeliest = machine.odds >= machine.odds.max(axis=1, keepdims=True) - 1e-9
    return [tuple(np.flatnonzero(row).tolist()) for row in likeliest]


def _goes(machine: Machine, first: int) -> list[tuple[int, ...]]:
    """Return the successors of each state under its likeliest moves, numbered from `first`."""
    return [
        tuple(first + int(to) for move in moves for to in machine.next_states[q, move])
        for q, moves in enumerate(_habits(machine))
    ]


TRAINING = Training(split, worths, alike)
