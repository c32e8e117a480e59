"""The setting in which a game is checked: a small problem, players, and ways to play."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

import msgspec

from sally.core.log.events import (
    Episode,
    Injection,
    Instance,
    PlayerSpec,
    Setup,
    episode_id,
    to_line,
)
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Forfeit, Player, Turn
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.core.rules.game import Game, GameSpec
from sally.players.mindless import Random
from sally.runner.seating import players_of, resolve_setup

Arms = Mapping[str, tuple[str, ...]]
Condition = tuple[Arms, tuple[Injection, ...]]
SHORT = {"rounds": 6, "max_turns": 4}  # parameters that make most games short
MOST_DECISIONS = 20_000  # of one match; shipped games made short end after fewer than 100
ENDLESS = f"the match is not over after {MOST_DECISIONS:,} decisions; smaller parameters may help"


class Broken(AssertionError):
    """A failed check; the message says what is wrong."""


def must(holds: bool, sentence: str) -> None:
    """Raise Broken with this message unless the condition holds."""
    if not holds:
        raise Broken(sentence)


@contextmanager
def must_refuse(
    error: type[Exception] | tuple[type[Exception], ...], subject: str
) -> Iterator[None]:
    """Raise Broken unless the block raises this error."""
    try:
        yield
    except error:
        return
    raise Broken(f"{subject} was accepted")


@dataclass(frozen=True)
class Bench:
    """The game under test: its registration, its parameters, and episodes already played."""

    instance: Instance
    sent_back: frozenset[str] = frozenset()  # seats whose unclear text the rules reject
    all_probes_scored: bool = True  # whether random play reaches a truth for every probe
    probes_elsewhere: frozenset[str] = frozenset()  # asked only with other parameters
    _tables: dict[Any, Setup] = field(default_factory=dict, repr=False, compare=False)
    _logs: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    _episodes: dict[str, Episode] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, game: str, params: Mapping[str, Any] | None = None) -> Bench:
        """Return the test fixture (`Bench`) of a registered game, with few rounds and turns if its
        parameters allow it."""
        parameters = registry.game(game).parameters
        short = {name: n for name, n in SHORT.items() if name in parameters}
        return cls(Instance(game, game, {**short, **(params or {})}))

    @cached_property
    def spec(self) -> GameSpec:
        return registry.game(self.instance.game)

    @cached_property
    def game(self) -> Game:
        return self.spec.build(self.instance.params)

    @cached_property
    def all_probes(self) -> Arms:
        """The arm in which every seat is asked every probe."""
        probes = self.spec.probes
        return {s: tuple(p.name for p in probes if s in p.seats) for s in self.game.seats}

    @cached_property
    def conditions(self) -> list[Condition]:
        """The conditions under test: no probes, all probes, and the truth of each probe injected
        into one seat."""
        arms = self.all_probes
        tested_conditions: list[Condition] = [({}, ()), (arms, ())]
        for probe in self.spec.probes:
            seat = probe.seats[0]
            wrong = 0.0 if probe.kind == "values" else 0.5
            tested_conditions.append(
                (arms, (Injection(seat, probe.name, "truth", wrong, keep=True),))
            )
            if probe.point != "after":  # an answer after the move cannot be injected before it
                tested_conditions.append((arms, (Injection(seat, probe.name, "own"),)))
        return tested_conditions

    def table(
        self,
        seed: int = 1,
        *,
        arms: Arms | None = None,
        injections: tuple[Injection, ...] = (),
        player: str = "random",
        lineup: Mapping[Any, PlayerSpec] | None = None,
    ) -> Setup:
        """Return a setup with `player` in every seat that the lineup does not fill."""
        probe_arms = dict(arms or {})
        if lineup:
            return self._resolve_setup(seed, probe_arms, injections, player, lineup)
        key = (tuple(probe_arms.items()), injections, player)
        if key not in self._tables:  # for any seed the same names must be checked
            self._tables[key] = self._resolve_setup(seed, probe_arms, injections, player, {})
        return msgspec.structs.replace(self._tables[key], seed=seed)

    def _resolve_setup(
        self,
        seed: int,
        arms: dict[str, tuple[str, ...]],
        injections: tuple[Injection, ...],
        player: str,
        lineup: Mapping[Any, PlayerSpec],
    ) -> Setup:
        sitting = {str(seat): lineup.get(seat, PlayerSpec(player)) for seat in self.game.seats}
        return resolve_setup(Setup(self.instance, seed, sitting, arms=arms, injections=injections))

    def episode(self, setup: Setup) -> Episode:
        """Return the episode, played once and cached."""
        id = episode_id(setup)
        if id not in self._episodes:
            self._episodes[id] = play_episode(setup)
        return self._episodes[id]

    def log_in_order(self, setup: Setup) -> bytes:
        """Return the digest of a match's log with asks answered in order, for comparison."""
        id = episode_id(setup)
        if id not in self._logs:  # no other check uses an episode with injections
            self._logs[id] = digest(
                play_episode(setup) if setup.injections else self.episode(setup)
            )
        return self._logs[id]


def digest(episode: Episode) -> bytes:
    """Return the hash of an episode's line in a store."""
    return blake2b(to_line(episode), digest_size=32).digest()


def match_of(setup: Setup) -> Match:
    """Return a match at its start."""
    return Match(registry.game(setup.instance.game), setup)


def players_at(match: Match) -> dict[str, Player]:
    """Return the players of a match; `random` is the mindless player, which also answers probes.

    A partner named `random` in the game's family is not used.
    """
    lineup = match.setup.lineup
    named_players = players_of(
        match, {s: player for s, player in lineup.items() if player.player != "random"}
    )
    return {
        str(s): Random() for s, player in lineup.items() if player.player == "random"
    } | named_players


def finish_match(setup: Setup) -> Match:
    """Return a match that bots have played to its end."""
    match = match_of(setup)
    Driver(match, players_at(match)).run()
    return match


def play_episode(setup: Setup) -> Episode:
    """Return the episode, played by bots."""
    return finish_match(setup).episode()


def answered_by(turn: Turn, players: Mapping[str, Player]) -> Any:
    """Return the answer of the seat's player to an ask."""
    player: Any = players[turn.seat]
    return player.decide(turn) if turn.question is None else player.report(turn)


def asked_in_turn(match: Match) -> Iterator[tuple[Turn, Any]]:
    """Yield every ask of a match of bots together with the answer that is about to be given."""
    players = players_at(match)
    while asks := match.asks():
        turn = asks[0]
        answer = answered_by(turn, players)
        yield turn, answer
        if not match.over:
            match.answer(turn.id, answer)


def play_in_any_order(match: Match, draws: Stream, forfeits: float = 0.0) -> bool:
    """Answer open asks in a random order; the moves of players, but not of helpers, are forfeited
    with probability `forfeits`.

    Returns whether there was ever more than one open ask, so that another order was possible.

    Raises:
        Broken: The match is not over after `MOST_DECISIONS`.
    """
    players, had_choice, decisions = players_at(match), False, 0
    while asks := match.asks():
        decisions += 1
        must(decisions <= MOST_DECISIONS, ENDLESS)
        had_choice = had_choice or len(asks) > 1
        turn = draws.pick(asks)
        may_forfeit = forfeits and turn.question is None and turn.seat not in match.game.helpers
        answer = answered_by(turn, players)
        if (
            may_forfeit and Stream("mishap", turn.number, turn.seat)() < forfeits
        ):  # by ask, not by order
            answer = Forfeit("unreadable", "Hm.")
        match.answer(turn.id, answer)
    return had_choice
