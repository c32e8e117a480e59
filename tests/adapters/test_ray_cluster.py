"""Ray for real: two nodes on this machine, and a study that outlives what happens to them.

The nodes are processes of their own, started by their command and ended by their ids.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from sally import store
from sally.adapters.executors.lookup import executor
from sally.core.errors import BadInput
from sally.core.log.events import to_line
from sally.runner.routing import order_servers
from sally.runner.run import run_study
from sally.store import Contents
from tests.adapters.inspect.server import serving
from tests.fixtures.warm import GAMES, Forked, warm
from tests.runner.test_executors import ALL_GAMES, FILE, count_stored, lines, until, users_file

if find_spec("ray") is None:
    warnings.warn("RAY IS NOT INSTALLED: nothing of it was tested", stacklevel=1)
    pytest.skip("Ray is not installed", allow_module_level=True)

__all__ = ["users_file"]  # a fixture
ROOT = Path(__file__).parents[2]
# Ray makes a token in the home folder for a cluster of its own, and then wants it here, too.
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_AUTH_MODE": "disabled",
    "LAB_KEY": "no secret",
    # A node whose plug was pulled is missed after three seconds instead of fifteen; one that is
    # only busy has five to answer each time.
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_health_check_timeout_ms": "5000",
}
NODE = (
    "--node-ip-address=127.0.0.1",
    "--num-cpus=1",
    "--object-store-memory=80000000",
    "--disable-usage-stats",
    "--include-log-monitor=false",
    "--block",
)


class Node:
    """A node of a cluster: a process with a session of its own, and all that it started."""

    def __init__(self, *args: str, log: Path) -> None:
        ray = str(Path(sys.executable).parent / "ray")
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                [ray, "start", *args, *NODE],
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, **QUIET},
                start_new_session=True,
            )

    def members(self, named: str = "") -> list[int]:
        """The processes of the node, or those whose title contains a text."""
        results = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
                title = (folder / "cmdline").read_bytes().decode(errors="replace")
            except (OSError, IndexError):
                continue
            if session == self.process.pid and named in title:
                results.append(int(folder.name))
        return results

    def kill(self) -> None:
        """As if the plug were pulled."""
        for pid in self.members():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()


def free_port() -> int:
    """A port below those that the system hands out, so that nobody is given it meanwhile."""
    first = 20_000 + os.getpid() % 10_000
    for port in range(first, first + 1000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("a thousand ports in a row are taken")


class TwoNodes:
    """A head and a second node."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.nodes: list[Node] = []
        self.address = f"127.0.0.1:{free_port()}"

    def start(self) -> None:
        port = self.address.rpartition(":")[2]
        head = ("--head", f"--port={port}", "--include-dashboard=false")
        self.head = self._started(*head, f"--temp-dir={self._folder}/ray")
        self.second = self._started(f"--address={self.address}")

    def both(self) -> None:
        """A second node joins where the one before was killed."""
        if self.second.process.poll() is not None:
            self.second = self._started(f"--address={self.address}")

    def _started(self, *args: str) -> Node:
        log = self._folder / f"node{len(self.nodes)}.log"
        node = Node(*args, log=log)
        self.nodes.append(node)

        def ready() -> bool:
            data = log.read_bytes()
            assert node.process.poll() is None, f"RAY DOES NOT START HERE: {data.decode()}"
            return b"Ray runtime started" in data

        until(ready, 300)
        return node


@pytest.fixture(scope="module")
def cluster() -> Iterator[TwoNodes]:
    folder = Path(tempfile.mkdtemp(prefix="sr"))  # short: sockets are in it, and names have ends
    two = TwoNodes(folder)
    try:
        two.start()
        yield two
    finally:
        for node in two.nodes:
            node.kill()
        rmtree(folder, ignore_errors=True)


STUDY = """
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
lineups = grid(agent=player_spec("random"), partner=player_spec("dawdles", seconds=0.005))
STUDY = Study("dawdling", "", (Cell("ipd", (instance("ipd", rounds=4),), lineups, repeats=300),))
"""


def begin_run(cwd: Path, *args: str) -> Forked:
    """A driver of its own."""
    env = {**os.environ, **QUIET, "PYTHONPATH": str(ROOT)}
    return warm(*GAMES, "sally.adapters.executors.ray:_import_ray").start(
        [sys.executable, *args], cwd=cwd, env=env
    )


def sally_run(study: str, out: Path, cluster: TwoNodes, cwd: Path) -> Forked:
    """`sally run` as a user would type it."""
    (cwd / "dawdling.py").write_text(STUDY)
    args = ["--use", str(FILE), "--use", "dawdling.py", "run", study, "--out", str(out)]
    return begin_run(cwd, "-m", "sally", *args, "--on", f"ray://{cluster.address}", "--json")


def read_output(run: Forked) -> dict[str, Any]:
    out, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    fields: dict[str, Any] = json.loads(out)
    return fields


def load_complete(out: Path, expected: int) -> Contents:
    contents = store.load(out)
    assert (len(contents.finished_ids), contents.doubled, contents.bad) == (expected, 0, [])
    return contents


