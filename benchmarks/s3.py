"""Stores at `s3://`, against a local server of that protocol: run, resume, two at once, kills.

    pip install 'moto[server]'              in an environment of its own: it brings 60 packages
    python benchmarks/s3.py --server PATH/TO/moto_server

needs `s3fs` beside Sally. Every run is a process of its own; in the end a store must hold each
episode once, and each as a run in a local folder has it.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sally import store
from sally.core.errors import BadInput

STUDY = """
name = "far"
about = "bots, at an address"

[[cells]]
name = "ipd"
repeats = {repeats}
instances = [{{ id = "ipd-10", game = "ipd", params = {{ rounds = 10 }} }}]
lineups = [{{ agent = {{ player = "random" }}, partner = {{ player = "tit_for_tat" }} }}]
"""
BUCKET = "lab"
KILLS = 5  # of a run, before it may come to its end


@contextmanager
def served(command: str) -> Iterator[str]:
    """A server of its own on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen([command, "-p", str(port)], stdout=quiet, stderr=quiet)
    try:
        for _ in range(300):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def sally(*command: str) -> subprocess.Popen[bytes]:
    """A command of Sally's, begun."""
    return subprocess.Popen(
        [sys.executable, "-m", "sally", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def through(*command: str) -> str:
    """A command of Sally's to its end."""
    begun = sally(*command)
    said = begun.communicate()[0].decode()
    if begun.returncode:
        sys.exit(f"sally {' '.join(command)} ended with {begun.returncode}:\n{said}")
    return said


def check(what: str, where: str, local: store.Contents) -> None:
    """Whether a store holds what a local one does, each episode once."""
    found = store.load(where)
    same = found.episodes == local.episodes
    print(
        f"{what:34s} {len(found.episodes):6d} of {len(local.episodes)} episodes, "
        f"{found.doubled} doubled, {len(found.bad)} torn, {'the same' if same else 'NOT THE SAME'}"
    )
    if not same or found.doubled or found.bad:
        sys.exit(1)


def killed(run: tuple[str, ...], where: str, seed: int) -> int:
    """Kill a run, driver and workers, at moments drawn; how often it was killed in its midst."""
    draw, hit = random.Random(seed), 0
    for _ in range(KILLS):
        begun = sally(*run)
        time.sleep(draw.uniform(1.5, 4.0))
        if begun.poll() is None:
            os.killpg(begun.pid, signal.SIGKILL)
            hit += 1
        begun.communicate()
    return hit


def campaign(folder: Path, repeats: int, seed: int) -> None:
    study = folder / "far.toml"
    study.write_text(STUDY.format(repeats=repeats))
    local, at = str(folder / "local"), f"s3://{BUCKET}"
    through("run", str(study), "--out", local)
    whole = store.load(local)
    one = ("run", str(study), "--out", f"{at}/one", "--on", "pool:2")
    through(*one)
    check("run", f"{at}/one", whole)
    through(*one)
    check("run again: nothing is missing", f"{at}/one", whole)
    for command in (("watch", f"{at}/one", "--once"), ("score", f"{at}/one")):
        through(*command)
    print(f"{'replay':34s} {through('replay', f'{at}/one').strip().splitlines()[-1]}")
    two = ("run", str(study), "--out", f"{at}/two")
    both = [sally(*two), sally(*two)]
    ended = [begun.communicate()[0] and begun.returncode for begun in both]
    check(f"two runs at once, ended {ended}", f"{at}/two", whole)
    three = ("run", str(study), "--out", f"{at}/three", "--on", "pool:2")
    hit = killed(three, f"{at}/three", seed)
    through(*three)
    check(f"{hit} times kill -9, then resumed", f"{at}/three", whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default="moto_server")
    parser.add_argument("--repeats", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if shutil.which(given.server) is None:
        raise BadInput(f"There is no {given.server}; `pip install 'moto[server]'` brings one.")
    with served(given.server) as url, tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        import s3fs  # type: ignore[import-untyped]

        s3fs.S3FileSystem().mkdir(BUCKET)
        campaign(Path(folder), given.repeats, given.seed)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor {used.ru_utime + used.ru_stime:.0f} s, the server's among it")


if __name__ == "__main__":
    main()
