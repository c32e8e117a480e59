"""Coordinate several runs on one store by heartbeats and by claims on shards.

A run renews `runs/RUN.json`, which also holds its progress. It claims a shard by creating
`claims/SHARD.0`; the claim of a dead run is taken over by creating `claims/SHARD.1`, and so on, so
that exactly one of two runs succeeds. Claims only save work: episodes are unique because a worker
checks which ids of its shard are stored before it plays.

Runs that cut the study into different shards (`--on local` keeps episodes with models together)
play one after the other: a run publishes its cut, then looks for a living run with another one.
Since both do so in this order, at most one of two goes on.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread

import msgspec

from sally.core.errors import BadInput, not_written
from sally.runner.shards import EpisodeCounts
from sally.store import Place

BEAT_SECONDS = 2.0
RUN_NAME = re.compile(r"[\w.-]{1,300}")  # the form made by `new_name`; never a path
SILENT_SECONDS = 30.0  # a run on another machine without a heartbeat for this long is dead


class Machine(msgspec.Struct, frozen=True):
    """The identity of a process: host, boot, process id and start time."""

    host: str
    pid: int
    born: str  # start time of the process in kernel ticks; empty if unknown

    @property
    def is_here(self) -> bool:
        return self.host == this_host()

    def lives(self) -> bool:
        """Return whether the process, which must belong to this machine, is alive."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return _born(self.pid) == self.born


