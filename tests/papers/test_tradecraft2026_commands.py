"""`sally rules check`: sound rulesets pass, faults are named, bad paths are one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sally import store
from sally.analysis.episodes import stores
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.frames.replays import replay_for_measures
from sally.games.tradecraft.actions import DONE, PASS
from sally.games.tradecraft.assessor import DIMENSIONS, ORDERS
from sally.models.stub import Scripted
from sally.papers.tradecraft2026 import commands
from sally.runner.config import use_config
from tests.games.tradecraft.table import match_of, play

FAULTY = """
name = "faulty"
given = ["log"]
[tags]
empty = []
[recipes]
shapeless = ["log -> 4 plank", "2 plank -> log", "moon -> cheese", "#empty -> nothing"]
"""


def check(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["paper", "tradecraft2026", "rules", "check", *args])
    return done.exit_code, done.output


@pytest.mark.parametrize("name", ["minecraft_core", "alchemy"])
def test_shipped_rulesets_are_sound(name: str) -> None:
    code, text = check(name)
    assert code == 0
    assert "Nothing is wrong." in text


def test_faults_are_listed_with_exit_code_1(tmp_path: Path) -> None:
    path = tmp_path / "faulty.toml"
    path.write_text(FAULTY)
    code, text = check(str(path), "--json")
    assert code == 1
    problems = " ".join(json.loads(text)["problems"])
    for fault in ("Goods from nothing", "moon cannot be reached", "Tag #empty has no members"):
        assert fault in problems
    code, text = check(str(path))
    assert code == 1
    assert "Problems found" in text


def test_path_without_ruleset_is_refused_with_one_message(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("name = ")
    for path in (tmp_path / "none.toml", tmp_path / "bad.toml"):
        done = CliRunner().invoke(cli, ["paper", "tradecraft2026", "rules", "check", str(path)])
        assert isinstance(done.exception, BadInput)
        assert path.name in str(done.exception)


def test_unknown_shipped_ruleset_is_refused_with_a_list() -> None:
    done = CliRunner().invoke(cli, ["paper", "tradecraft2026", "rules", "check", "alchemist"])
    assert "shipped name: minecraft_core, alchemy." in str(done.exception)


# --- the assessor ---------------------------------------------------------------------------------


def rate(path: Path, *grades: tuple[int, bool, float]) -> Path:
    lines = [
        {"turn": turn, "player": "p1", "episode": "e", "first_order": first, "persuasion": grade}
        for turn, first, grade in grades
    ]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def test_ratings_are_summarized_as_shares_and_means(tmp_path: Path) -> None:
    path = rate(tmp_path / "one.jsonl", (1, True, 0.25), (2, False, 0.75))
    done = CliRunner().invoke(cli, ["paper", "tradecraft2026", "ratings", str(path), "--json"])
    rows = {row["dimension"]: row for row in json.loads(done.output)}
    assert (rows["first_order"]["share"], rows["first_order"]["turns"]) == (0.5, 2)
    assert rows["persuasion"]["mean"] == 0.5
    assert rows["second_order"] == {
        "dimension": "second_order",
        "turns": 0,
        "share": None,
        "mean": None,
    }


def test_two_raters_are_compared_on_common_items(tmp_path: Path) -> None:
    path = rate(tmp_path / "one.jsonl", (1, True, 0.25), (2, False, 0.75))
    two = rate(tmp_path / "two.jsonl", (1, True, 0.5), (3, True, 0.5))
    done = CliRunner().invoke(
        cli, ["paper", "tradecraft2026", "ratings", str(path), str(two), "--json"]
    )
    rows = {row["dimension"]: row for row in json.loads(done.output)}
    assert (rows["first_order"]["units"], rows["first_order"]["percent"]) == (1, 1.0)
    assert rows["persuasion"]["mae"] == 0.25


def finish_episode(retries: int = 2) -> Episode:
    match = match_of(max_turns=1, retries=retries)
    return play(match, ("p1", PASS), ("p1", DONE), ("p2", DONE)).episode()


def test_model_judges_each_game_of_a_store_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "store").mkdir()
    with store.Writer(tmp_path / "store") as writer:
        writer.add(finish_episode())
    judged = {"turn": 1, "reason": "It passes.", **dict.fromkeys(ORDERS, False)}
    judged |= dict.fromkeys(DIMENSIONS, 0.5)
    text = json.dumps({"judgements": [{**judged, "player": p} for p in ("p1", "p2")]})
    monkeypatch.setattr(registry, "model", lambda name: Scripted(lambda *_: text))
    out = tmp_path / "ratings.jsonl"
    order = [
        "paper",
        "tradecraft2026",
        "assess",
        str(tmp_path / "store"),
        "--model",
        "embedded",
        "--out",
        str(out),
    ]
    first, second = (CliRunner().invoke(cli, order).output for _ in range(2))
    assert "judged: 1 of 1; judged earlier: 0" in first
    assert "judged: 0 of 1; judged earlier: 1" in second
    assert len(out.read_text("utf-8").splitlines()) == 2
    (line,) = (tmp_path / "ratings.jsonl.calls").read_text("utf-8").splitlines()
    assert json.loads(line)["calls"][0]["reply"] == text
    assert "used: 1 calls" in first and "used: 0 calls" in second


def test_judging_stops_when_its_budget_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "store").mkdir()
    with store.Writer(tmp_path / "store") as writer:
        for retries in (1, 2, 3):
            writer.add(finish_episode(retries))
    monkeypatch.setattr(registry, "model", lambda name: Scripted(lambda *_: "none"))
    order = ["paper", "tradecraft2026", "assess", str(tmp_path / "store"), "--model", "embedded"]
    order += ["--out", str(tmp_path / "ratings.jsonl"), "--budget-tokens", "1"]
    output = CliRunner().invoke(cli, order).output
    assert "the budget is spent: 1 calls" in output and "judged: 0 of 3" in output


def test_judge_may_be_named_by_an_alias(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "store").mkdir()
    with store.Writer(tmp_path / "store") as writer:
        writer.add(finish_episode(1))
    config = tmp_path / "sally.toml"
    config.write_text('[models.judge]\nname = "embedded"\n', "utf-8")
    names = []
    monkeypatch.setattr(
        registry, "model", lambda name: names.append(name) or Scripted(lambda *_: "none")
    )
    order = ["paper", "tradecraft2026", "assess", str(tmp_path / "store"), "--model", "judge"]
    order += ["--out", str(tmp_path / "ratings.jsonl"), "--config", str(config)]
    assert "judged: 0 of 1" in CliRunner().invoke(cli, order).output
    assert names == ["embedded"]
    missing = CliRunner().invoke(cli, [*order[:5], "jugde", *order[6:]])
    use_config(None)
    assert isinstance(missing.exception, BadInput) and "judge" in str(missing.exception)


def test_only_games_to_be_judged_are_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "store").mkdir()
    with store.Writer(tmp_path / "store") as writer:
        for retries in (1, 2, 3):
            writer.add(finish_episode(retries))
    ids = list(store.load(tmp_path / "store").episodes)
    out = tmp_path / "ratings.jsonl"
    out.write_text(json.dumps({"turn": 1, "player": "p1", "episode": ids[0]}) + "\n", "utf-8")
    replayed = []

    def noted(episode: Episode) -> Played:
        replayed.append(episode.id)
        return replay_for_measures(episode)

    monkeypatch.setattr(commands, "replay_for_measures", noted)
    monkeypatch.setattr(registry, "model", lambda name: Scripted(lambda *_: "none"))
    order = [
        "paper",
        "tradecraft2026",
        "assess",
        str(tmp_path / "store"),
        "--model",
        "embedded",
        "--out",
        str(out),
    ]
    assert "judged: 0 of 3" in CliRunner().invoke(cli, [*order, "--limit", "1"]).output
    assert replayed == ids[1:2]


def test_games_of_a_store_are_replayed_one_at_a_time_and_bad_lines_quarantined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.claim(tmp_path, store.Manifest("test", asks="test"))
    with store.Writer(tmp_path) as writer:
        for retries in (1, 2):
            writer.add(finish_episode(retries))
    (lines,) = tmp_path.glob("*.jsonl")
    lines.write_bytes(lines.read_bytes() + b"{broken\n")
    replayed = []
    monkeypatch.setattr(stores, "replay_for_measures", lambda episode: replayed.append(episode.id))
    games = stores.games_in(tmp_path, "tradecraft", quarantine=False)
    next(games)
    assert len(replayed) == 1 and not (tmp_path / "quarantine").exists()
    assert len(list(stores.games_in(tmp_path, "tradecraft"))) == 2
    assert (tmp_path / "quarantine").exists()


def problems(*args: str) -> list[dict[str, str]]:
    done = CliRunner().invoke(cli, ["paper", "tradecraft2026", "problems", *args, "--json"])
    assert done.exit_code == 0, done.output
    return list(json.loads(done.output))


def test_problem_list_states_the_trades_needed_per_player() -> None:
    sets = {row["set"]: row for row in problems()}
    assert sets["minecraft_core_2p_2"]["ruleset"] == "minecraft_core"
    records = problems("minecraft_core_3p_2")
    assert len(records) == 12
    assert {trades for row in records for trades in row["trades"].split("/")} == {"1", "2"}
    done = CliRunner().invoke(cli, ["paper", "tradecraft2026", "problems", "minecraft"])
    assert isinstance(done.exception, BadInput)
