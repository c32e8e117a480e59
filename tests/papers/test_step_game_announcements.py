"""The second reader of announcements, which shows how far figures depend on the reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import step_game_announcements as script


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("I'll take 3 this round.", 3),
        ("I will pick 1. No, I'm going with 5.", 5),
        ("If you take 5, I'll take 3.", None),
        ("Shall I take 5?", None),
        ("I'll take 1 next round.", None),
        ("P1 takes 3.", None),
        ("I'll take 35 of them.", None),
    ],
)
def test_last_unconditional_statement_is_read(text: str, move: int | None) -> None:
    assert script.second_announcement(text) == move


def test_promises_are_counted_by_model_and_reader(tmp_path: Path) -> None:
    lineup = {seat: {"params": {"name": f"model {seat[-1]}"}} for seat in script.SEATS}
    says = [{"kind": "say", "text": "I'll take 3."}, {"kind": "say", "text": "I'll take 5."}]
    events = [
        *({"kind": "moved", "seat": "player_1", "action": action} for action in says),
        {"kind": "moved", "seat": "player_2", "action": says[0]},
        *(
            {"kind": "moved", "seat": seat, "action": move}
            for seat, move in zip(script.SEATS, (5, 1, 1), strict=True)
        ),
    ]
    line = json.dumps({"setup": {"lineup": lineup}, "events": events})
    (tmp_path / "games.jsonl").write_text(f"{line}\n{line}\n", "utf-8")
    models, agreement = script.count_promises(tmp_path, 2)
    assert models["model 1"] == {"first": 1, "first kept": 1, "second": 1, "second kept": 1}
    assert models["model 2"] == {"first": 1, "first kept": 0, "second": 1, "second kept": 0}
    assert "model 3" not in models
    assert (agreement["same"], agreement["same number"]) == (3, 2)
