"""Shipped instances as problems that a study or a card can name."""

from sally.core.log import Instance
from sally.games.tradecraft.instances import instance_set


def problems(name: str, first: int | None = None) -> tuple[Instance, ...]:
    """The instances of a shipped set, the first so many or all."""
    found = instance_set(name)
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
            },
        )
        for each in found.instances[:first]
    )
