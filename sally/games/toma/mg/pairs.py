"""Pairs of the minority game: two agents exchange whom they follow, or whom they avoid.

Places, likes and dislikes are the same in both members. At order 2 the exchanged relations are to
agents that decide by their wishes; at order 3 to agents that avoid others, and that would both go
to the same place if they did not. Of the two agents that exchange their relations, one (the agent
asked about) goes to another place in each member; the other goes to the same place in both, so
everything but the asked agent stays where it is. Its two places are the emptiest but for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import permutations, product
from typing import Any

import msgspec
import numpy as np

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.rules.chance import Stream
from sally.core.rules.pair import MOST_TRIES, Member, PairRecipe, QuestionKind
from sally.games.toma.mg import shortcuts
from sally.games.toma.mg.depths import DEEPEST, places_at
from sally.games.toma.mg.game import Minority, View
from sally.games.toma.mg.generators import needs_reading, put_into_words
from sally.games.toma.mg.matched_sets import disliked_lists, liked_lists
from sally.games.toma.mg.rules import (
    PLACES,
    Profile,
    Scenario,
    best_places,
    destinations,
    predictions,
    profiles,
    rational_actions,
)
from sally.games.toma.mg.stories import stories
from sally.games.toma.one_shot import PLAYER, State

ORDERS = (2, 3)
AGENTS = 8

# --- wishes ---------------------------------------------------------------------------------------


class Wishes(msgspec.Struct, frozen=True):
    """The places that an agent likes and dislikes, in the order of the page, and what follows."""

    profile: Profile
    disliked: frozenset[int]
    alone: tuple[int, ...]  # where it may go without regard to others
    favourites: tuple[int, ...]  # likewise, if it ignored its dislikes


@cache
def all_wishes() -> tuple[Wishes, ...]:
    """Return every order of every list of likes and dislikes that leaves an agent one place."""
    likes = sorted({order for places in liked_lists() for order in permutations(places)})
    dislikes = sorted({order for places in disliked_lists() for order in permutations(places)})
    kept_wishes = []
    for liked, disliked in product(likes, dislikes):
        profile = Profile(tuple((p,) for p in liked), tuple((p,) for p in disliked))
        wishes = Wishes(
            profile,
            frozenset(disliked),
            best_places(profile, {}),
            best_places(Profile(profile.likes, ()), {}),
        )
        if len(wishes.alone) == 1:
            kept_wishes.append(wishes)
    return tuple(kept_wishes)


def without(wishes: Wishes, place: int) -> tuple[int, ...]:
    """Return where an agent may go if one more place is ruled out."""
    return best_places(msgspec.structs.replace(wishes.profile, avoids=0), {0: place})


def _draw_wishes(chance: Stream, *conditions: Callable[[Wishes], bool]) -> Wishes | None:
    fitting = [
        wishes for wishes in all_wishes() if all(condition(wishes) for condition in conditions)
    ]
    return chance.pick(fitting) if fitting else None


def _goes_to(place: int) -> Callable[[Wishes], bool]:
    return lambda wishes: wishes.alone == (place,)


def _moves_to(place: int, ruled_out: int) -> Callable[[Wishes], bool]:
    return lambda wishes: without(wishes, ruled_out) == (place,)


def _reads_like(other_wishes: Wishes) -> Callable[[Wishes], bool]:
    """Return the condition that neither the first like nor the favourites tell two agents apart."""
    return lambda wishes: (
        wishes.profile.likes[0] == other_wishes.profile.likes[0]
        and wishes.favourites == other_wishes.favourites
    )


# --- construction ---------------------------------------------------------------------------------

SUBJECT, RIVAL, FIRST, SECOND = range(4)  # the agents of a draft by their part


def _draw(chance: Stream, order: int) -> tuple[Member, Member]:
    for _ in range(MOST_TRIES):
        draft = _draft(chance, order)
        if draft is not None and _is_pair(order, draft):
            return _members(chance, order, draft)
    raise BadInput(f"No pair of order {order} was found in {MOST_TRIES} tries.")


Draft = tuple[tuple[Profile, ...], tuple[Profile, ...]]  # the agents of both members


def _draft(chance: Stream, order: int) -> Draft | None:
    """Draw the agents of both members, in the order of their parts.

    The asked agent and its rival have a relation to the first and the second agent, which go to the
    two places `place` and `other_place`. At order 3 these two avoid two anchors.
    """
    place, other_place, *busy = chance.shuffled(PLACES)
    follows = chance.below(2) == 0
    if order == 2:
        named_agents = _draw_named_anchors(chance, place, other_place)
        free_agents = 4
        counts = {busy[0]: 0, busy[1]: 0}
    else:
        named_agents = _draw_named_avoiders(chance, place, other_place, busy[0])
        free_agents = 2
        counts = {busy[0]: 2, busy[1]: 0}
    if named_agents is None:
        return None
    subject, rival = _draw_related(chance, follows, place, other_place, busy)
    if subject is None or rival is None:
        return None
    counts[rival.alone[0]] += 1
    anchors = []
    for _ in range(free_agents):
        anchor_place = min(busy, key=lambda p: (counts[p], chance()))
        counts[anchor_place] += 1
        anchors.append(_draw_wishes(chance, _goes_to(anchor_place)))
    if any(anchor is None for anchor in anchors):
        return None
    wishes = [subject, rival, *named_agents, *anchors]
    plain = [agent.profile for agent in wishes if agent is not None]
    if order == 3:  # the two that are named avoid the next two
        plain[FIRST] = msgspec.structs.replace(plain[FIRST], avoids=SECOND + 1)
        plain[SECOND] = msgspec.structs.replace(plain[SECOND], avoids=SECOND + 2)
    relation = "follows" if follows else "avoids"
    members = []
    for targets in ((FIRST, SECOND), (SECOND, FIRST)):
        agents = list(plain)
        for part, target in zip((SUBJECT, RIVAL), targets, strict=True):
            agents[part] = msgspec.structs.replace(agents[part], **{relation: target})
        members.append(tuple(agents))
    return members[0], members[1]


def _draw_named_anchors(chance: Stream, place: int, other_place: int) -> list[Wishes | None] | None:
    """Draw two agents without relations that go to these places."""
    first = _draw_wishes(chance, _goes_to(place))
    if first is None:
        return None
    second = _draw_wishes(chance, _goes_to(other_place), _reads_like(first))
    return None if second is None else [first, second]


def _draw_named_avoiders(
    chance: Stream, place: int, other_place: int, avoided_place: int
) -> list[Wishes | None] | None:
    """Draw two agents that leave one place for these two, and two anchors at the place left."""
    first = _draw_wishes(chance, _goes_to(avoided_place), _moves_to(place, avoided_place))
    if first is None:
        return None
    second = _draw_wishes(
        chance, _goes_to(avoided_place), _moves_to(other_place, avoided_place), _reads_like(first)
    )
    if second is None:
        return None
    return [first, second, *(_draw_wishes(chance, _goes_to(avoided_place)) for _ in range(2))]


def _draw_related(
    chance: Stream, follows: bool, place: int, other_place: int, busy: Sequence[int]
) -> tuple[Wishes | None, Wishes | None]:
    """Draw the asked agent, which goes where its relation leads it, and the rival, which goes to
    one busy place in both members."""
    if follows:
        two_places = {place, other_place}
        return (
            _draw_wishes(chance, lambda wishes: not wishes.disliked & two_places),
            _draw_wishes(
                chance, lambda wishes: two_places <= wishes.disliked and wishes.alone[0] in busy
            ),
        )
    return (
        _draw_wishes(chance, _goes_to(place), _moves_to(other_place, place)),
        _draw_wishes(chance, lambda wishes: wishes.alone[0] in busy),
    )


def _is_pair(order: int, draft: Draft) -> bool:
    """Return whether only the asked agent moves, the emptiest place is unique in each member, and
    no mindless rule tells the members apart."""
    gone = [destinations(agents) for agents in draft]
    if {agent for agent in gone[0] if gone[0][agent] != gone[1][agent]} != {SUBJECT}:
        return False
    emptiest = [
        shortcuts.smallest_counts(shortcuts.tally([(p,) for p in g.values()], False)) for g in gone
    ]
    if len(emptiest[0]) != 1 or len(emptiest[1]) != 1 or emptiest[0] == emptiest[1]:
        return False
    first, second = draft
    if any(rule(first, SUBJECT) != rule(second, SUBJECT) for rule in _agent_rules().values()):
        return False
    return all(count(first) == count(second) for count in _counters(order).values())


def _members(chance: Stream, order: int, draft: Draft) -> tuple[Member, Member]:
    story = chance.pick(list(stories()))
    places = chance.shuffled(range(AGENTS))  # on the page, by part
    listed = [_in_page_order(agents, places) for agents in draft]
    rng: np.random.Generator = chance.generator()
    while True:
        shown_places, people = put_into_words(listed[0], stories()[story], rng)
        if needs_reading(Scenario("pair", order, story, shown_places, people)):
            break
    members = []
    for agents in listed:
        related = tuple(
            msgspec.structs.replace(person, follows=agent.follows, avoids=agent.avoids)
            for person, agent in zip(people, agents, strict=True)
        )
        scenario = Scenario("pair", order, story, shown_places, related)
        subject = people[places[SUBJECT]].name
        members.append(Member({"scenario": msgspec.to_builtins(scenario), "subject": subject}))
    return members[0], members[1]


def _in_page_order(agents: Sequence[Profile], places: Sequence[int]) -> list[Profile]:
    """Return the agents in the order of the page, with their relations renumbered."""

    def renumber(part: int | None) -> int | None:
        return None if part is None else places[part]

    listed: list[Profile] = [agents[0]] * len(agents)
    for part, agent in enumerate(agents):
        listed[places[part]] = msgspec.structs.replace(
            agent, follows=renumber(agent.follows), avoids=renumber(agent.avoids)
        )
    return listed


# --- truth, minds, reasoners ----------------------------------------------------------------------


def _subject_of(game: Minority) -> int:
    return game.agents[game.subject]


def _truth(game: Minority, state: State, others: Mapping[str, PlayerSpec]) -> int:
    return predictions(game.problem)[_subject_of(game)]


def _best_moves(game: Minority, view: View, predicted: int) -> tuple[int, ...]:
    scenario = game.as_seen(view)
    supposed = {**predictions(scenario), _subject_of(game): predicted}
    return tuple(sorted(rational_actions(scenario, supposed)))


def _minds(game: Minority, view: View, order: int) -> Iterator[int]:
    """Yield where the asked agent goes at every depth that its relations need or more."""
    listed = profiles(game.as_seen(view))
    for depth in range(order - 1, DEEPEST + 1):
        yield from places_at(listed, depth)[_subject_of(game)]


def _reason(game: Minority, view: View, order: int) -> int:
    """Return where a reasoner of this order expects the asked agent; order 0 expects it where most
    likes are."""
    listed = profiles(game.as_seen(view))
    if order == 0:
        return shortcuts.greatest(shortcuts.likes(listed))[0]
    return places_at(listed, order - 1)[_subject_of(game)][0]


# --- mindless rules -------------------------------------------------------------------------------

AgentRule = Callable[[Sequence[Profile], int], int | None]  # (agents, asked agent) -> a place


def _first_wish(listed: Sequence[Profile], agent: int) -> int:
    return listed[agent].likes[0][0]


def _last_wish(listed: Sequence[Profile], agent: int) -> int:
    return listed[agent].likes[-1][0]


def _favourite(listed: Sequence[Profile], agent: int) -> int:
    return best_places(Profile(listed[agent].likes, ()), {})[0]


def _alone(listed: Sequence[Profile], agent: int) -> int:
    return best_places(listed[agent], {})[0]


def _of_named(rule: AgentRule, listed: Sequence[Profile], agent: int) -> int | None:
    """Return a rule's place for the agent that the asked one follows or avoids."""
    profile = listed[agent]
    target = profile.avoids if profile.follows is None else profile.follows
    return None if target is None else rule(listed, target)


