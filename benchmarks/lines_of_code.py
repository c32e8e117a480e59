"""Count the lines of code of each package at two commits.

    python benchmarks/lines_of_code.py e72d10b HEAD

Docstrings, comments and blank lines do not count.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def git(*arguments: str) -> str:
    """Return the output of a git command."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def code_lines(source: str) -> int:
    """Return the number of lines of code in a source text."""
    documented = set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            documented |= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return sum(
        1
        for number, line in enumerate(source.splitlines(), 1)
        if line.strip() and not line.strip().startswith("#") and number not in documented
    )


def packages(commit: str) -> Counter[str]:
    """Return the lines of code by package; each game counts on its own."""
    lines_by_package = Counter[str]()
    for path in git("ls-tree", "-r", "--name-only", commit, "--", "sally").split():
        if path.endswith(".py"):
            parts = path.split("/")
            package = "/".join(parts[1:3]) if parts[1] == "games" else parts[1]
            lines_by_package[package] += code_lines(git("show", f"{commit}:{path}"))
    return lines_by_package


if __name__ == "__main__":
    old_lines, new_lines = map(packages, sys.argv[1:3] or ("HEAD", "HEAD"))
    for package in sorted(old_lines | new_lines):
        print(f"{package:36} {old_lines[package]:8,} {new_lines[package]:8,}")
    print(f"{'all':36} {old_lines.total():8,} {new_lines.total():8,}")
