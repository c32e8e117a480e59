"""Mutants: change one operator or constant of the sources, and see whether the tests notice.

The sample is drawn by hashes of places in the sources (file, function, kind of change), so that two
checkouts have nearly the same mutants, and what their tests notice can be compared:

    python benchmarks/mutants.py --out after.jsonl --count 200 --workers 16
    python benchmarks/mutants.py --root OLD_CHECKOUT --out before.jsonl --count 200 --workers 16
    python benchmarks/mutants.py --compare before.jsonl after.jsonl

A run that was stopped goes on with the mutants that are not in its file. Mutants are made in
copies of the checkout in a temporary folder. For each mutant only the related tests are run: the
folder of tests with the name of the mutated package, those of profiles for `frames`, and the checks
of every game for `core` and for games.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EVERY_GAME = "tests/test_every_game.py"
OF_THE_CLONE = "tests/core/test_errors.py::test_install_command_uses_the_constraints_of_the_clone"
# package: tests, and the games of `EVERY_GAME` that are checked
RELATED: dict[str, tuple[tuple[str, ...], str]] = {
    "sally/core": (("tests/core", EVERY_GAME), "rps or cups or step_race or hanabi_very_small"),
    "sally/stats": (("tests/stats", "tests/analysis/test_compare.py"), ""),
    "sally/frames": (("tests/frames", "tests/analysis/test_profile.py"), ""),
    "sally/games/step_race": (("tests/games/step_race", EVERY_GAME), "step_race"),
    "sally/games/wavelength": (("tests/games/wavelength", EVERY_GAME), "wavelength"),
    "sally/games/bargaining": (("tests/games/bargaining", EVERY_GAME), "bargaining"),
}
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one expression of a source file."""

    package: str
    path: str
    place: str  # function and number of the change within it
    line: int
    original: str
    replacement: str
    span: tuple[int, int]  # in the source, in bytes

    @property
    def key(self) -> str:
        """Name of the mutant in every checkout that has the same expression there."""
        return f"{self.path}:{self.place}: {self.original} -> {self.replacement}"


def by_hash(mutant: Mutant) -> bytes:
    """Return the position of a mutant in the drawing of samples."""
    return blake2b(mutant.key.encode(), digest_size=8).digest()


