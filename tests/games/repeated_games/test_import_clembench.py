"""Logs of clembench: those in fixtures were made by us by running a game of ours in clemcore 3.7.2.

Its players replied from a list; the game counts an unreadable reply as J, asks again, or aborts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Forfeited, Moved
from sally.games.repeated_games.importers.clembench import FILE, LogOptions, import_results
from sally.games.repeated_games.importers.table import Description

LOGS = Path(__file__).parents[2] / "fixtures" / "clembench.jsonl"
IPD = Description("ipd", {"names": ["J", "F"]}, source="clembench")
DILEMMA = LogOptions(IPD, noted="move", paid="points")


def logs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LOGS.read_text().splitlines()]


def results(folder: Path, logged: list[dict[str, Any]]) -> Path:
    """A results folder as clemcore lays it out."""
    for log in logged:
        meta = log["meta"]
        place = folder / meta["results_folder"] / meta["game_name"] / meta["experiment_name"]
        place = place / f"instance_{meta['game_id']:05d}"
        place.mkdir(parents=True)
        (place / FILE).write_text(json.dumps(log))
    return folder


def test_moves_come_from_replies_and_unreadable_scored_moves_are_marked(
    tmp_path: Path,
) -> None:
    result = import_results(results(tmp_path, logs()), DILEMMA)
    aborted, repeated_episode, counted = result.episodes
    moves = [e.action for e in counted.events if isinstance(e, Moved) and e.seat == "agent"]
    assert moves == [0, 0, 1, 0]  # the fourth reply named no move
    (forfeit,) = [e for e in counted.events if isinstance(e, Forfeited)]
    assert (forfeit.seat, forfeit.reason) == ("agent", "unreadable, scored there as J")
    (difference,) = result.details["differences"]
    assert (difference["turn"], difference["recorded"]) == (4, "scored there as J")
    # two rounds, though in three lists
    assert repeated_episode.payoffs == {"agent": 5.0, "partner": 15.0}
    assert aborted.payoffs is None
    assert result.counts == {"found": 3, "aborted there": 1, "asked again": 1}
    assert counted.setup.lineup["partner"].params == {"name": "bob"}
    assert counted.used["source"]["file"] == FILE


def test_mismatch_of_move_or_points_with_replies_is_a_difference(tmp_path: Path) -> None:
    log = logs()[1]
    notes = [e["action"] for e in log["turns"][0] if e["from"] == e["to"]]
    notes[0]["content"]["move"] = "F"  # the game master noted another move than was said
    notes[-1]["content"] = [3, 3]
    moved, paid = import_results(results(tmp_path, [log]), DILEMMA).details["differences"]
    assert (moved["recorded"], moved["ours"]) == ("F", "J")
    assert (paid["recorded"], paid["ours"]) == ("[3, 3]", "[0.0, 10.0]")


@pytest.mark.parametrize(
    ("reply", "said", "move"),
    [
        ("", "After J comes F, so J it is.", None),  # two names
        ("", "a J-shaped plan", 0),
        ("", "just F", 1),
        (r"ANSWER: (\w+)", "J would be kind. ANSWER: f", 1),
        (r"ANSWER: (\w+)", "ANSWER: X", None),
    ],
)
def test_reply_names_one_move_or_none(
    tmp_path: Path, reply: str, said: str, move: int | None
) -> None:
    log = logs()[2]
    log["turns"] = log["turns"][:1]
    first, second = [e for e in log["turns"][0] if e["action"]["type"] == "get message"]
    first["action"]["content"], second["action"]["content"] = said, "ANSWER: J"
    log_options = LogOptions(IPD, reply=reply)
    (episode,) = import_results(results(tmp_path, [log]), log_options).episodes
    moves = [e.action for e in episode.events if isinstance(e, Moved) and e.seat == "agent"]
    assert moves == ([] if move is None else [move])


def test_input_without_matrix_game_log_is_refused_with_one_message(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no interactions\.json of clembench"):
        import_results(tmp_path, DILEMMA)
    record, other_record = logs()[0], logs()[1]
    other_record["meta"]["game_name"] = "taboo"
    folder = results(tmp_path / "two", [record, other_record])
    with pytest.raises(BadInput, match="several games; `only` must name one of dilemma, taboo"):
        import_results(folder, DILEMMA)
    del record["players"]["Player 2"]
    with pytest.raises(BadInput, match="1 players; a matrix game has two"):
        import_results(results(tmp_path / "alone", [record]), DILEMMA)
    half = tmp_path / FILE
    half.write_text(LOGS.read_text()[:900])
    with pytest.raises(BadInput, match="not a game log of clemcore"):
        import_results(half, DILEMMA)
    half.write_bytes(LOGS.read_bytes()[:900] + b"\xe1")
    with pytest.raises(BadInput, match="not a game log of clemcore"):
        import_results(half, DILEMMA)
    with pytest.raises(BadInput, match="names R or P or S; set the pattern `reply`"):
        import_results(
            results(tmp_path / "rps", logs()[:1]),
            LogOptions(Description("rps")),
        )


def test_command_stores_games_once_and_names_missing_options(tmp_path: Path) -> None:
    folder, out = results(tmp_path / "results", logs()), tmp_path / "store"
    arguments = [str(folder), "--out", str(out)]
    run = CliRunner().invoke(cli, ["import", "clembench", *arguments])
    assert isinstance(run.exception, BadInput) and "Name the game" in str(run.exception)
    assert not out.exists()
    arguments += ["--game", "ipd", "--names", "J,F", "--noted", "move"]
    for stored in ("stored: 3", "already there: 3"):
        assert stored in CliRunner().invoke(cli, ["import", "clembench", *arguments]).output
    bad = CliRunner().invoke(cli, ["import", "clembench", *arguments, "--reply", "option J"])
    assert isinstance(bad.exception, BadInput) and "must have one group" in str(bad.exception)
