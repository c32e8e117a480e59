"""What every source file of ours is held to; each is parsed and walked once for all tests here."""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import sally

ROOT = Path(sally.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp


class Source(NamedTuple):
    """What the tests here want to know of a file, found in one walk through its tree."""

    imports: set[str]  # of whatever kind, at the top, within functions and for types alike
    reused: list[str]
    flags: list[int]  # lines in which an error speaks of a flag of the command line
    names: Counter[str]  # variables and functions, and how many of them have vague names


@functools.cache
def sources() -> dict[str, Source]:
    """Every file of ours by the name of its module."""
    named = {".".join(("sally", *f.relative_to(ROOT).with_suffix("").parts)): f for f in FILES}
    return {n.removesuffix(".__init__"): found_in(f.read_text("utf-8")) for n, f in named.items()}


def found_in(text: str) -> Source:
    module = ast.parse(text)
    nodes = all_of(module)
    return Source(
        imported(nodes), reused(module, nodes), speaking_of_flags(nodes), count_names(nodes)
    )


def all_of(module: ast.Module) -> list[ast.AST]:
    """As `ast.walk` finds them, but for contexts, which stand for themselves; in half the time."""
    found: list[ast.AST] = [module]
    for node in found:  # it grows on the way
        for name in node._fields:
            if name == "ctx":
                continue
            value = getattr(node, name)
            if type(value) is list:
                found += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


# --- imports ------------------------------------------------------------------------------------


def imported(nodes: list[ast.AST]) -> set[str]:
    """Every name that may be a module: what is imported from, and what is imported from it."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}:{alias.name}" for alias in node.names}
    return found


def imports(source: Source, known: set[str]) -> set[str]:
    """The files that this one imports; of a package, the file within it that is meant."""
    found = set()
    for name in source.imports:
        package, _, inside = name.partition(":")
        within = f"{package}.{inside}"
        found.add(within if inside and within in known else package)
    return found & known


def cycle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def test_modules_have_no_import_cycles() -> None:
    """Not even for its types."""
    known_sources = set(sources())
    graph = {name: imports(source, known_sources) for name, source in sources().items()}
    assert graph["sally.core.match.engine"] >= {"sally.core.log.events", "sally.core.match.probes"}
    assert cycle(graph) == []
    circular = {**graph, "sally.core.log.seat": {"sally.core.match.engine"}}
    assert "sally.core.log.seat" in cycle(circular)


# --- what one version of Python gets wrong and others do not ------------------------------------


def bound_in(each: ast.AST) -> set[str]:
    matches = (n for n in ast.walk(each) if isinstance(n, ast.Name))
    return {n.id for n in matches if isinstance(n.ctx, ast.Store)}


def reads(node: ast.AST) -> Counter[str]:
    return Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def reused(module: ast.Module, nodes: list[ast.AST]) -> list[str]:
    """Names of a module that one function calls and one of its comprehensions binds.

    Python 3.12 puts comprehensions into their function, and its first releases then take such a
    name for a variable of the function that has no value.
    """
    ours = {n.name for n in module.body if isinstance(n, Function | ast.ClassDef)}
    brought = (n for n in module.body if isinstance(n, ast.Import | ast.ImportFrom))
    ours |= {(a.asname or a.name).partition(".")[0] for n in brought for a in n.names}
    binds = {n: bound_in(n) & ours for n in nodes if isinstance(n, Comprehension)}
    if not any(binds.values()):
        return []  # most files: no function has to be gone through
    found = []
    for function in (n for n in nodes if isinstance(n, Function)):
        within = [n for n in ast.walk(function) if isinstance(n, Comprehension) and binds[n]]
        counts = reads(function)
        for name in {name for each in within for name in binds[each]}:
            inside = max(reads(each)[name] for each in within if name in binds[each])
            if counts[name] > inside:
                found.append(f"{function.name}: {name}")
    return found


def test_called_functions_are_not_shadowed_by_local_names() -> None:
    assert not {name: source.reused for name, source in sources().items() if source.reused}


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("[alike for alike in w], [alike(s) for s in w]", ["cuts: alike"]),
        ("[order for order in w], [alike(s) for s in w]", []),
        ("[alike for alike in w]", []),
    ],
)
def test_locally_bound_and_called_name_is_detected(body: str, wrong: list[str]) -> None:
    source = f"def alike(x): return x\ndef cuts(w): return {body}\n"
    assert found_in(source).reused == wrong


# --- errors -------------------------------------------------------------------------------------


def speaking_of_flags(nodes: list[ast.AST]) -> list[int]:
    found = []
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "BadInput":
            parts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
            said = re.sub("`sally [^`]*`", "", "".join(p for p in parts if isinstance(p, str)))
            if re.search(r"(^|[\s`(])--[a-z]", said):
                found.append(node.lineno)
    return found


def test_library_errors_do_not_mention_flags() -> None:
    """A notebook has none; a whole command (`sally run ...`) may be quoted."""
    flags = {name: source.flags for name, source in sources().items() if source.flags}
    assert [name for name in flags if not f"{name}.".startswith("sally.cli.")] == []
    assert any(name.startswith("sally.cli.") for name in flags)  # there it may, and is found


# --- names --------------------------------------------------------------------------------------

# Pronouns, participles and adverbs do not say what a variable holds ("Names" in CONTRIBUTING.md).
VAGUE_WORDS = """
after again along apart asked at before both drawn each every far found given got held here how
kept known least left less lost made many met mine more most much named near off on once one ones
other over own put rest said same seen several shown some such taken theirs then there those till
told under up wanted way what when whence where which who whole why worth yet
"""
PARTICIPLES = "begun built chosen heard laid meant paid sent spoken won written"  # also: -ed
VAGUE = frozenset(VAGUE_WORDS.split())
NO_VERBS = VAGUE | frozenset(PARTICIPLES.split())
CEILINGS = {"variables": 0.0042, "functions": 0.005}  # shares that only go down
TEST_CEILINGS = {"variables": 0.028, "functions": 0.039}


def count_names(nodes: list[ast.AST]) -> Counter[str]:
    """Return how many variables and functions a file binds, and how many of each are vague."""
    counts: Counter[str] = Counter()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts.update(("variables", "vague variables")[: 1 + is_vague(node.id)])
        elif isinstance(node, ast.arg):
            counts.update(("variables", "vague variables")[: 1 + is_vague(node.arg)])
        elif isinstance(node, Function):
            counts.update(("functions", "vague functions")[: 1 + is_participle(node.name)])
    return counts


def is_vague(name: str) -> bool:
    return name.strip("_") in VAGUE


def is_participle(name: str) -> bool:
    """Return whether the name of a function is one word that is no verb."""
    word = name.strip("_")
    ends = word.endswith("ed") and len(word) > 4 and "_" not in word
    return ends or word in NO_VERBS


def shares_of_vague_names(counts: Counter[str]) -> dict[str, float]:
    return {kind: counts[f"vague {kind}"] / counts[kind] for kind in CEILINGS}


def test_share_of_vague_names_only_goes_down() -> None:
    counts = sum((source.names for source in sources().values()), Counter[str]())
    shares = shares_of_vague_names(counts)
    assert all(shares[kind] <= ceiling for kind, ceiling in CEILINGS.items()), shares


def test_share_of_vague_names_in_tests_only_goes_down() -> None:
    counts = Counter[str]()
    for file in Path(__file__).parent.rglob("*.py"):
        counts.update(count_names(all_of(ast.parse(file.read_text("utf-8")))))
    shares = shares_of_vague_names(counts)
    assert all(shares[kind] <= ceiling for kind, ceiling in TEST_CEILINGS.items()), shares


def test_vague_names_are_counted() -> None:
    text = "def told(found, seat):\n    for each in found:\n        _at, seat_rows = each, seat\n"
    assert count_names(all_of(ast.parse(text))) == {
        "variables": 5, "vague variables": 3, "functions": 1, "vague functions": 1
    }  # fmt: skip
