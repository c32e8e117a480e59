"""`sally evaluate`, `report --board`, `compare`: recomputed figures, refused tampering."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from sally import store
from sally.analysis.evaluation import drift
from sally.api.board import plan_episodes, refuse_unplanned
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Moved
from sally.frames.frame import Frame, as_frame
from sally.games.toma.po.game import PartlySeen
from sally.games.toma.po.rules import answer
from sally.output.files.bundle import pack
from sally.runner.local import manifest, orders, play
from sally.studies.sally_1 import (
    bot_suite,
    in_one_store,
    noisy,
    size_of,
    smallest_differences,
    suite,
    with_bot,
)


def typed(*arguments: object) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


RANDOM = ("--suite", "sally_1", "--bot", "random", "--game", "toma_po")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation of the random bot in one game."""
    out = tmp_path_factory.mktemp("evaluated") / "random"
    done = typed("evaluate", *RANDOM, "--out", out)
    assert done.exit_code == 0, done.output
    return out


def test_one_command_prints_a_screen_and_writes_a_page(place):
    done = typed("evaluate", *RANDOM, "--out", place)
    assert done.output.startswith("Each of the claims that random knows what others will do")
    assert len(done.output.splitlines()) <= 30 and "best_bot" not in done.output
    done = typed("evaluate", *RANDOM, "--out", place, "--all")
    assert "best_bot" in done.output and "right by reasoner depth" in done.output
    page = (place.parent / "random.html").read_text("utf-8")
    assert "<h1><bdi>random</bdi></h1>" in page and "not refused may still be wrong" in page


def test_json_has_the_same_figures(place):
    done = typed(
        "evaluate",
        "--suite",
        "sally_1",
        "--bot",
        "random",
        "--game",
        "toma_po",
        "--out",
        place,
        "--json",
    )
    data = json.loads(done.stdout)
    (game,) = data["games"]
    # The zero is a random player's expectation, so one random player comes near it, not to it.
    assert game["doing"]["low"] < 0 < game["doing"]["high"] and game["moves"] == 32
    assert game["error_survival"]["value"] is None  # one seat
    lines = {line["player"]: line for line in game["lines"]}
    assert lines["best_bot"]["doing"] == 1.0 and "tabular" not in lines
    assert {point["depth"] for point in data["depths"]} == {0, 1, 2, 3}


def test_unfinished_evaluation_is_reported_with_exit_code_3(place, tmp_path):
    few = tmp_path / "few"
    few.mkdir()
    for file in place.iterdir():
        if file.is_file():
            lines = file.read_bytes().splitlines(keepends=True)
            (few / file.name).write_bytes(b"".join(lines[:20]))
    arguments = (
        "evaluate",
        "--suite",
        "sally_1",
        "--bot",
        "random",
        "--game",
        "toma_po",
        "--out",
        few,
        "--no-play",
    )
    done = typed(*arguments)
    assert done.exit_code == 3 and "the same command without --no-play continues" in done.output


def test_larger_size_continues_in_the_store_of_a_smaller_one(tmp_path):
    for size in ("S", "M"):
        study = in_one_store(bot_suite("random", size))
        store.claim(tmp_path / "one", manifest(study), study)
    assert {size_of(s) for s in store.studies(tmp_path / "one").values()} == {"S", "M"}
    assert size_of(bot_suite("random", "L")) == "L" and size_of(suite("M")) == "M"


def test_player_must_be_named():
    for arguments in ((), ("--model", "embedded", "--bot", "random")):
        done = typed("evaluate", "--suite", "sally_1", *arguments)
        assert isinstance(done.exception, BadInput) and "--model MODEL" in str(done.exception)
    assert isinstance(typed("evaluate", "--bot", "randon").exception, BadInput)


def test_smallest_detectable_difference_shrinks_with_size():
    small, large = (smallest_differences(size, "doing") for size in ("S", "L"))
    known_names = [game for game in small if small[game] is not None]
    assert "toma_po" in known_names
    # the seven tables of the step race are in every size; larger ones only repeat them
    assert all(large[game] < small[game] for game in known_names if game != "step_race")


