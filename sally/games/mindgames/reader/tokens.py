"""From text to tokens: words, names, sentences, and groups of proposals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import msgspec

from sally.games.mindgames.claims import Names
from sally.games.mindgames.reader import lexicon
from sally.games.mindgames.reader.lexicon import JOINS, NOUNS, Allowed

NOUN = re.compile(
    r"(?:proposals?|prop?[ao]r?s[ae]ls?|proposition|props?|options?|choices?|plans?|experiments?)"
)
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
# After these words a clause begins, so an `a` followed by a verb is its subject.
CLAUSE = lexicon.word_set("as because since while whereas but that so although though and , ; if")
FINITE = lexicon.word_set(
    "will would is has had does can could may might increases decreases reduces boosts lowers "
    "raises improves enhances hurts harms helps wins keeps makes"
)
# After an article these are nouns: a rise, a drop.
AMOUNTS = lexicon.word_set("increase decrease boost drop rise decline reduction")


def letter(raw: list[str], i: int, letters: tuple[str, ...]) -> int | None:
    """Return the row of the proposal named by a single letter; None for the article `a`."""
    word = raw[i]
    if len(word) != 1 or word.lower() not in letters:
        return None
    row = letters.index(word.lower())
    if word.lower() != "a":
        return row
    word_in_front = raw[i - 1].lower() if i else ""
    next_word = raw[i + 1].lower() if i + 1 < len(raw) else ""
    follows_noun = NOUN.fullmatch(word_in_front) is not None
    if not follows_noun and next_word in AMOUNTS and raw[i + 2 : i + 3] == ["in"]:
        return None  # `a increase in trust` is a rise, not an effect of A
    return row if _is_name(word, word_in_front, next_word, i == 0, follows_noun) else None


def _is_name(
    word: str, word_in_front: str, next_word: str, first: bool, follows_noun: bool
) -> bool:
    if follows_noun and (
        word == "A" or next_word in AFTER_LETTER or not next_word or len(next_word) == 1
    ):
        return True
    if word == "A":
        starts = first or word_in_front in {'"', ":", "-", "("}
        return not starts or next_word in AFTER_LETTER or not next_word or _verb(next_word)
    if follows_noun:
        return not re.match(r"[a-z]{3,}", next_word) or moves(next_word)
    if word_in_front in CLAUSE and next_word in FINITE:
        return True
    neighbours = next_word == "" or (
        next_word in AFTER_LETTER
        and next_word not in {"the", "both", "only", "increase", "decrease"}
    )
    return neighbours and (word_in_front in BEFORE_LETTER or first)


def _verb(word: str) -> bool:
    """Return whether a word looks like a verb in the third person: `leaves`, not `less`."""
    return moves(word) or bool(
        re.fullmatch(r"[a-z]{3,}(?<!s)(?<!ou)(?<!es)s|[a-z]+[vktlrc]es", word)
    )


def moves(word: str) -> bool:
    """Return whether a word says that something rises, falls or stays the same, or denies
    something."""
    return any(
        p.match(word)
        for p in (lexicon.RISES, lexicon.FALLS, lexicon.STAYS, lexicon.KEEPS, lexicon.DENIES)
    )


Aliases = tuple[tuple[str, tuple[str, ...]], ...]
Sort = Literal["word", "proposal", "attribute", "direction", "deny", "touch", "mark"]

GENERIC = lexicon.word_set(
    "choice choices student students school public development teacher economic production "
    "advancement opportunities environment preservation lunar and to of the for in on level"
)
STOP = lexicon.word_set("and to of the for in a")


class Token(msgspec.Struct, frozen=True):
    """One word or name of a message. `rows` is set for proposals and `column` for attributes;
    `allowed` is set for words of change, such as `raises`: the changes that the word may mean (1
    for up, -1 for down, 0 for none)."""

    sort: Sort
    text: str
    rows: tuple[int, ...] = ()
    column: int = -1
    allowed: Allowed = ()
    inverse: bool = False
    plain: bool = True  # an attribute by a word of its own name, a proposal without `or` or `it`


class Sentence(msgspec.Struct, frozen=True):
    """A sentence as tokens and as text; `asks` is true if it ends in a question mark."""

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
    """Return the text with simple punctuation, without emphasis, and with negations spelled out."""
    text = text.translate(SIGNS)
    text = re.sub(r"(?<=[a-z])\s*=\s*(?=$|\n|[,;|])", " unchanged ", text).replace("=", " : ")
    text = re.sub(r"(?i)\bcan(?:not|'?t)\b", "can not", NOT.sub(r"\1 not", text))
    text = re.sub(r"(?i)\bnot (?:only|just|merely)\b", "", text)
    return re.sub(r"[ \t]+", " ", _join_lines(text))


def _join_lines(text: str) -> str:
    """Join lines that begin with a lower-case letter to the previous line."""
    lines = [line for raw in text.split("\n") if (line := raw.strip())]
    return "".join((" " if line[0].islower() else "\n") + line for line in lines).strip()


def distance(first: str, two: str) -> int:
    """Return the edit distance between two words, counting a swap of adjacent letters as one
    edit."""
    row_before: list[int] = []
    last = list(range(len(two) + 1))
    for i, a in enumerate(first, 1):
        row = [i]
        for j, b in enumerate(two, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and first[i - 2] == b:
                cost = min(cost, row_before[j - 2] + 1)
            row.append(cost)
        row_before, last = last, row
    return last[-1]


def stem(word: str) -> str:
    """Return a word without its plural or possessive ending."""
    word = word.removesuffix("'s").removesuffix("'")
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


@lru_cache(maxsize=65536)
def alike(word: str, known_word: str) -> bool:
    """Return whether two words are equal apart from endings and, in long words, one or two
    typing errors."""
    first_stem, two = stem(word), stem(known_word)
    if first_stem == two:
        return True
    if min(len(first_stem), len(two)) < 5 or first_stem[0] != two[0]:
        return False
    return distance(first_stem, two) <= (1 if len(two) < 8 else 2)


Phrase = tuple[tuple[str, ...], int, bool]  # its words, its column, and whether it inverts


class Vocabulary(msgspec.Struct, frozen=True, cache_hash=True):
    """The names of one game, prepared for finding them in text."""

    letters: tuple[str, ...]
    attribute_words: tuple[tuple[str, ...], ...]  # the words of each attribute's name
    generic: tuple[tuple[str, int], ...]  # words too common to stand for the attribute alone
    phrases: tuple[Phrase, ...]  # longest first


@lru_cache(maxsize=64)
def vocabulary(names: Names, aliases: Aliases) -> Vocabulary:
    """Return every phrase that denotes an attribute: its name, distinctive words and aliases."""
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
            shared = any(
                word in other_words for c, other_words in enumerate(content) if c != column
            )
            if not shared and word not in GENERIC:
                phrases.setdefault((word,), (column, False))
            for later_word in words[i + 1 :]:
                phrases.setdefault((word, later_word), (column, False))
                phrases.setdefault((later_word, word), (column, False))
    ordered = sorted(phrases.items(), key=lambda item: (-len(item[0]), item[0]))
    return Vocabulary(
        letters=tuple(p.lower() for p in names.proposals),
        attribute_words=tuple(tuple(words) for words in content),
        generic=tuple(
            (word, column)
            for column, words in enumerate(content)
            for word in words
            if word in GENERIC
            and not any(word in other_words for other_words in content if other_words != words)
        ),
        phrases=tuple((phrase, column, inverse) for phrase, (column, inverse) in ordered),
    )


def _other_words(attribute: str, aliases: Aliases) -> tuple[str, ...]:
    """Return the aliases of an attribute; the attribute may itself be listed as an alias of
    another."""
    return tuple(
        word for name, words in aliases if attribute in (name, *words) for word in (name, *words)
    )


WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]|[A-Za-z]|[0-9]+|[,;:/&+|()\[\]\-\"]")
END = re.compile(
    r"(?<=[.!?;])(?<!vs\.)(?<!e\.g\.)(?<!i\.e\.)\s+|(?<=[a-z][.?!])(?=[A-Z])|\n+|\s\|\s"
)


MOST_TOKENS = 80  # in one piece; rules look around within a sentence, so this keeps the work linear


@lru_cache(maxsize=1024)  # a message is read on arrival and again as the past of the next one
def sentences(text: str, words: Vocabulary) -> tuple[Sentence, ...]:
    """Return the sentences of a message with names recognised; overlong sentences are split."""
    return tuple(_sentences(text, words))


def _sentences(text: str, words: Vocabulary) -> Iterator[Sentence]:
    for part in END.split(plain(text)):
        text_of = part.strip() if part else ""
        asks = text_of.rstrip(")\"' ").endswith("?")
        tokens = tuple(_tokens(text_of, words))
        for start in range(0, len(tokens), MOST_TOKENS):
            yield Sentence(text_of, tokens[start : start + MOST_TOKENS], asks)


def _tokens(text: str, words: Vocabulary) -> Iterator[Token]:
    raw = [m.group() for m in WORD.finditer(text)]
    raw = [correct_word(piece) for w in raw for piece in _split_word(w)]
    i = 0
    while i < len(raw):
        attribute_found = _attribute(raw, i, words)
        if attribute_found:
            yield attribute_found[0]
            i += attribute_found[1]
            continue
        row = letter(raw, i, words.letters)
        if row is not None:
            yield Token("proposal", raw[i], rows=(row,))
            i += 1
            continue
        yield _plain_token(raw, i)
        i += 1


def _split_word(word: str) -> Iterator[str]:
    """Yield a word's parts: possessive endings and hyphenated words become separate tokens."""
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
    """Return the attribute named at position i, and the number of words in its name."""
    for phrase, column, inverse in _phrases_beginning(raw[i].lower(), words):
        n_words = _matches(raw, i, phrase)
        if n_words:
            text = " ".join(raw[i : i + n_words]).lower()
            name_words = words.attribute_words[column]
            plain = not inverse and any(alike(w, n) for w in text.split() for n in name_words)
            return Token("attribute", text, column=column, inverse=inverse, plain=plain), n_words
    return _generic(raw, i, words)


