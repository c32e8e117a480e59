"""Fuzz of replies: `python -m benchmarks.hostile.replies --replies 200000 --seed 1`.

Every game on the shelf is asked to read hostile replies, as a move and as a report. A reply ends
as a move or is refused with a reason; anything else is a failure and is counted by its kind.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from sally.core import shelf
from sally.core.errors import BadInput, Unreadable
from sally.core.game import NATURE, Seat
from sally.core.reading import MOST_READ, bounded

PIECES = (
    *[
        "Option:",
        "Answer:",
        "Number:",
        "Clue:",
        "Guess:",
        "Odds:",
        "J",
        "F",
        "1",
        "2",
        "river",
        "no",
        "because",
        "not",
        "or",
        "I choose",
    ],
    *[
        "everyone",
        "proposal(",
        "remove(",
        "A",
        "is",
        "more",
        "null",
        "1e999",
        "-0",
        "<think>",
        "~~",
        "{{",
        "}}",
        "\\boxed{",
    ],
    *'{}[]"\\:,\n\r\t \x00²٣ßİ🤷\ufdfa\u202e\ufdd0\ud800',
    *('{"kind":', '"move"', "9" * 40, '{"\\ud800": 1}', "\u0301\u0316", "\x1b[2J"),
)
WHOLE = ("[" * 3000, "{{" * 2000, '{"a":' * 2000, '{"\\ud800": "x", "kind": "x"}', "\n" * 20_000)


def hostile_reply(draw: random.Random) -> str:
    """One reply of pieces that have broken a reader before, or of any characters at all."""
    if draw.random() < 0.02:
        return draw.choice(WHOLE)
    if draw.random() < 0.2:
        return "".join(chr(draw.randrange(0x11000)) for _ in range(draw.randrange(40)))
    glue = draw.choice(("", " ", "\n"))
    return glue.join(draw.choice(PIECES) for _ in range(draw.randrange(25)))


def readers() -> Iterator[tuple[str, Any]]:
    """Every reader on the shelf: a function of a reply, for each game's first mover's desk."""
    from sally.core.log import Instance, Setup, Sitter
    from sally.core.match import Match

    for name, spec in sorted(shelf.shelf("games").items()):
        try:
            game = spec.build()
        except BadInput:
            continue
        lineup = {seat: Sitter("random") for seat in game.seats}
        match: Match[Any, Any, Any] = Match(spec, Setup(Instance(name, name, {}), 1, lineup))
        for turn in match.asks():
            if turn.seat == NATURE:
                continue
            words, view, options = turn.desk.words, turn.view, turn.options
            yield f"{name} {turn.seat} move", lambda r, w=words, v=view, o=options: w.read(r, v, o)
            for probe in spec.probes:
                if turn.seat in probe.seats:
                    for question in probe.asks(game, view, Seat(turn.seat)):
                        yield (
                            f"{name} {turn.seat} {question.probe}",
                            lambda r, w=words, q=question: w.read_report(r, q),
                        )
            break


def campaign(replies: int, seed: int) -> dict[str, Any]:
    """Reads as many hostile replies as told, in turn by every reader; says what came of them."""
    draw, found = random.Random(seed), Counter[str]()
    slowest, broken = 0.0, Counter[str]()
    every = list(readers())
    for n in range(replies):
        name, read = every[n % len(every)]
        reply, began = hostile_reply(draw), time.thread_time()
        try:
            read(bounded(reply))
            found["read"] += 1
        except Unreadable:
            found["refused"] += 1
        except Exception as why:
            found["broke the reader"] += 1
            broken[f"{name}: {type(why).__name__}"] += 1
        slowest = max(slowest, time.thread_time() - began)
    return {
        "readers": len(every),
        "replies": replies,
        **found,
        "broken": dict(broken),
        "slowest_ms": round(1000 * slowest, 1),
        "most_characters": MOST_READ,
    }


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--replies", type=int, default=200_000)
    given.add_argument("--seed", type=int, default=1)
    options = given.parse_args()
    print(campaign(options.replies, options.seed))
