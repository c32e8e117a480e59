"""Generator `nested`: nested beliefs about where a thing is, orders 0 to 4.

The places and kinds of the statements are drawn first, then the key, evenly among the places, and
only then who was present: the visible sequence says nothing about the key. With probability one
third every simpler reading (reality, one mind left out, one end of the chain alone, talk ignored)
gives the key, else none does; each is therefore right exactly as often as a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sally.core.errors import listed
from sally.core.rules.chance import Stream
from sally.games.battery.beliefs import Chain, Event, believed, simpler
from sally.games.battery.items import Item

PLACES, STATEMENTS, PERSONS = 3, 9, 6
ORDERS = range(5)
TELLS = 0.55  # chance that a statement is told rather than seen
MOST_LAST_TELLS = 3  # statements after the thing was put somewhere for the last time

NAMES = (
    *("Ada", "Bram", "Chiara", "Dev", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Keiko"),
    *("Lena", "Marek", "Nadia", "Oscar", "Petra", "Quentin", "Rosa", "Sven", "Tamar", "Ugo"),
    *("Vera", "Wanda", "Xenia", "Yusuf", "Zora", "Anouk", "Bilal", "Clara", "Dario", "Esther"),
)
THINGS = (
    *("coin", "key", "letter", "marble", "ring", "ticket", "stamp", "whistle", "button", "shell"),
    *("candle", "photograph", "thimble", "compass", "brooch", "feather", "medal", "battery"),
)
CONTAINERS = (
    *("jar", "tin", "basket", "drawer", "chest", "bucket", "sack", "teapot", "suitcase", "crate"),
    *("vase", "backpack", "cupboard", "barrel", "pouch", "hatbox", "trunk", "bowl"),
)
ROOMS = ("attic", "workshop", "library", "studio", "greenhouse", "office", "cellar", "hall")
NOTE = (
    "Everyone believes what they themselves last saw or were told, trusts what they are told, and "
    "knows who else was there. What is said in private reaches nobody else. Nobody looks inside "
    "anything, and nobody learns of anything in another way."
)
OPENINGS = (
    "{names} share the {room}. It has {places}.",
    "The {room} belongs to {names}. Three things stand in it: {places}.",
    "In the {room} of {names} there are {places}.",
    "{names} meet in the {room}, where {places} can be seen.",
)
PUTS_IN = (
    "In front of {others}, {actor} put the {thing} into the {place}.",
    "{actor} put the {thing} into the {place} while {others} watched.",
    "With {others} looking on, the {thing} was put into the {place} by {actor}.",
    "{actor} took the {thing} and put it into the {place}; present: {others}.",
)
PUTS_WITHOUT = (
    "While {absent} {were} out, {actor} put the {thing} into the {place}; all the others saw it.",
    "{actor} put the {thing} into the {place} before the eyes of everyone but {absent}.",
    "In the absence of {absent}, and with everyone else there, {actor} put the {thing} into the "
    "{place}.",
)
PUTS_ALONE = (
    "When nobody else was there, {actor} put the {thing} into the {place}.",
    "{actor}, alone in the room, put the {thing} into the {place}.",
)
PUTS_ALL = (
    "With everyone there, {actor} put the {thing} into the {place}.",
    "Everyone saw {actor} put the {thing} into the {place}.",
)
TELLS_SINCERE = (
    "In private {actor} told {others} what {actor} believed: the {thing} was in the {place}.",
    "{actor} took {others} aside and said, sincerely, that the {thing} was in the {place}.",
    "{actor} wrote a message that only {others} got, an honest one: the {thing} is in the {place}.",
)
TELLS_LIE = (
    "In private {actor} told {others} what {actor} did not believe: the {thing} was in the "
    "{place}.",
    "{actor} took {others} aside and said, as a lie, that the {thing} was in the {place}.",
    "{actor} wrote a message that only {others} got, a false one: the {thing} is in the {place}.",
)
QUESTION = {
    0: "Where is the {thing} really?",
    1: "Where does {0} think the {thing} is?",
    2: "Where does {0} think {1} thinks the {thing} is?",
    3: "Where does {0} think {1} thinks {2} thinks the {thing} is?",
    4: "Where does {0} think {1} thinks {2} thinks {3} thinks the {thing} is?",
}


def nested(seed: int, number: int, order: int | None = None) -> Item:
    """Return an item; without `order`, numbers run through the orders."""
    level = number % len(ORDERS) if order is None else order
    draws = Stream(seed, "battery", "nested", level, number)
    chain = tuple(draws.shuffled(range(PERSONS))[:level])
    events = _events(draws, chain)
    return _told(draws, events, chain, f"nested-{seed}-{level}-{number}")


def _events(draws: Stream, chain: Chain) -> tuple[Event, ...]:
    places, kinds = _statements(draws, len(chain))
    real = places[max(n for n, kind in enumerate(kinds) if kind == "put")]
    if not chain:
        return _completed(draws, places, kinds, [set(range(PERSONS))] + [None] * STATEMENTS)
    key = draws.below(PLACES)
    while True:
        fill = _same if key == real else _apart
        events = _completed(draws, places, kinds, fill(draws, places, kinds, chain, key), chain)
        if believed(events, chain) == key and all(
            (said == key) == (key == real) for said in readings(events, chain).values()
        ):
            return events


def readings(events: Sequence[Event], chain: Chain) -> dict[str, int]:
    """Return the answers of readers who skip part of the reasoning."""
    if not chain:
        return {}
    found = {name: believed(events, other) for name, other in simpler(chain).items()}
    found["where_it_is"] = believed(events, ())
    found["talk_ignored"] = believed(events, chain, talk=False)
    return found


# --- the visible sequence ------------------------------------------------------------------------


def _statements(draws: Stream, order: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Draw the places, each equally often, and kinds, until every place can be the key."""
    first = (draws.below(PLACES), draws.below(PLACES) == 0)  # of a question about what is so
    while True:
        places = tuple(draws.shuffled([p for p in range(PLACES) for _ in range(3)]))
        kinds = ("put", *("tell" if draws() < TELLS else "put" for _ in places[1:]))
        if _is_possible(places, kinds, order) and (order or _is_even(places, kinds, *first)):
            return places, kinds


