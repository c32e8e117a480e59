"""Fuzz of replies: `python -m benchmarks.hostile.replies --replies 200000 --seed 1`.

Every game on the shelf is asked to read hostile replies, as a move and as a report. A reply ends
as a move or is refused with a reason; anything else is a failure and is counted by its kind. A
quarter of the replies is said by a model under every strategy at every game.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from sally.core.errors import BadInput, Unreadable
from sally.core.registry import registry
from sally.core.reply.plain_text import MOST_READ, without_thoughts
from sally.core.rules.game import NATURE, Seat

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
WHOLE = (
    "[" * 3000,
    "9" * 5000,
    f"Number: {'9' * 5000}",
    f"Answer: {'1' * 5000}",
    "{{" * 2000,
    '{"a":' * 2000,
    '{"\\ud800": "x", "kind": "x"}',
    "\n" * 20_000,
)


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
    from sally.core.log.events import Instance, PlayerSpec, Setup
    from sally.core.match.engine import Match

    for name, spec in sorted(registry.entries("games").items()):
        try:
            game = spec.build()
        except BadInput:
            continue
        lineup = {seat: PlayerSpec("random") for seat in game.seats}
        setup = Setup(Instance(name, name, {}), 1, lineup, spec.version)
        match: Match = Match(spec, setup)
        for turn in match.asks():
            if turn.seat == NATURE:
                continue
            words, view, options = turn.context.words, turn.view, turn.options
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
    draw, outcomes = random.Random(seed), Counter[str]()
    slowest, broken = 0.0, Counter[str]()
    all_readers = list(readers())
    for n in range(replies):
        name, read = all_readers[n % len(all_readers)]
        reply, began = hostile_reply(draw), time.thread_time()
        try:
            read(without_thoughts(reply))
            outcomes["read"] += 1
        except Unreadable:
            outcomes["refused"] += 1
        except Exception as why:
            outcomes["broke the reader"] += 1
            broken[f"{name}: {type(why).__name__}"] += 1
        slowest = max(slowest, time.thread_time() - began)
    return {
        "readers": len(all_readers),
        "replies": replies,
        **outcomes,
        "broken": dict(broken),
        "slowest_ms": round(1000 * slowest, 1),
        "most_characters": MOST_READ,
    }


def players(draw: random.Random, counts: Counter[str]) -> Iterator[tuple[str, Any, Any]]:
    """Every strategy at every game's first ask, before a model that says hostile things."""
    from sally.core.log.events import Instance, PlayerSpec, Setup
    from sally.core.match.engine import Match
    from sally.models.stub import Scripted, even
    from sally.runner.seating import resolve_setup, seat_player

    def script(messages: object, settings: object) -> str:
        counts["replies"] += 1
        return hostile_reply(draw)

    model = Scripted(script, even)
    for name, spec in sorted(registry.entries("games").items()):
        for strategy in sorted(registry.entries("strategies")):
            player_spec = PlayerSpec("language", {"model": model, "strategy": strategy})
            try:
                lineup = {seat: PlayerSpec("random") for seat in spec.build().seats}
                match: Match = Match(
                    spec, resolve_setup(Setup(Instance(name, name, {}), 1, lineup))
                )
                turn = next(t for t in match.asks() if t.seat in lineup)
                yield (
                    f"{name} {strategy}",
                    turn,
                    seat_player(spec, match.game, Seat(turn.seat), player_spec),
                )
            except (BadInput, StopIteration):
                counts["pairs that do not go together"] += 1


def tables(replies: int, seed: int) -> dict[str, Any]:
    """Asks every strategy at every game until so many replies were given."""
    from sally.core.log.calls import BROKE_READER

    draw, outcomes, broken = random.Random(seed), Counter[str](), Counter[str]()
    pairs = list(players(draw, outcomes))
    n = 0
    while outcomes["replies"] < replies and pairs:
        name, turn, player = pairs[n % len(pairs)]
        n += 1
        try:
            decision = asyncio.run(player.decide(turn))
            outcomes[type(decision).__name__.lower()] += 1
            calls = [call for call in decision.calls if call.detail.startswith(BROKE_READER)]
            broken.update(f"{name}: {call.detail}" for call in calls)
        except Exception as why:
            outcomes["ended the run"] += 1
            broken[f"{name}: {type(why).__name__}"] += 1
    return {"pairs of game and strategy": len(pairs), **outcomes, "broken": dict(broken)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.disable()  # every broken reader is counted here
    print(campaign(options.replies * 3 // 4, options.seed))
    print(tables(options.replies // 4, options.seed))
