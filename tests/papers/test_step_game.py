"""Step games of the published layout, written here: talk and moves come in, doubts are named.

With `SALLY_STEP_GAME` set to a folder of published logs, every one of them is replayed by a second
implementation of the rules; without it that test is skipped, because the logs carry no licence.
"""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks import step_game_reader
from sally import store
from sally.api.imports import read_record
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.match.playback import mismatch, replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.games.step_race.metrics import list_moves, tally
from sally.games.step_race.rules import SEATS
from sally.output.tables.reproduce import reproduce
from sally.papers.step_game import figures
from sally.papers.step_game.importer import IMPORTER, read_game
from sally.papers.step_game.names import model_name, rewritten
from sally.parts.importers import EpisodeSpool
from tests.games.step_race.second_rules import play

ID = "98765432109876543210"  # beyond 64 bits
PLAYERS = [f"Player{n}_Game{ID}_{m}" for n, m in ((1, "gpt-5-medium"), (2, "m_x"), (3, "qwq"))]
ORDER = (1, 0, 2)
SAID = ("I'll take 3.", "I'll take 5 this round.", "")


def lines(
    turns: Sequence[tuple[int, int, int]],
    start: tuple[int, int, int] = (0, 0, 0),
    first: int = 1,
    rounds: Sequence[int] = (),
) -> list[dict[str, Any]]:
    """A log of these moves, with as many sub-rounds a turn as `rounds` says (else one)."""
    records: list[dict[str, Any]] = []
    start_before = start
    moves_after, points = play(turns, 19, start)
    for n, moves in enumerate(turns):
        here = {"game_id": int(ID), "turn": n + first, "timestamp": "2025-03-01 00:00:00"}
        for sub in range(1, (rounds[n] if rounds else 1) + 1):
            for seat in ORDER:
                text = {"player_id": PLAYERS[seat], "message": SAID[seat], "conv_subround": sub}
                records.append({**here, "type": "conversation", **text})
        places = dict(zip(PLAYERS, start_before, strict=True))
        for seat in (2, 0, 1):
            move = {"player_id": PLAYERS[seat], "move": moves[seat], "justify": ""}
            records.append({**here, "type": "move", "positions": places, **move})
        start_before = moves_after[n]
    winners = [PLAYERS[n] for n, p in enumerate(points or [0, 0, 0]) if p]
    places = dict(zip(PLAYERS, start_before, strict=True))
    last = {"type": "final", "turn": len(turns), "winners": winners, "final_positions": places}
    return [*records, {"game_id": int(ID), **last}]


def write_files(folder: Path, log: Sequence[Mapping[str, Any]], date: str = "20250301") -> Path:
    file = folder / f"game_{ID}_{date}_000000.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in log), "utf-8")
    return file


RACE = [(5, 3, 1), (5, 3, 3), (5, 5, 1), (3, 1, 5), (5, 3, 1), (5, 3, 1)]


def open_page(path: Path) -> list[Played]:
    spec = registry.game("step_race")
    return [Played(spec, e, replay_episode(spec, e)) for e in IMPORTER.import_from(path).episodes]


def test_game_is_imported_as_recorded(tmp_path: Path) -> None:
    result = IMPORTER.import_from(write_files(tmp_path, lines(RACE)))
    (episode,) = result.episodes
    assert result.details["differences"] == []
    assert episode.setup.instance.id == f"step_game:{ID}"
    assert episode.payoffs == {"player_1": 1.0, "player_2": 0.0, "player_3": 0.0}
    assert episode.setup.instance.params["target_range"] == [19, 23]
    assert episode.setup.instance.params["target"] == 21
    assert mismatch(registry.game("step_race"), episode) is None
    names = episode.used["names"]
    assert names["player_1"] == {
        "raw": "gpt-5-medium",
        "provider": "openai",
        "model": "gpt-5",
        "effort": "medium",
    }
    assert episode.used["rewritten"] == ["player_3"]
    assert any("m_x" in line for line in result.lines)  # no provider is known
    assert result.counts["messages"] == 3 * len(RACE)


def test_talk_and_order_are_preserved_and_early_ends_inferred(tmp_path: Path) -> None:
    rounds = [2, 1, 2, 1, 2, 2]
    (played,) = open_page(write_files(tmp_path, lines(RACE, rounds=rounds)))
    state = played.replay.present
    assert [len(turn.talk) for turn in state.past] == [3 * n for n in rounds]
    assert [item.number for item in state.past[0].talk[:3]] == list(ORDER)
    assert all(item.done for item in state.past[1].talk)  # the talk ended early
    assert not state.past[0].talk[0].done and state.past[0].talk[2].done  # said nothing


