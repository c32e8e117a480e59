"""Tables of level_k: figures that need no model are computed; models are compared with people."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import exp, factorial

import numpy as np

from sally.analysis.episodes.paper_store import Conditions, Known, same_model
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.level_k import depths, solvers
from sally.games.level_k.k_tom import KTom
from sally.games.level_k.minds import NOTHING, cognitive_hierarchy, gains_of, k_tom, ladder
from sally.games.level_k.payoffs import Contest, Pennies, Request
from sally.games.level_k.people import Choices, published
from sally.games.level_k.rules import LevelGame
from sally.games.level_k.solvers import Odds
from sally.output.tables.layout import Column, Layout, Stub
from sally.output.tables.reproduce import Effort, Engine
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate, exact

ONE, TWO = Seat("player_1"), Seat("player_2")
REQUEST = LevelGame(pays=Request())
COINS = LevelGame(pays=Pennies(), rounds=60)
TAU = 1.5  # Camerer, Ho and Chong 2004: the mean that fits many games
MOST_MATCHES = 200  # matches of two k-ToMs in a cell; the deeper ones take a tenth of a second each
GIVEN = tuple((n // 2, n % 2) for n in (3, 1, 3, 2, 0, 2, 1, 3, 0, 3, 1, 2))  # (own, other)
PEOPLE = "people"
FITTED = "levels fitted to people"
HIERARCHY = f"hierarchy, mean {TAU:g}"
EQUILIBRIUM = "equilibrium"
APART = {f"distance to people: {who}": who for who in (EQUILIBRIUM, FITTED, HIERARCHY)}
PAID = ("best reply to people", "what it pays", "what an equilibrium player earns from people")


def people() -> Choices:
    return published()["request"]


# --- the request game -----------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _fit(seed: int) -> depths.LevelMixture:
    return depths.fit_levels(REQUEST, ONE, people().counts, seed=seed)


@lru_cache(maxsize=4)
def _tau(seed: int) -> Estimate:
    return depths.fitted_tau(REQUEST, ONE, people().counts, seed=seed)


def _asked(who: str, effort: Effort) -> Odds | None:
    """Return the probability of each request; None if it cannot be computed."""
    if who == EQUILIBRIUM:
        return solvers.equilibrium(REQUEST, ONE)
    if who == FITTED:
        fit = _fit(effort.seed)
        levels = [mind.does(NOTHING) for mind in ladder(REQUEST, ONE)]
        parts = [(share.value or 0.0, odds) for share, odds in zip(fit.shares, levels, strict=True)]
        even = solvers.evenly(REQUEST.menu(ONE))
        return solvers.mix_odds([*parts, (fit.error.value or 0.0, even)])
    if who == HIERARCHY:
        return _poisson(REQUEST)
    return None


def _poisson(game: LevelGame) -> Odds:
    """Return the odds of requests in a cognitive-hierarchy population whose level 0 chooses
    uniformly."""
    parts = []
    for k in range(9):
        does = cognitive_hierarchy(game, ONE, k, TAU, "uniform").does(NOTHING)
        parts.append((exp(-TAU) * TAU**k / factorial(k), does))
    return solvers.mix_odds(parts)


# --- theory and fits ------------------------------------------------------------------------------


def _theory(what: str, effort: Effort) -> Estimate | None:
    if what.startswith("contest of whole numbers"):
        agreed = solvers.agreements(LevelGame(pays=Contest(players=15)))
        return exact(agreed[0] if "lowest" in what else agreed[-1])
    if what.startswith("newspaper contest"):
        contest = Contest(players=20)
        crowd = _poisson(LevelGame(pays=contest))
        return exact(float(contest.fraction) * solvers.mean(crowd))
    if what in PAID:
        return _paid(what)
    if what in APART:
        odds = _asked(APART[what], effort)
        return None if odds is None else exact(depths.distance(odds, people().odds))
    fit = _fit(effort.seed)
    levels = {f"people of level {k}, share": share for k, share in enumerate(fit.shares)}
    found = {
        **levels,
        "people who ask at random, share": fit.error,
        "people's mean level": fit.depth,
        "people's mean level in a hierarchy": _tau(effort.seed),
        "distance of two samples of people": floor(effort.seed),
    }
    return found.get(what)


def _paid(what: str) -> Estimate:
    worth = solvers.worths(REQUEST, ONE, [people().odds])
    assert worth is not None  # a game of two seats always has a value here
    menu = REQUEST.menu(ONE)
    if what == "best reply to people":
        return exact(menu[int(np.argmax(worth))])
    if what == "what it pays":
        return exact(max(worth))
    mine = solvers.equilibrium(REQUEST, ONE)
    return exact(sum(p * worth[menu.index(move)] for move, p in mine.items()))


@lru_cache(maxsize=4)
def floor(seed: int, draws: int = 1000) -> Estimate:
    """Return the expected total variation between two samples of one population."""
    odds = np.array([people().odds.get(move, 0.0) for move in REQUEST.menu(ONE)])
    n, chance = people().people, Stream("level_k", "floor", seed).generator()
    one, two = (chance.multinomial(n, odds, size=draws) / n for _ in range(2))
    apart = np.abs(one - two).sum(axis=1) / 2  # the same as `depths.distance`, a thousand times
    low, high = np.quantile(apart, [0.025, 0.975])
    return Estimate(float(apart.mean()), float(low), float(high), n, "sampling")


# --- k-ToM ----------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def duel(first: int, second: int, matches: int, seed: int) -> Estimate:
    """Return the points per round of one k-ToM player against another, over matches of sixty
    rounds."""
    one, two = k_tom(COINS, ONE, first), k_tom(COINS, TWO, second)
    won = []
    for number in range(matches):
        draws, state = Stream(seed, "duel", first, second, number), COINS.start()
        for _ in range(COINS.rounds):
            mine = draws.draw(one.does(COINS.observe(state, ONE)))
            theirs = draws.draw(two.does(COINS.observe(state, TWO)))
            state = COINS.step(state, {ONE: mine, TWO: theirs})
        won.append(COINS.payoffs(state)[ONE] / COINS.rounds)
    return lone_by_rule(won)


def _chance(k: int, seat: str) -> Estimate:
    thinks = KTom(gains_of(COINS, Seat(seat)), k)
    mind = thinks.start
    for own, other in GIVEN:
        mind = thinks.after(mind, own, other)
    return exact(round(thinks.chance(mind), 6))  # as many decimals as were printed


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Return a table value that needs no language model; None for all other values."""
    if metric == "number":
        return _theory(str(row["what"]), effort)
    if metric == "won_per_round":
        pair = int(row["first"]), int(row["second"])
        return duel(*pair, min(effort.repeats, MOST_MATCHES), effort.seed)
    if metric == "chance":
        return _chance(int(row["k"]), str(row["seat"]))
    odds = _asked(str(row["model"]), effort)
    return None if odds is None else exact(100 * odds.get(int(row["number"]), 0.0))


