"""Run a study: give missing episodes to an executor and track progress."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from secrets import randbelow
from typing import Any, Unpack

import msgspec
from msgspec.structs import replace

from sally import store
from sally.core.errors import BadInput, RunFailed, StoreFailed, join_names
from sally.core.redaction import scrub
from sally.core.registry import packs, registry
from sally.core.registry.objects import bound_names
from sally.core.registry.study import Study
from sally.runner.budget import Budget, Meter
from sally.runner.claims import Claims, Heartbeat, Run, new_name, this_process
from sally.runner.executors import TELL_SECONDS, Executor, Local
from sally.runner.gates import forget_answers
from sally.runner.local import manifest, orders, refuse_changed
from sally.runner.models import PRECEDENCE, SettingUsed
from sally.runner.orders import Orders, PackedEpisodes
from sally.runner.progress import counts_with_notes
from sally.runner.rates import divide_limits, has_rates
from sally.runner.seating import portable_study
from sally.runner.sharding import EpisodeDurations, IndexedShard, cut_name, cuts_of
from sally.runner.shards import (
    EpisodeCounts,
    Job,
    JobOptions,
    Result,
    Shard,
    take_note,
    wait_for_writers,
)
from sally.store import Contents, Folder, Place, Remote, Where

LOG = logging.getLogger("sally.runner")
LARGE = 2000  # runs of at least this many episodes build tables as they play
LAST = 8  # shards per worker at the end of a run that are ordered longest first
TRIES = 3  # attempts at a shard whose workers die
LOOK_SECONDS = 0.5  # between checks of shards that another run plays


class Progress(msgspec.Struct, frozen=True):
    """The progress of a run."""

    done: int
    wanted: int
    kept: int  # already in the store
    censored: int
    used: EpisodeCounts = EpisodeCounts()
    seconds: float = 0.0  # since the run began

    @property
    def seconds_left(self) -> float | None:
        """The estimated seconds left, from the remaining calls or episodes; None if unknown."""
        if self.used.calls and self.used.calls_left:
            return self.seconds / self.used.calls * self.used.calls_left
        if not self.done:
            return None
        return self.seconds / self.done * max(self.wanted - self.done, 0)


Watcher = Callable[[Progress], None]


class WorkerBroke(Exception):
    """An internal error in a worker; the message is its traceback."""


def run_study(
    study: Study,
    out: Where,
    limit: int | None = None,
    watch: Watcher | None = None,
    meter: Meter | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> Contents:
    """Play the missing episodes of a study and return all episodes of the store.

    Once the budget is spent, no episode is started, and those in progress are censored.
    `options` are further arguments of `play_missing`. Models of providers need an executor that can
    reach them.
    """
    play_missing(study, out, limit, watch, meter, executor, **options)
    return store.load(out)


def play_missing(
    study: Study,
    out: Where,
    limit: int | None = None,
    watch: Watcher | None = None,
    meter: Meter | None = None,
    on: Executor | None = None,
    planned: Orders | None = None,
    settings: Sequence[SettingUsed] = (),
    **job: Unpack[JobOptions],
) -> EpisodeCounts:
    """Play the missing episodes of a study into its store.

    `planned` is the list of episodes, if it is already known; `settings` are the model settings,
    which are stored together with their sources.
    """
    location, executor = store.place(out), on or Local()
    if executor.name != "local" and (objects := objects_in(study)):
        raise BadInput(
            f"The study {study.name} uses objects of this process ({join_names(objects)}), so it "
            f"cannot run on {executor.name}; run it on `local`, or define them in a file and load "
            "the file with `sally.use`."
        )
    if isinstance(location, Remote) and location.in_one_process and executor.name != "local":
        raise BadInput(
            f"The store {location} is visible to one process only; use the executor `local`."
        )
    planned = orders(study, limit) if planned is None else planned
    store.require(location, study.name)
    stored = store.survey(location) if store.manifest_of(location) else store.Survey()
    refuse_changed(planned, stored.instances, location)
    study_manifest = manifest(study)
    store.claim(location, study_manifest, portable_study(study))
    if settings:
        used = {"precedence": PRECEDENCE, "settings": msgspec.to_builtins(settings)}
        store.keep_settings(location, study_manifest.asks, used)
    _keep_packs(location, planned)
    drive = RunState(study, location, executor, meter or Meter(), watch, **job)
    forget_answers()
    drive.fill(planned, stored.finished)
    return drive.run()


def objects_in(study: Study) -> list[str]:
    """Return the names in a study that stand for objects of this process."""
    games = {instance.game for cell in study.cells for instance in cell.instances}
    players = [spec for cell in study.cells for line in cell.lineups for spec in line.values()]
    names = {
        "games": games,
        "players": {spec.player for spec in players},
        "strategies": {str(spec.params.get("strategy", "")) for spec in players},
        "models": {str(spec.params.get("model", "")) for spec in players},
    }
    families = {registry.family(game).name for game in games}
    names["partners"] = {f"{f}.{name}" for f in families for name in names["players"]}
    registered = {
        name for folder, name in registry.added_objects() if name in names.get(folder, ())
    }
    return sorted(registered | (names["players"] | names["models"]) & set(bound_names()))


def _keep_packs(location: Place, planned: Orders) -> None:
    """Save the study's words packs to the store, where workers read them."""
    for name in {name for _, setup in planned.alike for name in store.packs_of(setup)}:
        store.keep_pack(location, packs.find(name))


