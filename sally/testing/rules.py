"""Checks of a game's rules and chance moves."""

from __future__ import annotations

from collections.abc import Iterable
from math import isclose
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Forfeited, Moved, from_line, to_line
from sally.core.match.partner import Partner
from sally.core.match.playback import mismatch, replay_episode
from sally.core.rules.chance import Stream
from sally.core.rules.game import NATURE
from sally.core.rules.menu import admit
from sally.core.rules.replay import Trajectory
from sally.runner.seating import kinds
from sally.testing.bench import (
    Bench,
    Broken,
    finish_match,
    match_of,
    must,
    must_refuse,
    play_episode,
    play_in_any_order,
)


def play_comes_to_an_end(bench: Bench, seed: int) -> None:
    """Check that a match of random players ends; otherwise the other checks would wait forever."""
    play_in_any_order(match_of(bench.table(seed)), Stream(seed))


def rules_hold_at_every_step(bench: Bench, seed: int) -> None:
    """Check that only seats of the game move, moves are on the menu, odds sum to one, and play
    ends."""
    replay = finish_match(bench.table(seed)).replay
    game = replay.game
    for number, step in enumerate(replay.steps()):
        movers = game.to_move(step.before)
        must(sorted((*step.moves, *step.forfeited)) == sorted(movers), f"step {number}: who moved")
        must(set(movers) <= {*game.seats, *game.helpers}, f"{movers} are not all seats or helpers")
        for seat, action in step.moves.items():
            legal = admit(game.options(step.before, seat), action)
            must(legal == action, f"{action!r} is not among the options of {seat}")
        if NATURE in movers:
            must(movers == (NATURE,), "nature must move alone")
            _odds(game, step.before)
    seats = set(game.payoffs(replay.states[-1]))
    must(seats == set(game.seats), f"payoffs name {sorted(seats)}, not every seat")
    must(game.to_move(replay.states[-1]) == (), "a seat is still to move at the end")


def _odds(game: Any, state: Any) -> None:
    odds = game.odds(state)
    total = sum(odds.values())
    must(isclose(total, 1, rel_tol=1e-6), f"nature's odds sum to {total}, not to 1")
    must(
        set(odds) <= set(game.options(state, NATURE)),
        "nature's odds include something that is not an option",
    )
    must(min(odds.values()) >= 0, "nature's odds include a negative number")


def rules_return_and_do_not_change(bench: Bench, seed: int) -> None:
    """Check that rules return a new state; the old one is hashable and unchanged."""
    replay = finish_match(bench.table(seed)).replay
    game = replay.game
    for step in replay.steps():
        hash_before, looks = hash(step.before), repr(step.before)
        second_state = (
            game.forfeit(step.before, dict(step.moves), step.forfeited)
            if step.forfeited
            else game.step(step.before, dict(step.moves))
        )
        must(second_state == step.after, "the same moves from the same state gave different states")
        is_same = (hash(step.before), repr(step.before)) == (hash_before, looks)
        must(is_same, "a step changed the state that it was given")
        for seat in game.seats:
            views = (game.observe(step.after, seat), game.observe(second_state, seat))
            must(hash(views[0]) == hash(views[1]), f"two equal states look different to {seat}")
        with must_refuse((AttributeError, TypeError), "a change to a state"):
            step.before.story_of_somebody_else = 1


def views_remember(bench: Bench, seeds: Iterable[int]) -> None:
    """Check perfect recall: equal views imply equal pasts."""
    past_of: dict[Any, Any] = {}
    for seed in seeds:
        _check_recall(finish_match(bench.table(seed)).replay, past_of)


