"""Scores of literal theory of mind on a battery, next to the same model's knowing and doing.

A battery is recognised by its metric `literal`. No correlation across models is computed, because
it would need at least eight models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from sally.analysis.profile.columns import column_named
from sally.analysis.profile.profile import ProfileRow
from sally.analysis.score import means_by
from sally.frames.frame import Frame
from sally.frames.schema import Column
from sally.stats.intervals import Estimate

LITERAL, STRICT = "literal", "literal_strict"
NO_STRICT = Estimate(None, None, None, 0, "no battery")
PACK = " pack="  # in the name of a player that reads another wording or a twin


class StrictScores(msgspec.Struct, frozen=True):
    """Each player's strict score on batteries, and its model.

    A strict score is the share of groups of items in which every answer is right.
    """

    strict: Mapping[str, Estimate]
    models: Mapping[str, str]


class LiteralBeside(msgspec.Struct, frozen=True):
    """The scores of one model on a battery of test items, next to its scores in one seat of one
    game."""

    model: str
    literal: Estimate  # in percent
    mindless: float | None  # the best mindless player on the same items, in percent
    above: float | None  # literal, with that player at 0 and all right at 1
    strict: Estimate  # groups of items that are all right, in percent
    game: str
    seat: str
    player: str
    knowing: Estimate  # predictions about others in the game, with an even guess at 0
    doing: Estimate


LITERAL_COLUMNS = (
    Column("literal", "literal %", "%", 0, "higher", "right answers on the battery"),
    Column("mindless", "mindless %", "%", 0, "", "the best mindless player on the same items"),
    Column("above", "above", "", 2, "higher", "literal, 0 for that player and 1 for all right"),
    Column("strict", "strict %", "%", 0, "higher", "groups of items that are all right"),
    Column("knowing", "knowing", "", 2, "higher", column_named("skill").about),
    Column("doing", "doing", "", 2, "higher", column_named("doing").about),
)
LITERAL_NOTE = "No correlation across models is computed: it would need at least eight."


def _strict_scores(frame: Frame) -> StrictScores:
    """Return each player's model and its strict score, the share of item groups in which every
    answer is right."""
    names = frame.seats("player", "name").unique(maintain_order=True)
    strict = {key[0]: estimate for key, estimate in means_by(frame, STRICT, ("player",))}
    return StrictScores(strict, dict(names.rows()))


def literal_beside(rows: Sequence[ProfileRow], frame: Frame) -> list[LiteralBeside]:
    """Pair each model's rows on a battery of test items with its rows in games. The result is empty
    unless the stores hold both.

    Players with a words pack other than the default are left out; this includes the packs that
    describe the other player as a mechanism. Strict scores are measured only if the stores hold
    both, because they replay every episode.
    """
    rows = [row for row in rows if PACK not in row.player]
    if {row.metric == LITERAL for row in rows} != {True, False}:
        return []
    scores, lines = _strict_scores(frame), []
    for battery in rows:
        if battery.metric != LITERAL or battery.raw.value is None:
            continue
        model = scores.models.get(battery.player, battery.player)
        best = None if battery.mindless is None else battery.mindless.value
        above = None
        if best is not None and best < 100:
            above = (battery.raw.value - best) / (100 - best)
        strict = scores.strict.get(battery.player, NO_STRICT)
        for row in rows:
            if row.metric == LITERAL or scores.models.get(row.player, row.player) != model:
                continue
            lines.append(
                LiteralBeside(
                    model=model,
                    literal=battery.raw,
                    mindless=best,
                    above=above,
                    strict=strict,
                    game=row.game,
                    seat=row.seat,
                    player=row.player,
                    knowing=row.skill,
                    doing=row.doing,
                )
            )
    return lines
