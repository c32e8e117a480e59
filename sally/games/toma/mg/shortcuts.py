"""Shortcuts through the minority game, and how often each is right.

Each rule counts something for every place and takes the place with the smallest count or, as its
inverse, the largest; a tie is broken at random.

Agents may follow or avoid other agents, which may in turn follow or avoid others. The rule
`anchors` counts only the agents that follow and avoid nobody; `no_leaves` counts all agents except
those at the ends of the longest chains. These two rules are not shortcuts: each carries out half of
the solution. They count agents only at places to which these agents really go, so the counts narrow
the answer down. The rules are not balanced. The inverse of `one_step`, which takes the place with
the largest headcount, stays below chance (about .05) because most agents that `one_step` counts
really go there.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from sally.games.toma.mg.rules import PLACES, Profile, best_places, depths, destinations

Counts = list[float]
Counter = Callable[[Sequence[Profile]], Counts]


def likes(listed: Sequence[Profile]) -> Counts:
    """Return how often each place is liked."""
    return tally((wish for profile in listed for wish in profile.likes), split=False)


def dislikes(listed: Sequence[Profile]) -> Counts:
    """Return how often each place is disliked."""
    return tally((wish for profile in listed for wish in profile.dislikes), split=False)


def mentions(listed: Sequence[Profile]) -> Counts:
    """Return how often each place is liked or disliked."""
    return [a + b for a, b in zip(likes(listed), dislikes(listed), strict=True)]


def balance(listed: Sequence[Profile]) -> Counts:
    """Return how often each place is liked, minus how often it is disliked."""
    return [a - b for a, b in zip(likes(listed), dislikes(listed), strict=True)]


def fans(listed: Sequence[Profile]) -> Counts:
    """Return how many agents like something about each place."""
    return tally((tuple(_liked_places(profile)) for profile in listed), split=False)


def first_likes(listed: Sequence[Profile]) -> Counts:
    """Return how many agents list a feature of each place as their first like."""
    return tally((profile.likes[0] for profile in listed), split=True)


def first_dislikes(listed: Sequence[Profile]) -> Counts:
    """Return how many agents list a feature of each place as their first dislike."""
    return tally((profile.dislikes[0] for profile in listed), split=True)


def disputed_places(listed: Sequence[Profile]) -> Counts:
    """Return how many agents both like and dislike something about each place."""
    return tally(
        (tuple(_liked_places(profile) & _disliked_places(profile)) for profile in listed),
        split=False,
    )


def undisputed_places(listed: Sequence[Profile]) -> Counts:
    """Return how many agents like something about each place and dislike nothing about it."""
    return tally(
        (tuple(_liked_places(profile) - _disliked_places(profile)) for profile in listed),
        split=False,
    )


def no_dislikes(listed: Sequence[Profile]) -> Counts:
    """Return how many agents would go to each place if all of them considered only their likes."""
    return tally((_alone(Profile(profile.likes, ())) for profile in listed), split=True)


def no_relations(listed: Sequence[Profile]) -> Counts:
    """Return how many agents would go to each place if none of them followed or avoided another."""
    return tally((_alone(profile) for profile in listed), split=True)


def one_step(listed: Sequence[Profile]) -> Counts:
    """Return how many agents would go to each place if each of them assumed that the agent it
    follows or avoids is an anchor, which follows and avoids nobody."""
    alone = {i: best[0] for i, profile in enumerate(listed) if len(best := _alone(profile)) == 1}
    return tally((best_places(profile, alone) for profile in listed), split=True)


def anchors(listed: Sequence[Profile]) -> Counts:
    """Return the headcount of each place, counting only the agents that follow and avoid nobody
    (anchors)."""
    alone = (profile for profile in listed if profile.follows is None and profile.avoids is None)
    return tally((_alone(profile) for profile in alone), split=True)


def no_leaves(listed: Sequence[Profile]) -> Counts:
    """Return how many agents go to each place, not counting the agents at the end of the longest
    chains of relations."""
    deep = depths(listed)
    gone = destinations(listed).items()
    return tally(((place,) for agent, place in gone if deep[agent] < max(deep)), split=True)


EVEN: dict[str, Counter] = {
    "likes": likes,
    "dislikes": dislikes,
    "mentions": mentions,
    "balance": balance,
}
BALANCED: dict[str, Counter] = {
    "fans": fans,
    "first_likes": first_likes,
    "first_dislikes": first_dislikes,
    "no_dislikes": no_dislikes,
}
PARTIAL: dict[str, Counter] = {"anchors": anchors, "no_leaves": no_leaves}


def counters(level: int) -> dict[str, Counter]:
    """Return the shortcuts that must stay at chance in the scenarios of a level.

    The rule that solves the level is left out: `no_relations` at level 1, `one_step` at level 2.
    """
    chosen = dict(BALANCED)
    if level > 1:
        chosen["no_relations"] = no_relations
    if level > 2:
        chosen["one_step"] = one_step
    return chosen


def smallest_counts(counts: Counts) -> list[int]:
    """Return the places with the smallest count."""
    return [place for place in PLACES if counts[place] <= min(counts) + 1e-9]


def greatest(counts: Counts) -> list[int]:
    """Return the places with the largest count."""
    return smallest_counts([-count for count in counts])


def hit(picked: Sequence[int], right: int) -> float:
    """Return the chance that a guess among the picked places is right."""
    return (right in picked) / len(picked)


@lru_cache(maxsize=1 << 15)  # many drafts describe the same agents
def _alone(profile: Profile) -> tuple[int, ...]:
    """Return the places to which an agent may go without regard to other agents."""
    return best_places(profile, {})


def _liked_places(profile: Profile) -> set[int]:
    return {place for wish in profile.likes for place in wish}


def _disliked_places(profile: Profile) -> set[int]:
    return {place for wish in profile.dislikes for place in wish}


def tally(votes: Iterable[Sequence[int]], split: bool) -> Counts:
    """Return votes per place; a vote for several places counts fully for each or, with `split`,
    is divided among them."""
    counts = [0.0] * 4
    for places in votes:
        for place in places:
            counts[place] += 1 / len(places) if split else 1
    return counts
