"""Hundreds of replies that name an option: those that choose it are read, all others are not."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sally.core.errors import Unreadable
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.core.reply.named_numbers import read_odds, read_values
from sally.games.toma.sw.words import read_guess

TABLE: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "unclear.toml").read_text("utf-8")
)
NAMES = {
    "repeated_games": ("J", "F"),
    "level_k": ("17", "18"),
    "toma_mg": ("Amber Hall", "Dune Hall"),
    "hanabi": ("play card 1", "tell Bob red"),
}
Read = Callable[[str], Any]


def desk_of(game: str) -> tuple[str, Read]:
    """The label and the reader of whoever moves first."""
    spec: Any = registry.game(game)
    lineup = {seat: PlayerSpec("random") for seat in spec.build().seats}
    asks = Match(spec, Setup(Instance(game, game, {}), 1, lineup)).asks()
    turn: Any = next(turn for turn in asks if turn.seat in lineup)
    words = turn.context.words
    return words.label, lambda reply: words.read(reply, turn.view, turn.options)


def said(row: str, label: str, name: str, other: str) -> str:
    row = row.replace("\\n", "\n").replace("{l}", label.lower()).replace("{U}", label.upper())
    return row.replace("{L}", label).replace("{A}", name).replace("{B}", other)


def outcome(read: Read, reply: str) -> Any:
    try:
        return read(reply)
    except Unreadable:
        return None


@pytest.mark.parametrize("game", NAMES)
def test_what_is_not_chosen_is_no_move(game: str) -> None:
    label, read = desk_of(game)
    rows = [said(row, label, *NAMES[game]) for row in TABLE["unclear"]]
    taken = [reply for reply in rows if outcome(read, reply) is not None]
    assert len(TABLE["unclear"]) > 1000
    assert taken == []


def test_what_still_gets_through_is_listed() -> None:
    label, read = desk_of("repeated_games")
    rows = [said(row, label, *NAMES["repeated_games"]) for row in TABLE["still_taken"]]
    assert [reply for reply in rows if outcome(read, reply) is None] == []
    assert len(rows) < 10


@pytest.mark.parametrize("game", NAMES)
def test_what_is_chosen_clearly_is_read(game: str) -> None:
    label, read = desk_of(game)
    rows = TABLE["clear"] + (TABLE["clear_but_for_numbers"] if game != "level_k" else [])
    meant = read(f"{label}: {NAMES[game][0]}")
    missed = [r for row in rows if outcome(read, r := said(row, label, *NAMES[game])) != meant]
    assert len(rows) > 400
    assert missed == []


OFFER = json.dumps({"kind": "propose", "to": "p2", "offer": [["coal", "1"]], "request": []})
AFTER = ("\nNo, scratch that.", "\nI take it back.", "\nThat was a typo.", "\nOops, wrong one.")
BEFORE = ("They would say:\n", "For example:\n", "I refuse to write\n")
FINE = ("", "\nThey need it.", "\nIt connects us both.", "\n\nReason: it pays more.")


ANSWERS = {
    "tradecraft": OFFER,
    "taboo": "Hint: abbey",
    "codenames": "Clue: abbey 2",
    "toma_ag": "Action: abbey",
    "toma_sw": "My Next Action: WAIT",
    "cell": "Target: B\nGuess: [1, 2]",
    "odds": "Odds: J 60%, F 40%",
    "values": "wood: 3\nwool: 4",
}
READERS: dict[str, Read] = {
    "cell": read_guess,
    "odds": lambda reply: read_odds(reply, ("J", "F")),
    "values": lambda reply: read_values(reply, ("wood", "wool"), 0, 10),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_of_any_kind_can_be_taken_back(kind: str) -> None:
    answer, read = ANSWERS[kind], READERS.get(kind) or desk_of(kind)[1]
    meant = read(answer)
    assert [read(f"Thoughts: maybe not.\n{answer}{after}") for after in FINE] == [meant] * len(FINE)
    assert [r for after in AFTER if outcome(read, r := answer + after) is not None] == []
    assert [r for before in BEFORE if outcome(read, r := before + answer) is not None] == []


@pytest.mark.parametrize(
    ("game", "reply"),
    [
        ("tradecraft", f"Do not do {OFFER}"),
        ("tradecraft", f"If they want coal, {OFFER}"),
        ("taboo", "Hint: anything but abbey"),
        ("taboo", "Hint: abbey?"),
        ("taboo", "Hint: <word>"),
        ("taboo", "Hint: abbey\nHint: accent"),
        ("codenames", "Clue: maybe abbey 2"),
    ],
)
def test_an_answer_within_a_denial_is_none(game: str, reply: str) -> None:
    with pytest.raises(Unreadable):
        desk_of(game)[1](reply)
