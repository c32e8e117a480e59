"""Lists of everything that can be named: games, players, strategies, metrics, studies and more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sally.api.rows import Rows
from sally.core.registry import packs, registry
from sally.core.rules.game import GameSpec


def game(name: str) -> GameSpec:
    """Return a game: its description, seats, parameters and probes are printed with it.

    Args:
        name: Name of a game, as listed by `list_games`.

    Raises:
        BadInput: If there is no such game; the message suggests the nearest names.

    >>> import sally
    >>> sally.game("ipd").default_parameters["stop_chance"]
    0.0
    """
    return registry.game(name)


def list_games() -> Rows:
    """List every game.

    Returns:
        One row per game: name, seats, probes and a one-line description.

    >>> import sally
    >>> [row["seats"] for row in sally.list_games() if row["name"] == "rps"]
    ['agent, partner']
    """
    return Rows(
        {
            "name": name,
            "seats": ", ".join(spec.build().seats),
            "probes": ", ".join(probe.name for probe in spec.probes),
            "about": spec.about,
        }
        for name, spec in sorted(registry.games().items())
    )


def list_partners(game: str | None = None) -> Rows:
    """List the scripted partners of one game, or of every game.

    Args:
        game: Name of a game; None means all games.

    Returns:
        One row per partner: name, game (the family it belongs to), source and description.

    Raises:
        BadInput: If there is no such game; the message suggests the nearest name.

    >>> import sally
    >>> "tit_for_tat" in [row["name"] for row in sally.list_partners("ipd")]
    True
    """
    return Rows(
        {"name": name, "game": family, "source": partner.source, "about": partner.about}
        for family in _families(game)
        for name, partner in sorted(registry.partners(family).items())
    )


def list_players(game: str | None = None) -> Rows:
    """List the kinds of player that can take a seat in one game, or in any game.

    Args:
        game: Name of a game; None means all games.

    Returns:
        One row per player: name, game ("" if it fits every game) and description. Partners are
        listed by `list_partners`.

    Raises:
        BadInput: If there is no such game.

    >>> import sally
    >>> "tabular" in [row["name"] for row in sally.list_players("rps")]
    True
    """
    general = {k.name for players in registry.entries("players").values() for k in players.values()}
    about_by_player = {
        (kind.name, "" if kind.name in general else family): kind.about
        for family in (_families(game) if game else registry.entries("games"))
        for kind in registry.players(family).values()
    }
    return Rows(
        {"name": name, "game": family, "about": about}
        for (name, family), about in sorted(about_by_player.items())
    )


def list_metrics(game: str | None = None) -> Rows:
    """List the metrics of one game, or of every game.

    Args:
        game: Name of a game; None means all games.

    Returns:
        One row per metric: name, game ("" if several games have it) and description.

    Raises:
        BadInput: If there is no such game.

    >>> import sally
    >>> "functional_regret" in [row["name"] for row in sally.list_metrics("ipd")]
    True
    """
    metrics: dict[str, dict[str, Any]] = {}
    for family in _families(game) if game else sorted(registry.entries("games")):
        for name, metric in registry.metrics(family).items():
            is_shared = name in metrics and metrics[name]["game"] != family
            metrics[name] = {
                "name": name,
                "game": "" if is_shared else family,
                "about": metric.about,
            }
    return Rows(metrics[name] for name in sorted(metrics))


def list_strategies() -> Rows:
    """List the prompting strategies of language players.

    Returns:
        One row per strategy: name and description.

    >>> import sally
    >>> "social_qa" in [row["name"] for row in sally.list_strategies()]
    True
    """
    return _list_entries("strategies")


def list_studies() -> Rows:
    """List the studies that `sally.run` can run by name.

    Returns:
        One row per study: name and description.

    >>> import sally
    >>> "riemer2025" in [row["name"] for row in sally.list_studies()]
    True
    """
    return _list_entries("studies")


def list_packs() -> Rows:
    """List the shipped words packs: other wordings of a game's texts.

    Returns:
        One row per pack: name, game and the number of texts it replaces.
    """
    return Rows(
        {"name": name, "game": pack.game, "about": f"replaces {len(pack.texts)} texts"}
        for name, pack in packs.shipped_packs().items()
    )


def list_importers() -> Rows:
    """List the importers of published records.

    Returns:
        One row per importer: name and description.
    """
    return Rows(
        {"name": importer.name, "about": importer.about}
        for importer in registry.importers().values()
    )


def _families(game: str | None) -> list[str]:
    """Return the family of a game, or all families."""
    if game is not None:
        spec = registry.game(game)
        return [spec.family or spec.name]
    return sorted({spec.family or spec.name for spec in registry.games().values()})


def _list_entries(folder: str) -> Rows:
    return Rows(
        {"name": name, "about": getattr(entry, "about", "")}
        for name, entry in sorted(registry.entries(folder).items())
    )


def _pool() -> Rows:
    """Return the opponents of the suite Sally-1 with versions and hashes."""
    from sally.studies.sally_1 import pool_rows  # loads what evaluates a suite

    return Rows(pool_rows())


CATALOG: Mapping[str, Callable[[], Rows]] = {
    "games": list_games,
    "partners": list_partners,
    "players": list_players,
    "strategies": list_strategies,
    "metrics": list_metrics,
    "studies": list_studies,
    "models": lambda: _list_entries("models"),
    "papers": lambda: _list_entries("papers"),
    "packs": list_packs,
    "importers": list_importers,
    "pool": _pool,
}
"""The functions that return the lists of `sally list`, by kind."""
