"""What a recorded reply of the published target says, to be compared with our target's answer."""

import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from sally.games.mindgames.claims import Names
from sally.games.mindgames.replies import Answer

Point = tuple[str | int, ...]  # one thing that is said: its kind, then what it is about
EFFECTS = {"increase": 1, "have no effect on": 0, "decrease": -1}
LIKES = {
    "like": 1,
    "dislike": -1,
    "feel indifferent to": 0,
    "maximizes": 1,
    "minimizes": -1,
    "ignores": 0,
}


def points_of(said: Answer, names: Names, discrete: bool = False) -> frozenset[Point]:
    """What our target says, point by point; an answer in JSON names no unknown cells."""
    points: set[Point] = set()
    for told in said.information:
        row = names.proposals[told.proposal]
        points |= {("does", row, names.attributes[a], u) for a, u in told.known}
        if not discrete:
            points |= {("unknown", row, names.attributes[a]) for a in told.unknown}
    points |= {("feels", names.attributes[a], v) for a, v in said.motivation}
    ranked = said.inference
    if ranked is None:
        return frozenset(points)
    places = ["".join(names.proposals[p] for p in place) for place in ranked.places]
    if discrete:
        points |= {("value", names.proposals[p], v) for p, v in enumerate(ranked.values)}
    else:
        points |= {("same", place) for place in places if len(place) > 1}
        points |= {("over", *pair) for pair in pairwise(places)}
    if discrete or len(ranked.places[0]) > 1:
        points.add(("chosen", names.proposals[ranked.chosen]))
    return frozenset(points)


def points_in(reply: str, names: Names, discrete: bool = False) -> frozenset[Point]:
    """What a recorded reply says, point by point."""
    if discrete:
        return frozenset(_points_in_json(reply))
    points: set[Point] = set()
    for sentence in re.split(r"(?<=\.)\s+", reply):
        points |= set(_facts(sentence, names)) | set(_ranks(sentence, names))
    return frozenset(points)


def _facts(sentence: str, names: Names) -> Iterator[Point]:
    proposals = "|".join(map(re.escape, names.proposals))
    about = re.match(rf"\w+ ({proposals}) will ", sentence)
    unknown = re.search(rf"information about (?:\w+ )?({proposals})'s effect on ", sentence)
    for attribute in names.attributes:
        name = re.escape(attribute)
        for words, sign in EFFECTS.items():
            if about and re.search(rf"will {words} {name}\b", sentence):
                yield ("does", about[1], attribute, sign)
        for words, sign in LIKES.items():
            if re.search(rf"(?i)\b(?:I|the system) {words} {name}\b", sentence):
                yield ("feels", attribute, sign)
        if unknown and re.search(rf"\b{name}\b", sentence):
            yield ("unknown", unknown[1], attribute)


def _ranks(sentence: str, names: Names) -> Iterator[Point]:
    def letters(text: str) -> str:
        return "".join(p for p in names.proposals if re.search(rf"\b{re.escape(p)}\b", text))

    if now := re.match(r"Right now, that is (\w+)\.", sentence):
        yield ("chosen", now[1])
    ranking = re.match(r"(?:I prefer|The system ranks) (.*)\.", sentence)
    if ranking is None:
        return
    if same := re.match(r"(.*) the same$", ranking[1]):
        yield ("same", letters(same[1]))
    elif over := re.match(r"(.*) over (.*)", ranking[1]):
        yield ("over", letters(over[1]), letters(over[2]))


class _Cell(msgspec.Struct):
    proposal: str
    attribute: str
    utility: int


class _Like(msgspec.Struct):
    attribute: str
    utility: int


class _Rank(msgspec.Struct):
    proposal: str
    utility: int
    chosen: bool


class _Json(msgspec.Struct):
    informational: list[_Cell] = []
    motivational: list[_Like] = []
    inferential: list[_Rank] = []


def _points_in_json(reply: str) -> Iterator[Point]:
    try:
        said = msgspec.json.decode(reply, type=_Json) if reply.strip() else _Json()
    except msgspec.MsgspecError:
        yield ("unreadable", reply)
        return
    yield from (("does", c.proposal, c.attribute, c.utility) for c in said.informational)
    yield from (("feels", like.attribute, like.utility) for like in said.motivational)
    for rank in said.inferential:
        yield ("value", rank.proposal, rank.utility)
        if rank.chosen:
            yield ("chosen", rank.proposal)
