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
def serve_s3(command: str) -> Iterator[str]:
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
    output = begun.communicate()[0].decode()
    if begun.returncode:
        sys.exit(f"sally {' '.join(command)} ended with {begun.returncode}:\n{output}")
    return output


def check(title: str, address: str, local: store.Contents) -> None:
    """Whether a store holds what a local one does, each episode once."""
    stored = store.load(address)
    is_same = stored.episodes == local.episodes
    print(
        f"{title:34s} {len(stored.episodes):6d} of {len(local.episodes)} episodes, "
        f"{stored.doubled} doubled, {len(stored.bad)} torn, "
        f"{'the same' if is_same else 'NOT THE SAME'}"
    )
    if not is_same or stored.doubled or stored.bad:
        sys.exit(1)


def kill_runs(run: tuple[str, ...], address: str, seed: int) -> int:
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
    local, bucket = str(folder / "local"), f"s3://{BUCKET}"
    through("run", str(study), "--out", local)
    expected = store.load(local)
    first_run = ("run", str(study), "--out", f"{bucket}/one", "--on", "pool:2")
    through(*first_run)
    check("run", f"{bucket}/one", expected)
    through(*first_run)
    check("run again: nothing is missing", f"{bucket}/one", expected)
    for command in (("watch", f"{bucket}/one", "--once"), ("score", f"{bucket}/one")):
        through(*command)
    print(f"{'replay':34s} {through('replay', f'{bucket}/one').strip().splitlines()[-1]}")
    second_run = ("run", str(study), "--out", f"{bucket}/two")
    runs = [sally(*second_run), sally(*second_run)]
    ended = [begun.communicate()[0] and begun.returncode for begun in runs]
    check(f"two runs at once, ended {ended}", f"{bucket}/two", expected)
    third_run = ("run", str(study), "--out", f"{bucket}/three", "--on", "pool:2")
    hit = kill_runs(third_run, f"{bucket}/three", seed)
    through(*third_run)
    check(f"{hit} times kill -9, then resumed", f"{bucket}/three", expected)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default="moto_server")
    parser.add_argument("--repeats", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if shutil.which(options.server) is None:
        raise BadInput(f"There is no {options.server}; `pip install 'moto[server]'` brings one.")
    with serve_s3(options.server) as url, tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        import s3fs  # type: ignore[import-untyped]

        s3fs.S3FileSystem().mkdir(BUCKET)
        campaign(Path(folder), options.repeats, options.seed)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor {used.ru_utime + used.ru_stime:.0f} s, the server's among it")


if __name__ == "__main__":
    main()
