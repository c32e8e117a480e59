"""The questions of Pick the Right Stuff, one by one.

Each question has three boxes: the box named in the answer, the box in which the user believes its
item to be, and the box that really holds the item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from sally.core.log.events import Forfeited, Moved
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.pick_the_right_stuff.locker import Locker, believed_box, occupied_in, true_box


class Pick(msgspec.Struct, frozen=True):
    """One question and its answer."""

    turn: int
    user: int
    answered: int | None  # None: forfeited
    tries: int
    believed: int
    true: int
    items: int  # in the locker when it came

    @property
    def is_right(self) -> bool:
        return self.answered == self.believed

    @property
    def is_false_belief(self) -> bool:
        return self.believed != self.true

    @property
    def is_right_at_once(self) -> bool:
        """Whether the answer is right by the published rule, which counts an unreadable first
        reply as wrong."""
        return self.is_right and self.tries == 1


def picks(played: Played, seat: Seat) -> Iterator[Pick]:
    """Yield every question asked, in order."""
    tries = {
        e.turn: e.tries
        for e in played.episode.events
        if isinstance(e, Moved | Forfeited) and e.seat == seat
    }
    for step in played.replay.steps():
        locker: Locker = step.before.locker
        if (user := locker.asked) is not None:
            yield Pick(
                step.turn,
                user,
                step.moves.get(seat),
                tries[step.turn],
                believed_box(locker, user),
                true_box(locker, user),
                len(occupied_in(locker.states[-1])),
            )


def share_right(
    all_picks: Iterable[Pick], counts: Callable[[Pick], bool] = lambda pick: True
) -> float | None:
    """Return the percentage of right answers among the answers given; forfeits are excluded."""
    answered_picks = [p for p in all_picks if counts(p) and p.answered is not None]
    return (
        100 * sum(p.is_right for p in answered_picks) / len(answered_picks)
        if answered_picks
        else None
    )
