"""Several runs of one study at one store: who is at work, and which shard is whose.

A run beats: it renews `runs/RUN.json`, which also says how far it is. It claims a shard by creating
`claims/SHARD.0`; the claim of a run that no longer beats is passed on by creating `claims/SHARD.1`,
and so on, so that of two heirs one wins. Claims save work. That no episode is there twice does not
rest on them but on ids: whoever gets a shard looks first what is stored of it.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import msgspec

from sally.core.errors import BadInput
from sally.runner.shards import Tally
from sally.store import Place

BEAT_SECONDS = 2.0
RUN_NAME = re.compile(r"[\w.-]{1,300}")  # as `new_name` makes them: never a path
SILENT_SECONDS = 30.0  # a run of another machine that does not beat for so long is dead


class Machine(msgspec.Struct, frozen=True):
    """Where a process runs, as exactly as another process needs to look for it."""

    host: str
    pid: int
    born: str  # of the process, as the kernel counts; empty where it does not say

    @property
    def is_here(self) -> bool:
        return self.host == this_host()

    def lives(self) -> bool:
        """Whether the process, one of this machine, is still there."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return _born(self.pid) == self.born


def this_host() -> str:
    """This machine, this start of it, and the room for process ids that we are in."""
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
    return "" if fields[0] == "Z" else fields[19]  # a zombie is nobody


def this_process() -> Machine:
    return Machine(this_host(), os.getpid(), _born(os.getpid()))


class Run(msgspec.Struct, frozen=True):
    """How a run stands, as it tells everybody."""

    name: str
    study: str
    on: str  # the executor
    machine: Machine
    began: float  # by the clock of its machine
    wanted: int = 0
    kept: int = 0  # finished before it began
    tally: Tally = Tally()  # of shards that are over
    in_flight: dict[str, int] = {}  # shard -> episodes it was sent with
    given_up: int = 0  # episodes of shards whose workers died again and again
    now: float = 0.0  # at its last beat, by the same clock
    beat: int = 0
    ended: str = ""  # finished, stopped, or why it could not go on
    currency: str = ""


def new_name() -> str:
    return f"{socket.gethostname().partition('.')[0]}-{os.getpid()}-{secrets.token_hex(3)}"


def read_runs(at: Place) -> list[Run]:
    """All runs that have told of themselves, the oldest first."""
    found = [run for name in at.names("runs") if (run := _read(at, name)) is not None]
    return sorted(found, key=lambda run: run.began)


def _read(at: Place, name: str) -> Run | None:
    try:
        return msgspec.json.decode(at.read(f"runs/{name}"), type=Run)
    except FileNotFoundError:
        return None  # taken away since it was listed
    except (msgspec.DecodeError, UnicodeDecodeError) as why:
        raise BadInput(f"{at}/runs/{name} does not describe a run: {why}.") from None
    except OSError as why:
        raise BadInput(f"{at}/runs/{name} cannot be read: {why.strerror}.") from None


class Beat:
    """Writes how the run stands, every other second, until it is over."""

    def __init__(self, at: Place, state: Callable[[], Run]) -> None:
        self._at, self._state, self.ended = at, state, ""
        self._stop, self._number = Event(), 0
        self._thread = Thread(target=self._go_on, daemon=True)

    def _write(self) -> None:
        self._number += 1
        now = msgspec.structs.replace(
            self._state(), now=time.time(), beat=self._number, ended=self.ended
        )
        self._at.put(f"runs/{now.name}.json", msgspec.json.encode(now))

    def _go_on(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            with suppress(OSError):  # a full disk is told by whoever stores an episode
                self._write()

    def __enter__(self) -> Beat:
        try:
            self._write()
        except OSError as why:
            raise BadInput(f"The store {self._at} cannot be written: {why.strerror}.") from None
        self._thread.start()
        return self

    def __exit__(self, *why: object) -> None:
        self._stop.set()
        self._thread.join()
        with suppress(OSError):
            self._write()


class Watch:
    """Tells the living from the dead: here by process, elsewhere by whether it still beats."""

    def __init__(self, silent: float = SILENT_SECONDS) -> None:
        self._silent = silent
        self._seen: dict[str, tuple[int, float]] = {}  # beat, and since when it is the last one

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
    """The shards that are ours to play."""

    def __init__(self, at: Place, me: str, silent: float = SILENT_SECONDS) -> None:
        self._at, self._me, self._watch = at, me, Watch(silent)
        self._mine: dict[str, list[str]] = {}  # shard -> the files that go when it is over

    def take(self, shard: str) -> bool:
        """Whether the shard is ours now."""
        if shard in self._mine:
            return True
        try:
            return self._claim(shard)
        except OSError as why:
            raise BadInput(f"The store {self._at} cannot be written: {why.strerror}.") from None

    def _claim(self, shard: str) -> bool:
        there = [n for n in self._at.names("claims") if n.startswith(f"{shard}.")]
        last = max((self._number(name) for name in there), default=-1)
        if there and not self._is_free(f"{shard}.{last}"):
            return False
        name = f"{shard}.{last + 1}"
        # A claim dies with its run, so it need not outlive a power cut: to wait for the disk would
        # hold up everybody, shard by shard.
        if not self._at.create(f"claims/{name}", self._me.encode(), lasting=False):
            return False
        self._mine[shard] = [*there, name]
        return True

    def _number(self, claim: str) -> int:
        """Which claim to its shard a file is; one that is none is named, and nothing is taken."""
        number = claim.rpartition(".")[2]
        if not (number.isascii() and number.isdigit() and len(number) < 9):
            raise BadInput(
                f"{self._at}/claims/{claim} is no claim of a run, which would end in a number; "
                "take it away, and the same command goes on."
            )
        return int(number)

    def _is_free(self, claim: str) -> bool:
        try:
            owner = self._owner(claim)
        except FileNotFoundError:
            return False  # it is over just now; the next look will tell
        except OSError as why:
            raise BadInput(
                f"{self._at}/claims/{claim} cannot be read: {why.strerror}; take it away, and the "
                "same command goes on."
            ) from None
        return self._watch.is_dead(_read(self._at, f"{owner}.json") if owner else None)

    def release(self, shard: str) -> None:
        """The shard is over, or left to others; a claim that stays dies with the run."""
        with suppress(OSError):
            for name in self._mine.pop(shard, ()):
                self._at.remove(f"claims/{name}")

    def file_of(self, shard: str) -> str:
        """The file that says that a shard is ours."""
        return self._mine[shard][-1]

    def lose(self, shard: str) -> None:
        """The shard is another's by now, and so are the files that say so."""
        self._mine.pop(shard, None)

    def release_all(self) -> None:
        for shard in list(self._mine):
            self.release(shard)

    def tidy(self, ended: bool) -> None:
        """Take away what dead runs have left, and if told so what those say that came to an end.

        Their claims stay: they are passed on.
        """
        with suppress(OSError):  # nothing depends on it
            owners = {self._me}
            for name in self._at.names("claims"):
                with suppress(FileNotFoundError):
                    owners.add(self._owner(name))
            for run in read_runs(self._at):
                if run.name not in owners and (ended or not run.ended) and self._watch.is_dead(run):
                    self._remove(run.name)

    def _remove(self, run: str) -> None:
        self._at.remove(f"runs/{run}.json")
        for note in self._at.names("notes"):
            if note.startswith(f"{run}."):
                self._at.remove(f"notes/{note}")

    def _owner(self, claim: str) -> str:
        """The run that a claim names; a claim that names none is nobody's."""
        said = self._at.read(f"claims/{claim}").decode("utf-8", "replace")
        return said if RUN_NAME.fullmatch(said) else ""
