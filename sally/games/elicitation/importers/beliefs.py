"""Importer of decisions with stated beliefs: JSON lines, one row per decision
(docs/how-to/stated_beliefs.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.registry.paper import ImportResult
from sally.games.elicitation.recorded_decisions import BeliefRow, episode_of
from sally.parts.importers import ImportRun, Source, existing, read_fetched_file

VERSION = 1
_decode = msgspec.json.Decoder(BeliefRow).decode
TEXTS = {
    "source": "name of the data set",
    "person": "the player who decided; clusters of intervals",
    "instance": "name of the decision, different in every row",
    "cell": "condition of the experiment: everything that the rows of a cell share",
    "cluster": "session; null if it was not published",
    "period": "number of the period; null if there are none",
    "menu": "actions to choose from; null or empty if only beliefs were asked",
    "action": "action of the menu; null if only beliefs were asked",
    "status": "`chosen`; `default`: an unread reply counted as this action; `accident`; `adaptive "
    "price`: the player's earlier moves set the numbers. Only `chosen` enters measures of the "
    "player",
    "payoff": "payoff function; null if no best reply is defined",
    "params": "numbers of the payoff function",
    "beliefs": "the questions about others, with the answers",
    "earned": "recorded points; compared with those that the payoff function gives",
    "model": "name of the model that decided; null if a person did",
}
BELIEF_TEXTS = {
    "ask": "name of the question; the payoff functions look for same_move, reply_to_ACTION, works "
    "and others_mean",
    "options": "possible answers; for a number, the lowest and the highest",
    "kind": "`odds`: a probability per option; `counts`: a number of others per option; `number`; "
    "`choice`: one option",
    "value": "the answer; null if it could not be read",
    "confidence": "stated confidence, from 0 to 1",
    "truth": "the option that came true, or the true counts or number; null if not known",
    "about": "whom the question is about",
    "asked": "when it was asked; `after` never counts as a belief that was acted on",
    "paid": "how the answer was paid; null if it was not",
    "bears": "`payoff`: the payoff function uses it; `peer`: it is about others' choice from the "
    "same menu; both words if both hold",
}


def imported(path: Path, licence: str = "") -> ImportResult:
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
