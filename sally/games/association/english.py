"""Word forms (lower case, regular inflections, compounds) and the vocabulary."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files

ENDINGS = ("s", "es", "ed", "er", "ers", "ing", "ings", "y", "ly", "ist", "ists", "less", "ful")
PREFIXES = frozenset({"fore", "mis", "out", "over", "re", "un", "under"})
POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s\b")
SPELLED = re.compile(r"\b(?:[a-z][^a-z0-9]+){2,}[a-z]\b")  # b-a-n-k


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the words a listener with a fixed vocabulary can guess, in alphabetical order."""
    return tuple(files(__package__).joinpath("vocabulary.txt").read_text("utf-8").split())


@cache
def known_words() -> frozenset[str]:
    """Return the vocabulary as a set."""
    return frozenset(vocabulary())


SHORT = 64  # characters of texts that are cached: words and short clues recur


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, without accents, possessives or punctuation.

    Consecutive single letters count as one word, so spelling a word out counts as saying it.
    """
    return _short_words(text) if len(text) <= SHORT else _words(text)


def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    plain = POSSESSIVE.sub("", plain)
    return tuple(re.findall(r"[a-z0-9]+", SPELLED.sub(_join_letters, plain)))


_short_words = lru_cache(maxsize=8192)(_words)


@cache
def forms(word: str) -> frozenset[str]:
    """Return a word and its regular English inflections."""
    stems = {word}
    if re.search(r"[^aeiou][aeiou][^aeiouwxy]$", word):
        stems.add(word + word[-1])  # bat, batting
    if word.endswith("e"):
        stems.add(word[:-1])  # note, noting
    if re.search(r"[^aeiou]y$", word):
        stems.add(word[:-1] + "i")  # fly, flies
    inflected = {stem + ending for stem in stems for ending in ENDINGS}
    return frozenset(inflected | {word})


def is_compound(word: str, target: str) -> bool:
    """Return whether a word is the target joined with another word or a prefix."""
    words_known = known_words()
    head = word.removesuffix(target) if word.endswith(target) else ""
    tail = word.removeprefix(target) if word.startswith(target) else ""
    return head in words_known or head in PREFIXES or tail in words_known


def _join_letters(run: re.Match[str]) -> str:
    return re.sub(r"[^a-z]", "", run[0])
