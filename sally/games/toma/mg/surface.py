"""Surface features of the minority game: which agents mention which place, and how often. They are
used to test whether learners find the answer without reasoning about the agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

from sally.core.rules.card import Attack, CardQuestion
from sally.games.toma.mg import generators, shortcuts
from sally.games.toma.mg.game import Minority, frozen_scenarios
from sally.games.toma.mg.rules import PLACES, Profile, Scenario, answer, profiles

COUNTERS: dict[str, shortcuts.Counter | None] = {
    "place on the page": None,
    "letters in its name": None,
    "number of times it is liked": shortcuts.likes,
    "number of times it is disliked": shortcuts.dislikes,
    "number of agents who like it": shortcuts.fans,
    "number of agents who like it first": shortcuts.first_likes,
    "number of agents who dislike it first": shortcuts.first_dislikes,
    "number of agents who both like and dislike it": shortcuts.disputed_places,
    "number of agents who like it and do not dislike it": shortcuts.undisputed_places,
    "number of agents who like it best": shortcuts.no_dislikes,
}
JOINED = (
    "what an agent says of a place is joined with what the agent says that it follows or avoids, "
    "which is a step of the prediction that the level asks for"
)


def _group(agents: Sequence[Profile], kind: str) -> list[Profile]:
    if kind == "without a relation":
        return [profile for profile in agents if profile.follows is None and profile.avoids is None]
    if kind == "with a relation":
        return [
            profile
            for profile in agents
            if profile.follows is not None or profile.avoids is not None
        ]
    followers = kind == "who follow"
    return [
        profile
        for profile in agents
        if (profile.follows if followers else profile.avoids) is not None
    ]


def _of(kind: str, count: shortcuts.Counter) -> shortcuts.Counter:
    return lambda agents: count(_group(agents, kind))


def counters_of(level: int, by_group: bool) -> dict[str, shortcuts.Counter | None]:
    """Return the counts that serve as surface features at a level, by name.

    With `by_group`, these include how many agents of each group like a place and do not dislike it.
    """
    counters = dict(COUNTERS)
    if level == 1:
        return counters
    for kind in ("with a relation", "who follow", "who avoid"):
        counters[f"number of times agents {kind} like it"] = _of(kind, shortcuts.likes)
        counters[f"number of times agents {kind} dislike it"] = _of(kind, shortcuts.dislikes)
        counters[f"number of agents {kind} who like it"] = _of(kind, shortcuts.fans)
    if by_group:
        for kind in ("without a relation", "who follow", "who avoid"):
            words = f"number of agents {kind} who like it and do not dislike it"
            counters[words] = _of(kind, shortcuts.undisputed_places)
    return counters


def mentions(s: Scenario, by_group: bool) -> CardQuestion:
    """Return the surface features of each place, mainly how often agents mention it, and the
    answer."""
    read, counters = profiles(s), counters_of(s.level, by_group)
    counted = [count(read) for count in counters.values() if count is not None]
    return CardQuestion(
        tuple((p, len(s.places[p].name), *(counts[p] for counts in counted)) for p in PLACES),
        answer(s),
    )


@lru_cache(maxsize=3)
def _draw_scenarios(level: int, seed: int, n_scenarios: int) -> tuple[Scenario, ...]:
    return tuple(islice(generators.scenarios(level, seed), n_scenarios))


def attacks() -> Iterable[Attack]:
    """Yield a test, for every level, of whether learners find the answer from surface features.
    From level 2 on, also yield a test with features that contain half of the solution: how many
    agents of each group like a place and do not dislike it."""
    for level in (1, 2, 3):
        yield attack_on(level)
        if level > 1:
            yield attack_on(level, by_group=True)


def attack_on(level: int, by_group: bool = False) -> Attack:
    """Return a test of whether learners find the answer from how often each place is mentioned."""

    def fresh(n_scenarios: int, seed: int) -> Sequence[CardQuestion]:
        return [mentions(s, by_group) for s in _draw_scenarios(level, seed, n_scenarios)]

    def frozen() -> Sequence[CardQuestion]:
        frozen_set = frozen_scenarios().values()
        return [mentions(s, by_group) for s in frozen_set if s.level == level]

    def pages(n_scenarios: int, seed: int) -> Sequence[tuple[Minority, int]]:
        return [
            (Minority(scenario=s), answer(s)) for s in _draw_scenarios(level, seed, n_scenarios)
        ]

    return Attack(
        f"level {level}, mentions{' and where anchors go' if by_group else ''}",
        tuple(counters_of(level, by_group)),
        fresh,
        frozen,
        0.25,
        pages=None if by_group else pages,
        joined=JOINED if level > 1 else "",
    )
