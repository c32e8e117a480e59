"""The tutorials as executed notebooks, made from their pages: `python -m tests.notebooks`."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from tests.kernel import Kernel, kernel, plain

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = [  # those that say so
    page
    for page in sorted((ROOT / "docs/tutorials").glob("*.md"))
    if "[an executed notebook]" in page.read_text(encoding="utf-8")
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n?", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*)$", re.M)
SELF = re.compile(r"^This page is also available as \[an executed notebook\].*\n\n", re.M)
FILES = {"toml": "study.toml"}  # a study on a page is kept under this name


def sources(page: Path) -> list[tuple[str, str]]:
    """The cells of a page: markdown or code, and what stands in them; outputs are left out."""
    text = SELF.sub("", page.read_text(encoding="utf-8"))
    cells, at = [], 0
    for match in BLOCK.finditer(text):
        cells.append(("markdown", text[at : match.start()]))
        kind, body = match.groups()
        if kind == "python":
            cells.append(("code", body))
        elif kind == "console":
            cells += [("code", f"!{line}\n") for line in COMMAND.findall(body)]
        elif kind in FILES:
            cells.append(("code", f"%%writefile {FILES[kind]}\n{body}"))
        elif kind != "text":
            cells.append(("markdown", match.group()))
        at = match.end()
    cells.append(("markdown", text[at:]))
    return [(kind, body.strip()) for kind, body in cells if body.strip()]


def executed(page: Path, cells: Kernel, commands: int | None = None) -> dict[str, Any]:
    """A page as a notebook with the outputs of its cells, executed in a kernel.

    Of its commands, only the first `commands` are run (None: all).
    """
    cells.outputs("%reset -f")  # as in a new kernel, apart from modules that are loaded already
    cells.outputs("import os, tempfile; os.chdir(tempfile.mkdtemp())")
    book: list[dict[str, Any]] = []
    for number, (kind, body) in enumerate(sources(page)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
        cell["source"] = body.splitlines(keepends=True)
        if kind == "code" and not (body.startswith("!") and commands == 0):
            commands = commands and commands - body.startswith("!")
            cell |= {"execution_count": None, "outputs": list(map(stored, cells.outputs(body)))}
            if body.startswith("!"):
                cells.outputs(f"assert _exit_code == 0, {body!r}")
        book.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": book,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def stored(output: dict[str, Any]) -> dict[str, Any]:
    """An output as a notebook file holds it, without colours."""
    if output["output_type"] == "stream":
        lines = plain(output["text"]).splitlines(keepends=True)
        return {"name": output["name"], "output_type": "stream", "text": lines}
    return {**output, "execution_count": None} if "execution_count" in output else output


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, kernel(Path(folder)) as running:
        for page in TUTORIALS:
            text = json.dumps(executed(page, running), indent=1, ensure_ascii=False)
            page.with_suffix(".ipynb").write_text(text + "\n", encoding="utf-8")