def changed_expression(node: ast.expr) -> ast.expr | None:
    """Return an expression with another operator or constant, if it has one."""
    changed: Any = copy.deepcopy(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
        changed.ops[0] = OTHER[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OTHER:
        changed.op = OTHER[type(node.op)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        changed.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        changed.value = node.value + 1
    else:
        return None
    assert isinstance(changed, ast.expr)
    return changed


def mutants_of(root: Path, package: str) -> Iterator[Mutant]:
    """Yield every mutant of a package: expressions within functions, without type hints."""
    for file in sorted((root / package).rglob("*.py")):
        source = file.read_bytes()
        starts = [0]
        for text_line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(text_line))
        tree = ast.parse(source)
        path = file.relative_to(root).as_posix()
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            numbers: Counter[str] = Counter()
            for node in _expressions(function.body):
                changed = changed_expression(node)
                if changed is None:
                    continue
                original, replacement = ast.unparse(node), ast.unparse(changed)
                numbers[original] += 1
                assert node.end_lineno is not None and node.end_col_offset is not None
                span = (
                    starts[node.lineno - 1] + node.col_offset,
                    starts[node.end_lineno - 1] + node.end_col_offset,
                )
                place = f"{function.name} {numbers[original]}"
                yield Mutant(package, path, place, node.lineno, original, f"({replacement})", span)


def _expressions(body: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """Yield the expressions of a function; nested functions have their own turn."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.JoinedStr):
            continue
        if isinstance(node, ast.expr):
            yield node
        fields = ((name, value) for name, value in ast.iter_fields(node) if name != "annotation")
        for _, value in fields:
            children = value if isinstance(value, list) else [value]
            yield from _expressions([child for child in children if isinstance(child, ast.AST)])


def sample_mutants(root: Path, count: int, packages: Sequence[str] = ()) -> list[Mutant]:
    """Return the first mutants in the order of their hashes, the same number of each package."""
    names = list(packages or RELATED)
    per_package = -(-count // len(names))
    return [
        mutant
        for package in names
        for mutant in sorted(mutants_of(root, package), key=by_hash)[:per_package]
    ]


def mutated_source(source: bytes, mutant: Mutant) -> bytes:
    """Return the source with the change."""
    start, end = mutant.span
    return source[:start] + mutant.replacement.encode() + source[end:]


def run_tests(tree: Path, package: str, seconds: float) -> str:
    """Run the related tests in a tree: "survived", "killed", "killed by time" or an error."""
    tests, games = RELATED[package]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    command += ["--deselect", OF_THE_CLONE]  # a copy is none
    if games:
        command += ["-k", f"not test_every_game.py or {games}"]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, timeout=seconds, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired:
        return "killed by time"
    if done.returncode in (0, 1, 2):
        return "killed" if done.returncode else "survived"
    return f"error {done.returncode}: {done.stdout[-300:]}"


def copy_tree(root: Path, folder: Path) -> Path:
    """Copy what the tests need; large folders that they only read are linked."""
    folder.mkdir(parents=True)
    for name in ("sally", "tests", "benchmarks"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("docs", "examples", "pyproject.toml", "README.md", "constraints.txt"):
        (folder / name).symlink_to(root / name)
    return folder


def run(root: Path, out: Path, mutants: Sequence[Mutant], workers: int, seconds: float) -> None:
    """Try the mutants that are not in the file yet."""
    tried = {record["key"] for record in read(out)} if out.exists() else set()
    mutants = [mutant for mutant in mutants if mutant.key not in tried]
    print(f"{len(mutants)} mutants to try, {len(tried)} in {out}")
    with tempfile.TemporaryDirectory() as folder, out.open("a", encoding="utf-8") as lines:
        trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(workers):
            trees.put(copy_tree(root, Path(folder) / str(number)))

        def attempt(mutant: Mutant) -> tuple[Mutant, str]:
            tree = trees.get()
            file = tree / mutant.path
            source = file.read_bytes()
            try:
                file.write_bytes(mutated_source(source, mutant))
                return mutant, run_tests(tree, mutant.package, seconds)
            finally:
                file.write_bytes(source)
                trees.put(tree)

        for package in {mutant.package for mutant in mutants}:
            tree = trees.get()
            if (result := run_tests(tree, package, seconds)) != "survived":
                raise SystemExit(f"Without a mutant, the tests of {package} end with: {result}.")
            trees.put(tree)
        with ThreadPoolExecutor(workers) as pool:
            for mutant, result in pool.map(attempt, mutants):
                record = {"key": mutant.key, "package": mutant.package, "result": result}
                lines.write(json.dumps({**record, "line": mutant.line}) + "\n")
                lines.flush()


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records of a run."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def summarize(records: Sequence[dict[str, Any]]) -> str:
    """Return one line a package: mutants killed of those tried."""
    counts: dict[str, Counter[bool]] = {}
    for record in records:
        is_killed = record["result"].startswith("killed")
        counts.setdefault(record["package"], Counter())[is_killed] += 1
    return "\n".join(
        f"{package}: {count[True]} of {count.total()} killed" for package, count in counts.items()
    )


def compare(old_path: Path, new_path: Path) -> str:
    """Return what two runs killed of the mutants they share, and the mutants they differ in."""
    old, new = (
        {record["key"]: record["result"].startswith("killed") for record in read(path)}
        for path in (old_path, new_path)
    )
    shared = sorted(old.keys() & new.keys())
    counts = [sum(killed[key] for key in shared) for killed in (old, new)]
    lines = [f"{len(shared)} mutants in both; killed before {counts[0]}, after {counts[1]}"]
    for key in shared:
        if old[key] != new[key]:
            lines.append(f"{'killed only before' if old[key] else 'killed only after'}: {key}")
    return "\n".join(lines)


def main() -> None:
    """Run or compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, help="file of results, one line a mutant")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to mutate")
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=400, help="time limit of one mutant")
    parser.add_argument("--package", action="append", default=[], choices=list(RELATED))
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args()
    if options.compare:
        print(compare(*options.compare))
        return
    if options.out is None:
        parser.error("--out or --compare is needed")
    root = options.root.resolve()
    mutants = sample_mutants(root, options.count, options.package)
    run(root, options.out, mutants, options.workers, options.seconds)
    print(summarize(read(options.out)))


if __name__ == "__main__":
    main()