def _last_line(error: BaseException) -> str:
    """Return the last line of an error or traceback, without keys."""
    return scrub((str(error).strip().splitlines() or [type(error).__name__])[-1])


class ClaimedShard:
    """A claimed shard and its parts that have not yet been given to workers."""

    def __init__(self, cut: IndexedShard) -> None:
        self.cut, self.left = cut, cut.numbers
        self.numbers: dict[str, Sequence[int]] = {}  # order numbers of unfinished parts, by label
        self.again: list[Shard] = []  # parts to replay after a worker died
        self.given = self.out = 0  # parts given out in total, and in progress
        self.taken = False  # taken over by another run while this one was suspended

    @property
    def is_over(self) -> bool:
        """Whether this run has nothing left to play in the shard."""
        return not self.out and (self.taken or not (self.left or self.again))


class RunState:
    """The state of one run: shards, claims and progress."""

    def __init__(
        self,
        study: Study,
        location: Place,
        executor: Executor,
        meter: Meter,
        watch: Watcher | None,
        **job: Unpack[JobOptions],
    ) -> None:
        self._at, self._on, self._meter, self._watch = location, executor, meter, watch
        prices = meter.config.prices
        self._state = Run(
            name=new_name(),
            study=study.name,
            on=executor.name,
            machine=this_process(),
            began=time.time(),
            currency=prices.currency if prices else "",
        )
        files = tuple(str(path) for path in registry.added_files())
        config = divide_limits(meter.config, executor.slots(), rates=not executor.rates)
        rates = executor.rates and has_rates(config)
        # A worker may have another working directory.
        out = str(location.path.resolve() if isinstance(location, Folder) else location)
        self._job = Job(study.name, out, self._state.name, files, config, rates=rates, **job)
        self._claims = Claims(location, self._state.name)
        self._wanted = Orders()
        self._waiting: deque[IndexedShard] = deque()
        self._claimed: deque[ClaimedShard] = deque()  # with parts to give out
        self._out: dict[str, tuple[ClaimedShard, Shard]] = {}  # in progress, by label
        self._pace = EpisodeDurations(executor.slots)
        self._deaths: dict[str, list[str]] = {}  # label -> causes of its workers' deaths
        self._told, self._told_at = 0, 0.0
        self._now = EpisodeCounts()  # of the shard that this process is playing
        self._begun = time.monotonic()
        self._cut = ""

    def fill(self, planned: Orders, finished: Set[str]) -> None:
        """Cut the study's missing episodes into shards."""
        self._wanted = planned
        self._cut = cut_name(planned, self._on.together)
        self._waiting.extend(cuts_of(planned, self._on.together, planned.found_in(finished)))
        for cut in self._waiting:
            self._pace.add_waiting(cut.alike, len(cut.numbers))
        self._missing = sum(len(cut.numbers) for cut in self._waiting)
        if self._missing < LARGE:
            self._job = replace(self._job, tables=False)
        already_stored = len(planned) - self._missing
        self._state = replace(self._state, wanted=len(planned), kept=already_stored)

    def run(self) -> EpisodeCounts:
        """Play until nothing is left or the budget is spent."""
        if not self._waiting:
            return EpisodeCounts()
        with Heartbeat(self._at, lambda: self._state) as beat:
            try:
                if self._wait_for_other_cuts(beat):
                    self._fill_again()
                self._claims.tidy(ended=True)
                self._play()
            except BaseException as error:
                beat.ended = (
                    "stopped" if isinstance(error, KeyboardInterrupt) else _last_line(error)
                )
                self._count_unfinished()
                raise
            finally:
                self._claims.release_all()
                self._claims.tidy(ended=False)
                self._count_stored()
            beat.ended = "out of budget" if self._meter.spent else "finished"
        return self._state.tally

    def _wait_for_other_cuts(self, beat: Heartbeat) -> bool:
        """Wait until no living run cuts the study into other shards; return whether any run did."""
        waited = False
        while True:
            self._state = replace(self._state, cut=self._cut)
            beat.write()
            alive, dead = self._claims.other_cuts(self._cut)
            if not alive:
                break
            self._state = replace(self._state, cut="")
            beat.write()
            if not waited:
                LOG.warning(
                    "Another run, %s (--on %s), plays other parts of the study into %s; this one "
                    "waits for its end.",
                    *(alive[0].name, alive[0].on, self._at),
                )
            waited = True
            # two waiting runs must not look at the same times
            time.sleep(LOOK_SECONDS * (1 + randbelow(100) / 100))
        for shard in self._claims.take_shards_of(dead):
            wait_for_writers(self._at, Shard(shard, PackedEpisodes()))
        return waited or bool(dead)

    def _fill_again(self) -> None:
        """Leave out the episodes that another run has stored since this one looked."""
        self._waiting.clear()
        self._pace = EpisodeDurations(self._on.slots)
        self.fill(self._wanted, store.survey(self._at).finished)

    def _count_unfinished(self) -> None:
        """Count what the shards used that were stopped in progress."""
        state = self._state
        is_local = self._on.name == "local"
        with suppress(BadInput, OSError):
            so_far = state.tally + self._now if is_local else counts_with_notes(self._at, state)
            self._state = replace(state, tally=replace(so_far, calls_left=0))

    def _count_stored(self) -> None:
        """Publish the number of finished episodes, as counted in the store.

        The counts of shards that were cut off by Ctrl-C or a failure are incomplete.
        """
        with suppress(BadInput, OSError):
            done = sum(self._wanted.found_in(store.survey(self._at).finished) or ())
            self._state = replace(self._state, done=done)

    def _play(self) -> None:
        while self._waiting or self._claimed:
            results = self._on.play(self._job, self._take, self._tell)
            try:
                for result in results:
                    self._take_in(result)
            finally:
                results.close()  # stops workers in progress
            if self._waiting:
                time.sleep(LOOK_SECONDS)  # another run plays the rest, unless it dies
        lost_shards = [
            f"{name} ({deaths[-1]})"
            for name, deaths in self._deaths.items()
            if len(deaths) >= TRIES
        ]
        if lost_shards:
            raise RunFailed(
                f"{self._state.given_up} episodes were given up, because workers died {TRIES} "
                f"times on shard {join_names(lost_shards)}; run the same command to try again."
            )

    # --- what executors are given, and what they give back --------------------------------------

    def _take(self) -> Shard | None:
        if self._meter.spent:  # only bots cost nothing
            self._waiting = deque(cut for cut in self._waiting if cut.kind == "bots")
        while self._claimed:
            if (shard := self._part(self._claimed[0])) is not None:
                return shard
            self._claimed.popleft()
        self._put_longest_first()
        for _ in range(len(self._waiting)):
            cut = self._waiting.popleft()
            share = self._share(cut)
            if share is not None and self._claims.take(cut.name):
                self._claimed.append(ClaimedShard(cut))
                return self._part(self._claimed[0], share)
            self._waiting.append(cut)
        return None

    def _part(self, ours: ClaimedShard, share: Budget | None = None) -> Shard | None:
        """Return the next part of a claimed shard, sized for one worker."""
        if ours.again:
            shard = ours.again.pop()
        elif ours.taken or not ours.left:
            return None
        else:
            shard = self._cut_off(ours, share or Budget())
        ours.out += 1
        self._out[shard.label] = ours, shard
        self._tell_in_flight()
        return shard

    def _cut_off(self, ours: ClaimedShard, share: Budget) -> Shard:
        """Return the next part of a shard: for bots, sized by time; otherwise, all that is left."""
        cut, numbers_left = ours.cut, ours.left
        size = (
            self._pace.size(cut.alike, len(numbers_left))
            if cut.kind == "bots"
            else len(numbers_left)
        )
        now, ours.left = numbers_left[:size], numbers_left[size:]
        token = self._state.name.rpartition("-")[2]  # host names do not enter a store's file names
        part = f"{token}-{ours.given}" if ours.given or ours.left else ""
        ours.given += 1
        self._pace.remove_waiting(cut.alike, size)
        episodes, claim = self._wanted.pack(now), self._claims.file_of(cut.name)
        shard = Shard(cut.name, episodes, share, claim, part)
        ours.numbers[shard.label] = now
        return shard

    def _put_longest_first(self) -> None:
        """Near the end, order shards by expected duration, longest first.

        This keeps a long shard from starting last. Shards whose kind of episode has not been timed
        yet come first.
        """
        if self._on.slots() > 1 and len(self._waiting) <= LAST * self._on.slots():
            self._waiting = deque(sorted(self._waiting, key=self._expected_seconds, reverse=True))

    def _expected_seconds(self, cut: IndexedShard) -> float:
        return self._pace.expected_seconds(cut.alike, len(cut.numbers))

    def _share(self, cut: IndexedShard) -> Budget | None:
        """Return the budget of a shard, or None while other shards hold the whole budget."""
        if cut.kind == "bots":
            return Budget()
        running = self._out.values()
        out = [shard.budget for ours, shard in running if ours.cut.kind != "bots"]
        return self._meter.share(self._on.slots(), out)

    def _take_in(self, result: Result) -> None:
        ours, shard = self._out.pop(result.shard)
        ours.out -= 1
        if result.lost:
            self._lose(ours, shard, result.lost)
        elif result.taken:
            ours.taken, ours.again = True, []
        else:
            del ours.numbers[shard.label]
            self._pace.record(ours.cut.alike, result.tally.done, result.seconds)
        if ours.is_over:
            self._close(ours)
        self._count(result.tally)
        self._tell_in_flight()
        if result.full:
            raise StoreFailed(result.full)
        if result.refused:
            raise BadInput(result.refused)
        if result.failed:
            raise RunFailed(result.failed)
        if result.broke:
            raise WorkerBroke(f"A worker failed on shard {shard.name}:\n{result.broke}")

    def _close(self, ours: ClaimedShard) -> None:
        """Finish a shard, or check it again later if another run has taken it over."""
        cut = ours.cut
        if not ours.taken:
            self._claims.release(cut.name)
            return
        self._claims.lose(cut.name)
        numbers = [number for part in ours.numbers.values() for number in part]
        self._waiting.append(replace(cut, numbers=[*numbers, *ours.left]))
        self._pace.add_waiting(cut.alike, len(numbers))

    def _lose(self, ours: ClaimedShard, shard: Shard, cause: str) -> None:
        """Queue a part again after its worker died; stored episodes are not replayed."""
        deaths = self._deaths.setdefault(shard.label, [])
        deaths.append(cause)
        self._count(take_note(self._at, self._state.name, shard.label))
        if len(deaths) < TRIES and ours.cut.kind != "bots":  # with the remaining budget
            self._waiting.appendleft(ours.cut)
            return
        if len(deaths) < TRIES:
            ours.again.append(shard)
            if ours not in self._claimed:
                self._claimed.appendleft(ours)
            return
        stored_ids = store.survey(self._at, shard.concerns).finished
        missing = sum(id not in stored_ids for id, _, _ in shard.orders)
        self._state = replace(self._state, given_up=self._state.given_up + missing)

    def _count(self, tally: EpisodeCounts) -> None:
        self._state = replace(self._state, tally=self._state.tally + tally)
        self._meter.add(
            tally.calls,
            tally.failed_calls,
            tally.tokens,
            tally.money,
            tally.unpriced,
            tally.guessed,
        )
        self._tell(EpisodeCounts())

    def _tell(self, now: EpisodeCounts) -> None:
        """Report progress, including the shards in progress: that of this process, whose counts are
        given, or those of workers, which publish theirs."""
        state, is_local = self._state, self._on.name == "local"
        self._now = now
        if not is_local:  # the counts of workers are read from the store, not for every shard
            is_complete = state.tally.stored_count >= self._missing
            if not is_complete and time.monotonic() - self._told_at < TELL_SECONDS:
                return
            self._told_at = time.monotonic()
        so_far = state.tally + now if is_local else counts_with_notes(self._at, state)
        has_models = any(claimed.cut.kind != "bots" for claimed, _ in self._out.values())
        has_news = so_far.stored_count > self._told or so_far.calls or has_models
        if self._watch is not None and has_news:
            self._told = max(self._told, so_far.stored_count)
            seconds = time.monotonic() - self._begun
            counts = (self._told, self._missing, state.kept, so_far.censored)
            self._watch(Progress(*counts, so_far, seconds))

    def _tell_in_flight(self) -> None:
        in_flight = {label: len(shard) for label, (_, shard) in self._out.items()}
        self._state = replace(self._state, in_flight=in_flight)
