"""`sally-table`, the public format of recorded rounds, and its JSON schema.

A record is a table (`play.csv`) with one row per round, and a description in the same folder
(`play.toml`) that names the game, its length, the bots and the licence.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sally.adapters.importers.table_layout import WIDE, WIDE_MORE, Layout

VERSION = 1
_TEXTS: dict[str, str] = {
    "episode": "any text; the rows of an episode need not be adjacent",
    "round": "from 1, each once; a gap is a void round",
    "action1": "the first player's move by its name; empty: no move",
    "action2": "the second player's move by its name; empty: no move",
    "player1": "who moved first, the same in all rounds; human:ID marks a person",
    "player2": "who moved second, the same in all rounds; human:ID marks a person",
    "payoff1": "what the round paid the first player; checked against the matrix",
    "payoff2": "what the round paid the second player; checked against the matrix",
    "prediction1": "what the first player said the second would do, before moving: J or J:.7 F:.3",
    "prediction2": "what the second player said the first would do, before moving",
    "rt1": "response time of the first player, in seconds unless the description says ms",
    "rt2": "response time of the second player",
    "condition": "the cell of the design",
}
_NUMBERS = ("payoff1", "payoff2", "rt1", "rt2")


def table_schema() -> dict[str, Any]:
    """Return the JSON schema of the format: a `description` and `rows`.

    >>> sorted(table_schema()["properties"])
    ['description', 'rows']
    """
    (described,), parts = msgspec.json.schema_components([Layout], ref_template="#/$defs/{name}")
    rows: dict[str, Any] = {}
    for name in (*WIDE, *WIDE_MORE):
        kind = "integer" if name == "round" else "number" if name in _NUMBERS else "string"
        known = kind if name in WIDE else [kind, "null"]
        rows[name] = {"type": known, "description": _TEXTS[name]}
    rows["round"]["minimum"] = 1
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"sally-table, version {VERSION}",
        "type": "object",
        "required": ["description", "rows"],
        "properties": {
            "description": described,
            "rows": {
                "type": "array",
                "items": {"type": "object", "required": list(WIDE), "properties": rows},
            },
        },
        "$defs": parts,
    }
