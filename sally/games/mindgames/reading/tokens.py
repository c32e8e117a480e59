"""Text to tokens: words, the proposals and attributes they name, and where sentences end."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import msgspec

from sally.games.mindgames.claims import Names
from sally.games.mindgames.reading import lexicon
from sally.games.mindgames.reading.lexicon import Allowed

Aliases = tuple[tuple[str, tuple[str, ...]], ...]
Sort = Literal["word", "proposal", "attribute", "direction", "deny", "touch", "mark"]

GENERIC = lexicon.word_set(
    "choice choices student students school public development teacher economic production "
    "advancement opportunities environment preservation lunar and to of the for in on level"
)
STOP = lexicon.word_set("and to of the for in a")
NOUN = re.compile(
    r"(?:proposals?|prop?[ao]r?s[ae]ls?|proposition|props?|options?|choices?|plans?|experiments?)"
)


class Token(msgspec.Struct, frozen=True):
    """One word or name: `rows` if proposals, `column` if an attribute, `allowed` if a direction."""

    sort: Sort
    text: str
    rows: tuple[int, ...] = ()
    column: int = -1
    allowed: Allowed = ()
    inverse: bool = False


class Sentence(msgspec.Struct, frozen=True):
    """A sentence as tokens, with its text; `asks` if it ends in a question mark."""

    text: str
    tokens: tuple[Token, ...]
    asks: bool


SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019", "'"),
        **dict.fromkeys("\u201c\u201d", '"'),
        **dict.fromkeys("\u2013\u2014", " - "),
        **dict.fromkeys("\u2191\u2b06", " increases "),
        **dict.fromkeys("\u2193\u2b07", " decreases "),
        **dict.fromkeys("\u2192\u27f9", " : "),
        **dict.fromkeys("\xa0\\*_`#\u2705\u274c", " "),
        "\u2011": "-",
    }
)
NOT = re.compile(r"(?i)\b(do|does|did|is|are|was|would|could|should|has|have|wo)n'?t\b")


def plain(text: str) -> str:
    """The text with typographic signs made plain, emphasis removed and denials spelled out."""
    text = text.translate(SIGNS)
    text = re.sub(r"(?<=[a-z])\s*=\s*(?=$|\n|[,;|])", " unchanged ", text).replace("=", " : ")
    text = re.sub(r"(?i)\bcan(?:not|'?t)\b", "can not", NOT.sub(r"\1 not", text))
    text = re.sub(r"(?i)\bnot (?:only|just|merely)\b", "", text)
    text = re.sub(r"\s*\n\s*(?=[a-z])", " ", text)
    return re.sub(r"[ \t]+", " ", text)


def distance(one: str, two: str) -> int:
    """How many letters must come, go, change or swap places to turn one word into the other."""
    before: list[int] = []
    last = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(two, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def stem(word: str) -> str:
    """A word without its plural or possessive ending."""
    word = word.removesuffix("'s").removesuffix("'")
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


@lru_cache(maxsize=65536)
def alike(word: str, known: str) -> bool:
    """The same word, give or take its ending and, if it is long, a slip or two of the pen."""
    one, two = stem(word), stem(known)
    if one == two:
        return True
    if min(len(one), len(two)) < 5 or one[0] != two[0]:
        return False
    return distance(one, two) <= (1 if len(two) < 8 else 2)


class Vocabulary(msgspec.Struct, frozen=True):
    """The names of one game, ready to be found in text."""

    letters: tuple[str, ...]
    generic: tuple[tuple[str, int], ...]  # words too common to stand for the attribute alone
    phrases: tuple[tuple[tuple[str, ...], int, bool], ...]  # longest first; the flag inverts


@lru_cache(maxsize=64)
def vocabulary(names: Names, aliases: Aliases) -> Vocabulary:
    """Every phrase that stands for an attribute: its name, its telling words, its aliases."""
    phrases: dict[tuple[str, ...], tuple[int, bool]] = {}
    content = [[w for w in a.lower().split() if w not in STOP] for a in names.attributes]
    for column, attribute in enumerate(names.attributes):
        words = content[column]
        phrases[tuple(words)] = (column, False)
        for alias in _other_words(attribute, aliases):
            inverse = alias.startswith("-")
            phrase = tuple(w for w in alias.lstrip("-").lower().split() if w not in STOP)
            phrases[phrase] = (column, inverse)
        for i, word in enumerate(words):
            shared = any(word in other for c, other in enumerate(content) if c != column)
            if not shared and word not in GENERIC:
                phrases.setdefault((word,), (column, False))
            for other in words[i + 1 :]:
                phrases.setdefault((word, other), (column, False))
                phrases.setdefault((other, word), (column, False))
    ordered = sorted(phrases.items(), key=lambda item: (-len(item[0]), item[0]))
    return Vocabulary(
        letters=tuple(p.lower() for p in names.proposals),
        generic=tuple(
            (word, column)
            for column, words in enumerate(content)
            for word in words
            if word in GENERIC and not any(word in other for other in content if other != words)
        ),
        phrases=tuple((phrase, column, inverse) for phrase, (column, inverse) in ordered),
    )


def _other_words(attribute: str, aliases: Aliases) -> tuple[str, ...]:
    """The aliases of an attribute, which may itself be listed as another one's alias."""
    return tuple(
        word for name, words in aliases if attribute in (name, *words) for word in (name, *words)
    )


WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]|[A-Za-z]|[0-9]+|[,;:/&+|()\[\]\-\"]")
END = re.compile(
    r"(?<=[.!?;])(?<!vs\.)(?<!e\.g\.)(?<!i\.e\.)\s+|(?<=[a-z][.?!])(?=[A-Z])|\n+|\s\|\s"
)


def sentences(text: str, words: Vocabulary) -> Iterator[Sentence]:
    """The sentences of a message with their names found."""
    for part in END.split(plain(text)):
        if part and part.strip():
            yield Sentence(
                text=part.strip(),
                tokens=tuple(_tokens(part.strip(), words)),
                asks=part.strip().rstrip(")\"' ").endswith("?"),
            )


def _tokens(text: str, words: Vocabulary) -> Iterator[Token]:
    raw = [m.group() for m in WORD.finditer(text)]
    raw = [corrected(piece) for w in raw for piece in _unglued(w)]
    i = 0
    while i < len(raw):
        found = _attribute(raw, i, words)
        if found:
            yield found[0]
            i += found[1]
            continue
        letter = _letter(raw, i, words)
        if letter is not None:
            yield Token("proposal", raw[i], rows=(letter,))
            i += 1
            continue
        yield _plain_token(raw, i)
        i += 1


def _unglued(word: str) -> Iterator[str]:
    """Possessive endings and hyphens become tokens of their own."""
    if word.lower().endswith("'s") and len(word) > 2:
        yield word[:-2]
        yield "'s"
    elif "-" in word and len(word) > 1:
        for piece in word.split("-"):
            if piece:
                yield piece
    else:
        yield word


def _attribute(raw: list[str], i: int, words: Vocabulary) -> tuple[Token, int] | None:
    """The attribute named from position i on, and how many words its name takes."""
    for phrase, column, inverse in words.phrases:
        taken = _matches(raw, i, phrase)
        if taken:
            text = " ".join(raw[i : i + taken]).lower()
            return Token("attribute", text, column=column, inverse=inverse), taken
    return _generic(raw, i, words)


def _generic(raw: list[str], i: int, words: Vocabulary) -> tuple[Token, int] | None:
    """A common word of an attribute's name, right after a word that moves it: `limits choice`."""
    if i and lexicon.MOVERS.match(raw[i - 1].lower()):
        for word, column in words.generic:
            if stem(raw[i].lower()) == stem(word):
                return Token("attribute", raw[i].lower(), column=column), 1
    return None


