"""What a persuader achieved and how it went about it."""

from __future__ import annotations

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.mindgames.persuasion import (
    appealed_to_all,
    disclosures,
    final_lead,
    finished,
    new_appeals,
    sunk,
    turned_down,
    won,
    won_with_look_ahead,
)


def _success(played: Played, seat: Seat) -> float | None:
    return float(won(played)[-1]) if finished(played) else None


def _lead(played: Played, seat: Seat) -> float | None:
    return float(final_lead(played)) if finished(played) else None


def _sink(played: Played, seat: Seat) -> float | None:
    return float(sunk(played)[-1]) if finished(played) else None


def _time_at_goal(played: Played, seat: Seat) -> float | None:
    return sum(won(played)) / len(won(played)) if finished(played) else None


def _time_at_goal_published(played: Played, seat: Seat) -> float | None:
    return (
        sum(won_with_look_ahead(played)) / len(won_with_look_ahead(played))
        if finished(played)
        else None
    )


def _disclosures(played: Played, seat: Seat) -> float | None:
    return float(sum(disclosures(played))) if finished(played) else None


def _motivational_appeals(played: Played, seat: Seat) -> float | None:
    return (
        float(sum(len(asked.likes) for asked in new_appeals(played))) if finished(played) else None
    )


def _informational_appeals(played: Played, seat: Seat) -> float | None:
    return (
        float(sum(len(asked.cells) for asked in new_appeals(played))) if finished(played) else None
    )


def _appealed_to_all(played: Played, seat: Seat) -> float | None:
    return float(appealed_to_all(played, inferential=True)) if finished(played) else None


def _appealed_to_all_literally(played: Played, seat: Seat) -> float | None:
    return float(appealed_to_all(played, inferential=False)) if finished(played) else None


def _turned_down(played: Played, seat: Seat) -> float | None:
    return float(turned_down(played)) if finished(played) else None


METRICS = (
    Metric(
        name="mindgames_success",
        bounds=(0, 1),
        about="1 if the target chose the goal in the end (moore2025)",
        measure=_success,
        better="higher",
        headline=True,
        label="success",
    ),
    Metric(
        name="mindgames_lead",
        about="the goal's value to the target minus that of the best other proposal, at the end",
        measure=_lead,
        better="higher",
        label="lead",
    ),
    Metric(
        name="mindgames_sink",
        bounds=(0, 1),
        about="1 if the target chose the trap in the end, the best for it once it knows everything",
        measure=_sink,
        better="lower",
        headline=True,
        label="trap",
    ),
    Metric(
        name="mindgames_time_at_goal",
        bounds=(0, 1),
        about="share of messages after which the target would choose the goal",
        measure=_time_at_goal,
        better="higher",
        label="time at goal",
    ),
    Metric(
        name="mindgames_time_at_goal_published",
        about="share of messages after which the goal is chosen, ties settled by the final choice",
        measure=_time_at_goal_published,
        unit="share",
        published=True,
        label="time at goal, published",
    ),
    Metric(
        name="mindgames_disclosures",
        about="cells told in the game, repeated ones included",
        measure=_disclosures,
        unit="cells",
        headline=True,
        label="told",
    ),
    Metric(
        name="mindgames_motivational_appeals",
        about="attributes whose worth to the target was asked for",
        measure=_motivational_appeals,
        unit="attributes",
        label="likes asked",
    ),
    Metric(
        name="mindgames_informational_appeals",
        about="cells that the target was asked about",
        measure=_informational_appeals,
        unit="cells",
        label="cells asked",
    ),
    Metric(
        name="mindgames_appealed_to_all",
        bounds=(0, 1),
        about="1 if every like and cell was asked for by the end; a ranking asks for both",
        measure=_appealed_to_all,
        headline=True,
        label="asked all",
    ),
    Metric(
        name="mindgames_appealed_to_all_literally",
        bounds=(0, 1),
        about="1 if every like and cell was asked for by the end, rankings not counted",
        measure=_appealed_to_all_literally,
        label="asked all, literally",
    ),
    Metric(
        name="mindgames_turned_down",
        about="messages that came back because they were false or could not be taken",
        measure=_turned_down,
        unit="messages",
        better="lower",
        label="came back",
    ),
)