def test_metrics_of_a_recorded_game(tmp_path: Path) -> None:
    (played,) = open_page(write_files(tmp_path, lines(RACE)))
    sums = tally(played, SEATS[0])
    assert (sums.turns, sums.announced, sums.kept) == (6, 6, 1)  # it always said 3
    assert sums.upwards == 5
    assert len(list_moves(played, SEATS[2])) == 6
    assert tally(played, SEATS[2]).announced == 0


def test_log_starting_late_uses_its_recorded_positions(tmp_path: Path) -> None:
    log = lines(RACE[:2], start=(9, 4, 3), first=8)
    result = IMPORTER.import_from(write_files(tmp_path, log))
    assert result.details["differences"] == []
    assert result.episodes[0].setup.instance.params["positions"] == [9, 4, 3]
    assert any("begins at turn 8" in line for line in result.lines)


def test_wrong_position_is_a_difference(tmp_path: Path) -> None:
    log = lines(RACE)
    for line in log:
        if line["type"] == "move" and line["turn"] == 3:
            line["positions"] = {**line["positions"], PLAYERS[0]: 17}
    result = IMPORTER.import_from(write_files(tmp_path, log))
    assert [difference["what"] for difference in result.details["differences"]] == ["positions"]


def test_targets_of_january_may_be_lower(tmp_path: Path) -> None:
    game = read_game(write_files(tmp_path, lines(RACE), "20250110"))
    assert game.target_range == (19, 23) and game.era == "targets 19 to 24"
    (tmp_path / "early").mkdir()
    log = lines(RACE[:5])
    log[-1]["winners"] = [PLAYERS[0]]
    early = read_game(write_files(tmp_path / "early", log, "20250110"))
    assert early.target_range == (16, 18) and early.era == "targets 16 to 18"


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda log: log[:-1], "final"),
        (lambda log: [{**log[0], "player_id": "Player9_x_y"}, *log[1:]], "three players"),
        (lambda log: log[1:], "same order"),
        (lambda log: [{**e, "move": 4} if e["type"] == "move" else e for e in log], "1, 3 or 5"),
        (lambda log: [{**log[0], "type": "note"}, *log[1:]], "not expected"),
        (lambda log: [e for e in log if e.get("move") != 1], "moves with positions"),
    ],
)
def test_broken_logs_are_refused_with_their_name(tmp_path: Path, spoil: Any, why: str) -> None:
    file = write_files(tmp_path, spoil(lines(RACE)))
    with pytest.raises(BadInput, match=why) as refused:
        IMPORTER.import_from(file)
    assert file.name in str(refused.value)


def test_broken_log_does_not_prevent_importing_others(tmp_path: Path) -> None:
    write_files(tmp_path, lines(RACE))
    (tmp_path / "game_1_20250301_000000.jsonl").write_text("{", "utf-8")
    result = IMPORTER.import_from(tmp_path)
    assert len(result.episodes) == 1 and result.counts["found"] == 2
    assert any("not imported" in line for line in result.lines)


@pytest.mark.parametrize(
    ("message", "ending"), [(SAID[1], "again"), ("I'll take 1.", "again, with other moves")]
)
def test_game_on_record_twice_is_stored_once_and_named(
    tmp_path: Path, message: str, ending: str
) -> None:
    logs, out = tmp_path / "logs", tmp_path / "store"
    logs.mkdir()
    write_files(logs, lines(RACE))
    write_files(logs, [{**lines(RACE)[0], "message": message}, *lines(RACE)[1:]], "20250302")
    command = ["import", "step_game", str(logs), "--out", str(out), "--json"]
    first, second = (json.loads(CliRunner().invoke(cli, command).output) for _ in range(2))
    names = ("found", "stored", "already there")
    assert [first["counts"][name] for name in names] == [2, 1, 0]
    assert [second["counts"][name] for name in names] == [2, 0, 1]
    assert first["copies"] == [f"not stored: step_game:{ID} is on record {ending}"]
    assert second["copies"] == first["copies"]


def test_memory_of_an_import_hardly_grows_with_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EpisodeSpool, "MOST_HELD", 1)
    text = write_files(tmp_path, lines(RACE)).read_text("utf-8")
    peaks = []
    for games in (10, 50):
        for number in range(1, games):
            (tmp_path / f"game_{number}_20250301_000000.jsonl").write_text(text, "utf-8")
        tracemalloc.start()
        result = read_record("step_game", tmp_path, tmp_path / f"store of {games}")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert result.counts["stored"] == len(list(result.episodes)) == games
    assert (peaks[1] - peaks[0]) / 40 < 2_500  # bytes a game; the events of one take 10,000


