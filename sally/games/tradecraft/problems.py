"""Shipped instances as problems that can be chosen by name in a study, in the list of baselines or
on the website."""

from collections.abc import Iterable
from functools import cache
from itertools import chain, zip_longest
from typing import Any

from sally.core.log.events import Instance
from sally.core.rules.problems import Problem, Problems
from sally.games.tradecraft.actions import SEATS
from sally.games.tradecraft.instances import GRADES, InstanceSet, instance_set
from sally.games.tradecraft.instances import Instance as Certified
from sally.games.tradecraft.solver import trades_needed


def problems(name: str, first: int | None = None) -> tuple[Instance, ...]:
    """Return the instances of a shipped set: the first `first` of them, or all."""
    shipped_set = instance_set(name)
    return _as_instances(shipped_set, shipped_set.instances[:first])


def spread(name: str, first: int | None = None, **params: Any) -> tuple[Instance, ...]:
    """Return problems taken from each grade in turn, so that even a few problems cover all
    grades."""
    shipped_set = instance_set(name)
    by_grade = (
        [candidate for candidate in shipped_set.instances if candidate.grade == grade]
        for grade in GRADES
    )
    rounds = chain.from_iterable(zip_longest(*by_grade))
    mixed = [candidate for candidate in rounds if candidate is not None]
    return _as_instances(shipped_set, mixed[:first], params)


def _as_instances(
    shipped_set: InstanceSet, chosen: Iterable[Certified], params: dict[str, Any] | None = None
) -> tuple[Instance, ...]:
    return tuple(
        Instance(
            certified.id,
            "tradecraft",
            {
                "ruleset": shipped_set.ruleset,
                "settings": shipped_set.settings,
                "hands": list(certified.hands),
                "targets": list(certified.targets),
                "max_turns": certified.max_turns,
                **(params or {}),
            },
        )
        for certified in chosen
    )


SETS = {  # what people call a ruleset, and its sets by number of players
    "Minecraft": {2: "minecraft_core_2p_2", 3: "minecraft_core_3p_2"},
    "Minecraft, well-known targets": {2: "minecraft_core_known_2p_2"},
    "Alchemy": {2: "alchemy_2p", 3: "alchemy_3p"},
    "Made-up names": {2: "invented_2p", 3: "invented_3p"},
}
HARDNESS = {1: "easy", 2: "medium", 3: "hard", 4: "very hard"}


def trades_of(problem: Certified) -> tuple[int | None, ...]:
    """Return, for each seat, the fewest trades that its certified plan needs."""
    seats = enumerate(problem.certificate.seats)
    return tuple(trades_needed(problem.hands, n, seat) for n, seat in seats)


@cache
def list_problems() -> Problems:
    """Return every problem by ruleset, number of players and position in the set."""
    rows = []
    for ruleset, by_players in SETS.items():
        for players, name in by_players.items():
            certified = instance_set(name)
            instances = _as_instances(certified, certified.instances)
            for n, (certified_problem, problem) in enumerate(
                zip(certified.instances, instances, strict=True), 1
            ):
                most_trades = max(trades or 0 for trades in trades_of(certified_problem))
                trades = f"{most_trades} trade{'' if most_trades == 1 else 's'}"
                label = f"{n}, {HARDNESS[certified_problem.grade]}, {trades}"
                rows.append(Problem((ruleset, str(players), label), problem, SEATS[:players]))
    return Problems(("Ruleset", "Players", "Problem"), tuple(rows))


PROBLEMS = list_problems
