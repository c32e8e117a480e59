"""The exact rules of the ambiguity game: one clue, two listeners, four outcomes.

Source: kang2026, appendix C.4. That a clue may not contain the word or its forms is our rule.
"""

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

Outcome = Literal["win", "leak", "loss", "miss"]
OUTCOMES: tuple[Outcome, ...] = ("win", "leak", "loss", "miss")

ENDINGS = ("s", "es", "ed", "er", "ers", "ing", "ings", "y", "ly", "ist", "ists", "less", "ful")
PREFIXES = frozenset({"fore", "mis", "out", "over", "re", "un", "under"})
ARTICLES = {"a", "an", "the"}
POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s\b")
SPELLED = re.compile(r"\b(?:[a-z][^a-z0-9]+){2,}[a-z]\b")  # b-a-n-k


class Item(msgspec.Struct, frozen=True):
    """One problem: the word, what the teammate is told, what the opponent is told."""

    word: str
    b_hint: str
    c_hint: str
    also: tuple[str, ...] = ()  # irregular forms of the word


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    b: str
    c: str
    also: tuple[str, ...] = ()


@cache
def items() -> tuple[Item, ...]:
    """The hundred problems, in the order of the file."""
    entries = msgspec.convert(tomllib.loads(_text("words.toml")), dict[str, _Entry])
    return tuple(Item(word, entry.b, entry.c, entry.also) for word, entry in entries.items())


@cache
def vocabulary() -> tuple[str, ...]:
    """The words a listener with a fixed vocabulary can guess, in alphabetical order."""
    return tuple(_text("vocabulary.txt").split())


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in small letters, without accents, possessives and signs.

    Single letters in a row count as one word, so spelling a word out is saying it.
    """
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    plain = POSSESSIVE.sub("", plain)
    return tuple(re.findall(r"[a-z0-9]+", SPELLED.sub(_joined, plain)))


@cache
def forms(word: str) -> frozenset[str]:
    """A word and what the regular endings of English make of it."""
    stems = {word}
    if re.search(r"[^aeiou][aeiou][^aeiouwxy]$", word):
        stems.add(word + word[-1])  # bat, batting
    if word.endswith("e"):
        stems.add(word[:-1])  # note, noting
    if re.search(r"[^aeiou]y$", word):
        stems.add(word[:-1] + "i")  # fly, flies
    made = {stem + ending for stem in stems for ending in ENDINGS}
    return frozenset(made | {word})


def objection(item: Item, clue: str) -> str | None:
    """Why a clue is not allowed, or None if it is."""
    said = words_of(clue)
    if not said:
        return "The clue has no words; say at least one."
    banned = forms(item.word).union(*(forms(form) for form in item.also))
    for word in said:
        if word in banned or _is_compound(word, item.word):
            return f"The clue may not use '{word}': it contains the word to be guessed."
    return None


def is_right(item: Item, guess: str) -> bool:
    """Whether a guess is the word, in any case, with or without article, one or many."""
    said = [word for word in words_of(guess) if word not in ARTICLES]
    plural = {item.word + "s", item.word + "es", re.sub(r"y$", "ies", item.word)}
    return len(said) == 1 and said[0] in {item.word, *plural}


def outcome(teammate_right: bool, opponent_right: bool) -> Outcome:
    """What a clue achieved: win, leak (both right), loss (only the opponent), miss (neither)."""
    if teammate_right:
        return "leak" if opponent_right else "win"
    return "loss" if opponent_right else "miss"


def judge(item: Item, teammate_guess: str, opponent_guess: str) -> Outcome:
    """The outcome of two guesses."""
    return outcome(is_right(item, teammate_guess), is_right(item, opponent_guess))


def _is_compound(word: str, target: str) -> bool:
    """Whether a word is the target joined with another word, or with a prefix before it."""
    known = _known_words()
    before = word.removesuffix(target) if word.endswith(target) else ""
    after = word.removeprefix(target) if word.startswith(target) else ""
    return before in known or before in PREFIXES or after in known


@cache
def _known_words() -> frozenset[str]:
    return frozenset(vocabulary())


def _joined(run: re.Match[str]) -> str:
    return re.sub(r"[^a-z]", "", run[0])


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
