"""What may be said behind a choice and leave it as it is: a reason, praise, a fact, a farewell.

A short remark that is none of these (an interjection, an order, a heading, a word on the answer
itself) may well take the choice back, so it leaves the reply unclear. A long one is an argument and
is only searched for what takes back outright. All texts are plain, as in `sally.core.grammar`.
"""

from __future__ import annotations

import re

from sally.core.vocabulary import Pattern

SHORT = 9  # words; revocations are short, and explanations long
MINE = "\ufdd1"  # in place of the chosen name; another name has the mark of `grammar`
OTHER = "\ufdd0"

_EDGES = " \t.,;:!()-–—|#>~=/\u3002…&+"
_WORD = Pattern(r"[^\W_]+")
_DARK = Pattern(r"[?❌✗✘🚫👎⛔🤔🤷🙃😉😜🤪🤞🫠]")

_GOOD = (
    "best|better|safer?|safest|good|great|right|correct|optimal|dominant|rational|logical|fair\\w*|"
    "strong\\w*|wise\\w*|sensible|reasonable|smart\\w*|most|more|only|highest|higher|lowest|least|"
    "less risky|nash|equilibrium|choice|option|move|answer|strategy|reply|response|one|reason|same|"
    "simplest|natural|obvious|sure|likely|expected|balanced|cooperative|maximin|solid|profitable|"
    "consistent|final|clear|clearly|cautious|generous|kind|nice|closest|nearest|shortest|fastest|"
    "largest|smallest|maximum|minimum|beneficial|advantageous|favou?rable|preferable|worth|enough|"
    "fine|perfect|ideal|promising|robust|stable|steady|true|known|usual|pattern|payoff|reward|plan|"
    "result|outcome|goal|way|key|point|average|level|number|word|clue|place|box|card"
)
_BEING = (
    r"(?:also |still |clearly |simply |always |likely |usually |generally |therefore |thus |"
    r"by far |overall |indeed )*"
    r"(?:(?:the|a|an|my|our|their|his|her) )?"
    rf"(?:(?:{_GOOD})\b|because\b|since\b|why\b|how\b|what (?:they|the)\b|in (?:line|my|our)\b|"
    r"based\b|due\b|where\b)"
)
_GIVES = (
    "gives?|pays?|yields?|earns?|wins?|beats?|brings?|gets?|gains?|maximi[sz]es?|minimi[sz]es?|"
    "keeps?|protects?|secures?|guarantees?|ensures?|lets?|makes?|allows?|leads?|avoids?|reduces?|"
    "increases?|improves?|follows?|fits?|matches|match|rewards?|punish(?:es)?|builds?|encourages?|"
    "continues?|offers?|provides?|balances?|helps?|works?|dominates?|leaves?|shows?|signals?|"
    "responds?|reflects?|serves?|saves?|scores?|aligns?|aims?|covers?|connects?|links?|relates?|"
    "points?|describes?|suits?|combines?|exploits?|punishes|supports?|takes? advantage|keeps"
)
# A word on the answer itself: what `it`, `this` or `which` is said to do must speak for it.
_ABOUT_IT = Pattern(r"(?:it|its|this|that|thats|which|these|the above|the answer|my answer)\b")
_SPEAKS_FOR_IT = Pattern(
    r"(?:"
    rf"(?:it|this|that|which) (?:also |still |always |clearly |simply )?(?:{_GIVES})\b|"
    rf"(?:it|this|that|which) (?:will|would|should|can) (?:\w+ly |also )?(?:(?:{_GIVES})\b|"
    rf"be {_BEING})|"
    r"(?:it|this|that|which) (?:will|would|should|can) \w+ (?:them|me|us|my|both|the other)\b|"
    r"(?:it|this) can only\b|"
    rf"(?:its|thats|(?:it|this|that|which) (?:is|has been|seems|looks|remains|feels)) {_BEING}|"
    r"(?:it|this|that) has (?:the|a|worked|paid|been)\b|"
    r"(?:this|that) (?:way|choice|option|move|round|turn|time|strategy|approach|means|response|"
    r"decision|reply)\b(?! (?:is|was) (?:not|no|wrong|void|a )|.* not count)|"
    r"(?:it|this|that) (?:does not|doesnt) matter\b|"
    rf"(?:my|the) answer (?:is|stays|remains) (?:final|the same|{MINE})"
    r")"
)
_MODEST = (
    r"(?:also |still |therefore |thus |always |really |fully |just |now |then |so |simply |firmly |"
    r"will |would |can |should |have |had |am |was |did |do )*"
)
_MINDS = (
    "expect|think|believe|assume|predict|anticipate|hope|trust|know|see|need|gain|lose|risk|"
    "understand|remember|care|mind|fear|worry"
)
_DOES = (
    f"{_MINDS}|thought|expected|believed|want|prefer|win|earn|get|receive|keep|kept|stay|stick|"
    f"follow|"
    "copy|cooperate|cooperating|defect|repeat|maximi[sz]e|minimi[sz]e|avoid|protect|chose|choose|"
    "chosen|"
    "choosing|pick|picked|picking|select|selected|play|played|playing|take|taking|go|going|decided|"
    "based|"
    "used|use|considered|looked|noticed|saw|confident|sure|certain|happy|look|rely|build|aim|"
    "aiming|"
    "try|trying|started|continue|respond|reciprocate|reward|punish|make|let|show|like|reasoned|"
    "offer|propose|give(?! up)|trade|request|accept|agree|craft|send|hold|tell|hint|connect|place|"
    "plan|"
    "weighed|compared|counted|hoping|expecting|following|staying|sticking|trusting|assuming"
)
_I = Pattern(r"(?:i|im|ive|ill|id)\b")
_I_ARGUE = Pattern(
    rf"(?:i|we|im|ive|ill|id) {_MODEST}(?:{_DOES})\b|"
    rf"(?:i|we) (?:do not|dont|cannot|cant|will not|wont|would not) (?:{_MINDS})\b"
)
_HEADING = Pattern(
    r"(?:(?:my|the|short|brief|main|key|detailed) )*"
    r"(?:reason(?:s|ing)?|explanations?|why|thoughts?|thinking|rationale|justification|analysis|"
    r"notes?|confidence(?: level)?|expect(?:ation|ed)\w*(?: \w+)?|predict(?:ion|ed)\w*(?: \w+)?|"
    r"plans?|"
    r"insights?|beliefs?|strategy|summary|conclusion|logic|evidence|observations?|because)"
    r"(?: for (?:this|my|the) (?:choice|answer|decision|move|option))? ?(?:[:=]|$)"
)
_FAREWELL = Pattern(
    r"(?:many )?thanks?\b|thank you\b|(?:good|best of) luck\b|happy to\b|have fun\b|your turn\b|"
    r"cheers\b|"
    r"(?:have|it was|what) a (?:good|nice|"
    r"great)\b|"
    r"(?:lets|let us) (?:see|hope)\b|looking forward\b|done$|end$|final(?: answer| choice)?$|"
    r"(?:i am )?ready\b|go$|yes$|sure$|ok(?:ay)?$|text$|json$|plaintext$|code$"
)
# How a statement may begin: with a subject, a conjunction, a preposition or an adverb of place.
_OPENING = Pattern(
    r"(?:the|they|theyre|we|us|their|there|he|she|his|her|both|each|every|everyone|all|most|"
    r"many|some|"
    r"one|"
    r"two|other|others|another|because|since|as|given|while|although|though|even|so|thus|therefore|"
    r"hence|also|and|besides|moreover|furthermore|additionally|overall|ultimately|finally|however|"
    r"no matter|if|in|at|by|with|from|for|to|on|after|before|during|until|over|against|among|"
    r"between|"
    r"through|within|compared|based|considering|looking|knowing|assuming|expecting|my|our|your|you|"
    r"what|whatever|when|where|whoever|who|how|here|now|again|always|otherwise|then|first|second|"
    r"third|"
    r"next|last|previously|so far|same|like|best|highest|high|certainly|clearly|definitely|"
    r"obviously|"
    r"simply|naturally|absolutely|surely|firmly|confidently|consistently|not only|nothing else|"
    r"player|"
    r"players|opponents?|partners?|bob|alice|ann|cooperation|mutual|user|users|agent|agents)\b"
)
_VERB = Pattern(
    r"(?:is|are|has|have|had|will|would|can|could|should|may|might|must|does|do|did|"
    r"(?!(?:this|his|its|us|thus|plus|yes|as|was|always|perhaps|whoops|oops)$)\w\w+[^s\W]s)"
)
# Words on what was said, not on the game: whoever uses them shortly after a choice corrects it.
_SLIP = Pattern(
    r"\b(?:wrong\w*|mistak\w+|erro(?:r|rs|neous\w*)|typos?|slip(?:s|ped)?|mis(?:spoke\w*|spok\w+|"
    r"typ\w+|"
    r"read\w*|clicked|stated|wrote|written)|backwards?|swapped|mixed|garbled|amend\w*|"
    r"correct(?:ion|ed|ing)|"
    r"redo\w*|void\w*|invalid|discard\w*|delet\w+|crossed|struck|eras\w+|meant|bad|kidding|jok\w+|"
    r"l(?:ie|ied|ies|ying)|bluff\w*|fake|false|untrue|pretend\w*|test(?:ing)?|placeholder|"
    r"not count|"
    r"after all|take (?:it|that) back|instead|rather|apolog\w+|sorry|oops|whoops|scratch|ignore\w*|"
    r"disregard\w*|forget|cancel\w*|retract\w*|withdr\w+|revis\w+|reconsider\w*|chang(?:ed|ing)|"
    r"switch(?:ed|ing)?|give up|made (?:\w+ )?up|refus\w+|declin\w+|abstain\w*|take part|stupid|"
    r"foolish|silly|terrible|awful|"
    r"opposite|reverse|contrary|not mine|the other (?:one|way)|quoting|as if|depend\w*|wish|"
    r"jest\w*|the line|line above|the above|"
    r"read (?:it|that|this) as|"
    r"let me|psych|dreams?)\b"
)
_PRAISED = Pattern(
    rf"{OTHER} (?:is|was|would be|looks|seems|sounds|feels|it is|then|after)\b(?! (?:worse|bad|"
    rf"risky|less))|"
    rf"[:=] *{OTHER}|(?:be|as|to|with|for|do|make|take|use|read|say|is|so|then|thus|"
    rf"hence) {OTHER}\W*$|^{OTHER}\W*$"
)
_FORETOLD = Pattern(r"(?:\w+ )?(?:expect(?:ation|ed)|predict(?:ion|ed))\w*(?: \w+)? ?[:=]")
_WORSE = f"{OTHER} is worse"
_LESS = Pattern(r"\b(?:than with|less|worse|loses?|their|they|player|opponent|partner)\b")
_OF_OTHERS = Pattern(
    r"\b(?:they|them|their|he|she|him|her|others?|opponents?|partners?|players?|if|even|because|"
    r"since|"
    r"expect|predict|would|than|less|worse|loses?|lost|beats?|against|avoids?|unlike|over|after|"
    r"when|"
    r"round|last|so far|gives?|pays?|whether|considered|risk\w*|user|bob|alice|ann)\b"
)


