"""Problems shipped with a game that a visitor can select by a few successive choices."""

from __future__ import annotations

import msgspec

from sally.core.log.events import Instance


class Problem(msgspec.Struct, frozen=True):
    """One problem: the answers by which a visitor selects it, and its seats."""

    choice: tuple[str, ...]
    instance: Instance
    seats: tuple[str, ...]


class Problems(msgspec.Struct, frozen=True):
    """The problems of a game, and the questions (such as which ruleset) whose answers select one of
    them."""

    asked: tuple[str, ...]
    problems: tuple[Problem, ...]
