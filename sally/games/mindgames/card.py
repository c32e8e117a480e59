"""Baseline players of MindGames (its card), which do not model the target's knowledge and likes.

A standard puzzle is won by exactly one set of disclosures, so a rule that ignores the target should
hardly ever win. The other kinds of puzzles show how a rule scores if winning is impossible, certain
or merely possible. In the last kind, telling everything wins every second puzzle, and telling
nothing wins none, because the goal is never the target's first choice. The success rate of random
disclosure is computed exactly.
"""

from __future__ import annotations

from typing import Any

from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut
from sally.games.mindgames import frozen
from sally.games.mindgames.stories import stories

GAME = "mindgames"
PAIRS = (
    ("tell_all", "silent"),
    ("goal_only", "others_only"),
    ("increases", "decreases"),
    ("tell_all", "ask_only"),
)
STORIES = tuple(story.name for story in stories() if story.mental)
CHANCE = {"balanced_never_win": 0.0, "always_win": 1.0}


def _condition(name: str, collection: frozen.Collection, **params: Any) -> Condition:
    size = len(frozen.frozen(collection).puzzles)
    chance = {"mindgames_success": CHANCE[collection]} if collection in CHANCE else {}
    return Condition(
        name=name,
        instances=tuple(
            instance(
                GAME,
                f"audit {name} {number:02d}",
                collection=collection,
                number=number,
                story=STORIES[number % len(STORIES)],
                **params,
            )
            for number in range(size)
        ),
        seat="persuader",
        shortcuts=tuple(
            Shortcut(player_spec(rule), player_spec(inverse)) for rule, inverse in PAIRS
        ),
        metrics=("mindgames_success", "mindgames_sink"),
        chance=chance,
    )


CARD = Card(
    family=GAME,
    no_ideal="no pool of targets is declared",
    about="scores of disclosures that ignore the target",
    unattacked="a puzzle is won by a set of disclosures over several turns, not by one of a "
    "few options; rules over surface features stand among the conditions",
    conditions=(
        _condition("sequential memory", "standard", memory="sequential"),
        _condition("frozen memory", "standard", memory="frozen"),
        _condition("never_win", "balanced_never_win"),
        _condition("always_win", "always_win"),
        _condition("can_win", "balanced_can_win"),
    ),
)
