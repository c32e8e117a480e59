"""Words that deny, revoke, doubt or quote what stands beside them, in plain texts."""

from __future__ import annotations

import re
import sys
from functools import cached_property


class Pattern:
    """A pattern that is compiled when it is first used, so that starting takes no time for it."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.search(text, start, end)

    def match(self, text: str) -> re.Match[str] | None:
        return self._compiled.match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._compiled.fullmatch(text)

    def split(self, text: str) -> list[str]:
        return self._compiled.split(text)

    def sub(self, new: str, text: str) -> str:
        return self._compiled.sub(new, text)

    def findall(self, text: str) -> list[str]:
        return self._compiled.findall(text)


DENIED = (
    r"no|not|nope|nah|never|neither|nor|none|nothing|non|except|excluding|avoid\w*|without|"
    r"other than|instead|rather|against|cannot|"
    r"(?:do|does|did|wo|ca|is|are|was|were|has|have|had|would|should|could|must|need|ai)nt|"
    r"refus\w+|reject\w*|declin\w+|opposite|wrong|"
    r"false|mistake\w*|untrue|opposed|skip|pass|lie|lying|least|ain|minus"
)
REVOKED = (
    r"actually|wait|scratch|strike|correction|correct that|i mean|i meant|sorry|oops|whoops|"
    r"hold on|second thoughts?|on reflection|never ?mind|kidding|joking|joke|jk|sarcas\w+|"
    r"chang(?:e|ed|ing)|switch\w*|reconsider\w*|revis\w+|retract\w*|withdraw\w*|take (?:it|that) "
    r"back|took (?:it|that) back|ignore\w*|disregard\w*|forget|cancel\w*|undo|replac\w+|edit"
)
DOUBTED = (
    r"or|but|however|although|though|yet|maybe|perhaps|possibly|probably|might|may|could|either|"
    r"unsure|uncertain|doubt\w*|hesita\w+|depend\w*|tempt\w+|lean\w*|inclin\w+|consider\w*|"
    r"wonder\w*|if|unless|until|otherwise|else|whether|when|whenever|provided|assuming|suppos\w+|"
    r"alternatively|hypothetical\w*|pretend\w*|almost|nearly|guess|random\w*|toss\w*|coin"
)
QUOTED = (
    r"say|says|said|saying|tell|tells|told|ask|asks|asked|write|writes|wrote|written|replied|"
    r"quot\w+|instruct\w*|prompt\w*|example\w*|e\.g|eg|instance|such as|format\w*|template\w*|"
    r"claim\w*|suggest\w*|recommend\w*|wants me|wanted|according|placeholder"
)
UNCLEAR = Pattern(rf"\b(?:{DENIED}|{REVOKED}|{DOUBTED}|{QUOTED})\b|[?❌✗✘🚫👎⛔🤔🤷]")
REVOKES = Pattern(rf"\b(?:{REVOKED})\b")
SECOND_THOUGHT = Pattern(
    r"\b(?:or|actually|wait|instead|rather|unless|but|however|maybe|perhaps|no|otherwise|else)\b"
)
# How a sentence begins that takes back what stands before it.
TAKES_BACK = Pattern(
    r"(?:no(?:pe)?(?: *[,.!;:—–-]|$| (?:i|we|that|it|make|let|use|option|not)\b)|nah\b|wait\b|"
    r"actually\b|(?:a )?correction\b|sorry\b|oops\b|whoops\b|hold on\b|hm+\b|scratch\b|strike\b|"
    r"i mean|or\b|rather\b|make (?:that|it)\b|(?:on|upon) (?:second|reflection)|second thought|"
    r"never ?mind|just kidding|kidding\b|joking\b|jk\b|unless\b|except\b|"
    r"not(?! only| \w+ing .*\b(?:would|will|costs?|loses?|risks?|leaves?)\b)\b|"
    r"edit\b|ignore\b|disregard\b|forget (?:that|it|what)|cancel\b|undo\b|instead\b|only if\b|"
    r"(?:that|this|it|the above) (?:is|was) (?:wrong|a mistake|not|incorrect|an error|a joke)|"
    r"i (?:take|took|change|changed|withdraw|retract|reconsider|was wrong|was kidding|made a|"
    r"refuse|am not|am unsure|lied|(?:do not|dont|wont|will not|cannot|cant|would not|wouldnt)"
    r"(?! (?:expect|think|believe|trust|know|see|need|lose|risk|mind|care|fear|worry|change|"
    r"regret|hesitate|doubt)\b))\b|"
    r"im (?:not|unsure|kidding|joking|lying)\b|then again\b)"
)