_CONDITION = Pattern(
    r"(?:if|when|whenever|unless|until|once|as long|so long|as far|in case|on condition|provided|"
    r"providing|assuming|supposing|"
    r"only|given the chance|for all i|with a grain)\b"
)


def harmless(said: str) -> bool:
    """Whether a sentence behind a choice, with its names marked, leaves the choice as it is."""
    said = said.strip(_EDGES)
    if _DARK.search(said):
        return False
    words = _WORD.findall(said)
    if not words:
        return OTHER not in said
    if OTHER in said and not _of_others(said):
        return False
    if len(words) > SHORT:
        return True
    if heading := _HEADING.match(said):
        return not _SLIP.search(said[heading.end() :])
    if _SLIP.search(said):
        return False
    return _stated(said, words)


def _of_others(said: str) -> bool:
    """Whether another name is spoken of and not chosen."""
    if _FORETOLD.match(said):
        return True
    less = _LESS.search(said, 0, said.rindex(OTHER)) is not None
    return (less or _WORSE in said or _PRAISED.search(said) is None) and _OF_OTHERS.search(
        said
    ) is not None


def _stated(said: str, words: list[str]) -> bool:
    """Whether a short remark is a statement or a farewell."""
    if _FAREWELL.match(said):
        return True
    if _ABOUT_IT.match(said):
        return _SPEAKS_FOR_IT.match(said) is not None
    if _I.match(said):
        return _I_ARGUE.match(said) is not None
    if _CONDITION.match(said) and "," not in said:
        return False  # and nothing that follows from it
    if said[:1] in (MINE, OTHER):
        return True
    if _OPENING.match(said):
        return not _FRAGMENT.match(said) or any(map(_VERB.fullmatch, words[1:])) or _praises(said)
    if re.match(r"\w+,|(?:just|only|merely|sort|kind|no|please)\b", said):
        return False  # an interjection, or not quite
    verbs = words[1:] if words[0].endswith("ing") else words[1:4]
    return any(map(_VERB.fullmatch, verbs))


