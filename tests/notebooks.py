"""The tutorials as executed notebooks, made from their pages: `python -m tests.notebooks`."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import tempfile
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from sally.cli import cli

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
    for found in BLOCK.finditer(text):
        cells.append(("markdown", text[at : found.start()]))
        kind, body = found.groups()
        if kind == "python":
            cells.append(("code", body))
        elif kind == "console":
            cells += [("code", f"!{line}\n") for line in COMMAND.findall(body)]
        elif kind in FILES:
            cells.append(("code", f"%%writefile {FILES[kind]}\n{body}"))
        elif kind != "text":
            cells.append(("markdown", found.group()))
        at = found.end()
    cells.append(("markdown", text[at:]))
    return [(kind, body.strip()) for kind, body in cells if body.strip()]


def run(cell: str, names: dict[str, object]) -> str:
    """What a code cell prints, run in this process."""
    if cell.startswith("!sally "):
        args = shlex.split(cell)[1:]
        asked = "1\n" * 50 if args[0] == "play" else None
        return CliRunner().invoke(cli, args, input=asked, catch_exceptions=False).output
    if cell.startswith("%%writefile "):
        first, _, body = cell.partition("\n")
        name = first.split()[1]
        Path(name).write_text(body + "\n", encoding="utf-8")
        return f"Writing {name}\n"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(cell, "cell", "exec"), names)
    return out.getvalue()


def notebook(page: Path) -> dict[str, Any]:
    """A page as a notebook with the outputs of its cells."""
    names: dict[str, object] = {}
    cells: list[dict[str, Any]] = []
    for number, (kind, body) in enumerate(sources(page)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
        cell["source"] = body.splitlines(keepends=True)
        if kind == "code":
            said = run(body, names).splitlines(keepends=True)
            out = [{"name": "stdout", "output_type": "stream", "text": said}] if said else []
            cell |= {"execution_count": None, "outputs": out}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    for each in TUTORIALS:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            made = notebook(each)
        text = json.dumps(made, indent=1, ensure_ascii=False)
        each.with_suffix(".ipynb").write_text(text + "\n", encoding="utf-8")
