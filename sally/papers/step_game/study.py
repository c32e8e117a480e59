"""step_game as a study: a model, probed for predictions, on certified problems and with partners
that talk."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Instance
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.games.step_race.certified import read_certified
from sally.players.language import OPEN

PROBES = ("their_move", "will_keep", "who_can_win_now")
BESIDE = ("random", "listener", "follower")
REPEATS = 4
TALKERS = {
    "two listeners": (player_spec("listener"), player_spec("listener")),
    "a keeper and a breaker": (player_spec("keeper", p=1.0), player_spec("keeper", p=0.0)),
    "two that always take 5": (player_spec("always", move=5), player_spec("always", move=5)),
}


def study(model: str = OPEN, **language: Any) -> Study:
    """Return the study of one language model and mindless players.

    Without a model, the study holds a placeholder, and the model is chosen when the study runs.
    """
    me = (
        player_spec("language", model=model, strategy="qa", **language),
        *(player_spec(name) for name in BESIDE),
    )
    cells: list[Cell] = []
    for each in read_certified():
        problem = Instance(each.id, "step_race", dict(each.params))
        lineups = tuple({**each.others, each.seat: who} for who in me)
        arms: dict[str, tuple[str, ...]] = {each.seat: PROBES}
        cells.append(Cell(each.id, (problem,), lineups, arms=arms, repeats=REPEATS))
    problem = instance("step_race", "step_race-talk", target=20, talks=2)
    for name, (one, two) in TALKERS.items():
        others = {"player_2": one, "player_3": two}
        lineups = tuple({**others, "player_1": who} for who in me)
        cells.append(Cell(name, (problem,), lineups, arms={"player_1": PROBES}, repeats=REPEATS))
    return Study(
        name="step_game",
        about="the step race at 21 certified tables and beside talkers, predictions asked",
        cells=tuple(cells),
        paper="step_game",
    )


STUDY = study()
STUDIES = (STUDY,)
