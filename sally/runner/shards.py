"""Shards: episodes that travel together to whoever plays them, as names and JSON.

A run that has claimed a shard may have several workers play it, each a part of its own.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from traceback import format_exc
from typing import Any

import msgspec

from sally import store
from sally.core.errors import BadInput, RunFailed
from sally.core.log.events import Censored, Episode
from sally.core.match.replay import Replay
from sally.core.registry import registry
from sally.runner import local
from sally.runner.budget import Budget, Meter
from sally.runner.config import Config, use_config
from sally.runner.kinds import alike, calls_of, kind_of
from sally.runner.orders import Order, Packed
from sally.runner.rates import Turnstile, use_turnstile
from sally.store import Place

TICK_SECONDS = 1.0  # how often a run with models says how far it is
NOTE_SECONDS = 2.0  # how often a worker notes how far it is
WAIT_SECONDS = 60.0  # for a writer of this shard that has not ended yet


class Tally(msgspec.Struct, frozen=True):
    """What was played, and what it took."""

    done: int = 0  # episodes that were put into the store
    found: int = 0  # that were there when their turn came, though not when the run began
    censored: int = 0  # of them without a result
    failed: int = 0  # of those, by a fault
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    unpriced: int = 0  # calls whose price nobody knows
    guessed: int = 0  # calls whose tokens the provider did not count
    calls_left: int = 0  # that are still to be made, as far as finished episodes tell

    @property
    def stored(self) -> int:
        """Episodes that are in the store and were not when the run began."""
        return self.done + self.found

    def __add__(self, other: Tally) -> Tally:
        mine, theirs = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return Tally(*(a + b for a, b in zip(mine, theirs, strict=True)))


class Job(msgspec.Struct, frozen=True):
    """What all shards of a run have in common."""

    study: str
    out: str  # the store
    run: str = ""  # who hands the shards out
    files: tuple[str, ...] = ()  # users' files for the shelf, by path
    config: Config = Config()
    through: str = ""  # `module:function` that plays episodes whose models have a provider
    cache: bool = False
    display: str = "none"
    note: str = ""  # `module:class` that makes columns for the index of episodes in hand
    rates: str = ""  # `module:function` that asks whoever keeps providers' rates for all workers


class Shard(msgspec.Struct, frozen=True, omit_defaults=True):
    """Episodes to be played by one worker."""

    name: str
    packed: Packed
    budget: Budget = Budget()  # what it may use at most
    claim: str = ""  # the file that says whose it is
    part: str = ""  # the run's token and a number, where others play the rest of it

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def orders(self) -> list[Order]:
        """Its episodes, put together."""
        return self.packed.orders()

    @property
    def label(self) -> str:
        """What its files, its note and its result are called."""
        return f"{self.name}.{self.part}" if self.part else self.name

    def concerns(self, file: str) -> bool:
        """Whether a file may hold any of these episodes; that of the run's other parts does not."""
        if not file.startswith(self.name):
            return False
        run, _, number = self.part.rpartition("-")
        ours = number and file.startswith(f"{self.name}.{run}-")
        return not ours or file.startswith(f"{self.label}-")


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a shard."""

    shard: str  # its label
    tally: Tally = Tally()
    seconds: float = 0.0  # that its episodes took
    taken: bool = False  # by another run, while ours stood still
    lost: str = ""  # how its worker died; what it has not stored is to be played again
    refused: str = ""  # a sentence, after which the run cannot go on
    failed: str = ""  # a sentence on what kept the run from going on
    broke: str = ""  # the trace of an error of ours or of a user's file


Tell = Callable[[Tally], None]


# --- playing ------------------------------------------------------------------------------------


def worked(job: bytes, shard: bytes) -> bytes:
    """Play a shard in a process of its own: JSON in, JSON out, whatever happens."""
    given = msgspec.json.decode(shard, type=Shard)
    try:
        plan = msgspec.json.decode(job, type=Job)
        settle(plan)
        found = work(plan, given)
    except BadInput as why:
        found = Result(given.label, refused=str(why))
    except RunFailed as why:
        found = Result(given.label, failed=str(why))
    except Exception:
        found = Result(given.label, broke=format_exc())
    return msgspec.json.encode(found)


_settled: set[str] = set()  # the runs that this process is ready for


def settle(job: Job) -> None:
    """Make a fresh process ready: the user's files, the config, the packs of the store."""
    if job.run in _settled:
        return
    for file in job.files:
        if not Path(file).is_file():
            raise BadInput(f"A worker finds no file {file}; every machine needs it at that path.")
        registry.add_file(Path(file))
    use_config(job.config)
    if job.rates:
        use_turnstile(Turnstile(_by_name(job.rates)(job)))
    store.know_packs(job.out)
    _settled.add(job.run)


def work(job: Job, shard: Shard, tell: Tell | None = None) -> Result:
    """Play what the store lacks of a shard; every episode is stored as it ends."""
    at = store.place(job.out)
    _wait_for_writers(at, shard)
    there = store.survey(at, shard.concerns).finished
    missing = [order for order in shard.orders if order[0] not in there]
    taken = False
    with Notes(at, job, shard, Meter(shard.budget, job.config), tell, missing) as notes:
        try:
            _play(job, shard, missing, notes)
        except store.TakenOver:
            taken = True
    tally = msgspec.structs.replace(notes.tally, calls_left=0)
    if taken:  # what of it is stored is found there when the shard comes up again
        tally = msgspec.structs.replace(tally, done=0, found=0, censored=0, failed=0)
    return Result(shard.label, tally, notes.seconds, taken)


