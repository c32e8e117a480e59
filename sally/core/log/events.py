"""The episode log: the setup and the events; derived data is not stored."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.log import model_names as names
from sally.core.log.calls import Call as Call
from sally.core.log.calls import ToolUse as ToolUse
from sally.core.log.seat import Seat

SCHEMA = 1  # version of a stored line; raised when old lines need migration


Value = int | str | dict[str, float]  # of an answer to a probe


INFORMANTS = ("informant", "informant_elsewhere")  # sources with a stated reliability


class Injection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Information about another player's mind that a seat receives before it moves.

    The sources are the truth, the seat's own report, and an informant: the truth with an error
    whose size the page states. An informant speaks before the seat's probes are asked, so that
    these show what it made of the statement. `informant_elsewhere` says the same sentence about a
    game in which the seat has no part.
    """

    seat: Seat
    probe: str
    source: Literal["truth", "own", "informant", "informant_elsewhere"] = "truth"
    error: float = 0.0  # the chance of a wrong value, uniform over the wrong ones
    keep: bool = False  # True: kept as a history line; False: shown in this turn only

    def __post_init__(self) -> None:
        if not 0 <= self.error <= 1:
            raise ValueError(f"error must be from 0 to 1, not {self.error}")
        if self.source == "own" and self.error:
            raise ValueError("error is not allowed with source 'own'")
        if self.keep and self.is_informant:
            raise ValueError("what an informant says is shown in its turn only; leave keep out")

    @property
    def is_informant(self) -> bool:
        """Whether the page states how often the source is right."""
        return self.source in INFORMANTS


