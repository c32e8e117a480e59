"""Exact probabilities of codes for declared listeners, and the best hints for a pair of them.

`t(hint, word)` is the association strength in a mind of `sally.games.association`. A listener that
compares hints with the keywords, or with earlier hints, weights a code by exp(sum of strengths /
HEAT); a Bayesian listener infers the unknown keyword of every digit, assuming an encoder that says
a word with probability proportional to exp(t / HEAT).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from sally.core.errors import unknown
from sally.games.association.english import vocabulary
from sally.games.association.lexicon import cards, open_rows, place, places, plain
from sally.games.association.minds import Mind, clue_strengths, mind_of, ties

Floats = npt.NDArray[np.float64]
Way = Literal["history", "bayes", "blind"]
Filed = tuple[tuple[str, ...], ...]  # by digit, the hints of past rounds

HEAT = 0.5
DIGITS = 4
LENGTH = 3
WIDTH = 25  # nearest words per digit among which the best hints are searched
WAYS: tuple[Way, ...] = ("history", "bayes", "blind")
CODES: tuple[int, ...] = tuple(
    100 * a + 10 * b + c for a, b, c in permutations(range(1, DIGITS + 1), LENGTH)
)
PLACES = np.array([[int(sign) - 1 for sign in str(code)] for code in CODES])
INDEX = {code: n for n, code in enumerate(CODES)}


def digits(code: int) -> tuple[int, ...]:
    """Return the digits of a code.

    >>> digits(421)
    (4, 2, 1)
    """
    return tuple(int(sign) for sign in str(code))


class Listener(msgspec.Struct, frozen=True):
    """A declared interceptor: how it interprets hints, and its associations."""

    way: Way = "history"
    mind: Mind = Mind()


def read_way(name: str) -> Way:
    """Return the way of interpreting hints with this name; raise BadInput if the name is
    unknown."""
    for known_way in WAYS:
        if known_way == name:
            return known_way
    raise unknown("way of listening of the interceptor", name, WAYS)


LISTENERS: Mapping[str, Way] = {
    "by_history": "history",
    "by_bayes": "bayes",
    "random": "blind",
    "channel": "blind",
    "first_left": "blind",
    "last_left": "blind",
}


def listener_of(player: str, params: Mapping[str, Any]) -> Listener | None:
    """Return the declared listener of a player with these parameters; None for other players."""
    listening = LISTENERS.get(player)
    return None if listening is None else Listener(listening, mind_of(params))


# --- how each hint speaks for each digit ----------------------------------------------------------


def _normal(weights: Floats) -> Floats:
    """Return probabilities that sum to 1 over the last axis, from log weights."""
    odds = np.exp(weights - weights.max(axis=-1, keepdims=True))
    probabilities: Floats = odds / odds.sum(axis=-1, keepdims=True)
    return probabilities


def by_keywords(mind: Mind, keywords: tuple[str, ...], hints: Sequence[str]) -> Floats:
    """Return log weights by hint and digit for a listener that knows the keywords."""
    columns = [place(word) for word in keywords]
    rows = np.array([clue_strengths(mind, hint)[columns] for hint in hints], dtype=np.float64)
    weights: Floats = rows / HEAT
    return weights


def by_history(mind: Mind, filed: Filed, hints: Sequence[str]) -> Floats:
    """Return log weights by hint and digit: the hint's mean association with the hints filed
    under the digit, or 0 if no hints are filed there."""
    weights = np.zeros((len(hints), DIGITS))
    for digit, past in enumerate(filed):
        if past:
            weights[:, digit] = [np.mean(_ties_to(mind, hint, past)) for hint in hints]
    return weights / HEAT


def _ties_to(mind: Mind, hint: str, words: Sequence[str]) -> list[float]:
    """Return the association strength of a hint with each word of `words`.

    For a word outside the vocabulary, the strength from the word to the hint is used; if the hint
    is outside the vocabulary too, the word is replaced by the vocabulary word that it suggests
    most.
    """
    row, vocabulary_places, hint_place = (
        clue_strengths(mind, hint),
        places(),
        places().get(plain(hint)),
    )
    strengths = []
    for word in words:
        column = vocabulary_places.get(plain(word))
        if column is None and hint_place is not None:
            strengths.append(float(clue_strengths(mind, word)[hint_place]))
        else:
            strengths.append(
                float(row[int(clue_strengths(mind, word).argmax()) if column is None else column])
            )
    return strengths


def by_bayes(mind: Mind, filed: Filed, hints: Sequence[str]) -> Floats:
    """Return the log probability of each hint under each digit, for a listener that does not know
    the keywords.

    Digits are treated as independent, although no two have the same keyword.
    """
    hint_odds = np.array([_hint_odds(mind, hint) for hint in hints])  # hint, card
    card_odds = np.array([keyword_odds(mind, past) for past in filed])  # digit, card
    log_odds: Floats = np.log(np.maximum(hint_odds @ card_odds.T, 1e-300))
    return log_odds


@lru_cache(maxsize=8)
def _sayings(mind: Mind) -> Floats:
    """Return, for each word and card, the probability that an encoder whose keyword is the card
    says the word."""
    strength = ties(mind)[:, [place(word) for word in cards()]].astype(np.float64) / HEAT
    odds = np.exp(strength - strength.max(axis=0))
    probabilities: Floats = odds / odds.sum(axis=0)
    return probabilities


@lru_cache(maxsize=4096)
def _hint_odds(mind: Mind, hint: str) -> Floats:
    row = places().get(plain(hint))
    if row is not None:
        known_odds: Floats = _sayings(mind)[row]
        return known_odds
    strength = (
        clue_strengths(mind, hint)[[place(word) for word in cards()]].astype(np.float64) / HEAT
    )
    all_ties = ties(mind)[:, [place(word) for word in cards()]].astype(np.float64) / HEAT
    free: Floats = np.exp(strength - all_ties.max(axis=0)) / np.exp(
        all_ties - all_ties.max(axis=0)
    ).sum(0)
    return free


@lru_cache(maxsize=4096)
def keyword_odds(mind: Mind, past: tuple[str, ...]) -> Floats:
    """Return the posterior over the cards given the hints filed under a digit; uniform if no
    hints are filed."""
    weights = np.zeros(len(cards()))
    for hint in past:
        weights = weights + np.log(np.maximum(_hint_odds(mind, hint), 1e-300))
    return _normal(weights)


# --- codes ----------------------------------------------------------------------------------------


def code_odds(weights: Floats, codes_left: Sequence[int]) -> Floats:
    """Return the probabilities of the remaining codes from log weights by hint and digit."""
    places_of = PLACES[[INDEX[code] for code in codes_left]]
    return _normal(weights[np.arange(LENGTH), places_of].sum(axis=1))


def decoder_odds(
    mind: Mind, keywords: tuple[str, ...], hints: Sequence[str], codes_left: Sequence[int]
) -> Floats:
    """Return the remaining codes' probabilities for a decoder that knows the keywords."""
    return code_odds(by_keywords(mind, keywords, hints), codes_left)