_FRAGMENT = Pattern(r"(?:the|as|an?|depending|another|other|in|on|by|at|to|for|with)\b")


def _praises(said: str) -> bool:
    return _GOODLY.search(said) is not None


_GOODLY = Pattern(rf"\b(?:{_GOOD}|before|always|planned|(?:they|we|he|she|both) \w+)\b")
_ASIDE = Pattern(
    rf"(?:(?:the|my|a|an|our|still|clearly|simply|always|by far|again) )*(?:{_GOOD})\b|"
    r"as (?:before|always|usual|planned|ever|above|well|promised|agreed|it|this|they|the|i)\b|"
    r"again\b|"
    r"same (?:as|again)\b|(?:for|in) (?:this|the|now|my|short|total|order|round)\b|"
    r"to (?!be\b)\w+\b|please\b|"
    r"(?:with|by|from) (?:them|him|her|us|my|our|this|that|both)\b|like\b|\d+ points?\b|"
    r"(?:\w+ )?because\b|since\b|given\b|so\b|thus\b|"
    r"therefore\b|hence\b|and\b|"
    r"both\b|they\b|their\b|he\b|she\b|we\b|no one\b|everyone\b|definitely\b|certainly\b|"
    r"obviously\b|"
    r"surely\b|absolutely\b|final\w*\b|period\b|full stop\b|always\b|while\b|where\b|not only\b|"
    r"knowing\b|hoping\b|expecting\b|trusting\b|playing\b|keeping\b|following\b|maximi[sz]ing\b"
)


def fits_behind(said: str) -> bool:
    """Whether a part of the sentence that follows a chosen name leaves the name as it is."""
    said = said.strip(_EDGES)
    if _DARK.search(said):
        return False
    words = _WORD.findall(said)
    if not words or len(words) > SHORT or _FAREWELL.match(said):
        return True
    if _SLIP.search(said):
        return False
    if _ABOUT_IT.match(said) or _I.match(said):
        return _stated(said, words)
    if _CONDITION.match(said):
        return False
    if said.startswith(("the ", "a ", "an ")):
        return True  # an apposition
    return (
        _ASIDE.match(said) is not None
        or MINE in said[:2]
        or (len(words) > 2 and _stated(said, words))
    )
