"""Draw docstrings, error messages and pages at random for an editorial review.

    python -m benchmarks.draw_prose --seed 1
    python -m benchmarks.draw_prose --seed 1 --markdown    # a table to fill in
    python -m benchmarks.draw_prose --seed 1 --pages 15 --under results papers    # pages only

The population is every docstring and every error message in `sally/`, and every page under `docs/`;
with `--under` it is every page of these folders of `docs/`.
The draw depends on the seed and the repository only.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCSTRINGS, ERRORS, PAGES = 100, 30, 10
SHORTEST = 3  # words of an error message; shorter ones hold no sentence


class Text(NamedTuple):
    """A text with its file and line."""

    file: str
    line: int
    text: str


def docstrings(tree: ast.AST, file: str) -> Iterator[Text]:
    """Yield the docstrings of a module, without their examples."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds) and (found := ast.get_docstring(node)):
            yield Text(file, node.body[0].lineno, on_one_line(found.partition(">>>")[0]))


def errors(tree: ast.AST, file: str) -> Iterator[Text]:
    """Yield the messages of raised exceptions; placeholders are shown as {}."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        for argument in node.exc.args:
            said = on_one_line("".join(literals(argument)))
            if len(re.findall(r"[A-Za-z]{2,}", said)) >= SHORTEST:
                yield Text(file, node.lineno, said)


def literals(node: ast.AST) -> Iterator[str]:
    """Yield the literal parts of a string expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield "{}" if isinstance(part, ast.FormattedValue) else "".join(literals(part))


def on_one_line(text: str) -> str:
    """Return a text with all whitespace collapsed."""
    return " ".join(text.split())


def main() -> None:
    """Print the draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--pages", type=int, default=PAGES, help="number of pages")
    parser.add_argument("--under", nargs="+", help="draw only pages, from these folders of docs/")
    options = parser.parse_args()
    said, raised = list[Text](), list[Text]()
    for path in sorted((ROOT / "sally").rglob("*.py")):
        file, tree = str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))
        said += docstrings(tree, file)
        raised += errors(tree, file)
    homes = [ROOT / "docs" / folder for folder in options.under or [""]]
    found = sorted(page for home in homes for page in home.rglob("*.md"))
    pages = [Text(str(page.relative_to(ROOT)), 1, "") for page in found]
    draws = Random(f"prose {options.seed}")
    texts = [("docstrings", said, DOCSTRINGS), ("error messages", raised, ERRORS)]
    for title, every, n in [
        *([] if options.under else texts),
        ("pages", pages, options.pages),
    ]:
        print(f"\n{title}: {n} of {len(every)}\n")
        for number, (file, line, text) in enumerate(draws.sample(every, n), 1):
            if options.markdown:
                print(f"| {number} | `{file}:{line}` | {text.replace('|', '¦')} |  |")
            else:
                print(f"{number:3} {file}:{line} {text}")


if __name__ == "__main__":
    main()
