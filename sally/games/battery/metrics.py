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
    answers_by_item: dict[str, tuple[Item, list[int | None]]] = {}
    for turn, answer in zip(game.schedule, final.answers, strict=False):
        if not turn.practice and turn.item.sound:
            answers_by_item.setdefault(turn.item.id, (turn.item, []))[1].append(answer)
    return list(answers_by_item.values())


def _share(
    played: Played, seat: Seat, fits: Callable[[Item], bool] = lambda item: True
) -> float | None:
    """Return the percentage of items whose majority answer is right; unanswered items are left
    out."""
    right = [
        chosen == item.answer
        for item, item_answers in answers(played, seat)
        if fits(item) and (chosen := majority(item_answers)) is not None
    ]
    return 100 * sum(right) / len(right) if right else None


def _strict(played: Played, seat: Seat) -> float | None:
    items_and_answers = answers(played, seat)
    if played.episode.payoffs is None:
        return None
    right = {
        item.id for item, item_answers in items_and_answers if majority(item_answers) == item.answer
    }
    return strict_share(strict_groups([item for item, _ in items_and_answers]), right)


def _published_share(played: Played, seat: Seat) -> float | None:
    """Return the percentage of answers that are right by the published keys; an unreadable answer
    is wrong."""
    items_and_answers = answers(played, seat)
    if not items_and_answers or played.episode.payoffs is None:
        return None
    right = [
        majority(item_answers)
        == (item.answer if item.published_answer is None else item.published_answer)
        for item, item_answers in items_and_answers
    ]
    return 100 * sum(right) / len(right)


def _flips(played: Played, seat: Seat) -> float | None:
    """Return the percentage of items whose answer changes with the order of the options."""
    answer_sets = [
        {answer for answer in item_answers if answer is not None}
        for _, item_answers in answers(played, seat)
        if sum(answer is not None for answer in item_answers) > 1
    ]
    return (
        100 * sum(len(answer_set) > 1 for answer_set in answer_sets) / len(answer_sets)
        if answer_sets
        else None
    )


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
        measure=_published_share,
        better="higher",
        unit="%",
        published=True,
    ),
    *(_of_order(order) for order in range(5)),
)
