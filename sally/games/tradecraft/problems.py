"""Shipped instances as problems that a study or a card can name."""

from collections.abc import Iterable
from itertools import chain, zip_longest
from typing import Any

from sally.core.log import Instance
from sally.games.tradecraft.instances import GRADES, InstanceSet, instance_set
from sally.games.tradecraft.instances import Instance as Certified


def problems(name: str, first: int | None = None) -> tuple[Instance, ...]:
    """The instances of a shipped set, the first so many or all."""
    found = instance_set(name)
    return _named(found, found.instances[:first])


def spread(name: str, first: int | None = None, **params: Any) -> tuple[Instance, ...]:
    """The same problems taken from every grade in turn, so that however many are as varied."""
    found = instance_set(name)
    by_grade = ([each for each in found.instances if each.grade == grade] for grade in GRADES)
    rounds = chain.from_iterable(zip_longest(*by_grade))
    mixed = [each for each in rounds if each is not None]
    return _named(found, mixed[:first], params)


def _named(
    found: InstanceSet, chosen: Iterable[Certified], params: dict[str, Any] | None = None
) -> tuple[Instance, ...]:
    return tuple(
        Instance(
            each.id,
            "tradecraft",
            {
                "ruleset": found.ruleset,
                "settings": found.settings,
                "hands": list(each.hands),
                "targets": list(each.targets),
                "max_turns": each.max_turns,
                **(params or {}),
            },
        )
        for each in chosen
    )
