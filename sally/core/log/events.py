"""The log: what was asked for, what happened, and nothing that can be computed from it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.calls import Call as Call
from sally.core.log.calls import Looked as Looked
from sally.core.registry import model_names as names
from sally.core.rules.probe import Injection, Value
from sally.core.rules.seat import Seat

SCHEMA = 1  # of a stored line; raised when an old line needs migration


class Instance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A problem, as data: which game, with which parameters."""

    id: str
    game: str
    params: dict[str, Any] = msgspec.field(default_factory=dict)


class PlayerSpec(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Who sits in a seat: a name, its parameters, and the versions of what it is made of."""

    player: str
    params: dict[str, Any] = msgspec.field(default_factory=dict)
    versions: dict[str, int] = msgspec.field(default_factory=dict)


def label(who: PlayerSpec) -> str:
    """A player's name with its parameters, for tables; people are one player, not one each."""
    params = dict(who.params)
    params.pop("participant", None)
    if who.player == "inverse":  # named by what it turns around
        inverted = PlayerSpec(str(params.get("of", "constant")), params.get("params") or {})
        return f"not {label(inverted)}"
    if "model" in params or who.player == "language":  # two ways of asking are two players
        model, strategy = model_and_strategy(who)
        asked = params.pop("settings", None) or {}
        ways = {key: asked[key] for key in names.WAYS if key in asked}
        how = (params.pop("with_", None) or {}) | (params.pop("harness", None) or {})
        more = {k: v for k, v in params.items() if k not in ("model", "strategy") and v != ""}
        return " ".join([model, strategy, *names.named(ways | how | more)])
    if len(params) == 1:
        (value,) = params.values()
        said = names.named(params)[0] if isinstance(value, bool) else f"{value}"
        return f"{who.player} {said}"
    given = ", ".join(f"{key} {value}" for key, value in params.items())
    return f"{who.player} ({given})" if given else who.player


def model_and_strategy(who: PlayerSpec) -> tuple[str, str]:
    """What a language player is made of, as tables call it; a bot's name and nothing."""
    if who.player == "language":
        model = names.called(str(who.params.get("model", "embedded")))
        return model, str(who.params.get("strategy", "qa"))
    if "model" in who.params:  # such as one that writes its policy
        return names.called(str(who.params["model"])), who.player
    return who.player, ""


class Fork(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where an episode leaves another: all before that turn is the other's, as it was."""

    episode: str
    turn: int
    seed: int  # of the first episode
    arms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)  # before that turn
    injections: tuple[Injection, ...] = ()  # before that turn
    moves: dict[str, Any] = msgspec.field(default_factory=dict)  # made for seats in that turn


class Setup(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that was asked for in one episode; its hash is the episode's id."""

    instance: Instance
    seed: int
    lineup: dict[str, PlayerSpec]
    version: int = 1  # of the rules
    arms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    injections: tuple[Injection, ...] = ()
    retries: int = 2  # how often an unreadable or rejected answer may be given again
    repeat: int = 0
    fork: Fork | None = None  # what it goes on from; None: it begins at the beginning


class Noted(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag=str.lower):
    """The base of events: what a kind of event does not have reads as nothing."""

    turn: int

    @property
    def seat(self) -> str:
        """At whose seat it happened; empty when at nobody's."""
        return ""

    @property
    def reply(self) -> str:
        """The raw words, when there were any."""
        return ""

    @property
    def tries(self) -> int:
        """How many tries the answer took."""
        return 1

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of a model behind it."""
        return ()

    @property
    def looked(self) -> tuple[Looked, ...]:
        """What was looked up on the way."""
        return ()


class Moved(Noted, frozen=True, gc=False):
    """A seat acted."""

    seat: str
    action: Any
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()
    memory: Any = None  # notes to oneself, for language players
    looked: tuple[Looked, ...] = ()


class Reported(Noted, frozen=True):
    """A seat answered a probe; `value` None means that no answer could be read."""

    seat: str
    probe: str
    value: Value | None
    about: str = ""
    odds: tuple[float, ...] | None = None
    source: str = "probe"  # or `decision`, when it was made inside one
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()


class Skipped(Noted, frozen=True):
    """A probe that was due and was not asked, and why."""

    seat: str
    probe: str
    reason: str
    about: str = ""


class Told(Noted, frozen=True):
    """What a seat was told of another's mind; `value` None when there was nothing to tell."""

    seat: str
    probe: str
    value: Value | None
    about: str = ""
    source: str = "truth"

    @property
    def odds(self) -> None:
        """Nobody is told odds."""


class Forfeited(Noted, frozen=True):
    """No legal action could be had from a seat within its tries."""

    seat: str
    reason: str  # unreadable, length, refused, rejected
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()
    looked: tuple[Looked, ...] = ()
    memory: Any = None  # notes to oneself, for language players


class Censored(Noted, frozen=True):
    """The episode stopped without a result: a budget, a limit, a fault, somebody left."""

    cause: str  # budget, limit, fault, left, forfeits, helper
    detail: str = ""
    seat: str = ""
    calls: tuple[Call, ...] = ()


class Ended(Noted, frozen=True):
    """The game is over."""

    payoffs: dict[str, float]


Event = Moved | Reported | Skipped | Told | Forfeited | Censored | Ended
RESUMABLE = frozenset({"budget", "fault", "limit", "left"})  # causes that a resume runs again


class Episode(msgspec.Struct, frozen=True, omit_defaults=True):
    """One played instance: what was asked for, what happened, and what was used for it."""

    id: str
    setup: Setup
    events: list[Event]
    cell: str = ""  # the part of its study that it belongs to
    used: dict[str, Any] = msgspec.field(default_factory=dict)  # weights, machine; bots: nothing
    schema: int = msgspec.field(default_factory=lambda: SCHEMA)  # a factory: never omitted

    def __repr__(self) -> str:
        sat = ", ".join(f"{seat} = {label(who)}" for seat, who in self.setup.lineup.items())
        last = self.events[-1] if self.events else None
        paid = last.payoffs.items() if isinstance(last, Ended) else ()
        said = ", ".join(f"{seat} {value:g}" for seat, value in paid) or "no result"
        return f"<Episode {self.id} of {self.setup.instance.game}: {sat}; {said}>"

    def _repr_html_(self) -> str:
        from html import escape  # for notebooks alone; it brings all names of characters

        return f"<p>{escape(repr(self))}</p>"

    @property
    def end(self) -> Ended | Censored:
        last = self.events[-1] if self.events else None
        if not isinstance(last, Ended | Censored):
            raise BadInput(f"Episode {self.id} has no end.")
        return last

    @property
    def payoffs(self) -> Mapping[str, float] | None:
        """What each seat got; None when the episode was censored."""
        last = self.events[-1] if self.events else None
        if type(last) is Ended:
            return last.payoffs
        return None if isinstance(self.end, Censored) else {}


_ENCODER = msgspec.json.Encoder()
_CANONICAL = msgspec.json.Encoder(order="sorted")
_DECODER = msgspec.json.Decoder(Episode)


def episode_id(setup: Setup) -> str:
    """The hash of what was asked for."""
    return blake2b(canonical(setup), digest_size=12).hexdigest()


def canonical(setup: Setup) -> bytes:
    """What was asked for as text that is the same wherever it is written."""
    return _CANONICAL.encode(setup)


def to_line(episode: Episode) -> bytes:
    """The episode as one line of JSON, with its end of line.

    Half a character (a lone surrogate in a model's reply) has no place in JSON; it becomes U+FFFD.
    """
    try:
        return _ENCODER.encode(episode) + b"\n"
    except UnicodeEncodeError:
        return _ENCODER.encode(_without_halves(msgspec.to_builtins(episode))) + b"\n"


def _without_halves(plain: Any) -> Any:
    if isinstance(plain, str):
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(plain, dict):
        return {_without_halves(key): _without_halves(value) for key, value in plain.items()}
    return [_without_halves(p) for p in plain] if isinstance(plain, list | tuple) else plain


def from_line(line: bytes) -> Episode:
    """The episode that `to_line` wrote."""
    return _DECODER.decode(line)


def lineup_seats(setup: Setup) -> tuple[Seat, ...]:
    return tuple(Seat(seat) for seat in setup.lineup)
