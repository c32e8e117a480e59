"""MindGames message by message: the curves of moore2025, without look-ahead and as published."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

import msgspec

from sally.core.rules.metric import Played
from sally.games.mindgames import persuasion
from sally.output.tables.reproduce import Conditions, Known
from sally.papers.moore2025.figures import estimated
from sally.papers.moore2025.tables import facts


class Point(msgspec.Struct, frozen=True):
    """What had come about by one message, over all games of a persuader in a condition."""

    persuader: str
    condition: str  # or the variant of hidden
    message: int  # from 1
    games: int
    success: float | None
    success_interval: list[float] | None
    success_published: float | None  # ties settled by the choice at the end of the game
    trap: float | None
    told: float | None  # cells told in this message
    likes_asked: float | None  # in this message for the first time, rankings counted
    cells_asked: float | None
    asked_all: float | None  # by this message, rankings counted
    asked_all_literally: float | None


def curves(games: Iterable[Played]) -> list[Point]:
    """A point for each message of each persuader in each condition; unfinished games have none."""
    groups: dict[tuple[str, str], list[tuple[Conditions, Played]]] = {}
    for played in games:
        known = facts(played)
        if known is not None and persuasion.finished(played):
            plain = known["variant"] == "default"
            condition = str(known["condition"] if plain else known["variant"])
            groups.setdefault((str(known["persuader"]), condition), []).append((known, played))
    return [
        _point(*who, message, found)
        for who, found in sorted(groups.items())
        for message in range(min(len(persuasion.choices(p)) for _, p in found))
    ]


def _point(persuader: str, condition: str, at: int, found: Known) -> Point:
    games = [played for _, played in found]
    success = estimated(found, lambda played: bool(persuasion.won(played)[at]))
    new = [persuasion.new_appeals(p, inferential=True)[at] for p in games]
    return Point(
        persuader,
        condition,
        at + 1,
        len(games),
        success.value,
        success.interval,
        _mean(persuasion.won_with_look_ahead(p)[at] for p in games),
        _mean(persuasion.sunk(p)[at] for p in games),
        _mean(persuasion.disclosures(p)[at] for p in games),
        _mean(len(asked.likes) for asked in new),
        _mean(len(asked.cells) for asked in new),
        _mean(_asked_all(p, True)[at] for p in games),
        _mean(_asked_all(p, False)[at] for p in games),
    )


def _mean(values: Iterable[float]) -> float | None:
    found = [float(v) for v in values]
    return sum(found) / len(found) if found else None


def _asked_all(played: Played, inferential: bool) -> list[bool]:
    """Whether by each message every like and every cell had been asked for."""
    game = persuasion.game_of(played)
    wanted = len(game.names.attributes) + len(game.problem.cells)
    new = (len(a.likes) + len(a.cells) for a in persuasion.new_appeals(played, inferential))
    return [found == wanted for found in accumulate(new)]
