"""What `import sally` offers, as a notebook uses it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import msgspec
import pytest

import sally
from sally.cli import cli
from sally.core.errors import BadInput

COMMANDS = {"play", "run", "plan", "replay", "score", "profile", "compare", "crossplay", "audit",
            "reproduce", "report", "export", "pack", "fork", "why",
            "reliability", "contrast", "variance"}  # fmt: skip
TYPES = {"Game", "GameSpec", "Words", "Probe", "Question", "Partner", "Metric", "Strategy",
         "Study", "Cell", "Episode", "Model", "Card", "Board", "Paper", "Seat", "Turn"}  # fmt: skip


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("api") / "store"
    sally.run("quickstart", out, limit=2)
    return out


def test_the_library_offers_what_the_command_line_offers_and_what_authors_need() -> None:
    assert set(cli.list_commands(click.Context(cli))) >= COMMANDS
    assert set(dir(sally)) >= COMMANDS | TYPES | {"load", "testing"}
    for name in sally.__all__:
        assert getattr(sally, name) is not None


def test_importing_sally_loads_nothing_else() -> None:
    said = "import sys, sally; print(len(dir(sally)), 'numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert found.stdout.split()[1] == "False"


def test_a_study_is_run_loaded_scored_and_replayed(held: Path) -> None:
    episodes = sally.load(held)
    assert repr(episodes) == f"<{len(episodes)} episodes of rps, ibs, ipd>"
    assert sally.score(held) == sally.score(episodes)
    assert {row["metric"] for row in sally.score(held, ["reward"])} == {"reward"}
    assert sally.replay(held).mismatches == []
    assert "mismatches" in repr(sally.replay(episodes[0]))
    assert len(repr(episodes[0])) < 200


def test_results_look_short_and_become_frames(held: Path) -> None:
    rows = sally.load(held).rows()
    assert repr(rows).startswith(f"<{len(rows)} rows: episode, cell, game")
    assert rows._repr_html_().count("<tr>") == 21
    frame = rows.pandas()
    assert {"model", "strategy", "settings", "player", "instance"} <= set(frame.columns)
    assert len(frame) == len(rows) == rows.polars().height


def test_a_decision_says_who_chose_what_by_its_name() -> None:
    lineup = {"agent": "random", "partner": "tit_for_tat"}
    episode = sally.play("ipd", lineup, rounds=2, probes={"agent": ["their_move"]})
    rows = sally.decisions([episode])
    for row in rows:
        assert {"player", "participant", "instance", "label", "probe", "seconds"} <= set(row)
        assert row["label"] == "JF"[row["value"]]
        assert row["player"] == lineup[row["seat"]]
    assert {row["probe"] for row in rows} == {None, "their_move"}


def test_an_episode_row_says_model_strategy_and_settings() -> None:
    episode = sally.play("ipd", {"agent": "random", "partner": "random"}, rounds=1)
    params = {"model": "lab/m", "strategy": "cot", "settings": {"temperature": 0.5}}
    lineup = {**episode.setup.lineup, "agent": sally.PlayerSpec("language", params)}
    setup = msgspec.structs.replace(episode.setup, lineup=lineup)
    mine, other = sally.episodes([msgspec.structs.replace(episode, setup=setup)])
    said = (mine["model"], mine["strategy"], mine["settings"])
    assert said == ("lab/m", "cot", "temperature=0.5")
    assert (other["model"], other["strategy"], other["settings"]) == (None, None, None)


def test_files_for_others_are_written(held: Path, tmp_path: Path) -> None:
    assert sally.export(held, tmp_path / "rows.csv").read_text().startswith("episode,")
    assert "label" in sally.export(held, tmp_path / "d.csv", "decisions").read_text().split("\n")[0]
    bundle = sally.pack(held, tmp_path / "store.sally.zip")
    assert len(sally.load(bundle)) == len(sally.load(held))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"limit": 0}, "limit must be at least 1"),
        ({"model": "embedded"}, "leaves no seat open"),
        ({"temperature": 0}, "temperature is a setting of a model"),
        ({"without": ["ml"]}, "no strategy named 'ml'"),
    ],
)
def test_bad_input_is_one_sentence_without_flags(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(BadInput, match=why) as found:
        sally.run("quickstart", **wrong)  # type: ignore[arg-type]
    assert "--" not in str(found.value)


def test_an_open_seat_asks_for_a_model() -> None:
    with pytest.raises(BadInput, match="say which model sits there") as found:
        sally.plan("quickstart_model")
    assert "--" not in str(found.value)
