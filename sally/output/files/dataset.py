"""Datasets for the Hugging Face Hub: tables, a dataset card and Croissant metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from sally.core.errors import BadInput
from sally.core.version import DISTRIBUTION, VERSION
from sally.frames.schema import Column
from sally.output.files.export import ExportedTable, write_table, write_text

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


def write_dataset(folder: Path, name: str, tables: Mapping[str, ExportedTable]) -> dict[str, int]:
    """Write tables, dataset card and metadata to an empty folder; return the number of rows by
    table.

    Raises:
        BadInput: The folder is not empty, or a file cannot be written.
    """
    if folder.exists() and any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty; choose an empty folder for the dataset.")
    counts = {
        kind: write_table(table, folder / f"data/{kind}.csv") for kind, table in tables.items()
    }
    columns_of = {kind: table.columns for kind, table in tables.items()}
    write_text(card(name, counts), folder / "README.md")
    described = croissant(name, folder, columns_of)
    write_text(json.dumps(described, indent=2) + "\n", folder / "croissant.json")
    return counts


def card(name: str, counts: Mapping[str, int]) -> str:
    """Return the dataset card: metadata for the Hub, then text for readers."""
    configs = "".join(
        f"- config_name: {table}\n  data_files: data/{table}.csv\n" for table in counts
    )
    listed = "".join(f"| `data/{table}.csv` | {n} |\n" for table, n in counts.items())
    return (
        f"---\npretty_name: {json.dumps(name)}\ntags:\n- theory-of-mind\n- sally\n"
        f"configs:\n{configs}---\n# {name}\n"
        f"Theory-of-mind games, played and measured with Sally ({DISTRIBUTION} {VERSION}).\n\n"
        f"| file | rows |\n|---|---|\n{listed}\n"
        "Episodes have one row per seat, decisions one per move and probe answer. Choose a licence "
        "and add `license:` above. The rows may hold words of players, including people; check "
        "them before publishing.\n"
    )


def croissant(
    name: str, folder: Path, columns_of: Mapping[str, Sequence[Column]]
) -> dict[str, Any]:
    """Return Croissant 1.0 metadata: files with hashes, columns with types."""
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
        "description": f"Theory-of-mind games, played and measured with Sally {VERSION}.",
        "distribution": files,
        "recordSet": records,
    }


def _field(table: str, column: Column) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column.field}",
        "name": column.field,
        "dataType": _type(column),
        "source": {
            "fileObject": {"@id": f"{table}.csv"},
            "extract": {"column": column.field},
        },
    }


def _type(column: Column) -> str:
    """Return the Croissant type of a column; whatever is no number is text."""
    if column.type.is_integer():
        return "sc:Integer"
    return "sc:Float" if column.type.is_float() else "sc:Text"
