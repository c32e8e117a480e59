"""A log of Inspect holds the episodes that its run stored, and they come out of it again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log, write_eval_log

from sally import store
from sally.adapters.inspect.import_logs import import_episodes
from sally.adapters.inspect.tasks import study_task
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.runner import gates
from sally.runner.check import check
from tests.adapters.inspect.tables import PICK, mock, stored, tiny

registry.add("studies", "tiny_logged", tiny())


def evaluate(folder: Path) -> Path:
    """The folder with the store and the logs of an eval, as a user of Inspect runs one."""
    inspect_eval(
        study_task("tiny_logged"),
        task_args={"out": str(folder / "out")},
        log_dir=str(folder / "logs"),
        display="none",
        model=mock(PICK),
    )
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return evaluate(tmp_path_factory.mktemp("eval"))


def test_refusals_in_earlier_run_do_not_block_new_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = gates.Gate()
    gone.final_refusals = gates.MOST_FINAL
    monkeypatch.setitem(gates._gates, ("gone", "", 1.0), gone)
    assert gates.hopeless()
    assert len(stored(evaluate(tmp_path) / "out")) == 2


def test_log_import_yields_same_episodes_as_the_store(run: Path, tmp_path: Path) -> None:
    result = import_episodes(run / "logs")
    episodes = {episode.id: episode for episode in stored(run / "out")}
    assert {e.id for e in result.episodes} == episodes.keys() and len(episodes) == 2
    for episode in result.episodes:
        assert episode.events == episodes[episode.id].events
        assert episode.used["log"]["file"].endswith((".eval", ".json"))
    checked = check(result.episodes)
    assert (checked.replayed, checked.mismatches, checked.unchecked) == (2, [], [])
    command = ["import", "inspect", str(run / "logs"), "--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(cli, command, catch_exceptions=False)
    assert json.loads(done.output)["counts"]["stored"] == 2
    assert len(store.load(tmp_path / "out").episodes) == 2


def test_sample_without_an_episode_is_named(run: Path, tmp_path: Path) -> None:
    (file,) = (run / "logs").iterdir()
    log = read_eval_log(str(file))
    assert log.samples
    log.samples[0].store.pop("episode")
    write_eval_log(log, str(tmp_path / "cut.json"))
    result = import_episodes(tmp_path)
    assert len(result.episodes) == 1
    assert "contains no episode of Sally" in result.lines[0]


def test_non_log_file_is_refused_with_one_message(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no Inspect log"):
        import_episodes(tmp_path)
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(BadInput, match=r"x\.json is not an Inspect log"):
        import_episodes(tmp_path)
