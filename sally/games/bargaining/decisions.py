"""Single decisions of bargaining: losses, costs, scores that include forfeited decisions, training
tasks, and depths of reasoning."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sally.core.log.events import Instance, PlayerSpec
from sally.core.rules.depth import DepthDecision, Depths, Reasoned
from sally.core.rules.game import Seat
from sally.core.rules.metric import Cost, Played, Terms, inference_loss, terms_of
from sally.games.bargaining.instances import ENOUGH, Problem, frozen
from sally.games.bargaining.metrics import game_of, solve_table, table
from sally.games.bargaining.rules import BUYER, SEATS, State, gain, other_seat, round_gain
from sally.games.bargaining.solver import SAME, mirror_price
from sally.games.bargaining.spec import a_round, best_replies, limit_of
from sally.parts.training import Split, Training, by_partner

# --- losses ---------------------------------------------------------------------------------------


def LOSSES(played: Played, seat: Seat) -> Terms:
    """Return the mean losses over the rounds with a prediction, given the other seat's actual
    quotes."""
    parts = []
    for step in played.replay.steps():
        own_quote, other_quote = step.moves.get(seat), step.moves.get(other_seat(seat))
        if step.forfeited or not (isinstance(own_quote, int) and isinstance(other_quote, int)):
            continue
        report = played.replay.report(step.turn, seat, "their_quote", other_seat(seat))
        if report is None or not isinstance(report.value, int):
            continue
        view = played.replay.view(step.turn, seat)
        replies = best_replies(game_of(played), view, report.value)
        if not replies or view.limit is None:
            continue
        best = max(0.0, gain(seat, view.limit, other_quote))
        loss = {
            q: best - round_gain(seat, view.limit, q, other_quote) for q in {*replies, own_quote}
        }
        inference = inference_loss(own_quote, replies, loss.__getitem__)
        expected = max(0.0, gain(seat, view.limit, report.value))
        translation = expected - round_gain(seat, view.limit, own_quote, report.value)
        parts.append((inference, translation, loss[own_quote]))
    return terms_of(parts, _format_loss(played, seat))


def _format_loss(played: Played, seat: Seat) -> float | None:
    """Return the gain per round that was missed because this seat gave no valid quote although the
    other seat did."""
    state: State = played.replay.present
    limit, rounds = limit_of(state, seat), len(state.past)
    if limit is None or not rounds:
        return None
    missed = 0.0
    for step in played.replay.steps():
        other_quote = step.moves.get(other_seat(seat))
        if step.forfeited == (seat,) and isinstance(other_quote, int):
            missed += max(0.0, gain(seat, limit, other_quote))
    return missed / rounds


# --- costs ----------------------------------------------------------------------------------------

EXACT = "the partner's declared rule and limit, by exact play to the end"
DONE = "the other's quote in this round"


def COSTS(played: Played, seat: Seat) -> list[Cost]:
    """Return the payoff lost by each quote, in rounds in which both sides quoted; messages have no
    cost.

    Against a scripted partner whose rule is known, the losses of an episode add up to its regret:
    the payoff by which it falls short of the optimum.
    """
    seat_episode, solution = table(played, seat), solve_table(played, seat)
    if seat_episode is None:
        return []
    turns = [
        step.turn
        for step in played.replay.steps()
        if not step.forfeited and type(step.moves.get(seat)) is int
    ]
    costs = []
    ask = 0 if solution is None else solution.rule.first(solution.cost)
    for number, (turn, quoted) in enumerate(zip(turns, seat_episode.rounds, strict=False)):
        if solution is None:
            view = played.replay.view(turn, seat)
            best = best_replies(game_of(played), view, quoted.other_quote) or ()
            best_gain = max(0.0, gain(seat, seat_episode.limit, quoted.other_quote))
            loss = best_gain - round_gain(
                seat, seat_episode.limit, quoted.own_quote, quoted.other_quote
            )
            costs.append(Cost(turn, loss if loss > SAME else 0.0, best, DONE))
            continue
        bid, worths = mirror_price(seat != BUYER, quoted.own_quote), solution.bids(number, ask)
        loss = float(worths.max() - worths[bid])
        best = tuple(
            mirror_price(seat != BUYER, int(b))
            for b in np.flatnonzero(worths >= worths.max() - SAME)
        )
        costs.append(Cost(turn, loss if loss > SAME else 0.0, best, EXACT))
        ask = solution.rule.next_ask(solution.cost, ask, bid)
    return costs


# --- intention to treat ---------------------------------------------------------------------------


def INTENDED(played: Played, seat: Seat) -> tuple[float, float, float | None]:
    """Return two payoffs per round, which differ in the rounds that this seat forfeited or that
    were never played: they count as 0 in the first payoff and as the maximum in the second."""
    game, state = game_of(played), played.replay.present
    earned = float(game.payoffs(state)[seat])
    rounds = len(state.past)
    forfeits = sum(
        seat in step.forfeited and step.after.past is not step.before.past
        for step in played.replay.steps()
    )
    missed = a_round(game, seat)[1] * (forfeits + game.rounds - rounds)
    return earned / game.rounds, (earned + missed) / game.rounds, None


# --- training -------------------------------------------------------------------------------------

_PARTNERS = {
    "train": (
        PlayerSpec("clock", {"start": 90, "step": 3, "margin": 2}),
        PlayerSpec("responsive", {"start": 80, "down": 5, "up": 2, "margin": 5}),
        PlayerSpec("truthful"),
    ),
    "validation": (PlayerSpec("responsive", {"start": 90, "down": 3, "up": 3, "margin": 2}),),
    "held_out": (PlayerSpec("splitter"), PlayerSpec("grim"), PlayerSpec("liar")),
}


def _training_tasks(game: str) -> Split:
    """Return training tasks for the buyer, without messages; each partner is in one part of the
    split only."""
    silent = Instance(f"{game}-silent", game, {"talk": "none"})
    about = "partners held out by how they react to quotes"
    return by_partner(game, about, SEATS, _PARTNERS, silent)


TRAINING = Training(_training_tasks)

# --- depths of modelling --------------------------------------------------------------------------

ABOUT = (
    "depth 0 holds the best fixed quote; depth 1 predicts the partner's quotes as if they did not "
    "depend on its own and meets each profitable one, or holds one; depth 2 plans for how the "
    f"partner reacts; right: at least {ENOUGH:.0%} of what exact play earns in the episode"
)
NOTES = (
    "All reasoners know the partner's rule and limit, which a player has to find out, so a player "
    "of full depth may be below the bound; chance is that of random quotes.",
)


def reason_about(problem: Problem) -> Reasoned:
    """Return a stored problem with, for each depth, whether a reasoner of that depth is
    right."""
    earned = (problem.held, max(problem.held, problem.followed), problem.optimum)
    by_depth = tuple((earnings >= ENOUGH * problem.optimum,) for earnings in earned)
    return Reasoned(by_depth, (True,), 0.0, problem.depth, f"block {problem.depth}")


def _questions() -> Iterator[Reasoned]:
    yield from map(reason_about, frozen().problems)


def _judge_episode(played: Played, seat: Seat) -> Iterator[DepthDecision]:
    """Yield the problem of the episode and whether the seat solved it, if it is a stored problem
    played against its declared partner."""
    setup, payoffs = played.episode.setup, played.episode.payoffs
    across, params = setup.lineup[str(other_seat(seat))], setup.instance.params
    for problem in frozen().problems if payoffs is not None else ():
        is_same = all(
            params.get(name) == getattr(problem, name) for name in ("value", "cost", "rounds")
        )
        partner = (across.player, across.params) == (problem.partner, problem.params)
        if is_same and partner and problem.seat == seat:
            assert payoffs is not None
            yield DepthDecision(reason_about(problem), payoffs[seat] >= ENOUGH * problem.optimum)
            return


DEPTHS = Depths(ABOUT, _questions, _judge_episode, NOTES)
