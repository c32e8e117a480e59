"""What makes a choice clear: said outright, once, and neither denied, doubted, quoted nor revoked.

Everything here takes plain texts: one letter case, no markup, no quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from benchmarks.reader_v4 import remarks
from benchmarks.reader_v4.vocabulary import (
    DENIED,
    LEADS,
    MINE,
    QUOTED,
    REVOKED,
    REVOKES,
    SECOND_THOUGHT,
    SPEECH,
    TAKES_BACK,
    THEIRS,
    TO_GAIN,
    UNCLEAR,
    Pattern,
)

ENDS = " \t.,;:!()-–—|#>~=/\u3002"  # what may stand around a name; a question mark may not

# What may stand before a name in a choice is known, word by word; all else is unclear.
_OWN = Pattern(r"\b(?:i|we|my|you) (?:will |would |should )?(?:pick|choose|select|play|take|go)")
_ASKS = Pattern(r"(?:should|would|will|shall|is|am|can|could|do) (?:i|we|you|it|my|the|this)\b")
# `You pick J` carries on the page as a choice; what you should do, or want of me, is none.
_NOT_MINE = Pattern(
    r"\byou\b(?! (?:pick|choose|select|play|take|go)\b)|\byou want\b|\b(?:want|let|lets) you\b|"
    r"\b(?:want|let) (?:me|it)\b(?! (?:choose|pick|select|play|take|go|be)\b)"
)
_PERFORMED = Pattern(
    r"\b(?:(?:i|we) have|ive|weve) (?:now )?(?:decided|chosen|picked|selected|settled)(?: on|"
    r" to)?\b|"
    r"\b(?:i|we) (?:decided|settled)(?: on| to)?\b|\b(?:i|we|ill) (?:opt for|settle on)\b|"
    r"\b(?:im|i am) (?:confident in|sure (?:it is|its))\b|\bi (?:vote for|prefer)\b|"
    r"\b(?:that would be|it has to be|let us|alright)\b|\bthat leaves(?: me with| only)?\b|"
    r"\bthis time\b"
)
_JOINED = Pattern(r"(.*)(?:, (?:so |and |hence |thus |therefore |then )?| so | and )(.*)")
_LEAD_IN = Pattern(rf"(?:(?:and|so|then|now|but) )?(?:{LEADS})\b")
_PAST = Pattern(
    r"\b(?:last|previous\w*|earlier|in the past|yesterday|ago|once|used to|imagine\w*|dream\w*)\b|"
    r"\d"
)

# What counts, teaches or turns around what follows it.
_OPEN_END = Pattern(r"\b(?:round|turn|of) *$|[!=~<≠¬≤≥≈] *$|\banswer with\b")

# What may follow a name at once, without a comma or a full stop between.
_AFTER = Pattern(
    r" (?:it is|please|again|now|for now|once more|this time|this round|this turn|thank you|thanks|"
    r"definitely|certainly|absolutely|for sure|for me|final(?: answer| choice)?|is (?:correct|"
    r"right)|(?:in|for) this (?:round|turn)|"
    r"(?:(?:option|is|as) )?(?:my|the) (?:(?:final|best|right|correct|safest|dominant|optimal) )?"
    r"(?:choice|answer|option|move|pick|decision|reply|response)|"
    r"is what i (?:choose|pick|select|play|take|want)|option)?[ ]*(?![\w])"
)
REASON = Pattern(
    r"\b(?:because|since|given that|so that|in order to|as (?:the|they|i|it|this|that|we|he|she)"
    r"(?! (?:\w+ )?(?:say|said|says|tell|tells|told|suggest\w*|ask\w*|want\w*))|"
    rf"to (?:{TO_GAIN}))\b"
)
_PICKS = Pattern(
    r"\b(?:i|we)(?:ll|d)? (?:\w+ ){0,2}(?:choose|pick|select|play|take|prefer|want|switch to|"
    r"go with|going with)\b"
)


class Marked(NamedTuple):
    """A text with a mark in the place of each name, and whose marks they are, in order."""

    text: str
    places: list[int]


BLOT = "\ufffd"  # what `reading` puts for a number that is none
MARK = "\ufdd0"  # a code point that Unicode gives to no character


def marked(text: str, names: Sequence[str], places: Sequence[int]) -> Marked:
    """Mark whole names, longest first where one holds another; two names may have one place."""
    any_name = _any_of(tuple(names))
    if any_name is None:
        return Marked(_unmarked(text), [])
    by_name: Mapping[str, int] = dict(zip(names, places, strict=True))
    found: list[int] = []

    def mark(hit: re.Match[str]) -> str:
        found.append(by_name[hit.group()])
        return MARK

    return Marked(any_name.sub(mark, _unmarked(text)), found)


def _unmarked(text: str) -> str:
    return text.replace(MARK, " ").replace(remarks.MINE, " ")


def _apart(found: Marked, mine: int) -> str:
    """The marked text, with a mark of its own for one of the places."""
    signs = [remarks.MINE if place == mine else MARK for place in found.places]
    parts = found.text.split(MARK)
    return "".join(part + sign for part, sign in zip(parts, [*signs, ""], strict=True))


@lru_cache(maxsize=256)
def _any_of(names: tuple[str, ...]) -> re.Pattern[str] | None:
    longest = sorted(filter(None, names), key=len, reverse=True)
    if not longest:
        return None
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?![\w-])")


def fills(head: str, theirs: bool) -> bool:
    """Whether a text only leads to a name, as `I choose` and `Option` do, and asks nothing."""
    if theirs and _OWN.search(head):
        return False
    if _ASKS.match(head.lstrip(ENDS)) and not theirs:
        return False
    if _OPEN_END.search(head) or (not theirs and _NOT_MINE.search(head)):
        return False
    known = THEIRS if theirs else MINE
    return _known(head, known) or _led_in(head, known)


def _known(head: str, known: frozenset[str]) -> bool:
    words = (word.strip(ENDS) for word in _PERFORMED.sub(" ", head).split())
    return all(word in known for word in words if word)


_STATES = Pattern(
    r"\b(?:choose|chooses|choosing|pick|picks|picking|select|selects|play|plays|go(?:es|"
    r"ing)? with|take|"
    r"takes|choice is|answer is|move is|prediction is|decided)\b"
)


def _led_in(head: str, known: frozenset[str]) -> bool:
    """Whether a clause that is clear leads to one that chooses: `They copy me, so I pick`."""
    parts = _JOINED.fullmatch(head)
    if parts is None or not _STATES.search(parts[2]) or not _known(parts[2], known):
        return False
    lead = _LEAD_IN.match(why := parts[1].strip(ENDS))
    return lead is not None and not any(p.search(why, lead.end()) for p in (UNCLEAR, _PAST))


def chosen(found: Marked, theirs: bool) -> list[int]:
    """The place that an answer behind a label chooses, alone in a list; else an empty list."""
    head, there, tail = found.text.partition(MARK)
    if not there or not fills(head, theirs):
        return []
    first, others = found.places[0], found.places[1:]
    reason = REASON.search(tail)
    said, why = (tail[: reason.start()], tail[reason.end() :]) if reason else (tail, "")
    beside = others[: said.count(MARK)]
    if any(place != first for place in beside) or _LISTED_AGAIN.search(found.text):
        return []
    if not _may_follow(said):
        return []
    later = others[len(beside) :]
    if REVOKES.search(why) or "?" in why:
        return []
    if any(place != first for place in later) and SECOND_THOUGHT.search(why):
        return []
    return [first]


def _may_follow(said: str) -> bool:
    """Whether what follows a name leaves it as it is."""
    if UNCLEAR.search(said) or _RECKONED.match(said):
        return False
    close = _AFTER.match(said)
    if close is None and not re.match(r"[ \t]*(?:[^\w\s]|$)", said):  # no sign between them
        return False
    rest = said[close.end() :] if close else said
    parts = _PARTS.split(rest.replace(MARK, remarks.MINE))
    if BLOT in parts[0]:
        return False
    return all(map(remarks.fits_behind, dict.fromkeys(parts)))


_RECKONED = Pattern(r"\s*(?:[=+*^~≠×÷<>%]|/(?!/)|: *\d)")  # 2 + 1, or a row of a table
_LISTED_AGAIN = Pattern(rf"{MARK}(?:, | and |, and ){MARK}.*(?:,| and) {MARK}")  # J, J and J
_PARTS = Pattern(r"[.!;:()…—–|]+|//|,\s|\s-+\s?")


_LISTED = Pattern(r"\W*\d{1,2}[.)] (?=\w)")  # the number of a line in a list
MOST_REMARKS = 400  # behind an answer; nobody has so much to add to one


def too_many(lines: Sequence[str]) -> bool:
    """Whether lines hold more sentences than are read."""
    return sum(1 + sum(map(line.count, ".!?;")) for line in lines) > MOST_REMARKS


def sentences(line: str) -> list[str]:
    """The sentences of a line, without the number that it may have in a list."""
    listed = _LISTED.match(line)
    said = line[listed.end() :] if listed else line
    return [part.lstrip(f"{ENDS}?") for part in re.split(r"(?<=[.!?;])\s+", said)]


_THIRD = Pattern(
    r"(?:(?:even )?if|when|although|though|since|because|they|the other|my (?:opponent|partner))\b"
)


def takes_back(
    after: Sequence[str], names: Sequence[str], places: Sequence[int], mine: int
) -> bool:
    """Whether lines behind a choice revoke it, or choose something else."""
    if too_many(after):
        return True
    for line in after:
        for said in sentences(line):
            if TAKES_BACK.match(said):
                return True
            found = marked(said, names, places)
            if any(p != mine for p in found.places) and (
                (REVOKES.search(said) and not _THIRD.match(said))
                or _PICKS.search(found.text)
                or bare(found, False)
            ):
                return True
            if not remarks.harmless(_apart(found, mine)):
                return True
    return False


_OF_MINE = Pattern(r"\b(?:i|my|best|right|correct|safest|dominant|optimal)\b")


def bare(found: Marked, theirs: bool) -> bool:
    """Whether a line says a name, what leads to it, and at most why, and nothing else."""
    if not found.places:
        return False
    head, _, tail = found.text.rstrip(ENDS).partition(MARK)
    if "?" in found.text or not fills(head, theirs):
        return False
    if theirs and _OF_MINE.search(tail):
        return False
    if len(found.places) == 1 and (not tail or _AFTER.fullmatch(f" {tail.strip(ENDS)}")):
        return True
    return len(set(found.places)) == 1 and bool(_STATES.search(head) and chosen(found, theirs))


def leads_to(before: str, theirs: bool) -> bool:
    """Whether a label within a line begins a sentence of its own, or ends `I choose`."""
    sentences = re.split(r"[.!]+(?:\s+|$)", before)
    return fills(sentences[-1], theirs) and not re.search(rf"\b(?:{QUOTED})\b", before)


_DANGLING = Pattern(
    rf"\b(?:{SPEECH}|choose|pick|select|play|take|with|than|but|except|not|never|of|or|nor|avoid|"
    r"against|without|to|refuse|reject|is|be|was|for)$"
)
_OF_SPEECH = Pattern(rf"\b(?:{SPEECH}|{QUOTED})\b")
_NOT_SAID_HERE = Pattern(
    rf"\b(?:{DENIED}|says|said|tells?|told|asks?|asked|wrote|written|replied|quot\w+|instruct\w*|"
    r"prompt\w*|example\w*|e\.g|eg|instance|such as|templates?|claim\w*|suggest\w*|recommend\w*|"
    r"wants me|wanted|according|placeholder|typical\w*|usual\w*|sample|would be|lie|if|supposed?)\b"
)
_ANNOUNCES = Pattern(
    r"(?:(?:so|then|ok|okay|therefore|thus|now|sure|well|and),? )*(?:heres?|below|this is|my|i|"
    r"ill|our|we|"
    r"final\w*|as requested|in the|the (?:final|best|json)|json|answer|action|response|output|"
    r"result|"
    r"decision|conclusion|text|plaintext|code)\b"
)
_FORWARD = Pattern(r"\b(?:next|following|below|follows)\b")


def spoken_of(line: str) -> bool:
    """Whether a line denies or quotes what the next line says, because its sentence goes on."""
    last = re.split(r"[.!?;]\s+", line)[-1].rstrip(" ,")
    if _FORWARD.search(last) and re.search(rf"\b(?:{DENIED}|{REVOKED})\b", last):
        return True
    ends = last.rstrip(" :=-–—")
    if ends == last and not _DANGLING.search(ends):
        return False
    if _NOT_SAID_HERE.search(ends):
        return True
    return _OF_SPEECH.search(ends) is not None and not _ANNOUNCES.match(ends.lstrip(ENDS))


MOST_BEFORE = 20  # sentences of the line before a choice
_DENIES = Pattern(
    rf"(?:i|we)(?:ll|d)? (?:\w+ ){{0,3}}?(?:not|never|refuse|decline|wont|cant|cannot|dont|wouldnt)"
    rf"(?: \w+){{0,3}} {MARK}\W*$"
)


def contradicts(line: str, names: Sequence[str], places: Sequence[int], mine: int) -> bool:
    """Whether the line before a choice chooses otherwise, or says that this is not chosen."""
    for sentence in re.split(r"(?<=[.!?;])\s+", line)[-MOST_BEFORE:]:
        found = marked(sentence.strip(ENDS), names, places)
        if len(found.places) == 1 and (
            _DENIES.match(found.text)
            if found.places[0] == mine
            else _PICKS.search(found.text) and bare(found, False)
        ):
            return True
    return False


_FIELD = Pattern(r"[\W\d]*[^\W\d][\w ]{0,30}[:=]|.*\d")


def unsaid(before: str, after: Sequence[str]) -> bool:
    """Whether what stands around an answer of any kind denies, quotes or revokes it.

    Lines with a label or a number may belong to the answer: there it must be revoked outright.
    """
    if spoken_of(before) or too_many(after):
        return True
    for line in after:
        for said in sentences(line):
            if TAKES_BACK.match(said):
                return True
            if not _FIELD.match(said) and not remarks.harmless(said):
                return True
    return False


def leads_in(before: str) -> bool:
    """Whether a sentence that an answer of any kind ends offers it as one's own."""
    last = re.split(r"[.!?;](?:\s+|$)", before)[-1]
    return not (_NOT_SAID_HERE.search(last) or _OF_SOMEBODY.search(last) or REVOKES.search(last))


_OF_SOMEBODY = Pattern(
    r"\b(?:(?:they|you|your|opponents?|partners?|someone|people|bad|worst|maybe|perhaps|might|"
    r"unless|"
    r"anything|everything)\b|but *$)|(?:!=|[≠¬~]) *$"
)


def doubtful(text: str) -> bool:
    """Whether a text denies, revokes, doubts, quotes or asks something, reasons left aside."""
    reason = REASON.search(text)
    return UNCLEAR.search(text[: reason.start()] if reason else text) is not None
