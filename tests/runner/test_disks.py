"""A full disk and a read-only folder: one clear sentence, and no damage."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sally import store
from sally.runner.run import run_study
from sally.studies.quickstart import STUDY
from tests.fixtures.warm import SALLY, warm

ROOT = Path(__file__).parents[2]


def sally(*args: str, cwd: Path, limit: int = 0) -> subprocess.CompletedProcess[str]:
    """A command, in a process whose files may not grow beyond a limit."""
    bound = (
        f"import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); \
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); "
        * bool(limit)
    )
    code = f"{bound}from sally.cli import main; main()"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "300"}
    return warm(*SALLY).run([sys.executable, "-c", code, *args], cwd=cwd, env=env)


def undamaged(out: Path, least: int = 1) -> int:
    """What is stored can be read, and a run elsewhere goes on from it; how much there was."""
    contents = store.load(out)
    assert (contents.bad, contents.doubled) == ([], 0)
    assert least <= len(contents.finished_ids) < 180
    return len(contents.finished_ids)


def test_file_size_limit_ends_the_run_with_one_message(tmp_path: Path) -> None:
    done = sally("run", "quickstart", "--out", "o", cwd=tmp_path, limit=60_000)
    assert done.returncode == 1, done.stderr
    assert "sally: The episode could not be stored: " in done.stderr
    assert "Traceback" not in done.stderr
    undamaged(tmp_path / "o", 3)
    repeated_contents = run_study(STUDY, tmp_path / "o")
    assert (
        len(repeated_contents.finished_ids),
        repeated_contents.doubled,
        repeated_contents.bad,
    ) == (
        180,
        0,
        [],
    )


FULL = """
import os, time
from pathlib import Path
from sally.models.stub import Scripted
from sally.store import writer

MODEL = lambda name: Scripted(lambda messages, settings: "")  # a user's file must define something
plain, lines = os.write, 0


class FullDisk:
    \"\"\"The module `os`, but the disk is full at the third line: the worker that comes first is
    killed after a part of it, while the other one is told.\"\"\"

    def __getattr__(self, name):
        return getattr(os, name)

    def write(self, fd, line):
        global lines
        lines += 1
        if lines != 3:
            return plain(fd, line)
        try:
            Path("first").touch(exist_ok=False)
        except FileExistsError:
            while not Path("stuck").exists():
                time.sleep(0.01)
            return plain(fd, line[:30])
        plain(fd, line[:40])
        Path("stuck").touch()
        time.sleep(300)


writer.os = FullDisk()
"""


def test_disk_that_fills_up_under_two_workers_leaves_no_bad_line(tmp_path: Path) -> None:
    """The run ends when one worker reports the full disk; it then kills the other one, which has
    written a part of a line."""
    (tmp_path / "full.py").write_text(FULL)
    out = tmp_path / "o"
    process = sally("--use", "full.py", "run", "quickstart", "--out", "o", "--on", "pool:2",
                 cwd=tmp_path)  # fmt: skip
    assert process.returncode == 1, process.stderr
    assert "The episode could not be stored: No space left on device." in process.stderr
    (partly,) = out.glob("*.open")
    assert not partly.read_bytes().endswith(b"\n")
    assert undamaged(out, 4) == 4
    assert not (out / "quarantine").exists()
    repeated_contents = run_study(STUDY, out)
    assert (
        len(repeated_contents.finished_ids),
        repeated_contents.doubled,
        repeated_contents.bad,
    ) == (
        180,
        0,
        [],
    )


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 kB of our own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    process = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)], capture_output=True
    )
    if process.returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_full_disk_ends_the_run_with_one_message_and_it_can_resume(mount: Path) -> None:
    (mount / "ballast").write_bytes(b"x" * 150_000)
    done = sally("run", "quickstart", "--out", "o", cwd=mount)
    assert done.returncode == 1, done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    undamaged(mount / "o")
    (mount / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,size=30m", str(mount)], check=True)
    repeated_contents = run_study(STUDY, mount / "o")
    assert (
        len(repeated_contents.finished_ids),
        repeated_contents.doubled,
        repeated_contents.bad,
    ) == (
        180,
        0,
        [],
    )


def test_read_only_disk_can_be_read_but_not_written(mount: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=30m", str(mount)], check=True)
    few = run_study(STUDY, mount / "o", limit=1)
    subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)
    files_before = sorted(mount.rglob("*"))
    refused = sally("run", "quickstart", "--out", "o", cwd=mount)
    new = sally("run", "quickstart", "--out", "new", cwd=mount)
    read = sally("score", "o", "--json", cwd=mount)
    watched = sally("watch", "o", "--once", cwd=mount)
    for run in (refused, new):
        assert run.returncode == 2
        assert "Read-only file system" in run.stderr and "Traceback" not in run.stderr
        assert run.stderr.count("\n") == 1
    assert (read.returncode, watched.returncode) == (0, 0)
    assert f"{len(few.episodes)} of {len(few.episodes)} episodes done" in watched.stdout
    assert sorted(mount.rglob("*")) == files_before


@pytest.mark.skipif(os.geteuid() == 0, reason="a mode does not hold root")
def test_folder_without_write_permission_is_refused(tmp_path: Path) -> None:
    (tmp_path / "o").mkdir(mode=0o500)
    done = sally("run", "quickstart", "--out", "o", cwd=tmp_path)
    assert done.returncode == 2 and "Permission denied" in done.stderr
