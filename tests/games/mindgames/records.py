"""Files in the published layout, written by us."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sally.games.mindgames.claims import EFFECTS
from tests.games.mindgames.table import PUZZLE, X, Y, Z

ATTRIBUTES = (X, Y, Z)
PEOPLE = "human_persuader=True&human_target=False&llm_persuader=None&reveal_belief=False"
MODEL = (
    "human_persuader=False&llm_persuader=o1-preview-2024-09-12&reveal_belief=True"
    "&reveal_motivation=True"
)
GENERIC = "I weigh what I know and take what is best."


def _table(cells: Any) -> dict[str, dict[str, bool]]:
    return {p: {a: (i, j) in cells for j, a in enumerate(ATTRIBUTES)} for i, p in enumerate("ABC")}


def message(cells: Sequence[tuple[int, int]]) -> tuple[str, str, dict[str, dict[str, int]]]:
    """A message that tells cells, the published reply to it, and its labels."""
    label: dict[str, dict[str, int]] = {}
    said, echo = [], []
    for row, column in cells:
        utility = PUZZLE.utilities[row][column]
        effect, name = EFFECTS[utility], ATTRIBUTES[column]
        said.append(f"Proposal {'ABC'[row]} {effect} {name}.")
        verb = {1: "increase", 0: "have no effect on", -1: "decrease"}[utility]
        echo.append(f"Proposal {'ABC'[row]} will {verb} {name}.")
        label.setdefault("ABC"[row], {})[name] = utility
    return " ".join(said) or "Thanks!", " ".join(echo) or GENERIC, label


def record(told: Sequence[Sequence[tuple[int, int]]], choice: str | None, **options: Any) -> Any:
    """A game in which each message tells some cells; messages without any fill it up to eight."""
    messages: list[dict[str, str]] = []
    labels = []
    for turn in range(8):
        text, reply, label = message(told[turn] if turn < len(told) else ())
        labels.append(label)
        messages += [{"role": "persuader", "content": text}, {"role": "target", "content": reply}]
    return {
        "model": {
            "utilities": {
                p: dict(zip(ATTRIBUTES, PUZZLE.utilities[i], strict=True))
                for i, p in enumerate("ABC")
            },
            "hidden": _table(PUZZLE.hidden),
            "ideal_revealed": _table(PUZZLE.winning),
            "target_coefficients": dict(zip(ATTRIBUTES, PUZZLE.target_values, strict=True)),
            "persuader_coefficients": dict(zip(ATTRIBUTES, PUZZLE.persuader_values, strict=True)),
            "proposals": ["A", "B", "C"],
            "attributes": list(ATTRIBUTES),
        },
        "cover_story": "A story.",
        "target_choice": choice,
        "turn_limit": 8,
        "messages": messages,
        "all_disclosures": labels,
        "all_appeals": [{} for _ in range(8)],
        "a_field_nobody_knows": 3,
        **options,
    }


def written(folder: Path, files: dict[str, list[Any]]) -> Path:
    """Folders named by condition, each with one file of lines."""
    for name, lines in files.items():
        (folder / name).mkdir(parents=True)
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        (folder / name / "2025-01-01.jsonl").write_text(text, encoding="utf-8")
    return folder
