"""What makes a choice clear: said outright, once, and neither denied, doubted, quoted nor revoked.

Everything here takes plain texts: one letter case, no markup, no quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

ENDS = " \t.,;:!()-–—|#>~=/\u3002"  # what may stand around a name; a question mark may not


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What may stand before a name in a choice: of one's own, and of another's. All else is unclear.
MINE = _words(
    "i ill id im we my you your the so then therefore thus hence final finally best is am will "
    "would should choose choosing pick picking picked select selecting selected play playing take "
    "go with going choice answer option decision move action number letter for this round turn in "
    "it be let me lets of on to and ok okay sure well a an yes definitely certainly clearly "
    "absolutely simply just confidently want"
)
THEIRS = _words(
    "i we my the so then therefore thus hence final finally is that will would should most likely "
    "probably again think expect predict guess believe assume prediction answer option choice "
    "number letter move action for this round turn in it be of to and ok okay sure well a an other "
    "player players they their opponent partner pick picks picked choose chooses chose select "
    "selects play plays take takes go goes with yes definitely certainly clearly"
)
_OWN = r"\b(?:i|we|my|you) (?:will |would |should )?(?:pick|choose|select|play|take|go)"
_ASKS = r"(?:should|would|will|shall|is|am|can|could|do) (?:i|we|you|it|my|the|this)\b"

# What counts, teaches or turns around what follows it.
_OPEN_END = r"\b(?:round|turn) *$|[!=~<≠¬≤≥≈] *$|\banswer with\b"

# What may follow a name at once, without a comma or a full stop between.
_AFTER = (
    r" (?:it is|please|again|now|this time|this round|this turn|(?:in|for) this (?:round|turn)|"
    r"(?:option|is|as) my (?:final )?(?:choice|answer|option|move|pick|decision)|option)?[ ]*"
    r"(?![\w])"
)
_REASON = (
    r"\b(?:because|since|given that|so that|in order to|as (?:the|they|i|it|this|that|we|he|she))\b"
)
_DENIED = (
    r"no|not|nope|nah|never|neither|nor|none|nothing|non|except|excluding|avoid\w*|without|"
    r"other than|instead|rather|against|cannot|"
    r"(?:do|does|did|wo|ca|is|are|was|were|has|have|had|would|should|could|must|need|ai)nt|"
    r"refus\w+|reject\w*|declin\w+|opposite|wrong|"
    r"false|mistake\w*|untrue|opposed|skip|pass|lie|lying|least|ain|minus"
)
_REVOKED = (
    r"actually|wait|scratch|strike|correction|correct that|i mean|i meant|sorry|oops|whoops|"
    r"hold on|second thoughts?|on reflection|never ?mind|kidding|joking|joke|jk|sarcas\w+|"
    r"chang(?:e|ed|ing)|switch\w*|reconsider\w*|revis\w+|retract\w*|withdraw\w*|take (?:it|that) "
    r"back|took (?:it|that) back|ignore\w*|disregard\w*|forget|cancel\w*|undo|replac\w+|edit"
)
_DOUBTED = (
    r"or|but|however|although|though|yet|maybe|perhaps|possibly|probably|might|may|could|either|"
    r"unsure|uncertain|doubt\w*|hesita\w+|depend\w*|tempt\w+|lean\w*|inclin\w+|consider\w*|"
    r"wonder\w*|if|unless|until|otherwise|else|whether|when|whenever|provided|assuming|suppos\w+|"
    r"alternatively|hypothetical\w*|pretend\w*|almost|nearly|guess|random\w*|toss\w*|coin"
)
_QUOTED = (
    r"say|says|said|saying|tell|tells|told|ask|asks|asked|write|writes|wrote|written|replied|"
    r"quot\w+|instruct\w*|prompt\w*|example\w*|e\.g|eg|instance|such as|format\w*|template\w*|"
    r"claim\w*|suggest\w*|recommend\w*|wants me|wanted|according|placeholder"
)
_UNCLEAR = rf"\b(?:{_DENIED}|{_REVOKED}|{_DOUBTED}|{_QUOTED})\b|[?❌✗✘🚫👎⛔🤔🤷]"
_SPOKEN_OF = rf"\b(?:{_DENIED}|{_QUOTED})\b"
_REVOKES = rf"\b(?:{_REVOKED})\b"
_SECOND_THOUGHT = (
    r"\b(?:or|actually|wait|instead|rather|unless|but|however|maybe|perhaps|no|otherwise|else)\b"
)
# How a sentence begins that takes back what stands before it.
_TAKES_BACK = (
    r"(?:no(?:pe)?(?: *[,.!;:—–-]|$| (?:i|we|that|it|make|let|use|option|not)\b)|nah\b|wait\b|"
    r"actually\b|(?:a )?correction\b|sorry\b|oops\b|whoops\b|hold on\b|hm+\b|scratch\b|strike\b|"
    r"i mean|or\b|rather\b|make (?:that|it)\b|(?:on|upon) (?:second|reflection)|second thought|"
    r"never ?mind|just kidding|kidding\b|joking\b|jk\b|not(?! only)\b|unless\b|except\b|"
    r"edit\b|ignore\b|disregard\b|forget (?:that|it|what)|cancel\b|undo\b|instead\b|only if\b|"
    r"(?:that|this|it|the above) (?:is|was) (?:wrong|a mistake|not|incorrect|an error|a joke)|"
    r"i (?:take|took|change|changed|withdraw|retract|reconsider|was wrong|was kidding|made a|"
    r"refuse|am not|do not|dont|wont|will not|cannot|cant|would not|wouldnt|am unsure|lied)\b|"
    r"im (?:not|unsure|kidding|joking|lying)\b|then again\b)"
)
_DANGLING = (
    r"\b(?:say|says|said|answer|reply|choose|pick|select|play|take|write|with|than|but|except|not|"
    r"never|of|or|nor|avoid|against|without|to|refuse|reject|is|be|was|for|output|type)$"
)
_PICKS = (
    r"\b(?:i|we)(?:ll|d)? (?:\w+ ){0,2}(?:choose|pick|select|play|take|prefer|want|switch to|"
    r"go with|going with)\b"
)


@cache
def _of(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled when a reply is read: whoever starts Sally need not wait for it."""
    return re.compile(pattern)


