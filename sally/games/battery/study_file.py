"""A study file (TOML) that asks a model the questions of every story in a file of items."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sally.games.battery.items import Item, by_pair

MODEL = (
    '{ player = "language", params = { model = "model", strategy = "qa", '
    "settings = { temperature = 0.0, max_tokens = 12 } } }"
)


def study_text(items: Sequence[Item], name: str, file: str, hash: str) -> str:
    """Return a study with one instance per story, in one cell per task.

    Stories whose questions belong to several tasks are in a cell called `name`. The text of the
    items stays in `file`, which the study identifies by path and hash.
    """
    cells: dict[str, list[str]] = {}
    for story, story_items in by_pair([item for item in items if item.sound]).items():
        tasks = {item.task for item in story_items}
        task = next(iter(tasks)) if len(tasks) == 1 else None
        cells.setdefault(task or name, []).append(story)
    lines = [f"name = {json.dumps(name)}", f"about = {json.dumps('the items of ' + name)}"]
    for cell, stories in cells.items():
        lines += [
            "",
            "[[cells]]",
            f"name = {json.dumps(cell)}",
            f"lineups = [{{ reader = {MODEL} }}]",
        ]
        lines.append("instances = [")
        for story in stories:
            params = f'generator = "file", file = {json.dumps(file)}, hash = "{hash}"'
            id = json.dumps(f"{name} {story}")
            lines.append(
                f'  {{ id = {id}, game = "battery", params = {{ {params}, '
                f"item = {json.dumps(story)} }} }},"
            )
        lines.append("]")
    return "\n".join(lines) + "\n"