def _last_put(kinds: Sequence[str]) -> int:
    return max(n for n, kind in enumerate(kinds) if kind == "put")


def _is_even(places: Sequence[int], kinds: Sequence[str], rank: int, last: bool) -> bool:
    """Return whether the real place has this rank of first mention, and is named last or not."""
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
    """Return the statements that can fix a chain's belief to `key`, given every mind needed."""
    found = []
    for at, (place, kind) in enumerate(zip(places, kinds, strict=True)):
        put = any(k == "put" and p != key for p, k in zip(places[:at], kinds[:at], strict=True))
        later = sum(p != key for p in places[at + 1 :])
        if place == key and kind == "tell" and put and later >= order:
            found.append(at)
    return found


# --- who was present ------------------------------------------------------------------------------

Presence = list[set[int] | None]  # None: anybody


def _some(draws: Stream, people: Sequence[int], share: float = 0.5) -> set[int]:
    return {p for p in people if draws() < share}


def _bystanders(chain: Chain) -> list[int]:
    return [p for p in range(PERSONS) if p not in chain]


def _apart(
    draws: Stream, places: Sequence[int], kinds: Sequence[str], chain: Chain, key: int
) -> Presence:
    """Return who is present if one statement fixes the belief and each mind misses one later event
    that all others share."""
    at = draws.pick(_turns(places, kinds, len(chain), key))
    others = [n for n in range(at + 1, len(places)) if places[n] != key]
    missing = dict(zip(draws.shuffled(others), chain, strict=False))
    found: Presence = [set(range(PERSONS))]
    shown = [n for n in range(1, at) if kinds[n] == "put" and places[n] != key]
    if places[0] == key:  # a later event must take the place of the first for all of them
        found += [set() for _ in range(1, at)]
        found[draws.pick(shown)] = set(chain) | _some(draws, _bystanders(chain))
        found = [None if n and not w else w for n, w in enumerate(found)]
    else:
        found += [None] * (at - 1)
    found.append(set(chain) | _some(draws, _bystanders(chain)))
    for n in range(at + 1, len(places)):
        if n in missing:
            present = set(chain) - {missing[n]} | _some(draws, _bystanders(chain))
        else:
            present = _some(draws, range(PERSONS)) - {draws.pick(chain)}
        found.append(present)
    return found


