"""Tests side by side: each is run once, and what happens to it is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = {
    "test_a.py": """
import os, pytest, warnings
def test_passes(tmp_path): tmp_path.joinpath("mine").touch()
def test_fails():
    print("said before")
    assert [1] == [2]
def test_dies(): os._exit(7)
def test_after_the_dead(): warnings.warn("look here")
""",
    "test_b.py": """
import pytest
@pytest.fixture(scope="module")
def room():
    yield []
    raise ValueError("the room cannot be left")
@pytest.mark.parametrize("n", range(5))
def test_shares(room, n):
    room.append(n)
    assert len(room) == n + 1
@pytest.mark.skip(reason="not today")
def test_skipped(): pass
""",
}


def pytest_says(folder: Path, *args: str) -> str:
    """What a run of the small files prints."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.forks", "--forks", "2"]
    plain = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--rootdir", str(folder))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [*command, *plain, *args, *FILES], cwd=folder, env=env, capture_output=True, text=True
    )
    return done.stdout + done.stderr


def test_every_test_is_run_and_reported_once(tmp_path: Path) -> None:
    pytest_output = pytest_says(tmp_path, "-rfs")
    assert "2 failed, 7 passed, 1 skipped, 1 warning, 1 error in" in pytest_output
    assert "assert [1] == [2]" in pytest_output and "said before" in pytest_output
    assert "FAILED test_a.py::test_dies - the process that ran it ended with 7" in pytest_output
    assert "the room cannot be left" in pytest_output
    assert "look here" in pytest_output and "not today" in pytest_output


def test_run_stops_at_the_first_failure_if_asked_to(tmp_path: Path) -> None:
    pytest_output = pytest_says(tmp_path, "-x", "--forks", "1")
    assert "1 failed" in pytest_output and "stopping after 1 failures" in pytest_output
    assert "test_shares" not in pytest_output
