"""Decisions with stated beliefs, which a game reads from its episodes (`BELIEFS`)."""

from __future__ import annotations

import msgspec

from sally.core.log.events import label
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played

PEOPLE = "people"


class BeliefDecision(msgspec.Struct, frozen=True):
    """One decision that the player chose, with the beliefs stated before it."""

    source: str  # the data set, or the name of the game
    player: str  # `people`, or the label of a model
    person: str  # a person, or an episode of a model
    cluster: str  # a person, or an instance or recorded game of a model
    cell: str
    game: str  # menu and payoffs: the same text in all decisions of one game
    period: float | None
    actions: tuple[str, ...]
    move: int
    stated_worth: tuple[float, ...] | None  # expected payoffs by the stated belief
    expected: tuple[float, ...] | None  # stated shares of others, by action
    true_worth: tuple[float, ...] | None  # payoffs by what the others did
    decides: bool = True  # whether another belief would have other best replies


def decision_of_round(
    played: Played,
    seat: Seat,
    turn: int,
    *,
    actions: tuple[str, ...],
    move: int,
    game: str,
    stated_worth: tuple[float, ...],
    expected: tuple[float, ...] | None,
    true_worth: tuple[float, ...] | None,
    decides: bool,
) -> BeliefDecision:
    """Return a decision in one round of an episode; its cluster is the instance."""
    setup = played.episode.setup
    partners = [label(spec) for name, spec in setup.lineup.items() if name != seat]
    partner_labels = ", ".join(partners)
    return BeliefDecision(
        source=setup.instance.game,
        player=label(setup.lineup[str(seat)]),
        person=f"{played.episode.id}:{seat}",
        cluster=setup.instance.id,
        cell=f"{partner_labels}: round {turn + 1}",
        game=game,
        period=float(turn),
        actions=actions,
        move=move,
        stated_worth=stated_worth,
        expected=expected,
        true_worth=true_worth,
        decides=decides,
    )
