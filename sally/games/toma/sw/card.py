"""The card of the game Speak or Wait: explorers, guides and eavesdroppers that ignore all messages.

Under `win=published`, an explorer that walks through all cells wins without a message; that is why
`win=after_open` is our default. Even then such an explorer often wins once the password is known,
so a win rate is meaningful only in comparison with this card.
"""

from __future__ import annotations

from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut

METRICS = ("radio_won", "radio_caught", "radio_box_opened", "radio_collisions", "radio_turns")
EXPLORERS = (
    Shortcut(player_spec("sweeper"), player_spec("silent")),
    Shortcut(player_spec("tell_and_sweep"), player_spec("talker")),
)
GUIDES = (Shortcut(player_spec("talker"), player_spec("silent")),)
LISTENERS = (Shortcut(player_spec("search"), player_spec("search_back")),)
CALM = instance("toma_sw", "after_open")
PUBLISHED = instance("toma_sw", "published", win="published")


def _explorers(name: str, guide: str, listener: str, published: bool) -> Condition:
    return Condition(
        name=name,
        instances=(PUBLISHED if published else CALM,),
        seat="explorer",
        others={"guide": player_spec(guide), "eavesdropper": player_spec(listener)},
        shortcuts=EXPLORERS,
        metrics=METRICS,
    )


CARD = Card(
    family="toma_sw",
    no_ideal="no pool of guides, explorers or eavesdroppers is declared",
    about="scores in kang2026's third game without considering what the others know",
    unattacked="no single act is right: worlds are drawn evenly in play, the treasure in any cell "
    "but the start, and what an act is worth depends on what the others do",
    conditions=(
        *(
            _explorers(f"published: explorer, silent guide, {c}", "silent", c, published=True)
            for c in ("random", "search", "worlds")
        ),
        *(
            _explorers(f"after_open: explorer, guide who opens, {c}", "turn_taker", c, False)
            for c in ("random", "worlds")
        ),
        Condition(
            name="after_open: guide, explorer who takes turns, worlds",
            instances=(CALM,),
            seat="guide",
            others={"explorer": player_spec("turn_taker"), "eavesdropper": player_spec("worlds")},
            shortcuts=GUIDES,
            metrics=METRICS,
        ),
        Condition(
            name="after_open: eavesdropper, a team that takes turns",
            instances=(CALM,),
            seat="eavesdropper",
            others={"guide": player_spec("turn_taker"), "explorer": player_spec("turn_taker")},
            shortcuts=LISTENERS,
            metrics=("radio_caught", "radio_turns"),
        ),
    ),
)
