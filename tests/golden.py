"""Golden playthroughs: one random game of every kind, and what each seat could read in it.

`python -m tests.golden` writes them anew; read them before you commit, and raise the version of
the rules (the moves changed) or of the words (only the pages did) with them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

import tests.conftest  # noqa: F401  puts the fixture games on the shelf
from sally.core.log.events import Event
from sally.core.match.player import Turn
from sally.core.registry import registry
from sally.core.rules.game import NATURE
from tests.table import all_probes, asked_in_turn, match_of, problem_of, spec_of, table

FOLDER = Path(__file__).parent / "playthroughs"
SEED = 1


def written() -> list[str]:
    """The games that have a playthrough."""
    return sorted(registry.games())


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.txt"


def playthrough(name: str) -> str:
    """A game from its first event to its end, then the pages of every seat."""
    spec = spec_of(name)
    match = match_of(table(name, SEED, arms=all_probes(name)))
    pages: dict[str, Pages] = {}
    for turn, _ in asked_in_turn(match):
        pages.setdefault(turn.seat, Pages()).see(turn)
    head = (
        f"game: {name}\nrules version: {spec.version}\nwords version: {spec.words_version}\n"
        f"parameters: {msgspec.json.encode(problem_of(name).params).decode()}\nseed: {SEED}\n"
    )
    events = "\n".join(map(_event, match.events))
    seats = [s for s in (*match.game.seats, *match.game.helpers) if s != NATURE and s in pages]
    text = "\n".join("\n".join(pages[seat].shown(seat)) for seat in seats)
    return f"{head}\n{events}\n\n{text}\n"


def _event(event: Event) -> str:
    """One event in one line: its turn, its kind, and what is in it."""
    plain: dict[str, Any] = msgspec.to_builtins(event)
    turn, kind = plain.pop("turn"), plain.pop("kind")
    facts = " ".join(f"{key}={msgspec.json.encode(fact).decode()}" for key, fact in plain.items())
    return f"{turn}. {kind} {facts}"


class Pages:
    """What one seat could read: its last page in every form, and every question as first put."""

    def __init__(self) -> None:
        self.openings: dict[str, str] = {}
        self.asked: dict[str, str] = {}

    def see(self, turn: Turn) -> None:
        words, view, question = turn.context.words, turn.view, turn.question
        for form in words.forms:
            self.openings[form] = str(turn.context.opening(view, form))
        if question is None:
            expected_question = words.question(view, turn.options)
            parts = (words.now(view), expected_question, words.format(view, turn.options))
            self.asked.setdefault(expected_question, "\n".join(part for part in parts if part))
        else:
            parts = (
                words.say("aside.intro"),
                words.aside(question, view, turn.pending),
                words.aside_format(question),
            )
            self.asked.setdefault(f"{question.probe} {question.about}", "\n".join(parts))

    def shown(self, seat: str) -> Iterator[str]:
        for form, opening in self.openings.items():
            yield f"--- what {seat} read last, {form} ---"
            yield opening.rstrip("\n")
        for n, request in enumerate(self.asked.values(), 1):
            yield f"--- what {seat} was asked, {n} ---"
            yield request
        yield ""


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in names or written():
        path_of(name).write_text(playthrough(name))
        print(f"wrote {path_of(name)}")


if __name__ == "__main__":
    main(sys.argv[1:])