def at_work(node: Node) -> Callable[[], bool]:
    return lambda: bool(node.members("ray::_work_on_shard"))


def comes(true: Callable[[], bool], run: Forked) -> None:
    """Wait for something to happen while the run goes on."""

    def seen() -> bool:
        assert run.poll() is None, run.communicate()
        return true()

    until(seen, 300)


def test_records_from_ray_equal_local_records_byte_for_byte(
    cluster: TwoNodes, tmp_path: Path
) -> None:
    run = begin_run(ROOT, "-c", BYTES, cluster.address, str(tmp_path / "ray"))
    _, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    contents = run_study(ALL_GAMES, tmp_path / "here")
    assert lines(load_complete(tmp_path / "ray", 140)) == lines(contents)
    assert all(to_line(e) for e in contents.episodes.values())


BYTES = """
import sys
from sally.adapters.executors.lookup import executor
from sally.runner.run import play_missing
from tests.runner.test_executors import ALL_GAMES
play_missing(ALL_GAMES, sys.argv[2], on=executor("ray://" + sys.argv[1]))
"""


MODELLED = """
from sally.core.registry.study import Cell, Study, instance, player_spec
lineups = ({"agent": player_spec("language"), "partner": player_spec("tit_for_tat")},)
STUDY = Study("modelled", "", (Cell("ipd", (instance("ipd", rounds=2),), lineups, repeats=40),))
"""
CONFIG = """
[models.lab]
name = "openai-api/lab/fixed"
base_urls = {servers}
api_key_env = "LAB_KEY"
calls_per_minute = {rate}
"""


COUNTED = """
import sys
import ray
from sally.adapters.executors import ray as on_ray
from sally.cli import main

class Counting(on_ray.TokenBuckets):
    asked = 0
    def wait(self, model, used):
        self.asked += 1
        return super().wait(model, used)
    def count(self):
        return self.asked

def keeper(cluster, job):
    keepers.append(made(cluster, job))
    return keepers[-1]

keepers, made = [], on_ray.Cluster._keeper
on_ray.TokenBuckets, on_ray.Cluster._keeper = Counting, keeper
ray.init(address=sys.argv.pop(1), log_to_driver=False)  # outlives the run, and so do the keepers
try:
    main()
finally:
    asked = [ray.get(keeper.count.remote()) for keeper in keepers]
    print("asked", *asked, file=sys.stderr)
"""


def test_calls_of_both_nodes_share_one_rate_limiter(cluster: TwoNodes, tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="the servers speak the language of openai-api")
    cluster.both()
    (tmp_path / "modelled.py").write_text(MODELLED)
    with serving() as server, serving() as two:
        servers = [server.address, two.address]
        config = CONFIG.format(servers=json.dumps(servers), rate=6000)
        (tmp_path / "sally.toml").write_text(config)
        args = ["--use", "modelled.py", "run", "modelled", "--model", "lab", "--out", "o"]
        args += ["--on", f"ray://{cluster.address}", "--json"]
        run = begin_run(tmp_path, "-c", COUNTED, cluster.address, *args)
        out, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    contents = load_complete(tmp_path / "o", 40)
    assert json.loads(out)["spent"]["calls"] == 80 == server.calls + two.calls
    assert "asked 80" in err.splitlines()
    for episode in contents.episodes.values():  # an episode keeps its server, on whichever node
        assert episode.used["agent"]["address"] == order_servers(servers, episode.id)[0]


def test_new_driver_finishes_the_run_of_a_killed_driver(cluster: TwoNodes, tmp_path: Path) -> None:
    out = tmp_path / "o"
    killed = sally_run("dawdling", out, cluster, tmp_path)
    comes(lambda: out.exists() and count_stored(out) >= 60, killed)
    killed.kill()
    killed.communicate()
    ids_before = store.survey(out).finished
    fields = read_output(sally_run("dawdling", out, cluster, tmp_path))
    assert (fields["episodes"], fields["not_run"], fields["doubled"]) == (300, 0, 0)
    assert 60 <= len(ids_before) < 300
    assert ids_before <= load_complete(out, 300).finished_ids


def test_study_survives_a_worker_and_then_a_node(cluster: TwoNodes, tmp_path: Path) -> None:
    cluster.both()
    out = tmp_path / "o"
    run = sally_run("dawdling", out, cluster, tmp_path)
    comes(at_work(cluster.head), run)
    comes(at_work(cluster.second), run)  # so it runs on both
    comes(lambda: count_stored(out) >= 30, run)
    os.kill(cluster.head.members("ray::_work_on_shard")[0], signal.SIGKILL)
    comes(lambda: count_stored(out) >= 100, run)
    cluster.second.kill()
    fields = read_output(run)
    assert (fields["episodes"], fields["not_run"], fields["doubled"]) == (300, 0, 0)
    load_complete(out, 300)
    assert store.place(out).names("claims") == []


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("127.0.0.1:1", "cannot be reached: Connection refused"),
        ("head", "named as ray://HOST:PORT"),
    ],
)
def test_unreachable_cluster_is_refused_with_one_message(address: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        executor(f"ray://{address}")
