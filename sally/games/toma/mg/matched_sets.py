"""Matched sets of four scenarios whose prompts differ in one respect only.

The four scenarios of a set, its members, have the same places and the same agents with the same
wishes, in the same order, and each of the four places is the answer of one member.

- At levels 2 and 3, the members differ only in *whom* each agent follows and avoids. Anchors are
  agents without relations; every other agent follows one agent and avoids another. Agents of the
  same depth are followed and avoided equally often, with one exception: of the two anchors of level
  3, one is followed more often and the other avoided more often. Therefore a count of agents is the
  same in all four members if it uses only the agents' wishes, their kinds of relations, how often
  they are named, and their order in the prompt. Any rule over such counts is right in exactly one
  member. Such rules include counting the destinations that result if relations are ignored, and
  counting the anchors.
- At level 3 the members also agree on the places that a player of depth 2 predicts to be emptiest.
- At level 1, which has no relations, the members differ only in which dislikes belong to which
  likes: within each half of the agents, the lists of dislikes are exchanged. The lists of a half
  are equally long, and in all four members the same number of agents both like and dislike a place
  (`exchanged_sets`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sally.games.toma.balance import Floats, pick
from sally.games.toma.mg.rules import PLACES, Profile, best_places

Ints = npt.NDArray[np.int64]
# Minimum and maximum number of wishes of an agent, and how often it may name the same place.
LIKES, MOST_LIKES_A_PLACE = (2, 3), 2
DISLIKES = (1, 2)  # each of a different place
Set = list[list[Profile]]  # four members, each a list of agents
# agents by depth
ROLES: dict[int, tuple[int, ...]] = {1: (8,), 2: (4, 4), 3: (2, 3, 3)}
BATCH = {1: 4000, 2: 600, 3: 8000}  # drafts drawn at a time
HALF = 4  # agents among which dislikes are exchanged at level 1


def liked_lists() -> list[tuple[int, ...]]:
    """Return every list of places that an agent may like; a place may occur twice."""
    place_lists = (c for n_likes in LIKES for c in combinations_with_replacement(PLACES, n_likes))
    return [c for c in place_lists if max(map(c.count, c)) <= MOST_LIKES_A_PLACE]


def disliked_lists() -> list[tuple[int, ...]]:
    """Return every list of places that an agent may dislike."""
    return [c for n_dislikes in DISLIKES for c in combinations(PLACES, n_dislikes)]


def sets(level: int, rng: np.random.Generator) -> Iterator[Set]:
    """Yield matched sets of four scenarios of level 2 or 3 indefinitely; the scenarios of a set are
    in random order."""
    debt: Floats = np.zeros(32)
    while True:
        for matched_set in _draw_sets(level, debt, rng):
            yield [matched_set[i] for i in rng.permutation(4)]


@cache
def wirings(level: int) -> Ints:
    """Return every way to choose whom the agents follow and avoid, as an array indexed by way,
    relation (follows, avoids) and agent; -1 means that the agent has no such relation."""
    if level == 2:
        ways = [
            ([-1] * 4 + list(follows), [-1] * 4 + list(avoids))
            for follows, avoids in _differing_orders(range(4))
        ]
    else:  # of the two anchors one is followed twice and avoided once, the other the reverse
        ways = [
            (
                [-1, -1, *(int(i == odd) for i in range(3)), *follows],
                [-1, -1, *(int(i != odd) for i in range(3)), *avoids],
            )
            for odd in range(3)
            for follows, avoids in _differing_orders(range(2, 5))
        ]
    return np.array(ways)


def _differing_orders(targets: Sequence[int]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return all pairs of orderings of `targets` that differ in every position."""
    orders = list(permutations(targets))
    return [
        (f, a) for f in orders for a in orders if all(x != y for x, y in zip(f, a, strict=True))
    ]


