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
TERMS = {  # explained on the pages whose table uses them
    "menu": "A *menu* is the finite list of moves from which a player chooses.",
}


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
    pairs = [(title, text) for title, text in turns if title.rsplit(", ", 1)[0] == last]
    shown_text = "\n".join(f"=== {title} ==={text.rstrip()}\n" for title, text in pairs)
    return last, shown_text.rstrip()


def _made_up(reply: str) -> str:
    """The sentence that tells what of an example is invented."""
    if "--- log-prob" not in reply:
        return "The replies are invented, so they need not make sense."
    if "--- reply" not in reply:
        return "The log-probabilities (one for each option) are invented."
    return "The replies and the log-probabilities (one for each option) are invented."


def _shortened(reply: str) -> tuple[str, ...]:
    """The sentence that explains an abbreviated prompt; nothing if no prompt is abbreviated."""
    if "lines as on page" not in reply:
        return ()
    return (
        "The prompts of the conversation are numbered as pages;",
        "a line in square brackets replaces lines that were already on the previous page.",
    )


def _linked(cell: str, strategy: str) -> str:
    """A cell of the table with links to the other strategies that it names."""
    others = "|".join(sorted(set(registry.entries("strategies")) - {strategy}))
    return re.sub(rf"`({others})`", r"[`\1`](\1.md)", cell)


def page(strategy: str) -> str:
    """The whole page."""
    about = registry.entries("strategies")[strategy].about
    lines = [f"# {strategy}", "", f"{about[:1].upper()}{about[1:].rstrip('.')}.", ""]
    lines += ["| | |", "|---|---|"]
    cells = ["none" if cell == "-" else _linked(cell, strategy) for cell in row(strategy)]
    lines += [f"| {name} | {cell} |" for name, cell in zip(COLUMNS, cells, strict=True)]
    title, text = example(strategy)
    game = "the iterated prisoner's dilemma" if title.startswith("ipd") else "Pick the Right Stuff"
    used = [
        f"The example uses `{key} = {value}`. " for key, value in WITH.get(strategy, {}).items()
    ]
    lines += [
        "",
        f'Set `strategy = "{strategy}"` in the parameters of a language player to use it.',
        "[The reference](../reference/strategies.md) compares all strategies and describes",
        "retries, votes, and the predictions that some strategies ask for. A *probe* is a question",
        "that the player is asked outside the game, such as what the other player will do.",
        *(meaning for word, meaning in TERMS.items() if word in " ".join(cells)),
        "",
        "## An example",
        f"These are the model calls of the last turn ({title}) in a stored example",
        f"of {game}. Each call starts with a line `===`; a line `---`",
        f"separates the prompt from the model's output. {''.join(used)}{_made_up(text)}",
        *_shortened(text),
        "",
        "```text",
        text,
        "```",
    ]
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Every page by its place."""
    return {HOME / f"{name}.md": page(name) for name in sorted(registry.entries("strategies"))}
