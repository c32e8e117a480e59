"""Minds with declared, individual associations: how strongly a clue suggests a word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import erf, sqrt
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np

from sally.core.errors import BadInput
from sally.core.rules.chance import Stream
from sally.games.association.english import vocabulary
from sally.games.association.lexicon import cards, place, places, plain, plain_words
from sally.games.association.matrices import (
    Ties,
    cosine,
    noisy_vectors,
    perturb,
    round_strengths,
    row_by_sense,
    row_by_spelling,
    sense,
    spelling,
    with_links,
    with_noise,
)

Kind = Literal["sense", "cosine", "form", "noise", "links"]
HELD = 6  # cached matrices of forty megabytes each


class Mind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a scripted player associates words.

    The kind `sense` uses only meaning, and `cosine` uses raw cosines of word vectors. The kind
    `form` also counts similar spelling, with the share `amount`. The kind `noise` perturbs every
    word by `amount`, and `links` links some topics to others with strength `amount`. The number
    `who` is the seed of the perturbations or links, so that different players can be made.
    """

    kind: Kind = "sense"
    amount: float = 0.0
    who: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.amount <= 10 or (self.kind == "form" and self.amount > 1):
            highest = 1 if self.kind == "form" else 10
            raise BadInput(
                f"amount of a {self.kind} mind must be from 0 to {highest}, not {self.amount}"
            )


MIND_PARAMS: Mapping[str, Any] = msgspec.structs.asdict(Mind())
T = TypeVar("T", bound=msgspec.Struct)


def read_declared(kind: type[T], params: Mapping[str, Any]) -> T:
    """Return the value of a class that a partner's parameters declare, such as its mind; other
    parameters are ignored.

    Raises: BadInput if the parameters are invalid for the class.
    """
    fields = {name: params[name] for name in kind.__struct_fields__ if name in params}
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        kind_name, wrong = kind.__name__.lower(), str(error).replace("`$.", "`")
        raise BadInput(f"The parameters {fields} do not define a {kind_name}: {wrong}.") from None


def mind_of(params: Mapping[str, Any]) -> Mind:
    """Return the mind that a partner's parameters declare.

    Raises: BadInput if the parameters declare no valid mind.
    """
    return read_declared(Mind, params)


@lru_cache(maxsize=HELD)
def ties(mind: Mind) -> Ties:
    """Return how strongly every cue (row) suggests every word (column) to this mind."""
    if mind.kind == "form":
        return round_strengths((1 - mind.amount) * sense() + mind.amount * spelling())
    if mind.kind == "noise":
        return with_noise(mind.amount, mind.who)
    if mind.kind == "links":
        return with_links(mind.amount, mind.who)
    return cosine() if mind.kind == "cosine" else sense()


def tie(mind: Mind, cue: str, word: str) -> float:
    """Return how strongly a cue suggests a word to this mind, in standard deviations."""
    return float(ties(mind)[place(cue), place(word)])


def closeness(mind: Mind, cue: str, word: str) -> int:
    """Return the association strength from 0 to 100: its percentile in a normal distribution."""
    return round(50 * (1 + erf(tie(mind, cue, word) / sqrt(2))))


@lru_cache(maxsize=512)
def clue_strengths(mind: Mind, clue_text: str) -> Ties:
    """Return how strongly a clue suggests every word of the vocabulary to this mind."""
    clue = plain(clue_text)
    row = places().get(clue)
    if row is not None:
        known_row: Ties = ties(mind)[row]
        return known_row
    return _unknown(mind, clue)


def _unknown(mind: Mind, clue: str) -> Ties:
    """Return the strengths for a clue that is not in the vocabulary, computed with MiniLM."""
    from sally.games.association.minilm import minilm  # slow to import, and seldom needed

    vector: Ties = minilm().vectors([clue])[0]
    if mind.kind == "noise":
        return row_by_sense(
            perturb(vector, mind.amount, mind.who, clue), noisy_vectors(mind.amount, mind.who)
        )
    by_sense = row_by_sense(vector)
    if mind.kind == "form":
        return round_strengths((1 - mind.amount) * by_sense + mind.amount * row_by_spelling(clue))
    if mind.kind == "links":
        nearest = int(by_sense.argmax())
        bridged: Ties = by_sense + (with_links(mind.amount, mind.who)[nearest] - sense()[nearest])
        return bridged
    return by_sense


def rank_vocabulary(scores: Ties, without: Iterable[int] = ()) -> list[str]:
    """Return the vocabulary by descending score, then alphabetically, omitting the words at the
    indices in `without`."""
    omitted = set(without)
    words = vocabulary()
    order = np.argsort(-scores, kind="stable")
    return [words[int(row)] for row in order if int(row) not in omitted]


@lru_cache(maxsize=1)
def hubness() -> Ties:
    """Return, for each word, how many other words have it among their ten nearest by meaning."""
    similarities = sense().copy()
    np.fill_diagonal(similarities, -np.inf)
    top = np.argpartition(-similarities, 10, axis=1)[:, :10]
    counts: Ties = np.bincount(top.ravel(), minlength=len(similarities)).astype(np.float32)
    return counts


@lru_cache(maxsize=4096)
def asked_pair(*key: int | str) -> str:
    """Return two words to ask about, drawn from the random stream with the key `key`; in half of
    the cases they are close in meaning."""
    draws = Stream("closeness", *key)
    cue = draws.pick(plain_words())
    similar_words = rank_vocabulary(sense()[place(cue)])[1:60]
    nouns = set(cards())
    close = [word for word in similar_words if word not in nouns]
    other_words = [word for word in plain_words() if word != cue]
    return f"{cue} {draws.pick(close if close and draws() < 0.5 else other_words)}"