def _draw_sets(level: int, debt: Floats, rng: np.random.Generator) -> Iterator[Set]:
    table, ways = _descriptions(), wirings(level)
    clear = np.flatnonzero(table.alone >= 0)
    drafts = rng.choice(clear, (BATCH[level], sum(ROLES[level])))
    right, shallow = _answers(level, drafts)
    places = np.bitwise_or.reduce(np.where(right >= 0, 1 << np.maximum(right, 0), 0), axis=1)
    for draft in np.flatnonzero(places == 15):
        groups = [
            answers_by_way
            for shallow_answer in np.unique(shallow[draft])
            if len(
                set(
                    (
                        answers_by_way := _answers_by_wiring(
                            right[draft], shallow[draft], shallow_answer
                        )
                    ).values()
                )
            )
            == 4
        ]
        if not groups:
            continue
        group = groups[int(rng.integers(len(groups)))]
        wish_lists = [table.named[i] for i in drafts[draft]]
        wishes = [
            (_shuffle_wishes(liked, rng), _shuffle_wishes(disliked, rng))
            for liked, disliked in wish_lists
        ]
        edge_counts = _said_of_edges(level, table.says[drafts[draft]], np.array(sorted(group)))
        members = []
        for place in PLACES:
            having = [n for n, wiring in enumerate(sorted(group)) if group[wiring] == place]
            leans = (edge_counts[having][:, place] - edge_counts[having].mean(axis=1)).reshape(
                len(having), -1
            )
            chosen = pick(leans, debt)
            debt += leans[chosen]
            follows, avoids = ways[sorted(group)[having[chosen]]]
            members.append(
                [
                    Profile(*agent_wishes, *(None if t < 0 else int(t) for t in targets))
                    for agent_wishes, *targets in zip(wishes, follows, avoids, strict=True)
                ]
            )
        yield members


def _said_of_edges(level: int, says: Ints, wirings_kept: Ints) -> Ints:
    """Count the relations between agents (one follows or avoids the other) by what the two agents
    say about a place.

    An agent may say nothing about a place, that it likes it, that it dislikes it, or both. The axes
    are the wirings in `wirings_kept` (a wiring is a choice of whom each agent follows and avoids),
    the places, and the combinations of relation and the two agents' statements.
    """
    counts = np.zeros((len(wirings_kept), 4, 2, 16), np.int64)
    for kind in range(2):
        for agent in range(ROLES[level][0], len(says)):
            targets = wirings(level)[wirings_kept, kind, agent]
            code = 4 * says[agent][None] + says[targets]  # way, place
            counts[np.arange(len(wirings_kept))[:, None], np.arange(4)[None], kind, code] += 1
    return counts.reshape(len(wirings_kept), 4, 32)


def _answers_by_wiring(right: Ints, shallow: Ints, shallow_answer: int) -> dict[int, int]:
    """Return the answer of each wiring, that is, of each way to choose whom the agents follow and
    avoid.

    Only those wirings are included that have a unique answer, and in which a player that reasons
    two steps deep expects exactly the places in `shallow_answer` to be emptiest.
    """
    wirings_kept = np.flatnonzero((shallow == shallow_answer) & (right >= 0))
    return {int(wiring): int(right[wiring]) for wiring in wirings_kept}


def _answers(level: int, drafts: Ints) -> tuple[Ints, Ints]:
    """Return, for each draft and each way to choose whom the agents follow and avoid, the answer
    (-1 if it is not unique) and the prediction of depth 2.

    The prediction is the set of places that a player of depth 2 expects to be emptiest, as bits; it
    is used at level 3 only and is 0 below.
    """
    table = _descriptions()
    follows, avoids = wirings(level)[:, 0], wirings(level)[:, 1]
    alone = table.alone[drafts]
    true = np.repeat(alone[:, None], len(follows), axis=1)
    guessed = true.copy()
    rows = np.arange(len(drafts))[:, None]
    for agent in range(ROLES[level][0], drafts.shape[1]):
        wiring_index = np.arange(len(follows))[None]
        to, avoided = follows[:, agent], avoids[:, agent]
        kind = drafts[:, agent][:, None]
        true[:, :, agent] = table.goes[
            kind, true[rows, wiring_index, to], true[rows, wiring_index, avoided]
        ]
        guessed[:, :, agent] = table.goes[kind, alone[:, to], alone[:, avoided]]
    emptiest = _emptiest()[_pack_headcounts(true)]
    right = np.where((true >= 0).all(axis=2), _only_place()[emptiest], -1)
    if level < 3:
        return right, np.zeros(right.shape, np.int64)
    sound = (guessed >= 0).all(axis=2)
    return np.where(sound, right, -1), _emptiest()[_pack_headcounts(guessed)]


