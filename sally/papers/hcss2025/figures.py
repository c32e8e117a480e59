"""Figures of the published tournaments: how much models gained against bots with declared rules,
their first moves, and their replies to moves.

A match is a cluster. Decisions that the authors' parser made (unreadable replies) are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.repeated_games.regret import DecisionRegret, decisions_lost
from sally.games.repeated_games.rounds import not_decided, rules, table_rounds
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.hcss2025.importer import NOT_PUBLISHED
from sally.papers.hcss2025.reader import MODELS
from sally.stats.cluster_interval import ratio_by_rule
from sally.stats.intervals import Estimate

SHARE = (0.0, 1.0)
COOPERATES = 0


class SideMatch(msgspec.Struct, frozen=True):
    """One model's side of one match."""

    episode: str  # its id
    model: str
    stop: float
    replies: bool  # whether replies were published
    scored_cooperation: int  # moves counted as C there, by whichever rule
    moves: int
    own_decisions: tuple[
        tuple[str, int], ...
    ]  # readable decisions: the cell before ("" first), the move
    regret: DecisionRegret | None  # against a declared bot

    def share(self, cell_before: str) -> tuple[int, int]:
        """Return the numbers of cooperations and of decisions after an outcome such as CD; "" means
        the first round."""
        moves = [move for cell, move in self.own_decisions if cell == cell_before]
        return sum(move == COOPERATES for move in moves), len(moves)


def side_matches(games: Iterable[Played]) -> list[SideMatch]:
    """Return every model's side of every imported match."""
    sides = []
    for played in games:
        episode = played.episode
        if not episode.setup.instance.id.startswith("hcss2025:"):
            continue
        for seat in (AGENT, PARTNER):
            model = str(episode.used["agents"][seat]).rpartition("_T")[0]
            if model in MODELS:
                sides.append(_side(played, seat, model))
    return sides


def _side(played: Played, seat: Seat, model: str) -> SideMatch:
    marked, cell_before, decisions = not_decided(played, seat), "", []
    all_rounds = table_rounds(played, seat)
    for past_round in all_rounds:
        if past_round.own_move is None or past_round.other_move is None:
            continue
        if past_round.turn not in marked:
            decisions.append((cell_before, past_round.own_move))
        cell_before = "CD"[past_round.own_move] + "CD"[past_round.other_move]
    return SideMatch(
        played.episode.id,
        model,
        rules(played).stop_chance,
        played.episode.used["replies"] != NOT_PUBLISHED,
        sum(past_round.own_move == COOPERATES for past_round in all_rounds),
        len(all_rounds),
        tuple(decisions),
        decisions_lost(played, seat),
    )


def doing(sides: Sequence[SideMatch]) -> tuple[Estimate, int]:
    """Return how much was gained against bots with declared rules, from 0 (random moves) to 1
    (optimum), and the number of decisions."""
    return pool_regrets([s.regret for s in sides if s.regret is not None and s.regret.decisions])


def pool_regrets(regrets: Sequence[DecisionRegret]) -> tuple[Estimate, int]:
    """Return how much was gained in these matches, from 0 (random moves) to 1 (optimum), and the
    number of decisions."""
    above = [r.at_random - r.loss for r in regrets]
    below = [r.at_random for r in regrets]
    return ratio_by_rule(above, below, list(range(len(regrets)))), sum(r.decisions for r in regrets)


def cooperation(sides: Sequence[SideMatch], cell_before: str | None = None) -> tuple[Estimate, int]:
    """Return the share of C among readable decisions, and their number.

    Only decisions after the outcome `cell_before` count; None counts all.
    """
    if cell_before is None:
        pairs = [
            (sum(m == COOPERATES for _, m in s.own_decisions), len(s.own_decisions)) for s in sides
        ]
    else:
        pairs = [s.share(cell_before) for s in sides]
    pairs = [pair for pair in pairs if pair[1]]
    estimate = ratio_by_rule(
        [float(a) for a, _ in pairs], [float(b) for _, b in pairs], list(range(len(pairs))), SHARE
    )
    return estimate, sum(b for _, b in pairs)


def as_scored(sides: Sequence[SideMatch]) -> tuple[int, int]:
    """Return the numbers of cooperations and moves as the authors' parser counted them."""
    return sum(s.scored_cooperation for s in sides), sum(s.moves for s in sides)


LEARNERS = ("QLearning", "ThompsonSampling", "GradientMetaLearner")


def scripted_losses(
    games: Iterable[Played], stop: float
) -> dict[str, list[tuple[str, DecisionRegret]]]:
    """Return the losses of scripted players and learners, by player name.

    Each loss comes with the id of its episode. Sides of a match whose opponent is not a declared
    bot are left out.
    """
    losses: dict[str, list[tuple[str, DecisionRegret]]] = {}
    for played in games:
        if not played.episode.setup.instance.id.startswith("hcss2025:"):
            continue
        if rules(played).stop_chance != stop:
            continue
        for seat in (AGENT, PARTNER):
            name = str(played.episode.used["agents"][seat])
            regret = None if name.rpartition("_T")[0] in MODELS else decisions_lost(played, seat)
            if regret is not None and regret.decisions:
                losses.setdefault(name, []).append((played.episode.id, regret))
    return losses
