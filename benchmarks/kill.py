"""Kill -9 whoever writes, at random moments, resume, and count: nothing lost, nothing twice.

A campaign runs short studies, each in a store of its own. While one runs, a process is killed: the
writer (a run that plays itself), a worker of a pool, or the driver of a pool. Then the same study
is resumed, and killed again, until it is through; then the store must hold every episode once, to
the byte as an undisturbed run has it. Episodes whose storing was told before a kill must be there
after it: what a kill may cost is what was in flight.

    python benchmarks/kill.py            200 kills
    python benchmarks/kill.py --long     1,000 kills
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sally import store
from sally.adapters.executors.pool import Pool
from sally.core.log.events import to_line
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner.executors import Executor, Local
from sally.runner.local import orders
from sally.runner.run import Progress, play_missing, run_study

ROLES = ("writer", "writer", "worker", "driver")  # pools take a second to start: fewer of them
POOL = 2


def study(seed: int) -> Study:
    """A second of play or so, in a few shards."""
    players = grid(
        agent=(player_spec("random"), player_spec("tabular")), partner=player_spec("tit_for_tat")
    )
    cell = Cell("ipd", (instance("ipd", rounds=40),), players, repeats=200)
    return Study("kill", "for the kill campaign", (cell,), seed=seed)


@dataclass
class Count:
    """What the campaign has seen."""

    kills: Counter[str] = field(default_factory=Counter)
    studies: int = 0
    expected: int = 0
    found: int = 0
    doubled: int = 0
    torn: int = 0  # lines that a kill cut in two; each was in flight
    lost: int = 0  # told to be stored before a kill, and not there after it
    differing: int = 0  # studies whose records are not those of an undisturbed run


class Victim:
    """A run in a process of its own, which tells of every episode that it has stored."""

    def __init__(self, planned: Study, out: Path, executor: Executor) -> None:
        read_end, write_end = os.pipe()
        self.pid = os.fork()  # a fork has all imports: a new interpreter would take a second
        if self.pid == 0:
            os.close(read_end)
            code = 1
            try:

                def say(now: Progress) -> None:
                    os.write(write_end, struct.pack("q", now.kept + now.done))

                play_missing(planned, out, watch=say, on=executor)
                code = 0
            finally:
                os._exit(code)
        os.close(write_end)
        os.set_blocking(read_end, False)
        self._told = read_end
        self._code: int | None = None

    def count_told(self) -> int:
        """How many episodes it has said that there are."""
        received = b""
        while part := self._read():
            received += part
        return max((n for (n,) in struct.iter_unpack("q", received)), default=0)

    def _read(self) -> bytes:
        try:
            return os.read(self._told, 65536)
        except BlockingIOError:
            return b""

    def exit_code(self) -> int | None:
        """Its exit code, once it is over."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int:
        """Its exit code, when it is over."""
        code = self._wait(0)
        assert code is not None
        return code

    def _wait(self, flags: int) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, flags)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def workers(self) -> list[int]:
        try:
            children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        except OSError:
            return []
        return [int(pid) for pid in children.split()]

    def close(self) -> None:
        if self.exit_code() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()
        os.close(self._told)


def count_stored(out: Path) -> int:
    """Whole lines on disk."""
    files = store.episode_files(out)
    return sum(line.endswith(b"\n") for path in files for _, line in store.lines_of(path))


def until_killed(role: str, planned: Study, out: Path, chance: random.Random) -> tuple[bool, int]:
    """Run until a kill at a random moment, or to the end; what it had told, and whether killed."""
    victim = Victim(planned, out, Local() if role == "writer" else Pool(POOL))
    try:
        moment = _moment(role, victim, out, chance)
        while time.monotonic() < moment:
            if (code := victim.exit_code()) is not None:
                _refuse_failure(code)
                return False, 0
            time.sleep(0.0005)
        if role == "worker":
            return _kill_worker(victim, chance), 0
        n_told = victim.count_told()
        os.kill(victim.pid, signal.SIGKILL)
        n_told = max(n_told, victim.count_told())
        return victim.wait() == -signal.SIGKILL, n_told if role == "writer" else 0
    finally:
        victim.close()


def _moment(role: str, victim: Victim, out: Path, chance: random.Random) -> float:
    """A moment while episodes are being stored; a pool is waited for until it stores one."""
    if role == "writer":
        return time.monotonic() + chance.uniform(0, 0.35)
    stored_before = count_stored(out)
    while count_stored(out) == stored_before:
        if victim.exit_code() is not None:
            return time.monotonic()
        time.sleep(0.002)
    return time.monotonic() + chance.uniform(0, 0.2)


def _kill_worker(victim: Victim, chance: random.Random) -> bool:
    """Kill one worker and let the driver, which sends its shard again, come to the end."""
    killed = False
    if workers := victim.workers():
        with suppress(ProcessLookupError):
            os.kill(chance.choice(workers), signal.SIGKILL)
            killed = True
    _refuse_failure(victim.wait())
    return killed


def _refuse_failure(code: int) -> None:
    if code != 0:
        sys.exit(f"A run that nobody killed ended with {code}.")


def campaign(kills: int, roles: Sequence[str], seed: int, folder: Path) -> Count:
    """Studies, one after another, until so many processes were killed."""
    count, chance = Count(), random.Random(seed)
    while count.kills.total() < kills:
        planned = study(count.studies)
        out = folder / str(count.studies)
        size = len(orders(planned))
        while count_stored(out) < size:
            role = chance.choice(roles)
            killed, n_told = until_killed(role, planned, out, chance)
            if killed:
                count.kills[role] += 1
                n_stored = count_stored(out)
                count.lost += max(n_told - n_stored, 0)
            if count.kills.total() >= kills:
                break
        _verify(planned, out, folder / f"{count.studies}-undisturbed", size, count)
        if sys.stderr.isatty():
            print(f"\r{count.kills.total()} of {kills} kills", end="", file=sys.stderr)
    return count


def _verify(planned: Study, out: Path, other_folder: Path, size: int, count: Count) -> None:
    stored, undisturbed = run_study(planned, out), run_study(planned, other_folder)
    count.studies += 1
    count.expected += size
    count.found += len(stored.finished_ids)
    count.doubled += stored.doubled
    count.torn += len(stored.bad)
    lines = {to_line(e) for e in stored.episodes.values()}
    count.differing += lines != {to_line(e) for e in undisturbed.episodes.values()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--long", action="store_true", help="1,000 kills")
    options.add_argument("--role", choices=sorted({*ROLES}), help="kill nobody else")
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    kills = 1000 if arguments.long else arguments.kills
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run_study(study(0), Path(folder) / "warm")  # imports, once, before any fork
        roles = (arguments.role,) if arguments.role else ROLES
        count = campaign(kills, roles, arguments.seed, Path(folder))
    whom = ", ".join(f"{n} of a {role}" for role, n in sorted(count.kills.items()))
    print(f"kills      {count.kills.total():8,d}   ({whom})")
    print(
        f"studies    {count.studies:8,d}   in {time.monotonic() - began:.0f} s, seed "
        f"{arguments.seed}"
    )
    print(f"expected   {count.expected:8,d}   episodes")
    print(f"found      {count.found:8,d}")
    print(f"doubled    {count.doubled:8,d}")
    print(f"torn       {count.torn:8,d}   lines cut by a kill, set aside, played again")
    print(f"lost       {count.lost:8,d}   of those that were told to be stored before a kill")
    print(f"differing  {count.differing:8,d}   studies with other records than an undisturbed run")
    bad = count.expected - count.found or count.doubled or count.lost or count.differing
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
