"""Cipher once more, written from the protocol alone: plain lists, loops and sums.

It shares nothing with `sally.games.cipher`; of the word games it takes the tie between two words,
the list of cards and which words overlap.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from math import exp, fsum, log

import numpy as np

from sally.games.association.english import vocabulary
from sally.games.association.lexicon import cards, overlaps
from sally.games.association.matrices import sense

HEAT = 0.5
ALL_CODES = list(permutations((1, 2, 3, 4), 3))
Code = tuple[int, ...]
Filed = list[list[str]]

WORDS = list(vocabulary())
ROW = {word: n for n, word in enumerate(WORDS)}


def t(hint: str, word: str) -> float:
    return float(sense()[ROW[hint], ROW[word]])


class Game:
    """One game: what is public, and who has how many tokens."""

    def __init__(self, keywords: list[str], rounds: int = 8, tokens: int = 2) -> None:
        self.keywords, self.rounds, self.tokens = keywords, rounds, tokens
        self.filed: Filed = [[], [], [], []]
        self.used: list[Code] = []
        self.played = self.miscommunications = self.interceptions = 0

    @property
    def left(self) -> list[Code]:
        return [code for code in ALL_CODES if code not in self.used]

    def reveal(self, code: Code, hints: list[str], decoder: Code, interceptor: Code) -> None:
        for digit, hint in zip(code, hints, strict=True):
            self.filed[digit - 1].append(hint)
        self.used.append(code)
        self.played += 1
        if decoder != code:
            self.miscommunications += 1
        if interceptor == code:
            self.interceptions += 1

    def void(self, code: Code) -> None:
        self.used.append(code)

    @property
    def end(self) -> str:
        wrong, caught = self.miscommunications == self.tokens, self.interceptions == self.tokens
        if wrong and caught:
            return "both"
        if wrong:
            return "miscommunication"
        if caught:
            return "interception"
        return "survived" if self.played == self.rounds else ""


# --- listeners ------------------------------------------------------------------------------------


def normal(weights: list[float]) -> list[float]:
    total = fsum(weights)
    return [weight / total for weight in weights]


def decoder_odds(game: Game, hints: list[str]) -> list[float]:
    return normal(
        [
            exp(fsum(t(h, game.keywords[d - 1]) for h, d in zip(hints, code, strict=True)) / HEAT)
            for code in game.left
        ]
    )


def mean_tie(hint: str, past: list[str]) -> float:
    return fsum(t(hint, word) for word in past) / len(past) if past else 0.0


def history_odds(game: Game, hints: list[str]) -> list[float]:
    sums = [
        fsum(mean_tie(h, game.filed[d - 1]) for h, d in zip(hints, code, strict=True))
        for code in game.left
    ]
    return normal([exp(total / HEAT) for total in sums])


SAID = np.exp(sense()[:, [ROW[word] for word in cards()]].astype(float) / HEAT)
SAID = SAID / SAID.sum(axis=0)  # by word and card: the chance that an encoder says it


def believed(past: list[str]) -> np.ndarray:
    """The odds of every card as the keyword of a digit with these hints."""
    weights = np.ones(len(cards()))
    for word in past:
        weights = weights * SAID[ROW[word]]
        weights = weights / weights.sum()
    array: np.ndarray = weights / weights.sum()
    return array


def bayes_odds(game: Game, hints: list[str]) -> list[float]:
    beliefs = [believed(past) for past in game.filed]
    chance = [[float((SAID[ROW[h]] * b).sum()) for b in beliefs] for h in hints]
    return normal([chance[0][a - 1] * chance[1][b - 1] * chance[2][c - 1] for a, b, c in game.left])


def uniform(game: Game, hints: list[str]) -> list[float]:
    return [1 / len(game.left)] * len(game.left)


ODDS = {
    "by_keywords": decoder_odds,
    "by_history": history_odds,
    "by_bayes": bayes_odds,
    "random": uniform,
}


def guess(player: str, game: Game, hints: list[str]) -> Code:
    odds = ODDS[player](game, hints)
    return max(zip(game.left, odds, strict=True), key=lambda pair: round(pair[1], 9))[0]


# --- encoders -------------------------------------------------------------------------------------


@cache
def ranked(keywords: tuple[str, ...], digit: int) -> list[str]:
    legal = [w for w in WORDS if not any(overlaps(w, keyword) for keyword in keywords)]
    return sorted(legal, key=lambda word: -t(word, keywords[digit - 1]))


def near_words(game: Game, digit: int) -> list[str]:
    return ranked(tuple(game.keywords), digit)


def unsaid(game: Game, digit: int, n: int) -> list[str]:
    return [w for w in near_words(game, digit) if w not in game.filed[digit - 1]][:n]


def hints_of(player: str, game: Game, code: Code) -> list[str]:
    if player == "nearest":
        return [unsaid(game, digit, 1)[0] for digit in code]
    if player == "same":
        return [near_words(game, digit)[0] for digit in code]
    assert player == "crossing"
    return best_of(game, code, 25)


def best_of(game: Game, code: Code, n: int, interceptor: str = "by_history") -> list[str]:
    """The best triple of the n nearest words a digit, every triple weighed in turn."""
    words = [unsaid(game, digit, n) for digit in code]
    pairs = [(w, d) for some_word in words for w in some_word for d in range(1, 5)]
    to_keys = {(w, d): t(w, game.keywords[d - 1]) for w, d in pairs}
    if interceptor == "by_history":
        to_past = {(w, d): mean_tie(w, game.filed[d - 1]) for w, d in pairs}
    else:
        beliefs = [believed(past) for past in game.filed]
        to_past = {(w, d): HEAT * log((SAID[ROW[w]] * beliefs[d - 1]).sum()) for w, d in pairs}
    triples = list(product(*words))

    def chances(ties: dict[tuple[str, int], float]) -> np.ndarray:
        tables = [
            np.array([[ties[w, d] for d in range(1, 5)] for w in some_word]) for some_word in words
        ]
        every = [
            (tables[0][:, None, None, a - 1] + tables[1][None, :, None, b - 1])
            + tables[2][None, None, :, c - 1]
            for a, b, c in game.left
        ]
        weights = np.exp(np.stack(every) / HEAT)
        share: np.ndarray = weights[game.left.index(code)] / weights.sum(axis=0)
        return share.ravel()

    value = chances(to_keys) * (1 - chances(to_past))
    return list(triples[int(np.argmax(np.round(value, 9)))])


def chance_of_random_interceptor() -> float:
    """Return the probability that a randomly guessing interceptor wins if the decoder is always
    right: it needs two right guesses in eight rounds, in which no code occurs twice."""
    by_interceptions, won = [1.0, 0.0], 0.0
    for played in range(8):
        chance = 1 / (len(ALL_CODES) - played)
        none, one = by_interceptions
        won += one * chance
        by_interceptions = [none * (1 - chance), one * (1 - chance) + none * chance]
    return won
