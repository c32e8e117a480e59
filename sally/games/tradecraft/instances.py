"""Instances: hands, targets and a turn limit, each with the solver's certificate and a grade."""

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import msgspec

from sally.games.tradecraft.invented_rulesets import invent_ruleset
from sally.games.tradecraft.rulesets import BadRuleset, Ruleset, shipped_ruleset
from sally.games.tradecraft.solver import Certificate

GRADES = (1, 2, 3, 4)


class Instance(msgspec.Struct, frozen=True):
    """One problem: each player's hand and target, and the turn limit."""

    id: str
    hands: tuple[dict[str, int], ...]
    targets: tuple[dict[str, int], ...]
    max_turns: int
    grade: int
    certificate: Certificate


class InstanceSet(msgspec.Struct, frozen=True):
    """A stored set of instances, and the rules under which they were certified."""

    ruleset: str
    settings: dict[str, Any]  # of the generator, for an invented ruleset
    fingerprint: str  # of the rules, so that a changed ruleset is noticed
    players: int
    seed: int | None  # of the instance generator; None for hands written by us
    instances: tuple[Instance, ...]


def named_ruleset(name: str, settings: Mapping[str, Any] | None = None) -> Ruleset:
    """Return the ruleset with the name and settings that an instance set specifies."""
    return invent_ruleset(**dict(settings or {})) if name == "invented" else shipped_ruleset(name)


def set_names() -> tuple[str, ...]:
    """Return the names of the shipped instance sets."""
    folder = resources.files(__package__) / "instances"
    return tuple(sorted(f.name.removesuffix(".json") for f in folder.iterdir()))


def instance_set(name: str) -> InstanceSet:
    """Return a shipped instance set, checked against the rules for which it was made."""
    if name not in set_names():
        raise ValueError(
            f"There is no instance set {name!r}; the sets are {', '.join(set_names())}."
        )
    file = resources.files(__package__) / "instances" / f"{name}.json"
    instances = msgspec.json.decode(file.read_bytes(), type=InstanceSet)
    rules = named_ruleset(instances.ruleset, instances.settings)
    if rules.fingerprint == instances.fingerprint:
        return instances
    raise BadRuleset(
        f"{name} was certified under rules {instances.fingerprint}, but {rules.name} is now "
        f"{rules.fingerprint}; certify the instances again into a new set."
    )


def all_instances() -> Iterator[tuple[str, InstanceSet]]:
    """Yield every shipped set of instances with its name."""
    for name in set_names():
        yield name, instance_set(name)
