"""Partners that model the other seat: by counting, by level-k reasoning, by Bayes' rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from sally.core.errors import BadInput, unknown
from sally.core.match.partner import Automaton, Line, Partner, Script, by_name
from sally.core.rules.game import Seat
from sally.core.rules.history import Follower
from sally.games.repeated_games.optimum import Floats, Machine, machine_of, pay_table, plan
from sally.games.repeated_games.partners import constant, reciprocity, tables
from sally.games.repeated_games.partners.basis import (
    SAME,
    Drawn,
    Odds,
    best_to,
    check_move,
    evenly,
    finite,
    surely,
)
from sally.games.repeated_games.rules import Joint, RepeatedGame, View, other_seat

# --- fictitious play: the past as odds ------------------------------------------------------------


def _fictitious(game: RepeatedGame, seat: Seat, prior: float = 1.0) -> Script:
    if not prior > 0:
        raise BadInput(f"prior must be above 0, not {prior}")
    moves = game.moves_of(other_seat(seat))

    def odds(view: View) -> Odds:
        other_moves = [joint[1] for joint in view.played()]
        counts = {move: other_moves.count(move) + prior for move in moves}
        belief = {move: n / sum(counts.values()) for move, n in counts.items()}
        return evenly(best_to(game, seat, belief))

    return Drawn(odds)


# --- level k: best reply to the best reply to ... the base ----------------------------------------

BASES = ("repeat", "uniform")


def _level(game: RepeatedGame, seat: Seat, k: int, base: str, last: dict[Seat, int]) -> Odds:
    """Return a level-k player's move probabilities, given the assumed last move of each seat."""
    if k > 0:
        belief = _level(game, other_seat(seat), k - 1, base, last)
        return evenly(best_to(game, seat, belief))
    return surely(last[seat]) if base == "repeat" else evenly(game.moves_of(seat))


def _level_odds(
    game: RepeatedGame, seat: Seat, k: int, base: str, first: int
) -> dict[Joint | None, Odds]:
    """Return a level-k player's move probabilities after each joint move; in round 1, the last
    moves are assumed to be `first`."""
    own_moves, other_moves = game.moves_of(seat), game.moves_of(other_seat(seat))
    table: dict[Joint | None, Odds] = {
        (m, t): _level(game, seat, k, base, {seat: m, other_seat(seat): t})
        for m in own_moves
        for t in other_moves
    }
    return table | {None: table[first, first]}


def _level_k(
    game: RepeatedGame, seat: Seat, k: int = 1, base: str = "repeat", first: int = 0
) -> Automaton[Joint | None]:
    """Return the automaton; its state is the last joint move."""
    if type(k) is not int or not 1 <= k <= 3:
        raise BadInput(f"k must be 1, 2 or 3, not {k!r}")
    if base not in BASES:
        raise unknown("base strategy of level_k", base, BASES)
    for sits in game.seats:
        check_move(game, sits, "first", first)
    table = _level_odds(game, seat, k, base, first)
    return Automaton(None, table.__getitem__, lambda q, own_move, their: (own_move, their))


# --- Bayes: which of these is the other, and what is best then ------------------------------------


class WeightedHypotheses(msgspec.Struct, frozen=True):
    """The state of each hypothesis after the past rounds, and its probability."""

    states: tuple[int, ...]
    weights: tuple[float, ...]


class Hypotheses(msgspec.Struct, frozen=True):
    """The automata that the other seat may be; each is assumed to play a uniformly random move with
    probability `noise`."""

    machines: tuple[Machine, ...]
    noise: float

    def chances(self, believed: WeightedHypotheses) -> list[Floats]:
        """Return the probabilities of the other seat's next move under each hypothesis."""
        return [
            (1 - self.noise) * m.odds[q] + self.noise / m.odds.shape[1]
            for m, q in zip(self.machines, believed.states, strict=True)
        ]

    def update_belief(
        self, believed: WeightedHypotheses, own_move: int, other_move: int
    ) -> WeightedHypotheses:
        """Return the belief after one more round, by Bayes' rule.

        A machine that would never have made the move `other_move` without noise keeps its state.
        """
        chances = self.chances(believed)
        joint = [w * float(p[other_move]) for w, p in zip(believed.weights, chances, strict=True)]
        states = tuple(
            int(m.next_states[q, other_move, own_move]) if m.odds[q, other_move] > 0 else q
            for m, q in zip(self.machines, believed.states, strict=True)
        )
        return WeightedHypotheses(states, tuple(w / sum(joint) for w in joint))


def _default_hypotheses(game: RepeatedGame, seat: Seat) -> list[Any]:
    """Return every constant partner, tit for tat and win-stay-lose-shift."""
    fixed = [{"partner": "single_action", "params": {"action": a}} for a in game.moves_of(seat)]
    return [*fixed, "tit_for_tat", "win_stay_lose_shift"]


