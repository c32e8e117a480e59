"""What an attacker of the minority game looks at: who mentions which place, and how often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from sally.core.card import Attack, Posed
from sally.games.toma.mg import generators, shortcuts
from sally.games.toma.mg.game import frozen_scenarios
from sally.games.toma.mg.rules import PLACES, Scenario, answer, profiles

COUNTERS: dict[str, shortcuts.Counter | None] = {
    "place on the page": None,
    "letters in its name": None,
    "number of times it is liked": shortcuts.likes,
    "number of times it is disliked": shortcuts.dislikes,
    "number of agents who like it": shortcuts.fans,
    "number of agents who like it first": shortcuts.first_likes,
    "number of agents who dislike it first": shortcuts.first_dislikes,
}
CROSSED = {
    "number of agents who both like and dislike it": shortcuts.both,
    "number of agents who like it and do not dislike it": shortcuts.undisputed,
}
OF_RELATED = {
    "number of times agents with a relation like it": shortcuts.related(shortcuts.likes),
    "number of times agents with a relation dislike it": shortcuts.related(shortcuts.dislikes),
    "number of agents with a relation who like it": shortcuts.related(shortcuts.fans),
}
SUPERSEDED = "superseded: counts of mentions told the answer"
OPEN = (
    "not closed: trees that combine counts get .42, .47 and .39 at levels 1 to 3 on 600 questions, "
    "so compare results with these figures and not with .25"
)
MATCHES = (
    "who likes a place, less who also dislikes it, comes near to where everybody goes, and setting "
    "an agent's dislikes against its likes is what the level asks for"
)


def counters_of(level: int, crossed: bool) -> dict[str, shortcuts.Counter | None]:
    """What is counted at a level, by its words."""
    more = OF_RELATED if level > 1 else {}
    return {**COUNTERS, **more, **(CROSSED if crossed else {})}


def mentions(s: Scenario, crossed: bool) -> Posed:
    """Each place by how it is mentioned; crossed: with likes set against own dislikes."""
    read, counters = profiles(s), counters_of(s.level, crossed)
    counted = [count(read) for count in counters.values() if count is not None]
    return Posed(
        tuple((p, len(s.places[p].name), *(counts[p] for counts in counted)) for p in PLACES),
        answer(s),
    )


def attacks() -> Iterable[Attack]:
    """Every level of the second generator, likes and dislikes apart and set against each other."""
    for level in (1, 2, 3):
        yield attack_on(level)
        yield attack_on(level, crossed=True)


def attack_on(level: int, version: int = generators.VERSION, crossed: bool = False) -> Attack:
    """The mentions of one level under a version of the generator."""

    def fresh(many: int, seed: int) -> Sequence[Posed]:
        drawn = islice(generators.scenarios(level, seed, version), many)
        return [mentions(s, crossed) for s in drawn]

    def frozen() -> Sequence[Posed]:
        kept = frozen_scenarios(version).values()
        return [mentions(s, crossed) for s in kept if s.level == level]

    return Attack(
        f"level {level}, mentions{', likes against dislikes' if crossed else ''}",
        tuple(counters_of(level, crossed)),
        fresh,
        frozen,
        0.25,
        reasoning=MATCHES if crossed else "",
        known=SUPERSEDED if version == 1 else OPEN,
    )
