"""Games of TextArena: the record in fixtures was made by us by running it (0.7.4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Forfeited, Moved
from sally.games.repeated_games.importers.textarena import import_records

FILE = Path(__file__).parents[2] / "fixtures" / "textarena.jsonl"


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text().splitlines()]


def test_moves_come_from_replies_and_unreadable_reply_is_forfeit() -> None:
    result = import_records(FILE)
    dilemma, paper, pennies = result.episodes
    moves = [e.action for e in dilemma.events if isinstance(e, Moved) and e.seat == "agent"]
    assert moves == [0, 0, 0, 0, 1, 1, 1, 1, 1]  # the sixth reply named no move
    (forfeit,) = [e for e in dilemma.events if isinstance(e, Forfeited)]
    assert (forfeit.seat, forfeit.reason) == ("agent", "unreadable, scored there as cooperate")
    assert paper.payoffs == {"agent": 3.0, "partner": 3.0}
    assert paper.used["asked again"] == 1
    assert pennies.payoffs is None  # it ended while one player owed a move
    (difference,) = result.details["differences"]
    assert (difference["turn"], difference["recorded"]) == (6, "scored there as cooperate")
    assert result.counts == {"found": 3}


def test_mismatch_of_points_with_replies_is_a_difference(tmp_path: Path) -> None:
    game = lines()[1]
    game["state"]["points"]["0"] = 7
    file = tmp_path / "games.jsonl"
    file.write_text(json.dumps(game))
    (difference,) = import_records(file).details["differences"]
    assert (difference["what"], difference["recorded"], difference["ours"]) == (
        "points",
        "[7, 3]",
        "[3, 3]",
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"env": "Chess-v0"}, "no TextArena matrix game named 'Chess'"),
        ({"rules": {}}, "does not give the payoffs: cooperate_reward"),
        ({"steps": 3}, "line 1: not a record of a game"),
    ],
)
def test_non_matrix_game_record_is_refused_with_one_message(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(json.dumps({**lines()[0], **change}))
    with pytest.raises(BadInput, match=why):
        import_records(file)


def test_empty_or_missing_file_is_refused_with_one_message(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no file"):
        import_records(tmp_path / "games.jsonl")
    (tmp_path / "games.jsonl").write_text("\n")
    with pytest.raises(BadInput, match="contains no game"):
        import_records(tmp_path / "games.jsonl")
