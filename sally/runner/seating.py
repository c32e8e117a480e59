"""Resolve the player names of a lineup to players and versions."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Container, Mapping
from typing import Any

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.partner import Partner, Scripted
from sally.core.match.player import Player, PlayerKind
from sally.core.prompt import answer_schema
from sally.core.registry import packs, registry
from sally.core.registry.objects import OWN, bound_kind
from sally.core.registry.study import Study
from sally.core.reply import reading
from sally.core.rules.game import NATURE, Game, GameSpec, Seat, refuse_unstorable
from sally.models.stub import always, even
from sally.players.language import LANGUAGE, checked_pack, strategy_named, uses_model
from sally.runner.needs import refuse_what_lacks


def resolved(setup: Setup, open_models: bool = True) -> Setup:
    """Return the setup with versions filled in, helper players seated and every name checked.

    With `open_models`, models are opened, which may load or download weights.
    """
    spec = registry.game(setup.instance.game)
    setup = msgspec.structs.replace(setup, instance=portable(setup.instance))
    game = spec.build(setup.instance.params)
    lineup = with_helpers(spec, game, setup.lineup)
    for seat in lineup:
        if seat not in (*game.seats, *game.helpers) or seat == NATURE:
            raise unknown(f"seat of {spec.name}", seat, (*game.seats, *game.helpers))
    refuse_empty_seats(spec, game, lineup)
    settled = {
        seat: _versioned(spec, game, Seat(seat), who, open_models) for seat, who in lineup.items()
    }
    setup = msgspec.structs.replace(setup, version=spec.version, lineup=settled)
    Match(spec, setup)  # raises on wrong arms or injections
    refuse_what_lacks(spec, game, setup)
    return setup


def with_helpers(
    spec: GameSpec[Any, Any, Any], game: Game[Any, Any, Any], lineup: Mapping[str, PlayerSpec]
) -> dict[str, PlayerSpec]:
    """Return a lineup in which each helper seat has its default player unless it has another."""
    helpers = [seat for seat in game.helpers if seat != NATURE and seat not in lineup]
    return {**lineup, **{str(seat): PlayerSpec(spec.occupants[seat]) for seat in helpers}}


def portable(problem: Instance) -> Instance:
    """Return the instance without local paths; an instance changed by this gets its own id."""
    spec = registry.game(problem.game)
    if spec.portable is None:
        return problem
    params = dict(spec.portable(problem.params))
    id = problem.id
    for name, value in params.items():
        before = problem.params.get(name)
        if before != value:
            named = f"{id}[{name}={value}]"
            id = id.replace(str(before), str(value)) if str(before) in id else named
    return problem if params == problem.params else Instance(id, problem.game, params)


def portable_study(study: Study) -> Study:
    """Return the study with portable instances, so that no local path is stored."""
    cells = []
    for cell in study.cells:
        try:
            found = tuple(map(portable, cell.instances))
        except BadInput as why:
            raise BadInput(f"Study {study.name!r}, cell {cell.name!r}: {why}") from None
        cells.append(msgspec.structs.replace(cell, instances=found))
    return msgspec.structs.replace(study, cells=tuple(cells))


def refuse_empty_seats(
    spec: GameSpec[Any, Any, Any], game: Game[Any, Any, Any], lineup: Container[str]
) -> None:
    for seat in game.seats:
        if seat not in lineup:
            raise BadInput(
                f"Seat {seat!r} of {spec.name} has no player; for example "
                f"{example_player(spec, game, seat)}."
            )


def example_player(spec: GameSpec[Any, Any, Any], game: Game[Any, Any, Any], seat: Seat) -> str:
    """Return the name of a bot that can take a seat: the game's usual one, or another."""
    partners = registry.partners(spec.family or spec.name)
    others = (name for name, partner in partners.items() if not partner.helps)
    for name in filter(None, (spec.usual, spec.measured.reference, *others)):
        try:
            seated(spec, game, seat, PlayerSpec(name))
        except BadInput:
            continue  # it plays other seats, or needs parameters
        return name
    return "random"


