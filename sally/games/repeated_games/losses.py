"""Where the losses of a repeated game come from, round by round."""

from __future__ import annotations

from sally.core.game import Seat
from sally.core.metric import Played, Terms
from sally.games.repeated_games import rounds


def LOSSES(played: Played, seat: Seat) -> Terms:
    """The mean losses of the rounds that were predicted, and the horizon term."""
    split = rounds.losses(played, seat)
    n = len(split)
    return Terms(
        inference=sum(each.inference for each in split) / n if n else None,
        translation=sum(each.translation for each in split) / n if n else None,
        format=rounds.format_loss(played, seat),
        horizon=rounds.horizon_term(played, seat),
    )
