"""Announcements of a speaker's own move, read from messages by a stated rule.

The message itself remains free text; the announcement is an annotation. A message announces a move
if its speaker says, without a condition, that it itself moves 1, 3 or 5 in this turn. The rule
reads clause by clause and takes the last such statement:

- subject: `I`, `me`, `my move`, a clause that starts with a participle (`locked on 5`), or the
  speaker's own label (`P2 = 5`) where the message confirms a plan;
- not a statement: a question, a proposal (`I suggest`, `how about`), a choice (`1 or 3`), a denial,
  quoted words, a statement under a condition (stated before it, or with `if` after it), and a
  statement about another turn.

`docs/games/step_race.md` gives the rule's precision and recall on labelled messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from sally.games.step_race.rules import Spoken, triple

LONGEST = 20_000  # characters of a message that are read
Announced = tuple[int | None, int | None, int | None]

_SIGNS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": ";", "–": ";", "‑": "-"})
_MARKUP = re.compile(r"</?move>|[*_`]")
_BLANKS = re.compile(r"[^\S\n]+")
_PREFIX = re.compile(r"^p(?:layer )?\d ?:\s*")  # some speakers begin with their own label
_QUOTED = re.compile(r'"[^"]{1,80}"')
_CLAUSES = re.compile(r"(?<=[.!?;])\s+|\s+-\s+|\n+|(?<=[a-z0-9]);|(?<=\w)\.(?=\s|$)")
_NUMBER = (
    r"(?P<n>[135])(?![\d%/]|\.\d|[-\u2013]\d|[- ]?step (?:move|jump)s?|\s*(?:or|/)\s*[135]|"
    r"\s*and [135] respectively)"
)

# Bounded, so that a message of nothing but such words is read in linear time.
_FILLER = (
    r"(?:(?:definitely|still|just|now|also|publicly|fully|only|simply|therefore|again|gladly|"
    r"happily|personally|already|then|instead|absolutely|firmly|officially|currently|here|"
    r"indeed|tentatively|hereby|strictly|really|certainly|going|happy|ready|plan|planning|agree|"
    r"agreed|agreeing|confirm|confirmed|confirming|commit|committed|committing|must|to|that|my|"
    r"move|moves|pick|choice|be|both|up|the|on|as|it|is|of|i|i'm|i'll|will|am|have|decided|"
    r"choosing|honor|honoring|staying|stay|fine|with|in|for|by|at)[ ,:]+){0,20}"
)
_VERB = (
    r"(?:tak(?:e|ing)|pick(?:ing)?|choos(?:e|ing)|play(?:ing)?|mov(?:e|ing)|go(?:ing)?|"
    r"select(?:ing)?|lock(?:ed|ing)?|stick(?:ing)?|stay(?:ing)?|remain(?:ing)?|"
    r"commit(?:ted|ting)?|keep(?:ing)?|do(?:ing)?|us(?:e|ing)|execut(?:e|ing)|grab(?:bing)?|"
    r"hold(?:ing)?|claim(?:ing)?|confirm(?:ed|ing)?|advanc(?:e|ing)|settl(?:e|ing)|"
    r"repeat(?:ing)?|on)"
)
_TO = (
    r"(?:[ :=]+(?:the|a|an|my|in|on|to|with|for|at|into|of|number|moves?|by|choice|steps?|taking|"
    r"picking|playing|choosing|moving|slot|only|safe|lone|it)){0,20}"
)
_BY_VERB = r"(?:taking|on|at|picking|with|choosing|playing|moving|to|is|for|pick|take|play|choose)"
_ARROW = r"[ :=>\u2192-]"
_WILL = re.compile(rf"\b(?:i'll|i'm|i will|i am|ill|im)[ ,]+{_FILLER}{_VERB}{_TO}[ :=]+{_NUMBER}")
_MINE = re.compile(
    r"\bmy (?:move|choice|pick|number)(?: for this (?:turn|round)| this (?:turn|round)| now)?"
    rf"(?: is|:| will be| of| stays| remains)(?: at| on)? {_NUMBER}"
)
_START = re.compile(
    r"^[^a-z0-9]*(?:confirm(?:ed|ing)?|lock(?:ed|ing)?|staying|sticking|taking|going|final|playing|"
    r"picking|committed|holding|remaining)\b[:, ]*(?:(?:in|on|to|with|at|for|taking|move)\b ?)*"
    rf"[: ]*{_NUMBER}(?= *(?:$|[.,;:!(>\u2192]|this\b|now\b|to\b|as\b|here\b|again\b))"
)
_FIRM = (_WILL, _MINE, _START)  # stated outright, not as part of a plan
_PLANNED = (
    re.compile(rf"\bi[ ,]+{_FILLER}{_VERB}{_TO}[ :=]+{_NUMBER}"),
    re.compile(rf"\b(?:me|myself)(?: {_BY_VERB})*{_ARROW}+{_NUMBER}"),
    re.compile(rf"\b{_NUMBER} (?:for|with) me\b"),
    re.compile(rf"\b(?:and|&) i(?: both| are| will| each)*(?: {_BY_VERB})? {_NUMBER}"),
    re.compile(rf"\b(?:with|join) me(?: on| at)? {_NUMBER}"),
)

_DENIED = re.compile(
    r"\b(?:not|never|no|won't|can't|cannot|don't|refuse|neither|nor|without|avoid)\b"
)
_PROPOSED = re.compile(
    r"\b(?:propos\w*|suggest\w*|how about|what if|what about|recommend\w*|offer|could|would|should|"
    r"might|maybe|perhaps|consider\w*|prefer|favor|want|wanted|like to|leaning|thinking|willing|"
    r"open to|let me|allow me|deal is|alternatively|either)\b"
)
_LOOSE = re.compile(
    r"\blet(?:'s| us) (?!execut|stick|proceed|maintain|continue|confirm|finali|honor|keep|lock|"
    r"follow|commit|go ahead|move forward|do this|do it)"
)
_IF = re.compile(
    r"\b(?:if|unless|when|whenever|otherwise|or else|in case|as long as|provided|assuming|once|"
    r"until|should (?:you|p\d|anyone|either)|else)\b"
)
_THEN_IF = re.compile(r"^[^,.;:]{0,30}?\b(?:only if|if|as long as|provided|in case)\b")
_LATER = re.compile(
    r"\b(?:next|later|future|following|afterwards?|after (?:this|that|we)|last (?:turn|round)|"
    r"previous(?:ly)?|earlier|post-|tomorrow|every (?:turn|round)|already|again next)\b"
)
_ROUND = re.compile(r"\b(?:round|turn|rd|r|t)[ #-]?(\d{1,3})\b")
_PLAN = re.compile(
    r"\b(?:confirm\w*|agree\w*|locked|lock|execut\w*|stick\w*|proceed\w*|final\w*|set|aligned|"
    r"as planned|honor|go with|sounds good|plan (?:is|makes)|assign\w*|"
    r"fully (?:support|commit)\w*)\b"
)


def announcement(text: str, number: int | None = None, turn: int | None = None) -> int | None:
    """Return the move that a message announces for its own speaker in this turn, or None.

    Args:
        text: The message.
        number: The speaker's seat number from 0, so that `P2 = 5` is read as the speaker's own.
        turn: The number of the turn from 1, so that statements about other turns are ignored.

    >>> announcement("P1, you take 1. I'll go with 5 this round.")
    5
    >>> announcement("If you take 5, I'll take 3.") is None
    True
    """
    return _announcement(text, number, turn)


@lru_cache(maxsize=65536)  # every measure of a turn reads its messages
def _announcement(text: str, number: int | None, turn: int | None) -> int | None:
    announced_move = None
    plain_text = _plain(text)
    confirms = _PLAN.search(plain_text) is not None
    for clause in _clauses(plain_text):
        if clause.endswith("?") or _LATER.search(clause[:12]):
            continue
        for move, text_before, behind, direct in _statements(clause, number, confirms):
            if _stands(text_before, behind, direct, turn):
                announced_move = move
    return announced_move


def _plain(text: str) -> str:
    """Return the message in lower case, without markup or quoted words."""
    plain = _BLANKS.sub(" ", _MARKUP.sub("", text[:LONGEST].translate(_SIGNS))).strip().lower()
    plain = _PREFIX.sub("", plain)
    if plain.startswith('"') and plain.count('"') <= 2:
        plain = plain.strip('"')
    return _QUOTED.sub(" ", plain)


def _clauses(text: str) -> Iterator[str]:
    for clause in _CLAUSES.split(text):
        if clause and clause.strip():
            yield clause.strip()


def _statements(
    clause: str, number: int | None, confirms: bool
) -> Iterator[tuple[int, str, str, bool]]:
    """Yield the statements about the speaker's move in a clause: move, text before, text after,
    firmness.

    A statement is firm if it is made with `will`, `am` or the like, and not as part of a plan.
    """
    patterns = [
        *((pattern, True) for pattern in _FIRM),
        *((pattern, False) for pattern in _PLANNED),
    ]
    if number is not None and confirms:
        patterns.append((_label_pattern(number), False))
    hits = [
        (hit.start(), hit.end(), int(hit["n"]), firm)
        for pattern, firm in patterns
        for hit in pattern.finditer(clause)
    ]
    for start, end, move, firm in sorted(hits):
        yield move, clause[:start], clause[end:], firm


@lru_cache(maxsize=3)
def _label_pattern(number: int) -> re.Pattern[str]:
    """Return the pattern of the speaker's own label with a move: `P2 takes 5`, `P2: 5`."""
    return re.compile(
        rf"\bp(?:layer )?{number + 1}\b(?: (?:takes?|picks?|chooses?|plays?|moves?|goes|on|at|"
        rf"to|is|taking|with|will|locked|stays|picking|choosing))*{_ARROW}+{_NUMBER}"
    )


def _stands(text_before: str, behind: str, firm: bool, turn: int | None) -> bool:
    """Return whether a match is a valid statement about this turn, given the text around it."""
    last_part = re.split(r"[,:(]", text_before)[-1]
    if _DENIED.search(last_part) or _PROPOSED.search(text_before):
        return False
    if _IF.search(text_before) or _THEN_IF.search(behind):
        return False
    if _LOOSE.search(text_before) and not firm:
        return False
    if _LATER.search(last_part) or _LATER.match(behind[:40].lstrip(" ,.")):
        return False
    rounds_named = [int(n) for n in _ROUND.findall(text_before)]
    return not (rounds_named and turn is not None and rounds_named[-1] != turn)


def last_announcements(talk: tuple[Spoken, ...], turn: int | None = None) -> Announced:
    """Return each seat's last announcement in these messages."""
    moves: list[int | None] = [None, None, None]
    for message in talk:
        if message.text and (move := announcement(message.text, message.number, turn)) is not None:
            moves[message.number] = move
    return triple(moves)