def _agent_rules() -> Mapping[str, AgentRule]:
    return {
        "the agent's first like": _first_wish,
        "the agent's last like": _last_wish,
        "the agent's favourite without dislikes": _favourite,
        "the agent's place without relations": _alone,
        "the first like of the agent that it names": partial(_of_named, _first_wish),
        "the favourite of the agent that it names, without dislikes": partial(
            _of_named, _favourite
        ),
    }


def _counters(order: int) -> Mapping[str, shortcuts.Counter]:
    """Return the counts that must be the same in both members; `one_step` solves order 2."""
    return {
        **shortcuts.EVEN,
        **shortcuts.BALANCED,
        "no_relations": shortcuts.no_relations,
        "anchors": shortcuts.anchors,
        "no_leaves": shortcuts.no_leaves,
        **({"one_step": shortcuts.one_step} if order == 3 else {}),
    }


def _follow_agent_rule(
    rule: AgentRule, game: Minority, view: View, question: QuestionKind
) -> int | None:
    predicted = rule(profiles(game.as_seen(view)), _subject_of(game))
    if predicted is None or question == "know":
        return predicted
    return _best_moves(game, view, predicted)[0]


def _follow_counter(
    count: shortcuts.Counter,
    picked: Callable[[shortcuts.Counts], list[int]],
    game: Minority,
    view: View,
    question: QuestionKind,
) -> int:
    return picked(count(profiles(game.as_seen(view))))[0]


def _constant(place: int, game: Minority, view: View, question: QuestionKind) -> int:
    return place


def _rules(order: int) -> Mapping[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {
        name: partial(_follow_agent_rule, rule) for name, rule in _agent_rules().items()
    }
    for name, count in _counters(order).items():
        rules[f"least {name}"] = partial(_follow_counter, count, shortcuts.smallest_counts)
        rules[f"most {name}"] = partial(_follow_counter, count, shortcuts.greatest)
    for place in PLACES:
        rules[f"always option {place}"] = partial(_constant, place)
    return rules


PAIRS = (
    PairRecipe(
        name="places",
        title="the empty place, who follows or avoids whom",
        game="toma_mg",
        about="two agents exchange whom they follow or avoid, so one of them goes elsewhere",
        seat=PLAYER,
        probe="their_place",
        subject="",
        orders=ORDERS,
        draw=_draw,
        truth=_truth,
        best_moves=_best_moves,
        minds=_minds,
        minds_about="agents that decide by the stated rule, at least as deep as their relations "
        "need",
        rules=_rules,
        reason=_reason,
    ),
)
