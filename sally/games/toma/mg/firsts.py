"""The order in which an agent's wishes are listed: every place is named first equally often, among
likes and among dislikes."""

from collections.abc import Sequence

import numpy as np

from sally.games.toma.mg.draft import Ints
from sally.games.toma.mg.rules import Profile

TRIES = 64  # orders drawn at once, of which the most even is taken
Wishes = tuple[tuple[int, ...], ...]


def ordered(agents: Sequence[Profile], rng: np.random.Generator) -> list[Profile] | None:
    """Return the agents with reordered wishes; None if no drawn order puts every place first
    equally often."""
    likes = _ordered([one.likes for one in agents], rng)
    dislikes = _ordered([one.dislikes for one in agents], rng)
    if likes is None or dislikes is None:
        return None
    return [
        Profile(liked, disliked, one.follows, one.avoids)
        for one, liked, disliked in zip(agents, likes, dislikes, strict=True)
    ]


def _ordered(listed: Sequence[Wishes], rng: np.random.Generator) -> list[Wishes] | None:
    """Return each agent's wishes in random order, with first wishes spread evenly over all
    places; None if no draw spreads them evenly."""
    drawn, spreads = _firsts(listed, rng)
    evenest = int(spreads.argmin())
    if spreads[evenest]:
        return None
    return [
        (wishes[one], *(wishes[i] for i in rng.permutation(len(wishes)).tolist() if i != one))
        for wishes, one in zip(listed, drawn[evenest].tolist(), strict=True)
    ]


def _firsts(listed: Sequence[Wishes], rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return, for each random try, which wish of each agent comes first, and how unevenly the
    places are spread over these first wishes."""
    sizes = np.array([len(wishes) for wishes in listed])
    places = np.array([[wishes[i % len(wishes)][0] for i in range(3)] for wishes in listed])
    drawn: Ints = (rng.random((TRIES, len(listed))) * sizes).astype(np.int64)
    named = places[np.arange(len(listed)), drawn]
    counts = (named[..., None] == np.arange(4)).sum(axis=1)
    return drawn, counts.max(axis=1) - counts.min(axis=1)
