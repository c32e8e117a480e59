"""Generator of boards on which a word's mean similarity to the others does not reveal its
colour."""

from __future__ import annotations

from sally.core.rules.chance import Stream
from sally.games.association.frozen import Frozen
from sally.games.association.lexicon import cards, overlaps, place
from sally.games.association.minds import Mind, hubness
from sally.games.codenames.instances import Colour, Problem
from sally.games.codenames.solver import best_worth

SEED = 2026
ROWS, BOARDS = 100, 5
SIZES: dict[str, dict[Colour, int]] = {
    "small": {"own": 5, "other": 4, "neutral": 2, "assassin": 1},
    "full": {"own": 9, "other": 8, "neutral": 7, "assassin": 1},
}
EVEN = 0.15  # maximum difference in hubness between own and all cards, in standard deviations
SHORTEST, LONGEST = 2, 6  # the run of the best clue for plain sense


def board(name: str, seed: int, row: int, number: int) -> Problem:
    """Draw boards until one meets two conditions, and return it.

    The mean hubness of the team's own cards must be close to that of all cards (the hubness of a
    word is the number of words that have it among their nearest in meaning). For a guesser who
    associates by plain meaning, the best clue must yield at least `SHORTEST` and at most `LONGEST`
    cards.
    """
    draws = Stream(seed, "codenames", name, row, number)
    key = tuple(colour for colour, n in SIZES[name].items() for _ in range(n))
    while True:
        words = draw_distinct(draws, len(key))
        dealt = tuple(draws.shuffled(key))
        run = best_worth(Mind(), dict(zip(words, dealt, strict=True)), words)
        if _is_even(words, dealt) and SHORTEST <= run <= LONGEST:
            return Problem(words, dealt)


def draw_distinct(draws: Stream, n: int) -> tuple[str, ...]:
    """Draw `n` different cards, none of which is an inflected form of another or a compound with
    it."""
    chosen: list[str] = []
    while len(chosen) < n:
        word = draws.pick(cards())
        if not any(overlaps(word, chosen_word) for chosen_word in chosen):
            chosen.append(word)
    return tuple(chosen)


def _is_even(words: tuple[str, ...], key: tuple[Colour, ...]) -> bool:
    nearness = hubness()[[place(word) for word in words]]
    own_nearness = nearness[[colour == "own" for colour in key]]
    return bool(
        abs(own_nearness.mean() - nearness.mean()) <= EVEN * max(float(nearness.std()), 1e-9)
    )


def make(name: str, seed: int = SEED, rows: int = ROWS) -> Frozen[Problem]:
    """Generate a set of problems: `rows` series of boards, all of the size called `name`."""
    board_rows = tuple(
        tuple(board(name, seed, row, number) for number in range(BOARDS)) for row in range(rows)
    )
    return Frozen(name, 1, seed, board_rows)
