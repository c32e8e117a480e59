"""Certified tables of the step race, at which modelling the partners pays.

A table is given by the two partners, the evaluated seat and the target. A table is rejected if the
evaluated seat cannot win, or if a random player or one of the rules in `mindless` does as well as
the solved best reply, because the scale from mindless to best play is then undefined.
`python -m benchmarks.problem_sets.step_race` writes the file of certified tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.games.step_race import certified_tables
from sally.games.step_race.certified_tables import FILE, CertifiedProblem
from sally.games.step_race.rules import MOVES, SEATS, StepRace, others_of
from sally.games.step_race.solver import (
    SAME,
    Mind,
    always,
    best,
    finisher,
    mind_of,
    mixed_equilibrium,
    mute,
    solve_race,
    uniform,
)
from sally.games.step_race.spec import missing_of

MARGIN = 0.05  # minimum points between the best reply and every mute fixed player
TALKS = 1
TARGETS = (20, 24)
PAIRS: tuple[tuple[tuple[str, dict[str, Any]], tuple[str, dict[str, Any]]], ...] = (
    (("always", {"move": 5}), ("keeper", {"p": 1.0})),
    (("always", {"move": 5}), ("keeper", {"p": 0.8})),
    (("always", {"move": 5}), ("keeper", {"p": 0.0})),
    (("always", {"move": 5}), ("blocker", {})),
    (("always", {"move": 5}), ("rotator", {})),
    (("finisher", {}), ("keeper", {"p": 1.0})),
    (("finisher", {}), ("blocker", {})),
    (("stage_equilibrium", {}), ("blocker", {})),
    (("uniform", {}), ("blocker", {})),
    (("blocker", {}), ("blocker", {})),
    (("blocker", {}), ("keeper", {"p": 1.0})),
)


def mindless() -> Mapping[str, Mind]:
    """Return the mindless players that send no messages. A combination of partners and target is
    used only if the best reply earns clearly more than each of them."""
    fixed = {f"always {move}": always(move) for move in MOVES}
    return {**fixed, "stage_equilibrium": mixed_equilibrium(), "finisher": finisher()}


def certify(
    params: Mapping[str, Any], seat: str, others: Mapping[str, tuple[str, Mapping[str, Any]]]
) -> CertifiedProblem:
    """Solve a table for one seat and return it with its values.

    Raises:
        BadInput: Play against a partner cannot be solved, the seat cannot win at this table, or a
            random or silent fixed player comes within `MARGIN` points of the best reply.
    """
    game = StepRace(**params)
    number = SEATS.index(_seat(seat))
    minds: list[Mind] = []
    for opponent in others_of(number):
        player, settings = others[SEATS[opponent]]
        mind = mind_of(player, settings)
        if mind is None or mind.hears:
            raise BadInput(f"no best reply can be computed to {player} in {SEATS[opponent]}")
        minds.append(mind if game.talks else mute(mind))
    pair, start = (minds[0], minds[1]), missing_of(game, game.positions)
    solution = solve_race(game.target, number, pair)
    optimum = solution.value(start)
    names = " and ".join(player for player, _ in others.values())
    if optimum <= SAME:
        raise BadInput(f"against {names}, {seat} cannot win, so these opponents cannot be used")
    chance = solve_race(game.target, number, pair, uniform()).value(start)
    fixed = {
        name: solve_race(game.target, number, pair, mind).value(start)
        for name, mind in mindless().items()
    }
    name, top = max({"random": chance, **fixed}.items(), key=lambda item: item[1])
    if optimum - top < MARGIN:
        raise BadInput(
            f"against {names}, {name} gets {top:.3f} points in {seat} and the best reply "
            f"gets {optimum:.3f}: less than {MARGIN} apart, so no scale can be defined between them"
        )
    label = "-".join(_label(player, settings) for player, settings in others.values())
    return CertifiedProblem(
        id=f"step_race-{game.target}-{label}-{seat}",
        params=dict(params),
        seat=seat,
        others={s: PlayerSpec(player, dict(settings)) for s, (player, settings) in others.items()},
        optimum=optimum,
        uniform=chance,
        mindless=fixed,
        first_moves=best(solution.worths(start)),
    )


def _seat(name: str) -> Any:
    if name not in SEATS:
        raise BadInput(f"{name!r} is not a seat of the step race; the seats are {', '.join(SEATS)}")
    return name


def _label(player: str, settings: Mapping[str, Any]) -> str:
    return "_".join([player, *(f"{value:g}" for value in settings.values())])


def solve_all() -> tuple[CertifiedProblem, ...]:
    """Return every combination of two partners and a target (the number of steps needed to win) in
    which modelling the partners pays. The evaluated seat changes from one combination to the
    next."""
    problems = []
    for n, (target, pair) in enumerate((t, p) for t in TARGETS for p in PAIRS):
        number = n % len(SEATS)
        first_opponent, two = others_of(number)
        others = {str(SEATS[first_opponent]): pair[0], str(SEATS[two]): pair[1]}
        params = {"target": target, "talks": TALKS}
        with suppress(BadInput):  # not every pair is usable at every target
            problems.append(certify(params, str(SEATS[number]), others))
    return tuple(problems)


def main() -> None:
    """Solve the race for every combination of partners, evaluated seat and target, and write those
    at which modelling the partners pays to the file of certified tables."""
    folder = Path(certified_tables.__file__).parent / "instances"
    lines = [msgspec.json.encode(problem).decode() for problem in solve_all()]
    (folder / FILE).write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main()
