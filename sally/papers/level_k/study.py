"""level_k as a study: a model against an opponent of every depth."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.games.level_k.card import contest_of, rows_of_boxes
from sally.players.language import OPEN

PROBES = ("their_move", "their_guess_of_me", "their_depth")
DEPTHS = range(4)
ROUNDS = 10  # against one opponent, whose depth shows only in its past moves
ONCE = 100  # one-round games against people, whose choices are drawn


def _over_rounds(problem: Instance, rounds: int = ROUNDS) -> Instance:
    return Instance(f"{problem.id}-{rounds}", problem.game, {**problem.params, "rounds": rounds})


def _cell(
    name: str,
    instances: tuple[Instance, ...],
    seat: str,
    player: PlayerSpec,
    others: dict[str, PlayerSpec],
    repeats: int = 1,
) -> Cell:
    return Cell(name, instances, ({seat: player, **others},), {seat: PROBES}, repeats=repeats)


def study(model: str = OPEN, **language: Any) -> Study:
    """Return the study of every game against partners of every depth.

    Without a model, the study holds a placeholder, and the model is chosen when the study runs.
    """
    me = player_spec("language", model=model, strategy="qa", **language)
    first_seat, second_seat = "player_1", "player_2"
    request, pennies = instance("eleven_twenty"), instance("matching_pennies")
    cells = [
        _cell(
            "eleven_twenty: people",
            (request,),
            first_seat,
            me,
            {second_seat: player_spec("people")},
            ONCE,
        )
    ]
    for k in DEPTHS:
        level = player_spec("level", k=k)
        rounds = (_over_rounds(request),)
        cells.append(
            _cell(f"eleven_twenty: level {k}", rounds, first_seat, me, {second_seat: level})
        )
        contest, others = contest_of(k)
        rounds = (_over_rounds(contest),)
        cells.append(_cell(f"beauty_contest: level {k}", rounds, first_seat, me, others))
        boxes = tuple(_over_rounds(row) for row in rows_of_boxes())
        cells += [
            _cell(f"hide_and_seek: hider, level {k}", boxes, first_seat, me, {second_seat: level}),
            _cell(f"hide_and_seek: seeker, level {k}", boxes, second_seat, me, {first_seat: level}),
        ]
    for k in range(3):
        tom = {second_seat: player_spec("k_tom", k=k)}
        cells.append(_cell(f"matching_pennies: {k}-ToM", (pennies,), first_seat, me, tom))
    return Study(
        name="level_k",
        about="one model against minds of every depth: requests, contests, boxes, coins",
        cells=tuple(cells),
        paper="level_k",
    )


STUDY = study()
STUDIES = (STUDY,)
