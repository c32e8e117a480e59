"""The belief rule of Hi-ToM's stories: agents enter, move a thing, leave, and talk afterwards.

The rule follows the note that the authors print under each story and the semantics of their
generator. It was changed once after its answers had been compared with the published keys: an agent
that enters a room sees what is in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from sally.core.errors import BadInput

PUBLIC = re.compile(r"(\S+) publicly claimed that (?:the )?(\S+) is in the (\S+)")
PRIVATE = re.compile(r"(\S+) privately told (\S+) that the (\S+) is in the (\S+)")


class WitnessedEvent(msgspec.Struct, frozen=True):
    """An event or claim: its witnesses and the container; for a claim, also the speaker and the
    hearers that trust it."""

    witnesses: frozenset[str]
    place: str
    speaker: str = ""
    trusts: frozenset[str] = frozenset()  # hearers who left before the speaker


def events_about(story: str, thing: str) -> tuple[list[WitnessedEvent], str]:
    """Return the events and claims about a thing, in order, and its final place."""
    rooms: dict[str, str] = {}
    leaving_order: dict[str, int] = {}
    events: list[WitnessedEvent] = []
    place = room = last = ""
    for number, line in enumerate(story.split("\n")):
        sentence = re.sub(r"^\d+ ", "", line).strip().rstrip(".")
        present = [p for p, room in rooms.items() if room]
        if hit := re.fullmatch(r"(.+) entered the (\S+)", sentence):
            last = hit[2]
            rooms |= dict.fromkeys(re.split(r", | and ", hit[1]), last)
            if place and room == last:  # a person who enters sees what is there
                events.append(
                    WitnessedEvent(frozenset(p for p, room in rooms.items() if room == last), place)
                )
        elif hit := re.fullmatch(r"(\S+) exited the (\S+)", sentence):
            rooms[hit[1]], leaving_order[hit[1]] = "", number
        elif (hit := re.fullmatch(r"The (\S+) is in the (\S+)", sentence)) and hit[1] == thing:
            place, room = hit[2], last
            events.append(WitnessedEvent(frozenset(p for p in present if rooms[p] == last), place))
        elif (hit := re.fullmatch(r"(\S+) moved the (\S+) to the (\S+)", sentence)) and hit[
            2
        ] == thing:
            place, room = hit[3], rooms[hit[1]]
            events.append(WitnessedEvent(frozenset(p for p in present if rooms[p] == room), place))
        elif (hit := PUBLIC.fullmatch(sentence)) and hit[2] == thing:
            heard = frozenset(p for p in present if rooms[p] == rooms[hit[1]])
            events.append(
                WitnessedEvent(
                    heard, hit[3], hit[1], _trusting_hearers(hit[1], heard, leaving_order)
                )
            )
        elif (hit := PRIVATE.fullmatch(sentence)) and hit[3] == thing:
            heard = frozenset((hit[1], hit[2]))
            events.append(
                WitnessedEvent(
                    heard, hit[4], hit[1], _trusting_hearers(hit[1], heard, leaving_order)
                )
            )
    return events, place


def _trusting_hearers(
    speaker: str, heard: frozenset[str], leaving_order: dict[str, int]
) -> frozenset[str]:
    """Return the hearers who left before the speaker and who therefore trust the claim."""
    speaker_order = leaving_order.get(speaker, 10**9)
    return frozenset(p for p in heard if leaving_order.get(p, 10**9) < speaker_order)


def place_believed(
    events: Sequence[WitnessedEvent], place: str, chain: Sequence[str], talk: bool = True
) -> str:
    """Return the place where a chain of minds believes the thing is; for an empty chain, the real
    place.

    A claim changes the belief of a hearer who left before the speaker, what such a hearer thinks
    the speaker believes, and what the speaker thinks a hearer believes; deeper chains follow the
    events that all their members witnessed.
    """
    if not chain:
        return place
    for fact in reversed(events):
        if set(chain) <= fact.witnesses and (not fact.speaker or (talk and _accepts(fact, chain))):
            return fact.place
    return ""


def _accepts(fact: WitnessedEvent, chain: Sequence[str]) -> bool:
    if len(chain) == 1:
        return chain[0] != fact.speaker and chain[0] in fact.trusts
    if len(chain) == 2:
        first, last = chain
        return first == fact.speaker or (last == fact.speaker and first in fact.trusts)
    return False


def people_asked(question: str) -> tuple[str, tuple[str, ...]]:
    """Return the thing and the minds that a question names."""
    thing = re.search(r"(?:thinks?|is) the (\S+)", question)
    if thing is None:
        raise BadInput(f"The question {question!r} does not ask where a thing is.")
    return thing[1], tuple(re.findall(r"\b[A-Z][a-z]+\b", question.replace("Where", "")))
