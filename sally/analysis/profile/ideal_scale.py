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
from sally.frames.replays import played
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
    found: dict[tuple[str, str, str], _Sums] = {}
    for episode in episodes:
        game = episode.setup.instance.game
        find: Find | None = registry.part(game, "ideal")
        if find is None:
            continue
        whole = played(episode)
        partners = "/".join(label(who) for who in episode.setup.lineup.values())
        for seat, who in episode.setup.lineup.items():
            problem = find(whole, Seat(seat))
            if problem is not None and problem.rounds:
                sums = found.setdefault((game, seat, label(who)), _Sums())
                _add(sums, problem, f"{episode.setup.instance.id} {partners}")
    return [_row(key, found[key]) for key in sorted(found)]


def has_pool(game: str) -> bool:
    """Return whether a game declares a pool of partners."""
    return registry.part(game, "ideal") is not None


def without_pool(games: Iterable[str]) -> list[str]:
    """Return a sentence for each game that lacks an ideal observer or a Bayes-adaptive player, in
    all or in some of its variants.

    The sentence gives the reason, which the game's card states.
    """
    found = {}
    for game in dict.fromkeys(games):
        card = registry.card(game)
        if card is not None and card.no_ideal:
            found[card.family] = f"{card.family} has no ideal line: {card.no_ideal}."
    return list(found.values())


def _add(sums: _Sums, problem: IdealProblem | ObserverProblem, cluster: str) -> None:
    seen = problem.rounds
    if isinstance(problem, ObserverProblem):
        expected, earned = list(problem.forecasts), problem.earned
    else:
        found = forecasts(problem.ideal, seen)
        expected, earned = [odds for odds, _ in found], sum(paid for _, paid in found)
    asked = right = best = guess = 0.0
    for one, odds in zip(seen, expected, strict=True):
        if one.predicted is not None:
            asked += 1
            guess += 1 / len(odds)
            right += _hit(np.array(one.predicted), one.theirs)
            best += _hit(odds, one.theirs)
    sums.clusters.append(cluster)
    for name, value in (("asked", asked), ("right", right), ("ideal", best), ("guess", guess)):
        getattr(sums, name).append(value)
    many = len(seen)
    if isinstance(problem, ObserverProblem):
        sums.per = "episode"
        sums.earned.append(earned)
        for name in PARTS:
            sums.parts.setdefault(name, []).append(np.nan)
        return
    ideal = problem.ideal
    sums.per = "episode" if problem.paid_once else "round"
    units = 1 if problem.paid_once else many
    sums.earned.append(earned / units)
    sums.adaptive.append(ideal.value(ideal.start(), many) / units)
    if problem.about_reply:  # such a prediction implies no other move
        seen = tuple(one._replace(predicted=None) for one in seen)
    parts = split(ideal, problem.place, seen)
    for name, part in PARTS.items():
        value = getattr(parts, part)
        sums.parts.setdefault(name, []).append(np.nan if value is None else value / units)


def _hit(odds: np.ndarray[tuple[int, ...], np.dtype[np.float64]], theirs: int) -> float:
    """Return whether the likeliest move was made; ties are split."""
    top = odds >= odds.max() - TIE
    return float(top[theirs]) / float(top.sum())


def _row(key: tuple[str, str, str], sums: _Sums) -> IdealRow:
    game, seat, player = key
    right, ideal, guess, asked = (
        np.array(getattr(sums, name)) for name in ("right", "ideal", "guess", "asked")
    )
    kept = asked > 0
    names = [name for name, one in zip(sums.clusters, kept, strict=True) if one]

    def mean(values: list[float]) -> Estimate:
        there = [not np.isnan(value) for value in values]
        known = [value for value, one in zip(values, there, strict=True) if one]
        where = [name for name, one in zip(sums.clusters, there, strict=True) if one]
        return mean_by_rule(known, where)

    return IdealRow(
        game=game,
        seat=seat,
        player=player,
        episodes=len(sums.clusters),
        per=sums.per,
        pool_accuracy=ratio_by_rule(100 * right[kept], asked[kept], names, (0.0, 100.0)),
        ideal_accuracy=ratio_by_rule(100 * ideal[kept], asked[kept], names, (0.0, 100.0)),
        knowing_of_ideal=ratio_by_rule((right - guess)[kept], (ideal - guess)[kept], names),
        earned=mean(sums.earned),
        adaptive=float(np.mean(sums.adaptive)) if sums.adaptive else None,
        **{name: mean(sums.parts[name]) for name in PARTS},
    )