def listener_odds(
    listener: Listener, filed: Filed, hints: Sequence[str], codes_left: Sequence[int]
) -> Floats:
    """Return the remaining codes' probabilities for an interceptor."""
    return code_odds(_heard_by(listener, filed, hints), codes_left)


def _heard_by(listener: Listener, filed: Filed, hints: Sequence[str]) -> Floats:
    if listener.way == "history":
        return by_history(listener.mind, filed, hints)
    if listener.way == "bayes":
        return by_bayes(listener.mind, filed, hints)
    return np.zeros((len(hints), DIGITS))


def likeliest(odds: Floats, codes_left: Sequence[int]) -> int:
    """Return the most probable code; in a tie, the first."""
    return codes_left[int(np.argmax(np.round(odds, 12)))]


def bits(odds: Floats) -> float:
    """Return the entropy of a probability distribution in bits.

    >>> bits(np.full(4, 0.25))
    2.0
    """
    positive = odds[odds > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0


# --- the best hints for two listeners -------------------------------------------------------------


class Position(msgspec.Struct, frozen=True):
    """The encoder's information when it must give hints."""

    keywords: tuple[str, ...]
    filed: Filed
    codes_left: tuple[int, ...]
    code: int


class HintValue(msgspec.Struct, frozen=True):
    """The value of three hints: the probability that the decoder is right and the interceptor
    wrong, and its factors."""

    decoded: float
    intercepted: float

    @property
    def value(self) -> float:
        return self.decoded * (1 - self.intercepted)


class BestHints(msgspec.Struct, frozen=True):
    """The best hints among the nearest words, and their value."""

    hints: tuple[str, ...]
    hint_value: HintValue


def value_hints(
    decoder: Mind, listener: Listener, position: Position, hints: Sequence[str]
) -> HintValue:
    """Return the value of three hints for a decoder with the mind `decoder` against this
    interceptor."""
    code_place = position.codes_left.index(position.code)
    read = decoder_odds(decoder, position.keywords, hints, position.codes_left)
    heard_as = listener_odds(listener, position.filed, hints, position.codes_left)
    return HintValue(float(read[code_place]), float(heard_as[code_place]))


@lru_cache(maxsize=4096)
def nearest(mind: Mind, keywords: tuple[str, ...], digit: int) -> tuple[str, ...]:
    """Return the legal words sorted by association with a digit's keyword, strongest first."""
    rows = open_rows(keywords)
    order = np.argsort(-ties(mind)[rows, place(keywords[digit - 1])], kind="stable")
    return tuple(vocabulary()[int(rows[n])] for n in order)


def unsaid(mind: Mind, position: Position, digit: int) -> tuple[str, ...]:
    """Return the legal words sorted by association with a digit's keyword, without the hints that
    were already given for this digit."""
    earlier_hints = position.filed[digit - 1]
    return tuple(
        word for word in nearest(mind, position.keywords, digit) if word not in earlier_hints
    )


@lru_cache(maxsize=4096)
def best_hints(
    decoder: Mind, listener: Listener, position: Position, width: int = WIDTH
) -> BestHints:
    """Return the most valuable hints among all triples of the `width` nearest words per digit.

    Words filed under the digit are left out. The result is exact within that set; ties go to the
    nearest words.
    """
    words = [unsaid(decoder, position, digit)[:width] for digit in digits(position.code)]
    read = [by_keywords(decoder, position.keywords, digit_words) for digit_words in words]
    heard_as = [_heard_by(listener, position.filed, digit_words) for digit_words in words]
    decoded, intercepted = chances(read, position), chances(heard_as, position)
    value = decoded * (1 - intercepted)
    a, b, c = np.unravel_index(int(np.argmax(np.round(value, 12))), value.shape)
    chosen = (words[0][int(a)], words[1][int(b)], words[2][int(c)])
    return BestHints(chosen, HintValue(float(decoded[a, b, c]), float(intercepted[a, b, c])))


def chances(weights: Sequence[Floats], position: Position) -> Floats:
    """Return, for each triple of words, the probability that a listener assigns to the true
    code."""
    places_of = PLACES[[INDEX[code] for code in position.codes_left]]
    first, second, third = (
        np.exp(w - w.max(axis=1, keepdims=True))[:, places_of[:, j]] for j, w in enumerate(weights)
    )
    pairs = first[:, None, :] * second[None, :, :]
    normaliser = pairs @ third.T
    code_place = position.codes_left.index(position.code)
    true = pairs[:, :, code_place, None] * third[:, code_place]
    probabilities: Floats = np.divide(
        true, normaliser, out=np.zeros_like(normaliser), where=normaliser > 0
    )
    return probabilities
