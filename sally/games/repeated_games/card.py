"""Baseline players of repeated games (their card), with the partners of riemer2025."""

from __future__ import annotations

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Card, Condition, Shortcut, both_ways
from sally.parts.simple_rules import rule_shortcuts

MOVES = {"rps": 3, "ibs": 2, "ipd": 2}
METRICS = ("functional_regret", "tom_percent", "tom_regret", "reward_per_round")


def _shortcuts(moves: int) -> tuple[Shortcut, ...]:
    return (
        *(both_ways("constant", place=place) for place in range(moves)),
        *rule_shortcuts(),
        both_ways("minimax"),
    )


def _partners(moves: int) -> dict[str, PlayerSpec]:
    """Return the partners of the paper: one constant partner per move, and tit for tat."""
    constants = {f"single_action {a}": player_spec("single_action", action=a) for a in range(moves)}
    return {**constants, "tit_for_tat": player_spec("tit_for_tat")}


def _condition(game: str, name: str, partner: PlayerSpec, chance: dict[str, float]) -> Condition:
    return Condition(
        name=f"{game}: {name}",
        instances=(instance(game),),
        seat="agent",
        others={"partner": partner},
        arms={"agent": ("their_move",)},
        shortcuts=_shortcuts(MOVES[game]),
        metrics=METRICS,
        chance=chance,
    )


CARD = Card(
    family="repeated_games",
    about="rps, ibs and ipd over 100 rounds against the partners of riemer2025",
    unattacked="nothing is generated: the matrix is fixed and the partner's rule is all there "
    "is to know",
    conditions=(
        *(
            _condition(game, name, partner, {})
            for game, moves in MOVES.items()
            for name, partner in _partners(moves).items()
        ),
        # no player can do better or worse against this one
        _condition(
            "rps",
            "random",
            player_spec("random"),
            {"functional_regret": 0.0, "tom_percent": 100 / 3, "reward_per_round": 0.0},
        ),
    ),
)
