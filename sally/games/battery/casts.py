"""The characters of the stories: people or, for the mechanical version, units that record what they
scan.

Both versions have the same events, names, keys and options; only the sentences about minds differ.
Templates without an entry are the same for both casts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from sally.core.errors import unknown

Cast = Literal["people", "units"]
CASTS: tuple[Cast, ...] = get_args(Cast)

UNITS: Mapping[str, str] = {
    # nested
    "Everyone believes what they themselves last saw or were told, trusts what they are told, and "
    "knows who else was there. What is said in private reaches nobody else. Nobody looks inside "
    "anything, and nobody learns of anything in another way.": "Every unit stores what it itself "
    "last scanned or was sent, accepts what it is sent, and logs which units were on and so what "
    "they store. What is sent on a closed line reaches no other unit. No unit scans inside "
    "anything, and none gets entries in another way.",
    "The {room} belongs to {names}. Three things stand in it: {places}.": "The {room} is covered "
    "by {names}. Three things stand in it: {places}.",
    "In the {room} of {names} there are {places}.": "In the {room} with {names} there are "
    "{places}.",
    "{names} meet in the {room}, where {places} can be seen.": "{names} are mounted in the {room}, "
    "where {places} are in range.",
    "In front of {others}, {actor} put the {thing} into the {place}.": "In range of {others}, "
    "{actor} put the {thing} into the {place}.",
    "{actor} put the {thing} into the {place} while {others} watched.": "{actor} put the {thing} "
    "into the {place} while {others} scanned.",
    "With {others} looking on, the {thing} was put into the {place} by {actor}.": "With {others} "
    "scanning, the {thing} was put into the {place} by {actor}.",
    "{actor} took the {thing} and put it into the {place}; present: {others}.": "{actor} took the "
    "{thing} and put it into the {place}; switched on: {others}.",
    "While {absent} {were} out, {actor} put the {thing} into the {place}; all the others saw it.":
    "While {absent} {were} off, {actor} put the {thing} into the {place}; all the others scanned "
    "it.",
    "{actor} put the {thing} into the {place} before the eyes of everyone but {absent}.": "{actor} "
    "put the {thing} into the {place} in range of every unit but {absent}.",
    "In the absence of {absent}, and with everyone else there, {actor} put the {thing} into the "
    "{place}.": "With {absent} switched off, and with every other unit on, {actor} put the {thing} "
    "into the {place}.",
    "When nobody else was there, {actor} put the {thing} into the {place}.": "When no other unit "
    "was on, {actor} put the {thing} into the {place}.",
    "{actor}, alone in the room, put the {thing} into the {place}.": "{actor}, the only unit "
    "switched on, put the {thing} into the {place}.",
    "With everyone there, {actor} put the {thing} into the {place}.": "With every unit on, {actor} "
    "put the {thing} into the {place}.",
    "Everyone saw {actor} put the {thing} into the {place}.": "Every unit scanned how {actor} put "
    "the {thing} into the {place}.",
    "In private {actor} told {others} what {actor} believed: the {thing} was in the {place}.": "On "
    "a closed line {actor} sent {others} what {actor} had stored: the {thing} was in the {place}.",
    "{actor} took {others} aside and said, sincerely, that the {thing} was in the {place}.":
    "{actor} linked up with {others} and sent, as it had stored, that the {thing} was in the "
    "{place}.",
    "{actor} wrote a message that only {others} got, an honest one: the {thing} is in the {place}.":
    "{actor} wrote a packet that only {others} got, a true copy: the {thing} is in the {place}.",
    "In private {actor} told {others} what {actor} did not believe: the {thing} was in the "
    "{place}.": "On a closed line {actor} sent {others} what {actor} had not stored: the {thing} "
    "was in the {place}.",
    "{actor} took {others} aside and said, as a lie, that the {thing} was in the {place}.":
    "{actor} linked up with {others} and sent, unlike what it had stored, that the {thing} was in "
    "the {place}.",
    "{actor} wrote a message that only {others} got, a false one: the {thing} is in the {place}.":
    "{actor} wrote a packet that only {others} got, a false copy: the {thing} is in the {place}.",
    "Where does {0} think the {thing} is?": "Where is the {thing} in the store of {0}?",
    "Where does {0} think {1} thinks the {thing} is?": "Where is the {thing} in what {0} logged of "
    "the store of {1}?",
    "Where does {0} think {1} thinks {2} thinks the {thing} is?": "Where is the {thing} in what "
    "{0} logged of what {1} logged of the store of {2}?",
    "Where does {0} think {1} thinks {2} thinks {3} thinks the {thing} is?": "Where is the {thing} "
    "in what {0} logged of what {1} logged of what {2} logged of the store of {3}?",
    # watched
    "{names} know the hall well. It has a floor and three galleries one above the other: the "
    "lower, the middle and the upper gallery. On the floor stand {places}.": "{names} are units of "
    "the hall. It has a floor and three galleries one above the other: the lower, the middle and "
    "the upper gallery. On the floor stand {places}.",
    "Whoever is in the hall sees what happens on the floor, and sees who else is on the same "
    "storey or on a lower one, but not who is higher up. Everybody knows this. From outside "
    "nothing can be seen, and nobody talks about what happened. Whoever is not seen is taken to be "
    "outside. Everyone takes the {thing} to be where they last saw it put, and judges what others "
    "think by what they saw these others see.": "A unit in the hall scans what happens on the "
    "floor, and scans which units are on the same storey or lower, but not those higher up. All "
    "units store this. From outside nothing can be scanned, and no unit sends what happened. A "
    "unit that is not scanned is logged as outside. Each unit stores where it last scanned the "
    "{thing} being put, and logs of other units what it scanned these units scanning.",
    "You have a lamp for every container: {lamps}. In private, {0} is now asked {asked}, and gives "
    "an honest answer. You win if you light the container that {0} names. Which lamp do you switch "
    "on?": "You have a lamp for every container: {lamps}. On a closed line, {0} is now asked "
    "{asked}, and sends what it has stored. You win if you light the container that {0} sends. "
    "Which lamp do you switch on?",
    "where {1} thinks the {thing} is": "where the {thing} is in the store of {1}",
    "where {1} thinks {2} thinks the {thing} is": "where the {thing} is in what {1} logged of the "
    "store of {2}",
    "where {1} thinks {2} thinks {3} thinks the {thing} is": "where the {thing} is in what {1} "
    "logged of what {2} logged of the store of {3}",
    # belief_action
    "Whoever is in a room sees all that is done there, and nothing of what is done elsewhere. "
    "From now on nobody looks inside: people go by what they knew before and by what they see "
    "being done.": "A unit in a room scans all that is done there, and nothing of what is done "
    "elsewhere. From now on no unit scans inside: units go by what they stored before and by what "
    "they scan being done.",
    "Three {kinds} stand in the {room}: {contents}. {one} and {two} both know this.": "Three "
    "{kinds} stand in the {room}: {contents}. {one} and {two} both store this.",
    "{one} and {two} have looked into the three {kinds} in the {room}: {contents}.": "{one} and "
    "{two} have scanned into the three {kinds} in the {room}: {contents}.",
    "In the {room} there are three {kinds}, as {one} and {two} have seen: {contents}.": "In the "
    "{room} there are three {kinds}, as {one} and {two} have scanned: {contents}.",
    "{one} spends this time in the {here}; {two} spends it in the {there}.": "{one} is parked in "
    "the {here} this time; {two} is parked in the {there}.",
    "A helper exchanges what the {first} and the {second} {kind} hold.": "A crane exchanges what "
    "the {first} and the {second} {kind} hold.",
    "Somebody dusts the {colour} {kind}.": "A brush dusts the {colour} {kind}.",
    "After all this {name} needs the {thing} and comes from outside.": "After all this {name} is "
    "sent for the {thing} and comes from outside.",
    "Later {name}, who wants the {thing}, comes from outside and {did}.": "Later {name}, sent for "
    "the {thing}, comes from outside and {did}.",
    "Where does {name} believe the {thing} to be?": "Where is the {thing} in the store of {name}?",
    # applied
    "People read every notice at the door they use, believe it and remember it; there is no other "
    "way to learn of it.": "Units scan every notice at the door they use, accept it and store it; "
    "there is no other way to get it.",
    "Does {name} know what the notice says?": "Does {name} store what the notice says?",
    "Given what {name} knew, was that a reasonable thing to do?": "Given what {name} stored, was "
    "that a proper thing for it to do?",
    "allergic to nuts and hungry for the soup of the day": "to be fed soup of the day, which must "
    "be free of nuts",
    "eats the soup": "takes in the soup",
    "ate the soup": "took in the soup",
    "believes the audio guide": "copies the audio guide",
    "believed the audio guide": "copied the audio guide",
    "with a ticket for the evening concert": "to record the evening concert",
    "sits down and waits for the music": "parks and waits for the music",
    "sat down and waited for the music": "parked and waited for the music",
}  # fmt: skip


def wording_for(template: str, cast: Cast) -> str:
    """Return the version of a story template for this cast."""
    return template if cast == "people" else UNITS.get(template, template)


def cast_name(name: str, cast: Cast) -> str:
    """Return the name by which the stories call a member of the cast."""
    return name if cast == "people" else f"Unit {name}"


def cast_of(name: str) -> Cast:
    """Return a cast by name; raise BadInput if the name is unknown."""
    for cast in CASTS:
        if name == cast:
            return cast
    raise unknown("cast", name, CASTS)
