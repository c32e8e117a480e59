"""Generator `belief_action`: where a person believes a thing to be, and what the person does next.

Contents of three containers are swapped. At each swap exactly one of two people is in the room, and
the story names rooms instead of saying "saw" or "did not see", so that no single word tells who saw
what. The swaps are drawn first, then the key, uniformly among the containers. A story has three
twins, one per key, that differ only in where the two people were: the person saw all relevant
swaps, none or some of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from sally.core.errors import join_names
from sally.core.rules.chance import Stream
from sally.core.rules.words import read_tables
from sally.games.battery.casts import Cast, cast_name, wording_for
from sally.games.battery.items import Belief, Item
from sally.games.battery.nested import NAMES

HOLDERS, SWAPS = 3, 4
QUESTIONS = ("action", "belief", "backward")
TWINS = ("seen", "missed", "partly")
PER_STORY = len(QUESTIONS) * len(TWINS)
Swap = tuple[int, int]
PAIRS = tuple(combinations(range(HOLDERS), 2))

COLOURS = ("green", "white", "red", "blue", "yellow", "brown", "grey", "black", "orange", "violet")
KINDS = ("box", "case", "bag", "locker", "casket", "bin", "trunk", "chest")
STORIES = read_tables(__package__, "stories.toml")["belief_action"]
WANTED = tuple(STORIES["wanted"])
ROOMS = tuple(STORIES["rooms"])
DEVICES = tuple(map(tuple, STORIES["devices"]))
NOTE: str = STORIES["note"]
OPENINGS = tuple(STORIES["openings"])
CONTENTS = ("the {colour} one holds the {thing}", "the {thing} is in the {colour} one")
DOORS = tuple(STORIES["doors"])
WHERE = tuple(STORIES["where"])
SWAPPED = tuple(STORIES["swapped"])
IRRELEVANT = tuple(STORIES["irrelevant"])
WANTS = tuple(STORIES["wants"])
BELIEVES = "Where does {name} believe the {thing} to be?"
DID = "Later {name}, who wants the {thing}, comes from outside and {did}."


def believed_place(start: int, swaps: Sequence[Swap], swaps_seen: Sequence[int]) -> int:
    """Return the believed place of a thing after the swaps that were seen."""
    place = start
    for n in swaps_seen:
        a, b = swaps[n]
        place = b if place == a else a if place == b else place
    return place


def _unseen_swaps(swaps_seen: Sequence[int]) -> tuple[int, ...]:
    return tuple(n for n in range(SWAPS) if n not in swaps_seen)


SUBSETS = tuple(s for n in range(SWAPS + 1) for s in combinations(range(SWAPS), n))


def _choices(start: int, swaps: Sequence[Swap], key: int, alike: bool) -> list[tuple[int, ...]]:
    """Return the sets of swaps such that a person who saw exactly these believes `key`.

    The other person, who saw the remaining swaps, believes `key` too if `alike`, and something else
    if not.
    """
    return [
        subset
        for subset in SUBSETS
        if believed_place(start, swaps, subset) == key
        and (believed_place(start, swaps, _unseen_swaps(subset)) == key) == alike
    ]


def _drawn_swaps(draws: Stream) -> tuple[int, tuple[Swap, ...]]:
    """Draw the thing's first place, and swaps after which every place can be the believed one."""
    while True:
        start, swaps = draws.below(HOLDERS), tuple(draws.pick(PAIRS) for _ in range(SWAPS))
        moved = believed_place(start, swaps, range(SWAPS)) != start
        varied = all(a != b for a, b in pairwise(swaps))
        if (
            moved
            and varied
            and all(
                _choices(start, swaps, key, alike)
                for key in range(HOLDERS)
                for alike in (True, False)
            )
        ):
            return start, swaps


