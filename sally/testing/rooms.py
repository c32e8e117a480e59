"""Checks of a game's parts: its spec, partners, metrics, card and board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import msgspec

from sally.analysis.bounds import game_bounds
from sally.core.display.board import board_of
from sally.core.errors import BadInput
from sally.core.log.events import Episode, PlayerSpec, Setup, from_line, label, to_line
from sally.core.match.partner import Line, Partner
from sally.core.match.playback import replay_episode
from sally.core.match.player import Decision, Turn
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.registry.study import study_of
from sally.core.rules.board import Board
from sally.core.rules.card import Condition
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.runner.seating import kinds, resolve_setup, seat_player
from sally.testing.bench import (
    Bench,
    Broken,
    answered_by,
    asked_in_turn,
    match_of,
    must,
    play_episode,
    play_in_any_order,
    players_at,
)

SLACK = 1e-9  # tolerance for sums of rounded numbers at a metric's bounds


def the_spec_names_what_there_is(bench: Bench) -> None:
    """Check that the metrics, players, parameters and seats named by the spec exist."""
    spec, seats = bench.spec, {*bench.game.seats, *bench.game.helpers}
    metrics = registry.metrics(spec.family or spec.name)
    doing = spec.measured.doing
    for name in filter(None, (doing.metric, doing.regret, *doing.by_seat.values())):
        must(name in metrics, f"doing is measured by {name!r}, which is not a metric of the game")
    for probe in spec.probes:
        must(bool(probe.seats), f"no seat is asked {probe.name!r}")
    for seat in spec.occupants:
        must(seat in seats, f"occupants name {seat!r}, which is not a helper")
    for name in spec.people.settings:
        must(name in spec.parameters, f"settings name {name!r}, which is not a parameter")
    for name in filter(None, (spec.measured.reference, spec.usual)):
        must(name in kinds(spec), f"the spec names the player {name!r}, which does not exist")
    must(bool(spec.about.strip()), "the game has no description")


# --- partners -----------------------------------------------------------------------------------


def seats_of(name: str, bench: Bench, params: dict[str, Any] | None = None) -> list[Seat]:
    """Return the seats in which a partner can play."""
    seats = []
    for seat in bench.game.seats:
        try:
            seat_player(bench.spec, bench.game, seat, PlayerSpec(name, params or {}))
        except BadInput:
            continue
        seats.append(seat)
    return seats


def a_partner_plays_and_holds_no_state(bench: Bench, name: str, params: dict[str, Any]) -> None:
    """Check that a partner plays legally in every seat that it can take, and plays the same in a
    second match."""
    partner = PlayerSpec(name, params)
    for seat in seats_of(name, bench, params):
        sitting = bench.table(lineup={seat: partner})
        for seed in range(3):
            setup = msgspec.structs.replace(sitting, seed=seed)
            first = to_line(play_episode(setup))
            match = match_of(setup)
            play_in_any_order(match, Stream("order", seed))
            if to_line(match.episode()) != first:
                is_same = to_line(play_episode(setup)) == first
                must(is_same, f"{name} in {seat} played differently on the same seed")
                must(False, f"{name} in {seat} depends on the order of answers")


def a_partner_says_where_it_comes_from(name: str, partner: Partner) -> None:
    """Check that a partner has a name, a description and a source."""
    must(partner.name == name, f"{name!r} calls itself {partner.name!r}")
    must(bool(partner.about.strip()), f"{name} has no description")
    must(bool(partner.source.strip()), f"{name} has no source")


def a_line_of_play_is_played(name: str, line: Line) -> None:
    """Check that the partner makes the moves that one of its declared example games shows."""
    must(len(line.against) == len(line.plays), f"{name}: the two sides of a line differ in length")
    rounds = {"rounds": len(line.plays) + 1}
    spec = registry.game(line.game)
    bench = Bench.of(line.game, rounds if "rounds" in spec.parameters else {})
    seats = seats_of(name, bench, dict(line.params))
    must(bool(seats), f"{name} does not fit {line.game} with {dict(line.params)}")
    partner_seat = seats[-1]
    match = match_of(bench.table(lineup={partner_seat: PlayerSpec(name, dict(line.params))}))
    players = players_at(match)
    moved = {str(seat): 0 for seat in match.game.seats}
    while moved[partner_seat] < len(line.plays) and (asks := match.asks()):
        turn, n = asks[0], moved.get(asks[0].seat, 0)
        answer = answered_by(turn, players)
        move_name = turn.context.words.name(answer.action)
        if turn.seat == partner_seat:
            expected_name = line.plays[n]
            must(
                expected_name in ("?", move_name),
                f"{name} plays {move_name}, not {expected_name}, as move {n + 1}",
            )
        elif turn.seat in moved:
            answer = Decision(_option_named(turn, line.against[n]))
        moved[turn.seat] = n + 1
        match.answer(turn.id, answer)


def _option_named(turn: Turn, name: str) -> Any:
    """Return the option with this name."""
    for option in turn.options:
        if turn.context.words.name(option) == name:
            return option
    raise Broken(f"{turn.seat} has no move named {name}")


def partner_checks(bench: Bench, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the checks of one partner with their titles."""
    partner = registry.pick(
        "partner", name, registry.partners(bench.spec.family or bench.spec.name)
    )
    params: dict[str, Any] = {}
    if not seats_of(name, bench) and partner.lines:
        params = dict(partner.lines[0].params)
    yield (
        f"{name} states its source",
        lambda: a_partner_says_where_it_comes_from(name, partner),
    )
    yield (
        f"{name} plays and holds no state",
        lambda: a_partner_plays_and_holds_no_state(bench, name, params),
    )
    for line in partner.lines:
        if line.game == bench.spec.name:
            yield (
                f"{name} plays {line.plays}",
                lambda line=line: a_line_of_play_is_played(name, line),
            )


