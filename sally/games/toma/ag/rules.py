"""The exact rules of the ambiguity game: one clue, two listeners, four outcomes.

Source: kang2026, appendix C.4. The rule that a clue may not contain the word or its forms is not
from the paper.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from sally.games.association.english import forms, is_compound, words_of

Outcome = Literal["win", "leak", "loss", "miss"]

ARTICLES = {"a", "an", "the"}


class Item(msgspec.Struct, frozen=True):
    """One problem: the word, the teammate's hint and the opponent's hint."""

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
    """Return the hundred problems in the order of the file."""
    entries = msgspec.convert(tomllib.loads(_text("words.toml")), dict[str, _Entry])
    return tuple(Item(word, entry.b, entry.c, entry.also) for word, entry in entries.items())


def objection(item: Item, clue: str) -> str | None:
    """Return why a clue is not allowed, or None if it is allowed."""
    clue_words = words_of(clue)
    if not clue_words:
        return "The clue has no words; say at least one."
    banned = forms(item.word).union(*(forms(form) for form in item.also))
    for word in clue_words:
        if word in banned or is_compound(word, item.word):
            return f"The clue may not use '{word}': it contains the word to be guessed."
    return None


def is_right(item: Item, guess: str) -> bool:
    """Return whether a guess is the secret word, ignoring case, article and plural."""
    guess_words = [word for word in words_of(guess) if word not in ARTICLES]
    plural = {item.word + "s", item.word + "es", re.sub(r"y$", "ies", item.word)}
    return len(guess_words) == 1 and guess_words[0] in {item.word, *plural}


def outcome(teammate_right: bool, opponent_right: bool) -> Outcome:
    """Return the outcome: win, leak (both right), loss (only the opponent) or miss (neither)."""
    if teammate_right:
        return "leak" if opponent_right else "win"
    return "loss" if opponent_right else "miss"


def judge(item: Item, teammate_guess: str, opponent_guess: str) -> Outcome:
    """Return the outcome of two guesses."""
    return outcome(is_right(item, teammate_guess), is_right(item, opponent_guess))


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
