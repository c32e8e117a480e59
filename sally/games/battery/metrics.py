"""Metrics of the battery: correct answers, stories answered entirely correctly, and answers that
change with the order of the options."""

from __future__ import annotations

from collections.abc import Callable

from sally.core.log.events import Setup
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, cache_by_seat
from sally.games.battery.items import Item
from sally.games.battery.rules import Battery
from sally.games.battery.scores import majority, strict_groups, strict_share


@cache_by_seat
def answers(played: Played, seat: Seat) -> list[tuple[Item, list[int | None]]]:
    """Return the scored items of an episode, each with its answers in every order of the
    options."""
    game, final = played.replay.rules(Battery), played.replay.states[-1]
    found: dict[str, tuple[Item, list[int | None]]] = {}
    for turn, given in zip(game.schedule, final.answers, strict=False):
        if not turn.practice and turn.item.sound:
            found.setdefault(turn.item.id, (turn.item, []))[1].append(given)
    return list(found.values())


def _share(
    played: Played, seat: Seat, fits: Callable[[Item], bool] = lambda item: True
) -> float | None:
    """Return the percentage of items whose majority answer is right; unanswered items are left
    out."""
    right = [
        chosen == item.answer
        for item, given in answers(played, seat)
        if fits(item) and (chosen := majority(given)) is not None
    ]
    return 100 * sum(right) / len(right) if right else None


def _strict(played: Played, seat: Seat) -> float | None:
    there = answers(played, seat)
    if played.episode.payoffs is None:
        return None
    right = {item.id for item, given in there if majority(given) == item.answer}
    return strict_share(strict_groups([item for item, _ in there]), right)


def _published(played: Played, seat: Seat) -> float | None:
    """Return the percentage of answers that are right by the published keys; an unreadable answer
    is wrong."""
    there = answers(played, seat)
    if not there or played.episode.payoffs is None:
        return None
    right = [
        majority(given) == (item.answer if item.published_answer is None else item.published_answer)
        for item, given in there
    ]
    return 100 * sum(right) / len(right)


def _flips(played: Played, seat: Seat) -> float | None:
    """Return the percentage of items whose answer changes with the order of the options."""
    several = [
        {answer for answer in given if answer is not None}
        for _, given in answers(played, seat)
        if sum(answer is not None for answer in given) > 1
    ]
    return 100 * sum(len(found) > 1 for found in several) / len(several) if several else None


def literal_at_random(setup: Setup, seat: Seat) -> float | None:
    """Return the expected percentage of right answers of random guesses; None for imported items,
    whose text may not be on this machine."""
    game = Battery(**setup.instance.params)
    if game.generator == "file":
        return None
    return 100 * sum(1 / len(item.options) for item in game.items) / len(game.items)


def _of_order(order: int) -> Metric:
    return Metric(
        name=f"literal_order_{order}",
        about=f"share of answered questions of order {order} that are right",
        measure=lambda played, seat: _share(played, seat, lambda item: item.order == order),
        better="higher",
        unit="%",
    )


METRICS = (
    Metric(
        name="literal",
        about="share of answered questions that are right, by the majority over orders of the "
        "options; forfeits and flagged items are left out",
        measure=_share,
        better="higher",
        unit="%",
        headline=True,
        at_random=literal_at_random,
    ),
    Metric(
        name="literal_strict",
        about="share of groups of twins, or of stories, whose questions are all right; a forfeit "
        "is not right",
        measure=_strict,
        better="higher",
        unit="%",
        headline=True,
    ),
    Metric(
        name="order_flips",
        about="share of items whose answer changes with the order of the options",
        measure=_flips,
        better="lower",
        unit="%",
    ),
    Metric(
        name="literal_published",
        about="share of right answers by the published keys; unreadable is wrong",
        measure=_published,
        better="higher",
        unit="%",
        published=True,
    ),
    *(_of_order(order) for order in range(5)),
)
