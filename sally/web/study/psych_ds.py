"""A study's tables as a Psych-DS folder: data files, a JSON-LD description, a codebook.

Psych-DS 1.x (psych-ds.github.io): `data/KEY-VALUE_data.csv` with the standard's own keys, and
`dataset_description.json` with the variables of all files under schema.org's `variableMeasured`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from sally.web.study.definition import HumanStudy
from sally.web.study.rules import rules_of
from sally.web.study.tables import COLUMNS, Row, as_csv


def files_of(study: HumanStudy, rows: Mapping[str, list[Row]]) -> dict[str, bytes]:
    """Every file of the folder, by its path in it."""
    name = re.sub(r"[^a-zA-Z0-9]", "", study.name)
    found = {
        f"data/study-{name}_description-{table}_data.csv": as_csv(table, rows[table]).encode()
        for table in COLUMNS
    }
    found["dataset_description.json"] = _json(description(study))
    found["codebook.json"] = _json(codebook(study))
    found["README.md"] = readme(study).encode()
    return found


def description(study: HumanStudy) -> dict[str, Any]:
    """The data set as JSON-LD."""
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": study.title,
        "description": f"Choices, answers and survey of the study {study.name!r} with people.",
        "inLanguage": study.language,
        "variableMeasured": [
            {"@type": "PropertyValue", "name": name, "description": about}
            for name, about in _variables().items()
        ],
    }


def _variables() -> dict[str, str]:
    """Every column once; one that means different things in two tables says both."""
    found: dict[str, str] = {}
    for columns in COLUMNS.values():
        for name, about in columns.items():
            if about not in found.get(name, ""):
                found[name] = f"{found[name]} {about}" if name in found else about
    return found


def codebook(study: HumanStudy) -> dict[str, Any]:
    """Every table with its columns, and every item of the survey as it was asked."""
    items = {item.name: msgspec.to_builtins(item) for item in study.survey}
    return {"tables": COLUMNS, "survey_items": items, "rules": rules_of(study)}


def readme(study: HumanStudy) -> str:
    rules = "\n".join(f"- {rule}" for rule in rules_of(study))
    tables = "\n".join(f"- `{table}`: {len(columns)} columns" for table, columns in COLUMNS.items())
    return (
        f"# {study.title}\n\nData of the study `{study.name}`, written by `sally people export`.\n"
        f"Participants stand under codes that only the study's database can trace back.\n\n"
        f"{tables}\n\nColumns are explained in `codebook.json`.\n\n"
        f"## Rules of the study\n\n{rules}\n"
    )


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
