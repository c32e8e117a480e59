"""Register a game, player, metric, strategy, model or study that is an object of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sally.core.code_hash import code_hash
from sally.core.errors import BadInput
from sally.core.match.function_player import function_player
from sally.core.match.partner import Partner
from sally.core.match.player import Player, PlayerKind
from sally.core.match.strategy import Strategy
from sally.core.prompt.model import Model, ModelKind
from sally.core.registry import registry
from sally.core.registry.objects import name_of
from sally.core.registry.study import Study
from sally.core.rules.game import GameSpec
from sally.core.rules.metric import Metric

Entry = (
    GameSpec
    | Metric
    | Strategy
    | Study
    | Partner
    | PlayerKind
    | ModelKind
    | Model
    | Player
    | Callable[[Any], Any]
)


def register(entry: Entry, name: str = "", *, game: str = "") -> str:
    """Register an object, so that it can be used by name in this process.

    An object registered earlier under the same name is replaced. A study that uses a registered
    object runs in this process only; to use other processes, define the object in a file and load
    the file with `sally.use`.

    Args:
        entry: A `GameSpec`, `Metric`, `Strategy`, `Study`, `Partner`, a model (an object with the
            methods of `Model`), or a player: a function of a turn or an object with a `decide`
            method.
        name: Name of a model or player; by default its own `name`, or that of the function or
            class. Other entries have their own names.
        game: For a partner: the game whose partner it is.

    Returns:
        The name of the entry.

    Raises:
        BadInput: If the object is none of these, or a shipped entry has this name.

    >>> import sally
    >>> def always_paper(turn):
    ...     return turn.choose("paper")
    >>> sally.register(always_paper)
    'always_paper'
    >>> sally.play("rps", {"agent": "always_paper", "partner": "random"}, rounds=2).payoffs["agent"]
    0.0
    """
    folder, entry_name, value = _entry_of(entry, name, game)
    if isinstance(entry, GameSpec | Metric | Strategy | Study) and name not in ("", entry_name):
        raise BadInput(
            f"The {type(entry).__name__} is named {entry_name!r}; give it the name {name!r} with "
            "`dataclasses.replace` or `msgspec.structs.replace`."
        )
    registry.add_object(folder, entry_name, value, entry)
    return entry_name.rpartition(".")[2] if isinstance(entry, Partner) else entry_name


def metric_names(metrics: Sequence[str | Metric]) -> tuple[str, ...]:
    """Return the names of metrics that are given by name or as objects, which are registered."""
    for metric in metrics:  # listing all registered metrics imports every game
        if (
            isinstance(metric, Metric)
            and registry.entries("metrics").get(metric.name) is not metric
        ):
            register(metric)
    return tuple(metric.name if isinstance(metric, Metric) else metric for metric in metrics)


def as_game(game: str | GameSpec) -> str:
    """Return the name of a game that is given by name or as an object, which is registered.

    Raises:
        BadInput: If the value is not a game, or a shipped game has the name of the object.
    """
    if isinstance(game, str):
        return game
    if not isinstance(game, GameSpec):
        raise BadInput(f"A game is a name or a GameSpec, not {game!r}.")
    if registry.added_objects().get(("games", game.name)) is game or _is_known(game):
        return game.name
    return register(game)


def _is_known(game: GameSpec) -> bool:
    try:
        return registry.game(game.name) is game
    except BadInput:
        return False


def _entry_of(entry: Any, name: str, game: str) -> tuple[str, str, Any]:
    """Return the kind of an entry, its name, and the value that the registry holds."""
    folders = (
        (GameSpec, "games"),
        (Metric, "metrics"),
        (Strategy, "strategies"),
        (Study, "studies"),
    )
    for kind, folder in folders:
        if isinstance(entry, kind):
            return folder, entry.name, entry
    if isinstance(entry, Partner):
        if not game:
            raise BadInput(f"Name the game of the partner {entry.name}, such as game='ipd'.")
        return "partners", f"{_family(game)}.{name or entry.name}", entry
    if isinstance(entry, PlayerKind):
        return "players", name or entry.name, {name or entry.name: entry}
    if isinstance(entry, ModelKind):
        return "models", name or entry.name, entry
    if isinstance(entry, type):
        raise BadInput(f"{entry.__name__} is a class; register an instance, {entry.__name__}().")
    if hasattr(entry, "complete"):
        return "models", *_named_model(entry, name)
    if hasattr(entry, "decide") or callable(entry):
        return "players", *_named_player(entry, name)
    raise BadInput(
        f"{entry!r} cannot be registered; register a game, player, metric, strategy, model or "
        "study."
    )


def _family(game: str) -> str:
    spec = registry.game(game)
    return spec.family or spec.name


def _named_model(model: Any, name: str) -> tuple[str, ModelKind]:
    full_name = name or name_of(model)
    if ":" in full_name or "/" in full_name:
        raise BadInput(
            f"The model is named {full_name!r}; the name of a registered model has no colon and no "
            "slash. Give it another with `sally.register(model, NAME)`."
        )
    return full_name, ModelKind(full_name, "an object of this process", lambda _: model)


def _named_player(player: Any, name: str) -> tuple[str, dict[str, PlayerKind]]:
    full_name = name or name_of(player)
    if not full_name.isidentifier():
        raise BadInput(f"{full_name} is not a name; give one with `sally.register(player, NAME)`.")
    seated = player if hasattr(player, "decide") else function_player(player)
    kind = PlayerKind(
        full_name,
        "an object of this process",
        lambda spec, game, seat: seated,
        version=code_hash(player),
    )
    return full_name, {full_name: kind}