def test_paths_without_logs_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no file or folder"):
        IMPORTER.import_from(tmp_path / "no")
    with pytest.raises(BadInput, match="no log"):
        IMPORTER.import_from(tmp_path)
    (other_file := tmp_path / "other.jsonl").write_text("", "utf-8")
    with pytest.raises(BadInput, match="logs are named"):
        IMPORTER.import_from(other_file)


@pytest.mark.parametrize(
    ("raw", "label"),
    [
        ("o3-mini-high", "openai/o3-mini (high)"),
        ("o3", "openai/o3 (medium)"),
        ("claude-opus-4-20250514-16K", "anthropic/claude-opus-4-20250514 (thinking 16K)"),
        ("claude-3-7-sonnet-20250219-thinking", "anthropic/claude-3-7-sonnet-20250219 (thinking)"),
        ("mistral", "mistral/mistral-large-2"),
        ("gemini", "google/gemini-1.5-pro"),
        ("somebody-new", "unknown/somebody-new"),
    ],
)
def test_model_names_have_labels_and_keep_the_raw_name(raw: str, label: str) -> None:
    assert model_name(raw).label == label and model_name(raw).raw == raw


def test_rewritten_speakers_are_named() -> None:
    assert rewritten("qwq_fireworks") and rewritten("gemini_20_flash_thinking_exp_0121")
    assert not rewritten("qwen") and not rewritten("gemini_20_flash_exp")


# --- figures --------------------------------------------------------------------------------------


def test_mindless_players_and_ratings_of_a_small_record(tmp_path: Path) -> None:
    seats = figures.seat_games(open_page(write_files(tmp_path, lines(RACE))))
    assert len(seats) == 3
    even = figures.mindless(seats, figures.rules()["uniform"], "doing_win")
    assert even is not None and even.value == pytest.approx(0.0, abs=1e-12)
    rated = figures.rating(seats, draws=20)
    assert next(iter(rated.ratings)) == "gpt-5-medium" and len(rated.groups) == 1
    assert sum(rating.value for rating in rated.ratings.values()) == pytest.approx(0.0, abs=1e-6)
    assert figures.measure(seats, "promise_kept") is None  # one of them had its words rewritten


def test_command_line_imports_and_shows_figures(tmp_path: Path) -> None:
    write_files(tmp_path, lines(RACE))
    out = str(tmp_path / "store")
    run = CliRunner().invoke(cli, ["import", "step_game", str(tmp_path), "--out", out])
    assert run.exit_code == 0, run.output
    assert len(store.load(out).episodes) == 1
    result = CliRunner().invoke(
        cli, ["paper", "step_game", "figures", out, "--least", "1", "--json"]
    )
    assert result.exit_code == 0, result.output
    assert {"models", "mindless", "findings", "groups"} <= set(json.loads(result.output))
    rows = {(str(row.row), row.metric): row for row in reproduce("step_game", episodes=out)}
    own_row, other_row = rows["{'model': 'gpt-5-medium'}", "n"], rows["{'model': 'o3'}", "n"]
    assert (own_row.published, own_row.ours, other_row.published, other_row.ours) == (
        318,
        1,
        312,
        None,
    )
    five = rows["{'rule': 'always_5'}", "win_doing"]
    assert five.published == 0.476 and five.ours is not None
    with pytest.raises(BadInput, match="labelled messages"):
        step_game_reader.measure_reader(tmp_path)


def test_labels_are_hashes_and_moves() -> None:
    known_read_labels = step_game_reader.read_labels()
    assert len(known_read_labels) == 150
    assert {known_read_label.first for known_read_label in known_read_labels.values()} == {
        0,
        1,
        3,
        5,
    }
    assert {known_read_label.other for known_read_label in known_read_labels.values()} == {
        0,
        1,
        3,
        5,
    }
    assert all(
        len(known_read_label.hash) == 24 and int(known_read_label.hash, 16)
        for known_read_label in known_read_labels.values()
    )


# --- the published logs, where they are at hand ---------------------------------------------------


@pytest.mark.skipif("SALLY_STEP_GAME" not in os.environ, reason="the logs carry no licence")
def test_second_implementation_agrees_on_every_published_log() -> None:
    files = sorted(Path(os.environ["SALLY_STEP_GAME"]).rglob("game_*.jsonl"))
    assert files
    imported = IMPORTER.import_from(Path(os.environ["SALLY_STEP_GAME"]))
    assert imported.details["differences"] == []
    spec = registry.game("step_race")
    for episode in imported.episodes:
        params = episode.setup.instance.params
        state = replay_episode(spec, episode).present
        moves = [turn.moves for turn in state.past]
        first, second, third = params["positions"]
        moves_after, points = play(moves, params["target"], (first, second, third))
        assert moves_after == [turn.positions for turn in state.past]
        assert points == [episode.payoffs[seat] for seat in SEATS]  # type: ignore[index]