def _check_recall(replay: Trajectory, past_of: dict[Any, Any]) -> None:
    past: dict[Any, tuple[Any, ...]] = dict.fromkeys(replay.game.seats, ())
    last_views: dict[Any, Any] = {}
    for step in replay.steps():
        for seat in replay.game.seats:
            view = replay.game.observe(step.before, seat)
            if seat in last_views and last_views[seat] != view:
                past[seat] += (last_views[seat],)
            last_views[seat] = view
            if past_of.setdefault((seat, view), past[seat]) != past[seat]:
                raise Broken(f"two different histories give {seat} the same view: {view!r}")
            if seat in step.moves:
                past[seat] += (step.moves[seat],)


def forfeits_keep_the_match_consistent(bench: Bench, seed: int) -> None:
    """Check that the log replays to the same states when seats forfeit at any point."""
    match = match_of(bench.table(seed, arms=bench.all_probes))
    play_in_any_order(match, Stream("order", seed), forfeits=0.3)
    episode = from_line(to_line(match.episode()))
    must(
        (difference := mismatch(bench.spec, episode)) is None,
        f"the log does not replay: {difference}",
    )
    replay = replay_episode(bench.spec, episode)
    logged_forfeits = {(e.turn, e.seat) for e in episode.events if isinstance(e, Forfeited)}
    replayed_forfeits = {(t, s) for t, seats in replay.forfeited.items() for s in seats}
    must(replayed_forfeits == logged_forfeits, "the replay forfeits other moves than the log")
    must(replay.states == match.replay.states, "the replay passes through other states")
    moved = {(e.turn, e.seat) for e in episode.events if isinstance(e, Moved)}
    must(not moved & logged_forfeits, "a seat both moved and forfeited")


def only_forfeits_come_to_an_end(bench: Bench) -> None:
    """Check that a match ends if every move is forfeited."""
    match = match_of(bench.table())
    play_in_any_order(match, Stream(1), forfeits=1.0)
    must(match.over, "the match is not over")


# --- chance -------------------------------------------------------------------------------------


def same_seed_same_episode(bench: Bench, seed: int) -> None:
    """Check that the same setup gives the same episode, byte for byte."""
    setup = bench.table(seed, arms=bench.all_probes)
    must(
        to_line(play_episode(setup)) == to_line(bench.episode(setup)),
        "the same seed gave two episodes",
    )


def another_seed_gives_another_episode(bench: Bench) -> None:
    """Check that thirty seeds do not all give the same play."""
    plays = (msgspec.json.encode(bench.episode(bench.table(seed)).events) for seed in range(30))
    first = next(plays)
    must(any(play != first for play in plays), "thirty seeds gave the same play")


def probing_changes_no_move(bench: Bench, seed: int) -> None:
    """Check that a probed player plays the same moves as an unprobed one."""
    plain, probed = (bench.episode(bench.table(seed, arms=arms)) for arms in ({}, bench.all_probes))
    must(_moves(plain) == _moves(probed), "probes changed a move")
    must(plain.payoffs == probed.payoffs, "probes changed a payoff")


def _moves(episode: Episode) -> list[Moved]:
    return [event for event in episode.events if isinstance(event, Moved)]


def another_lineup_sees_the_same_deals(bench: Bench, seed: int) -> None:
    """Check that nature's draws depend on the seed and the odds, not on the players."""
    if NATURE not in bench.game.helpers:
        return  # nothing is dealt
    player_kinds = kinds(bench.spec).items()
    partners = {name for name, kind in player_kinds if isinstance(kind, Partner) and not kind.helps}
    first = replay_episode(bench.spec, bench.episode(bench.table(seed)))
    for mind in sorted({*partners, "constant"} - {"random"})[:3]:
        try:
            second = finish_match(bench.table(seed, player=mind)).replay
        except BadInput:
            continue  # this player does not fit this game or one of its seats
        for first_step, two in zip(first.steps(), second.steps(), strict=False):
            dealt = NATURE in first_step.moves and NATURE in two.moves
            if dealt and first.game.odds(first_step.before) == second.game.odds(two.before):
                must(first_step.moves == two.moves, f"{mind} got different deals")