def _same(
    draws: Stream, places: Sequence[int], kinds: Sequence[str], chain: Chain, key: int
) -> Presence:
    """Return who is present such that all minds see where the thing is put last."""
    last = _last_put(kinds)
    found: Presence = [set(range(PERSONS)), *[None] * (last - 1)][: last + 1]
    if last:
        found.append(set(chain) | _some(draws, _bystanders(chain)))
    for n in range(last + 1, len(places)):
        if places[n] == key or draws() < 0.3:
            found.append(None)
        else:  # what is said among bystanders, or as a lie to them, changes no chain
            found.append(set(_bystanders(chain)) & _some(draws, range(PERSONS), 0.7))
    return found


def _completed(
    draws: Stream,
    places: Sequence[int],
    kinds: Sequence[str],
    presence: Presence,
    chain: Chain = (),
) -> tuple[Event, ...]:
    """Return the events: who acts or speaks, and whether what is said is a lie."""
    events: list[Event] = []
    for n, (place, kind) in enumerate(zip(places, kinds, strict=True)):
        given = presence[n]
        there = _some(draws, range(PERSONS)) if given is None else set(given)
        if kind == "tell" and draws() < 0.3 and given is not None and len(there) == 1:
            there |= {draws.pick([p for p in range(PERSONS) if p not in there])}
        while len(there) < (2 if kind == "tell" else 1):
            there |= {draws.below(PERSONS)}
        people = draws.shuffled(sorted(there))
        if kind == "put":
            events.append(Event("put", tuple(people), place))
            continue
        honest = [p for p in people if believed(events, (p,)) == place]
        speaker = draws.pick(honest) if honest and draws() < 0.5 else people[0]
        who = (speaker, *(p for p in people if p != speaker))
        events.append(Event("tell", who, place, speaker not in honest))
    return tuple(events)


# --- the text -------------------------------------------------------------------------------------


def _told(draws: Stream, events: Sequence[Event], chain: Chain, id: str) -> Item:
    names = draws.shuffled(NAMES)[:PERSONS]
    places = draws.shuffled(CONTAINERS)[:PLACES]
    thing, room = draws.pick(THINGS), draws.pick(ROOMS)
    opening = draws.pick(OPENINGS).format(
        names=listed(draws.shuffled(names)),
        room=room,
        places=listed([f"a {place}" for place in draws.shuffled(places)]),
    )
    lines = [opening, NOTE]
    lines += [_sentence(draws, event, names, thing, places[event.place]) for event in events]
    asked = [names[person] for person in chain]
    key = believed(events, chain)
    return Item(
        id=id,
        story="\n".join(lines),
        question=QUESTION[len(chain)].format(*asked, thing=thing),
        options=tuple(f"the {place}" for place in places),
        answer=key,
        task="nested",
        order=len(chain),
        condition=_condition(events, chain),
        pair=id,
        about=asked[0] if asked else "",
        people=tuple(names),
        by_depth=tuple(believed(events, chain[len(chain) - k :]) for k in range(len(chain) + 1)),
        mindless=readings(events, chain),
    )


def _condition(events: Sequence[Event], chain: Chain) -> str:
    if not chain:
        return "about the world"
    return "as it is" if believed(events, chain) == believed(events, ()) else "apart"


def _sentence(draws: Stream, event: Event, names: Sequence[str], thing: str, place: str) -> str:
    actor, others = names[event.who[0]], [names[p] for p in event.who[1:]]
    absent = [name for p, name in enumerate(names) if p not in event.who]
    forms: tuple[str, ...]
    if event.kind == "tell":
        forms = TELLS_LIE if event.lie else TELLS_SINCERE
    elif not others:
        forms = PUTS_ALONE
    elif not absent:
        forms = PUTS_ALL
    else:
        forms = PUTS_IN if draws() < 0.5 else PUTS_WITHOUT
    return draws.pick(forms).format(
        actor=actor,
        others=listed(draws.shuffled(others)) if others else "",
        absent=listed(draws.shuffled(absent)) if absent else "",
        were="was" if len(absent) == 1 else "were",
        thing=thing,
        place=place,
    )