def belief_action(seed: int, number: int, cast: Cast = "people") -> Item:
    """Return an item; every nine consecutive numbers share one story, which has three versions
    (twins) with three questions each."""
    story, place = divmod(number, PER_STORY)
    question, twin = QUESTIONS[place % len(QUESTIONS)], TWINS[place // len(QUESTIONS)]
    draws = Stream(seed, "battery", "belief_action", story)
    start, swaps = _drawn_swaps(draws)
    real = believed_place(start, swaps, range(SWAPS))
    key = {"seen": real, "missed": start, "partly": 3 - real - start}[twin]
    names = [cast_name(name, cast) for name in draws.shuffled(NAMES)[:2]]
    rooms = draws.shuffled(ROOMS)[:2]
    colours, kind = draws.shuffled(COLOURS)[:HOLDERS], draws.pick(KINDS)
    things, devices = draws.shuffled(WANTED)[:HOLDERS], draws.shuffled(DEVICES)[:HOLDERS]
    kinds = f"{kind}es" if kind == "box" else f"{kind}s"
    opening = wording_for(draws.pick(OPENINGS), cast).format(
        kinds=kinds, room=rooms[0], contents=_contents(draws, colours, things, start),
        one=names[0], two=names[1],
    )  # fmt: skip
    doors = "; ".join(
        draws.pick(DOORS).format(colour=colours[n], device=devices[n][0])
        for n in draws.shuffled(range(HOLDERS))
    )
    steps = _steps(draws, swaps, colours, kind, cast)
    wants = wording_for(draws.pick(WANTS), cast).format(name=names[0], thing=things[0])
    twins = Stream(seed, "battery", "belief_action", story, twin)
    swaps_seen = twins.pick(_choices(start, swaps, key, twins.below(HOLDERS) == 0))
    noticed = twins.below(2) == 0
    lines = [opening, wording_for(NOTE, cast), f"{doors[0].upper()}{doors[1:]}."]
    for swap, sentence in steps:
        is_present = noticed if swap is None else swap in swaps_seen
        if question != "backward":
            lines.append(_room_sentence(twins, names, rooms, is_present, cast))
        lines.append(sentence)
    name, thing = names[0], things[0]
    holders = tuple(f"in the {colour} {kind}" for colour in colours)
    acts = tuple(f"{name} {does}" for _, does in devices)
    if question == "backward":
        lines.append(wording_for(DID, cast).format(name=name, thing=thing, did=devices[key][1]))
    elif question == "action":
        lines.append(wants)
    belief_question = wording_for(BELIEVES, cast).format(name=name, thing=thing)
    return Item(
        id=f"belief_action-{seed}-{number}",
        story="\n".join(lines),
        question=f"What does {name} do first?" if question == "action" else belief_question,
        options=acts if question == "action" else holders,
        answer=key,
        task=question,
        order=1,
        condition=f"{twin}, irrelevant {'seen' if noticed else 'missed'}",
        pair=f"belief_action-{seed}-{story}",
        belief=Belief(belief_question, holders, key, tuple(range(HOLDERS)))
        if question == "action"
        else None,
        about=name,
        people=tuple(names),
        by_depth=(real, key),
        mindless={
            "where_it_is": real,
            "old_state": start,
            "other_person": believed_place(start, swaps, _unseen_swaps(swaps_seen)),
        },
    )


def _contents(draws: Stream, colours: Sequence[str], things: Sequence[str], start: int) -> str:
    """Return a sentence that lists the contents; the first thing is in the container `start`."""
    things_by_place = {start: things[0]}
    things_by_place |= dict(zip([n for n in range(HOLDERS) if n != start], things[1:], strict=True))
    form = draws.pick(CONTENTS)
    order = draws.shuffled(range(HOLDERS))
    return join_names([form.format(colour=colours[n], thing=things_by_place[n]) for n in order])


def _steps(
    draws: Stream, swaps: Sequence[Swap], colours: Sequence[str], kind: str, cast: Cast
) -> list[tuple[int | None, str]]:
    """Return (swap number, sentence) for each swap. One event that moves nothing is inserted at a
    random position, with None as its number."""
    steps: list[tuple[int | None, str]] = []
    for n, swap in enumerate(swaps):
        a, b = draws.shuffled(swap)
        sentence = wording_for(draws.pick(SWAPPED), cast).format(
            first=colours[a], second=colours[b], kind=kind
        )
        steps.append((n, sentence))
    sentence = wording_for(draws.pick(IRRELEVANT), cast).format(
        colour=draws.pick(colours), kind=kind
    )
    steps.insert(draws.below(len(steps) + 1), (None, sentence))
    return steps


def _room_sentence(
    draws: Stream, names: Sequence[str], rooms: Sequence[str], is_present: bool, cast: Cast
) -> str:
    """Return a sentence that says which room each person is in; the first person is in the room
    with the containers if and only if `is_present` is true."""
    people_and_rooms = list(zip(names, rooms if is_present else rooms[::-1], strict=True))
    (first_person, one_at), (two, two_at) = draws.shuffled(people_and_rooms)
    return wording_for(draws.pick(WHERE), cast).format(
        one=first_person, here=one_at, two=two, there=two_at
    )
