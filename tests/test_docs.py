"""Every example in the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.core.study import Study

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = None
    for kind, text in blocks(page):
        if kind == "python":
            out = io.StringIO()
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


def refreshed(page: Path) -> str:
    """The page with every printed output as it is now."""
    names: dict[str, object] = {}
    printed = ""

    def anew(found: re.Match[str]) -> str:
        nonlocal printed
        kind, text = found.groups()
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, str(page), "exec"), names)
            printed = out.getvalue()
        elif kind == "text" and printed:
            text, printed = f"{printed.strip()}\n", ""
        return f"```{kind}\n{text}```"

    return BLOCK.sub(anew, page.read_text(encoding="utf-8"))


def run_commands(text: str) -> None:
    for line in text.splitlines():
        if line.startswith("$ sally "):
            args = shlex.split(line.removeprefix("$ sally "))
            asked = "1\n" * 50 if args[0] == "play" else None
            result = CliRunner().invoke(cli, args, input=asked, catch_exceptions=False)
            assert result.exit_code == 0, f"{line}\n{result.output}"


if __name__ == "__main__":  # `make golden` calls this
    for each in PAGES:
        each.write_text(refreshed(each), encoding="utf-8")
