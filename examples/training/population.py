"""A population of random finite-state machines as training partners, with practice and test
machines.

Every machine is a `policy_table` partner, so its probabilities are data, optimal play against it
can be computed exactly, and its episodes can be replayed. Practice and test machines are held out
by behaviour: apart from noise, no training machine ends up behaving like a practice or test
machine, or like a held-out partner of the game's split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sally.core.errors import BadInput
from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.games.repeated_games.optimum import Machine
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame
from sally.games.repeated_games.training import (
    OPENING,
    ROUNDS,
    _becomes,
    _goes,
    _habits,
    _machine,
    split,
)
from sally.parts.training import Split, Task

SIZES: Mapping[str, int] = {"train": 256, "validation": 24, "held_out": 24}
FOLLOW = (1.0, 1.0, 0.9, 0.8)  # how often a machine follows its rule; else it moves at random
LETTERS: Mapping[str, str] = {"train": "ABCDEFGHJKLMNPRS", "validation": "UWXYZ", "held_out": "QTV"}
LOOK_AHEAD = 6  # moves by which nearly all machines are told apart
MOST_TRIES = 200  # per machine, before the game is said to have too few behaviours


def population(game: str, sizes: Mapping[str, int] = SIZES, seed: int = 0) -> Split:
    """Return tasks against random machines; the parts of the split differ in the machines'
    behaviour and in the letters that name the moves.

    Raises:
        BadInput: The game has no training split, or too few behaviours for this many machines.
    """
    shipped_split = split(game)
    if shipped_split is None:
        raise BadInput(f"{game} has no training split, so it has no population of machines.")
    rules = registry.game(game).build({"rounds": ROUNDS})
    assert isinstance(rules, RepeatedGame)
    held_out_players = [task.others[PARTNER] for task in shipped_split.part("held_out")]
    held_out_machines = [
        PreparedMachine(machine)
        for player in held_out_players
        if (machine := _machine(rules, AGENT, player)) is not None
    ]
    parts: dict[str, tuple[Task, ...]] = {}
    for part in ("held_out", "validation", "train"):  # the parts to be held out come first
        drawn_players = list(_draw_machines(rules, part, sizes[part], held_out_machines, seed))
        held_out_machines += [machine for _, machine in drawn_players]
        letters = _letters(len(rules.matrix), part, len(drawn_players), seed)
        parts[part] = tuple(
            Task(_instance(game, names), AGENT, {PARTNER: player})
            for names, (player, _) in zip(letters, drawn_players, strict=True)
        )
    about = "random machines, held out by behaviour; other letters as well"
    return Split(f"{game}_population", about, {part: parts[part] for part in sizes})


def reletter(task: Task, draws: Stream) -> Task:
    """Return the task with its moves named by letters drawn at random from the training letters."""
    game, n_moves = task.instance.game, len(task.instance.params["names"])
    letters = draws.shuffled(LETTERS["train"])[:n_moves]
    return Task(_instance(game, letters), task.seat, task.others)


def random_table(draws: Stream, moves: int) -> dict[str, Any]:
    """Return a random finite-state machine for a game with `moves` moves per seat, as a table for
    `policy_table`.

    The machine is of one of four kinds: it repeats a cycle, responds to the other seat's last move,
    changes its own move depending on the outcome of the round, or has two to four states and
    changes state depending on the other seat's move.
    """
    kind, follow = draws.pick(("cycle", "reply", "outcome", "states")), draws.pick(FOLLOW)
    own_moves, other_moves = range(moves), range(moves)
    if kind == "cycle":
        plays = [draws.below(moves) for _ in range(1 + draws.below(4))]
        goes = [[[(q + 1) % len(plays)] * moves for _ in own_moves] for q in range(len(plays))]
    elif kind == "reply":
        answer = [draws.below(moves) for _ in other_moves]
        plays = [*answer, draws.below(moves)]  # one state for each last move, and the first round
        goes = [[list(other_moves) for _ in own_moves] for _ in plays]
    elif kind == "outcome":
        shift, plays = [draws.below(moves) for _ in other_moves], list(own_moves)
        next_states = [
            [(m + shift[(t - m) % moves]) % moves for t in other_moves] for m in own_moves
        ]
        goes = [next_states for _ in plays]
    else:
        n_states = 2 + draws.below(3)
        plays = [draws.below(moves) for _ in range(n_states)]
        goes = [[[draws.below(n_states) for _ in other_moves]] * moves for _ in range(n_states)]
    first = len(plays) - 1 if kind == "reply" else draws.below(len(plays))
    return {
        "start": str(first),
        "states": {
            str(q): {
                "odds": [follow * (m == play) + (1 - follow) / moves for m in own_moves],
                "after": [[str(to) for to in row] for row in goes[q]],
            }
            for q, play in enumerate(plays)
        },
    }


class PreparedMachine:
    """A machine prepared for comparison with many others, most of which differ within a few
    moves."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        goes, habits = _goes(machine, 0), list[Any](_habits(machine))
        for _ in range(LOOK_AHEAD):
            habits = [hash((habits[q], *(habits[to] for to in goes[q]))) for q in range(len(goes))]
        self._seen, self._opening, reached = {*habits}, list[set[int]](), {0}
        for _ in range(OPENING + 1):
            self._opening.append({habits[q] for q in reached})
            reached = {to for q in reached for to in goes[q]}

    def becomes(self, other_machine: PreparedMachine) -> bool:
        """Return whether this machine comes to behave like `other_machine` (see `_becomes`); the
        full comparison is skipped if the first moves already differ."""
        if any(reached <= other_machine._seen for reached in self._opening):
            return _becomes(self.machine, other_machine.machine)
        return False


def _draw_machines(
    rules: RepeatedGame,
    part: str,
    n_wanted: int,
    held_out_machines: Sequence[PreparedMachine],
    seed: int,
) -> Iterator[tuple[PlayerSpec, PreparedMachine]]:
    """Yield machines that do not behave like any machine in `held_out_machines`; training machines
    may behave like each other."""
    draws, machines = Stream("population", seed, part), list[PreparedMachine]()
    for _ in range(MOST_TRIES * n_wanted):
        if len(machines) == n_wanted:
            return
        player = PlayerSpec("policy_table", {"table": random_table(draws, len(rules.matrix))})
        machine = _machine(rules, AGENT, player)
        assert machine is not None
        new = PreparedMachine(machine)
        machines_to_avoid = (
            held_out_machines if part == "train" else [*held_out_machines, *machines]
        )
        if not any(new.becomes(old) or old.becomes(new) for old in machines_to_avoid):
            machines.append(new)
            yield player, new
    if len(machines) < n_wanted:
        raise BadInput(
            f"Only {len(machines)} of {n_wanted} machines for {part} behave differently from "
            f"those held "
            "out; ask for fewer."
        )


def _letters(moves: int, part: str, n_wanted: int, seed: int) -> Iterator[list[str]]:
    draws = Stream("letters", seed, part)
    return (draws.shuffled(LETTERS[part])[:moves] for _ in range(n_wanted))


def _instance(game: str, names: Sequence[str]) -> Instance:
    return Instance(f"{game}_{''.join(names)}", game, {"rounds": ROUNDS, "names": list(names)})