def _play(job: Job, shard: Shard, missing: Sequence[Order], notes: Notes) -> None:
    """Have the missing episodes of a shard played and stored, as long as it is ours."""
    at = store.place(job.out)

    def ours() -> bool:
        return not shard.claim or _stands(at, shard.claim, job.run)

    if missing and kind_of(missing[0]) == "providers":
        given = (job.study, missing, job.out, notes.meter, job.cache, job.display, shard.label)
        _by_name(job.through)(*given, notes.add, ours)
    elif missing:
        columns = _by_name(job.note)() if job.note else None
        with store.Writer(at, shard.label, ours) as writer:

            def keep(episode: Episode, replay: Replay[Any, Any, Any]) -> None:
                line, read_back = writer.add(episode)
                if columns is not None:
                    columns.add(line, read_back, replay)
                notes.add(episode)

            local.play_here(missing, keep, notes.meter)
        if columns is not None and writer.file:
            columns.keep(job.out, writer.file)


def _stands(at: Place, claim: str, run: str) -> bool:
    """Whether a claim is still there, the run's, and the last one to its shard."""
    shard, _, number = claim.rpartition(".")
    others = (name.rpartition(".") for name in at.names("claims") if name != claim)
    heirs = [n for name, _, n in others if name == shard and n.isdigit() and int(n) > int(number)]
    try:
        return not heirs and at.read(f"claims/{claim}") == run.encode()
    except FileNotFoundError:
        return False


def _by_name(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    if not function:
        raise BadInput(
            "These episodes need a provider's model, and this run has no way to reach one."
        )
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def _wait_for_writers(at: Place, shard: Shard) -> None:
    """A worker whose run died may be at its last episode; it is not played a second time."""
    patience = time.monotonic() + WAIT_SECONDS
    while store.has_living_writer(at, shard.concerns):
        if time.monotonic() > patience:
            raise BadInput(
                f"Another process has been writing shard {shard.name} of {at} for a minute and "
                "does not end; end it, and the same command goes on."
            )
        time.sleep(0.05)


class Notes:
    """Counts what a worker has stored, and leaves word of it for whoever watches the store.

    Where models play, it tells every second how far they are: the first episode may take minutes.
    """

    def __init__(
        self,
        at: Place,
        job: Job,
        shard: Shard,
        meter: Meter,
        tell: Tell | None,
        missing: Sequence[Order],
    ) -> None:
        self._at, self.meter, self._tell = at, meter, tell
        self._found = len(shard) - len(missing)
        self._name = note_name(job.run, shard.label)
        self._done = self._censored = self._failed = 0
        self._since, self._noted = time.monotonic(), False
        self._began = self._first = self._last = time.perf_counter()
        self._waiting = Counter(alike(setup) for _, _, setup in missing)
        self._calls: dict[str, list[int]] = {}  # of like episodes: how many, calls of all
        self._over_calls = 0  # of all episodes that are over, with a result or without
        self._over = Event()
        self._ticks = bool(missing) and tell is not None and kind_of(missing[0]) != "bots"

    def __enter__(self) -> Notes:
        if self._ticks:
            Thread(target=self._tick, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the note back: from here on the result says it."""
        self._over.set()
        if self._noted:
            with suppress(OSError):
                self._at.remove(self._name)

    def _tick(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            assert self._tell is not None
            self._tell(self.tally)

    def add(self, episode: Episode) -> None:
        """Count one episode that is stored."""
        end, self._last = episode.end, time.perf_counter()
        self._first = self._first if self._done else self._last
        self._done += 1
        self._censored += isinstance(end, Censored)
        self._failed += isinstance(end, Censored) and end.cause == "fault"
        kind = alike(episode.setup)
        self._waiting[kind] -= 1
        if self._ticks:
            calls = calls_of(episode)
            self._over_calls += calls
            if not isinstance(end, Censored):
                counted = self._calls.setdefault(kind, [0, 0])
                counted[0], counted[1] = counted[0] + 1, counted[1] + calls
        if self._tell is not None:
            self._tell(self.tally)
        if time.monotonic() - self._since >= NOTE_SECONDS:
            with suppress(OSError):  # a disk that is full is told where episodes are stored
                self._at.put(self._name, msgspec.json.encode(self.tally))
            self._since, self._noted = time.monotonic(), True

    @property
    def seconds(self) -> float:
        """What the episodes took, without what a fresh process loads before the first is over."""
        if self._done < 2:
            return self._last - self._began
        return (self._last - self._first) * self._done / (self._done - 1)

    @property
    def tally(self) -> Tally:
        m = self.meter
        counted = (self._done, self._found, self._censored, self._failed)
        return Tally(
            *counted, m.calls, m.tokens, m.money, m.unpriced, m.guessed, self._calls_left()
        )

    def _calls_left(self) -> int:
        """What the waiting episodes will take if they are like those that ended.

        0 where that cannot be said: nothing has ended, or what is played takes longer than that.
        """
        episodes, calls = (sum(n[i] for n in self._calls.values()) for i in (0, 1))
        if not episodes:
            return 0
        usual = calls / episodes
        each = {kind: found[1] / found[0] for kind, found in self._calls.items()}
        wanted = sum(n * each.get(kind, usual) for kind, n in self._waiting.items())
        begun = self.meter.calls - self._over_calls  # by episodes that are in progress
        return max(round(wanted - begun), 0)


def note_name(run: str, shard: str) -> str:
    """Where a worker's note stands in the store."""
    return f"notes/{run}.{shard}.json"


def take_note(at: Place, run: str, shard: str) -> Tally:
    """What a worker that died had used by its last note; what it stored is counted when found."""
    name = note_name(run, shard)
    try:
        left = msgspec.json.decode(at.read(name), type=Tally)
        at.remove(name)
    except OSError:
        return Tally()
    return msgspec.structs.replace(left, done=0, found=0, censored=0, failed=0, calls_left=0)
