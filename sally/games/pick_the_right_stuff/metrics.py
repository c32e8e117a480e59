"""Metrics of Pick the Right Stuff: how often the manager names the box in which the user believes
its item to be, by our rule for unreadable replies and by that of tang2024."""

from __future__ import annotations

from sally.core.log.events import Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.pick_the_right_stuff.picks import picks, share_right
from sally.games.pick_the_right_stuff.rules import LockerGame
from sally.games.pick_the_right_stuff.rules_of_thumb import game_score


def _score(played: Played, seat: Seat) -> float | None:
    return share_right(picks(played, seat))


def score_at_random(setup: Setup, seat: Seat) -> float:
    """Return the expected percentage of right answers of a player that draws from the menu.

    The menu has every box, empty ones included; a guess among the occupied boxes (the player
    `random` of this game) is a rule, which scores more. The value is exact, because the answers do
    not affect what happens in the locker.
    """
    game = registry.game(setup.instance.game).build(setup.instance.params)
    assert isinstance(game, LockerGame)
    menu = tuple(range(game.instance.users))
    return game_score(game.instance, lambda view: menu)


def _score_published(played: Played, seat: Seat) -> float | None:
    if played.episode.payoffs is None:
        return None
    right = [pick.is_right_at_once for pick in picks(played, seat)]
    return 100 * sum(right) / len(right)


def _score_true_belief(played: Played, seat: Seat) -> float | None:
    return share_right(picks(played, seat), lambda pick: not pick.is_false_belief)


def _score_false_belief(played: Played, seat: Seat) -> float | None:
    return share_right(picks(played, seat), lambda pick: pick.is_false_belief)


METRICS = (
    Metric(
        name="score",
        bounds=(0, 100),
        about="share of answered questions in which the believed box was named, without forfeits",
        measure=_score,
        at_random=score_at_random,
        better="higher",
        unit="%",
    ),
    Metric(
        name="score_published",
        about="share of users whose believed box was named at the first try; unreadable is wrong",
        measure=_score_published,
        better="higher",
        unit="%",
        published=True,
    ),
    Metric(
        name="score_true_belief",
        about="share of answered questions that were right, among users with a true belief",
        measure=_score_true_belief,
        better="higher",
        unit="%",
    ),
    Metric(
        name="score_false_belief",
        about="share of answered questions that were right, among users with a false belief",
        measure=_score_false_belief,
        better="higher",
        unit="%",
    ),
)
