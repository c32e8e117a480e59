"""Shipped instances as problems that a study, a card or a visitor can name."""

from collections.abc import Iterable
from functools import cache
from itertools import chain, zip_longest
from typing import Any

from sally.core.log import Instance
from sally.core.problems import Problem, Problems
from sally.games.tradecraft.actions import SEATS
from sally.games.tradecraft.instances import GRADES, InstanceSet, instance_set, set_names
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


RULESETS = {  # by the set of problems, without its number of players
    "minecraft_core": "Minecraft",
    "minecraft_core_known": "Minecraft, well-known targets",
    "alchemy": "Alchemy",
    "invented": "Made-up names",
}
HARDNESS = {1: "easy", 2: "medium", 3: "hard", 4: "very hard"}


@cache
def offered() -> Problems:
    """Every problem by its ruleset, its number of players and its place in the set."""
    found = []
    for key, ruleset in RULESETS.items():
        for players in (2, 3):
            name = f"{key}_{players}p"
            if name not in set_names():
                continue
            certified = instance_set(name)
            made = _named(certified, certified.instances)
            for n, (each, problem) in enumerate(zip(certified.instances, made, strict=True), 1):
                label = f"{n}, {HARDNESS[each.grade]}"
                found.append(Problem((ruleset, str(players), label), problem, SEATS[:players]))
    return Problems(("Ruleset", "Players", "Problem"), tuple(found))


PROBLEMS = offered
