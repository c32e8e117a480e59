"""Episodes played for a profile, and their profile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sally
from sally.analysis.profile import baselines as played_baselines
from sally.analysis.profile import profile as profiles
from sally.analysis.profile.baselines import Baseline
from sally.analysis.profile.profile import ProfileRow
from sally.core.log.events import Episode
from sally.core.registry.study import Cell, Study, instance
from sally.frames.measured_seat import MeasuredSeat, measure_episode
from sally.frames.profiles import SeatSums
from sally.runner.local import play
from sally.runner.seating import resolve_setup

FIELDS = ("accuracy", "brier", "value_error", "raw", "doing")
TERMS = ("inference", "translation", "format", "luck")


def sums_of(seats: SeatSums | Iterable[MeasuredSeat]) -> SeatSums:
    """Return measured seats as a table."""
    return seats if isinstance(seats, SeatSums) else SeatSums.of_seats(seats)


def profile_of(seats, ends: Sequence[Baseline] = (), **options) -> list[ProfileRow]:
    """Return the profile of measured seats."""
    return profiles.profile_of(sums_of(seats), ends, **options)


def baselines(seats, by_cell: bool = False) -> list[Baseline]:
    """Return the baseline players in the settings of measured seats."""
    return played_baselines.baselines(sums_of(seats), by_cell)


def profiled(episodes: list[Episode], seat: str) -> list[ProfileRow]:
    studied = sums_of(m for e in episodes for m in measure_episode(e, (seat,)))
    return profile_of(studied, baselines(studied))


def played(study: Study) -> list[Episode]:
    return [play(resolve_setup(setup), cell) for cell, setup in study.trials()]


def one_cell(game: str, lineups, arms=None, repeats: int = 1, **params) -> Study:
    return Study(
        "s", "s", (Cell(game, (instance(game, **params),), lineups, arms or {}, (), repeats),)
    )


def against_tit_for_tat(script, rounds: int = 10, seeds=range(6)) -> list[Episode]:
    lineup = {"agent": script, "partner": "tit_for_tat"}
    return [sally.play("ipd", lineup, seed, rounds=rounds) for seed in seeds]
