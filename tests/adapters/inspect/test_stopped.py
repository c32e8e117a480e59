"""Runs in processes of their own that are stopped or killed: the next goes on from there."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.runner.progress import look
from tests.adapters.inspect.server import Handler
from tests.adapters.inspect.test_whole_studies import CHAT, config, key
from tests.adapters.inspect.test_whole_studies import command as run_of
from tests.fixtures.warm import INSPECT, warm

__all__ = ["key"]  # a fixture
LONG = 600  # seconds; only a run that hangs takes so long, however busy the machine is

SLOW = """
import time
from sally.core.prompt.model import ModelKind
from sally.models.stub import Scripted

def script(messages, settings):
    time.sleep(0.02)
    return "Option: J"

MODEL = ModelKind("slow", "a model that takes its time", lambda name: Scripted(script))
"""
STUDY = """
name = "tiny"
about = "a tiny study"
[[cells]]
name = "ipd"
instances = [{id = "ipd", game = "ipd", params = {rounds = 4}}]
repeats = 10
arms = {agent = ["their_move"]}
lineups = [
    {agent = {player = "language", params = {strategy = "qa"}}, partner = {player = "tit_for_tat"}}
]
"""


def command(tmp_path: Path) -> list[str]:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "tiny.toml").write_text(STUDY)
    (tmp_path / "sally.toml").write_text("[limits]\nepisodes_at_once = 1\n")
    sally = [sys.executable, "-c", "from sally.cli import main; main()", "--use", "slow.py"]
    return [*sally, "run", "tiny.toml", "--out", "out", "--model"]


@pytest.mark.parametrize("model", ["slow", "sally/slow"])
def test_killed_run_resumes_with_missing_episodes(model: str, tmp_path: Path) -> None:
    typed = command(tmp_path)
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    running = warm(*INSPECT).start([*typed, model], cwd=tmp_path, env=env)
    out = tmp_path / "out"
    deadline = time.monotonic() + LONG
    while not ((out / store.MANIFEST).exists() and store.load(out).episodes):
        assert running.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    contents_before = store.load(out)
    assert 0 < len(contents_before.episodes) < 10
    second_run = warm(*INSPECT).run([*typed, model], cwd=tmp_path, env=env)
    assert second_run.returncode == 0, second_run.stderr
    contents_after = store.load(out)
    assert len(contents_after.episodes) == len(contents_after.finished_ids) == 10
    assert contents_after.doubled == 0  # nothing was played twice


def test_interrupted_run_reports_it_and_can_resume(tmp_path: Path) -> None:
    out, stopped, luck = tmp_path / "out", Event(), random.Random(6)

    def ended() -> int:
        return store.survey(out).episodes if (out / store.MANIFEST).exists() else 0

    def slow(handler: Handler) -> None:
        """Episodes drift apart, and the first that ends holds up the others until the signal."""
        time.sleep(luck.uniform(0, 0.3))
        while ended() and not stopped.wait(0.05):
            pass
        handler.say("Option: J")

    with config(tmp_path, slow) as file:
        arguments = [
            *(sys.executable, "-m", "sally"),
            *run_of("quickstart_model", file, out, "--limit", "4", *CHAT),
        ]
        begun = warm(*INSPECT).start(arguments)
        while not ended():
            assert begun.poll() is None, begun.communicate()
            time.sleep(0.1)
        begun.send_signal(signal.SIGINT)
        try:
            _, output = begun.communicate(timeout=LONG)
        finally:
            stopped.set()
        assert begun.returncode == 130, output
        assert output.strip().splitlines()[-1].startswith("sally: Stopped.")
        assert "Traceback" not in output
        planned = CliRunner().invoke(cli, ["plan", *arguments[4:], "--json"])
        there = json.loads(planned.stdout)["there"]
        assert there > 0 and look(out).done == there  # watch and plan agree
        second_run = warm(*INSPECT).run([*arguments, "--json"], timeout=300)
    assert second_run.returncode == 0, second_run.stderr[-2000:]
    assert json.loads(second_run.stdout)["not_run"] == 0
