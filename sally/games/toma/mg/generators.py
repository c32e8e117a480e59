"""Scenarios of the minority game, seeded, certified and balanced, without limit.

Version 1 made the first frozen set. A learner that counts who likes and dislikes what, with and
without a relation, found the answer there in .56 to .85 of scenarios; version 2 balances these
counts as well, their order and their size, one by one; learners that combine them still had .39 to
.47. Version 3 makes them equal for all places (`even`) and lets drafts that look alike have their
answer anywhere (`twins`); but with the numbers of likes and dislikes in hand, which differ between
drafts, boosted trees still had .28 and .35 at levels 1 and 2. In version 4 as many agents like and
dislike something about each place at once (`crossing`), and each is named first as often
(`firsts`): there is nothing of this kind left to count. The older versions are kept so that their
sets can be made again.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from sally.games.toma.balance import Floats, dealt, pick
from sally.games.toma.mg import crossing, even, firsts, shortcuts, twins
from sally.games.toma.mg.draft import ROLES, drafts
from sally.games.toma.mg.rules import (
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

FEATURES = 3  # of each place: the number of features says nothing
VERSION = 4
# By version: drafts to pick from, and how many of them are new at each pick.
POOLS = {1: (48, 4), 2: (240, 16), 4: (20, 3)}


def scenarios(level: int, seed: int, version: int = VERSION) -> Iterator[Scenario]:
    """Certified scenarios of one level without end; the same seed gives the same ones."""
    if level not in ROLES:
        raise ValueError(f"Level {level} does not exist: the game has levels 1 to 3.")
    rng = np.random.default_rng([seed, level] if version == 1 else [version, seed, level])
    stem = "mg" if version == 1 else f"mg{version}"
    spots, names = dealt(PLACES, rng), dealt(list(stories()), rng)
    chosen = _with_twins(level, rng) if version == 3 else _balanced(level, rng, version)
    for index, (agents, right) in enumerate(chosen):
        listed = _listed(agents, right, next(spots), rng)
        story = next(names)
        while True:
            places, people = _worded(listed, stories()[story], rng)
            scenario = Scenario(f"{stem}-L{level}-{seed}-{index + 1}", level, story, places, people)
            if needs_reading(scenario):
                break
        certify(scenario)
        yield scenario


def certify(scenario: Scenario) -> None:
    """Refuse a scenario unless everybody goes to one place and it takes its whole level to see."""
    check(scenario)
    name = f"Scenario {scenario.id}"
    read = profiles(scenario)
    if any(len(met) != 1 for one in read for met in (*one.likes, *one.dislikes)):
        raise ValueError(f"{name}: a wish is not met by exactly one place.")
    if any(len(place.features) != FEATURES for place in scenario.places):
        raise ValueError(f"{name}: every place needs {FEATURES} features.")
    for count in (shortcuts.likes, shortcuts.dislikes):
        if len(set(count(read))) > 1:
            raise ValueError(f"{name}: its {count.__name__} do not name all places equally often.")
    deep = depths(read)
    sizes = tuple(deep.count(level) for level in range(1, scenario.level + 1))
    if sizes not in (table[scenario.level].get(len(read)) for table in (ROLES, even.ROLES)):
        raise ValueError(f"{name}: {sizes} agents by depth is not what level {scenario.level} has.")
    if not needs_reading(scenario):
        raise ValueError(f"{name}: its wishes can be matched without reading.")
    predictions(scenario)  # raises unless every agent has one place to go
    if not shortcuts.level_is_needed(read, answer(scenario)):
        raise ValueError(f"{name}: the answer shows before the deepest agents are considered.")


def needs_reading(scenario: Scenario) -> bool:
    """Whether a third of the wishes name features in part, and a third share words with others."""
    wishes = [wish for agent in scenario.agents for wish in (*agent.likes, *agent.dislikes)]
    features = [feature for place in scenario.places for feature in place.features]
    partial = sum(wish not in features for wish in wishes)
    words = [(feature, set(feature.split())) for feature in features]
    shared = sum(
        any(not meets(f, wish) and having.intersection(wish.split()) for f, having in words)
        for wish in wishes
    )
    return 3 * min(partial, shared) >= len(wishes)


def _balanced(
    level: int, rng: np.random.Generator, version: int
) -> Iterator[tuple[list[Profile], int]]:
    """Drafts with their answers, each picked to keep every shortcut at chance."""
    sizes = _sizes(level, version)
    pools: dict[int, list[tuple[list[Profile], int, Floats]]] = {n: [] for n in sizes}
    sources = {size: _source(level, size, rng, version) for size in sizes}
    most, fresh = POOLS[version]
    debt: Floats | None = None
    for size in dealt(sizes, rng):
        pool = pools[size]
        for _ in range(max(fresh, most - len(pool))):
            agents, right = next(sources[size])
            pool.append((agents, right, _excess(level, agents, right, version)))
        del pool[:-most]  # the oldest go: what nothing has wanted so far would pile up
        debt = np.zeros(len(pool[0][2])) if debt is None else debt
        agents, right, excess = pool.pop(pick(np.array([entry[2] for entry in pool]), debt))
        debt = debt + excess
        yield agents, right


def _sizes(level: int, version: int) -> list[int]:
    """How many agents there may be."""
    if version == 4:
        return [size for number, size in crossing.COUNTS if number == level]
    return list(ROLES[level])


def _source(
    level: int, size: int, rng: np.random.Generator, version: int
) -> Iterator[tuple[list[Profile], int]]:
    """Drafts to pick from, with their answers."""
    if version < 4:
        yield from drafts(level, size, rng)
    for draft in even.drafts(level, size, rng, crossed_evenly=True):
        agents = firsts.ordered(draft.agents, rng)
        if agents is not None:
            yield agents, draft.right


def _with_twins(level: int, rng: np.random.Generator) -> Iterator[tuple[list[Profile], int]]:
    """Drafts with their answers under version 3, which evens out rules of thumb besides."""

    def excess(agents: Sequence[Profile], right: int) -> Floats:
        return _excess(level, agents, right, 1)

    return twins.balanced(level, dealt(list(even.ROLES[level]), rng), rng, excess)


def _excess(level: int, agents: Sequence[Profile], right: int, version: int) -> Floats:
    """What each shortcut and its inverse score on a draft, less a quarter.

    In version 2 also, for what learners count, how far the right place is from the mean.
    """
    more = shortcuts.learned(level) if version == 2 else {}
    counted = [count(agents) for count in (shortcuts.counters(level) | more).values()]
    least = [shortcuts.hit(shortcuts.least(counts), right) for counts in counted]
    most = [shortcuts.hit(shortcuts.greatest(counts), right) for counts in counted]
    leans = [c[right] - sum(c) / 4 for c in counted[len(counted) - len(more) :]] if more else []
    return np.array([*(rate - 1 / 4 for rate in least + most), *leans])


def _listed(
    agents: Sequence[Profile], right: int, spot: int, rng: np.random.Generator
) -> list[Profile]:
    """The agents in random order, the places too, with the right one at its dealt spot."""
    to = [int(place) for place in rng.permutation(4)]  # to[old place] = new place
    taken = to.index(spot)
    to[right], to[taken] = to[taken], to[right]
    order = [int(i) for i in rng.permutation(len(agents))]

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
    """Places with features and agents with wishes that say what the profiles say."""
    features = [str(f) for f in rng.permutation(story.features)[: 4 * FEATURES]]
    names = rng.permutation(story.places)[:4]
    places = tuple(
        Place(str(names[i]), tuple(features[FEATURES * i : FEATURES * (i + 1)])) for i in PLACES
    )
    people = []
    for number, one in enumerate(agents, 1):
        # No feature twice in one agent: nobody likes what it dislikes, or the same thing twice.
        unused = [[str(f) for f in rng.permutation(place.features)] for place in places]
        likes, dislikes = (
            tuple(names_of(unused[place].pop())[rng.integers(3)] for (place,) in part)
            for part in (one.likes, one.dislikes)
        )
        people.append(Agent(f"Agent {number}", likes, dislikes, one.follows, one.avoids))
    return places, tuple(people)
