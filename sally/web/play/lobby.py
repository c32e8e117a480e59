"""The lobby: the games, seats, players and parameters that visitors may choose, and the queue."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from sally.core.errors import BadInput, join_names, unknown
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.partner import Partner
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.problems import Problem, Problems
from sally.players.language import LANGUAGE
from sally.runner.local import is_bot
from sally.runner.seating import kinds, seat_player
from sally.web.database import Transaction
from sally.web.live.matches import PERSON, LiveMatches, OpenedMatch, hash_token
from sally.web.live.screen import title_of

MODEL = "model:"  # prefix of models in lists of players
# axelrod takes half a minute to load and by default plays tit for tat.
NOT_OFFERED = frozenset({LANGUAGE, "model", "axelrod"})
BY_PLACE = frozenset({"constant", "inverse"})  # they choose by position, so they need a finite menu
STALE = 40.0  # seconds without a poll after which a waiting visitor is gone
KEPT = 24 * 3600.0  # seconds for which an unused ticket is kept

NAME_LENGTH = 60
FRESH_TRIES = 200  # draws of a problem that fits a visitor's parameters


class Parameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """A parameter that visitors may set."""

    name: str
    label: str
    default: Any
    values: tuple[str | int | bool, ...] | None = None
    low: int | None = None
    high: int | None = None

    def problem(self, value: Any) -> str | None:
        """Return what is wrong with a value, or None."""
        if self.values is not None:
            if any(type(value) is type(v) and value == v for v in self.values):
                return None
            return f"{self.name} must be {join_names(map(str, self.values), 'or')}"
        if self.low is not None and self.high is not None:
            if type(value) is int and self.low <= value <= self.high:
                return None
            return f"{self.name} must be a whole number from {self.low} to {self.high}"
        if isinstance(value, str) and len(value) <= NAME_LENGTH and value.isprintable():
            return None
        return f"{self.name} must be a name of at most {NAME_LENGTH} characters"


class ProblemChoice(msgspec.Struct, frozen=True):
    """A shipped problem: the menu choices with which a visitor selects it, and its seats."""

    id: str
    choice: tuple[str, ...]
    seats: tuple[str, ...]


class Offer(msgspec.Struct, frozen=True):
    """A game offered in the lobby."""

    name: str
    title: str
    about: str
    seats: tuple[str, ...]
    roles: dict[str, str]  # role names by seat
    players: dict[str, tuple[str, ...]]
    usual: dict[str, str]  # default player by seat
    parameters: tuple[Parameter, ...]
    probes: dict[str, tuple[str, ...]]
    asked: tuple[str, ...] = ()  # labels of the choices that select a problem
    problems: tuple[ProblemChoice, ...] = ()
    glyph: str = ""  # the picture of the tile
    minutes: int = 0  # how long a game takes; 0: not estimated
    sentences: dict[str, str] = {}  # what each player does, by name


def sentences_of(game: str, names: Collection[str]) -> dict[str, str]:
    """Return one sentence on each of these players of a game, where one is declared."""
    family = registry.family(game).name
    sentences = {name: kind.about for name, kind in registry.players(family).items()}
    sentences |= {name: partner.about for name, partner in registry.partners(family).items()}
    return {name: sentences[name].replace("`", "") for name in sorted(names) if name in sentences}


class Busy(Exception):
    """Too many tables are open."""


class Lobby:
    """Tables for visitors, and the queue of visitors who wait for others."""

    def __init__(
        self, live_matches: LiveMatches, models: Sequence[str] = (), most_open: int = 2000
    ) -> None:
        self.live_matches, self._models, self._most_open = live_matches, tuple(models), most_open
        # hashed ticket -> game, time of the last poll
        self._seen: dict[str, tuple[str, float]] = {}
        self._pairing, self._news = asyncio.Lock(), asyncio.Event()
        self._stopping = False

    def offers(self) -> list[Offer]:
        """Return the lobby entry of every registered game."""
        return [self.offer(name) for name in registry.games()]

    def offer(self, name: str) -> Offer:
        """Return the lobby entry of a game: its seats, players, parameters, probes and problems."""
        spec = registry.game(name)
        models = tuple(MODEL + model for model in self._models)
        frozen = problems_of(name)
        bots = bots_of(spec)
        for seats in dict.fromkeys(problem.seats for problem in frozen.values()):
            bots = {**bots_of(spec, next(p for p in frozen.values() if p.seats == seats)), **bots}
        bots = {**bots_at_most_seats(spec), **bots}
        return Offer(
            spec.name,
            spec.title,
            spec.sentence,
            tuple(bots_of(spec)),
            {seat: spec.people.roles.get(seat, title_of(seat)) for seat in bots},
            {seat: (PERSON, *names, *models) for seat, names in bots.items()},
            {seat: usual(spec, names) for seat, names in bots.items()},
            parameters_of(spec),
            {seat: tuple(p.name for p in spec.probes if seat in p.seats) for seat in bots},
            room.asked if (room := _problems_module(name)) is not None else (),
            tuple(
                ProblemChoice(id, problem.choice, problem.seats) for id, problem in frozen.items()
            ),
            spec.people.glyphs.get(name, ""),
            spec.people.minutes.get(name, 0),
            sentences_of(name, {bot for names in bots.values() for bot in names}),
        )

    async def open(
        self,
        game: str,
        seat: str,
        others: Mapping[str, str],
        params: Mapping[str, Any],
        probes: Sequence[str] = (),
        problem: str = "",
    ) -> OpenedMatch:
        """Open a table with the chosen seat, players, parameters, probes and problem."""
        offer = self._check_offer(game, params)
        instance, seats = self._choose_instance(game, offer, problem, params)
        seat = seat or seats[0]
        for seat_name in (seat, *others):
            if seat_name not in seats:
                raise unknown(f"seat of {game}", seat_name, seats)
        if seat in others:
            raise BadInput(f"Seat {seat!r} is your own, so `others` must not contain it.")
        for name in probes:
            if name not in offer.probes[seat]:
                raise unknown(f"probe for seat {seat!r} of {game}", name, offer.probes[seat])
        lineup = {
            s: self._player_spec(offer, s, others.get(s, PERSON if s == seat else offer.usual[s]))
            for s in seats
        }
        people = [s for s in seats if lineup[s].player == PERSON]
        invited = [s for s in people if s != seat]
        arms = {seat: tuple(probes)}
        return await self._open_match(instance, lineup, people, arms, invited=invited)

    def _choose_instance(
        self, game: str, offer: Offer, problem: str, params: Mapping[str, Any]
    ) -> tuple[Instance, tuple[str, ...]]:
        """Return the instance and its seats; `params` override those of the problem."""
        if not problem:
            instance = fresh_instance(game, params)
            spec = registry.game(game)
            seats = spec.build(instance.params).seats if instance.params else offer.seats
            return instance, seats
        frozen = problems_of(game)
        if problem not in frozen:
            raise unknown(f"problem of {game}", problem, frozen)
        chosen_problem = frozen[problem]
        merged_params = {**chosen_problem.instance.params, **params}
        return msgspec.structs.replace(
            chosen_problem.instance, params=merged_params
        ), chosen_problem.seats

    # --- the queue ------------------------------------------------------------------------------

    async def wait(self, game: str) -> str:
        """Join the queue of a game; the returned ticket later becomes the token of a seat."""
        self._check_offer(game, {})
        ticket = secrets.token_urlsafe(32)
        key, now = hash_token(ticket), time.time()

        def come(tx: Transaction) -> None:
            tx.execute("DELETE FROM tickets WHERE match IS NULL AND made < ?", now - KEPT)
            tx.execute("INSERT INTO tickets (ticket, game, made) VALUES (?, ?, ?)", key, game, now)

        await self.live_matches.database.run(come)
        self._seen[key] = (game, time.monotonic())
        await self._pair(game)
        return ticket

    async def queue_status(self, ticket: str, seconds: float = 0.0) -> tuple[bool, int, int]:
        """Return whether a ticket has a seat, how many people wait, and how many are needed."""
        key = hash_token(ticket)
        until, game, needed = time.monotonic() + seconds, "", 0
        while True:
            news = self._news  # taken before the query, so that no change is missed
            row = await self.live_matches.database.run(
                Transaction.first, "SELECT game, match FROM tickets WHERE ticket = ?", key
            )
            if row is None and not needed:
                raise LookupError(ticket)
            if row is None:  # cancelled while waiting
                return False, len(self._waiting(game)), needed
            game, match = row
            needed = len(bots_of(registry.game(game)))
            if match is not None:
                self._seen.pop(key, None)
                return True, needed, needed
            now = time.monotonic()
            self._seen[key] = (game, now)
            if not await self._pair(game) and (now >= until or self._stopping):
                return False, len(self._waiting(game)), needed
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), max(0.0, until - now))

    async def leave(self, ticket: str) -> bool:
        """Leave the queue; return whether the ticket was still waiting."""
        key = hash_token(ticket)
        async with self._pairing:
            gone = await self.live_matches.database.run(
                lambda tx: tx.execute("DELETE FROM tickets WHERE ticket = ? AND match IS NULL", key)
            )
            self._seen.pop(key, None)
        self._wake()  # a pending poll of this ticket returns
        return gone > 0

    def stop_waiting(self) -> None:
        """Make all polls return, before the server shuts down."""
        self._stopping = True
        self._news.set()

    def _waiting(self, game: str) -> list[str]:
        """Return the tickets that wait for a game, in order of arrival, after dropping stale
        tickets."""
        now = time.monotonic()
        self._seen = {
            k: last_seen for k, last_seen in self._seen.items() if now - last_seen[1] < STALE
        }
        return [k for k, (g, _) in self._seen.items() if g == game]

    async def _pair(self, game: str) -> bool:
        """Open a table for the visitors who have waited longest; return False if there are too
        few."""
        seats = tuple(bots_of(registry.game(game)))
        async with self._pairing:
            called = self._waiting(game)[: len(seats)]
            if len(called) < len(seats):
                return False
            secrets.SystemRandom().shuffle(called)  # arrival order must not decide the seat
            keys_by_seat = dict(zip(seats, called, strict=True))

            def seat(tx: Transaction, match: str) -> None:
                for seat_name, key in keys_by_seat.items():
                    tx.execute(
                        "UPDATE tickets SET match = ?, seat = ? WHERE ticket = ?",
                        match,
                        seat_name,
                        key,
                    )

            lineup = {seat: PlayerSpec(PERSON) for seat in seats}
            instance = fresh_instance(game, {})
            await self._open_match(instance, lineup, seats, {}, keys=keys_by_seat, also=seat)
            for key in called:
                self._seen.pop(key, None)
        self._wake()
        return True

    def _wake(self) -> None:
        """Wake all polls."""
        self._news.set()
        self._news = asyncio.Event()

    # --- checks ---------------------------------------------------------------------------------

    def _check_offer(self, game: str, params: Mapping[str, Any]) -> Offer:
        """Return the lobby entry of a game; raises BadInput for bad parameters, Busy if all tables
        are taken."""
        offer = self.offer(game)
        parameters = {p.name: p for p in offer.parameters}
        for name, value in params.items():
            if name not in parameters:
                raise unknown(f"parameter that can be set here for {game}", name, parameters)
            if (problem := parameters[name].problem(value)) is not None:
                raise BadInput(f"{problem}.")
        if len(self.live_matches.in_progress()) >= self._most_open:
            raise Busy(f"All {self._most_open} tables are taken; try again later.")
        return offer

    def _player_spec(self, offer: Offer, seat: str, player_name: str) -> PlayerSpec:
        if player_name not in offer.players[seat]:
            raise unknown(
                f"player for seat {seat!r} of {offer.name}", player_name, offer.players[seat]
            )
        if not player_name.startswith(MODEL):
            return PlayerSpec(player_name)
        entry = self.live_matches.meter.config.entry(player_name.removeprefix(MODEL))
        settings = {"settings": dict(entry.settings)} if entry.settings else {}
        return PlayerSpec(LANGUAGE, {"model": entry.name, **settings})

    async def _open_match(
        self,
        instance: Instance,
        lineup: Mapping[str, PlayerSpec],
        people: Sequence[str],
        arms: Mapping[str, tuple[str, ...]],
        **match_options: Any,
    ) -> OpenedMatch:
        # The seed must be unpredictable: it determines all deals.
        setup = Setup(
            instance,
            secrets.randbits(53),
            dict(lineup),
            arms={seat: names for seat, names in arms.items() if names},
        )
        return await self.live_matches.open(setup, people, **match_options)


def fresh_instance(game: str, params: Mapping[str, Any]) -> Instance:
    """Return an instance with these parameters and, if the game can draw problems, a newly drawn
    problem.

    A visitor who met the same problem twice would know the answer.
    """
    spec, draws = registry.game(game), Stream(secrets.randbits(53), "lobby", game)
    params = {**spec.people.visitors.get(game, {}), **params}
    for _ in range(FRESH_TRIES if spec.people.fresh is not None else 0):
        assert spec.people.fresh is not None
        drawn_params = {**spec.people.fresh(draws, game), **params}
        with suppress(BadInput):  # the problem does not fit the parameters, such as the level
            spec.build(drawn_params)
            return Instance(game, game, drawn_params)
    return Instance(game, game, dict(params))


# --- registered games ---------------------------------------------------------------------------


def _problems_module(name: str) -> Problems | None:
    make = registry.part(name, "problems")
    problems: Problems | None = None if make is None else make()
    return problems


def problems_of(name: str) -> dict[str, Problem]:
    """Return the shipped problems that visitors may choose, by id."""
    module_problems = _problems_module(name)
    return (
        {}
        if module_problems is None
        else {problem.instance.id: problem for problem in module_problems.problems}
    )


def bots_of(spec: GameSpec, problem: Problem | None = None) -> dict[str, tuple[str, ...]]:
    """Return, for each seat, the bots that need no parameters."""
    return _bots(spec, msgspec.json.encode(problem.instance.params if problem else {}))


@cache
def bots_at_most_seats(spec: GameSpec) -> dict[str, tuple[str, ...]]:
    """Return `bots_of` for the largest number of seats that the game's settings allow."""
    bots: dict[str, tuple[str, ...]] = {}
    for name, bounds in spec.people.settings.items():
        with suppress(BadInput):  # this game of the family refuses the bound
            largest_params = {name: bounds[1]} if bounds is not None else {}
            if spec.build(largest_params).seats != spec.build().seats:
                bots |= _bots(spec, msgspec.json.encode(largest_params))
    return bots