@lru_cache(maxsize=16384)
def _phrases_beginning(word: str, words: Vocabulary) -> tuple[Phrase, ...]:
    """Return the phrases that can begin with this word."""
    return tuple(phrase for phrase in words.phrases if alike(word, phrase[0][0]))


def _generic(raw: list[str], i: int, words: Vocabulary) -> tuple[Token, int] | None:
    """Return the attribute meant by a generic word right after a direction word: `limits
    choice`."""
    if i and lexicon.MOVERS.match(raw[i - 1].lower()):
        for word, column in words.generic:
            if stem(raw[i].lower()) == stem(word):
                return Token("attribute", raw[i].lower(), column=column), 1
    return None


def _matches(raw: list[str], i: int, phrase: tuple[str, ...]) -> int:
    position = i
    for n, word in enumerate(phrase):
        while n and position < len(raw) and raw[position].lower() in STOP | {"&", "/", "'s"}:
            position += 1
        if position >= len(raw) or not alike(raw[position].lower(), word):
            return 0
        position += 1
    return position - i


SLIPS = (
    "increase", "decrease", "increases", "decreases", "increasing", "decreasing", "proposal",
    "proposals", "preferences", "preference", "effect",
)  # fmt: skip


@lru_cache(maxsize=4096)
def correct_word(word: str) -> str:
    """Return the word or, if it looks like a typing error, the common word that was probably
    meant."""
    low = word.lower()
    if len(low) < 5 or low in SLIPS or low in lexicon.NO_SLIPS:
        return word
    similar_words = [
        r for r in SLIPS if low[0] == r[0] and distance(low, r) <= (1 if len(r) < 8 else 2)
    ]
    return similar_words[0] if similar_words and not moves(low) else word


