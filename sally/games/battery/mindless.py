"""Mindless rules for any battery; on a good set of items, each of them scores at chance level.

The rules were written after looking at the published items (see the audit page) and are applied to
the generated items as a test of the generators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from sally.games.battery.items import Item

Rule = Callable[[Item], tuple[int, ...]]  # the options that the rule finds equally good
WORD = re.compile(r"[\w']+")
NEGATION = re.compile(r"\b(?:not|no|never|nothing|nobody|without|unaware|cannot)\b|n't", re.I)
COMMON = frozenset(
    (
        *("the", "a", "an", "is", "are", "was", "were", "to", "of", "in", "on", "at", "and", "or"),
        *("that", "it", "he", "she", "they", "him", "her", "his", "their", "believes", "believe"),
        *("thinks", "think", "will", "does", "do", "did", "by", "with", "for", "as", "from"),
    )
)


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in WORD.findall(text))


@lru_cache(maxsize=4096)
def content(text: str) -> frozenset[str]:
    """Return the words of a text without common words."""
    return frozenset(words_of(text)) - COMMON


def _best(scores: Sequence[float]) -> tuple[int, ...]:
    top = max(scores)
    return tuple(n for n, score in enumerate(scores) if score >= top - 1e-9)


def _distinct(item: Item) -> list[frozenset[str]]:
    """Return, for each option, the words that it does not share with all other options."""
    option_words = [content(option) for option in item.options]
    shared = frozenset.intersection(*option_words)
    return [words - shared for words in option_words]


def _mentions(text: str, words: frozenset[str]) -> list[int]:
    return [n for n, word in enumerate(words_of(text)) if word in words]


def first_as_printed(item: Item) -> tuple[int, ...]:
    """Choose the first option."""
    return (0,)


def last_as_printed(item: Item) -> tuple[int, ...]:
    """Choose the last option."""
    return (len(item.options) - 1,)


def longest(item: Item) -> tuple[int, ...]:
    """Choose the option with the most letters."""
    return _best([len(option) for option in item.options])


def shortest(item: Item) -> tuple[int, ...]:
    """Choose the option with the fewest letters."""
    return _best([-len(option) for option in item.options])


def most_negations(item: Item) -> tuple[int, ...]:
    """Choose the option with the most negations."""
    return _best([len(NEGATION.findall(option)) for option in item.options])


def most_words(item: Item) -> tuple[int, ...]:
    """Choose the option with the largest share of its words in the story."""
    story = content(item.story)
    return _best([len(w & story) / len(w) if (w := content(o)) else 0.0 for o in item.options])


def most_mentioned(item: Item) -> tuple[int, ...]:
    """Choose the option whose distinctive words occur most often in the story."""
    return _best([len(_mentions(item.story, words)) for words in _distinct(item)])


def _choose_named(text: str, item: Item, last: bool) -> tuple[int, ...]:
    mentions = [_mentions(text, words) for words in _distinct(item)]
    if last:
        return _best([max(places, default=-1) for places in mentions])
    return _best([-min(places, default=10**6) for places in mentions])


def named_first(item: Item) -> tuple[int, ...]:
    """Choose the option whose distinctive words come first in the story."""
    return _choose_named(item.story, item, last=False)


def named_last(item: Item) -> tuple[int, ...]:
    """Choose the option whose distinctive words come last in the story."""
    return _choose_named(item.story, item, last=True)


def first_in_question(item: Item) -> tuple[int, ...]:
    """Choose the option whose distinctive words come first in the question."""
    return _choose_named(item.question, item, last=False)


def negation(item: Item) -> tuple[int, ...]:
    """Choose the initial state if the last sentence has a negation, else any other option."""
    old = named_first(item) if item.task is None else old_state(item)
    if NEGATION.search(last_sentence(item.story)):
        return old
    return tuple(n for n in range(len(item.options)) if n not in old) or old


def old_state(item: Item) -> tuple[int, ...]:
    """Choose the option that seems to describe the initial state of the story.

    This is the option that the question names first. If that does not decide, or if the question is
    about an action, it is the option with the largest share of its words in the story.
    """
    acts = item.task is not None and "action" in item.task
    chosen = () if acts else first_in_question(item)
    return chosen if 0 < len(chosen) < len(item.options) else most_words(item)


def last_sentence(story: str) -> str:
    return re.split(r"(?<=[.!?])\s+", story.strip())[-1]


SURFACE: Mapping[str, Rule] = {
    rule.__name__: rule
    for rule in (
        first_as_printed,
        last_as_printed,
        longest,
        shortest,
        most_negations,
        most_words,
        most_mentioned,
        named_first,
        named_last,
        first_in_question,
        old_state,
        negation,
    )
}


def share(rule: Rule, items: Sequence[Item]) -> float:
    """Return the percentage of items that a rule answers correctly; if the rule chooses k options,
    the right one counts as 1/k."""
    hits = 0.0
    for item in items:
        chosen = rule(item)
        hits += (item.answer in chosen) / len(chosen)
    return 100 * hits / len(items)


def inverse_share(rule: Rule, items: Sequence[Item]) -> float:
    """Return the percentage of items answered correctly by avoiding the rule's choice; if k options
    remain, the right one counts as 1/k."""
    hits = 0.0
    for item in items:
        chosen = rule(item)
        others = [n for n in range(len(item.options)) if n not in chosen]
        picked = others or list(range(len(item.options)))
        hits += (item.answer in picked) / len(picked)
    return 100 * hits / len(items)


def chance(items: Sequence[Item]) -> float:
    """Return the expected percentage of correct answers of uniform guesses."""
    return 100 * sum(1 / len(item.options) for item in items) / len(items)
