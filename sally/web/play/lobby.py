"""What a visitor may open: games, seats, players, and a few parameters within bounds."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from sally.core.errors import BadInput, listed, unknown
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.registry import registry
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.partner import Partner
from sally.core.rules.problems import Problem, Problems
from sally.players.language import LANGUAGE
from sally.runner.local import is_bot
from sally.runner.seating import kinds, seated
from sally.web.database import Transaction
from sally.web.live.matches import LiveMatches
from sally.web.live.screen import title_of
from sally.web.live.seats import PERSON, Opened, hashed

MODEL = "model:"  # stands before a model's name in a list of players
# Its library takes half a minute to load, and what it plays unless told is tit for tat.
NOT_OFFERED = frozenset({LANGUAGE, "model", "axelrod"})
BY_PLACE = frozenset({"constant", "inverse"})  # they choose from a finite menu, by place
STALE = 40.0  # seconds after which somebody who waits and has not asked again is gone
KEPT = 24 * 3600.0  # seconds for which a place in line is kept that was never called

NAME_LENGTH = 60


class Parameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """One parameter that a visitor may set."""

    name: str
    label: str
    default: Any
    values: tuple[str | int | bool, ...] | None = None
    low: int | None = None
    high: int | None = None

    def problem(self, value: Any) -> str | None:
        """Why a value will not do."""
        if self.values is not None:
            if any(type(value) is type(v) and value == v for v in self.values):
                return None
            return f"{self.name} must be {listed(map(str, self.values), 'or')}"
        if self.low is not None and self.high is not None:
            if type(value) is int and self.low <= value <= self.high:
                return None
            return f"{self.name} must be a whole number from {self.low} to {self.high}"
        if isinstance(value, str) and len(value) <= NAME_LENGTH and value.isprintable():
            return None
        return f"{self.name} must be a name of at most {NAME_LENGTH} characters"


class Choice(msgspec.Struct, frozen=True):
    """One frozen problem: what is chosen to get it, and who sits at it."""

    id: str
    choice: tuple[str, ...]
    seats: tuple[str, ...]


class Offer(msgspec.Struct, frozen=True):
    """One game that can be played here."""

    name: str
    title: str
    about: str
    seats: tuple[str, ...]
    roles: dict[str, str]  # what people call who sits there
    players: dict[str, tuple[str, ...]]
    usual: dict[str, str]  # who sits there unless told
    parameters: tuple[Parameter, ...]
    probes: dict[str, tuple[str, ...]]
    asked: tuple[str, ...] = ()  # what is chosen, in turn, to get a problem
    problems: tuple[Choice, ...] = ()


class Busy(Exception):
    """Too many tables are open."""


class Lobby:
    """The way from a wish to a seat."""

    def __init__(
        self, live_matches: LiveMatches, models: Sequence[str] = (), most_open: int = 2000
    ) -> None:
        self.live_matches, self._models, self._most_open = live_matches, tuple(models), most_open
        self._seen: dict[str, tuple[str, float]] = {}  # hashed ticket -> game, last asked
        self._pairing, self._news = asyncio.Lock(), asyncio.Event()
        self._hushed = False

    def offers(self) -> list[Offer]:
        """Every game on the shelf, with who may sit where."""
        return [self.offer(name) for name in registry.games()]

    def offer(self, name: str) -> Offer:
        """One game, with who may sit where."""
        spec = registry.game(name)
        models = tuple(MODEL + model for model in self._models)
        frozen = problems_of(name)
        bots = bots_of(spec)
        for seats in dict.fromkeys(each.seats for each in frozen.values()):
            bots = {**bots_of(spec, next(p for p in frozen.values() if p.seats == seats)), **bots}
        bots = {**fullest(spec), **bots}
        return Offer(
            spec.name,
            spec.title,
            spec.sentence,
            tuple(bots_of(spec)),
            {seat: spec.roles.get(seat, title_of(seat)) for seat in bots},
            {seat: (PERSON, *names, *models) for seat, names in bots.items()},
            {seat: usual(spec, names) for seat, names in bots.items()},
            parameters_of(spec),
            {seat: tuple(p.name for p in spec.probes if seat in p.seats) for seat in bots},
            room.asked if (room := _room(name)) is not None else (),
            tuple(Choice(id, each.choice, each.seats) for id, each in frozen.items()),
        )

    async def open(
        self,
        game: str,
        seat: str,
        others: Mapping[str, str],
        params: Mapping[str, Any],
        probes: Sequence[str] = (),
        problem: str = "",
    ) -> Opened:
        """A table for a visitor and whom they chose, at a problem of their choice."""
        offer = self._allowed(game, params)
        instance, seats = self._chosen(game, offer, problem, params)
        seat = seat or seats[0]
        for named in (seat, *others):
            if named not in seats:
                raise unknown(f"seat of {game}", named, seats)
        if seat in others:
            raise BadInput(f"You sit in seat {seat!r} yourself.")
        for name in probes:
            if name not in offer.probes[seat]:
                raise unknown(f"probe for seat {seat!r} of {game}", name, offer.probes[seat])
        lineup = {
            s: self._sitter(offer, s, others.get(s, PERSON if s == seat else offer.usual[s]))
            for s in seats
        }
        people = [s for s in seats if lineup[s].player == PERSON]
        invited = [s for s in people if s != seat]
        arms = {seat: tuple(probes)}
        return await self._opened(instance, lineup, people, arms, invited=invited)

    def _chosen(
        self, game: str, offer: Offer, problem: str, params: Mapping[str, Any]
    ) -> tuple[Instance, tuple[str, ...]]:
        """The instance that is played, with its seats; settings win over what a problem has."""
        if not problem:
            seats = registry.game(game).build(params).seats if params else offer.seats
            return Instance(game, game, dict(params)), seats
        frozen = problems_of(game)
        if problem not in frozen:
            raise unknown(f"problem of {game}", problem, frozen)
        found = frozen[problem]
        both = {**found.instance.params, **params}
        return msgspec.structs.replace(found.instance, params=both), found.seats

    # --- whoever comes ----------------------------------------------------------------------

    async def wait(self, game: str) -> str:
        """Get in line for a game; the ticket becomes the token of a seat when it is called."""
        self._allowed(game, {})
        ticket = secrets.token_urlsafe(32)
        key, now = hashed(ticket), time.time()

        def come(tx: Transaction) -> None:
            tx.put("DELETE FROM tickets WHERE match IS NULL AND made < ?", now - KEPT)
            tx.put("INSERT INTO tickets (ticket, game, made) VALUES (?, ?, ?)", key, game, now)

        await self.live_matches.database.run(come)
        self._seen[key] = (game, time.monotonic())
        await self._pair(game)
        return ticket

    async def called(self, ticket: str, seconds: float = 0.0) -> tuple[bool, int, int]:
        """Whether a ticket has got its seat, how many wait, and how many it takes."""
        key = hashed(ticket)
        until, game, needed = time.monotonic() + seconds, "", 0
        while True:
            news = self._news  # before we look, so that no call in between is missed
            row = await self.live_matches.database.run(
                lambda tx: tx.one("SELECT game, match FROM tickets WHERE ticket = ?", key)
            )
            if row is None and not needed:
                raise LookupError(ticket)
            if row is None:  # given up while we waited
                return False, len(self._waiting(game)), needed
            game, match = row
            needed = len(bots_of(registry.game(game)))
            if match is not None:
                self._seen.pop(key, None)
                return True, needed, needed
            now = time.monotonic()
            self._seen[key] = (game, now)
            if not await self._pair(game) and (now >= until or self._hushed):
                return False, len(self._waiting(game)), needed
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), max(0.0, until - now))

    async def leave(self, ticket: str) -> bool:
        """Give a place in line up; says whether there was one that had not been called yet."""
        key = hashed(ticket)
        async with self._pairing:
            gone = await self.live_matches.database.run(
                lambda tx: tx.put("DELETE FROM tickets WHERE ticket = ? AND match IS NULL", key)
            )
            self._seen.pop(key, None)
        self._tell()  # whoever asked for this place has nothing to wait for any more
        return gone > 0

    def hush(self) -> None:
        """Let everybody who waits to be called go, because the server is about to."""
        self._hushed = True
        self._news.set()

    def _waiting(self, game: str) -> list[str]:
        """Who waits for a game, in the order in which they came; who has gone is forgotten."""
        now = time.monotonic()
        self._seen = {k: seen for k, seen in self._seen.items() if now - seen[1] < STALE}
        return [k for k, (g, _) in self._seen.items() if g == game]

    async def _pair(self, game: str) -> bool:
        """Seat those who have waited longest, if they are enough."""
        seats = tuple(bots_of(registry.game(game)))
        async with self._pairing:
            called = self._waiting(game)[: len(seats)]
            if len(called) < len(seats):
                return False
            secrets.SystemRandom().shuffle(called)  # who came first is nobody's seat
            at = dict(zip(seats, called, strict=True))

            def seat(tx: Transaction, match: str) -> None:
                for where, key in at.items():
                    tx.put(
                        "UPDATE tickets SET match = ?, seat = ? WHERE ticket = ?", match, where, key
                    )

            lineup = {seat: PlayerSpec(PERSON) for seat in seats}
            instance = Instance(game, game, {})
            await self._opened(instance, lineup, seats, {}, keys=at, also=seat)
            for key in called:
                self._seen.pop(key, None)
        self._tell()
        return True

    def _tell(self) -> None:
        """Let everybody who waits look again."""
        self._news.set()
        self._news = asyncio.Event()

    # --- what is allowed --------------------------------------------------------------------

    def _allowed(self, game: str, params: Mapping[str, Any]) -> Offer:
        """The offer, if these parameters are among what it offers."""
        offer = self.offer(game)
        known = {p.name: p for p in offer.parameters}
        for name, value in params.items():
            if name not in known:
                raise unknown(f"parameter that can be set here for {game}", name, known)
            if (why := known[name].problem(value)) is not None:
                raise BadInput(f"{why}.")
        if len(self.live_matches.in_progress()) >= self._most_open:
            raise Busy(f"All {self._most_open} tables are taken; try again later.")
        return offer

    def _sitter(self, offer: Offer, seat: str, who: str) -> PlayerSpec:
        if who not in offer.players[seat]:
            raise unknown(f"player for seat {seat!r} of {offer.name}", who, offer.players[seat])
        if not who.startswith(MODEL):
            return PlayerSpec(who)
        entry = self.live_matches.meter.config.entry(who.removeprefix(MODEL))
        settings = {"settings": dict(entry.settings)} if entry.settings else {}
        return PlayerSpec(LANGUAGE, {"model": entry.name, **settings})

    async def _opened(
        self,
        instance: Instance,
        lineup: Mapping[str, PlayerSpec],
        people: Sequence[str],
        arms: Mapping[str, tuple[str, ...]],
        **how: Any,
    ) -> Opened:
        # A seed that nobody can guess: with it one could look the deals up.
        setup = Setup(
            instance,
            secrets.randbits(53),
            dict(lineup),
            arms={seat: names for seat, names in arms.items() if names},
        )
        return await self.live_matches.open(setup, people, **how)


# --- games as they stand on the shelf -----------------------------------------------------------


def _room(name: str) -> Problems | None:
    make = registry.part(name, "problems")
    found: Problems | None = None if make is None else make()
    return found


def problems_of(name: str) -> dict[str, Problem]:
    """The frozen problems of a game that a visitor may choose from, by id."""
    found = _room(name)
    return {} if found is None else {each.instance.id: each for each in found.problems}


def bots_of(
    spec: GameSpec[Any, Any, Any], problem: Problem | None = None
) -> dict[str, tuple[str, ...]]:
    """By seat, the players that answer at once and need not be told anything."""
    return _bots(spec, msgspec.json.encode(problem.instance.params if problem else {}))


@cache
def fullest(spec: GameSpec[Any, Any, Any]) -> dict[str, tuple[str, ...]]:
    """As `bots_of`, with the seats that there are once a visitor asks for as many as may be."""
    found: dict[str, tuple[str, ...]] = {}
    for name, bounds in spec.settings.items():
        with suppress(BadInput):  # a bound that this game of the family refuses seats nobody
            most = {name: bounds[1]} if bounds is not None else {}
            if spec.build(most).seats != spec.build().seats:
                found |= _bots(spec, msgspec.json.encode(most))
    return found


@cache
def _bots(spec: GameSpec[Any, Any, Any], params: bytes) -> dict[str, tuple[str, ...]]:
    game = spec.build(msgspec.json.decode(params))
    found: dict[str, tuple[str, ...]] = {}
    for seat in game.seats:
        found[seat] = tuple(
            name for name, kind in kinds(spec).items() if _sits(spec, game, seat, name, kind)
        )
    return found


def _sits(spec: Any, game: Any, seat: Seat, name: str, kind: Any) -> bool:
    if name in NOT_OFFERED or (isinstance(kind, Partner) and kind.helps):
        return False
    if name in BY_PLACE and game.widest_menu() is None:
        return False
    try:
        return is_bot(seated(spec, game, seat, PlayerSpec(name)))
    except BadInput:
        return False


def usual(spec: GameSpec[Any, Any, Any], names: Sequence[str]) -> str:
    """Who sits in a seat unless told: the game's reference player, a mind of its own, or chance."""
    own = [name for name in registry.partners(spec.family or spec.name) if name in names]
    for name in (spec.usual, spec.reference, *own, "random"):
        if name in names:
            return name
    return PERSON


@cache
def parameters_of(spec: GameSpec[Any, Any, Any]) -> tuple[Parameter, ...]:
    """The parameters of a game that a visitor may set."""
    game, hints = spec.build(), get_type_hints(spec.game)
    offered = (
        _offered(spec, name, hints.get(name), getattr(game, name)) for name in spec.parameters
    )
    return tuple(p for p in offered if p is not None)


def _offered(spec: GameSpec[Any, Any, Any], name: str, hint: Any, default: Any) -> Parameter | None:
    args = [a for a in get_args(hint) if a is not NoneType]
    if get_origin(hint) in (Union, UnionType) and len(args) == 1:
        hint = args[0]
    if get_origin(hint) is Literal:
        return Parameter(name, title_of(name), default, get_args(hint))
    if hint is bool:
        return Parameter(name, title_of(name), default, (True, False))
    bounds = spec.settings.get(name)
    if bounds is not None:
        return Parameter(name, title_of(name), default, low=bounds[0], high=bounds[1])
    if name in spec.settings:  # the game refuses names that it does not know
        return Parameter(name, title_of(name), default if isinstance(default, str) else "")
    return None
