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
    shortest = float("inf")
    for _ in range(TRIES):
        began = time.thread_time()
        with suppress(Unreadable):
            read(without_thoughts(reply))
        shortest = min(shortest, time.thread_time() - began)
        if shortest < 0.01:
            break
    return shortest


def slowest(
    shapes: tuple[str, ...] = SHAPES, length: int = MOST_READ
) -> list[tuple[float, str, str]]:
    """For every reader the shape that takes it longest, the slowest reader first."""
    results = []
    for name, read in readers():
        worst, shape = max((seconds(read, (s * length)[:length]), s) for s in shapes)
        results.append((worst, name, shape))
    return sorted(results, reverse=True)


def main(count: int) -> None:
    """The slowest readers, and how they grow."""
    reader_by_name = dict(readers())
    results = slowest()
    for took, name, shape in results[:count]:
        at_half, at_full = (
            seconds(reader_by_name[name], (shape * MOST_READ)[:length])
            for length in (MOST_READ // 2, MOST_READ)
        )  # both now: the machine may have been busier before
        print(
            f"{name:40s} {1000 * took:7.1f} ms  growth {at_full / max(at_half, 1e-6):4.1f}  "
            f"{shape!r}"
        )
    n_slow = sum(took > 0.1 for took, _, _ in results)
    print(
        f"{len(results)} readers, {len(SHAPES)} shapes of {MOST_READ} characters, {n_slow} "
        "over 100 ms"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shown", type=int, default=10)
    main(parser.parse_args().shown)
