"""Frozen problems that a visitor may choose from: each by a few choices, one after the other."""

from __future__ import annotations

import msgspec

from sally.core.log.events import Instance


class Problem(msgspec.Struct, frozen=True):
    """One problem: what is chosen to get it, and the seats that it has."""

    choice: tuple[str, ...]
    instance: Instance
    seats: tuple[str, ...]


class Problems(msgspec.Struct, frozen=True):
    """The problems of a game, and what is chosen in turn: a ruleset, a number of players."""

    asked: tuple[str, ...]
    problems: tuple[Problem, ...]