@cache
def _bots(spec: GameSpec, params: bytes) -> dict[str, tuple[str, ...]]:
    game = spec.build(msgspec.json.decode(params))
    bots: dict[str, tuple[str, ...]] = {}
    for seat in game.seats:
        bots[seat] = tuple(
            name for name, kind in kinds(spec).items() if _is_offered(spec, game, seat, name, kind)
        )
    return bots


def _is_offered(spec: Any, game: Any, seat: Seat, name: str, kind: Any) -> bool:
    if name in NOT_OFFERED or (isinstance(kind, Partner) and kind.helps):
        return False
    if name in BY_PLACE and game.widest_menu() is None:
        return False
    try:
        return is_bot(seat_player(spec, game, seat, PlayerSpec(name)))
    except BadInput:
        return False


def usual(spec: GameSpec, names: Sequence[str]) -> str:
    """Return the default player. The game's usual player, its reference player, its partners and
    `random` are tried in this order, and the first that is offered is taken; if none is offered, a
    person."""
    partners = [name for name in registry.partners(spec.family or spec.name) if name in names]
    for name in (spec.usual, spec.measured.reference, *partners, "random"):
        if name in names:
            return name
    return PERSON


@cache
def parameters_of(spec: GameSpec) -> tuple[Parameter, ...]:
    """Return the parameters of a game that visitors may set."""
    game, hints = spec.build(), get_type_hints(spec.game)
    offered = (
        _parameter_of(spec, name, hints.get(name), getattr(game, name)) for name in spec.parameters
    )
    return tuple(p for p in offered if p is not None)


def _parameter_of(spec: GameSpec, name: str, hint: Any, default: Any) -> Parameter | None:
    args = [a for a in get_args(hint) if a is not NoneType]
    if get_origin(hint) in (Union, UnionType) and len(args) == 1:
        hint = args[0]
    if get_origin(hint) is Literal:
        return Parameter(name, title_of(name), default, get_args(hint))
    if hint is bool:
        return Parameter(name, title_of(name), default, (True, False))
    bounds = spec.people.settings.get(name)
    if bounds is not None:
        return Parameter(name, title_of(name), default, low=bounds[0], high=bounds[1])
    if name in spec.people.settings:  # the game itself refuses unknown names
        return Parameter(name, title_of(name), default if isinstance(default, str) else "")
    return None
