"""Importer of decisions with stated beliefs: JSON lines, one row per decision
(docs/how-to/stated_beliefs.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.registry.paper import ImportResult
from sally.core.rules.words import read_tables
from sally.games.elicitation.recorded_decisions import BeliefRow, episode_of
from sally.parts.importers import ImportRun, Source, existing, read_fetched_file

VERSION = 1
_decode = msgspec.json.Decoder(BeliefRow).decode
FIELDS = read_tables(__package__, "beliefs.toml")
TEXTS: Mapping[str, str] = FIELDS["row"]
BELIEF_TEXTS: Mapping[str, str] = FIELDS["belief"]


def import_beliefs(path: Path, licence: str = "") -> ImportResult:
    """Import every decision of a file.

    Args:
        path: A file of JSON lines.
        licence: The terms of the data, stored with every episode.

    Raises:
        BadInput: A line is not a valid row; nothing is imported.
    """
    data = read_fetched_file(existing(path)) if existing(path).is_file() else None
    if data is None:
        raise BadInput(f"{path} is a folder; give the file of JSON lines.")
    rows = read_rows(path.name, data)
    run = ImportRun(counts={"found": len(rows)})
    for number, row in rows:
        source = Source.of(row.source, licence, path.name, data)
        try:
            episode, differences = episode_of(row, source)
        except BadInput as error:
            raise BadInput(f"{path.name}, line {number}: {_sentence(error)}") from None
        run.add(episode, differences, {row.status: 1})
    run.counts["people or models' games"] = len({(row.source, row.person) for _, row in rows})
    return run.result()


def read_rows(name: str, data: bytes) -> list[tuple[int, BeliefRow]]:
    """Return the rows of a file with their line numbers; raises BadInput for an invalid line."""
    rows: list[tuple[int, BeliefRow]] = []
    lines: dict[tuple[str, str], int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = _decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadInput(f"{name}, line {number}: {_sentence(error)}") from None
        first = lines.setdefault((row.source, row.instance), number)
        if first != number:
            raise BadInput(
                f"{name}, line {number}: the instance {row.instance!r} is also in line {first}; "
                "each row needs a name of its own."
            )
        rows.append((number, row))
    if not rows:
        raise BadInput(f"{name} contains no row; it should have one line of JSON per decision.")
    return rows


def _sentence(error: Exception) -> str:
    return f"{str(error).rstrip('.')}."


def beliefs_schema() -> dict[str, Any]:
    """Return the JSON schema of a row.

    >>> beliefs_schema()["title"]
    'stated beliefs, version 1'
    """
    (_,), parts = msgspec.json.schema_components([BeliefRow], ref_template="#/$defs/{name}")
    row, belief = parts.pop("BeliefRow"), parts["StatedBelief"]
    for properties, texts in ((row["properties"], TEXTS), (belief["properties"], BELIEF_TEXTS)):
        for name, text in texts.items():
            properties[name]["description"] = text
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **row,
        "title": f"stated beliefs, version {VERSION}",
        "$defs": parts,
    }
