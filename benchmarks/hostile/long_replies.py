"""The longest replies that are read, in shapes that make readers slow: milliseconds, and growth.

    python -m benchmarks.hostile.long_replies

A reply of a megabyte is refused by its length before a reader sees it (`sally.core.reply.reader`,
MOST_READ), so the slowest that a reader can be is at that bound. Growth is the time of a reply at
the bound over that of one half as long: 2 is linear, 4 is quadratic.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from benchmarks.hostile.replies import readers
from sally.core.errors import Unreadable
from sally.core.reply.plain_text import MOST_READ, without_thoughts

SHAPES = (
    *(
        "x",
        "1",
        "1.",
        "1 ",
        "[",
        "{",
        "}",
        '"',
        "\\",
        "\n",
        " ",
        "\t",
        "-",
        ".",
        ",",
        ":",
        "*",
        "`",
    ),
    *("a\u0301\u0316", "²", "\ufdfa", "ß", "Option: ", "Option: J\n", "J or F ", "not J, ", "1\n"),
    *("Answer: 1\n", '{"kind":', '{"a":1}', "[1,2],", "<think>", "~~", "\\boxed{", "(((", "no, "),
    *("because J ", "river ", "the other will J. ", "A is 1, ", "everyone ", "1/2 ", "$5 ", "50% "),
    *('"a" ', "'", "I choose ", "Clue: a 1\n", "Guess: river\n", "\x00", "- ", "# ", "| ", "1) "),
)
TRIES = 3  # the least of them counts


def seconds(read: Callable[[str], Any], reply: str) -> float:
    """The least processor time that a reader takes for a reply, of some tries."""
    least = float("inf")
    for _ in range(TRIES):
        began = time.thread_time()
        with suppress(Unreadable):
            read(without_thoughts(reply))
        least = min(least, time.thread_time() - began)
        if least < 0.01:
            break
    return least


def slowest(
    shapes: tuple[str, ...] = SHAPES, most: int = MOST_READ
) -> list[tuple[float, str, str]]:
    """For every reader the shape that takes it longest, the slowest reader first."""
    found = []
    for name, read in readers():
        worst, shape = max((seconds(read, (s * most)[:most]), s) for s in shapes)
        found.append((worst, name, shape))
    return sorted(found, reverse=True)


def main(shown: int) -> None:
    """The slowest readers, and how they grow."""
    known = dict(readers())
    found = slowest()
    for took, name, shape in found[:shown]:
        half, whole = (
            seconds(known[name], (shape * MOST_READ)[:most]) for most in (MOST_READ // 2, MOST_READ)
        )  # both now: the machine may have been busier before
        print(f"{name:40s} {1000 * took:7.1f} ms  growth {whole / max(half, 1e-6):4.1f}  {shape!r}")
    over = sum(took > 0.1 for took, _, _ in found)
    print(
        f"{len(found)} readers, {len(SHAPES)} shapes of {MOST_READ} characters, {over} over 100 ms"
    )


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("--shown", type=int, default=10)
    main(given.parse_args().shown)
