"""A real Jupyter kernel, in which cells are executed one after another."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SECONDS = 300  # for one cell; a cell that takes longer fails


def plain(text: str) -> str:
    """The text of a stream without colours and carriage returns."""
    return ANSI.sub("", text).replace("\r\n", "\n")


class CellFailed(Exception):
    """The traceback of a cell."""


class Kernel:
    """A running kernel."""

    def __init__(self, client: NotebookClient) -> None:
        self._client, self._book = client, client.nb

    def outputs(self, source: str) -> list[dict[str, Any]]:
        """Execute a cell and return its outputs; consecutive texts of a stream are joined.

        Raises:
            CellFailed: If the cell raised an exception.
        """
        cell = nbformat.v4.new_code_cell(source)
        self._book.cells.append(cell)
        self._client.execute_cell(cell, len(self._book.cells) - 1)
        for output in cell.outputs:
            if output.output_type == "error":
                raise CellFailed(f"{output.ename}: {output.evalue}")
        joined: list[dict[str, Any]] = []
        for output in map(dict, cell.outputs):
            if joined and output.get("name") and output["name"] == joined[-1].get("name"):
                joined[-1]["text"] += output["text"]
            else:
                joined.append(output)
        return joined

    def printed(self, source: str, stream: str = "stdout") -> str:
        """Execute a cell and return what it writes to a stream, without colours."""
        outputs = self.outputs(source)
        texts = [output["text"] for output in outputs if output.get("name") == stream]
        return plain("".join(texts))

    def shown(self, source: str, kind: str = "text/plain") -> str:
        """Execute a cell and return the representation of its last value."""
        results = [o for o in self.outputs(source) if o["output_type"] == "execute_result"]
        return str(results[-1]["data"][kind])


@contextmanager
def kernel(folder: Path) -> Iterator[Kernel]:
    """Start a kernel in a folder; it ends with the block."""
    client = NotebookClient(
        nbformat.v4.new_notebook(),
        timeout=SECONDS,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    old_setting = os.environ.get("PATH", "")
    env = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), old_setting]),  # finds `sally`
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
        "COLUMNS": "80",
        "TTY_COMPATIBLE": "0",  # commands in cells print neither colours nor bars
    }
    with client.setup_kernel(env=env):
        yield Kernel(client)
