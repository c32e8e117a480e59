"""No file of ours imports itself by way of others, not even for its types."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import sally

ROOT = Path(sally.__file__).parent


def modules() -> dict[str, Path]:
    named = {".".join(("sally", *f.relative_to(ROOT).with_suffix("").parts)): f for f in FILES}
    return {name.removesuffix(".__init__"): file for name, file in named.items()}


FILES = sorted(ROOT.rglob("*.py"))


def imports(file: Path, known: dict[str, Path]) -> set[str]:
    """The files that this one imports, at the top, within functions and for types alike."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else node.module for name in inside}
    return found & set(known)


def cycle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def test_no_file_imports_itself_by_way_of_others() -> None:
    known = modules()
    graph = {name: imports(file, known) for name, file in known.items()}
    assert graph["sally.core.match"] >= {"sally.core.log", "sally.core.asides"}
    assert cycle(graph) == []
    circular = {**graph, "sally.core.seat": {"sally.core.match"}}
    assert "sally.core.seat" in cycle(circular)