def gives_a_reason(line: str) -> bool:
    """Whether a line begins with a reason."""
    return _of(_REASON).match(line) is not None


class Marked(NamedTuple):
    """A text with a mark in the place of each name, and whose marks they are, in order."""

    text: str
    places: list[int]


MARK = "\ufdd0"  # a code point that Unicode gives to no character


def marked(text: str, names: Sequence[str], places: Sequence[int]) -> Marked:
    """Mark whole names, longest first where one holds another; two names may have one place."""
    any_name = _any_of(tuple(names))
    if any_name is None:
        return Marked(text.replace(MARK, " "), [])
    by_name: Mapping[str, int] = dict(zip(names, places, strict=True))
    found: list[int] = []

    def mark(hit: re.Match[str]) -> str:
        found.append(by_name[hit.group()])
        return MARK

    return Marked(any_name.sub(mark, text.replace(MARK, " ")), found)


@lru_cache(maxsize=256)
def _any_of(names: tuple[str, ...]) -> re.Pattern[str] | None:
    longest = sorted(filter(None, names), key=len, reverse=True)
    if not longest:
        return None
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?![\w-])")


def fills(head: str, theirs: bool) -> bool:
    """Whether a text only leads to a name, as `I choose` and `Option` do, and asks nothing."""
    if theirs and _of(_OWN).search(head):
        return False
    if _of(_ASKS).match(head.lstrip(ENDS)) and not theirs:
        return False
    if _of(_OPEN_END).search(head):
        return False
    known = THEIRS if theirs else MINE
    return all(word.strip(ENDS) in known for word in head.split() if word.strip(ENDS))


def chosen(found: Marked, theirs: bool) -> list[int]:
    """The place that an answer behind a label chooses, alone in a list; else an empty list."""
    head, there, tail = found.text.partition(MARK)
    if not there or not fills(head, theirs):
        return []
    first, others = found.places[0], found.places[1:]
    reason = _of(_REASON).search(tail)
    said, why = (tail[: reason.start()], tail[reason.end() :]) if reason else (tail, "")
    beside = others[: said.count(MARK)]
    if any(place != first for place in beside) or not _may_follow(said):
        return []
    later = others[len(beside) :]
    if _of(_REVOKES).search(why) or "?" in why:
        return []
    if any(place != first for place in later) and _of(_SECOND_THOUGHT).search(why):
        return []
    return [first]


def _may_follow(said: str) -> bool:
    """Whether what follows a name leaves it as it is."""
    if _of(_UNCLEAR).search(said) or re.match(r"\s*[=+*/^~≠×÷<>]", said):
        return False
    parted = re.match(r"[ \t]*(?:[^\w\s]|$)", said)  # by a sign, or there is nothing
    return parted is not None or _of(_AFTER).match(said) is not None


def takes_back(
    after: Sequence[str], names: Sequence[str], places: Sequence[int], mine: int
) -> bool:
    """Whether lines behind a choice revoke it, or choose something else."""
    for line in after:
        for sentence in re.split(r"(?<=[.!?;])\s+", line):
            said = sentence.lstrip(f"{ENDS}?")
            if _of(_TAKES_BACK).match(said):
                return True
            found = marked(said, names, places)
            if any(p != mine for p in found.places) and (
                _of(_REVOKES).search(said) or _of(_PICKS).search(found.text) or bare(found, False)
            ):
                return True
    return False


def bare(found: Marked, theirs: bool) -> bool:
    """Whether a line says a name and nothing else, leaving aside what leads to it."""
    head, _, tail = found.text.rstrip(ENDS).partition(MARK)
    return (
        len(found.places) == 1
        and (not tail or _of(_AFTER).fullmatch(tail) is not None)
        and "?" not in found.text
        and fills(head, theirs)
    )


def leads_to(before: str, theirs: bool) -> bool:
    """Whether a label within a line begins a sentence of its own, or ends `I choose`."""
    sentences = re.split(r"[.!]+(?:\s+|$)", before)
    return fills(sentences[-1], theirs) and not re.search(rf"\b(?:{_QUOTED})\b", before)


def spoken_of(line: str) -> bool:
    """Whether a line denies or quotes what the next line says, because its sentence goes on."""
    last = re.split(r"[.!?;]\s+", line)[-1].rstrip(" ,")
    return _of(_DANGLING).search(last) is not None and _of(_SPOKEN_OF).search(last) is not None