def _pack_headcounts(gone: Ints) -> Ints:
    """Return the headcounts of the four places packed into one number, four bits each."""
    counts: Ints = (1 << 4 * np.maximum(gone, 0)).sum(axis=2)
    return counts


@cache
def _emptiest() -> Ints:
    """Return the set of emptiest places for each packed headcount, as bits."""
    numbers = np.arange(1 << 16)
    counts = np.stack([(numbers >> 4 * place) & 15 for place in PLACES], axis=1)
    bits: Ints = (counts == counts.min(axis=1, keepdims=True)) @ np.array([1, 2, 4, 8])
    return bits


@cache
def _only_place() -> Ints:
    """Return the only place in each set of places; -1 if the set is empty or has several."""
    return np.array([{1: 0, 2: 1, 4: 2, 8: 3}.get(bits, -1) for bits in range(16)])


# --- what an agent may wish for ---------------------------------------------------------------


class Descriptions:
    """Every combination of likes and dislikes, and the place to which an agent with this
    combination goes, given the places of the agents that it follows and avoids."""

    def __init__(self) -> None:
        self.likes, self.dislikes = liked_lists(), disliked_lists()
        self.named = list(product(self.likes, self.dislikes))
        self.says = np.array(
            [[(p in liked) + 2 * (p in disliked) for p in PLACES] for liked, disliked in self.named]
        )
        self.alone = np.array([self._goes(i, None, None) for i in range(len(self.named))])
        # kind, place of the followed, place of the avoided; the last row and column are never read
        self.goes: npt.NDArray[np.int64] = np.full((len(self.named), 5, 5), -1)
        for i in range(len(self.named)):
            for to in PLACES:
                for avoided_place in PLACES:
                    self.goes[i, to, avoided_place] = self._goes(i, to, avoided_place)

    def _goes(self, kind: int, to: int | None, avoided_place: int | None) -> int:
        """Return the place to which an agent with these wishes goes if the agent that it follows
        goes to `to` and the agent that it avoids to `avoided_place`; -1 if the place is not
        unique."""
        liked, disliked = self.named[kind]
        ends = {0: to, 1: avoided_place}
        profile = Profile(
            tuple((p,) for p in liked),
            tuple((p,) for p in disliked),
            None if to is None else 0,
            None if avoided_place is None else 1,
        )
        best = best_places(profile, {i: place for i, place in ends.items() if place is not None})
        return best[0] if len(best) == 1 and (best[0] in liked or best[0] == to) else -1


@cache
def _descriptions() -> Descriptions:
    return Descriptions()


Wishes = tuple[tuple[int, ...], ...]


def _shuffle_wishes(places: Sequence[int], rng: np.random.Generator) -> Wishes:
    return tuple((int(place),) for place in rng.permutation(places))


# --- level 1: dislikes that are exchanged -----------------------------------------------------


class Exchanged(NamedTuple):
    """A matched set of level 1: in scenario m of the set, agent i has the list of dislikes with
    number `orders[m][i]`."""

    likes: list[Wishes]
    dislikes: list[Wishes]
    orders: list[tuple[int, ...]]  # four, one for each place that is the answer


class _Half(NamedTuple):
    """Four agents, and those ways of distributing their four lists of dislikes among them that
    determine where each agent goes."""

    likes: Ints  # numbers of descriptions' likes
    dislikes: Ints
    orders: Ints  # rows of ORDERS
    heads: Ints  # packed headcounts under each of these orders
    crossed: Ints  # packed counts of agents that both like and dislike each place


ORDERS = np.array(list(permutations(range(HALF))))
LEAST_HEADS = 5  # different headcounts of a half: with fewer, four answers are rare
TRIED = 40  # halves that one half is paired with, before it is dropped


def exchanged_sets(rng: np.random.Generator) -> Iterator[Exchanged]:
    """Yield matched sets of four scenarios of level 1 indefinitely; the scenarios of a set are in
    random order."""
    table = _descriptions()
    while True:
        for first_half, second_half, members in _pair_halves(list(_halves(rng)), rng):
            orders = [
                tuple(
                    int(i)
                    for i in (
                        *ORDERS[first_half.orders[a]],
                        *(HALF + ORDERS[second_half.orders[b]]),
                    )
                )
                for a, b in members
            ]
            liked = [table.likes[i] for i in (*first_half.likes, *second_half.likes)]
            disliked = [table.dislikes[i] for i in (*first_half.dislikes, *second_half.dislikes)]
            yield Exchanged(
                [_shuffle_wishes(places, rng) for places in liked],
                [_shuffle_wishes(places, rng) for places in disliked],
                [orders[i] for i in rng.permutation(4)],
            )


