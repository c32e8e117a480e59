"""Episodes played for a profile, and their profile."""

from __future__ import annotations

import sally
from sally.analysis.columns.measured import measured
from sally.analysis.profile.baselines import baselines
from sally.analysis.profile.profile import ProfileRow, profile_of
from sally.core.log.events import Episode
from sally.core.registry.study import Cell, Study, instance
from sally.runner.local import play
from sally.runner.seating import resolved

FIELDS = ("accuracy", "brier", "value_error", "raw", "doing")
TERMS = ("inference", "translation", "format", "luck")


def profiled(episodes: list[Episode], seat: str) -> list[ProfileRow]:
    studied = [m for e in episodes for m in measured(e, (seat,))]
    return profile_of(studied, baselines(studied))


def played(study: Study) -> list[Episode]:
    return [play(resolved(setup), cell) for cell, setup in study.trials()]


def one_cell(game: str, lineups, arms=None, repeats: int = 1, **params) -> Study:
    return Study(
        "s", "s", (Cell(game, (instance(game, **params),), lineups, arms or {}, (), repeats),)
    )


def against_tit_for_tat(script, rounds: int = 10, seeds=range(6)) -> list[Episode]:
    lineup = {"agent": script, "partner": "tit_for_tat"}
    return [sally.play("ipd", lineup, seed, rounds=rounds) for seed in seeds]
