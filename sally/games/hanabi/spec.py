"""Registry entry of Hanabi: rules, words, probes and the small variants by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sally.core.rules.game import GameSpec, MeasureSpec, PeopleSpec
from sally.games.hanabi.probes import PROBES
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import State, View
from sally.games.hanabi.words import PEOPLE, TEXTS, HanabiWords

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "hanabi_mini": {"colours": 3, "ranks": 3, "hand": 3, "hints": 5},
    "hanabi_small": {"colours": 2, "hand": 2, "hints": 3, "lives": 1},
    "hanabi_very_small": {"colours": 1, "hand": 2, "hints": 3, "lives": 1},
}

GAME: GameSpec[State, int, View] = GameSpec(
    name="hanabi",
    about="see every hand but your own; hint, discard or play, and win together (Bard et al. 2020)",
    game=Hanabi,
    words=HanabiWords,
    texts=TEXTS,
    probes=PROBES,
    presets=PRESETS,
    abouts={
        "hanabi_mini": "Hanabi with three colours, three ranks and hands of three (jax-aht)",
        "hanabi_small": "Hanabi with two colours, hands of two and one life (Bard et al. 2020)",
        "hanabi_very_small": "Hanabi with one colour, hands of two and one life (Bard et al. 2020)",
    },
    usual="smart",
    people=PeopleSpec.read(
        __package__,
        texts=PEOPLE,
        sentences=dict.fromkeys(
            ("hanabi", "hanabi_mini", "hanabi_small", "hanabi_very_small"),
            "All players see each other's cards, but not their own. Give hints, play and discard "
            "cards, and build the fireworks together.",
        ),
        settings={"players": (2, 5)},
    ),
    measured=MeasureSpec(
        pays=lambda game, seat: (0.0, float(game.highest)),
        same_question=("own_card_odds", "own_card"),
        reference="smart",
    ),
)
