"""Baseline players of the ambiguity game (its card), which ignore how listeners read a clue."""

from __future__ import annotations

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut
from sally.games.toma.ag.rules import items

EMBEDDING = player_spec("embedding", vocabulary_only=True)
SENSES = player_spec("senses", vocabulary_only=True)


def _condition(name: str, listener: PlayerSpec) -> Condition:
    return Condition(
        name=name,
        instances=tuple(instance("toma_ag", item.word, word=item.word) for item in items()),
        seat="speaker",
        others={"teammate": listener, "opponent": listener},
        shortcuts=(
            Shortcut(player_spec("hint_b"), player_spec("hint_c")),
            Shortcut(player_spec("synonym"), player_spec("stranger")),
        ),
        metrics=("clue_won", "clue_leaked", "clue_lost", "clue_missed"),
    )


CARD = Card(
    family="toma_ag",
    no_ideal="a clue is any word, and no pool of listeners is declared",
    about="scores in kang2026's fourth game of clues that use one hint or none",
    unattacked="no clue is right in itself: it is as good as what the two listeners make of "
    "it, which the conditions measure",
    conditions=(
        _condition("embedding listeners", EMBEDDING),
        _condition("listeners with senses", SENSES),
    ),
)
