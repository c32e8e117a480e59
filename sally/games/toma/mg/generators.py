"""Generator of the minority game: seeded, certified and balanced scenarios.

The first three generators balanced counts of likes and dislikes, but learners that combine these
counts found the answer too often (.39 to .47 with the second). They are in the history of the
repository (commit 09a33169); the sets of scenarios that they made remain stored. In version 4 all
counts are equal for all places (`even`), and each place is named first equally often (`firsts`);
but counts over the agents that a relation names still revealed the answer (.53 and .62 at levels 2
and 3). At levels 2 and 3, version 5 yields matched sets of four scenarios that share all of these
counts but have four different answers (`matched`); level 1 was made as in version 4, and learners
still reached .28 there from the order in the prompt. Version 6 yields matched sets at level 1 too;
its levels 2 and 3 are those of version 5.
"""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from sally.games.toma.balance import Floats, dealt, pick
from sally.games.toma.mg import even, firsts, matched, shortcuts
from sally.games.toma.mg.rules import (
    LEVELS,
    PLACES,
    Agent,
    Place,
    Profile,
    Scenario,
    answer,
    check,
    depths,
    meets,
    predictions,
    profiles,
)
from sally.games.toma.mg.stories import Story, names_of, stories

FEATURES = 3  # per place; the number of features carries no information
VERSION = 6
POOL, FRESH = 20, 3  # drafts to pick from in version 4, and how many are new at each pick


def scenarios(level: int, seed: int, version: int = VERSION) -> Iterator[Scenario]:
    """Yield certified scenarios of one level indefinitely, determined by the seed."""
    if level not in LEVELS:
        raise ValueError(f"Level {level} does not exist: the game has levels 1 to 3.")
    if version not in (4, 5, 6):
        raise ValueError(
            f"Version {version} of the generator does not exist: it must be 4, 5 or 6."
        )
    if version >= 5 and level > 1:
        yield from _matched(level, seed)
        return
    if version == 6:
        yield from _exchanged(seed)
        return
    rng = np.random.default_rng([version, seed, level])
    spots, names = dealt(PLACES, rng), dealt(list(stories()), rng)
    for index, (agents, right) in enumerate(_balanced(level, rng)):
        id = f"mg{version}-L{level}-{seed}-{index + 1}"
        listed = _listed(agents, right, next(spots), rng)
        story = next(names)
        while True:
            places, people = _worded(listed, stories()[story], rng)
            scenario = Scenario(id, level, story, places, people)
            if needs_reading(scenario):
                break
        certify(scenario)
        yield scenario


def _matched(level: int, seed: int) -> Iterator[Scenario]:
    """Yield the scenarios of version 5, in sets of four that differ only in the targets of
    relations."""
    rng = np.random.default_rng([5, seed, level])
    names, index = dealt(list(stories()), rng), 0
    for members in matched.sets(level, rng):
        to = [int(place) for place in rng.permutation(4)]
        order = [int(i) for i in rng.permutation(len(members[0]))]
        listed = [_rearranged(agents, to, order) for agents in members]
        story = next(names)
        while True:
            places, people = _worded(listed[0], stories()[story], rng)
            first = Scenario("", level, story, places, people)
            if needs_reading(first):
                break
        for agents in listed:
            index += 1
            related = tuple(
                msgspec.structs.replace(agent, follows=one.follows, avoids=one.avoids)
                for agent, one in zip(people, agents, strict=True)
            )
            scenario = Scenario(f"mg5-L{level}-{seed}-{index}", level, story, places, related)
            certify(scenario, even_counts=False)
            yield scenario


def _exchanged(seed: int) -> Iterator[Scenario]:
    """Yield the scenarios that version 6 of the generator makes for level 1, in sets of four that
    differ only in which agent has which dislikes."""
    rng = np.random.default_rng([6, seed, 1])
    names, index = dealt(list(stories()), rng), 0
    for one in matched.exchanged_sets(rng):
        story = next(names)
        while True:
            places, likes, dislikes = _worded_apart(one, stories()[story], rng)
            members = [
                tuple(Agent(f"Agent {n + 1}", likes[n], dislikes[i]) for n, i in enumerate(order))
                for order in one.orders
            ]
            if needs_reading(Scenario("", 1, story, places, members[0])):
                break
        for people in members:
            index += 1
            scenario = Scenario(f"mg6-L1-{seed}-{index}", 1, story, places, people)
            certify(scenario, even_counts=False)
            yield scenario


