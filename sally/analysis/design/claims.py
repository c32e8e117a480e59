"""Checklist for claims: which claims about a player the episodes of a store support.

Three claims are checked for each row of a profile, with the reasons against each:

- *knows*: predictions beyond the best mindless rule; - *acts on*: moves that follow these
predictions beyond the player's own habits; - *theory of mind*: both, in a study whose arms rule out
simpler explanations.

A claim that is not refused may still be wrong: the checklist covers some simple explanations, not
all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from sally.analysis.profile.profile import ProfileRow
from sally.core.errors import listed
from sally.stats.intervals import FEW, Estimate

KNOWS, ACTS_ON, THEORY = "knows", "acts on", "theory of mind"
ARMS = {  # arm -> what its absence leaves open
    "labels": "labels and their order never change, so a key and its meaning cannot be told apart",
    "not asked": "no arm without questions, so the questions may have changed the play",
    "twin": "no arm with a mechanism instead of a mind (a words pack `*_twin`)",
}
HALF = 50.0  # percent of moves whose best reply depends on the prediction


class Verdict(msgspec.Struct, frozen=True):
    """The claims about one player in one game that its episodes do not support, with reasons."""

    game: str
    seat: str
    cell: str
    part: str
    player: str
    episodes: int
    clusters: int
    refused: dict[str, tuple[str, ...]]  # word -> reasons; empty: nothing speaks against it

    @property
    def allowed(self) -> tuple[str, ...]:
        """The claims that no check refused."""
        return tuple(word for word, reasons in self.refused.items() if not reasons)


def verdicts(rows: Sequence[ProfileRow]) -> list[Verdict]:
    """Return, for each row of a profile, which claims its episodes do not support."""
    return [_verdict(row) for row in rows]


def _verdict(row: ProfileRow) -> Verdict:
    few = _few(row)
    knows = (*few, *_against_knowing(row))
    acts = (*few, *_against_acting(row))
    acts += ("the player is not shown to know anything that it could act on",) if knows else ()
    missing = tuple(why for arm, why in ARMS.items() if arm not in row.arms)
    first = [word for word, why in ((KNOWS, knows), (ACTS_ON, acts)) if why]
    theory = ((f"{listed(first, 'and')} {'is' if len(first) == 1 else 'are'} refused",)
              if first else ()) + missing  # fmt: skip
    return Verdict(row.game, row.seat, row.cell, row.part, row.player, row.episodes,
                   row.cluster_count, {KNOWS: knows, ACTS_ON: acts, THEORY: theory})  # fmt: skip


def _few(row: ProfileRow) -> list[str]:
    if row.cluster_count >= FEW:
        return []
    return [f"{row.cluster_count} clusters ({row.clusters}), fewer than {FEW}"]


def _against_knowing(row: ProfileRow) -> Iterator[str]:
    if row.beyond.value is None:
        yield row.why.get("beyond", "no prediction about others was scored")
    elif not _above_zero(row.beyond):
        yield f"knowing beyond rules is not above 0: {_said(row.beyond)}"


def _against_acting(row: ProfileRow) -> Iterator[str]:
    if row.called:
        yield f"a habit explains the moves: it {row.called}"
    if row.acting_beyond.value is None:
        yield row.why.get("acting_beyond", "no move followed a prediction")
    elif not _above_zero(row.acting_beyond):
        habit = f" ({row.habit.rule} explains most)" if row.habit is not None else ""
        yield f"acting beyond habits is not above 0: {_said(row.acting_beyond)}{habit}"
    elif not _above_zero(row.acting_beyond_move):
        yield "always the same move explains it: acting beyond that is not above 0" + (
            f": {_said(row.acting_beyond_move)}" if row.acting_beyond_move.value is not None else ""
        )
    elif not _above_zero(found := row.acting_beyond_repetition):
        yield "its own last move repeated explains it: acting beyond that is not " + (
            f"above 0: {_said(found)}" if found.value is not None else "above 0"
        )
    if row.decides is not None and row.decides < HALF:
        yield f"the best reply depends on the prediction in {row.decides:.0f} % of moves only"


def _above_zero(found: Estimate) -> bool:
    return found.interval is not None and found.interval[0] > 0


def _said(found: Estimate) -> str:
    if found.interval is None:
        return f"{found.value:.2f}, without an interval"
    return f"{found.value:.2f} [{found.interval[0]:.2f}, {found.interval[1]:.2f}]"
