"""The fixed rules of scripted players in public goods: the contribution as a function of the
others' mean contribution in the last round."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.games.public_goods.rules import PublicGoods

Rule = Callable[[PublicGoods, float | None], float]  # (game, the others' last mean) -> tokens


def nearest(game: PublicGoods, number: float) -> int:
    """Return the contribution nearest to a number; of two equally near ones, the larger."""
    return min(game.menu, key=lambda contribution: (abs(contribution - number), -contribution))


def _share(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise BadInput(f"{name} must be from 0 to 1, not {value}")
    return value


def _free_rider() -> Rule:
    return lambda game, mean: 0.0


def _giver(share: float = 1.0) -> Rule:
    _share("share", share)
    return lambda game, mean: share * game.tokens


def _conditional(first: float = 0.5, slope: float = 0.8, offset: float = 0.0) -> Rule:
    _share("first", first)
    for name, value in (("slope", slope), ("offset", offset)):
        if not isinstance(value, int | float):
            raise BadInput(f"{name} must be a number, not {value!r}")
    return lambda game, mean: (
        first * game.tokens if mean is None else offset * game.tokens + slope * mean
    )


def _matcher(first: float = 1.0) -> Rule:
    _share("first", first)
    return lambda game, mean: first * game.tokens if mean is None else mean


def _threshold(threshold: float = 0.5, first: float = 1.0) -> Rule:
    _share("threshold", threshold)
    _share("first", first)
    return lambda game, mean: (
        first * game.tokens
        if mean is None
        else game.tokens * float(mean >= threshold * game.tokens)
    )


RULES: Mapping[str, Callable[..., Rule]] = {
    "free_rider": _free_rider,
    "giver": _giver,
    "conditional_cooperator": _conditional,
    "matcher": _matcher,
    "threshold": _threshold,
}


def rule_of(player: PlayerSpec | None) -> Rule | None:
    """Return the rule that a scripted player follows; None for any other player."""
    return (
        RULES[player.player](**player.params)
        if player is not None and player.player in RULES
        else None
    )