def certify(scenario: Scenario, even_counts: bool = True) -> None:
    """Raise ValueError unless every agent's place is determined and the answer depends on the
    deepest agents.

    Without `even_counts` (for matched sets), places need not be named equally often, and the
    deepest agents need not change the answer in every scenario; they do so in three of the four
    scenarios of a matched set.
    """
    check(scenario)
    name = f"Scenario {scenario.id}"
    read = profiles(scenario)
    if any(len(met) != 1 for one in read for met in (*one.likes, *one.dislikes)):
        raise ValueError(f"{name}: every wish must be met by exactly one place.")
    if any(len(place.features) != FEATURES for place in scenario.places):
        raise ValueError(f"{name}: every place needs {FEATURES} features.")
    deep = depths(read)
    sizes = tuple(deep.count(level) for level in range(1, scenario.level + 1))
    if even_counts:
        _check_even(scenario, read, sizes)
    elif sizes != matched.ROLES.get(scenario.level):
        raise ValueError(
            f"{name}: the numbers of agents at depths 1 to {scenario.level} are {sizes}, which do "
            "not fit a matched set."
        )
    if not needs_reading(scenario):
        raise ValueError(
            f"{name}: at least a third of the wishes must name only part of a feature, and at "
            "least a third must share words with another feature."
        )
    predictions(scenario)  # raises unless every agent has one place to go
    if even_counts and not shortcuts.level_is_needed(read, answer(scenario)):
        raise ValueError(f"{name}: the answer does not depend on the deepest agents.")


def _check_even(scenario: Scenario, read: Sequence[Profile], sizes: tuple[int, ...]) -> None:
    """Raise ValueError if places are not named equally often or the numbers of agents by depth
    (`sizes`) do not fit the level."""
    name = f"Scenario {scenario.id}"
    for count in (shortcuts.likes, shortcuts.dislikes):
        if len(set(count(read))) > 1:
            raise ValueError(f"{name}: its {count.__name__} must name all places equally often.")
    if sizes != even.ROLES[scenario.level].get(len(read)):
        raise ValueError(
            f"{name}: the numbers of agents at depths 1 to {scenario.level} are {sizes}, which do "
            f"not fit level {scenario.level}."
        )


def needs_reading(scenario: Scenario) -> bool:
    """Return whether at least a third of the wishes name only part of a feature, and at least a
    third share words with another feature."""
    wishes = [wish for agent in scenario.agents for wish in (*agent.likes, *agent.dislikes)]
    features = [feature for place in scenario.places for feature in place.features]
    partial = sum(wish not in features for wish in wishes)
    words = [(feature, set(feature.split())) for feature in features]
    shared = sum(
        any(not meets(f, wish) and having.intersection(wish.split()) for f, having in words)
        for wish in wishes
    )
    return 3 * min(partial, shared) >= len(wishes)


def _balanced(level: int, rng: np.random.Generator) -> Iterator[tuple[list[Profile], int]]:
    """Yield draft scenarios with their answers; drafts are selected to keep every shortcut at
    chance."""
    sizes = list(even.ROLES[level])
    pools: dict[int, list[tuple[list[Profile], int, Floats]]] = {n: [] for n in sizes}
    sources = {size: _source(level, size, rng) for size in sizes}
    debt: Floats = np.zeros(1)
    for size in dealt(sizes, rng):
        pool = pools[size]
        for _ in range(max(FRESH, POOL - len(pool))):
            agents, right = next(sources[size])
            pool.append((agents, right, _excess(level, agents, right)))
        del pool[:-POOL]  # drop the oldest: drafts that are never picked would pile up
        agents, right, excess = pool.pop(pick(np.array([entry[2] for entry in pool]), debt))
        debt = debt + excess
        yield agents, right


