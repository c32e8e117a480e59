"""Names of models: aliases of sally.toml work everywhere; a wrong name suggests the right one."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.prompt.model import ModelKind
from sally.core.registry import registry
from sally.models.stub import always

STUDY = """
name = "named"
about = "a model named by its alias"
[[cells]]
name = "ipd"
instances = [{id = "ipd", game = "ipd", params = {rounds = 1}}]
lineups = [
    {agent = {player = "language", params = {model = "mine"}}, partner = {player = "random"}}
]
"""
FULL_NAME = "stub:weights-3"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stub = ModelKind("stub", "answers at once", lambda name: always("Option: J"))
    monkeypatch.setitem(registry._added["models"], "stub", stub)
    monkeypatch.setattr(registry, "_results", {})  # lists cached before or here end with the test
    Path("sally.toml").write_text(f'[models.mine]\nname = "{FULL_NAME}"\n')
    Path("named.toml").write_text(STUDY)


def stored_models(out: Path) -> set[str]:
    episodes = store.load(out).episodes.values()
    return {str(episode.setup.lineup["agent"].params["model"]) for episode in episodes}


def test_alias_works_in_a_study_and_the_record_holds_the_full_name(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["run", "named.toml", "--out", "out"], catch_exceptions=False)
    assert done.exit_code == 0 and stored_models(tmp_path / "out") == {FULL_NAME}
    sally.run("named.toml", "again")
    assert stored_models(tmp_path / "again") == {FULL_NAME}


def test_alias_works_in_play() -> None:
    lineup = {"agent": ("language", {"model": "mine"}), "partner": "random"}
    episode = sally.play("ipd", lineup, rounds=1)
    assert episode.setup.lineup["agent"].params["model"] == FULL_NAME


@pytest.mark.parametrize(
    ("name", "meant"),
    [("gpt-4o", "openai/gpt-4o"), ("claude-3-5-haiku", "anthropic/claude-3-5-haiku"),
     ("mime", "mine"), ("embeded", "embedded")],
)  # fmt: skip
def test_wrong_name_suggests_the_right_one(name: str, meant: str) -> None:
    lineup = {"agent": ("language", {"model": name}), "partner": "random"}
    calls = [
        lambda: sally.play("ipd", lineup),
        lambda: sally.run("quickstart_model", model=name),
        lambda: sally.plan("quickstart_model", model=name),
        lambda: sally.evaluate(name),
    ]
    for call in calls:
        with pytest.raises(BadInput, match=rf"no model named '{name}'; did you mean {meant}"):
            call()