def _versioned(
    spec: GameSpec[Any, Any, Any],
    game: Game[Any, Any, Any],
    seat: Seat,
    who: PlayerSpec,
    open_models: bool,
) -> PlayerSpec:
    kind = kind_of(spec, who.player)
    for name in who.params:
        if name not in kind.params:
            raise unknown(f"parameter of {who.player}", name, kind.params)
        refuse_unstorable(f"{who.player} in seat {seat!r}: {name}", who.params[name])
    who = _with_pack(spec, who)
    sits = who
    if uses_model(who) and not open_models:  # a stand-in with every ability
        sits = msgspec.structs.replace(who, params={**who.params, "model": always("", even)})
    seated(spec, game, seat, sits)  # raises on wrong parameters
    return msgspec.structs.replace(who, versions=versions_of(spec, who))


def _with_pack(spec: GameSpec[Any, Any, Any], who: PlayerSpec) -> PlayerSpec:
    """Check a language player's words pack and name it by its content hash."""
    if who.player != LANGUAGE or not who.params.get("pack"):
        return who
    pack = checked_pack(who.params["pack"], spec)
    return msgspec.structs.replace(who, params={**who.params, "pack": packs.remember(pack)})


def versions_of(spec: GameSpec[Any, Any, Any], who: PlayerSpec) -> dict[str, int]:
    """Return the installed versions of a player's parts: player, strategy, words."""
    kind = kind_of(spec, who.player)
    found = {"player": kind.version}
    if who.player == LANGUAGE:
        chosen = strategy_named(who.params.get("strategy", kind.params["strategy"]))
        if pack := who.params.get("pack"):
            packs.find(pack)  # kept for replay
        words, reader = spec.words_version, reading.VERSION
        found |= {"strategy": chosen.version, "words": words, "reader": reader}
        if (who.params.get("settings") or {}).get("format") == "schema":
            found["schema"] = answer_schema.VERSION
    return found


def kind_of(spec: GameSpec[Any, Any, Any], name: str) -> Partner | PlayerKind:
    """Return the partner or player kind of that name for this game."""
    if (own := bound_kind(name)) is not None:
        return own
    if name.startswith(f"{OWN}:"):
        raise BadInput(
            f"{name} was a function or an object that was passed to an earlier call; pass it again."
        )
    family = spec.family or spec.name
    found = registry.partners(family).get(name) or registry.players(family).get(name)
    if found is None:
        raise unknown(f"player of {spec.name}", name, kinds(spec))
    return found


def kinds(spec: GameSpec[Any, Any, Any]) -> Mapping[str, Partner | PlayerKind]:
    """Return all players and partners of this game."""
    family = spec.family or spec.name
    # A game's own players take precedence: its `random` declares an automaton.
    return ChainMap(registry.partners(family), registry.players(family))  # type: ignore[arg-type]


def seated(
    spec: GameSpec[Any, Any, Any], game: Game[Any, Any, Any], seat: Seat, who: PlayerSpec
) -> Player[Any, Any]:
    """Return the player that a spec names."""
    kind = kind_of(spec, who.player)
    try:
        if isinstance(kind, Partner):
            answerer = kind.answers and kind.answers(game, seat, **who.params)
            return Scripted(kind.make(game, seat, **who.params), answerer)
        return kind.make(spec, game, seat, **who.params)
    except (TypeError, BadInput) as why:
        raise BadInput(f"{who.player} in seat {seat!r}: {str(why).rstrip('.')}.") from None
    except Exception as why:  # a user's code may raise anything
        raise BadInput(
            f"{who.player} in seat {seat!r} cannot be made: {type(why).__name__}: {why}."
        ) from why


def players_of(
    match: Match[Any, Any, Any], lineup: Mapping[str, PlayerSpec] | None = None
) -> dict[str, Player[Any, Any]]:
    """Return the players of a match, or of the given lineup."""
    named = match.setup.lineup if lineup is None else lineup
    return {s: seated(match.spec, match.game, Seat(s), who) for s, who in named.items()}
