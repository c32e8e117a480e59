"""Lone letters: the proposal `A`, the article `a`, and how to tell them apart."""

import re

from sally.games.mindgames.reading import lexicon

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
# Words after which a new clause begins, so that an `a` with a verb after it is its subject.
CLAUSE = lexicon.word_set("as because since while whereas but that so although though and , ; if")
FINITE = lexicon.word_set(
    "will would is has had does can could may might increases decreases reduces boosts lowers "
    "raises improves enhances hurts harms helps wins keeps makes"
)
# A rise, a drop: after an article these are nouns.
AMOUNTS = lexicon.word_set("increase decrease boost drop rise decline reduction")


def letter(raw: list[str], i: int, letters: tuple[str, ...]) -> int | None:
    """The row of the proposal named by a lone letter; an article `a` is none."""
    word = raw[i]
    if len(word) != 1 or word.lower() not in letters:
        return None
    row = letters.index(word.lower())
    if word.lower() != "a":
        return row
    before = raw[i - 1].lower() if i else ""
    after = raw[i + 1].lower() if i + 1 < len(raw) else ""
    named = NOUN.fullmatch(before) is not None
    if not named and after in AMOUNTS and raw[i + 2 : i + 3] == ["in"]:
        return None  # `a increase in trust` is a rise, not what A does
    return row if _named(word, before, after, i == 0, named) else None


def _named(word: str, before: str, after: str, first: bool, named: bool) -> bool:
    if named and (word == "A" or after in AFTER_LETTER or not after or len(after) == 1):
        return True
    if word == "A":
        starts = first or before in {'"', ":", "-", "("}
        return not starts or after in AFTER_LETTER or not after or _verb(after)
    if named:
        return not re.match(r"[a-z]{3,}", after) or moves(after)
    if before in CLAUSE and after in FINITE:
        return True
    neighbours = after == "" or (
        after in AFTER_LETTER and after not in {"the", "both", "only", "increase", "decrease"}
    )
    return neighbours and (before in BEFORE_LETTER or first)


def _verb(word: str) -> bool:
    """Does the word look like a verb in the third person: `leaves`, not `less` or `obvious`?"""
    return moves(word) or bool(
        re.fullmatch(r"[a-z]{3,}(?<!s)(?<!ou)(?<!es)s|[a-z]+[vktlrc]es", word)
    )


def moves(word: str) -> bool:
    """Is it a word that moves an attribute, or denies?"""
    return any(
        p.match(word)
        for p in (lexicon.RISES, lexicon.FALLS, lexicon.STAYS, lexicon.KEEPS, lexicon.DENIES)
    )
