"""Metrics of Taboo: points, regret against the best hints for this guesser, and learning."""

from __future__ import annotations

from sally.core.log.events import Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played, cache_by_seat
from sally.games.association.lexicon import cards
from sally.games.association.measures import declared_mind, learning, losses, mean
from sally.games.taboo.partners import PARTNERS
from sally.games.taboo.rules import GIVER, GUESSER, Hint, Taboo, is_right
from sally.games.taboo.solver import best_hint, guess, points_with_hint


def points(played: Played, seat: Seat) -> list[float]:
    """Return the points of each round."""
    past = played.replay.view(len(played.replay), seat).past
    return [float(past_round.points) for past_round in past]


def random_points(setup: Setup, seat: Seat) -> float | None:
    """Return the expected points per round of a guesser that names random nouns of the list.

    The result is None for a giver, because the guesses after random hints are not enumerated.
    """
    game = registry.game(setup.instance.game).build(setup.instance.params)
    assert isinstance(game, Taboo)
    if seat != GUESSER or setup.lineup[GIVER].player not in PARTNERS:
        return None
    means = []
    for problem in game.row[: game.rounds]:
        right = sum(is_right(problem.target, card) for card in cards()) / len(cards())
        means.append(sum((game.hints - n) * right * (1 - right) ** n for n in range(game.hints)))
    return mean(means)


@cache_by_seat
def regrets(played: Played, seat: Seat) -> list[float]:
    """Return, for each round, the best possible points with this guesser minus the points earned.

    The list is empty if the guesser's associations are not known.
    """
    game, regret_list = played.replay.rules(Taboo), []
    for number, earned in enumerate(points(played, seat)):
        mind = declared_mind(played, GUESSER, number) if seat == GIVER else None
        if mind is None:
            return []
        problem = game.row[number]
        best = points_with_hint(mind, problem, (), best_hint(mind, problem)[0], game.hints)
        regret_list.append(best - earned)
    return regret_list


@cache_by_seat
def hint_outcomes(played: Played, seat: Seat) -> list[tuple[bool, bool, bool | None]]:
    """Return three flags for each hint: whether any hint would have led the guesser to the word,
    whether this hint does, and whether the giver predicted that it does.

    Each hint is judged given the earlier hints and guesses of its round, using the associations of
    the scripted guesser.
    """
    replay, game, outcomes = played.replay, played.replay.rules(Taboo), []
    for turn, moves in enumerate(replay.moves):
        hint = moves.get(GIVER)
        if seat != GIVER or not isinstance(hint, Hint):
            continue
        view = replay.view(turn, GIVER)
        mind = declared_mind(played, GUESSER, len(view.past))
        if mind is None or game.objection(replay.state(turn), hint.word) is not None:
            continue
        problem = game.row[len(view.past)]
        could = best_hint(mind, problem, view.tries)[1]
        did = guess(mind, view.tries, hint.word) == problem.target
        report = replay.report(turn, GIVER, "will_find")
        expected = None if report is None or report.value is None else report.value == "yes"
        outcomes.append((could, did, expected))
    return outcomes


def _share_found(played: Played, seat: Seat) -> float | None:
    past = played.replay.view(len(played.replay), seat).past
    return mean([float(past_round.found) for past_round in past])


def _turns(played: Played, seat: Seat) -> float | None:
    past = played.replay.view(len(played.replay), seat).past
    return mean([float(len(past_round.tries)) for past_round in past])


def split(played: Played, seat: Seat) -> list[tuple[float, float]]:
    """Return the (inference, translation) loss of each hint for which the giver predicted the
    guess, if some hint would have led the guesser to the word.

    If the hint failed, the loss is 1: an inference loss if the giver expected the hint to succeed,
    and a translation loss if the giver gave the hint although it expected a miss.
    """
    return [
        (float(not did and expected), float(not did and not expected))
        for could, did, expected in hint_outcomes(played, seat)
        if could and expected is not None
    ]


METRICS = (
    Metric(
        "taboo_points",
        "mean points of a round",
        lambda played, seat: mean(points(played, seat)),
        at_random=random_points,
        better="higher",
        unit="points per round",
        within=lambda game, seat: (0.0, float(game.hints)),
        label="points",
        headline=True,
    ),
    Metric(
        "taboo_found", "share of words that were found", _share_found, better="higher", unit="share"
    ),
    Metric("taboo_hints", "hints that a round took", _turns, better="lower", unit="hints"),
    Metric(
        "taboo_regret",
        "points of the best hints for this guesser, over the whole list, minus those earned",
        lambda played, seat: mean(regrets(played, seat)),
        better="lower",
        unit="points per round",
        label="regret per decision",
        headline=True,
    ),
    *learning("taboo", regrets),
    *losses(
        "taboo",
        split,
        "share of hints that missed although expected to succeed, if one could",
        "share of hints that missed as expected, although another would have succeeded",
        "share",
    ),
)