class Position(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A fixed past and the one decision that is asked after it.

    A position is one member of a pair if `pair` names one.
    """

    seat: str  # the seat that is asked
    past: tuple[dict[str, Any], ...] = ()  # the moves of each earlier turn by seat, with nature's
    asks: Literal["both", "know", "do"] = "both"  # the probes of the seat's arm, its move, or both
    pair: str = ""
    member: int = 0  # 0 or 1
    recipe: str = ""  # the recipe of the pair, among those of the game
    order: int = 0  # the order of reasoning that the pair needs
    cluster: str = ""  # what several pairs share; "": the pair shares nothing


class Instance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A problem as data: a game and its parameters, and a position if not the whole is played."""

    id: str
    game: str
    params: dict[str, Any] = msgspec.field(default_factory=dict)
    position: Position | msgspec.UnsetType = msgspec.UNSET  # unset: not stored, so ids stay


class PlayerSpec(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The player in a seat: its name, its parameters and the versions of its components."""

    player: str
    params: dict[str, Any] = msgspec.field(default_factory=dict)
    versions: dict[str, int] = msgspec.field(default_factory=dict)


def label(player: PlayerSpec) -> str:
    """Return a player's name and parameters for tables; all people count as one player."""
    params = dict(player.params)
    params.pop("participant", None)
    if player.player == "inverse":  # named after the player it inverts
        inverted = PlayerSpec(str(params.get("of", "constant")), params.get("params") or {})
        return f"not {label(inverted)}"
    if player.player == "noisy":  # named after the player whose moves it makes
        return f"{params.get('of', 'constant')} with error {params.get('error', 0.5):g}"
    if "model" in params or player.player == "language":  # each way of prompting counts as a player
        model, strategy = model_and_strategy(player)
        settings = params.pop("settings", None) or {}
        ways = {key: settings[key] for key in names.WAYS if key in settings}
        options = (params.pop("with_", None) or {}) | (params.pop("harness", None) or {})
        others = {k: v for k, v in params.items() if k not in ("model", "strategy") and v != ""}
        return " ".join([model, strategy, *names.name_params(ways | options | others)])
    if len(params) == 1:
        (value,) = params.values()
        value_text = names.name_params(params)[0] if isinstance(value, bool) else f"{value}"
        return f"{player.player} {value_text}"
    params_text = ", ".join(f"{key} {value}" for key, value in params.items())
    return f"{player.player} ({params_text})" if params_text else player.player


def model_and_strategy(player: PlayerSpec) -> tuple[str, str]:
    """Return the model and the strategy of a language player; for a bot, its name and ""."""
    if player.player == "language":
        model = names.short_model_name(str(player.params.get("model", "embedded")))
        return model, str(player.params.get("strategy", "qa"))
    if "model" in player.params:  # such as a player that writes its policy
        return names.short_model_name(str(player.params["model"])), player.player
    return player.player, ""


class Fork(msgspec.Struct, frozen=True, omit_defaults=True):
    """The point at which an episode branches off from another; all earlier turns are shared."""

    episode: str
    turn: int
    seed: int  # of the original episode
    arms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)  # before that turn
    injections: tuple[Injection, ...] = ()  # before that turn
    # moves prescribed for seats in that turn
    moves: dict[str, Any] = msgspec.field(default_factory=dict)


class Setup(msgspec.Struct, frozen=True, omit_defaults=True):
    """The full specification of one episode; its hash is the episode id."""

    instance: Instance
    seed: int
    lineup: dict[str, PlayerSpec]
    version: int = 1  # of the rules
    arms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    injections: tuple[Injection, ...] = ()
    retries: int = 2  # how often an unreadable or rejected answer may be retried
    repeat: int = 0
    fork: Fork | None = None  # the episode it branches off; None: it starts from the beginning


class Noted(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag=str.lower):
    """Base class of events; fields that a kind of event lacks are empty."""

    turn: int

    @property
    def seat(self) -> str:
        """The seat of the event, or "" if it has none."""
        return ""

    @property
    def reply(self) -> str:
        """The raw reply text, if any."""
        return ""

    @property
    def tries(self) -> int:
        """Number of tries the answer took."""
        return 1

    @property
    def calls(self) -> tuple[Call, ...]:
        """The model calls that led to the event."""
        return ()

    @property
    def looked(self) -> tuple[ToolUse, ...]:
        """The tool calls that preceded the event."""
        return ()


class Moved(Noted, frozen=True, gc=False):
    """The event of a seat's move."""

    seat: str
    action: Any
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()
    memory: Any = None  # notes to self, for language players
    looked: tuple[ToolUse, ...] = ()


class Reported(Noted, frozen=True):
    """The event of an answer to a probe; `value` is None if no answer could be read."""

    seat: str
    probe: str
    value: Value | None
    about: str = ""
    odds: tuple[float, ...] | None = None
    source: str = "probe"  # or `decision` if it was predicted inside a decision
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()


class Skipped(Noted, frozen=True):
    """A probe that was due but not asked, with the reason."""

    seat: str
    probe: str
    reason: str
    about: str = ""


class Told(Noted, frozen=True):
    """Information about another mind injected for a seat; `value` is None if it was unavailable."""

    seat: str
    probe: str
    value: Value | None
    about: str = ""
    source: str = "truth"
    reliability: float | None = None  # how often an informant is right, as the page states it

    @property
    def odds(self) -> None:
        """Always None: an injected value comes without probabilities."""


class Forfeited(Noted, frozen=True):
    """The event of a forfeit: a seat gave no legal action within its tries."""

    seat: str
    reason: str  # unreadable, length, refused, rejected
    reply: str = ""
    tries: int = 1
    calls: tuple[Call, ...] = ()
    looked: tuple[ToolUse, ...] = ()
    memory: Any = None  # notes to self, for language players


class Censored(Noted, frozen=True):
    """The event of a stop without a result, for example at a budget limit or after a fault."""

    cause: str  # budget, limit, fault, left, forfeits, helper, record
    detail: str = ""
    seat: str = ""
    calls: tuple[Call, ...] = ()


class Ended(Noted, frozen=True):
    """The event of a game that ended by its rules."""

    payoffs: dict[str, float]


Event = Moved | Reported | Skipped | Told | Forfeited | Censored | Ended
RESUMABLE = frozenset({"budget", "fault", "limit", "left"})  # causes that a resumed run plays again


class Episode(msgspec.Struct, frozen=True, omit_defaults=True):
    """One played instance: its setup, its events, and the resources used."""

    id: str
    setup: Setup
    events: list[Event]
    cell: str = ""  # the cell of its study
    used: dict[str, Any] = msgspec.field(default_factory=dict)  # weights, machine; bots: nothing
    schema: int = msgspec.field(default_factory=lambda: SCHEMA)  # a factory: never omitted

    def __repr__(self) -> str:
        sat = ", ".join(f"{seat} = {label(player)}" for seat, player in self.setup.lineup.items())
        last = self.events[-1] if self.events else None
        paid = last.payoffs.items() if isinstance(last, Ended) else ()
        result = ", ".join(f"{seat} {value:g}" for seat, value in paid) or "no result"
        return f"<Episode {self.id} of {self.setup.instance.game}: {sat}; {result}>"

    def _repr_html_(self) -> str:
        # imported here because only notebooks need it and it loads all character names
        from html import escape

        return f"<p>{escape(repr(self))}</p>"

    @property
    def end(self) -> Ended | Censored:
        last = self.events[-1] if self.events else None
        if not isinstance(last, Ended | Censored):
            raise BadInput(
                f"Episode {self.id} has not ended: its last event is neither an end nor a "
                "censoring."
            )
        return last

    @property
    def payoffs(self) -> Mapping[str, float] | None:
        """The payoff of each seat; None if the episode was censored."""
        last = self.events[-1] if self.events else None
        if type(last) is Ended:
            return last.payoffs
        return None if isinstance(self.end, Censored) else {}


_ENCODER = msgspec.json.Encoder()
_CANONICAL = msgspec.json.Encoder(order="sorted")
_DECODER = msgspec.json.Decoder(Episode)


def episode_id(setup: Setup) -> str:
    """Return the hash of a setup."""
    return blake2b(canonical(setup), digest_size=12).hexdigest()


def canonical(setup: Setup) -> bytes:
    """Return a setup as text that is identical on every machine."""
    return _CANONICAL.encode(setup)


def to_line(episode: Episode) -> bytes:
    """Return the episode as one line of JSON with a newline.

    A lone surrogate in a model's reply is not valid in JSON; it becomes U+FFFD.
    """
    try:
        return _ENCODER.encode(episode) + b"\n"
    except UnicodeEncodeError:
        return _ENCODER.encode(without_halves(msgspec.to_builtins(episode))) + b"\n"


def without_halves(plain: Any) -> Any:
    """Return plain data in which U+FFFD replaces each lone surrogate."""
    if isinstance(plain, str):
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(plain, dict):
        return {without_halves(key): without_halves(value) for key, value in plain.items()}
    return [without_halves(p) for p in plain] if isinstance(plain, list | tuple) else plain


def from_line(line: bytes) -> Episode:
    """Return the episode that `to_line` wrote."""
    return _DECODER.decode(line)
