"""Generator `nested`: nested beliefs about where a thing is, orders 0 to 4.

Everything that does not depend on who is who is drawn first: the places, the kinds of statements,
how many people share each statement, and which statements are lies. Such an outline is accepted
only if every place can be the key; then the key is drawn, uniformly among the places, and people
are chosen to fit it. Hence the words of a story and their positions, apart from the names, carry no
information about the key. With probability one third every simpler reading (the real place, one
mind left out, only the first or the last minds of the chain, talk ignored) gives the key, otherwise
none does; so each of these readings is right exactly as often as a random guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from sally.core.errors import join_names
from sally.core.rules.chance import Stream
from sally.core.rules.words import read_tables
from sally.games.battery.beliefs import Chain, Event, place_believed, simpler
from sally.games.battery.casts import Cast, cast_name, wording_for
from sally.games.battery.items import Item

PLACES, STATEMENTS, PERSONS = 3, 9, 6
ORDERS = range(5)
LARGE = 0.9  # chance that a statement has room for all minds of the chain but one
TRIES = 12  # of choosing people for an outline and a key
TELLS = 0.55  # chance that a statement is told rather than seen
MOST_LAST_TELLS = 3  # statements after the thing was put somewhere for the last time

STORIES = read_tables(__package__, "stories.toml")["nested"]
NAMES = tuple(STORIES["names"])
THINGS = tuple(STORIES["things"])
CONTAINERS = tuple(STORIES["containers"])
ROOMS = ("attic", "workshop", "library", "studio", "greenhouse", "office", "cellar", "hall")
NOTE: str = STORIES["note"]
OPENINGS = tuple(STORIES["openings"])
PUTS_IN = tuple(STORIES["puts_in"])
PUTS_WITHOUT = tuple(STORIES["puts_without"])
PUTS_ALONE = tuple(STORIES["puts_alone"])
PUTS_ALL = tuple(STORIES["puts_all"])
TELLS_SINCERE = tuple(STORIES["tells_sincere"])
TELLS_LIE = tuple(STORIES["tells_lie"])
QUESTION = {
    0: "Where is the {thing} really?",
    1: "Where does {0} think the {thing} is?",
    2: "Where does {0} think {1} thinks the {thing} is?",
    3: "Where does {0} think {1} thinks {2} thinks the {thing} is?",
    4: "Where does {0} think {1} thinks {2} thinks {3} thinks the {thing} is?",
}


def nested_item(seed: int, number: int, order: int | None = None, cast: Cast = "people") -> Item:
    """Return the item with this number; without `order`, consecutive numbers take the orders of
    belief in rotation."""
    level = number % len(ORDERS) if order is None else order
    draws = Stream(seed, "battery", "nested", level, number)
    chain = tuple(draws.shuffled(range(PERSONS))[:level])
    events = _events(draws, chain)
    return _write_item(draws, events, chain, f"nested-{seed}-{level}-{number}", cast)


class Outline(msgspec.Struct, frozen=True):
    """The statements of a story before the people are chosen."""

    places: tuple[int, ...]
    kinds: tuple[str, ...]
    sizes: tuple[int, ...]  # how many people share each statement
    lies: tuple[bool, ...]

    @property
    def last(self) -> int:
        """The index of the statement that puts the thing into its final place."""
        return _last_put(self.kinds)


def _events(draws: Stream, chain: Chain) -> tuple[Event, ...]:
    while True:
        outline = _outline(draws, len(chain))
        if not chain:
            if events := _fill_people(draws, outline, _anybody(outline)):
                return events
            continue
        stories = []
        for key in range(PLACES):
            story = _story(draws, outline, chain, key)
            if story is None:
                break
            stories.append(story)
        else:
            return draws.pick(stories)


def _story(draws: Stream, outline: Outline, chain: Chain, key: int) -> tuple[Event, ...] | None:
    """Draw the events of a story in which the right answer is the place `key`; return None if
    `TRIES` draws give none."""
    real = outline.places[outline.last]
    for _ in range(TRIES):
        presences = (_presence_for_agreement if key == real else _presence_for_difference)(
            draws, outline, chain, key
        )
        if presences is None:
            return None
        events = _fill_people(draws, outline, presences)
        if events is None or place_believed(events, chain) != key:
            continue
        if all((reading == key) == (key == real) for reading in readings(events, chain).values()):
            return events
    return None


def readings(events: Sequence[Event], chain: Chain) -> dict[str, int]:
    """Return the answers of readers that skip part of the reasoning, keyed by the name of the
    reader."""
    if not chain:
        return {}
    answers = {
        name: place_believed(events, shorter_chain)
        for name, shorter_chain in simpler(chain).items()
    }
    answers["where_it_is"] = place_believed(events, ())
    answers["talk_ignored"] = place_believed(events, chain, talk=False)
    return answers


# --- the outline ----------------------------------------------------------------------------------


def _outline(draws: Stream, order: int) -> Outline:
    """Draw the statements of a story before its people are chosen. Each statement gets a place
    (every place occurs equally often), a kind (an event that is seen, or a message), the number of
    people who share it, and whether it is a lie."""
    first = (draws.below(PLACES), draws.below(PLACES) == 0)  # of a question about what is so
    while True:
        places = tuple(draws.shuffled([p for p in range(PLACES) for _ in range(3)]))
        kinds = ("put", *("tell" if draws() < TELLS else "put" for _ in places[1:]))
        if not _is_possible(places, kinds, order):
            continue
        if order or _is_even(places, kinds, *first):
            break
    last = _last_put(kinds)
    sizes, lies = [PERSONS], [False]
    for n in range(1, STATEMENTS):
        is_told, fewest, largest = kinds[n] == "tell", 1, PERSONS - 1
        # what is said of a place that was not named before cannot be believed by the speaker
        lies.append(is_told and (places[n] not in places[:n] or draws() < 0.5))
        if n > last and places[n] != places[last]:  # told to none of the chain, except by a liar
            largest = min(largest, PERSONS - order + lies[n])
        elif n == last:  # seen by the whole chain if the key is where the thing is
            fewest = max(fewest, order)
        elif draws() < LARGE:
            fewest = max(fewest, order - 1)
        fewest = max(fewest, 1 + is_told)
        sizes.append(fewest + draws.below(largest - fewest + 1))
    return Outline(places, kinds, tuple(sizes), tuple(lies))


def _last_put(kinds: Sequence[str]) -> int:
    return max(n for n, kind in enumerate(kinds) if kind == "put")


def _is_even(places: Sequence[int], kinds: Sequence[str], rank: int, last: bool) -> bool:
    """Return whether two conditions hold: the real place has index `rank` in the order of first
    mention, and it is the last place mentioned if and only if `last` is true."""
    real = places[_last_put(kinds)]
    return list(dict.fromkeys(places)).index(real) == rank and (real == places[-1]) == last


def _is_possible(places: Sequence[int], kinds: Sequence[str], order: int) -> bool:
    puts = [place for place, kind in zip(places, kinds, strict=True) if kind == "put"]
    if any(a == b for a, b in pairwise(puts)):
        return False
    if len(kinds) - 1 - _last_put(kinds) > MOST_LAST_TELLS:
        return False
    return all(p == puts[-1] or _turns(places, kinds, order, p) for p in range(PLACES))


def _turns(places: Sequence[int], kinds: Sequence[str], order: int, key: int) -> list[int]:
    """Return the indices of statements that can set a belief of this order to `key`: someone says
    that the thing is at `key`, after it was put elsewhere, and at least `order` later statements
    name other places."""
    indices = []
    for index, (place, kind) in enumerate(zip(places, kinds, strict=True)):
        was_elsewhere = any(
            k == "put" and p != key for p, k in zip(places[:index], kinds[:index], strict=True)
        )
        later = sum(p != key for p in places[index + 1 :])
        if place == key and kind == "tell" and was_elsewhere and later >= order:
            indices.append(index)
    return indices


# --- who was present ------------------------------------------------------------------------------


class Presence(msgspec.Struct, frozen=True):
    """The people who must be present at a statement and those who must be absent; whether each
    other person is present is drawn at random."""

    present: frozenset[int] = frozenset()
    away: frozenset[int] = frozenset()
    speaker: int | None = None  # None: any that believes what is said or, for a lie, does not


ANYBODY, EVERYBODY = Presence(), Presence(frozenset(range(PERSONS)))


def _anybody(outline: Outline) -> list[Presence]:
    return [EVERYBODY] + [ANYBODY] * (len(outline.places) - 1)


def _presence_for_difference(
    draws: Stream, outline: Outline, chain: Chain, key: int
) -> list[Presence] | None:
    """Return who must be present at each statement so that two conditions hold; None if the outline
    does not allow it.

    One statement determines the nested belief, and every mind of the chain misses one later event
    at which all the other minds are present.
    """
    places, sizes, order = outline.places, outline.sizes, len(chain)
    minds = frozenset(chain)
    rooms = []
    for index in _turns(places, outline.kinds, order, key):
        later = [
            n
            for n in range(index + 1, len(places))
            if places[n] != key and order - 1 <= sizes[n] < PERSONS
        ]
        showing = [
            n
            for n in range(1, index)
            if outline.kinds[n] == "put" and places[n] != key and sizes[n] >= order
        ]
        if sizes[index] >= order and len(later) >= order and (places[0] != key or showing):
            rooms.append((index, later, showing))
    if not rooms:
        return None
    index, later, showing = draws.pick(rooms)
    presences = _anybody(outline)
    if places[0] == key:  # a later event must take the place of the first for all of them
        presences[draws.pick(showing)] = Presence(minds)
    presences[index] = Presence(minds)
    missing = dict(zip(draws.shuffled(later), chain, strict=False))
    for n in range(index + 1, len(places)):
        mind = missing.get(n)
        if mind is None:
            presences[n] = Presence(away=frozenset({draws.pick(chain)}))
        else:
            presences[n] = Presence(minds - {mind}, frozenset({mind}))
    return presences


def _presence_for_agreement(
    draws: Stream, outline: Outline, chain: Chain, key: int
) -> list[Presence] | None:
    """Return who is present at each statement, such that all minds see the thing being put into its
    final place and later statements do not change their beliefs; None if the outline does not allow
    it."""
    last, presences = outline.last, _anybody(outline)
    if outline.sizes[last] < len(chain):
        return None
    if last:
        presences[last] = Presence(frozenset(chain))
    for n in range(last + 1, len(outline.places)):
        if outline.places[n] != key:
            minds = frozenset(chain)
            if outline.lies[n] and (len(chain) + outline.sizes[n] > PERSONS or draws() < 0.5):
                liar = draws.pick(chain)  # a lie does not change the liar's own belief
                presences[n] = Presence(frozenset({liar}), minds - {liar}, liar)
            else:
                presences[n] = Presence(away=minds)
    return presences


def _fill_people(
    draws: Stream, outline: Outline, presences: Sequence[Presence]
) -> tuple[Event, ...] | None:
    """Return the events with people filled in, or None if a statement has no possible speaker."""
    events: list[Event] = []
    for n, (place, kind) in enumerate(zip(outline.places, outline.kinds, strict=True)):
        free = [p for p in range(PERSONS) if p not in presences[n].present | presences[n].away]
        n_more = outline.sizes[n] - len(presences[n].present)
        if not 0 <= n_more <= len(free):
            return None
        free = draws.shuffled(free)
        if kind == "put":
            people = [*sorted(presences[n].present), *free[:n_more]]
            events.append(Event("put", tuple(draws.shuffled(people)), place))
            continue
        fits = {
            p for p in range(PERSONS) if (place_believed(events, (p,)) != place) == outline.lies[n]
        }
        if n_more and not fits & presences[n].present:  # somebody must be able to say it
            free.sort(key=lambda p: p not in fits)
        people = draws.shuffled([*sorted(presences[n].present), *free[:n_more]])
        able = [p for p in people if p in fits and presences[n].speaker in (None, p)]
        if not able:
            return None
        speaker = draws.pick(able)
        listeners = (p for p in people if p != speaker)
        events.append(Event("tell", (speaker, *listeners), place, outline.lies[n]))
    return tuple(events)


# --- the text -------------------------------------------------------------------------------------


def _write_item(draws: Stream, events: Sequence[Event], chain: Chain, id: str, cast: Cast) -> Item:
    names = [cast_name(name, cast) for name in draws.shuffled(NAMES)[:PERSONS]]
    places = draws.shuffled(CONTAINERS)[:PLACES]
    thing, room = draws.pick(THINGS), draws.pick(ROOMS)
    opening = wording_for(draws.pick(OPENINGS), cast).format(
        names=join_names(draws.shuffled(names)),
        room=room,
        places=join_names([f"a {place}" for place in draws.shuffled(places)]),
    )
    lines = [opening, wording_for(NOTE, cast)]
    lines += [_sentence(draws, event, names, thing, places[event.place], cast) for event in events]
    people_asked = [names[person] for person in chain]
    key = place_believed(events, chain)
    return Item(
        id=id,
        story="\n".join(lines),
        question=wording_for(QUESTION[len(chain)], cast).format(*people_asked, thing=thing),
        options=tuple(f"the {place}" for place in places),
        answer=key,
        task="nested",
        order=len(chain),
        condition=_condition(events, chain),
        pair=id,
        about=people_asked[0] if people_asked else "",
        people=tuple(names),
        by_depth=tuple(
            place_believed(events, chain[len(chain) - k :]) for k in range(len(chain) + 1)
        ),
        mindless=readings(events, chain),
    )


def _condition(events: Sequence[Event], chain: Chain) -> str:
    if not chain:
        return "about the world"
    return "as it is" if place_believed(events, chain) == place_believed(events, ()) else "apart"


def _sentence(
    draws: Stream, event: Event, names: Sequence[str], thing: str, place: str, cast: Cast
) -> str:
    actor, others = names[event.present[0]], [names[p] for p in event.present[1:]]
    absent = [name for p, name in enumerate(names) if p not in event.present]
    forms: tuple[str, ...]
    if event.kind == "tell":
        forms = TELLS_LIE if event.lie else TELLS_SINCERE
    elif not others:
        forms = PUTS_ALONE
    elif not absent:
        forms = PUTS_ALL
    else:
        forms = PUTS_IN if draws() < 0.5 else PUTS_WITHOUT
    return wording_for(draws.pick(forms), cast).format(
        actor=actor,
        others=join_names(draws.shuffled(others)) if others else "",
        absent=join_names(draws.shuffled(absent)) if absent else "",
        were="was" if len(absent) == 1 else "were",
        thing=thing,
        place=place,
    )
