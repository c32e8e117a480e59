"""Comparison of players with the ideal observer and the Bayes-adaptive player.

Both know the pool from which the game draws partners. Knowing has a second scale: 0 is an even
guess and 1 the ideal observer on the same questions, given the same past. Regret is divided into
the cost of exploration (what even the Bayes-adaptive player gives up on average), inference,
translation and luck, which add up to the regret. Where Bayes-adaptive play is not computed, only
knowing is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import numpy as np

from sally.core.log.events import Episode, label
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.frames.replays import replay_for_measures
from sally.frames.schema import Column
from sally.stats.cluster_interval import mean_by_rule, ratio_by_rule
from sally.stats.ideal import TIE, IdealProblem, ObserverProblem, forecasts, split
from sally.stats.intervals import Estimate

Find = Callable[[Played, Seat], IdealProblem | ObserverProblem | None]


class IdealRow(msgspec.Struct, frozen=True):
    """One player in one game; regret and its parts are in payoffs per round or episode."""

    game: str
    seat: str
    player: str
    episodes: int
    per: str  # the unit of payoffs: "round", or "episode" if a game pays once, at its end
    pool_accuracy: Estimate  # of its predictions in rounds played with the pool, in percent
    ideal_accuracy: Estimate  # of the ideal observer on the same questions, in percent
    knowing_of_ideal: Estimate  # 0: an even guess, 1: the ideal observer
    earned: Estimate
    adaptive: float | None  # what the Bayes-adaptive player expects over the pool, if computed
    pool_regret: Estimate  # over the rounds that were played
    price: Estimate
    pool_inference: Estimate  # by the forecast of the pool; `inference` of a profile is by truth
    pool_translation: Estimate
    by_moves: Estimate  # inference and translation; known without predictions too
    pool_luck: Estimate


IDEAL_COLUMNS = (
    Column("pool_accuracy", "right %", "%", 2, "higher",
           "predictions that were right in rounds played with the pool"),
    Column("ideal_accuracy", "ideal %", "%", 2, "",
           "the same of the ideal observer on the same questions"),
    Column("knowing_of_ideal", "of ideal", "", 2, "higher",
           "0 for a uniform guess, 1 for the ideal observer"),
    Column("earned", "earned", "", 2, "higher", "payoff per round, or per episode"),
    Column("pool_regret", "pool regret", "", 2, "lower",
           "best play against the known partner less what was earned = price + pool inference + "
           "pool translation + pool luck"),
    Column("price", "price", "", 2, "",
           "what even the Bayes-adaptive player gives up to find out"),
    Column("pool_inference", "pool inference", "", 2, "lower",
           "lost by the player's own prediction instead of the forecast"),
    Column("pool_translation", "pool translation", "", 2, "lower",
           "lost by not acting on its own prediction"),
    Column("by_moves", "by moves", "", 2, "lower",
           "inference and translation together, known without predictions too"),
    Column("pool_luck", "pool luck", "", 2, "",
           "which partner was drawn, and what it happened to do"),
)  # fmt: skip


class _Sums(msgspec.Struct):
    per: str = "round"
    clusters: list[str] = []
    right: list[float] = []
    ideal: list[float] = []
    guess: list[float] = []
    asked: list[float] = []
    earned: list[float] = []
    adaptive: list[float] = []
    parts: dict[str, list[float]] = {}


PARTS = {  # field of a row -> part of the split
    "pool_regret": "regret",
    "price": "price",
    "pool_inference": "inference",
    "pool_translation": "translation",
    "by_moves": "moves",
    "pool_luck": "luck",
}


def ideal_rows(episodes: Iterable[Episode]) -> list[IdealRow]:
    """Return one row for each player, game and seat that met partners from the game's declared
    pool."""
    sums_by_key: dict[tuple[str, str, str], _Sums] = {}
    for episode in episodes:
        game = episode.setup.instance.game
        find: Find | None = registry.part(game, "ideal")
        if find is None:
            continue
        replayed = replay_for_measures(episode)
        partners = "/".join(label(player) for player in episode.setup.lineup.values())
        for seat, player in episode.setup.lineup.items():
            problem = find(replayed, Seat(seat))
            if problem is not None and problem.rounds:
                sums = sums_by_key.setdefault((game, seat, label(player)), _Sums())
                _add(sums, problem, f"{episode.setup.instance.id} {partners}")
    return [_row(key, sums_by_key[key]) for key in sorted(sums_by_key)]


def has_pool(game: str) -> bool:
    """Return whether a game declares a pool of partners."""
    return registry.part(game, "ideal") is not None


def without_pool(games: Iterable[str]) -> list[str]:
    """Return a sentence for each game that lacks an ideal observer or a Bayes-adaptive player, in
    all or in some of its variants.

    The sentence gives the reason, which the game's card states.
    """
    sentences = {}
    for game in dict.fromkeys(games):
        card = registry.card(game)
        if card is not None and card.no_ideal:
            sentences[card.family] = f"{card.family} has no ideal line: {card.no_ideal}."
    return list(sentences.values())


def _add(sums: _Sums, problem: IdealProblem | ObserverProblem, cluster: str) -> None:
    rounds = problem.rounds
    if isinstance(problem, ObserverProblem):
        expected, earned = list(problem.forecasts), problem.earned
    else:
        predictions = forecasts(problem.ideal, rounds)
        expected, earned = [odds for odds, _ in predictions], sum(paid for _, paid in predictions)
    answered = right = best = guess = 0.0
    for game_round, odds in zip(rounds, expected, strict=True):
        if game_round.predicted is not None:
            answered += 1
            guess += 1 / len(odds)
            right += _hit(np.array(game_round.predicted), game_round.other_move)
            best += _hit(odds, game_round.other_move)
    sums.clusters.append(cluster)
    for name, value in (("asked", answered), ("right", right), ("ideal", best), ("guess", guess)):
        getattr(sums, name).append(value)
    count = len(rounds)
    if isinstance(problem, ObserverProblem):
        sums.per = "episode"
        sums.earned.append(earned)
        for name in PARTS:
            sums.parts.setdefault(name, []).append(np.nan)
        return
    ideal = problem.ideal
    sums.per = "episode" if problem.paid_once else "round"
    units = 1 if problem.paid_once else count
    sums.earned.append(earned / units)
    sums.adaptive.append(ideal.value(ideal.start(), count) / units)
    if problem.about_reply:  # such a prediction implies no other move
        rounds = tuple(game_round._replace(predicted=None) for game_round in rounds)
    parts = split(ideal, problem.place, rounds)
    for name, part in PARTS.items():
        value = getattr(parts, part)
        sums.parts.setdefault(name, []).append(np.nan if value is None else value / units)


def _hit(odds: np.ndarray[tuple[int, ...], np.dtype[np.float64]], move: int) -> float:
    """Return whether the likeliest move was made; ties are split."""
    top = odds >= odds.max() - TIE
    return float(top[move]) / float(top.sum())


def _row(key: tuple[str, str, str], sums: _Sums) -> IdealRow:
    game, seat, player = key
    right, ideal, guess, answered = (
        np.array(getattr(sums, name)) for name in ("right", "ideal", "guess", "asked")
    )
    has_answers = answered > 0
    names = [name for name, is_kept in zip(sums.clusters, has_answers, strict=True) if is_kept]

    def mean(values: list[float]) -> Estimate:
        is_known = [not np.isnan(value) for value in values]
        numbers = [value for value, is_kept in zip(values, is_known, strict=True) if is_kept]
        clusters = [name for name, is_kept in zip(sums.clusters, is_known, strict=True) if is_kept]
        return mean_by_rule(numbers, clusters)

    return IdealRow(
        game=game,
        seat=seat,
        player=player,
        episodes=len(sums.clusters),
        per=sums.per,
        pool_accuracy=ratio_by_rule(
            100 * right[has_answers], answered[has_answers], names, (0.0, 100.0)
        ),
        ideal_accuracy=ratio_by_rule(
            100 * ideal[has_answers], answered[has_answers], names, (0.0, 100.0)
        ),
        knowing_of_ideal=ratio_by_rule(
            (right - guess)[has_answers], (ideal - guess)[has_answers], names
        ),
        earned=mean(sums.earned),
        adaptive=float(np.mean(sums.adaptive)) if sums.adaptive else None,
        **{name: mean(sums.parts[name]) for name in PARTS},
    )
