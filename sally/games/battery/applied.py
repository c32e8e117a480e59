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
from sally.core.rules.words import read_tables
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


SCENES = msgspec.convert(read_tables(__package__, "stories.toml")["scenes"], tuple[Scene, ...])
STORIES = read_tables(__package__, "stories.toml")["applied"]
DOORS = tuple(STORIES["doors"])
NOTE: str = STORIES["note"]
NOTICES = tuple(STORIES["notices"])
ENTERED = tuple(STORIES["entered"])
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
