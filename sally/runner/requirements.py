"""Check that a game provides what a prompting strategy needs, before any call is made."""

from __future__ import annotations

from collections.abc import Iterator

from sally.core.errors import BadInput, join_names
from sally.core.log.events import PlayerSpec, Setup
from sally.core.match.seat_context import SeatContext
from sally.core.match.strategy import Strategy, can_foresee
from sally.core.prompt.model import BadCandidates, check_candidates
from sally.core.registry.objects import OWN
from sally.core.rules.awareness import WHAT_IS_THIS
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.menu import is_finite
from sally.core.rules.words import Words
from sally.parts.importers import RECORDED
from sally.players.language import LANGUAGE, strategy_named, uses_model

Spec = GameSpec
AnyGame = Game


def refuse_what_lacks(spec: Spec, game: AnyGame, setup: Setup) -> None:
    """Raise BadInput if a language player's strategy cannot work in this setup."""
    for seat, player in setup.lineup.items():
        if WHAT_IS_THIS in setup.arms.get(seat, ()) and not may_say_what_this_is(player):
            raise BadInput(
                f"{WHAT_IS_THIS} can be asked of models and people only; seat {seat!r} of "
                f"{spec.name} is taken by {player.player}."
            )
        if player.player == LANGUAGE:
            strategy = strategy_named(player.params.get("strategy", "qa"))
            for lack in _lacking(spec, game, setup, Seat(seat), player, strategy):
                raise BadInput(f"Strategy {strategy.name} in seat {seat!r} of {spec.name} {lack}.")


def may_say_what_this_is(player: PlayerSpec) -> bool:
    """Return whether a player can answer the awareness probe: a model, a person, a recorded player
    or an object of the caller."""
    is_own = player.player.startswith(f"{OWN}:")
    return uses_model(player) or is_own or player.player in ("person", RECORDED)


def _lacking(
    spec: Spec, game: AnyGame, setup: Setup, seat: Seat, player: PlayerSpec, strategy: Strategy
) -> Iterator[str]:
    needs, asked_probes = strategy.needs, [spec.probe(name) for name in setup.arms.get(seat, ())]
    if "told" in needs and not any(i.seat == seat for i in setup.injections):
        yield "has to be told what others do; add an injection for this seat"
    if "finite" in needs and game.widest_menu() is None:
        yield "chooses from a menu by name, but the game has moves that are written freely"
    if "probe" in needs and not any(
        can_foresee(p.kind, p.point) and seat in p.seats for p in spec.probes
    ):
        yield "predicts others, but the game asks this seat no question with choices before a move"
    for probe in asked_probes:
        if probe.point not in strategy.points:
            possible_probes = [
                p.name for p in spec.probes if p.point in strategy.points and seat in p.seats
            ]
            yield (
                f"predicts before it acts, so it cannot be asked {probe.name!r}, which states its "
                f"own move; ask {join_names(possible_probes, 'or')}"
            )
        if "scoring" in needs and probe.kind == "values":
            yield f"answers by scoring names, so it cannot be asked {probe.name!r} for numbers"
    words = SeatContext(spec, game, seat, 0).words
    cut = (player.params.get("with_") or {}).get("payoffs") is False
    if cut and words.rules_without_payoffs(seat) is None:
        yield "cannot leave the payoffs out, because the game's words do not separate them"
    if "scoring" in needs:
        yield from _alike(game, words, seat)


def _alike(game: AnyGame, words: Words, seat: Seat) -> Iterator[str]:
    """Yield each reason why scoring cannot distinguish the option names of the first menu."""
    state = game.start()
    options = game.options(state, seat) if seat in game.to_move(state) else ()
    if options and is_finite(options):
        try:
            check_candidates(words.menu(options))
        except BadCandidates as error:
            sentence = str(error).rstrip(".")
            yield f"cannot tell its names apart: {sentence[0].lower()}{sentence[1:]}"
