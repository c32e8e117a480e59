"""Scores of literal theory of mind on a battery, next to the same model's knowing and doing.

A battery is recognised by its metric `literal`. No correlation across models is computed, because
it would need at least eight models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from sally.analysis.columns.seat_table import SeatTable, table_means
from sally.analysis.profile.profile import ProfileRow
from sally.stats.intervals import Estimate

LITERAL, STRICT = "literal", "literal_strict"
PACK = " pack="  # in the name of a player that reads another wording or a twin


class StrictScores(msgspec.Struct, frozen=True):
    """Each player's strict score on batteries, and its model.

    A strict score is the share of groups of items in which every answer is right.
    """

    strict: Mapping[str, Mapping[str, Any]]  # a row of `table_means`
    models: Mapping[str, str]


class LiteralBeside(msgspec.Struct, frozen=True):
    """The scores of one model on a battery of test items, next to its scores in one seat of one
    game."""

    model: str
    literal: Estimate  # in percent
    mindless: float | None  # the best mindless player on the same items, in percent
    above: float | None  # literal, with that player at 0 and all right at 1
    strict: float | None  # groups of items that are all right, in percent
    strict_interval: tuple[float, float] | None
    game: str
    seat: str
    player: str
    knowing: Estimate  # predictions about others in the game, with an even guess at 0
    doing: Estimate


def strict_scores(tables: Iterable[SeatTable]) -> StrictScores:
    """Return each player's model and its strict score, the share of item groups in which every
    answer is right. For a player in several stores, the score is that of the store with most of its
    episodes."""
    strict: dict[str, Mapping[str, Any]] = {}
    models: dict[str, str] = {}
    for table in tables:
        models |= {str(k["player"]): str(k["model"] or k["player"]) for k in table.kinds}
        for row in table_means(table, table.kinds, (STRICT,), ("player",)):
            held = strict.get(row["player"])
            if held is None or row["episodes"] > held["episodes"]:
                strict[row["player"]] = row
    return StrictScores(strict, models)


def literal_beside(rows: Sequence[ProfileRow], found: StrictScores) -> list[LiteralBeside]:
    """Pair each model's rows on a battery of test items with its rows in games. The result is empty
    unless the stores hold both.

    Players with a words pack other than the default are left out; this includes the packs that
    describe the other player as a mechanism.
    """
    lines = []
    rows = [row for row in rows if PACK not in row.player]
    for battery in rows:
        if battery.metric != LITERAL or battery.raw.value is None:
            continue
        model = found.models.get(battery.player, battery.player)
        best = None if battery.mindless is None else battery.mindless.value
        above = None
        if best is not None and best < 100:
            above = (battery.raw.value - best) / (100 - best)
        strict = found.strict.get(battery.player, {})
        for row in rows:
            if row.metric == LITERAL or found.models.get(row.player, row.player) != model:
                continue
            lines.append(
                LiteralBeside(
                    model=model,
                    literal=battery.raw,
                    mindless=best,
                    above=above,
                    strict=strict.get("value"),
                    strict_interval=strict.get("interval"),
                    game=row.game,
                    seat=row.seat,
                    player=row.player,
                    knowing=row.skill,
                    doing=row.doing,
                )
            )
    return lines
