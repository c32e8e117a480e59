"""Tables of hanabi_bots: every bot at every number of players, and every pair of bots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sally.analysis.bounds import metric_bounds
from sally.analysis.episodes.paper_store import Conditions
from sally.core.rules.chance import Stream, derived_seed
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.hanabi.bots import BOTS
from sally.games.hanabi.rules import SEATS, Hanabi
from sally.games.hanabi.state import DEALS, shuffle_cards
from sally.output.tables.layout import Column, Layout, Stub
from sally.output.tables.reproduce import Effort, Engine
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate

PLAYERS = (2, 3, 4, 5)
RULE_AGENTS = ("legal_random", "iggi", "outer", "piers", "van_den_bergh")
CROSSED = ("simple", "holmes", "smart", "info", "iggi", "outer", "piers", "van_den_bergh")
MOST_CROSSED = 100  # deals per pair; there are 64 pairs
MOST_SLOW = dict.fromkeys(("holmes", "smart", "info"), 1_000)  # a game takes hundredths of a second


def play(game: Hanabi, names: Sequence[str], deal: int) -> int:
    """Return the number of cards on the piles after these bots have played a deal."""
    bots = {name: BOTS[name](game) for name in names}  # a bot in several seats keeps one memory
    policies = [bots[name] for name in names]
    state, draws = game.dealt(shuffle_cards(game.cards, deal)), Stream("hanabi_bots", deal)
    while not game.is_over(state):
        seat = game.seats[state.mover]
        odds = policies[state.mover](game.observe(state, seat))
        action = draws.draw(odds) if len(odds) > 1 else next(iter(odds))
        state = game.step(state, {seat: action})
    return sum(state.piles)


@lru_cache(maxsize=256)
def scores(names: tuple[str, ...], deals: int, seed: int) -> tuple[int, ...]:
    """Return the score of each deal when these bots play it together. The deals depend only on the
    seed."""
    game = Hanabi(players=len(names), score="kept")
    numbers = (derived_seed("hanabi_bots", seed, n) % DEALS for n in range(deals))
    return tuple(play(game, names, deal) for deal in numbers)


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Return a value of a table, computed by playing bots; no value needs a language model."""
    if "first" in row:
        pair = (str(row["first"]), str(row["second"]))
        pair_scores = scores(pair, min(effort.repeats, MOST_CROSSED), effort.seed)
        return lone_by_rule(pair_scores, metric_bounds("score_kept"))
    bot, players = str(row["bot"]), int(row["players"])
    if bot not in BOTS:
        return None
    deals = min(effort.repeats, MOST_SLOW.get(bot, effort.repeats))
    pair_scores = scores((bot,) * players, deals, effort.seed)
    if metric == "perfect":
        highest = Hanabi(players=players).highest
        return lone_by_rule([100.0 * (score == highest) for score in pair_scores], (0, 100))
    return lone_by_rule(pair_scores, metric_bounds("score_kept"))


def facts(played: Played) -> Conditions | None:
    """Return None, because no table of hanabi_bots includes a model."""
    return None


def _agents() -> Sequence[tuple[Conditions, str]]:
    return [({"bot": bot, "players": n}, "score_kept") for bot in RULE_AGENTS for n in PLAYERS]


def _pairs() -> Sequence[tuple[Conditions, str]]:
    return [({"first": a, "second": b}, "score_kept") for a in CROSSED for b in CROSSED]


def _by_players(metric: str) -> Layout:
    columns = tuple(Column(str(n), metric, {"players": n}, "players", 2) for n in PLAYERS)
    return Layout(("bot",), (Stub("Bot", lambda row: str(row["bot"])),), columns)


CROSSED_LAYOUT = Layout(
    ("first",),
    (Stub("First to move", lambda row: str(row["first"])),),
    tuple(Column(name, "score_kept", {"second": name}, "beside", 1) for name in CROSSED),
)

ENGINE = Engine(
    computes,
    {},
    Seat(SEATS[0]),
    facts,
    of_setup=True,
    slow=True,
    model_condition="bot",
    layouts={
        "means": _by_players("score_kept"),
        "perfect": _by_players("perfect"),
        "crossplay": CROSSED_LAYOUT,
    },
    beside={"means": _agents(), "crossplay": _pairs()},
)
