"""Players and models that are given as objects instead of names.

`as_player` accepts every way of naming a player. An object is stored under a name, such as
`own:always_paper`; the name stands for the object as long as the call to which the object was
passed lasts (`ObjectNames.bound`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import msgspec

from sally.core.code_hash import code_hash
from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.match.function_player import FunctionPlayer, function_name, function_player
from sally.core.match.player import Player, PlayerKind

OWN = "own"  # prefix of the names of objects
OBJECT = "object"  # parameter of a spec that holds a player until the player has a name
PlayerLike = (
    str
    | PlayerSpec
    | tuple[str, Mapping[str, Any]]
    | tuple[Callable[[Any], Any], Callable[[Any], Any]]
    | Callable[[Any], Any]
    | Player
)
"""A player: its name, (name, parameters), a spec, a function of a turn, a pair of functions for
moves and for reports, or an object with a `decide` method."""
_objects: ContextVar[Mapping[str, Any]] = ContextVar("objects", default=MappingProxyType({}))
_kinds: ContextVar[dict[str, PlayerKind] | None] = ContextVar("kinds", default=None)  # of objects


def as_player(player: PlayerLike, seat: str = "") -> PlayerSpec:
    """Return the spec of a player that is given in any of the ways of `PlayerLike`.

    Args:
        player: The player. The parameter `model` may be an object with the methods of `Model`.
        seat: Name of the seat, for error messages.

    Raises:
        BadInput: If the value is not a player.

    >>> as_player(("tit_for_tat", {"noise": 0.1}))
    PlayerSpec(player='tit_for_tat', params={'noise': 0.1}, versions={})
    """
    if isinstance(player, str):
        return PlayerSpec(player)
    if isinstance(player, PlayerSpec):
        return player
    if isinstance(player, tuple):
        return _from_tuple(player, seat)
    if isinstance(player, type):
        raise BadInput(
            f"{_place(seat)} has the class {player.__name__}; give an instance of it, "
            f"such as {player.__name__}()."
        )
    if hasattr(player, "decide"):
        return _object_spec(player)
    if callable(player):
        return _object_spec(function_player(player))
    raise BadInput(
        f"{_place(seat)} has {player!r}; a player is a name, (name, parameters), a function of a "
        "turn, or an object with a `decide` method."
    )


def as_lineup(lineup: Mapping[str, PlayerLike]) -> dict[str, PlayerSpec]:
    """Return the spec of each seat's player; raises BadInput as `as_player` does."""
    if not isinstance(lineup, Mapping):
        raise BadInput(
            f"The lineup is a {type(lineup).__name__}; it must be a mapping from seats to players, "
            'such as {"agent": "random", "partner": "tit_for_tat"}.'
        )
    return {seat: as_player(player, seat) for seat, player in lineup.items()}


def _from_tuple(parts: tuple[Any, ...], seat: str) -> PlayerSpec:
    match parts:
        case (str(name), Mapping() as params):
            return PlayerSpec(name, dict(params))
        case (decide, report) if callable(decide) and callable(report):
            return _object_spec(function_player(decide, report))
    raise BadInput(
        f"{_place(seat)} has {parts!r}; a tuple must be (name, parameters), or two functions of a "
        "turn, one for moves and one for reports."
    )


def _place(seat: str) -> str:
    return f"Seat {seat!r}" if seat else "A seat"


def _object_spec(player: Player) -> PlayerSpec:
    return PlayerSpec(f"{OWN}:{name_of(player)}", {OBJECT: player})


def name_of(value: Any) -> str:
    """Return the name that an object states, or the name of its function or class."""
    name = getattr(value, "name", None)
    return name if isinstance(name, str) and name else function_name(value)


class ObjectNames:
    """The names of the objects that are passed to one call.

    Two objects with the same name are told apart by a number: `own:learner`, `own:learner-2`.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}

    def lineup(self, lineup: Mapping[str, PlayerLike]) -> dict[str, PlayerSpec]:
        """Return a lineup with a name in place of each object."""
        return {seat: self.player(spec, seat) for seat, spec in as_lineup(lineup).items()}

    def player(self, player: PlayerLike, seat: str = "") -> PlayerSpec:
        """Return the spec of a player with a name in place of each object.

        Raises:
            BadInput: If the value is not a player, or a parameter is an object other than a model.
        """
        spec = as_player(player, seat)
        params = dict(spec.params)
        if (value := params.pop(OBJECT, None)) is not None:
            return PlayerSpec(self.name(value), params)
        if "model" in params:
            params["model"] = self.model(params["model"])
        _check_plain(params, spec.player, seat)
        return msgspec.structs.replace(spec, params=params)

    def model(self, model: Any) -> str:
        """Return the name of a model, which may be an object with the methods of `Model`."""
        if isinstance(model, str):
            return model
        if not hasattr(model, "complete") or isinstance(model, type):
            raise BadInput(
                f"A model is a name or an object with a method `complete`, not {model!r}."
            )
        return self.name(model)

    def name(self, value: Any) -> str:
        """Return the name of an object, which is the same for the same object."""
        name = first = f"{OWN}:{name_of(value)}"
        number = 1
        while name in self.objects and not _is_same(self.objects[name], value):
            number += 1
            name = f"{first}-{number}"
        self.objects[name] = value
        return name

    @contextmanager
    def bound(self) -> Iterator[None]:
        """Let the names stand for their objects inside the block, in this thread or task."""
        token = _objects.set({**_objects.get(), **self.objects})
        kinds_token = _kinds.set({})
        try:
            yield
        finally:
            _objects.reset(token)
            _kinds.reset(kinds_token)


def _is_same(bound: Any, value: Any) -> bool:
    return bound is value or (isinstance(bound, FunctionPlayer) and bool(bound == value))


def _check_plain(params: Mapping[str, Any], player: str, seat: str) -> None:
    for name, value in params.items():
        try:
            msgspec.json.encode(value)
        except (TypeError, ValueError):
            raise BadInput(
                f"{_place(seat)}: the parameter {name} of {player} is {value!r}; a parameter is a "
                "number, a text, a list or a mapping, and only `model` may be an object."
            ) from None


def bound_object(name: str) -> Any | None:
    """Return the object that a name stands for in the present call, or None."""
    return _objects.get().get(name)


def bound_names() -> tuple[str, ...]:
    """Return the names that stand for objects in the present call."""
    return tuple(_objects.get())


def bound_kind(name: str) -> PlayerKind | None:
    """Return the kind of a player that was passed as an object, or None if it is not one. Its
    version, a hash of its code and settings, is computed once per call."""
    player = bound_object(name)
    if player is None or not hasattr(player, "decide"):
        return None
    kinds = _kinds.get()
    if kinds is not None and name in kinds:
        return kinds[name]
    version = getattr(player, "version", None)
    kind = PlayerKind(
        name,
        "an object of this process",
        lambda spec, game, seat: player,
        version=version if isinstance(version, int) else code_hash(player),
    )
    if kinds is not None:
        kinds[name] = kind
    return kind
