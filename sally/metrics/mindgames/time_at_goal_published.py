"""The same as published, where ties are settled by the end."""

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.metrics.persuasion import GAMES, finished, won_with_look_ahead


def _measure(played: Played, seat: Seat) -> float | None:
    return (
        sum(won_with_look_ahead(played)) / len(won_with_look_ahead(played))
        if finished(played)
        else None
    )


METRIC = Metric(
    name="mindgames_time_at_goal_published",
    about="share of messages after which the goal is chosen, ties settled by the final choice",
    measure=_measure,
    games=GAMES,
    published=True,
    label="time at goal, published",
)
