"""Conditions and training tasks that all word games share: stored series of boards or games, and
partners with different associations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry.study import instance, player_spec
from sally.core.rules.card import Condition, Shortcut
from sally.games.association.frozen import Frozen
from sally.parts.training import Split, Training, by_problem

ROWS = 100
MINDS: Mapping[str, Mapping[str, Any]] = {
    "plain sense": {},
    "half by spelling": {"kind": "form", "amount": 0.5},
    "private links": {"kind": "links", "amount": 2.0, "who": 1},
}


def rows_of(game: str, label: str) -> tuple[Instance, ...]:
    """Return one instance of a game for each stored series of problems, labelled with `label` and
    the number of the series."""
    return tuple(instance(game, f"{label} {n:03d}", number=n) for n in range(ROWS))


def series_training(
    stored: Callable[[], Frozen[Any]], learner: str, partners: Mapping[str, str]
) -> Training:
    """Return the training tasks of a word game: the series of a stored set, split into training,
    validation and held-out series; `partners` names the player of every other seat."""

    def split(game: str) -> Split:
        problems = {f"{game}_{n}": {"number": n} for n in range(len(stored().rows))}
        others = {seat: PlayerSpec(player) for seat, player in partners.items()}
        return by_problem(game, learner, problems, others)

    return Training(split)


def opposite(*pairs: str) -> tuple[Shortcut, ...]:
    """Return shortcuts with their inverses; each argument holds the names of two players, the rule
    and its inverse, separated by a space."""
    split = [pair.split() for pair in pairs]
    return tuple(Shortcut(player_spec(rule), player_spec(inverse)) for rule, inverse in split)


def giver_conditions(
    instances: tuple[Instance, ...], shortcuts: Sequence[Shortcut], metrics: tuple[str, ...]
) -> tuple[Condition, ...]:
    """Return one condition for the giver per mind in `MINDS`; the guesser of the condition has
    that mind."""
    return tuple(
        Condition(
            name=f"giver, {name}",
            instances=instances,
            seat="giver",
            others={"guesser": player_spec("associates", **mind)},
            shortcuts=tuple(shortcuts),
            metrics=metrics,
        )
        for name, mind in MINDS.items()
    )
