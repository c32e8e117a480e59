"""Every example in the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import re
import shlex
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner

from benchmarks.lines_of_code import code_lines
from sally.cli import cli
from sally.cli.group import ENTRIES, VIEWS, load
from sally.core.registry import registry
from sally.core.registry.study import Study
from tests import notebooks
from tests.conversations.pages import pages

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PRINTED = ("python", "text")  # a block of code, and what it prints
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FEWER = {"audit rps --episodes 5": "audit rps --episodes 1"}  # where nothing depends on the number


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    kept_entries = {folder: dict(entries) for folder, entries in registry._added.items()}
    monkeypatch.setattr(registry, "_added", kept_entries)  # what a page adds is gone after it
    monkeypatch.setattr(registry, "_files", [])
    monkeypatch.setattr(registry, "_results", {})  # lists cached on a page end with it
    names: dict[str, object] = {}
    printed = None
    for kind, text in blocks(page):
        if kind == "python":
            out = io.StringIO()
            if kept_as(text, tmp_path):
                continue
            with contextlib.redirect_stdout(out):
                exec(compile(text, str(page), "exec"), names)
            printed = out.getvalue()
        elif kind == "text" and printed is not None:
            assert printed.strip() == text.strip()
            printed = None
        elif kind == "toml":
            msgspec.toml.decode(text, type=Study)
            (tmp_path / "study.toml").write_text(text)
        elif kind == "console":
            run_commands(text)


def kept_as(text: str, folder: Path) -> bool:
    """Whether a block is a file of the reader's, named in its first line; then it is written."""
    match = re.match(r"# (\w+\.py)\n", text)
    if match:
        (folder / match[1]).write_text(text)
    return match is not None


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with its full name."""
    context = click.Context(group)
    entries = ENTRIES if group is cli else group.commands
    for name, command in ((name, group.get_command(context, name)) for name in entries):
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, command
        if group is cli:
            options = ((key, place) for key, place in VIEWS.get(name, {}).items() if key[0] == "-")
            for option, place in options:
                yield f"{name} {option}", load(place)


def named_in(table: str) -> str:
    """The first column of a table, `a`, `b` of one group spelled out in full."""
    cells = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| `")]
    spelled = []
    for cell in cells:
        first, *others = re.findall(r"`(?:sally )?([^`]*)`", cell)
        group = first.split()[0]
        spelled += [first, *(f"{group} {other_item}" for other_item in others)]
    return "\n".join(spelled)


@pytest.mark.parametrize(("name", "command"), list(commands(cli)), ids=lambda v: str(v))
def test_reference_lists_every_command_and_its_json(name, command):
    page = (ROOT / "docs/reference/command_line.md").read_text(encoding="utf-8")
    what_it_does, shapes = page.split("## What `--json` prints")
    assert re.search(rf"^{name}\b", named_in(what_it_does), re.M)
    if any("--json" in option.opts for option in command.params):
        assert re.search(rf"^{name}\b", named_in(shapes), re.M)


@pytest.mark.parametrize(
    ("row", "arguments"),
    [
        ("score", "score STORE"),
        ("profile", "profile STORE"),
        ("profile --checklist", "profile --checklist STORE"),
        ("evaluate", "evaluate --bot knows_half --game ibs --out pairs"),
        ("plan", "plan quickstart"),
        ("run", "run quickstart --limit 3 --out STORE"),
        ("replay", "replay STORE"),
        ("audit", "audit rps --episodes 1"),
        ("doctor", "doctor"),
    ],
)
def test_reference_names_every_key_that_json_prints(row, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_commands("$ sally run quickstart --limit 3 --out STORE\n")
    result = CliRunner().invoke(cli, [*arguments.split(), "--json"])
    printed = json.loads(result.stdout)
    keys = set(printed[0] if isinstance(printed, list) else printed)
    page = (ROOT / "docs/reference/command_line.md").read_text(encoding="utf-8")
    shapes = page.split("## What `--json` prints")[1]
    shape = re.search(rf"^\| `{row}` \|(.*)$", shapes, re.M)[1]
    assert keys <= set(re.findall(r'"(\w+)"', shape))


def test_every_page_is_in_the_menu_and_on_the_map():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    start = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs").rglob("*.md")):
        place = page.relative_to(ROOT / "docs").as_posix()
        assert f": {place}\n" in menu
        assert place == "index.md" or f"]({place})" in start


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_internal_links_of_the_documentation_exist(page):
    text = re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))  # without code
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        assert "://" in target or (page.parent / target).is_file(), target


def test_every_dependency_is_explained_under_its_extra():
    page = (ROOT / "docs/reference/dependencies.md").read_text(encoding="utf-8")
    page, _, _ = page.partition("\n## ")  # what follows was weighed, some of it not taken
    rows = [line.split("|")[1:3] for line in page.splitlines()[6:] if line.startswith("|")]
    pairs = {
        (name, extra.strip(" `")) for names, extra in rows for name in names.strip().split(", ")
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {"-": project["dependencies"], **project["optional-dependencies"]}
    extras.pop("all")
    bare = re.compile(r"^[\w-]+")
    asked_pairs = {
        (bare.match(item)[0], extra)
        for extra, expected_extra in extras.items()
        for item in expected_extra
    }
    assert pairs == asked_pairs


def test_page_on_architecture_names_folders_and_files_that_exist():
    page = (ROOT / "docs/discussion/architecture.md").read_text(encoding="utf-8")
    page, _, _ = page.partition("\n## Code weighed")  # what follows also names what is gone
    paths = set(re.findall(r"`([a-z_]+/[\w./]*)`", page)) - {"importers/"}  # of each game
    assert len(paths) > 20
    places = (ROOT, ROOT / "sally")
    assert [path for path in paths if not any((place / path).exists() for place in places)] == []


def test_page_on_dependencies_counts_lines_of_files_that_exist():
    page = (ROOT / "docs/reference/dependencies.md").read_text(encoding="utf-8")
    files = re.findall(r"`(sally/[\w/]+\.py)`(?: \((\d+) lines\))?", page)
    assert len(files) > 5
    for file, lines in files:
        count = code_lines((ROOT / file).read_text(encoding="utf-8"))
        assert not lines or abs(count - int(lines)) <= 0.1 * count, (file, count)


def test_page_on_tests_names_files_that_exist():
    page = (ROOT / "docs/discussion/testing.md").read_text(encoding="utf-8")
    matches = re.findall(r"^\|.*\| `([\w/]+\.py)` \|", page, re.MULTILINE)
    assert len(matches) > 50
    assert [name for name in matches if not (ROOT / "tests" / name).is_file()] == []


def test_every_strategy_is_in_its_reference():
    page = (ROOT / "docs/reference/strategies.md").read_text(encoding="utf-8")
    rows = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert [name for name in registry.entries("strategies") if f"`{name}`" not in rows] == []


@pytest.mark.parametrize("page", notebooks.TUTORIALS, ids=lambda p: p.stem)
def test_tutorial_notebooks_equal_their_pages(page):
    """Cell by cell as its page, whose examples are run above; outputs as the page prints them."""
    cells = json.loads(page.with_suffix(".ipynb").read_text(encoding="utf-8"))["cells"]
    now = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    assert now == notebooks.sources(page), "python -m tests.notebooks"
    printed = ["".join(o.get("text", ())) for c in cells for o in c.get("outputs", ())]
    pairs = itertools.pairwise(blocks(page))
    texts = [text.strip() for (before, _), (kind, text) in pairs if (before, kind) == PRINTED]
    assert [text for text in texts if text not in map(str.strip, printed)] == []


def test_strategy_pages_equal_the_golden_conversations():
    for page, text in pages().items():
        assert page.read_text(encoding="utf-8") == text, f"python -m tests.conversations: {page}"


def refresh(page: Path) -> str:
    """The page with every printed output as it is now."""
    names: dict[str, object] = {}
    printed = ""

    def anew(found: re.Match[str]) -> str:
        nonlocal printed
        kind, text = found.groups()
        if kind == "python":
            out = io.StringIO()
            if not kept_as(text, Path.cwd()):
                with contextlib.redirect_stdout(out):
                    exec(compile(text, str(page), "exec"), names)
            printed = out.getvalue()
        elif kind == "text" and printed:
            text, printed = f"{printed.strip()}\n", ""
        return f"```{kind}\n{text}```"

    return BLOCK.sub(anew, page.read_text(encoding="utf-8"))


def run_commands(text: str) -> None:
    """Each command goes well; lines below it, if any, are all it prints (`...`: some left out)."""
    for line, page_text in re.findall(r"^\$ sally (.*)\n((?:(?!\$).*\n)*)", text, re.M):
        args = shlex.split(FEWER.get(line, line))
        asked_text = "1\n" * 50 if args[0] == "play" else None
        result = CliRunner().invoke(cli, args, input=asked_text, catch_exceptions=False)
        assert result.exit_code == 0, f"{line}\n{result.output}"
        if expected_text := strip(page_text):
            parts = [re.escape(part.strip()) for part in f"\n{expected_text}\n".split("\n...\n")]
            assert re.fullmatch(".*".join(parts), strip(result.stdout), re.S), result.stdout


def strip(text: str) -> str:
    """Without blank lines and what nobody sees at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()).strip()


if __name__ == "__main__":  # `make golden` calls this
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for each in PAGES:
            each.write_text(refresh(each), encoding="utf-8")


def test_folder_of_readme_and_tutorials_belongs_to_one_study() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
    studies: dict[str, set[str]] = {}
    for page in pages:
        for line in page.read_text("utf-8").splitlines():
            command = re.match(r"\$? ?sally run (\S+) .*--out (\S+)", line)
            if command and not command[1].endswith("model.toml"):  # the study of the page, extended
                studies.setdefault(command[2], set()).add(command[1])
    assert studies and all(len(names) == 1 for names in studies.values()), studies
