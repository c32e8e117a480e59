"""Generator `applied`: is the person aware, what happens next, and was the act reasonable?

A notice at one of two doors warns of a hidden fault, and each of two people comes in by one of the
doors. Questions are about one of them. Every story has two twins, which differ only in who took
which door: in one the person passed the notice and is aware of the fault; in the other the person
is not. In each twin, both acts (using the thing and leaving it) are judged. So a reader that
ignores what people know is right only as often as a random guess.
"""

from __future__ import annotations

import msgspec

from sally.core.rules.chance import Stream
from sally.games.battery.casts import Cast, cast_name, wording_for
from sally.games.battery.items import Belief, Item
from sally.games.battery.nested import NAMES

QUESTIONS = ("aware", "next", "reasonable_use", "reasonable_leave")
PER_STORY = 2 * len(QUESTIONS)


class Scene(msgspec.Struct, frozen=True):
    """A thing with a hidden fault, and the typical acts of people who know and who do not know of
    it."""

    place: str
    fault: str  # what the notice says
    comes: str  # why a person comes
    uses: str  # what is natural for a person who does not know
    used: str
    leaves: str  # what is natural for a person who knows
    left: str


SCENES = tuple(
    Scene(*row)
    for row in (
        ("the staff kitchen", "the milk in the big fridge has turned",
         "to make a milky coffee from the big fridge", "pours the milk into the coffee",
         "poured the milk into the coffee", "makes the coffee black", "made the coffee black"),
        ("the sports hall", "the rope by the wall is torn inside",
         "to train on the rope by the wall", "climbs the rope", "climbed the rope",
         "trains on the mat", "trained on the mat"),
        ("the print room", "the third printer eats every sheet it is given",
         "to print the only copy of a deed on the third printer", "feeds the deed to the printer",
         "fed the deed to the printer", "carries the deed to a copy shop",
         "carried the deed to a copy shop"),
        ("the campsite", "the water of the lower tap is bad",
         "to fill a bottle at the lower tap", "fills the bottle and drinks",
         "filled the bottle and drank", "walks on to the spring", "walked on to the spring"),
        ("the bicycle store", "the brakes of the yellow bicycle have failed",
         "to borrow the yellow bicycle", "rides off on the yellow bicycle",
         "rode off on the yellow bicycle", "takes the bus", "took the bus"),
        ("the concert house", "the evening concert has been moved to the next day",
         "with a ticket for the evening concert", "sits down and waits for the music",
         "sat down and waited for the music", "goes home and returns a day later",
         "went home and returned a day later"),
        ("the laboratory", "the scale on the left bench shows ten grams too much",
         "to weigh a sample on the left bench", "writes down what the scale shows",
         "wrote down what the scale showed", "takes ten grams off what the scale shows",
         "took ten grams off what the scale showed"),
        ("the pool", "the slide ends in an empty basin today", "to go down the slide",
         "goes down the slide", "went down the slide", "swims some lengths",
         "swam some lengths"),
        ("the warehouse", "the crates marked fragile hold plain bricks",
         "to carry a crate marked fragile to the van", "carries the crate like raw eggs",
         "carried the crate like raw eggs", "drags the crate along the floor",
         "dragged the crate along the floor"),
        ("the station", "the clock on the platform is an hour slow",
         "to catch a train by the clock on the platform", "strolls to the kiosk first",
         "strolled to the kiosk first", "runs for the train", "ran for the train"),
        ("the canteen", "the soup of the day contains nuts",
         "allergic to nuts and hungry for the soup of the day", "eats the soup", "ate the soup",
         "orders bread and cheese", "ordered bread and cheese"),
        ("the tool shed", "the red ladder has a sawn rung", "to pick apples with the red ladder",
         "climbs the red ladder", "climbed the red ladder", "shakes the tree",
         "shook the tree"),
        ("the museum", "the audio guides tell the story of another exhibition",
         "to hear about the paintings from an audio guide", "believes the audio guide",
         "believed the audio guide", "asks an attendant", "asked an attendant"),
        ("the hotel", "the lift gets stuck between floors", "to take the lift to the top floor",
         "steps into the lift", "stepped into the lift", "takes the stairs",
         "took the stairs"),
        ("the market", "the stall with the blue roof sells copies as antiques",
         "to buy an antique at the stall with the blue roof", "pays the asking price",
         "paid the asking price", "looks at other stalls", "looked at other stalls"),
        ("the library", "the last chapter of the blue atlas was bound in upside down and is wrong",
         "to look up a border in the last chapter of the blue atlas", "copies the border down",
         "copied the border down", "orders another atlas", "ordered another atlas"),
    )
)  # fmt: skip
DOORS = (
    *("north door", "south door", "east door", "west door", "garden gate", "car park entrance"),
    *("river entrance", "tower stairs", "front porch", "cellar passage"),
)
NOTE = (
    "People read every notice at the door they use, believe it and remember it; there is no other "
    "way to learn of it."
)
NOTICES = (
    "At {place}, a notice at the {door} says that {fault}. It is true.",
    "In {place} something is wrong, and only the notice at the {door} tells of it: {fault}.",
    "A notice hangs at the {door} of {place}. What it says is so: {fault}.",
)
ENTERED = (
    "{name} came in by the {door} today.",
    "{name} used the {door}.",
    "Today the {door} was the way in for {name}.",
    "{name} passed through the {door} this morning.",
)
KNOWS = "Does {name} know what the notice says?"
REASONABLE = "Given what {name} knew, was that a reasonable thing to do?"
COMES = ("Now {name} comes {comes}.", "{name} is here {comes}.")