def _automaton_of(game: RepeatedGame, seat: Seat, hypothesis: Any) -> Automaton[Any]:
    """Return the automaton of a partner given by name, or by name and parameters."""
    named_partner = {"partner": hypothesis} if isinstance(hypothesis, str) else hypothesis
    partners = {**constant.PARTNERS, **reciprocity.PARTNERS, **tables.PARTNERS}
    if not isinstance(named_partner, dict) or not {"partner"} <= set(named_partner) <= {
        "partner",
        "params",
    }:
        raise BadInput(
            f'a hypothesis is a name or {{"partner": name, "params": {{...}}}}, not {hypothesis!r}'
        )
    if named_partner["partner"] not in partners:
        raise unknown("hypothesis", named_partner["partner"], partners)
    partner, params = partners[named_partner["partner"]], named_partner.get("params", {})
    assert partner.automaton is not None  # all of these are finite
    return partner.automaton(game, seat, **params)


def _bayesian(
    game: RepeatedGame,
    seat: Seat,
    hypotheses: Sequence[Any] | None = None,
    noise: float = 0.05,
    ahead: int = 10,
) -> Script:
    if not 0 < noise <= 1:
        raise BadInput(f"noise must be above 0 and at most 1, not {noise}")
    if type(ahead) is not int or ahead < 1:
        raise BadInput(f"ahead must be a whole number of at least 1, not {ahead!r}")
    them = other_seat(seat)
    hypothesis_list = _default_hypotheses(game, them) if hypotheses is None else hypotheses
    if not hypothesis_list:
        raise BadInput("hypotheses must list at least one partner")
    machines = tuple(
        machine_of(game, seat, _automaton_of(game, them, hypothesis))
        for hypothesis in hypothesis_list
    )
    considered = Hypotheses(machines, noise)
    values = [plan(game, seat, machine, ahead).values for machine in machines]
    start = WeightedHypotheses((0,) * len(machines), (1 / len(machines),) * len(machines))
    follower = Follower(start, considered.update_belief, View.rounds)

    def odds(view: View) -> Odds:
        rounds_left = min(ahead, game.rounds - view.round + 1)
        move_values = _value_moves(
            game, seat, considered, follower.state(view), [v[rounds_left - 1] for v in values]
        )
        tie = SAME * max(1.0, float(np.abs(move_values).max()))
        return evenly(int(move) for move in np.flatnonzero(move_values >= move_values.max() - tie))

    return Drawn(odds)


def _value_moves(
    game: RepeatedGame,
    seat: Seat,
    considered: Hypotheses,
    believed: WeightedHypotheses,
    values: Sequence[Floats],
) -> Floats:
    """Return the value of each move if the other seat's machine became known after this round
    (Littman et al. 1995).

    `values` holds, for each hypothesis, the values of its states after this round.
    """
    pay, total = pay_table(game, seat), np.zeros(len(game.moves_of(seat)))
    chances = considered.chances(believed)
    for i, machine in enumerate(considered.machines):
        q = believed.states[i]
        value_after = machine.odds[q] @ values[i][machine.next_states[q]]  # by own move
        total += believed.weights[i] * (pay @ chances[i] + (1 - game.stop_chance) * value_after)
    return total


PARTNERS = by_name(
    Partner(
        name="fictitious_play",
        about="replies best to the other's moves so far, each counted `prior` times at first",
        source="Brown 1951",
        make=_fictitious,
        memory=None,
        params={"prior": 1.0},
        lines=(
            Line("JFJFF", "FFFFF", "ipd"),
            Line("JJJFF", "FJJJJ", "ibs"),
            Line("RPPPP", "?PP?S", "rps"),
        ),
    ),
    finite(
        automaton=_level_k,
        memory=1,
        name="level_k",
        about="replies best to a level k-1 player; level 0 repeats its last move (`base` "
        "repeat; `first` before any) or plays any (uniform)",
        source="Stahl and Wilson 1995; Nagel 1995",
        params={"k": 1, "base": "repeat", "first": 0},
        lines=(
            Line("RPSRP", "PPSRP", "rps", {"k": 1}),
            Line("RRRRR", "SPRSP", "rps", {"k": 2}),
            Line("RPSRP", "RRPSR", "rps", {"k": 3}),
            Line("JFJFF", "JJFJF", "ibs", {"k": 1}),
            Line("JFJFF", "FFFFF", "ibs", {"k": 1, "base": "uniform"}),
        ),
    ),
    Partner(
        name="bayesian_best_responder",
        about="weighs what the other may be (`hypotheses`, partners by name) by Bayes' rule "
        "and plays what is best over the next `ahead` rounds",
        source="Kalai and Lehrer 1993; looking ahead as in Littman et al. 1995",
        make=_bayesian,
        memory=None,
        params={"hypotheses": None, "noise": 0.05, "ahead": 10},
        lines=(
            Line("JFFJJ", "FFJJJ", "ipd"),  # as tit for tat would: worth cooperating with
            Line("JJJJJ", "FFFFF", "ipd"),
            Line("JFFJJ", "FFFFF", "ipd", {"ahead": 1}),
            Line("JJJJJ", "FFJJJ", "ibs"),
            Line("RPSRP", "PPSPR", "rps"),
        ),
    ),
)
