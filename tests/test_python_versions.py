"""What one version of Python gets wrong and others do not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SALLY = Path(__file__).parents[1] / "sally"
Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp


def names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    found = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {n.id for n in found if isinstance(n.ctx, context)}


def reused(source: str) -> Iterator[str]:
    """Names of a module that one function calls and one of its comprehensions binds.

    Python 3.12 puts comprehensions into their function, and its first releases then take such a
    name for a variable of the function that has no value.
    """
    module = ast.parse(source)
    ours = {n.name for n in module.body if isinstance(n, Function | ast.ClassDef)}
    imports = (n for n in module.body if isinstance(n, ast.Import | ast.ImportFrom))
    ours |= {(a.asname or a.name).partition(".")[0] for n in imports for a in n.names}
    for function in (n for n in ast.walk(module) if isinstance(n, Function)):
        within = [n for n in ast.walk(function) if isinstance(n, Comprehension)]
        bound = {b for each in within for b in names(each, ast.Store)} & ours
        for name in bound:
            reads = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(function))
            inside = max(
                sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(each))
                for each in within
                if name in names(each, ast.Store)
            )
            if reads > inside:
                yield f"{function.name}: {name}"


def test_no_function_of_ours_is_shadowed_within_the_function_that_calls_it() -> None:
    found = {str(p): list(reused(p.read_text("utf-8"))) for p in SALLY.rglob("*.py")}
    assert not {path: names for path, names in found.items() if names}


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("[alike for alike in w], [alike(s) for s in w]", ["cuts: alike"]),
        ("[order for order in w], [alike(s) for s in w]", []),
        ("[alike for alike in w]", []),
    ],
)
def test_a_name_that_is_bound_and_called_is_found(body: str, wrong: list[str]) -> None:
    source = f"def alike(x): return x\ndef cuts(w): return {body}\n"
    assert list(reused(source)) == wrong