def test_board_recomputes_scores_and_refuses_changed_move(place, tmp_path):
    good = tmp_path / "good.sally.zip"
    pack(place, good)
    done = typed("report", "--board", good, "--out", tmp_path / "site")
    assert done.exit_code == 0, done.output
    index = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "random" in index and 'href="good.html"' in index
    assert (tmp_path / "site" / "good-episodes.html").exists()
    bad = tmp_path / "bad.sally.zip"
    pack(tamper(place, tmp_path / "tampered"), bad)
    done = typed("report", "--board", good, bad, "--out", tmp_path / "site")
    assert done.exit_code == 1
    text = " ".join(done.output.split())
    betrayed = (
        r"bad.sally.zip: refused. episodes.jsonl, line \d+: episode \w+ does not replay: event"
    )
    assert re.search(betrayed, text), done.output


def tamper(place: Path, folder: Path) -> Path:
    """Return a copy of a store, with its sums, in which the third episode is written as won."""
    (study,) = store.studies(place).values()
    store.claim(folder, manifest(study), study)
    with store.Writer(folder) as writer:
        for n, episode in enumerate(store.load(place).episodes.values()):
            writer.add(_won(episode) if n == 2 else episode)
    return folder


def _won(episode: Episode) -> Episode:
    """Return the episode with the right move and its payoff: the log alone is consistent."""
    problem = PartlySeen(**episode.setup.instance.params).problem
    *events, end = (
        msgspec.structs.replace(event, action=answer(problem))
        if isinstance(event, Moved)
        else event
        for event in episode.events
    )
    assert end.payoffs == {"player": 0.0}
    won = msgspec.structs.replace(end, payoffs={"player": 1.0})
    return msgspec.structs.replace(episode, events=[*events, won])


def test_board_refuses_problems_of_another_suite(place):
    episodes = list(store.load(place).episodes.values())
    (study,) = store.studies(place).values()
    plan = plan_episodes(episodes, study, "S")
    refuse_unplanned(episodes, plan, "Sally-1, size S")
    moved = msgspec.structs.replace(episodes[0], cell="toma_po: asked, practice")
    with pytest.raises(BadInput, match="not part of Sally-1"):
        refuse_unplanned([*episodes, moved], plan, "Sally-1, size S")


def play_games(error: float) -> Frame:
    study = with_bot(noisy(error))
    cells = tuple(c for c in study.cells if c.name == "toma_mg: asked, test")
    wanted_orders = orders(msgspec.structs.replace(study, cells=cells))
    return as_frame([play(setup, cell) for _, cell, setup in wanted_orders])


def test_drift_finds_a_changed_player_and_no_change_in_the_same_one():
    same_changes = drift(play_games(0.0), play_games(0.0))
    assert {same_change.verdict for same_change in same_changes} == {"identical"}
    moved = {
        same_change.measure: same_change for same_change in drift(play_games(0.0), play_games(0.8))
    }
    assert moved["knowing"].verdict == "moved" and moved["knowing"].difference.value < 0
    with pytest.raises(BadInput, match="no problem in common"):
        drift(play_games(0.0), as_frame([]))


def test_drift_finds_no_change_between_sessions_of_one_bot():
    """Two sessions of one bot differ by chance only: the family keeps its level."""
    study = bot_suite("noisy_50")
    cells = tuple(c for c in study.cells if c.name.startswith("toma_po: asked"))
    sides = []
    for seed in (1, 2):
        wanted_orders = orders(msgspec.structs.replace(study, cells=cells, seed=seed))
        sides.append([msgspec.structs.replace(play(s, c), setup=msgspec.structs.replace(s, seed=1))
                      for _, c, s in wanted_orders])  # fmt: skip
    assert all(change.verdict != "moved" for change in drift(*map(as_frame, sides)))


def test_pool_is_listed_with_hashes():
    rows = json.loads(typed("list", "pool", "--json").stdout)
    assert {row["part"] for row in rows} == {"practice", "test"}
    assert len({(row["game"], row["hash"], row["part"]) for row in rows}) == len(rows)


def test_plan_of_whole_games_is_for_the_games_that_were_asked() -> None:
    plans = [
        json.loads(typed("evaluate", "--suite", "sally_1", "--plan", "--json", *options).output)
        for options in ((), ("--game", "rps"))
    ]
    of_all, of_rps = ({row["size"]: row for row in plan} for plan in plans)
    assert 0 < of_rps["S"]["calls"] < of_all["S"]["calls"] / 2
    assert set(of_rps["S"]["knowing"]) == {"rps"}
