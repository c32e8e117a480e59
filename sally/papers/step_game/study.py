"""step_game as a study: a model, probed for predictions, on certified problems and with partners
that talk."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import Instance
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.games.step_race.certified_tables import read_certified
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
    for certified in read_certified():
        problem = Instance(certified.id, "step_race", dict(certified.params))
        lineups = tuple({**certified.others, certified.seat: player} for player in me)
        arms: dict[str, tuple[str, ...]] = {certified.seat: PROBES}
        cells.append(Cell(certified.id, (problem,), lineups, arms=arms, repeats=REPEATS))
    problem = instance("step_race", "step_race-talk", target=20, talks=2)
    for name, (first_talker, two) in TALKERS.items():
        others = {"player_2": first_talker, "player_3": two}
        lineups = tuple({**others, "player_1": player} for player in me)
        cells.append(Cell(name, (problem,), lineups, arms={"player_1": PROBES}, repeats=REPEATS))
    return Study(
        name="step_game",
        about="the step race at 21 certified tables and beside talkers, predictions asked",
        cells=tuple(cells),
        paper="step_game",
    )


STUDY = study()
STUDIES = (STUDY,)
