"""How many clues a second the ag listener hears: vocabulary words, and sentences of one's own.

Run it with one BLAS thread (OPENBLAS_NUM_THREADS=1): the matrices are small.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable

from sally.games.association.english import vocabulary
from sally.games.toma.ag.partners import encode_text, heard_as, shipped_vector
from sally.games.toma.ag.rules import items

WORDS, SENTENCES = 1000, 50  # what issue 6 asks of a second


def rate(hear: Callable[[int], str], count: int) -> tuple[float, float]:
    """(a wall second, a CPU second): how many clues are heard."""
    hear(0)
    wall, cpu = time.perf_counter(), time.process_time()
    for n in range(count):
        hear(n)
    return count / (time.perf_counter() - wall), count / (time.process_time() - cpu)


def main() -> None:
    """Print both rates beside what was asked for."""
    everything, words = items(), vocabulary()

    def word(n: int) -> str:
        return heard_as(everything[n % 100].b_hint, words[n], shipped_vector)

    def sentence(n: int) -> str:
        clue = f"think of {words[2 * n]} beside the {words[2 * n + 1]}, number {n}"
        return heard_as(everything[n % 100].b_hint, clue, encode_text)

    for name, hear, target in (("words", word, WORDS), ("sentences", sentence, SENTENCES)):
        wall, cpu = rate(hear, 2 * target)
        print(f"{name}: {wall:,.0f} a second by the clock, {cpu:,.0f} by the CPU (aim {target:,})")


if __name__ == "__main__":
    main()
