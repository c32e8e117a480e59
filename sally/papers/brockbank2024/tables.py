"""Tables of brockbank2024: people against bots, and Sally's bots replayed on recorded moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log, sqrt

from sally.analysis.bounds import metric_bounds
from sally.core.log.events import Forfeited
from sally.core.rules.metric import Played
from sally.games.repeated_games.conduct import win_rate
from sally.games.repeated_games.recorded_play import BotAgreement, agreement_with_bot, rounds_of
from sally.games.repeated_games.regret import functional_regret
from sally.games.repeated_games.rounds import Round, rounds
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame
from sally.output.tables.reproduce import Conditions, Engine, Known
from sally.papers.brockbank2024.importer import BOTS, MATRIX, NO_MOVE, STABLE
from sally.papers.brockbank2024.reader import ROUNDS
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.effects import cohens_dz
from sally.stats.intervals import Estimate, exact, without_interval

CHANCE = 1 / 3  # of winning a round against a bot that plays uniformly
PERSON = "human"


def facts(played: Played) -> Conditions | None:
    """Return the opponent as the condition of an episode; None if the game is not that of the
    experiment."""
    setup, game = played.episode.setup, played.replay.game
    partner, agent = setup.lineup.get(PARTNER), setup.lineup.get(AGENT)
    if not isinstance(game, RepeatedGame) or partner is None or agent is None:
        return None
    paid = tuple(tuple((float(a), float(b)) for a, b in row) for row in MATRIX)
    is_same = tuple(tuple((float(a), float(b)) for a, b in row) for row in game.matrix) == paid
    if not is_same or game.rounds != ROUNDS or partner.player not in BOTS.values():
        return None
    bots = "stable" if partner.player in STABLE.values() else "adaptive"
    conditions = {"partner": partner.player, "bots": bots}
    name = agent.params.get("name" if agent.player == "recorded" else "model", agent.player)
    return {**conditions, "player": str(name)}


# --- one person -----------------------------------------------------------------------------------


def _win_share(played: Played) -> float:
    return win_rate(played, AGENT) or 0.0


def _bot_won(played: Played) -> float:
    """Return the bot's share of won rounds; a player that does not move in time loses the round."""
    late = sum(
        isinstance(e, Forfeited) and e.seat == AGENT and e.reason == NO_MOVE
        for e in played.episode.events
    )
    everything = rounds(played, AGENT)
    return (win_rate(played, PARTNER) or 0.0) + late / len(everything)


def _differential(played: Played) -> float:
    return (_bot_won(played) - _win_share(played)) * len(rounds(played, AGENT))


def _gain(origin: Callable[[Round], int | None]) -> Callable[[Played], float]:
    """Return a function that computes ln 3 minus the entropy of a player's transitions, in nats; a
    transition is the step from the move that `origin` returns for the last round to the player's
    next move."""

    def gain(played: Played) -> float:
        everything = rounds(played, AGENT)
        steps: Counter[int] = Counter()
        for last, now in pairwise(everything):
            start = origin(last)
            if start is not None and now.own_move is not None:
                steps[(now.own_move - start) % 3] += 1
        total = sum(steps.values())
        return log(3) + sum(n / total * log(n / total) for n in steps.values()) if total else 0.0

    return gain


MEANS: Mapping[str, Callable[[Played], float | None]] = {
    "win_rate": _win_share,
    "bot_win_rate": _bot_won,
    "win_differential": _differential,
    "gain_own": _gain(lambda last: last.own_move),
    "gain_bot": _gain(lambda last: last.other_move),
    "functional_regret": lambda played: functional_regret(played, AGENT),
}


# --- our bots on the recorded moves ---------------------------------------------------------------


def _replay_bot(played: Played, all_rounds: bool) -> BotAgreement:
    """Replay Sally's bot up to the first void round, or on all rounds if `all_rounds`.

    The first void round is included: the bot's move in it was made before the round became void.
    """
    setup = played.episode.setup
    game_rounds = rounds_of(played.episode)
    void = [n for n, r in enumerate(game_rounds) if isinstance(r.agent, str)]
    compared_rounds = game_rounds if all_rounds or not void else game_rounds[: void[0] + 1]
    return agreement_with_bot(setup, PARTNER, setup.lineup[PARTNER], compared_rounds)


RULES: Mapping[str, Callable[[Played], int]] = {
    "rule_followed": lambda p: _replay_bot(p, False).likeliest[0],
    "rounds_with_a_rule": lambda p: _replay_bot(p, False).likeliest[1],
    "one_best_move": lambda p: _replay_bot(p, False).certain[0],
    "two_tied": lambda p: _replay_bot(p, False).tied[0],
    "outside_after_void": lambda p: len(_replay_bot(p, True).outside),
    "games": lambda p: 1,
    "people": lambda p: 1,
    "rounds": lambda p: len(rounds(p, AGENT)),
    "no_move_in_time": lambda p: sum(r.agent == NO_MOVE for r in rounds_of(p.episode)),
    "lost_by_server": lambda p: sum(
        isinstance(r.agent, str) and r.agent != NO_MOVE for r in rounds_of(p.episode)
    ),
    "games_with_void": lambda p: int(any(not r.is_played for r in rounds(p, AGENT))),
}


def tabulates(row: Conditions, metric: str, games: Known, model: str | None) -> Estimate | None:
    """Return a table value computed from stored games of people, or of a model in their place."""
    conditions = {**row, "player": model or PERSON}
    row_games = [played for facts, played in games if conditions.items() <= facts.items()]
    if not row_games:
        return None
    if metric in RULES:
        return exact(sum(RULES[metric](played) for played in row_games), len(row_games), "count")
    if metric == "t_against_chance":
        return _t([_win_share(played) for played in row_games])
    values = [MEANS[metric](played) for played in row_games]
    ends = (0.0, 1.0) if metric == "bot_win_rate" else metric_bounds(metric)
    return lone_by_rule([value for value in values if value is not None], ends)


def _t(shares: Sequence[float]) -> Estimate | None:
    n = len(shares)
    if n < 2:
        return None
    effect = cohens_dz(shares, [CHANCE] * n)
    t = None if effect is None else effect * sqrt(n)
    return without_interval(t, n, "one-sample t", "a t value is not an estimate")


# Not in the paper: what people lose, computed exactly, against bots that are finite machines.
BESIDE: Mapping[str, Sequence[tuple[Conditions, str]]] = {
    "stable": [({"partner": bot}, "functional_regret") for bot in STABLE.values()]
}
ENGINE = Engine(
    None,
    {},
    AGENT,
    facts,
    tabulates,
    of_setup=True,
    model_condition="player",
    beside=BESIDE,
    brings=lambda table, row: "sally import brockbank2024 PATH",
)