def _plain_token(raw: list[str], i: int) -> Token:
    word = raw[i].lower()
    if not word[0].isalpha() and word != "n't":
        return Token("mark", word)
    patterns: list[tuple[re.Pattern[str], Allowed]] = [
        (lexicon.RISES, lexicon.UP),
        (lexicon.FALLS, lexicon.DOWN),
        (lexicon.STAYS, lexicon.SAME),
        (lexicon.KEEPS, lexicon.NOT_DOWN),
    ]
    for pattern, allowed in patterns:
        if pattern.match(word):
            return Token("direction", word, allowed=allowed)
    if lexicon.DENIES.match(word):
        return Token("deny", word)
    if lexicon.TOUCHES.match(word):
        return Token("touch", word)
    return Token("word", word)


Rows = tuple[int, ...]
TELLING = lexicon.CONTRASTS | {"is"}
SKIPPED = lexicon.FILLERS | NOUNS


class Topic(msgspec.Struct, frozen=True):
    """The proposals and attributes that pronouns refer to."""

    rows: Rows = ()
    pair: Rows = ()
    columns: tuple[int, ...] = ()


def group_proposals(tokens: tuple[Token, ...], topic: Topic, proposals: int) -> tuple[Token, ...]:
    """Return tokens with lists of proposals joined and words like `others` or `it` resolved."""
    everyone = tuple(range(proposals))
    out: list[Token] = []
    last: Rows = topic.rows
    asides: list[int] = []
    i = 0
    while i < len(tokens):
        token = tokens[i]
        aside = _word_before(out) in lexicon.ASIDES
        next_words = [t.text for t in tokens[i + 1 : i + 4]]
        rows: Rows = ()
        end = i + 1
        if token.sort == "proposal":
            rows, end = _list(tokens, i, _word_before(out) not in lexicon.ASIDES | {"over"})
            last = last if aside and last else rows
        elif _means_others(token.text, next_words) and 0 < len(last) < proposals:
            if not any(t.sort == "proposal" for t in tokens[i : i + 5]):
                rows = tuple(r for r in everyone if r not in last)
        elif token.text in ("all", "each", "every") and any(w in NOUNS for w in next_words[:3]):
            rows = everyone
        elif token.text == "both" and topic.pair and not out:
            rows = topic.pair
        elif (
            token.text in ("it", "they", "its")
            and last
            and _opens_clause(out, asides)
            and (not out or out[-1].text in lexicon.BEFORE_IT)
            and _word_before(out) != "is"
        ):
            rows = last
        plain = token.sort == "proposal" and not any(t.text == "or" for t in tokens[i:end])
        plain = plain or (token.text in ("it", "its") and not _is_ambiguous(rows, out, topic))
        out.append(Token("proposal", token.text, rows=rows, plain=plain) if rows else token)
        if rows and aside:
            asides.append(len(out) - 1)
        i = end
    return tuple(out)


