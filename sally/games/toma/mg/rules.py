"""The exact rules of the minority game: agents choose among four places, and the player wants the
emptiest.

Source: kang2026, appendix C.2, with the decision rule of our protocol: an agent drops every place
that has a feature it dislikes or that an agent it avoids goes to; if the place of the agent it
follows is left, it goes there; otherwise it goes where most of its likes are met.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

PLACES = range(4)
LEVELS = (1, 2, 3)


class Place(msgspec.Struct, frozen=True):
    """A place and the features that the prompt lists for it."""

    name: str
    features: tuple[str, ...]


class Agent(msgspec.Struct, frozen=True):
    """One agent as described to the player; `follows` and `avoids` are indices into the list of
    agents."""

    name: str
    likes: tuple[str, ...]
    dislikes: tuple[str, ...]
    follows: int | None = None
    avoids: int | None = None


class Scenario(msgspec.Struct, frozen=True):
    """One problem: four places and the agents that choose among them."""

    id: str
    level: int
    story: str
    places: tuple[Place, ...]  # four
    agents: tuple[Agent, ...]


class Profile(msgspec.Struct, frozen=True):
    """An agent's description with every wish matched to the places.

    `likes` and `dislikes` list the places that meet each wish, in the order of the prompt.
    """

    likes: tuple[tuple[int, ...], ...]
    dislikes: tuple[tuple[int, ...], ...]
    follows: int | None = None
    avoids: int | None = None


class Undetermined(ValueError):
    """Raised if a rule leaves more than one choice, or none."""


def meets(feature: str, wish: str) -> bool:
    """Return whether a wish names a feature in full or by some of its consecutive words."""
    return f" {wish.lower()} " in f" {feature.lower()} "


@lru_cache(maxsize=512)  # all eight questions of an episode read the same page
def profiles(scenario: Scenario) -> tuple[Profile, ...]:
    """Return every agent's profile, computed from the texts of places and wishes."""

    def places_of(wish: str) -> tuple[int, ...]:
        return tuple(
            index
            for index, place in enumerate(scenario.places)
            if any(meets(feature, wish) for feature in place.features)
        )

    return tuple(
        Profile(
            tuple(map(places_of, agent.likes)),
            tuple(map(places_of, agent.dislikes)),
            agent.follows,
            agent.avoids,
        )
        for agent in scenario.agents
    )


def best_places(profile: Profile, gone: Mapping[int, int]) -> tuple[int, ...]:
    """Return the places to which an agent may go by the decision rule; there is exactly one if the
    agent's description is complete.

    `gone` gives the places of other agents; a relation to an agent that is not in `gone` is
    ignored.
    """
    dropped = {place for wish in profile.dislikes for place in wish}
    if profile.avoids is not None and profile.avoids in gone:
        dropped.add(gone[profile.avoids])
    followed = None if profile.follows is None else gone.get(profile.follows)
    if followed is not None and followed not in dropped:
        return (followed,)
    open_places = [place for place in PLACES if place not in dropped]
    wishes_met = [sum(place in wish for wish in profile.likes) for place in PLACES]
    largest = max((wishes_met[place] for place in open_places), default=0)
    return tuple(place for place in open_places if wishes_met[place] == largest)


def depths(relations: Sequence[Profile | Agent]) -> tuple[int, ...]:
    """Return the depth of each agent: 1 without a relation, else 1 more than the deepest agent
    that it follows or avoids."""
    depth_by_agent: dict[int, int] = {}
    while len(depth_by_agent) < len(relations):
        n_before = len(depth_by_agent)
        for index, relation in enumerate(relations):
            targets = [t for t in (relation.follows, relation.avoids) if t is not None]
            if index not in depth_by_agent and all(target in depth_by_agent for target in targets):
                depth_by_agent[index] = 1 + max(
                    (depth_by_agent[target] for target in targets), default=0
                )
        if len(depth_by_agent) == n_before:
            stuck = min(set(range(len(relations))) - set(depth_by_agent))
            raise ValueError(
                f"Agent number {stuck + 1} depends on itself or on an agent that does not exist."
            )
    return tuple(depth_by_agent[index] for index in range(len(relations)))


def destinations(listed: Sequence[Profile]) -> dict[int, int]:
    """Return the place to which each agent goes, computed first for the anchors (agents without
    a relation), then for deeper agents."""
    deep = depths(listed)
    gone: dict[int, int] = {}
    for index in sorted(range(len(listed)), key=lambda i: (deep[i], i)):
        best = best_places(listed[index], gone)
        if len(best) != 1:
            raise Undetermined(f"Agent number {index + 1} has {len(best)} equally good places.")
        gone[index] = best[0]
    return {index: gone[index] for index in range(len(listed))}


def predictions(scenario: Scenario) -> dict[int, int]:
    """Return the place to which each agent goes: the right answers to the questions about the
    others."""
    return dict(_predict_places(scenario))


@lru_cache(maxsize=512)  # truth, player and metrics use it for each agent
def _predict_places(scenario: Scenario) -> Mapping[int, int]:
    try:
        return destinations(profiles(scenario))
    except Undetermined as trouble:
        raise Undetermined(f"Scenario {scenario.id}: {trouble}") from None


def headcounts(places: Mapping[int, int]) -> tuple[int, ...]:
    """Return how many agents are at each of the four places."""
    taken_places = list(places.values())
    return tuple(taken_places.count(place) for place in PLACES)


def rational_actions(scenario: Scenario, predicted: Mapping[int, int]) -> frozenset[int]:
    """Return the places with the fewest agents if every agent goes where predicted.

    Raises: ValueError unless there is one valid prediction for every agent.
    """
    agents = len(scenario.agents)
    if predicted.keys() != set(range(agents)) or not set(predicted.values()).issubset(PLACES):
        raise ValueError(
            f"Scenario {scenario.id}: predictions must give a place from 0 to 3 for each of the "
            f"{agents} agents."
        )
    return _emptiest(predicted)


def _emptiest(places: Mapping[int, int]) -> frozenset[int]:
    """Return the places with the fewest agents."""
    counts = headcounts(places)
    return frozenset(place for place in PLACES if counts[place] == min(counts))


def answer(scenario: Scenario) -> int:
    """Return the only place with the fewest agents."""
    actions = _emptiest(predictions(scenario))
    if len(actions) != 1:
        raise Undetermined(
            f"Scenario {scenario.id}: {len(actions)} places are tied for the fewest agents."
        )
    return min(actions)


def check(scenario: Scenario) -> None:
    """Raise ValueError if the data do not form a valid scenario."""
    name = f"Scenario {scenario.id}"
    if scenario.level not in LEVELS:
        raise ValueError(f"{name}: level {scenario.level} is not one of 1 to 3.")
    if len(scenario.places) != len(PLACES):
        raise ValueError(f"{name}: it has {len(scenario.places)} places, not four.")
    for kind, names in (("places", scenario.places), ("agents", scenario.agents)):
        if len({agent.name for agent in names}) < len(names):
            raise ValueError(f"{name}: two of its {kind} have the same name.")
    if not scenario.agents:
        raise ValueError(f"{name}: it has no agents.")
    try:
        deep = depths(scenario.agents)
    except ValueError as trouble:
        raise ValueError(f"{name}: {trouble}") from None
    if max(deep) != scenario.level:
        raise ValueError(
            f"{name}: its relations reach level {max(deep)}, not the stated level {scenario.level}."
        )
