"""The card of the ambiguity game: speakers that do not ask what a listener makes of a clue."""

from __future__ import annotations

from sally.core.card import Card, Condition, Shortcut
from sally.core.log import Sitter
from sally.core.study import instance, sitter
from sally.games.toma.ag.rules import items

EMBEDDING = sitter("embedding", vocabulary_only=True)
SENSES = sitter("senses", vocabulary_only=True)


def _condition(name: str, listener: Sitter) -> Condition:
    return Condition(
        name=name,
        instances=tuple(instance("toma_ag", item.word, word=item.word) for item in items()),
        seat="speaker",
        others={"teammate": listener, "opponent": listener},
        shortcuts=(
            Shortcut(sitter("hint_b"), sitter("hint_c")),
            Shortcut(sitter("synonym"), sitter("stranger")),
        ),
        metrics=("clue_won", "clue_leaked", "clue_lost", "clue_missed"),
    )


CARD = Card(
    family="toma_ag",
    about="what kang2026's fourth game gives to clues that look at one hint or at none",
    unattacked="no clue is right in itself: it is as good as what the two listeners make of "
    "it, which the conditions measure",
    conditions=(
        _condition("embedding listeners", EMBEDDING),
        _condition("listeners with senses", SENSES),
    ),
)