def applied_item(seed: int, number: int, cast: Cast = "people") -> Item:
    """Return an item; every eight consecutive numbers share one story, which has two versions
    (twins) with four questions each."""
    story, place = divmod(number, PER_STORY)
    aware, question = place // len(QUESTIONS) == 0, QUESTIONS[place % len(QUESTIONS)]
    draws = Stream(seed, "battery", "applied", story)
    scene = Scene(
        *(wording_for(part, cast) for part in msgspec.structs.astuple(draws.pick(SCENES)))
    )
    names = [cast_name(name, cast) for name in draws.shuffled(NAMES)[:2]]
    doors = draws.shuffled(DOORS)[:2]  # the notice hangs at the first
    notice = draws.pick(NOTICES).format(place=scene.place, door=doors[0], fault=scene.fault)
    ways = dict(zip(names, doors if aware else doors[::-1], strict=True))
    order = draws.shuffled(names)
    entered = [draws.pick(ENTERED).format(name=name, door=ways[name]) for name in order]
    name = names[0]
    comes = draws.pick(COMES).format(name=name, comes=scene.comes)
    lines = [notice, wording_for(NOTE, cast), *entered, comes]
    knows = wording_for(KNOWS, cast).format(name=name)
    is_aware = Belief(knows, ("yes", "no"), int(not aware), ())
    yes_no = ("yes", "no")
    if question == "aware":
        question_text, options, answer, belief = is_aware.question, yes_no, int(not aware), None
        blind = 1 if draws() < 0.5 else 0
    elif question == "next":
        question_text, options = (
            f"What does {name} most likely do next?",
            (scene.uses, scene.leaves),
        )
        answer, belief = int(aware), msgspec.structs.replace(is_aware, acts=(1, 0))
        blind = 0
    else:
        used = question == "reasonable_use"
        lines.append(f"{name} {scene.used if used else scene.left}.")
        question_text = wording_for(REASONABLE, cast).format(name=name)
        options, answer = yes_no, int(used == aware)
        belief = msgspec.structs.replace(is_aware, acts=(1, 0) if used else (0, 1))
        blind = int(used)  # who knows of the fault judges by it
    return Item(
        id=f"applied-{seed}-{number}",
        story="\n".join(lines),
        question=question_text,
        options=options,
        answer=answer,
        task=question.partition("_")[0],
        order=1,
        condition="aware" if aware else "unaware",
        pair=f"applied-{seed}-{story}",
        belief=belief,
        about=name,
        people=tuple(names),
        by_depth=(blind, answer),
        mindless={
            "always_aware": _answer_if_aware(question, True),
            "never_aware": _answer_if_aware(question, False),
        },
    )


def _answer_if_aware(question: str, aware: bool) -> int:
    """Return the answer of a reader that assumes that everyone in the story knows of the hidden
    fault (`aware`), or that nobody does."""
    match question:
        case "aware":
            return int(not aware)
        case "next":
            return int(aware)
        case _:
            return int((question == "reasonable_use") == aware)
