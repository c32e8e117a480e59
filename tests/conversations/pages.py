"""One page a strategy for the documentation, from its reference and its golden conversation."""

from __future__ import annotations

import re
from pathlib import Path

from sally.core.registry import registry
from tests.conversations import FOLDER, WITH

ROOT = Path(__file__).parent.parent.parent
HOME = ROOT / "docs" / "strategies"
COLUMNS = ("Prompt", "Calls per move", "Answer to a probe", "Requirements", "Source")
SECTION = re.compile(r"^=== (.*?) ===$", re.M)


def row(strategy: str) -> tuple[str, ...]:
    """What the reference says of a strategy, cell by cell."""
    text = (ROOT / "docs/reference/strategies.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and f"`{strategy}`" in cells[0].split(", "):
            return tuple(cells[1:])
    raise KeyError(strategy)


def example(strategy: str) -> tuple[str, str]:
    """The last turn of a golden conversation: its title, and all that was said in it."""
    file = FOLDER / f"{strategy}.txt"
    file = file if file.exists() else FOLDER / "pick_the_right_stuff" / file.name
    _, *parts = SECTION.split(file.read_text(encoding="utf-8"))
    turns = list(zip(parts[::2], parts[1::2], strict=True))
    last = turns[-1][0].rsplit(", ", 1)[0]
    said = [(title, text) for title, text in turns if title.rsplit(", ", 1)[0] == last]
    shown = "\n".join(f"=== {title} ==={text.rstrip()}\n" for title, text in said)
    return last, shown.rstrip()


def page(strategy: str) -> str:
    """The whole page."""
    about = registry.entries("strategies")[strategy].about
    lines = [f"# {strategy}", "", f"{about[:1].upper()}{about[1:].rstrip('.')}.", ""]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {name} | {cell} |" for name, cell in zip(COLUMNS, row(strategy), strict=True)]
    title, said = example(strategy)
    game = "the prisoner's dilemma" if title.startswith("ipd") else "Pick the Right Stuff"
    few = f"It uses `n = {WITH[strategy]['n']}`. " if "n" in WITH.get(strategy, {}) else ""
    lines += [
        "",
        f'To use it, set `strategy = "{strategy}"` in the parameters of a language player.',
        "[The reference](../reference/strategies.md) describes retries, votes and predictions",
        "inside a decision, which are the same for all strategies; the",
        "[glossary](../reference/glossary.md) defines *probe*, *menu* and *injection*.",
        "",
        "## An example",
        f"This is the last turn of a conversation in {game} that the tests compare word for word",
        f"({title}). {few}The replies are invented.",
        "",
        "```text",
        said,
        "```",
    ]
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Every page by its place."""
    return {HOME / f"{name}.md": page(name) for name in sorted(registry.entries("strategies"))}
