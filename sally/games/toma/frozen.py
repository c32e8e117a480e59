"""The stored sets of problems of the games `toma_po` and `toma_mg`: package data. A set may be
superseded by a new one but is never edited."""

from importlib.resources import files
from itertools import chain, islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from sally.games.toma.mg import depths as mg_depths
from sally.games.toma.mg import rules as mg_rules
from sally.games.toma.po import depths as po_depths
from sally.games.toma.po import rules as po_rules

T = TypeVar("T")
SEED = 2026
PER_LEVEL = 30
MATCHED_PER_LEVEL = 40  # ten matched sets of four


class Keyed(msgspec.Struct, Generic[T], frozen=True):
    """A scenario with its solution, so that it can be used without Sally's solver."""

    scenario: T
    answer: int
    predictions: dict[str, int]  # agent name -> index of its task or place


class Certified(Keyed[T], Generic[T], frozen=True):
    """A scenario of a certified set, with the answers of reasoners of every depth."""

    block: int  # reasoners of this depth answer the whole block, shallower ones are at chance
    depth: int  # of this scenario: the least depth from which on the answer is right
    # answers of reasoners of depth 0, 1, ...: several options where it finds them equally good
    by_depth: tuple[tuple[int, ...], ...]


class Frozen(msgspec.Struct, Generic[T], frozen=True):
    """One stored set of scenarios with its version and seed."""

    set: str
    version: int
    seed: int
    scenarios: tuple[Keyed[T], ...]


def po(version: int = 2) -> Frozen[po_rules.Scenario]:
    """Return the 150 stored scenarios of the partially observable game, 30 per level.

    Version 1 is superseded, because the magnitudes of the player's own costs revealed the answer.
    """
    return msgspec.json.decode(_text("po", version), type=Frozen[po_rules.Scenario])


def make_po() -> Frozen[po_rules.Scenario]:
    """Return the first 30 generated scenarios of every level with their solutions."""
    from sally.games.toma.po import generators as po_generate  # heavy; only a new set needs it

    drawn = chain.from_iterable(
        islice(po_generate.scenarios(level, SEED), PER_LEVEL) for level in po_rules.LEVELS
    )
    return Frozen("toma_po", 2, SEED, tuple(map(keyed_po, drawn)))


def keyed_po(scenario: po_rules.Scenario) -> Keyed[po_rules.Scenario]:
    """Return a scenario with the answer and predictions of the exact solver."""
    named = {po_rules.AGENTS[a]: task for a, task in po_rules.predictions(scenario).items()}
    return Keyed(scenario, po_rules.answer(scenario), named)


PER_DEPTH = 60


class CertifiedSet(msgspec.Struct, Generic[T], frozen=True):
    """A stored set of certified scenarios with its version and seed."""

    set: str
    version: int
    seed: int
    scenarios: tuple[Certified[T], ...]


def po_certified() -> CertifiedSet[po_rules.Scenario]:
    """Return the 240 certified scenarios of the partially observable game, 60 per depth 0 to 3."""
    text = files(f"{__package__}.po").joinpath("instances", "po_certified.json").read_bytes()
    return msgspec.json.decode(text, type=CertifiedSet[po_rules.Scenario])


def make_po_certified() -> CertifiedSet[po_rules.Scenario]:
    """Return the first 60 generated scenarios of every certified block; there is one block per
    depth."""
    from sally.games.toma.po import certified  # heavy; only a new set needs it

    drawn = tuple(
        certified_po(scenario, block)
        for block in certified.DEPTHS
        for scenario in islice(certified.scenarios(block, SEED), PER_DEPTH)
    )
    return CertifiedSet("toma_po_certified", 1, SEED, drawn)


def certified_po(scenario: po_rules.Scenario, block: int) -> Certified[po_rules.Scenario]:
    """Return a scenario of the certified set with its solution and the answers of reasoners of
    every depth."""
    solved = keyed_po(scenario)
    return Certified(
        scenario,
        solved.answer,
        solved.predictions,
        block,
        po_depths.depth(scenario),
        tuple((given,) for given in po_depths.answers_by_depth(scenario)),
    )


def mg(version: int = 6) -> Frozen[mg_rules.Scenario]:
    """Return the stored scenarios of the minority game: 40 per level, 30 before version 5.

    The older versions are superseded because shortcuts find the answer: in versions 1 to 3, counts
    of likes and dislikes; in version 4, counts over the agents that relations name; at level 1 of
    version 5, the order in the prompt. Version 6 has a new level 1; its levels 2 and 3 are those of
    version 5.
    """
    if version < 6:
        return msgspec.json.decode(_text("mg", version), type=Frozen[mg_rules.Scenario])
    found = mg_certified(version)
    return Frozen(found.set, found.version, found.seed, found.scenarios)


def mg_certified(version: int = 6) -> CertifiedSet[mg_rules.Scenario]:
    """Return the fifth or sixth set with the depth of each scenario; in these sets the level of
    a scenario is its certified depth."""
    fifth = msgspec.json.decode(_text("mg", 5), type=CertifiedSet[mg_rules.Scenario])
    if version == 5:
        return fifth
    first = msgspec.json.decode(_text("mg", 6), type=CertifiedSet[mg_rules.Scenario])
    rest = tuple(one for one in fifth.scenarios if one.block > 1)
    return msgspec.structs.replace(first, scenarios=(*first.scenarios, *rest))


def make_mg() -> CertifiedSet[mg_rules.Scenario]:
    """Return the first 40 generated scenarios of level 1, the only level that is new in the
    sixth set."""
    from sally.games.toma.mg import generators as mg_generate  # heavy; only a new set needs it

    drawn = islice(mg_generate.scenarios(1, SEED), MATCHED_PER_LEVEL)
    return CertifiedSet("toma_mg", 6, SEED, tuple(map(certified_mg, drawn)))


def certified_mg(scenario: mg_rules.Scenario) -> Certified[mg_rules.Scenario]:
    """Return a scenario with its solution and the answers of reasoners of every depth."""
    solved = keyed_mg(scenario)
    return Certified(
        scenario,
        solved.answer,
        solved.predictions,
        scenario.level,
        mg_depths.depth(scenario),
        mg_depths.answers_by_depth(scenario),
    )


def keyed_mg(scenario: mg_rules.Scenario) -> Keyed[mg_rules.Scenario]:
    """Return a scenario with the answer and predictions of the exact solver."""
    gone = mg_rules.predictions(scenario)
    named = {agent.name: gone[index] for index, agent in enumerate(scenario.agents)}
    return Keyed(scenario, mg_rules.answer(scenario), named)


def write(frozen: Frozen[Any] | CertifiedSet[Any], path: Path) -> None:
    """Write a new set, one scenario per line; raise FileExistsError if the file exists."""
    head = {"set": frozen.set, "version": frozen.version, "seed": frozen.seed}
    lines = ",\n".join(msgspec.json.encode(item).decode() for item in frozen.scenarios)
    text = f'{msgspec.json.encode(head).decode()[:-1]},"scenarios":[\n{lines}\n]}}\n'
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def _text(name: str, version: int) -> bytes:
    file = f"{name}.json" if version == 1 else f"{name}_{version}.json"
    return files(f"{__package__}.{name}").joinpath("instances", file).read_bytes()
