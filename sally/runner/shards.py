"""Shards: groups of episodes sent to one worker as JSON.

A run may split a claimed shard into parts for several workers.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from traceback import format_exc
from typing import Any, NamedTuple, TypedDict

import msgspec

from sally import store
from sally.core.errors import BadInput, RunFailed, StoreFailed
from sally.core.log.events import Censored, Episode
from sally.core.registry import registry
from sally.core.rules.replay import Trajectory
from sally.runner import local
from sally.runner.budget import Budget, Meter
from sally.runner.config import Config, use_config
from sally.runner.orders import Order, PackedEpisodes, alike, calls_of, kind_of
from sally.runner.rates import Ask, CallLimiter, use_turnstile, waited_for_rates
from sally.store import Place

TICK_SECONDS = 1.0  # interval of progress reports in runs with models
NOTE_SECONDS = 2.0  # interval of a worker's progress notes
WAIT_SECONDS = 60.0  # for another writer of this shard to finish


class EpisodeCounts(msgspec.Struct, frozen=True):
    """Counts of episodes played and resources used."""

    done: int = 0  # episodes written to the store
    found: int = 0  # stored by another run meanwhile
    censored: int = 0  # of `done`, without a result
    failed: int = 0  # of `censored`, by a fault
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    unpriced: int = 0  # calls without a known price
    guessed: int = 0  # calls whose tokens the provider did not count
    calls_left: int = 0  # estimated from finished episodes
    busy: float = 0.0  # processor seconds of the processes that made the calls
    limited: float = 0.0  # seconds that calls waited for rate limits, summed over the calls
    failed_calls: int = 0  # of `calls`
    refusal: str = ""  # why the last failed call did

    @property
    def stored_count(self) -> int:
        """Episodes stored since the run began."""
        return self.done + self.found

    def __add__(self, other: EpisodeCounts) -> EpisodeCounts:
        names = [name for name in self.__struct_fields__ if name != "refusal"]
        sums: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in names}
        return EpisodeCounts(**sums, refusal=other.refusal or self.refusal)


class Job(msgspec.Struct, frozen=True):
    """Settings shared by all shards of a run."""

    study: str
    out: str  # the store
    run: str = ""  # name of the run
    files: tuple[str, ...] = ()  # users' files to register, by path
    config: Config = Config()
    cache: bool = False
    display: str = "none"
    tables: bool = False  # whether workers also build the tables of their episodes
    rates: bool = False  # whether workers ask for the rate limits of the whole run


class JobOptions(TypedDict, total=False):
    """The settings of a job that callers of a run choose; a name that is not listed is refused."""

    cache: bool
    display: str
    tables: bool


class Services(NamedTuple):
    """Functions of packages that the runner does not import, passed to workers that need them; None
    if not available."""

    play_with_provider: Callable[..., None] | None = None  # as `adapters.inspect.run.play_orders`
    table_writer: Callable[[], Any] | None = None  # builds the tables of episodes
    shared_rates: Callable[[Job], Ask] | None = None  # asks for the rate limits of the whole run


NO_SERVICES = Services()


class Shard(msgspec.Struct, frozen=True, omit_defaults=True):
    """Episodes for one worker."""

    name: str
    packed: PackedEpisodes
    budget: Budget = Budget()  # upper bound
    claim: str = ""  # claim file
    part: str = ""  # run token and number, if the shard is split

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def orders(self) -> list[Order]:
        """Return the episodes of the shard."""
        return self.packed.orders()

    @property
    def label(self) -> str:
        """The name used for the shard's files, for its file of progress counts, and for its
        result."""
        return f"{self.name}.{self.part}" if self.part else self.name

    def concerns(self, file: str) -> bool:
        """Return whether a store file may hold episodes of this part."""
        if not file.startswith(self.name):
            return False
        run, _, number = self.part.rpartition("-")
        ours = number and file.startswith(f"{self.name}.{run}-")
        return not ours or file.startswith(f"{self.label}-")


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """Result of a shard."""

    shard: str  # its label
    tally: EpisodeCounts = EpisodeCounts()
    seconds: float = 0.0  # time to play its episodes
    taken: bool = False  # taken over by another run
    lost: str = ""  # how its worker died, if it did
    refused: str = ""  # bad input that ends the run
    full: str = ""  # the store cannot be written, which ends the run
    failed: str = ""  # failure that ends the run
    broke: str = ""  # traceback of an internal error or of a user's file


Tell = Callable[[EpisodeCounts], None]


# --- playing ------------------------------------------------------------------------------------


def play_encoded_shard(job: bytes, shard: bytes, services: Services) -> bytes:
    """Play a shard in a worker process; job, shard and result, including errors, are JSON."""
    own_shard = msgspec.json.decode(shard, type=Shard)
    try:
        plan = msgspec.json.decode(job, type=Job)
        settle(plan, services)
        result = work(plan, own_shard, services)
    except StoreFailed as error:
        result = Result(own_shard.label, full=str(error))
    except BadInput as error:
        result = Result(own_shard.label, refused=str(error))
    except RunFailed as error:
        result = Result(own_shard.label, failed=str(error))
    except Exception:
        result = Result(own_shard.label, broke=format_exc())
    return msgspec.json.encode(result)


_settled: set[str] = set()  # runs this process is set up for


def settle(job: Job, services: Services) -> None:
    """Set up a worker process: user files, config, words packs."""
    if job.run in _settled:
        return
    for file in job.files:
        if not Path(file).is_file():
            raise BadInput(
                f"A worker cannot find {file}; the file must exist at that path on every machine."
            )
        registry.add_file(Path(file))
    use_config(job.config)
    if job.rates and services.shared_rates:
        use_turnstile(CallLimiter(services.shared_rates(job)))
    store.know_packs(job.out)
    _settled.add(job.run)


def work(
    job: Job, shard: Shard, services: Services = NO_SERVICES, tell: Tell | None = None
) -> Result:
    """Play the missing episodes of a shard and store each when it ends."""
    location = store.place(job.out)
    wait_for_writers(location, shard)
    stored_ids = store.survey(location, shard.concerns).finished
    missing = [order for order in shard.orders if order[0] not in stored_ids]
    is_taken_over, failure = False, ""
    with ProgressCounter(
        location, job, shard, Meter(shard.budget, job.config), tell, missing
    ) as notes:
        try:
            _play(job, shard, missing, notes, services)
        except store.TakenOver:
            is_taken_over = True
        except RunFailed as error:  # what the shard used so far still counts
            failure = str(error)
    tally = msgspec.structs.replace(notes.tally, calls_left=0)
    if is_taken_over:  # stored episodes are found when the shard is played again
        tally = msgspec.structs.replace(tally, done=0, found=0, censored=0, failed=0)
    return Result(shard.label, tally, notes.seconds, is_taken_over, failed=failure)


def _play(
    job: Job, shard: Shard, missing: Sequence[Order], notes: ProgressCounter, services: Services
) -> None:
    """Play and store missing episodes while the claim holds."""
    location = store.place(job.out)

    def ours() -> bool:
        return not shard.claim or _stands(location, shard.claim, job.run)

    if missing and not local.plays_here(missing, job.config, job.cache):
        if services.play_with_provider is None:
            raise BadInput("These episodes need a provider's model, but this run cannot reach one.")
        arguments = (job.study, missing, job.out, notes.meter, job.cache, job.display, shard.label)
        services.play_with_provider(*arguments, notes.add, ours)
    elif missing:
        tables = services.table_writer() if job.tables and services.table_writer else None
        with store.Writer(location, shard.label, ours) as writer:

            def keep(episode: Episode, replay: Trajectory) -> None:
                line, read_back = writer.add(episode)
                if tables is not None:
                    tables.add(line, read_back, replay)
                notes.add(episode)

            local.play_here(missing, keep, notes.meter)
        if tables is not None and writer.file:
            tables.keep(job.out)


def _stands(location: Place, claim: str, run: str) -> bool:
    """Return whether a claim is valid: it exists, is the run's own, and is the shard's latest."""
    shard, _, number = claim.rpartition(".")
    others = (name.rpartition(".") for name in location.names("claims") if name != claim)
    heirs = [n for name, _, n in others if name == shard and n.isdigit() and int(n) > int(number)]
    try:
        return not heirs and location.read(f"claims/{claim}") == run.encode()
    except FileNotFoundError:
        return False


def wait_for_writers(location: Place, shard: Shard) -> None:
    """Wait until workers of a dead run have finished writing to this shard."""
    patience = time.monotonic() + WAIT_SECONDS
    while store.has_living_writer(location, shard.concerns):
        if time.monotonic() > patience:
            raise BadInput(
                f"Another process has been writing shard {shard.name} of {location} for a minute; "
                "stop it and run the same command again."
            )
        time.sleep(0.05)


class ProgressCounter:
    """A counter of the episodes that a worker has stored, which publishes its counts in the store.

    With models it reports every second, because the first episode may take minutes. A worker in
    another process has no `tell`; the run reads its published counts.
    """

    def __init__(
        self,
        location: Place,
        job: Job,
        shard: Shard,
        meter: Meter,
        tell: Tell | None,
        missing: Sequence[Order],
    ) -> None:
        self._at, self.meter, self._tell = location, meter, tell
        self._found = len(shard) - len(missing)
        self._name = note_name(job.run, shard.label)
        self._done = self._censored = self._failed = 0
        self._since, self._noted = time.monotonic(), False
        self._note_lock = Lock()
        self._began = self._first = self._last = time.perf_counter()
        self._waiting = Counter(alike(setup) for _, _, setup in missing)
        self._calls: dict[str, list[int]] = {}  # by kind: episodes, total calls
        self._over_calls = 0  # calls of finished episodes
        self._over = Event()
        self._busy, self._limited = time.process_time(), waited_for_rates()
        self._ticks = bool(missing) and kind_of(missing[0]) != "bots"
        self._thread = Thread(target=self._tick, daemon=True)

    def __enter__(self) -> ProgressCounter:
        if self._ticks:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the worker's file of progress counts, which the shard's result replaces."""
        self._over.set()
        if self._ticks:
            self._thread.join()
            if self._tell is not None:  # a run that is stopped here gets no result of the shard
                self._tell(self.tally)
        if self._noted:
            with suppress(OSError):
                self._at.remove(self._name)

    def _tick(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            self._publish()

    def _publish(self) -> None:
        """Report the counts, and publish them in the store every two seconds."""
        if self._tell is not None:
            self._tell(self.tally)
        with self._note_lock:
            if time.monotonic() - self._since < NOTE_SECONDS:
                return
            with suppress(OSError):  # a full disk is reported where episodes are stored
                self._at.write(self._name, msgspec.json.encode(self.tally))
            self._since, self._noted = time.monotonic(), True

    def add(self, episode: Episode) -> None:
        """Count one stored episode."""
        end, self._last = episode.end, time.perf_counter()
        self._first = self._first if self._done else self._last
        self._done += 1
        self._censored += isinstance(end, Censored)
        self._failed += isinstance(end, Censored) and end.cause == "fault"
        kind = alike(episode.setup)
        self._waiting[kind] -= 1
        if self._tell is not None and self._ticks:
            calls = calls_of(episode)
            self._over_calls += calls
            if not isinstance(end, Censored):
                counted = self._calls.setdefault(kind, [0, 0])
                counted[0], counted[1] = counted[0] + 1, counted[1] + calls
        self._publish()

    @property
    def seconds(self) -> float:
        """Seconds of play, without the start-up of a fresh process."""
        if self._done < 2:
            return self._last - self._began
        return (self._last - self._first) * self._done / (self._done - 1)

    @property
    def tally(self) -> EpisodeCounts:
        m = self.meter
        counted = (self._done, self._found, self._censored, self._failed)
        return EpisodeCounts(
            *counted,
            m.calls,
            m.tokens,
            m.money,
            m.unpriced,
            m.guessed,
            self._calls_left(),
            time.process_time() - self._busy if self._tell is not None and self._ticks else 0.0,
            waited_for_rates() - self._limited,
            m.failed,
            m.words,
        )

    def _calls_left(self) -> int:
        """Estimate the calls of waiting episodes from finished episodes of the same kind.

        Returns 0 if nothing has finished yet.
        """
        episodes, calls = (sum(n[i] for n in self._calls.values()) for i in (0, 1))
        if not episodes:
            return 0
        usual = calls / episodes
        calls_each = {
            kind: count_and_calls[1] / count_and_calls[0]
            for kind, count_and_calls in self._calls.items()
        }
        calls_expected = sum(n * calls_each.get(kind, usual) for kind, n in self._waiting.items())
        begun = self.meter.calls - self._over_calls  # calls of episodes in progress
        return max(round(calls_expected - begun), 0)


def note_name(run: str, shard: str) -> str:
    """Return the path, within the store, of the file in which a worker publishes its progress
    counts."""
    return f"notes/{run}.{shard}.json"


def take_note(location: Place, run: str, shard: str) -> EpisodeCounts:
    """Remove the last file of progress counts of a dead worker, and return the resources that it
    reports as used."""
    name = note_name(run, shard)
    try:
        counts = msgspec.json.decode(location.read(name), type=EpisodeCounts)
        location.remove(name)
    except OSError:
        return EpisodeCounts()
    return msgspec.structs.replace(counts, done=0, found=0, censored=0, failed=0, calls_left=0)
