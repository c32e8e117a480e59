"""The stored sets of problems of the games `toma_po` and `toma_mg`: package data, never edited."""

from importlib.resources import files
from typing import Generic, TypeVar

import msgspec

from sally.games.toma.mg import rules as mg_rules
from sally.games.toma.po import rules as po_rules

T = TypeVar("T")
K_co = TypeVar("K_co", covariant=True)


class Keyed(msgspec.Struct, Generic[T], frozen=True):
    """A scenario with its solution, so that it can be used without Sally's solver."""

    scenario: T
    answer: int
    predictions: dict[str, int]  # agent name -> index of its task or place


class CertifiedScenario(Keyed[T], Generic[T], frozen=True):
    """A scenario of a certified set, with the answers of reasoners of every depth."""

    block: int  # reasoners of this depth answer the whole block, shallower ones are at chance
    depth: int  # of this scenario: the least depth from which on the answer is right
    # answers of reasoners of depth 0, 1, ...: several options where it finds them equally good
    by_depth: tuple[tuple[int, ...], ...]


class Frozen(msgspec.Struct, Generic[K_co], frozen=True):
    """One stored set of scenarios with its version and seed."""

    set: str
    version: int
    seed: int
    scenarios: tuple[K_co, ...]


def po() -> Frozen[Keyed[po_rules.Scenario]]:
    """Return the 150 stored scenarios of the partially observable game, 30 per level."""
    return msgspec.json.decode(_text("po", "po_2"), type=Frozen[Keyed[po_rules.Scenario]])


def po_certified() -> Frozen[CertifiedScenario[po_rules.Scenario]]:
    """Return the 240 certified scenarios of the partially observable game, 60 per depth 0 to 3."""
    return msgspec.json.decode(
        _text("po", "po_certified"), type=Frozen[CertifiedScenario[po_rules.Scenario]]
    )


def mg(version: int = 6) -> Frozen[Keyed[mg_rules.Scenario]]:
    """Return the stored scenarios of the minority game: 40 per level, 30 before version 5.

    Versions 3 and 4 are those of stored episodes and version 5 that of the suite Sally-1; shortcuts
    find some of their answers: counts of likes and dislikes in version 3, counts over the agents
    that relations name in version 4, the order in the prompt at level 1 of version 5. Version 6 has
    a new level 1; its levels 2 and 3 are those of version 5.
    """
    if version >= 5:
        return mg_certified(version)
    return msgspec.json.decode(_text("mg", f"mg_{version}"), type=Frozen[Keyed[mg_rules.Scenario]])


def mg_certified(version: int = 6) -> Frozen[CertifiedScenario[mg_rules.Scenario]]:
    """Return the fifth or sixth stored set of scenarios of the minority game, with the depth of
    each. In these sets, the level of a scenario is its certified depth: no reasoner of a smaller
    depth scores above chance."""
    kind = Frozen[CertifiedScenario[mg_rules.Scenario]]
    fifth = msgspec.json.decode(_text("mg", "mg_5"), type=kind)
    if version == 5:
        return fifth
    first = msgspec.json.decode(
        _text("mg", "mg_6"), type=Frozen[CertifiedScenario[mg_rules.Scenario]]
    )
    rest = tuple(one for one in fifth.scenarios if one.block > 1)
    return msgspec.structs.replace(first, scenarios=(*first.scenarios, *rest))


def _text(game: str, name: str) -> bytes:
    return files(f"{__package__}.{game}").joinpath("instances", f"{name}.json").read_bytes()
