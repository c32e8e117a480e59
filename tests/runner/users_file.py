"""A user's file for tests of workers: partners that dawdle, break or end their process."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from sally.core.match.partner import Partner
from sally.core.match.player import Turn
from sally.core.rules.game import Game, Seat
from sally.models.stub import Scripted

FOR = "repeated_games"


def _plays(act: Any) -> Any:
    def make(game: Game, seat: Seat, **params: Any) -> Any:
        def decide(turn: Turn) -> int:
            act(turn, **params)
            return 0

        return decide

    return make


def _dawdle(turn: Turn, seconds: float = 0.01) -> None:
    time.sleep(seconds)


def _print(turn: Turn) -> None:
    print('{"shard": "not a result"}')
    sys.stdout.flush()


def _break(turn: Turn) -> None:
    raise ZeroDivisionError("a mistake in a user's file")


def _die(turn: Turn, once: str = "") -> None:
    """End the process, each time or, given a file, once."""
    if once:
        try:
            Path(once).touch(exist_ok=False)
        except FileExistsError:
            return
    os.kill(os.getpid(), signal.SIGKILL)


def _partner(name: str, act: Any, **params: Any) -> Partner:
    return Partner(name, "for tests of workers", "ours", _plays(act), params=params)


PARTNERS = {
    "dawdles": _partner("dawdles", _dawdle, seconds=0.01),
    "prints": _partner("prints", _print),
    "breaks": _partner("breaks", _break),
    "dies": _partner("dies", _die, once=""),
}


def MODEL(name: str) -> Scripted:
    """A model that always says J, and counts words as tokens."""
    return Scripted(lambda messages, settings: "Option: J")