# --- metrics ------------------------------------------------------------------------------------


def a_metric_is_a_number_of_the_log(sample: Sequence[Pair], metric: Metric) -> None:
    """Check that a metric is None or a finite number within its bounds, and the same when the
    episode is read from disk."""
    for original, read_back in sample:
        for seat in original.replay.game.seats:
            value, read = (
                metric.measure(pair_member, seat) for pair_member in (original, read_back)
            )
            subject = f"{metric.name} of {seat}"
            must(value == read, f"{subject} is {value}, but {read} when read from disk")
            if value is None:
                continue
            must(isinstance(value, int | float) and isfinite(value), f"{subject} is {value!r}")
            game = original.replay.game
            if (ends := game_bounds(metric.name, original.spec, game, seat)) is not None:
                low, high = ends
                inside = low - SLACK <= value <= high + SLACK
                must(inside, f"{subject} is {value}, which is not from {low} to {high}")


Pair = tuple[Played, Played]  # an episode as played, and as read from disk


def sample_of(bench: Bench) -> list[Pair]:
    """Return sample episodes: complete play, play with some forfeits, and play with forfeits
    only."""
    episodes = [bench.episode(bench.table(seed, arms=bench.all_probes)) for seed in range(5)]
    for share in (0.3, 1.0):
        match = match_of(bench.table(7, arms=bench.all_probes))
        play_in_any_order(match, Stream("forfeits"), forfeits=share)
        episodes.append(match.episode())
    return [
        (_open(bench, episode), _open(bench, from_line(to_line(episode)))) for episode in episodes
    ]


def _open(bench: Bench, episode: Episode) -> Played:
    return Played(bench.spec, episode, replay_episode(bench.spec, episode))


# --- card and board -----------------------------------------------------------------------------


def a_card_looks_both_ways(condition: Condition) -> None:
    """Check that a condition on a game's card lists a rule of thumb, players with distinct labels,
    existing metrics, and lineups that can be played."""
    must(bool(condition.shortcuts), f"{condition.name}: no rule of thumb is on the card")
    labels = [label(player) for player in condition.players]
    must(len(set(labels)) == len(labels), f"{condition.name}: two players have the same label")
    family = registry.family(condition.instances[0].game).name
    for name in condition.metrics:
        registry.pick(f"metric of {family}", name, registry.metrics(family))
    for lineup in study_of("check", [condition], 1, 1).cells[0].lineups:
        resolve_setup(Setup(condition.instances[0], 1, lineup, arms=condition.arms))


def a_board_is_drawn_from_the_view(bench: Bench) -> None:
    """Check that a board (the picture shown to people) can be serialized, is not empty, and depends
    only on the seat's own view."""
    match = match_of(bench.table(3))
    for turn, _ in asked_in_turn(match):
        for seat in match.game.seats:
            view = match.game.observe(match.state, seat)
            board = board_of(match.context(seat), view)
            must(isinstance(board, Board) and bool(board.parts), f"nothing is drawn for {seat}")
            plain = msgspec.json.encode(board)
            other_board = board_of(
                SeatContext(bench.spec, match.game, seat, turn.context.seed + 1), view
            )
            must(
                msgspec.json.encode(other_board) == plain,
                f"{seat}'s board depends on more than its view",
            )
