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
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame
from sally.games.repeated_games.training import ROUNDS, _machine, _PreparedMachine, split
from sally.parts.training import Split, Task

SIZES: Mapping[str, int] = {"train": 256, "validation": 24, "held_out": 24}
FOLLOW = (1.0, 1.0, 0.9, 0.8)  # how often a machine follows its rule; else it moves at random
LETTERS: Mapping[str, str] = {"train": "ABCDEFGHJKLMNPRS", "validation": "UWXYZ", "held_out": "QTV"}
MOST_TRIES = 200  # per machine, before the game is said to have too few behaviours


def population(game: str, sizes: Mapping[str, int] = SIZES, seed: int = 0) -> Split:
    """Return tasks against random machines; the parts of the split differ in the machines'
    behaviour and in the letters that name the moves.

    Raises:
        BadInput: The game has no training split, or too few behaviours for this many machines.
    """
    own = split(game)
    if own is None:
        raise BadInput(f"{game} has no training split, so it has no population of machines.")
    rules = registry.game(game).build({"rounds": ROUNDS})
    assert isinstance(rules, RepeatedGame)
    named = [task.others[PARTNER] for task in own.part("held_out")]
    kept = [
        _PreparedMachine(found)
        for who in named
        if (found := _machine(rules, AGENT, who)) is not None
    ]
    parts: dict[str, tuple[Task, ...]] = {}
    for part in ("held_out", "validation", "train"):  # the parts to be held out come first
        drawn = list(_drawn(rules, part, sizes[part], kept, seed))
        kept += [machine for _, machine in drawn]
        letters = _letters(len(rules.matrix), part, len(drawn), seed)
        parts[part] = tuple(
            Task(_instance(game, names), AGENT, {PARTNER: who})
            for names, (who, _) in zip(letters, drawn, strict=True)
        )
    about = "random machines, held out by behaviour; other letters as well"
    return Split(f"{game}_population", about, {part: parts[part] for part in sizes})


def relettered(task: Task, draws: Stream) -> Task:
    """Return the task with its moves named by letters drawn at random from the training letters."""
    game, many = task.instance.game, len(task.instance.params["names"])
    letters = draws.shuffled(LETTERS["train"])[:many]
    return Task(_instance(game, letters), task.seat, task.others)


def random_table(draws: Stream, moves: int) -> dict[str, Any]:
    """Return a random finite-state machine for a game with `moves` moves per seat, as a table for
    `policy_table`.

    The machine is of one of four kinds: it repeats a cycle, responds to the other seat's last move,
    changes its own move depending on the outcome of the round, or has two to four states and
    changes state depending on the other seat's move.
    """
    kind, follow = draws.pick(("cycle", "reply", "outcome", "states")), draws.pick(FOLLOW)
    own, theirs = range(moves), range(moves)
    if kind == "cycle":
        plays = [draws.below(moves) for _ in range(1 + draws.below(4))]
        goes = [[[(q + 1) % len(plays)] * moves for _ in own] for q in range(len(plays))]
    elif kind == "reply":
        answer = [draws.below(moves) for _ in theirs]
        plays = [*answer, draws.below(moves)]  # one state for each last move, and the first round
        goes = [[list(theirs) for _ in own] for _ in plays]
    elif kind == "outcome":
        shift, plays = [draws.below(moves) for _ in theirs], list(own)
        after = [[(m + shift[(t - m) % moves]) % moves for t in theirs] for m in own]
        goes = [after for _ in plays]
    else:
        many = 2 + draws.below(3)
        plays = [draws.below(moves) for _ in range(many)]
        goes = [[[draws.below(many) for _ in theirs]] * moves for _ in range(many)]
    first = len(plays) - 1 if kind == "reply" else draws.below(len(plays))
    return {
        "start": str(first),
        "states": {
            str(q): {
                "odds": [follow * (m == play) + (1 - follow) / moves for m in own],
                "after": [[str(to) for to in row] for row in goes[q]],
            }
            for q, play in enumerate(plays)
        },
    }


def _drawn(
    rules: RepeatedGame, part: str, many: int, kept: Sequence[_PreparedMachine], seed: int
) -> Iterator[tuple[PlayerSpec, _PreparedMachine]]:
    """Yield machines that do not behave like any machine in `kept`; training machines may behave
    like each other."""
    draws, met = Stream("population", seed, part), list[_PreparedMachine]()
    for _ in range(MOST_TRIES * many):
        if len(met) == many:
            return
        who = PlayerSpec("policy_table", {"table": random_table(draws, len(rules.matrix))})
        machine = _machine(rules, AGENT, who)
        assert machine is not None
        new = _PreparedMachine(machine)
        apart = kept if part == "train" else [*kept, *met]
        if not any(new.becomes(old) or old.becomes(new) for old in apart):
            met.append(new)
            yield who, new
    if len(met) < many:
        raise BadInput(
            f"Only {len(met)} of {many} machines for {part} behave differently from those held "
            "out; ask for fewer."
        )


def _letters(moves: int, part: str, many: int, seed: int) -> Iterator[list[str]]:
    draws = Stream("letters", seed, part)
    return (draws.shuffled(LETTERS[part])[:moves] for _ in range(many))


def _instance(game: str, names: Sequence[str]) -> Instance:
    return Instance(f"{game}_{''.join(names)}", game, {"rounds": ROUNDS, "names": list(names)})