Members = list[tuple[int, int]]  # by answer: the numbers of the orders of the two halves


def _pair_halves(
    halves: list[_Half], rng: np.random.Generator
) -> Iterator[tuple[_Half, _Half, Members]]:
    """Yield pairs of groups of four agents that together form a matched set; each group is used at
    most once."""
    while len(halves) > 1:
        first_half = halves.pop()
        for n in rng.permutation(len(halves))[:TRIED]:
            members = _members(first_half, halves[n], rng)
            if members:
                yield first_half, halves.pop(int(n)), members
                break


def _members(first_half: _Half, second_half: _Half, rng: np.random.Generator) -> Members:
    """Return the four scenarios of a matched set, one for each answer, or an empty list if these
    two groups of agents allow no such set.

    A scenario is a pair of indices, which select for each group the order in which its agents
    receive the lists of dislikes. The number of agents that have both a like and a dislike for a
    place is the same in all four scenarios.
    """
    right = _only_place()[_emptiest()[first_half.heads[:, None] + second_half.heads[None]]]
    answer_bits = np.where(right >= 0, 1 << np.maximum(right, 0), 0)  # as bits
    if np.bitwise_or.reduce(answer_bits, axis=None) != 15:
        return []
    crossed = first_half.crossed[:, None] + second_half.crossed[None]
    shared = np.zeros(1 << 16, np.int64)
    np.bitwise_or.at(shared, crossed, answer_bits)
    alike = np.flatnonzero(shared == 15)
    if not len(alike):
        return []
    code = alike[int(rng.integers(len(alike)))]
    ways = [np.argwhere((crossed == code) & (right == place)) for place in PLACES]
    chosen = [choices[int(rng.integers(len(choices)))] for choices in ways]
    return [(int(a), int(b)) for a, b in chosen]


def _halves(rng: np.random.Generator) -> Iterator[_Half]:
    """Yield random groups of four agents with equally long lists of dislikes. Where the agents go
    depends on how these lists are distributed among them; a group is used only if at least five
    different headcounts of the places can arise."""
    table = _descriptions()
    likes = rng.integers(len(table.likes), size=(BATCH[1], HALF))
    sizes = np.array([len(places) for places in table.dislikes])
    by_size = [
        np.flatnonzero(sizes == n_dislikes) for n_dislikes in range(DISLIKES[0], DISLIKES[1] + 1)
    ]
    chosen = rng.integers(len(by_size), size=BATCH[1])
    dislikes = np.stack([rng.choice(by_size[n], HALF) for n in chosen])
    goes = table.alone.reshape(len(table.likes), len(table.dislikes))
    given_dislikes = dislikes[:, ORDERS]  # draft, order, agent
    gone = goes[likes[:, None], given_dislikes]
    heads, crossed = _pack_headcounts(gone), _count_crossed(likes, given_dislikes)
    clear = (gone >= 0).all(axis=2)
    for draft in np.flatnonzero(clear.sum(axis=1) >= LEAST_HEADS):
        orders_kept = np.flatnonzero(clear[draft])
        if len(set(heads[draft, orders_kept])) >= LEAST_HEADS:
            yield _Half(
                likes[draft],
                dislikes[draft],
                orders_kept,
                heads[draft, orders_kept],
                crossed[draft, orders_kept],
            )


def _count_crossed(likes: Ints, given_dislikes: Ints) -> Ints:
    """Return how many agents have both a like and a dislike for each place, by draft and by the
    order in which the agents receive the lists of dislikes.

    The counts of the four places are packed into one number, four bits each.
    """
    table = _descriptions()
    liked = np.array([[place in liked_list for place in PLACES] for liked_list in table.likes])[
        likes
    ]
    disliked = np.array(
        [[place in disliked_list for place in PLACES] for disliked_list in table.dislikes]
    )[given_dislikes]
    counts: Ints = (liked[:, None] & disliked).sum(axis=2) @ (1 << 4 * np.arange(4))
    return counts
