"""Read the progress of a study from its store, on any machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

import msgspec

from sally import store
from sally.runner.claims import SILENT_SECONDS, Run, read_runs
from sally.runner.shards import EpisodeCounts, note_name
from sally.store import Place, Where

LEAST_CALLS = 20  # of a run whose speed says something
BUSY = 0.8  # share of a run's time for which a processor was busy, above which it is the bound


class RunSnapshot(msgspec.Struct, frozen=True):
    """The state of one run at its last heartbeat."""

    name: str
    on: str
    state: str  # running, silent, dead, or how it ended
    played: int
    in_flight: int
    last_word: float  # seconds since its last heartbeat


class ProgressSnapshot(msgspec.Struct, frozen=True):
    """The progress of a study at one moment."""

    study: str
    done: int
    wanted: int | None  # None: unknown
    in_flight: int
    failed: int  # ended by a fault, or given up
    censored: int  # without a result, including failed ones
    rate: float | None  # episodes a second
    seconds_left: float | None
    used: EpisodeCounts
    cost_left: float | None  # None: unknown price
    currency: str
    runs: tuple[RunSnapshot, ...]

    @property
    def is_over(self) -> bool:
        """Whether no run is active."""
        return not any(run.state in ("running", "silent") for run in self.runs)


class Speed(msgspec.Struct, frozen=True):
    """The speed of the last run with models, and the cause that limited it."""

    calls_a_second: float
    bound: Literal["server", "rate limit", "harness"]


def speed_of(store_location: Where) -> Speed | None:
    """Return the speed of a store's last run with models, or None if there is none.

    A run that kept its processors busy most of the time was limited by the harness. A run whose
    calls spent more time waiting for the rate limit than being answered was limited by that rate
    limit. Any other run was limited by the server.
    """
    location = store.place(store_location)
    runs = [run for run in read_runs(location) if run.on] if location.exists() else []
    for run in reversed(runs):
        tally = counts_with_notes(location, run)
        seconds = run.seconds
        if tally.calls < LEAST_CALLS or seconds <= 0:
            continue
        if tally.busy / seconds > BUSY:
            return Speed(tally.calls / seconds, "harness")
        limited = tally.limited / seconds > 1  # on average at least one call stood waiting
        return Speed(tally.calls / seconds, "rate limit" if limited else "server")
    return None


def currency_of(store_location: Where) -> str:
    """Return the currency of the prices with which a store was played; "" if none is on record."""
    location = store.place(store_location)
    runs = read_runs(location) if location.exists() else []
    return next((run.currency for run in runs if run.currency), "")


def look(store_location: Where) -> ProgressSnapshot:
    """Return the current progress of a store's study."""
    location = store.place(store_location)
    manifest = store.manifest_of(location) if location.exists() else None
    if manifest is None:
        survey = store.survey(location)  # raises if it is not a store
        return _without_runs("", survey)
    runs = read_runs(location)
    if not runs:
        return _without_runs(manifest.study, store.survey(location))
    tallies = [counts_with_notes(location, run) for run in runs]
    done, planned = _done(runs, tallies), max(run.wanted for run in runs)
    used = sum(tallies, EpisodeCounts())
    states = [_state(run) for run in runs]
    living = [i for i, state in enumerate(states) if state in ("running", "silent")]
    rate = sum(_rate(runs[i], tallies[i]) for i in living) or None
    if not living:
        done = _done_at_end(location, runs, planned)
    episodes_left = max(planned - done, 0)
    priced = used.calls > 0 and not used.unpriced and used.done > 0
    return ProgressSnapshot(
        study=manifest.study,
        done=done,
        wanted=planned,
        in_flight=sum(_in_flight(runs[i], tallies[i]) for i in living),
        failed=used.failed + sum(run.given_up for run in runs),
        censored=used.censored,
        rate=rate,
        seconds_left=episodes_left / rate if rate else None,
        used=used,
        cost_left=used.money / used.done * episodes_left if priced else None,
        currency=next((run.currency for run in runs if run.currency), ""),
        runs=tuple(
            RunSnapshot(
                run.name,
                run.on,
                state,
                tally.done,
                _in_flight(run, tally) if i in living else 0,
                max(time.time() - run.now, 0.0),
            )
            for i, (run, tally, state) in enumerate(zip(runs, tallies, states, strict=True))
        ),
    )


def _without_runs(study: str, survey: store.Survey) -> ProgressSnapshot:
    censored = len(survey.blank) + len(survey.cut)
    nothing = (None, None, EpisodeCounts(), None, "", ())
    return ProgressSnapshot(study, len(survey.finished), None, 0, 0, censored, *nothing)


def counts_with_notes(location: Place, run: Run) -> EpisodeCounts:
    """Return a run's counts, including those that its workers have published so far."""
    total = run.tally
    for shard in run.in_flight:
        try:
            total += msgspec.json.decode(
                location.read(note_name(run.name, shard)), type=EpisodeCounts
            )
        except FileNotFoundError:
            continue  # just started or just finished
    return total


def _done(runs: Sequence[Run], tallies: Sequence[EpisodeCounts]) -> int:
    """Return the number of finished episodes; the count with which a run starts includes the
    episodes of earlier runs."""
    stored_after = [
        run.kept + sum(tally.done for tally in tallies[i:])
        for i, run in enumerate(runs)  # oldest first
    ]
    alone = [run.kept + tally.stored_count for run, tally in zip(runs, tallies, strict=True)]
    return min(max(stored_after + alone), max(run.wanted for run in runs))


def _done_at_end(location: Place, runs: Sequence[Run], planned: int) -> int:
    """Return the number of finished episodes when no run is active, as the last run counted them.

    If that run was killed, it has no count, and all episodes of the store are counted.
    """
    last = max(runs, key=lambda run: run.now)
    if last.done is not None and all(run.ended for run in runs):
        return last.done
    return min(len(store.survey(location).finished), planned)


def _in_flight(run: Run, tally: EpisodeCounts) -> int:
    noted = tally.stored_count - run.tally.stored_count
    return max(sum(run.in_flight.values()) - noted, 0)


def _rate(run: Run, tally: EpisodeCounts) -> float:
    return tally.done / max(run.seconds, 0.1)


def _state(run: Run) -> str:
    if run.ended:
        return run.ended
    if run.machine.is_here:
        return "running" if run.machine.lives() else "dead"
    return "silent" if time.time() - run.now > SILENT_SECONDS else "running"