def this_host() -> str:
    """Return the identity of this host, boot and process-id namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
        room = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        boot = room = ""
    return f"{socket.gethostname()}/{boot}/{room}"


def _born(pid: int) -> str:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]  # zombie processes count as dead


def this_process() -> Machine:
    return Machine(this_host(), os.getpid(), _born(os.getpid()))


class Run(msgspec.Struct, frozen=True):
    """The published state of a run."""

    name: str
    study: str
    on: str  # the executor
    machine: Machine
    began: float  # by the run's clock
    wanted: int = 0
    kept: int = 0  # episodes found finished at its start
    tally: EpisodeCounts = EpisodeCounts()  # totals of finished shards
    in_flight: dict[str, int] = {}  # shard -> number of episodes
    given_up: int = 0  # episodes of shards whose workers died repeatedly
    now: float = 0.0  # time of the last heartbeat, by the same clock
    seconds: float = 0.0  # from its start to the last heartbeat, by a clock that does not jump
    cut: str = ""  # identifies how it cuts the study into shards; "": it waits for another run
    beat: int = 0
    ended: str = ""  # finished, stopped, or the reason for failure
    done: int | None = None  # wanted episodes in the store at its end
    currency: str = ""


def new_name() -> str:
    return f"{socket.gethostname().partition('.')[0]}-{os.getpid()}-{secrets.token_hex(3)}"


def read_runs(location: Place) -> list[Run]:
    """Return all published runs, oldest first."""
    runs = [run for name in location.names("runs") if (run := _read(location, name)) is not None]
    return sorted(runs, key=lambda run: run.began)


def _read(location: Place, name: str) -> Run | None:
    try:
        return msgspec.json.decode(location.read(f"runs/{name}"), type=Run)
    except FileNotFoundError:
        return None  # removed since it was listed
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{location}/runs/{name} does not describe a run: {error}.") from None
    except OSError as error:
        raise not_written(f"{location}/runs/{name} cannot be read", error) from None


class Heartbeat:
    """A background task that publishes the state of a run every two seconds until the run ends."""

    def __init__(self, location: Place, state: Callable[[], Run]) -> None:
        self._at, self._state, self.ended = location, state, ""
        self._stop, self._number, self._begun = Event(), 0, time.monotonic()
        self._thread = Thread(target=self._go_on, daemon=True)
        self._lock = Lock()

    def write(self) -> None:
        """Publish the state of the run now."""
        with self._lock:  # the last write must hold the latest state
            self._number += 1
            now = msgspec.structs.replace(
                self._state(),
                now=time.time(),
                seconds=time.monotonic() - self._begun,
                beat=self._number,
                ended=self.ended,
            )
            self._at.write(f"runs/{now.name}.json", msgspec.json.encode(now))

    def _go_on(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            with suppress(OSError):  # a full disk is reported where episodes are stored
                self.write()

    def __enter__(self) -> Heartbeat:
        try:
            self.write()
        except OSError as error:
            raise not_written(f"The store {self._at} cannot be written", error) from None
        self._thread.start()
        return self

    def __exit__(self, *exception_info: object) -> None:
        self._stop.set()
        self._thread.join()
        with suppress(OSError):
            self.write()


class LivenessMonitor:
    """A monitor of which runs are alive: by process id on this machine, by heartbeat on others."""

    def __init__(self, silent: float = SILENT_SECONDS) -> None:
        self._silent = silent
        self._seen: dict[str, tuple[int, float]] = {}  # last heartbeat, and when it was first seen

    def is_dead(self, run: Run | None) -> bool:
        if run is None or run.ended:
            return True
        if run.machine.is_here:
            return not run.machine.lives()
        beat, since = self._seen.get(run.name, (-1, 0.0))
        if beat != run.beat:
            since = time.monotonic()
            self._seen[run.name] = (run.beat, since)
        return time.monotonic() - since > self._silent


class Claims:
    """The shards claimed by this run."""

    def __init__(self, location: Place, me: str, silent: float = SILENT_SECONDS) -> None:
        self._at, self._me, self._watch = location, me, LivenessMonitor(silent)
        self._mine: dict[str, list[str]] = {}  # shard -> claim files to remove afterwards

    def take(self, shard: str) -> bool:
        """Claim a shard; return whether this run owns it."""
        if shard in self._mine:
            return True
        try:
            return self._claim(shard)
        except OSError as error:
            raise not_written(f"The store {self._at} cannot be written", error) from None

    def _claim(self, shard: str) -> bool:
        claim_names = [n for n in self._at.names("claims") if n.startswith(f"{shard}.")]
        last = max((self._number(name) for name in claim_names), default=-1)
        if claim_names and not self._is_free(f"{shard}.{last}"):
            return False
        name = f"{shard}.{last + 1}"
        # A claim ends with its run, so it need not survive a power cut; waiting for the disk would
        # delay every shard.
        if not self._at.create(f"claims/{name}", self._me.encode(), lasting=False):
            return False
        self._mine[shard] = [*claim_names, name]
        return True

    def _number(self, claim: str) -> int:
        """Return the number of a claim file; raise BadInput if its name has no number."""
        number = claim.rpartition(".")[2]
        if not (number.isascii() and number.isdigit() and len(number) < 9):
            raise BadInput(
                f"{self._at}/claims/{claim} is not a claim: its name must end in a number; "
                "remove it and run the same command again."
            )
        return int(number)

    def _is_free(self, claim: str) -> bool:
        try:
            owner = self._owner(claim)
        except FileNotFoundError:
            return False  # just released; checked again later
        except OSError as error:
            raise BadInput(
                f"{self._at}/claims/{claim} cannot be read: {error.strerror}; remove it and run "
                "the same command again."
            ) from None
        return self._watch.is_dead(_read(self._at, f"{owner}.json") if owner else None)

    def release(self, shard: str) -> None:
        """Give up the claim on a shard."""
        with suppress(OSError):
            for name in self._mine.pop(shard, ()):
                self._at.remove(f"claims/{name}")

    def file_of(self, shard: str) -> str:
        """Return the claim file of a shard."""
        return self._mine[shard][-1]

    def other_cuts(self, cut: str) -> tuple[list[Run], list[Run]]:
        """Return the runs that cut the study into other shards: those alive, and those dead.

        Their shards have other names, so claims on this run's shards do not keep them away.
        """
        others = [
            run for run in read_runs(self._at) if run.name != self._me and run.cut not in ("", cut)
        ]
        dead = [run for run in others if self._watch.is_dead(run)]
        return [run for run in others if run not in dead], dead

    def take_shards_of(self, dead: Collection[Run]) -> list[str]:
        """Claim the shards of dead runs, so that workers that survived them stop; return their
        names."""
        names, shards = {run.name for run in dead}, list[str]()
        for claim in self._at.names("claims"):
            with suppress(FileNotFoundError):
                shard = claim.rpartition(".")[0]
                if self._owner(claim) in names and self.take(shard):
                    shards.append(shard)
        return shards

    def lose(self, shard: str) -> None:
        """Forget a shard that another run has taken over."""
        self._mine.pop(shard, None)

    def release_all(self) -> None:
        for shard in list(self._mine):
            self.release(shard)

    def tidy(self, ended: bool) -> None:
        """Remove the state files of dead runs and, before play (`ended`), those of finished runs.

        Before play, claims of dead runs are kept so that they can be taken over. After play they
        are removed, because a run that was killed between the last episode of a shard and the
        release of its claim leaves a claim that no later run needs.
        """
        with suppress(OSError):  # best effort
            owners = {self._me}
            for name in self._at.names("claims"):
                with suppress(FileNotFoundError):
                    owner = self._owner(name)
                    if not ended and owner != self._me and self._is_free(name):
                        self._at.remove(f"claims/{name}")
                    else:
                        owners.add(owner)
            for run in read_runs(self._at):
                if run.name not in owners and (ended or not run.ended) and self._watch.is_dead(run):
                    self._remove(run.name)

    def _remove(self, run: str) -> None:
        self._at.remove(f"runs/{run}.json")
        for note in self._at.names("notes"):
            if note.startswith(f"{run}."):
                self._at.remove(f"notes/{note}")

    def _owner(self, claim: str) -> str:
        """Return the run that owns a claim, or "" if the claim is invalid."""
        run_name = self._at.read(f"claims/{claim}").decode("utf-8", "replace")
        return run_name if RUN_NAME.fullmatch(run_name) else ""
