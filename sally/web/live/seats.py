"""What opens a seat, and a setup with people in it, checked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

import msgspec

from sally.core.log.events import PlayerSpec, Setup
from sally.runner.seating import resolved

PERSON = "person"  # the name under which people stand in the log
STAND_IN = PlayerSpec("random")  # sits for a person while a setup is checked


class NoSuchSeat(Exception):
    """A token that opens no seat."""


class Opened(msgspec.Struct, frozen=True):
    """A new match, and what opens each person's seat; tokens are told once and kept hashed."""

    match: str
    tokens: dict[str, str]


@lru_cache(10_000)  # each is asked for several times a move
def hashed(secret: str) -> str:
    """A token as the database keeps it: 256 random bits need no salt and no slow hash."""
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def invitation(secret: str) -> str:
    """A token that only takes its seat, as the database keeps it: nothing opens by this key."""
    return f"invitation {hashed(secret)}"


def settled(setup: Setup, people: Sequence[str]) -> Setup:
    """The setup with versions filled in and every name checked; people have none."""
    seated = {s: STAND_IN if s in people else who for s, who in setup.lineup.items()}
    checked = resolved(msgspec.structs.replace(setup, lineup=seated))
    lineup = {
        s: setup.lineup.get(s, PlayerSpec(PERSON)) if s in people else who
        for s, who in checked.lineup.items()
    }
    return msgspec.structs.replace(checked, lineup=lineup)
