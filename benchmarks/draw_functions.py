"""Draw functions at random and print them without docstrings and comments, to be read by names.

    python benchmarks/draw_functions.py                       twenty functions of this tree
    python benchmarks/draw_functions.py --commit REV          of another commit
    python benchmarks/draw_functions.py --blind A B --out DIR two commits, shuffled, with a key

A function is drawn from the files of `sally` with more than 200 lines if it has a docstring, which
is the key to its meaning, and at least four lines besides. With `--blind`, `DIR/blind.txt` has the
functions of both commits under numbers alone, and `DIR/blind_key.json` commits and docstrings.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MIN_FILE_LINES = 201
MIN_BODY_LINES = 4
Function = dict[str, str]  # commit, place, name, docstring, source


def read_sources(commit: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every source file of a commit, or of the tree if empty."""
    if not commit:
        for path in sorted((ROOT / "sally").rglob("*.py")):
            yield str(path.relative_to(ROOT)), path.read_text("utf-8")
        return
    paths = _run_git("ls-tree", "-r", "--name-only", commit, "sally").splitlines()
    for name in sorted(name for name in paths if name.endswith(".py")):
        yield name, _run_git("show", f"{commit}:{name}")


def _run_git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True, text=True)
    return done.stdout


def list_functions(commit: str) -> Iterator[Function]:
    """Yield the functions and methods that can be drawn."""
    for path, text in read_sources(commit):
        if text.count("\n") < MIN_FILE_LINES:
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            docstring = ast.get_docstring(node)
            if docstring is None or node.name.startswith("__"):
                continue
            node.body = node.body[1:]
            source = ast.unparse(node)
            if source.count("\n") < MIN_BODY_LINES:
                continue
            yield {
                "commit": commit or "this tree",
                "place": f"{path}:{node.lineno}",
                "name": node.name,
                "docstring": docstring,
                "source": source,
            }


def draw_functions(commit: str, count: int, seed: int) -> list[Function]:
    """Return functions drawn without replacement."""
    return random.Random(seed).sample(list(list_functions(commit)), count)


def write_blind(commits: list[str], count: int, seed: int, folder: Path) -> None:
    """Write the functions of the commits in random order, and the key."""
    functions = [function for commit in commits for function in draw_functions(commit, count, seed)]
    random.Random(seed).shuffle(functions)
    texts = [f"### {n}\n\n{function['source']}\n" for n, function in enumerate(functions, 1)]
    key = {n: {**function, "source": ""} for n, function in enumerate(functions, 1)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "blind.txt").write_text("\n".join(texts), "utf-8")
    (folder / "blind_key.json").write_text(json.dumps(key, indent=1), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commit", default="", help="read a commit instead of the working tree")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=63)
    parser.add_argument("--blind", nargs=2, metavar="COMMIT", help="mix the draws of two commits")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for --blind")
    parser.add_argument("--json", action="store_true", help="print the draw as JSON")
    arguments = parser.parse_args()
    if arguments.blind:
        write_blind(arguments.blind, arguments.count, arguments.seed, arguments.out)
        return
    functions = draw_functions(arguments.commit, arguments.count, arguments.seed)
    if arguments.json:
        print(json.dumps(functions))
        return
    for function in functions:
        print(f"# {function['place']}\n{function['source']}\n")


if __name__ == "__main__":
    main()
