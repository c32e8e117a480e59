"""Value of a decision by rollouts: every option is played to the end with the same seeds.

For each option, the episode is resumed at that turn with that option and played to its end several
times, the first time with the seed of the log. For long menus and free text, the move is compared
with the move that each bot of the game would have made. The best of several sampled means is a
little too high on average, so small losses with wide intervals carry no information.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from sally.analysis.bounds import instance_bounds, key_of
from sally.analysis.decisions.costs import (
    DecisionCost,
    chosen_seats,
    decisions_by_cost,
    in_words,
    list_decisions,
)
from sally.core.errors import BadInput
from sally.core.log.events import Episode, PlayerSpec, label
from sally.core.rules.game import Seat
from sally.core.rules.menu import is_finite
from sally.core.rules.metric import Cost, Played
from sally.frames.replays import replay_for_measures as replay_of
from sally.players.language import uses_model
from sally.runner.fork import Change, can_go_on, fork, would_do
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate

MOST_OPTIONS = 12  # of a longer menu only the choices of bots are tried


class Branch(msgspec.Struct, frozen=True):
    """One way to continue an episode, with the mean payoff of each seat over repeats."""

    name: str
    payoffs: dict[str, Estimate]
    difference: dict[str, Estimate]  # from the unchanged branch, paired
    episodes: tuple[str, ...]  # ids, one for each repeat; the unchanged branch begins with the log
    censored: int = 0


def branches(
    episode: Episode, turn: int, changes: dict[str, Change], repeats: int = 1
) -> tuple[list[Branch], list[Episode]]:
    """Fork an episode at a turn; return the branches and the new episodes.

    The first branch has no change; each further branch has one of `changes`.

    Raises:
        BadInput: If `repeats` is below 1.
    """
    if repeats < 1:
        raise BadInput(f"repeats must be at least 1, not {repeats}.")
    new = {
        name: [fork(episode, turn, change, n) for n in range(repeats)]
        for name, change in changes.items()
    }
    replays = range(1, repeats) if can_go_on(episode) else range(0)
    was = [episode, *(fork(episode, turn, Change(), n) for n in replays)]
    forks = [_branch("as it was", was, was)]
    forks += [_branch(name, played, was) for name, played in new.items()]
    return forks, [e for played in (was[1:], *new.values()) for e in played]


def _branch(name: str, played: list[Episode], was: list[Episode]) -> Branch:
    seats = next((list(e.payoffs) for e in (*played, *was) if e.payoffs), [])
    ended = [e.payoffs for e in played if e.payoffs is not None]
    pairs = [
        (new.payoffs, old.payoffs)
        for new, old in zip(played, was, strict=False)
        if new.payoffs is not None and old.payoffs is not None
    ]
    ends = {seat: instance_bounds("payoff", key_of(was[0].setup.instance), seat) for seat in seats}
    difference_bounds = {
        seat: (end[0] - end[1], end[1] - end[0]) for seat, end in ends.items() if end
    }
    return Branch(
        name,
        {s: lone_by_rule([paid[s] for paid in ended], ends[s]) for s in seats},
        {
            s: lone_by_rule([new[s] - old[s] for new, old in pairs], difference_bounds.get(s))
            for s in seats
        },
        tuple(e.id for e in played),
        len(played) - len(ended),
    )


# --- the value of a decision ----------------------------------------------------------------------


def by_continuations(
    episode: Episode, seat: str, repeats: int = 10, goes_on: PlayerSpec | None = None
) -> list[DecisionCost]:
    """Return the cost of each decision of a seat by rollouts, costliest first."""
    turns = [turn for turn, mover in list_decisions(episode) if mover == seat]
    costs = [at_turn(episode, seat, turn, repeats, goes_on) for turn in turns]
    return sorted(filter(None, costs), key=lambda decision: (-decision.loss, decision.turn))


def at_turn(
    episode: Episode, seat: str, turn: int, repeats: int = 10, goes_on: PlayerSpec | None = None
) -> DecisionCost | None:
    """Return the cost of one decision by rollouts; None if there was no alternative."""
    played = replay_of(episode)
    continuer = goes_on or _who_goes_on(played, seat)
    tried, among = _moves_to_try(played, seat, turn)
    return _costly(played, seat, turn, tried, repeats, continuer, among) if len(tried) > 1 else None


def _moves_to_try(played: Played, seat: str, turn: int) -> tuple[tuple[Any, ...], str]:
    """Return the moves that a decision is evaluated against, including the move made.

    The second value is a note on where the moves come from; it is empty if they are the whole menu.
    """
    state, move = played.replay.states[turn], played.replay.move(turn, Seat(seat))
    options = played.replay.game.options(state, Seat(seat))
    if move is None:
        return (), ""
    if is_finite(options) and len(options) <= MOST_OPTIONS:
        return tuple(options), ""
    bots = would_do(played.episode, turn, seat).values()
    return tuple(dict.fromkeys((move, *bots))), ", among what the game's bots would have done"


def _who_goes_on(played: Played, seat: str) -> PlayerSpec:
    """Return the player itself if it is a bot, else the game's reference player."""
    player = played.episode.setup.lineup[seat]
    if not uses_model(player) and can_go_on(played.episode):
        return player
    if not played.spec.measured.reference:
        raise BadInput(
            f"{label(player)} is a model or cannot continue, and {played.spec.name} has no "
            f"reference "
            "player; name the player that continues in its place."
        )
    return PlayerSpec(played.spec.measured.reference)


def _costly(
    played: Played,
    seat: str,
    turn: int,
    options: tuple[Any, ...],
    repeats: int,
    continuer: PlayerSpec,
    among: str,
) -> DecisionCost:
    paid: dict[int, list[float | None]] = {}
    for place, option in enumerate(options):
        change = Change({seat: continuer}, moves={seat: option})
        ended = [fork(played.episode, turn, change, n).payoffs for n in range(repeats)]
        paid[place] = [None if p is None else p[seat] for p in ended]
    chosen = options.index(played.replay.move(turn, Seat(seat)))
    means = {place: _mean(values) for place, values in paid.items()}
    top = max(means.values())
    best = max(means, key=lambda place: means[place])
    losses = [b - m for b, m in zip(paid[best], paid[chosen], strict=True) if None not in (b, m)]  # type: ignore[operator]
    estimate = lone_by_rule(losses)
    method = f"{repeats} paired continuations by {label(continuer)}{among}"
    moves = tuple(options[place] for place, mean in means.items() if mean >= top - 1e-9)
    cost = Cost(turn, estimate.value or 0.0, moves, method)
    return in_words(played, Seat(seat), cost, estimate.interval)


def _mean(values: list[float | None]) -> float:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else float("-inf")


def reasons(
    episode: Episode, seats: Sequence[str] = (), repeats: int | None = None, by: str = ""
) -> list[DecisionCost]:
    """Return the decisions of an episode, costliest first, by the game's costs or by rollouts."""
    played = replay_of(episode)
    if repeats is None and not by:
        return decisions_by_cost(played, seats)
    continuer = PlayerSpec(by) if by else None
    chosen = chosen_seats(played, seats)
    decisions = [
        c for seat in chosen for c in by_continuations(episode, seat, repeats or 10, continuer)
    ]
    return sorted(decisions, key=lambda decision: (-decision.loss, decision.turn))