# --- episodes -------------------------------------------------------------------------------------


def facts(played: Played) -> Conditions | None:
    """Return the conditions of an 11-20 game of one round, as people played it; None for other
    games."""
    game, who = played.replay.game, played.episode.setup.lineup.get(ONE)
    if not isinstance(game, LevelGame) or game != REQUEST or who is None:
        return None
    if who.player != "language":
        return None
    return {"model": str(who.params.get("model"))}


def tabulates(row: Conditions, metric: str, known: Known, model: str | None) -> Estimate | None:
    """Return the share of a model's games in which it requested this number."""
    wanted = model or str(row.get("model"))
    if metric != "percent":
        return None
    asked = [
        move
        for fact, played in known
        if same_model(str(fact["model"]), wanted)
        and (move := played.replay.move(0, ONE)) is not None
    ]
    if not asked:
        return None
    return lone_by_rule([100.0 * (move == int(row["number"])) for move in asked], (0, 100))


def cannot(row: Conditions, metric: str) -> str | None:
    """Return why people's own values cannot be recomputed; None for rows of models."""
    return "people's own choices" if row.get("model") == PEOPLE else None


def _lines() -> Sequence[tuple[Conditions, str]]:
    numbers = REQUEST.menu(ONE)
    return [
        ({"model": who, "number": number}, "percent")
        for who in (EQUILIBRIUM, FITTED, HIERARCHY)
        for number in numbers
    ]


def _fits() -> Sequence[tuple[Conditions, str]]:
    names = (
        *PAID,
        *(f"people of level {k}, share" for k in range(depths.LEVELS)),
        "people who ask at random, share",
        "people's mean level",
        "people's mean level in a hierarchy",
        "distance of two samples of people",
        *APART,
    )
    return [({"what": name}, "number") for name in names]


PERCENT = Layout(
    ("model",),
    (Stub("Who", lambda row: str(row["model"])),),
    tuple(Column(str(n), "percent", {"number": n}, "asks for", 1) for n in REQUEST.menu(ONE)),
)

ENGINE = Engine(
    computes,
    {},
    ONE,
    facts,
    of_setup=True,
    tabulates=tabulates,
    cannot=cannot,
    layouts={"people": PERCENT},
    beside={"people": _lines(), "theory": _fits()},
)
