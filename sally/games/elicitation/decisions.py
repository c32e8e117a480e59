"""Single decisions of elicitation: scores that include forfeited decisions."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.elicitation.rules import PLAYER, Elicitation
from sally.parts.importers import RECORDED


def INTENDED(played: Played, seat: Seat) -> tuple[float | None, float | None, float | None]:
    """Return the payoff with a forfeit counted as 0, with a forfeit counted at its best, and the
    optimum, which is not computed here.

    In a recorded decision, a move that the player did not choose says nothing about the player, so
    nothing is counted.
    """
    values = played.replay.rules(Elicitation).true_values
    is_recorded = played.episode.setup.lineup[str(PLAYER)].player == RECORDED
    if is_recorded or values is None or played.episode.payoffs is None:
        return None, None, None
    return 0.0, max(values), None
