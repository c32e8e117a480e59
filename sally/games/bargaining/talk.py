"""Commitments in a message, read by a stated rule: announced quotes and claims of value.

The message remains free text; the commitments read here annotate it for probes and metrics and do
not affect the game. Two kinds are recognised:

- An *announcement*: the speaker says which number it will quote in this round, without a condition.
  The words must be the speaker's own (`I'll bid 40`, `asking 60 again`, `my ask is 60`), about this
  round, and name one number. A joint proposal (`let's trade at 50`), a bound (`at most 60`), a
  range, a question and anything after `if`, `unless` or a demand (`bid 50 and I'll ask 50`) is not
  an announcement.
- A *claim*: the speaker states its own value or cost as one number (`my cost is 32`).

A message that announces two different numbers announces none; the same holds for claims.
`docs/results/appendix/bargaining.md` has the measured precision and recall.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from sally.core.rules.game import Seat
from sally.games.bargaining.rules import BUYER
from sally.games.bargaining.values import HIGHEST

VERSION = 1  # raised when a message is read differently


class FoundCommitments(msgspec.Struct, frozen=True):
    """The commitments found in a message; None for each kind that is missing."""

    announced: int | None = None
    claimed: int | None = None


@lru_cache(maxsize=65536)
def read_message(text: str, seat: Seat) -> FoundCommitments:
    """Return the commitments in a message of the buyer or the seller.

    >>> read_message("I'll bid 40 this round. My value is 55.", BUYER)
    Note(announced=40, claimed=55)
    >>> read_message("If you ask 40, I'll bid 40.", BUYER)
    Note(announced=None, claimed=None)
    """
    plain = _plain(text)
    verbs = _BUYER if seat == BUYER else _SELLER
    announced: set[int] = set()
    claimed: set[int] = set()
    for sentence in _SENTENCES.split(plain):
        claimed |= _claims(sentence, seat == BUYER)
        announced |= _announcements(sentence, verbs)
    return FoundCommitments(_only(announced), _only(claimed))


def _only(numbers: set[int]) -> int | None:
    return next(iter(numbers)) if len(numbers) == 1 else None


_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "‑": "-", "−": "-"})
# A full stop ends a sentence unless it is within a number.
_SENTENCES = re.compile(r"(?:\.(?!\d)|[!;\n—])+")
_MARKUP = re.compile(r"[*_`$]+")


def _plain(text: str) -> str:
    """Return the text in lower case, without markup, with plain quotes and dashes."""
    text = _MARKUP.sub(" ", text.translate(_QUOTES)).replace("?", " ??.")
    return re.sub(r"[ \t]+", " ", text).casefold()


_NUMBER = r"(\d{1,3})(?![\d%]|\.\d|\s*(?:-|to|/|or)\s*\d|\+)"
_ROUND = (
    r"(?:[bs]1\s*[:,-]\s*)?(?:(?:round \d+|final round|again)\s*[:,-]\s*|this round\s*[:,-]?\s*)?"
)


def _any(words: str) -> str:
    """Return a pattern that matches any of the phrases, which are separated by semicolons."""
    return "(?:" + "|".join(re.escape(phrase.strip()) for phrase in words.split(";")) + ")"


_TO_NUMBER = (
    rf"(?:\s+{_any('exactly;price;again;at;of;a;the;to;for;with;=;:;in;steady;firm')})*[\s:=]*"
)
_I = _any("i'll;i will;i'm;i am;i shall;i can;i do;we'll;i've;i")
_LEAD = (
    r"(?:\s+"
    + _any(
        "now;also;be;still;again;just;simply;gladly;happily;therefore;then;always;consistently;"
        "strictly;firmly;once more;going to;gonna;happy to;ready to;prepared to;committed to;"
        "willing to;plan to;planning to;intend to;commit to;aim to;keep;keeping;continue to;"
        "continue;continuing;to;stick to;stick with;sticking to;sticking with;hold to;this round;"
        "make;making;place;placing;submit;submitting;post;posting;set;setting;enter;put in;"
        "maintain;maintaining;"
        "repeat;lower;raise;drop;move;my;a;an;the;firm;final;same"
    )
    + r")*"
)
_HOLD = _any(
    "stick;sticking;stay;staying;hold;holding;remain;remaining;go;going;continue;continuing"
)
_BARE = _any("will;continuing;continue;setting;keeping;sticking with;holding")


def _verbs(stems: str, nouns: str) -> list[re.Pattern[str]]:
    """Return the patterns of phrases with which a side announces its quote."""
    verb, noun = _any(f"{stems};{nouns}"), _any(nouns)
    patterns = (
        rf"\b{_I}{_LEAD}\s+{verb}{_TO_NUMBER}\s*{_NUMBER}",
        rf"\b{_I}(?:\s+(?:be|now|also|still))*\s+{_HOLD}\s+(?:to|at|with)\s+{_NUMBER}",
        rf"\bmy {noun}(?: (?:for )?this round)?\s*(?:is|will be|stays|remains|stands|:|=)"
        rf"(?:\s+(?:at|firm|still))*\s*{_NUMBER}",
        rf"^\W*{_ROUND}{_BARE}?\s*(?:my )?{verb}{_TO_NUMBER}\s*{_NUMBER}",
    )
    return [re.compile(pattern) for pattern in patterns]


_BUYER = _verbs("bidding;offering;pay;buy at", "bid;offer;quote")
_SELLER = _verbs("asking;offering;list at;sell at;selling at", "ask;offer;quote")
_CONDITION = re.compile(
    r"\b"
    + _any(
        "if;unless;when;whenever;provided;as long as;otherwise;or else;else;should you;only;until;"
        "once you;in case;assuming;depending;would;could;might;may;next round;next time;later;"
        "last round;previous;previously;earlier;from round;won't;not;never;can't;cannot;after;"
        "instead of;or i;or i'll"
    )
    + r"\b"
)
_DEMAND = re.compile(
    rf"^\W*(?:please |just |so |then |you )?"
    rf"{_any('bid;ask;offer;keep;meet;match;post;set;quote;lower;raise;drop')}\b"
    rf".*\b(?:and|then|or) i\b"
)
_BOUND = re.compile(
    r"\b(?:"
    + _any(
        "at least;at most;up to;no more than;no less than;no higher than;no lower than;maximum;max;"
        "minimum;min;above;below;under;over;around;about;near;between;higher than;lower than;"
        "less than;more than"
    )
    + r"|or (?:less|more|higher|lower|better|below|above))\b"
)


def _announcements(sentence: str, verbs: list[re.Pattern[str]]) -> set[int]:
    """Return the numbers that a sentence announces as quotes."""
    if "??" in sentence or _DEMAND.search(sentence):
        return set()
    numbers: set[int] = set()
    for verb in verbs:
        for hit in verb.finditer(sentence):
            clause = sentence[: hit.end()]
            next_words = re.split(r"[,:]|\band\b|\bso\b|\bto\b|\bfor\b", sentence[hit.end() :])[0]
            if (
                _CONDITION.search(clause)
                or _CONDITION.search(next_words)
                or _tied(sentence, hit.end())
            ):
                continue
            if _BOUND.search(hit[0]) or _BOUND.search(next_words[:16]):
                continue
            if (number := int(hit[1])) <= HIGHEST:
                numbers.add(number)
    return numbers


def _tied(sentence: str, end: int) -> bool:
    """Return whether a condition follows: `I'll bid 40 if you ask 40`."""
    return _FOLLOWS.match(sentence[end:]) is not None


_FOLLOWS = re.compile(r"[^,:]*\b(?:if|unless|when|provided|as long as|only)\b")
_OWN = rf"\b(?:my|our)(?: {_any('true;real;actual;private;exact;personal;own;item;unit')})*"
_ITEM = r"(?:unit|item|good)"
_IS = (
    rf"\s*(?:{_any('is;are;was;=;:;of;at;being;stands at;remains at;remains;stays')}\s*)?"
    rf"(?:{_any('only;just;exactly;at;set at;simply;still;really;genuinely;truly;fixed at')} "
    rf"|{_any('high at;low at;indeed;a')} )*"
)
_BUYER_CLAIM = re.compile(
    rf"{_OWN} (?:value|valuation|worth)(?: (?:for|of|on) (?:it|this|the) ?{_ITEM}?)?{_IS}{_NUMBER}"
    rf"|\bmy {_NUMBER} (?:value|valuation)\b"
    rf"|\bi (?:truly |really )?value (?:it|this|the {_ITEM}|each unit) at {_NUMBER}"
    rf"|\bworth (?:only |just |exactly )?{_NUMBER} to me"
)
_SELLER_CLAIM = re.compile(
    rf"{_OWN} (?:unit )?costs?(?: (?:for|of|per) (?:it|this|the|each)? ?{_ITEM}?)?{_IS}{_NUMBER}"
    rf"|\bmy {_NUMBER} cost\b"
    rf"|\b(?:it|this|each unit|the {_ITEM}) costs me (?:only |just |exactly )?{_NUMBER}"
)
_NOT_OWN = re.compile(r"\b(?:if|suppose|assuming|were|unless|whether)\b")


def _claims(sentence: str, is_buyer: bool) -> set[int]:
    """Return the numbers that a sentence states as the speaker's own value or cost."""
    pattern = _BUYER_CLAIM if is_buyer else _SELLER_CLAIM
    numbers: set[int] = set()
    if "??" in sentence:
        return numbers
    for hit in pattern.finditer(sentence):
        number = int(next(group for group in hit.groups() if group is not None))
        if number <= HIGHEST and not _NOT_OWN.search(sentence[: hit.start()]):
            numbers.add(number)
    return numbers
