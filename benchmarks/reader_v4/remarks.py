"""What may be said behind a choice and leave it as it is: a reason, praise, a fact, a farewell.

A short remark that is none of these (an interjection, an order, a heading, a word on the answer
itself) may well take the choice back, so it leaves the reply unclear. A long one is an argument,
unless it speaks of the answer as something said, and not of the game. All texts are plain, as in
`grammar`. A remark is put through a list of tests; the first that fits it decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.reader_v4.vocabulary import (
    CONDITIONS,
    DOES,
    FRAGMENTS,
    GIVES,
    GOOD,
    HEADINGS,
    OPENS,
    OTHERS,
    SLIPS,
    STEADY,
    Pattern,
    any_of,
)

SHORT = 9  # words; revocations are short, and explanations long
FAR = 40  # words within which a statement has its verb
MINE = "\ufdd1"  # in place of the chosen name; another name has the mark of `grammar`
OTHER = "\ufdd0"

_EDGES = " \t.,;:!()-–—|#>~=/\u3002…&+"
_WORD = Pattern(r"[^\W_]+")


class Remark(NamedTuple):
    """What was said, without the signs around it, and its words."""

    text: str
    words: Sequence[str]


Test = Callable[[Remark], bool]
Tests = Sequence[tuple[Test, bool | Test]]  # whether it fits, and what follows if it does


def begins(pattern: Pattern) -> Test:
    """The test whether a remark begins so."""
    return lambda remark: pattern.match(remark.text) is not None


def has(pattern: Pattern) -> Test:
    """The test whether a remark holds such a thing."""
    return lambda remark: pattern.search(remark.text) is not None


def _decided(tests: Tests, remark: Remark) -> bool:
    """What the first test that fits says of a remark; without one it is not harmless."""
    for fits, verdict in tests:
        if fits(remark):
            return verdict if isinstance(verdict, bool) else verdict(remark)
    return False


def _remark(said: str) -> Remark:
    return Remark(said.strip(_EDGES), _WORD.findall(said.strip(_EDGES)))


def harmless(said: str) -> bool:
    """Whether a sentence behind a choice, with its names marked, leaves the choice as it is."""
    return _decided(_SENTENCE, _remark(said))


def fits_behind(said: str) -> bool:
    """Whether a part of the sentence that follows a chosen name leaves the name as it is."""
    return _decided(_BEHIND, _remark(said))


# --- signs, length, and words that take back ------------------------------------------------------

_DARK = Pattern(r"[?❌✗✘🚫👎⛔🤔🤷🙃😉😜🤪🤞🫠]")
_SLIP = Pattern(rf"\b(?:{SLIPS})\b")


# --- another name ---------------------------------------------------------------------------------

_PRAISED = Pattern(
    rf"{OTHER} (?:is|was|would be|looks|seems|sounds|feels|it is|then|after)\b"
    r"(?! (?:worse|bad|risky|less))|"
    rf"[:=] *{OTHER}|"
    rf"(?:be|as|to|with|for|do|make|take|use|read|say|is|so|then|thus|hence) {OTHER}\W*$|"
    rf"^{OTHER}\W*$"
)
_FORETOLD = Pattern(r"(?:\w+ )?(?:expect(?:ation|ed)|predict(?:ion|ed))\w*(?: \w+)? ?[:=]")
_LESS = Pattern(r"\b(?:than with|less|worse|loses?|their|they|player|opponent|partner)\b")
_OF_OTHERS = Pattern(rf"\b(?:{OTHERS})\b")


def _chooses_another(remark: Remark) -> bool:
    """Whether another name is chosen, and not only spoken of."""
    said = remark.text
    if OTHER not in said or _FORETOLD.match(said):
        return False
    lesser = f"{OTHER} is worse" in said or _LESS.search(said, 0, said.rindex(OTHER)) is not None
    return not _OF_OTHERS.search(said) or (_PRAISED.search(said) is not None and not lesser)


# --- headings, farewells and asides ---------------------------------------------------------------

_HEADING = Pattern(
    rf"(?:(?:my|the|short|brief|main|key|detailed) )*(?:{HEADINGS}|"
    r"expect(?:ation|ed)\w*(?: \w+)?|predict(?:ion|ed)\w*(?: \w+)?)"
    r"(?: for (?:this|my|the) (?:choice|answer|decision|move|option))? ?(?:[:=]|$)"
)
_FAREWELL = Pattern(
    r"(?:(?:many )?thanks?|thank you|(?:good|best of) luck|happy to|have fun|your turn|cheers|"
    r"(?:have|it was|what) a (?:good|nice|great)|(?:lets|let us) (?:see|hope)|looking forward|"
    r"(?:i am )?ready)\b|"
    r"(?:done|end(?: of (?:answer|reply|response|message))?|final(?: answer| choice)?|go|yes|sure|"
    r"ok(?:ay)?|text|json|plaintext|code)$"
)
_APPOSITION = Pattern(r"(?:the|an?) ")
_ASIDES = any_of(
    "again same_as same_again please like because since given so thus therefore hence and both",
    "they he she we no_one everyone definitely certainly obviously surely absolutely",
    "final* period full_stop always while where not_only knowing hoping expecting trusting",
    "playing keeping following maximising maximizing",
)
_ASIDE = Pattern(
    rf"(?:(?:the|my|a|an|our|still|clearly|simply|always|by far|again) )*(?:{GOOD})\b|"
    r"as (?:before|always|usual|planned|ever|above|well|promised|agreed|it|this|they|the|i)\b|"
    r"(?:for|in) (?:this|the|now|my|short|total|order|round)\b|to (?!be\b)\w+\b|"
    r"(?:with|by|from) (?:them|him|her|us|my|our|this|that|both)\b|\d+ points?\b|"
    rf"\w+ because\b|(?:{_ASIDES})\b"
)


def _heads_no_slip(remark: Remark) -> bool:
    heading = _HEADING.match(remark.text)
    return heading is not None and not _SLIP.search(remark.text, heading.end())


def _headed_at_length(remark: Remark) -> bool:
    return len(remark.words) > SHORT and _HEADING.match(remark.text) is not None


def _aside(remark: Remark) -> bool:
    return _ASIDE.match(remark.text) is not None or MINE in remark.text[:2]


# --- statements -----------------------------------------------------------------------------------

_BEING = (
    r"(?:(?:also|still|clearly|simply|always|likely|usually|generally|therefore|thus|by far|"
    r"overall|indeed) )*(?:(?:the|a|an|my|our|their|his|her) |(?!only\b))"
    rf"(?:(?:{GOOD})\b|because\b|since\b|why\b|how\b|what (?:they|the)\b|in (?:line|my|our)\b|"
    r"based\b|due\b|where\b)"
)
# A word on the answer itself: what `it`, `this` or `which` is said to do must speak for it.
_ABOUT_IT = Pattern(r"(?:it|its|this|that|thats|which|these|the above|the answer|my answer)\b")
_THE_ANSWER = Pattern(
    r"(?:the above|(?:the|this|that|my) "
    r"(?:answer|reply|response|line|message|choice|pick|decision|selection)(?: above)?)\b"
)
_SPEAKS_FOR_IT = Pattern(
    r"(?:"
    r"(?:the|this|that|my) (?:answer|reply|response|choice|pick|decision)(?: above)? "
    rf"(?:also |still |simply )?(?:(?:{GIVES})\b|(?:is|was|seems|remains) {_BEING})|"
    rf"(?:it|this|that|which) (?:also |still |always |clearly |simply )?(?:{GIVES})\b|"
    rf"(?:it|this|that|which) (?:will|would|should|can) (?:\w+ly |also )?(?:(?:{GIVES})\b|"
    rf"be {_BEING})|"
    r"(?:it|this|that|which) (?:will|would|should|can) \w+ (?:them|me|us|my|both|the other)\b|"
    r"(?:it|this) can only\b|"
    rf"(?:its|thats|(?:it|this|that|which) (?:is|has been|seems|looks|remains|feels)) {_BEING}|"
    r"(?:it|this|that) has (?:the|a|worked|paid|been)\b|"
    r"(?:this|that) (?:way|choice|option|move|round|turn|time|strategy|approach|means)\b"
    r"(?! (?:is|was) (?:not|no|wrong|void|a )|.* not count)|"
    r"(?:it|this|that) (?:does not|doesnt) matter\b|"
    rf"(?:my|the) answer (?:is|stays|remains) (?:final|the same|{MINE})"
    r")"
)
_I = Pattern(r"(?:i|im|ive|ill|id)\b")
_I_ARGUE = Pattern(
    r"(?:i|we|im|ive|ill|id) (?:(?:also|still|therefore|thus|always|really|fully|just|now|then|so|"
    rf"simply|firmly|will|would|can|should|have|had|am|was|did|do) )*(?:{DOES})\b|"
    rf"(?:i|we) (?:do not|dont|cannot|cant|will not|wont|would not) (?:{STEADY})\b|"
    r"(?:i|we) (?:can|could|did|do)(?: do)?$"
)
_CONDITION = Pattern(rf"(?:{CONDITIONS})\b")
_OPENING = Pattern(rf"(?:{OPENS})\b")
_FRAGMENT = Pattern(rf"(?:{FRAGMENTS})\b")
_NO_STATEMENT = Pattern(r"\w+,|(?:just|only|merely|sort|kind|no|please)\b")  # or not quite one
_GOODLY = Pattern(rf"\b(?:{GOOD}|before|always|planned|(?:they|we|he|she|both) \w+)\b")
_VERB = Pattern(
    r"(?:is|are|has|have|had|will|would|can|could|should|may|might|must|does|do|did|"
    r"(?!(?:this|his|its|us|thus|plus|yes|as|was|always|perhaps|whoops|oops)$)\w\w+[^s\W]s)"
)


def _open_condition(remark: Remark) -> bool:
    """A condition from which nothing follows."""
    return _CONDITION.match(remark.text) is not None and "," not in remark.text


def _whole(remark: Remark) -> bool:
    """Whether what opens like a statement is one, or praises."""
    if not _FRAGMENT.match(remark.text) or any(map(_VERB.fullmatch, remark.words[1:FAR])):
        return True
    return _GOODLY.search(remark.text) is not None


def _has_a_verb(remark: Remark) -> bool:
    first, *rest = remark.words
    return any(map(_VERB.fullmatch, rest[:FAR] if first.endswith("ing") else rest[:3]))


def _stated(remark: Remark) -> bool:
    """Whether a short remark is a statement or a farewell."""
    return _decided(_STATEMENT, remark)


MOST_CLAUSES = 100  # of a sentence; no argument has so many
_I_AM = Pattern(r"\b(?:i|im|ive|ill|id)\b(?! *(?:[,;:.]|$))")
_OF_MINE = Pattern(r"\b(?:i|id|ill|im|my)\b")
_ELSEWHERE = Pattern(
    r"\b(?:elsewhere|something else|the other way|(?:a|the) better one|"
    r"the (?:remaining|alternative|opposite|contrary|latter)(?: one| option| choice)?$)"
)
_CLAUSES = Pattern(r"[,;:]\s+|\s[–—-]+\s")
_JOINT = Pattern(r"(?:(?:and|but|so|then|hence|thus|because|since|as|while|that) )+")
_ORDER = Pattern(r"(?:please|kindly|know|ask|remove|let me|do not|dont|never)\b")


def _clear(remark: Remark) -> bool:
    """Whether no clause of an argument is an order, or speaks of the answer but not for it.

    And whatever `I` is said to do must be arguing, wherever it stands.
    """
    said = remark.text
    if not all(_I_ARGUE.match(said, at.start()) for at in _I_AM.finditer(said)):
        return False
    if _OF_MINE.search(said) and _ELSEWHERE.search(said):
        return False
    parts = list(dict.fromkeys(part.strip(_EDGES) for part in _CLAUSES.split(said)))
    clauses = (_remark(_JOINT.sub("", part, 1)) for part in parts)
    return len(parts) <= MOST_CLAUSES and all(_decided(_CLAUSE, clause) for clause in clauses)


def _argues(remark: Remark) -> bool:
    """Whether a long remark is an argument."""
    return _stated(remark) and _clear(remark)


_CLAUSE: Tests = (
    (begins(_THE_ANSWER), begins(_SPEAKS_FOR_IT)),
    (begins(_ORDER), False),
    (lambda remark: True, True),
)
_STATEMENT: Tests = (
    (begins(_FAREWELL), True),
    (begins(_ABOUT_IT), begins(_SPEAKS_FOR_IT)),
    (begins(_I), begins(_I_ARGUE)),
    (_open_condition, False),
    (lambda remark: remark.text[:1] in (MINE, OTHER), True),
    (begins(_OPENING), _whole),
    (begins(_NO_STATEMENT), False),
    (_has_a_verb, True),
)
_ANY: Tests = (
    (has(_DARK), False),
    (_chooses_another, False),
    (lambda remark: not remark.words, True),
    (_headed_at_length, _clear),
    (lambda remark: len(remark.words) > SHORT, _argues),
)
_SENTENCE: Tests = (  # of its own, behind a choice
    *_ANY,
    (begins(_HEADING), _heads_no_slip),
    (has(_SLIP), False),
    (_stated, _clear),
)
_BEHIND: Tests = (  # a part of the sentence that chooses
    *_ANY,
    (begins(_FAREWELL), True),
    (has(_SLIP), False),
    (begins(_ABOUT_IT), _stated),
    (begins(_I), _stated),
    (begins(_CONDITION), False),
    (begins(_APPOSITION), True),
    (_aside, True),
    (lambda remark: len(remark.words) > 2, _stated),
)