def _source(level: int, size: int, rng: np.random.Generator) -> Iterator[tuple[list[Profile], int]]:
    """Yield draft scenarios with their answers, from which the generator selects."""
    for drafted, right in even.drafts(level, size, rng):
        agents = firsts.ordered(drafted, rng)
        if agents is not None:
            yield agents, right


def _excess(level: int, agents: Sequence[Profile], right: int) -> Floats:
    """Return the score of each shortcut and of its inverse on a draft, minus a quarter (chance)."""
    counted = [count(agents) for count in shortcuts.counters(level).values()]
    least = [shortcuts.hit(shortcuts.least(counts), right) for counts in counted]
    most = [shortcuts.hit(shortcuts.greatest(counts), right) for counts in counted]
    return np.array(least + most) - 1 / 4


def _listed(
    agents: Sequence[Profile], right: int, spot: int, rng: np.random.Generator
) -> list[Profile]:
    """Return the agents and places in random order, with the right place at `spot`."""
    to = [int(place) for place in rng.permutation(4)]
    taken = to.index(spot)
    to[right], to[taken] = to[taken], to[right]
    return _rearranged(agents, to, [int(i) for i in rng.permutation(len(agents))])


def _rearranged(agents: Sequence[Profile], to: list[int], order: list[int]) -> list[Profile]:
    """Return the agents in a new order, with every place renumbered."""

    def moved(wishes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        return tuple((to[place],) for (place,) in wishes)

    def index(old: int | None) -> int | None:
        return None if old is None else order.index(old)

    return [
        Profile(moved(one.likes), moved(one.dislikes), index(one.follows), index(one.avoids))
        for one in (agents[i] for i in order)
    ]


def _worded(
    agents: Sequence[Profile], story: Story, rng: np.random.Generator
) -> tuple[tuple[Place, ...], tuple[Agent, ...]]:
    """Return places with features, and agents whose wishes, in words, correspond to the
    profiles."""
    features = [str(f) for f in rng.permutation(story.features)[: 4 * FEATURES]]
    names = rng.permutation(story.places)[:4]
    places = tuple(
        Place(str(names[i]), tuple(features[FEATURES * i : FEATURES * (i + 1)])) for i in PLACES
    )
    people = []
    for number, one in enumerate(agents, 1):
        # No feature twice per agent: no agent likes what it dislikes, or the same thing twice.
        unused = [[str(f) for f in rng.permutation(place.features)] for place in places]
        likes, dislikes = (
            tuple(names_of(unused[place].pop())[rng.integers(3)] for (place,) in part)
            for part in (one.likes, one.dislikes)
        )
        people.append(Agent(f"Agent {number}", likes, dislikes, one.follows, one.avoids))
    return places, tuple(people)


Texts = list[tuple[str, ...]]


def _worded_apart(
    one: matched.Exchanged, story: Story, rng: np.random.Generator
) -> tuple[tuple[Place, ...], Texts, Texts]:
    """Return places, likes and dislikes as text. Within each half of the agents, any agent may be
    given the dislikes of any other.

    This is possible because one feature of every place is reserved for dislikes in each half, so
    that no agent likes a feature that it dislikes.
    """
    places, _ = _worded([], story, rng)
    likes: Texts = []
    dislikes: Texts = []
    for start in range(0, len(one.likes), matched.HALF):
        half = slice(start, start + matched.HALF)
        mixed = [[str(f) for f in rng.permutation(place.features)] for place in places]
        for wishes in one.likes[half]:
            left = [[str(f) for f in rng.permutation(features[1:])] for features in mixed]
            likes.append(tuple(names_of(left[p].pop())[rng.integers(3)] for (p,) in wishes))
        for wishes in one.dislikes[half]:
            dislikes.append(tuple(names_of(mixed[p][0])[rng.integers(3)] for (p,) in wishes))
    return places, likes, dislikes
