"""Resolve the player names of a lineup to players and versions."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Container, Mapping

import msgspec

from sally.core.errors import BadInput, NotReady, unknown
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.partner import Partner, Scripted
from sally.core.match.player import Player, PlayerKind
from sally.core.prompt import answer_schema
from sally.core.registry import packs, registry
from sally.core.registry.objects import OWN, bound_kind
from sally.core.registry.study import Study
from sally.core.reply.reader import VERSION as READER_VERSION
from sally.core.rules.game import NATURE, Game, GameSpec, Seat, refuse_unstorable
from sally.models.stub import always, even
from sally.players.language import LANGUAGE, checked_pack, strategy_named, uses_model
from sally.runner.requirements import refuse_what_lacks


def resolve_setup(setup: Setup, open_models: bool = True) -> Setup:
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
        seat: _with_versions(spec, game, Seat(seat), player, open_models)
        for seat, player in lineup.items()
    }
    setup = msgspec.structs.replace(setup, version=spec.version, lineup=settled)
    Match(spec, setup)  # raises on wrong arms or injections
    refuse_what_lacks(spec, game, setup)
    return setup


def with_helpers(
    spec: GameSpec, game: Game, lineup: Mapping[str, PlayerSpec]
) -> dict[str, PlayerSpec]:
    """Return a lineup in which each helper seat has its default player unless it has another."""
    helpers = [seat for seat in game.helpers if seat != NATURE and seat not in lineup]
    return {**lineup, **{str(seat): PlayerSpec(spec.occupants[seat]) for seat in helpers}}


def portable(problem: Instance) -> Instance:
    """Return the instance without local paths; an instance changed by this gets its own id."""
    spec = registry.game(problem.game)
    if spec.portable is None:
        return problem
    for name, value in problem.params.items():
        refuse_unstorable(f"{name} of {spec.name}", value)
    params = dict(spec.portable(problem.params))
    id = problem.id
    for name, value in params.items():
        value_before = problem.params.get(name)
        if value_before != value:
            new_id = f"{id}[{name}={value}]"
            id = id.replace(str(value_before), str(value)) if str(value_before) in id else new_id
    return problem if params == problem.params else Instance(id, problem.game, params)


def portable_study(study: Study) -> Study:
    """Return the study with portable instances, so that no local path is stored."""
    cells = []
    for cell in study.cells:
        try:
            instances = tuple(map(portable, cell.instances))
        except BadInput as error:
            raise BadInput(f"Study {study.name!r}, cell {cell.name!r}: {error}") from None
        cells.append(msgspec.structs.replace(cell, instances=instances))
    return msgspec.structs.replace(study, cells=tuple(cells))


def refuse_empty_seats(spec: GameSpec, game: Game, lineup: Container[str]) -> None:
    for seat in game.seats:
        if seat not in lineup:
            raise BadInput(
                f"Seat {seat!r} of {spec.name} has no player; for example "
                f"{example_player(spec, game, seat)}."
            )


def example_player(spec: GameSpec, game: Game, seat: Seat) -> str:
    """Return the name of a bot that can take a seat: the game's usual one, or another."""
    partners = registry.partners(spec.family or spec.name)
    others = (name for name, partner in partners.items() if not partner.helps)
    for name in filter(None, (spec.usual, spec.measured.reference, *others)):
        try:
            seat_player(spec, game, seat, PlayerSpec(name))
        except BadInput:
            continue  # it plays other seats, or needs parameters
        return name
    return "random"


def _with_versions(
    spec: GameSpec,
    game: Game,
    seat: Seat,
    player: PlayerSpec,
    open_models: bool,
) -> PlayerSpec:
    kind = kind_of(spec, player.player)
    for name in player.params:
        if name not in kind.params:
            raise unknown(f"parameter of {player.player}", name, kind.params)
        refuse_unstorable(f"{player.player} in seat {seat!r}: {name}", player.params[name])
    player = _with_pack(spec, player)
    sits = player
    if uses_model(player) and not open_models:  # a stand-in with every ability
        sits = msgspec.structs.replace(player, params={**player.params, "model": always("", even)})
    seat_player(spec, game, seat, sits)  # raises on wrong parameters
    return msgspec.structs.replace(player, versions=versions_of(spec, player))


def _with_pack(spec: GameSpec, player: PlayerSpec) -> PlayerSpec:
    """Check a language player's words pack and name it by its content hash."""
    if player.player != LANGUAGE or not player.params.get("pack"):
        return player
    pack = checked_pack(player.params["pack"], spec)
    return msgspec.structs.replace(player, params={**player.params, "pack": packs.remember(pack)})


def versions_of(spec: GameSpec, player: PlayerSpec) -> dict[str, int]:
    """Return the installed versions of a player's parts: player, strategy, words."""
    kind = kind_of(spec, player.player)
    versions = {"player": kind.version}
    if player.player == LANGUAGE:
        chosen = strategy_named(player.params.get("strategy", kind.params["strategy"]))
        if pack := player.params.get("pack"):
            packs.find(pack)  # kept for replay
        words = spec.words_version
        versions |= {"strategy": chosen.version, "words": words, "reader": READER_VERSION}
        if (player.params.get("settings") or {}).get("format") == "schema":
            versions["schema"] = answer_schema.VERSION
    return versions


def kind_of(spec: GameSpec, name: str) -> Partner | PlayerKind:
    """Return the partner or player kind of that name for this game."""
    if (own_kind := bound_kind(name)) is not None:
        return own_kind
    if name.startswith(f"{OWN}:"):
        raise BadInput(
            f"{name} was a function or an object that was passed to an earlier call; pass it again."
        )
    family = spec.family or spec.name
    kind = registry.partners(family).get(name) or registry.players(family).get(name)
    if kind is None:
        raise unknown(f"player of {spec.name}", name, kinds(spec))
    return kind


def kinds(spec: GameSpec) -> Mapping[str, Partner | PlayerKind]:
    """Return all players and partners of this game."""
    family = spec.family or spec.name
    # A game's own players take precedence: its `random` declares an automaton.
    return ChainMap(registry.partners(family), registry.players(family))  # type: ignore[arg-type]


def seat_player(spec: GameSpec, game: Game, seat: Seat, player: PlayerSpec) -> Player:
    """Return the player that a spec names."""
    kind = kind_of(spec, player.player)
    try:
        if isinstance(kind, Partner):
            answerer = kind.answers and kind.answers(game, seat, **player.params)
            return Scripted(kind.make(game, seat, **player.params), answerer)
        return kind.make(spec, game, seat, **player.params)
    except NotReady:
        raise
    except (TypeError, BadInput) as error:
        sentence = str(error).rstrip(".")
        end = "" if sentence.endswith("?") else "."
        raise BadInput(f"{player.player} in seat {seat!r}: {sentence}{end}") from None
    except Exception as error:  # a user's code may raise anything
        raise BadInput(
            f"{player.player} in seat {seat!r} cannot be made: {type(error).__name__}: {error}."
        ) from error


def players_of(match: Match, lineup: Mapping[str, PlayerSpec] | None = None) -> dict[str, Player]:
    """Return the players of a match, or of the given lineup."""
    seat_players = match.setup.lineup if lineup is None else lineup
    return {
        s: seat_player(match.spec, match.game, Seat(s), player)
        for s, player in seat_players.items()
    }
