"""The two positions of a pair as a player sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Injection, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Turn
from sally.core.registry import registry
from sally.core.rules.pair import Pair, PairRecipe, QuestionKind
from sally.models.stub import always, even
from sally.players.language import LANGUAGE
from sally.runner.seating import resolve_setup, seat_player

Asks = Literal["both", "know", "do"]


def position_setup(
    recipe: PairRecipe,
    pair: Pair,
    member: int,
    player: PlayerSpec,
    asks: Asks = "both",
    injections: tuple[Injection, ...] = (),
    seed: int = 0,
) -> Setup:
    """Return the setup of one member with a player in the seat that is asked."""
    arms: dict[str, tuple[str, ...]] = {} if asks == "do" else {recipe.seat: (recipe.probe,)}
    lineup = {recipe.seat: player, **pair.members[member].others}
    return Setup(pair.instance(member, asks), seed, lineup, arms=arms, injections=injections)


class AskedPosition(msgspec.Struct, frozen=True):
    """One member of a pair: the rules, the state, and the asks of the seat."""

    game: Any
    state: Any
    view: Any
    asks: Mapping[QuestionKind, Turn]
    others: Mapping[str, PlayerSpec]


def open_position(recipe: PairRecipe, pair: Pair, member: int) -> AskedPosition:
    """Return a member of a pair at the point where its seat is asked.

    Raises:
        BadInput: If the seat is not asked the probe and the move there.
    """
    setup = resolve_setup(position_setup(recipe, pair, member, PlayerSpec("random")))
    match: Match = Match(registry.game(pair.game), setup)
    asks: dict[QuestionKind, Turn] = {}
    for turn in match.asks():
        if turn.seat == recipe.seat and turn.question is None:
            asks["do"] = turn
        elif turn.seat == recipe.seat and recipe.asks_probe(turn.id[2], turn.id[3]):
            asks["know"] = turn
    if set(asks) != {"know", "do"}:
        raise BadInput(
            f"Pair {pair.id}, member {member}: {recipe.seat} must be asked {recipe.probe!r} about "
            f"{recipe.subject!r} and a move; it is asked {sorted(asks) or 'nothing'}."
        )
    view = asks["do"].view
    return AskedPosition(match.game, match.state, view, asks, setup.lineup)


def page_of(turn: Turn) -> str:
    """Return the page that a language player would read for an ask."""
    context = turn.context
    model = always("", even)
    player: Any = seat_player(
        context.spec, context.game, context.seat, PlayerSpec(LANGUAGE, {"model": model})
    )
    answering = player.answering(turn, [])
    try:
        page: str = answering.send(None).page
    finally:
        answering.close()
    return page


def right_answers(
    recipe: PairRecipe, position: AskedPosition
) -> Mapping[QuestionKind, tuple[Any, ...]]:
    """Return the right answers to both questions: the truth, and the best moves."""
    truth = recipe.truth(position.game, position.state, position.others)
    return {
        "know": (truth,),
        "do": tuple(recipe.best_moves(position.game, position.view, truth)),
    }
