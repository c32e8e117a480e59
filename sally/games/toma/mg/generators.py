"""Generator of the minority game: seeded, certified scenarios in matched sets of four.

Earlier generators balanced counts, and learners still found the answer: from likes and dislikes
(versions 1 to 3, .39 to .47 with the second), from the agents that a relation names (version 4,
.53 and .62 at levels 2 and 3), and from the order in the prompt (level 1 of version 5, .28). They
are in the history of the repository (commits 09a33169 and 3c02f87a). The scenarios of a matched set
share all of these counts but have four different answers (`matched_sets`). The sets that stored
episodes or the suite Sally-1 use are kept as data.
"""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from sally.games.toma.balance import dealt
from sally.games.toma.mg import matched_sets
from sally.games.toma.mg.rules import (
    LEVELS,
    PLACES,
    Agent,
    Place,
    Profile,
    Scenario,
    check,
    depths,
    meets,
    predictions,
    profiles,
)
from sally.games.toma.mg.stories import Story, names_of, stories

FEATURES = 3  # per place; the number of features carries no information


def scenarios(level: int, seed: int) -> Iterator[Scenario]:
    """Yield certified scenarios of one level indefinitely, determined by the seed."""
    if level not in LEVELS:
        raise ValueError(f"Level {level} does not exist: the game has levels 1 to 3.")
    yield from _exchanged_scenarios(seed) if level == 1 else _matched_scenarios(level, seed)


def _matched_scenarios(level: int, seed: int) -> Iterator[Scenario]:
    """Yield scenarios of levels 2 and 3, in sets of four that differ only in the targets of
    relations."""
    rng = np.random.default_rng([5, seed, level])
    names, index = dealt(list(stories()), rng), 0
    for members in matched_sets.sets(level, rng):
        to = [int(place) for place in rng.permutation(4)]
        order = [int(i) for i in rng.permutation(len(members[0]))]
        listed = [_rearrange(agents, to, order) for agents in members]
        story = next(names)
        while True:
            places, people = put_into_words(listed[0], stories()[story], rng)
            first = Scenario("", level, story, places, people)
            if needs_reading(first):
                break
        for agents in listed:
            index += 1
            related = tuple(
                msgspec.structs.replace(agent, follows=profile.follows, avoids=profile.avoids)
                for agent, profile in zip(people, agents, strict=True)
            )
            scenario = Scenario(f"mg5-L{level}-{seed}-{index}", level, story, places, related)
            certify(scenario)
            yield scenario


def _exchanged_scenarios(seed: int) -> Iterator[Scenario]:
    """Yield scenarios of level 1, in sets of four that differ only in which agent has which
    dislikes."""
    rng = np.random.default_rng([6, seed, 1])
    names, index = dealt(list(stories()), rng), 0
    for exchanged in matched_sets.exchanged_sets(rng):
        story = next(names)
        while True:
            places, likes, dislikes = _worded_apart(exchanged, stories()[story], rng)
            members = [
                tuple(Agent(f"Agent {n + 1}", likes[n], dislikes[i]) for n, i in enumerate(order))
                for order in exchanged.orders
            ]
            if needs_reading(Scenario("", 1, story, places, members[0])):
                break
        for people in members:
            index += 1
            scenario = Scenario(f"mg6-L1-{seed}-{index}", 1, story, places, people)
            certify(scenario)
            yield scenario


def certify(scenario: Scenario) -> None:
    """Raise ValueError unless every agent's place is determined and the numbers of agents by depth
    fit a matched set.

    The deepest agents change the answer in three of the four scenarios of a matched set.
    """
    check(scenario)
    name = f"Scenario {scenario.id}"
    read = profiles(scenario)
    if any(
        len(places_met) != 1
        for profile in read
        for places_met in (*profile.likes, *profile.dislikes)
    ):
        raise ValueError(f"{name}: every wish must be met by exactly one place.")
    if any(len(place.features) != FEATURES for place in scenario.places):
        raise ValueError(f"{name}: every place needs {FEATURES} features.")
    deep = depths(read)
    sizes = tuple(deep.count(level) for level in range(1, scenario.level + 1))
    if sizes != matched_sets.ROLES.get(scenario.level):
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


def _rearrange(agents: Sequence[Profile], to: list[int], order: list[int]) -> list[Profile]:
    """Return the agents in a new order, with every place renumbered."""

    def renumber(wishes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        return tuple((to[place],) for (place,) in wishes)

    def index(old: int | None) -> int | None:
        return None if old is None else order.index(old)

    return [
        Profile(
            renumber(profile.likes),
            renumber(profile.dislikes),
            index(profile.follows),
            index(profile.avoids),
        )
        for profile in (agents[i] for i in order)
    ]


def put_into_words(
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
    for number, profile in enumerate(agents, 1):
        # No feature twice per agent: no agent likes what it dislikes, or the same thing twice.
        unused = [[str(f) for f in rng.permutation(place.features)] for place in places]
        likes, dislikes = (
            tuple(names_of(unused[place].pop())[rng.integers(3)] for (place,) in part)
            for part in (profile.likes, profile.dislikes)
        )
        people.append(Agent(f"Agent {number}", likes, dislikes, profile.follows, profile.avoids))
    return places, tuple(people)


Texts = list[tuple[str, ...]]


def _worded_apart(
    exchanged: matched_sets.Exchanged, story: Story, rng: np.random.Generator
) -> tuple[tuple[Place, ...], Texts, Texts]:
    """Return places, likes and dislikes as text. Within each half of the agents, any agent may be
    given the dislikes of any other.

    This is possible because one feature of every place is reserved for dislikes in each half, so
    that no agent likes a feature that it dislikes.
    """
    places, _ = put_into_words([], story, rng)
    likes: Texts = []
    dislikes: Texts = []
    for start in range(0, len(exchanged.likes), matched_sets.HALF):
        half = slice(start, start + matched_sets.HALF)
        mixed = [[str(f) for f in rng.permutation(place.features)] for place in places]
        for wishes in exchanged.likes[half]:
            features_left = [[str(f) for f in rng.permutation(features[1:])] for features in mixed]
            likes.append(
                tuple(names_of(features_left[p].pop())[rng.integers(3)] for (p,) in wishes)
            )
        for wishes in exchanged.dislikes[half]:
            dislikes.append(tuple(names_of(mixed[p][0])[rng.integers(3)] for (p,) in wishes))
    return places, likes, dislikes
