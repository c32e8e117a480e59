"""Generator of the sets of Cipher: games with distinct keywords, and decisions that depend on the
interceptor."""

from __future__ import annotations

from benchmarks.problem_sets.codenames import draw_distinct
from sally.core.rules.chance import Stream
from sally.games.association.frozen import Frozen
from sally.games.association.minds import Mind
from sally.games.cipher.decisions import GOOD, position_of
from sally.games.cipher.instances import PastRound, Problem
from sally.games.cipher.listeners import CODES, Listener, Position, best_hints, digits, value_hints
from sally.games.cipher.partners import MENUS
from sally.games.cipher.rules import record_of

SEED = 2026
ROWS = {"plain": 100, "which": 50}
GAMES = 4
BEFORE = 3  # rounds before a certified decision
BAD = 0.4  # maximum value of wrong hints


def keywords(draws: Stream) -> tuple[str, str, str, str]:
    """Draw four cards that are unlike in form."""
    first, second, third, fourth = draw_distinct(draws, 4)
    return first, second, third, fourth


def plain(seed: int, row: int, number: int) -> Problem:
    """Return one game of the set `plain`."""
    return Problem(keywords(Stream(seed, "cipher", "plain", row, number)))


def which(seed: int, row: int, number: int) -> Problem:
    """Return one decision of the set `which`, redrawn until it is certified."""
    draws = Stream(seed, "cipher", "which", row, number)
    while True:
        problem = _draw_problem(draws)
        if is_certified(problem):
            return problem


def _draw_problem(draws: Stream) -> Problem:
    """Draw keywords, the past rounds of an encoder that draws each hint from the 16 nearest words,
    and the next code."""
    words = keywords(draws)
    codes = draws.shuffled(CODES)[: BEFORE + 1]
    past: list[PastRound] = []
    for code in codes[:BEFORE]:
        record = record_of(past, ())
        position = Position(words, record.filed, record.remaining_codes, code)
        hints = [draws.pick(tuple(MENUS["top16"](Mind(), position, d))) for d in digits(code)]
        past.append(PastRound(code, (hints[0], hints[1], hints[2])))
    return Problem(words, tuple(past), (codes[BEFORE],))


def is_certified(problem: Problem) -> bool:
    """Return whether the encoder must know how the interceptor interprets hints.

    The decision is certified for two interceptors if the best hints against either one have a value
    of at least GOOD against that one and at most BAD against the other; in addition, the clearest
    hints must have a value of at most BAD against both.
    """
    position = position_of(problem)
    clear = [MENUS["nearest"](Mind(), position, digit)[0] for digit in digits(position.code)]
    ways = (Listener("history"), Listener("bayes"))
    if any(value_hints(Mind(), listener, position, clear).value > BAD for listener in ways):
        return False
    for own_listener, other_listener in (ways, ways[::-1]):
        best = best_hints(Mind(), own_listener, position)
        if (
            best.hint_value.value < GOOD
            or value_hints(Mind(), other_listener, position, best.hints).value > BAD
        ):
            return False
    return True


def make(name: str, seed: int = SEED) -> Frozen[Problem]:
    """Generate the set with this name, which consists of series of `GAMES` games each."""
    draw = {"plain": plain, "which": which}[name]
    rows = tuple(tuple(draw(seed, row, n) for n in range(GAMES)) for row in range(ROWS[name]))
    return Frozen(name, 1, seed, rows)