def _means_others(word: str, next_words: list[str]) -> bool:
    if word in ("others", "alternatives"):
        return True
    return word in lexicon.OTHERS and any(w in NOUNS | {"two", "ones"} for w in next_words[:2])


def _word_before(out: list[Token]) -> str:
    for token in reversed(out):
        if token.text in TELLING or token.text not in SKIPPED:
            return token.text
    return ""


def _opens_clause(out: list[Token], asides: list[int]) -> bool:
    """Return whether `it` can refer to a proposal here: only function words and asides precede
    it."""
    return not any(
        t.sort in ("proposal", "attribute", "direction")
        for position, t in enumerate(out)
        if position not in asides
    )


def _is_ambiguous(rows: Rows, out: list[Token], topic: Topic) -> bool:
    """Return whether `it` could also refer to another proposal."""
    rows_named = {row for t in out if t.sort == "proposal" for row in t.rows}
    return bool((rows_named or set(topic.pair)) - set(rows))


def _list(tokens: tuple[Token, ...], i: int, commas: bool) -> tuple[Rows, int]:
    """Return the proposals joined by commas, `and`, `or` and the like, and the position after
    them."""
    rows = list(tokens[i].rows)
    end = j = i + 1
    while j < len(tokens):
        if tokens[j].sort == "proposal":
            rows += tokens[j].rows
            end = j = j + 1
        elif tokens[j].text in JOINS and (commas or tokens[j].text != ","):
            j += 1
        else:
            break
    return tuple(sorted(set(rows))), end
