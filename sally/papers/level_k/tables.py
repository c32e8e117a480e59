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
from sally.games.level_k.people import Choices, read_published
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
APART = {f"distance to people: {name}": name for name in (EQUILIBRIUM, FITTED, HIERARCHY)}
PAID = ("best reply to people", "what it pays", "what an equilibrium player earns from people")


def people() -> Choices:
    return read_published()["request"]


# --- the request game -----------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _fit(seed: int) -> depths.LevelMixture:
    return depths.fit_levels(REQUEST, ONE, people().counts, seed=seed)


@lru_cache(maxsize=4)
def _tau(seed: int) -> Estimate:
    return depths.fitted_tau(REQUEST, ONE, people().counts, seed=seed)


def _request_odds(model_name: str, effort: Effort) -> Odds | None:
    """Return the probability of each request; None if it cannot be computed."""
    if model_name == EQUILIBRIUM:
        return solvers.equilibrium(REQUEST, ONE)
    if model_name == FITTED:
        fit = _fit(effort.seed)
        levels = [mind.does(NOTHING) for mind in ladder(REQUEST, ONE)]
        parts = [(share.value or 0.0, odds) for share, odds in zip(fit.shares, levels, strict=True)]
        even = solvers.evenly(REQUEST.menu(ONE))
        return solvers.mix_odds([*parts, (fit.error.value or 0.0, even)])
    if model_name == HIERARCHY:
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


def _theory(quantity: str, effort: Effort) -> Estimate | None:
    if quantity.startswith("contest of whole numbers"):
        agreed = solvers.agreements(LevelGame(pays=Contest(players=15)))
        return exact(agreed[0] if "lowest" in quantity else agreed[-1])
    if quantity.startswith("newspaper contest"):
        contest = Contest(players=20)
        crowd = _poisson(LevelGame(pays=contest))
        return exact(float(contest.fraction) * solvers.mean(crowd))
    if quantity in PAID:
        return _payoff_against_people(quantity)
    if quantity in APART:
        odds = _request_odds(APART[quantity], effort)
        return None if odds is None else exact(depths.distance(odds, people().odds))
    fit = _fit(effort.seed)
    levels = {f"people of level {k}, share": share for k, share in enumerate(fit.shares)}
    values = {
        **levels,
        "people who ask at random, share": fit.error,
        "people's mean level": fit.depth,
        "people's mean level in a hierarchy": _tau(effort.seed),
        "distance of two samples of people": floor(effort.seed),
    }
    return values.get(quantity)


def _payoff_against_people(quantity: str) -> Estimate:
    values = solvers.worths(REQUEST, ONE, [people().odds])
    assert values is not None  # a game of two seats always has a value here
    menu = REQUEST.menu(ONE)
    if quantity == "best reply to people":
        return exact(menu[int(np.argmax(values))])
    if quantity == "what it pays":
        return exact(max(values))
    equilibrium = solvers.equilibrium(REQUEST, ONE)
    return exact(sum(p * values[menu.index(move)] for move, p in equilibrium.items()))


@lru_cache(maxsize=4)
def floor(seed: int, draws: int = 1000) -> Estimate:
    """Return the expected total variation between two samples of one population."""
    odds = np.array([people().odds.get(move, 0.0) for move in REQUEST.menu(ONE)])
    n, chance = people().people, Stream("level_k", "floor", seed).generator()
    first_sample, two = (chance.multinomial(n, odds, size=draws) / n for _ in range(2))
    # the same as `depths.distance`, a thousand times
    distances = np.abs(first_sample - two).sum(axis=1) / 2
    low, high = np.quantile(distances, [0.025, 0.975])
    return Estimate(float(distances.mean()), float(low), float(high), n, "sampling")


# --- k-ToM ----------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def duel(first: int, second: int, matches: int, seed: int) -> Estimate:
    """Return the points per round of one k-ToM player against another, over matches of sixty
    rounds."""
    first_player, two = k_tom(COINS, ONE, first), k_tom(COINS, TWO, second)
    won = []
    for number in range(matches):
        draws, state = Stream(seed, "duel", first, second, number), COINS.start()
        for _ in range(COINS.rounds):
            first_move = draws.draw(first_player.does(COINS.observe(state, ONE)))
            second_move = draws.draw(two.does(COINS.observe(state, TWO)))
            state = COINS.step(state, {ONE: first_move, TWO: second_move})
        won.append(COINS.payoffs(state)[ONE] / COINS.rounds)
    return lone_by_rule(won)


def _chance(k: int, seat: str) -> Estimate:
    thinks = KTom(gains_of(COINS, Seat(seat)), k)
    mind = thinks.start
    for own_move, other_move in GIVEN:
        mind = thinks.update_mind(mind, own_move, other_move)
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
    odds = _request_odds(str(row["model"]), effort)
    return None if odds is None else exact(100 * odds.get(int(row["number"]), 0.0))


# --- episodes -------------------------------------------------------------------------------------


def facts(played: Played) -> Conditions | None:
    """Return the conditions of an 11-20 game of one round, as people played it; None for other
    games."""
    game, player = played.replay.game, played.episode.setup.lineup.get(ONE)
    if not isinstance(game, LevelGame) or game != REQUEST or player is None:
        return None
    if player.player != "language":
        return None
    return {"model": str(player.params.get("model"))}


def tabulates(row: Conditions, metric: str, games: Known, model: str | None) -> Estimate | None:
    """Return the share of a model's games in which it requested this number."""
    model_name = model or str(row.get("model"))
    if metric != "percent":
        return None
    requests = [
        move
        for fact, played in games
        if same_model(str(fact["model"]), model_name)
        and (move := played.replay.move(0, ONE)) is not None
    ]
    if not requests:
        return None
    return lone_by_rule([100.0 * (move == int(row["number"])) for move in requests], (0, 100))


def cannot(row: Conditions, metric: str) -> str | None:
    """Return why people's own values cannot be recomputed; None for rows of models."""
    return "people's own choices" if row.get("model") == PEOPLE else None


def _lines() -> Sequence[tuple[Conditions, str]]:
    numbers = REQUEST.menu(ONE)
    return [
        ({"model": model_name, "number": number}, "percent")
        for model_name in (EQUILIBRIUM, FITTED, HIERARCHY)
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
