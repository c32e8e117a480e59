"""A folder that the Hugging Face Hub reads as a dataset, with a card and Croissant metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from sally.core.errors import BadInput
from sally.core.version import DISTRIBUTION, VERSION
from sally.output.files.export import Column, write_table, write_text

Rows = Iterable[Mapping[str, Any]]
TYPES = {"text": "sc:Text", "count": "sc:Integer", "number": "sc:Float"}
"""By kind of column, its type in Croissant; any other kind is text."""
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "recordSet": "cr:recordSet",
    "field": "cr:field",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "source": "cr:source",
    "fileObject": "cr:fileObject",
    "extract": "cr:extract",
    "column": "cr:column",
}


def write_dataset(
    folder: Path, name: str, tables: Mapping[str, tuple[Rows, Sequence[Column]]]
) -> dict[str, int]:
    """The tables, the card and the metadata, into a folder of their own; rows by table."""
    if folder.exists() and any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty; a dataset gets a folder of its own.")
    counts = {
        table: write_table(rows, columns, folder / f"data/{table}.csv")
        for table, (rows, columns) in tables.items()
    }
    columns_of = {table: columns for table, (_, columns) in tables.items()}
    write_text(card(name, counts), folder / "README.md")
    described = croissant(name, folder, columns_of)
    write_text(json.dumps(described, indent=2) + "\n", folder / "croissant.json")
    return counts


def card(name: str, counts: Mapping[str, int]) -> str:
    """The dataset card: what the Hub reads, then what a person reads."""
    configs = "".join(
        f"- config_name: {table}\n  data_files: data/{table}.csv\n" for table in counts
    )
    listed = "".join(f"| `data/{table}.csv` | {n} |\n" for table, n in counts.items())
    return (
        f"---\npretty_name: {json.dumps(name)}\ntags:\n- theory-of-mind\n- sally\n"
        f"configs:\n{configs}---\n# {name}\n"
        f"Games of minds, played and measured with Sally ({DISTRIBUTION} {VERSION}).\n\n"
        f"| file | rows |\n|---|---|\n{listed}\n"
        "Episodes have a row for each seat, decisions one for each move and each answer aside. "
        "The licence is for you to choose: add `license:` above. Words of players, and of people "
        "among them, may stand in these rows; look before you publish.\n"
    )


def croissant(
    name: str, folder: Path, columns_of: Mapping[str, Sequence[Column]]
) -> dict[str, Any]:
    """The files with their hashes and every column with its type, as Croissant 1.0."""
    files = [
        {
            "@type": "cr:FileObject",
            "@id": f"{table}.csv",
            "name": f"{table}.csv",
            "contentUrl": f"data/{table}.csv",
            "encodingFormat": "text/csv",
            "sha256": sha256((folder / f"data/{table}.csv").read_bytes()).hexdigest(),
        }
        for table in columns_of
    ]
    records = [
        {
            "@type": "cr:RecordSet",
            "@id": table,
            "name": table,
            "field": [_field(table, column) for column in columns],
        }
        for table, columns in columns_of.items()
    ]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": f"Games of minds, played and measured with Sally {VERSION}.",
        "distribution": files,
        "recordSet": records,
    }


def _field(table: str, column: Column) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column.name}",
        "name": column.name,
        "dataType": TYPES.get(column.kind, "sc:Text"),
        "source": {
            "fileObject": {"@id": f"{table}.csv"},
            "extract": {"column": column.name},
        },
    }
