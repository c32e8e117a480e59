"""`sally run` with a provider: by alias, within a budget, and on from where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Censored
from sally.runner.config import use_config
from tests.adapters.inspect.server import Server, serving

pytest.importorskip("openai", reason="the local server speaks the language of openai-api")

EPISODES, ROUNDS = 6, 4
CALL = 55  # tokens, as the local server counts
STUDY = f"""
name = "tiny"
about = "a tiny study"
[[cells]]
name = "ipd"
instances = [{{id = "ipd", game = "ipd", params = {{rounds = {ROUNDS}}}}}]
repeats = {EPISODES}
lineups = [
    {{agent = {{player = "language", params = {{}}}}, partner = {{player = "random"}}}}
]
"""
CONFIG = """
[models.lab]
name = "openai-api/lab/{name}"
base_url = "{address}"
api_key_env = "LAB_KEY"
settings = {{temperature = 0}}
[limits]
episodes_at_once = 2
{more}
"""
PRICES = """
[prices]
date = 2026-11-01
per_million."openai-api/lab/{name}" = {{input = 100.0, output = 1000.0}}
"""


@pytest.fixture()
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> Iterator[Server]:
    monkeypatch.setenv("LAB_KEY", "abcdefgh")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(STUDY)
    name = request.node.name
    with serving() as running:
        config = CONFIG.format(name=name, address=running.address, more=PRICES.format(name=name))
        (tmp_path / "sally.toml").write_text(config)
        yield running
    use_config(None)


def run(*arguments: str) -> dict[str, Any]:
    command = ["run", "tiny.toml", "--model", "lab", "--out", "out", "--json", *arguments]
    done = CliRunner().invoke(cli, command, catch_exceptions=False)
    fields: dict[str, Any] = json.loads(done.stdout)
    return fields


def test_money_budget_stops_run_and_resume_completes_it(server: Server) -> None:
    item = (50 * 100.0 + 5 * 1000.0) / 1e6
    first = run("--budget", str(item * ROUNDS * 2))  # enough for two episodes
    assert first["spent"]["calls"] == server.calls
    assert item * ROUNDS * 2 <= first["spent"]["money"] <= item * (ROUNDS * 2 + 2)
    contents = store.load(Path("out"))
    ends = [e.end for e in contents.episodes.values()]
    assert {end.cause for end in ends if isinstance(end, Censored)} <= {"budget"}
    assert len(contents.episodes) < EPISODES  # what was not begun left nothing
    assert first["not_run"] == EPISODES - len(contents.finished_ids) > 0
    calls, kept_count = server.calls, len(contents.finished_ids)
    second = run()
    assert (second["not_run"], second["episodes"], second["censored"]) == (0, EPISODES, 0)
    assert server.calls - calls == (EPISODES - kept_count) * ROUNDS  # only what was missing
    costs = [
        call.usage["cost"]
        for episode in store.load(Path("out")).episodes.values()
        for event in episode.events
        for call in getattr(event, "calls", ())
    ]
    assert costs == pytest.approx([item] * EPISODES * ROUNDS)


def test_budget_in_tokens_needs_no_price(server: Server) -> None:
    Path("sally.toml").write_text(Path("sally.toml").read_text().partition("[prices]")[0])
    with pytest.raises(BadInput, match=r"price of openai-api/lab/.* is unknown"):
        run("--budget", "1")
    assert server.calls == 0
    assert run("--budget-tokens", str(3 * CALL))["not_run"] == EPISODES
    assert 3 <= server.calls <= 4


def test_alias_settings_are_stored_in_the_lineup(server: Server) -> None:
    run("--limit", "1", "--set", "max_tokens=7")
    (episode,) = store.load(Path("out")).episodes.values()
    agent = episode.setup.lineup["agent"].params
    assert agent["settings"] == {"temperature": 0, "max_tokens": 7}
    assert agent["model"].startswith("openai-api/lab/")


def test_planned_calls_equal_calls_of_the_run(server: Server) -> None:
    done = CliRunner().invoke(cli, ["plan", "tiny.toml", "--model", "lab", "--json"])
    (bill,) = json.loads(done.stdout)["bills"]
    assert server.calls == 0  # nothing is spent on a plan
    run()
    assert bill["count"]["calls"] == server.calls
    assert bill["cost"] > 0


def test_large_study_is_played_in_several_evals(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Path("sally.toml")
    config.write_text(config.read_text().replace("base_url =", 'transport = "inspect"\nbase_url ='))
    monkeypatch.setattr("sally.adapters.inspect.run.EVAL_SIZE", 4)
    assert run()["episodes"] == EPISODES
    assert len(list(Path("out/inspect").glob("*.eval"))) == 2
    assert server.calls == EPISODES * ROUNDS