def _matches(raw: list[str], i: int, phrase: tuple[str, ...]) -> int:
    at = i
    for n, word in enumerate(phrase):
        while n and at < len(raw) and raw[at].lower() in STOP | {"&", "/", "'s"}:
            at += 1
        if at >= len(raw) or not alike(raw[at].lower(), word):
            return 0
        at += 1
    return at - i


AFTER_LETTER = lexicon.word_set(
    "will would is has have had does do can could may might also only and or , : / ' 's increases "
    "decreases increase decrease reduces boosts lowers raises improves enhances both because since "
    "as over than then instead if but - ) | which that seems looks wins offers gives keeps makes "
    "too please the"
)
BEFORE_LETTER = lexicon.word_set(
    "proposal proposals option options choice choices prop props plan plans experiment experiments "
    "choose choosing chose pick picking prefer preferring select selecting over than between vs "
    "versus and or , / unlike support favor favour"
)


def _letter(raw: list[str], i: int, words: Vocabulary) -> int | None:
    """The proposal named by a lone letter; an article `a` is none."""
    word = raw[i]
    if len(word) != 1 or word.lower() not in words.letters:
        return None
    row = words.letters.index(word.lower())
    if word.lower() != "a":
        return row
    before = raw[i - 1].lower() if i else ""
    after = raw[i + 1].lower() if i + 1 < len(raw) else ""
    named = NOUN.fullmatch(before) is not None
    if named and (word == "A" or after in AFTER_LETTER or not after or len(after) == 1):
        return row
    if word == "A":
        starts = i == 0 or before in {'"', ":", "-", "("}
        if not starts:
            return row
        return row if after in AFTER_LETTER or not after or _verb(after) else None
    if named:
        return row if not re.match(r"[a-z]{3,}", after) or _moves(after) else None
    neighbours = after == "" or (
        after in AFTER_LETTER and after not in {"the", "both", "only", "increase", "decrease"}
    )
    return row if neighbours and (before in BEFORE_LETTER or i == 0) else None


def _verb(word: str) -> bool:
    """Does the word look like a verb in the third person: `leaves`, not `less` or `obvious`?"""
    return _moves(word) or bool(
        re.fullmatch(r"[a-z]{3,}(?<!s)(?<!ou)(?<!es)s|[a-z]+[vktlrc]es", word)
    )


def _moves(word: str) -> bool:
    return any(
        p.match(word)
        for p in (lexicon.RISES, lexicon.FALLS, lexicon.STAYS, lexicon.KEEPS, lexicon.DENIES)
    )


SLIPS = (
    "increase", "decrease", "increases", "decreases", "increasing", "decreasing", "proposal",
    "proposals", "preferences", "preference", "effect",
)  # fmt: skip


@lru_cache(maxsize=4096)
def corrected(word: str) -> str:
    """The word, or the one of a few common words that it seems to be a slip for."""
    low = word.lower()
    if len(low) < 5 or low in SLIPS:
        return word
    near = [r for r in SLIPS if low[0] == r[0] and distance(low, r) <= (1 if len(r) < 8 else 2)]
    return near[0] if near and not _moves(low) else word


def _plain_token(raw: list[str], i: int) -> Token:
    word = raw[i].lower()
    if not word[0].isalpha() and word != "n't":
        return Token("mark", word)
    known: list[tuple[re.Pattern[str], Allowed]] = [
        (lexicon.RISES, lexicon.UP),
        (lexicon.FALLS, lexicon.DOWN),
        (lexicon.STAYS, lexicon.SAME),
        (lexicon.KEEPS, lexicon.NOT_DOWN),
    ]
    for pattern, allowed in known:
        if pattern.match(word):
            return Token("direction", word, allowed=allowed)
    if lexicon.DENIES.match(word):
        return Token("deny", word)
    if lexicon.TOUCHES.match(word):
        return Token("touch", word)
    return Token("word", word)
