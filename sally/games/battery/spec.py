"""Registry entry of the battery: its probe, and the move that follows from an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sally.core.rules.chance import Stream
from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.battery.items import portable
from sally.games.battery.rules import PER_STORY, READER, Battery, State, View
from sally.games.battery.words import PEOPLE, TEXTS, BatteryWords

BELIEF = "belief"


def _belief(game: Battery, view: View, seat: Seat) -> tuple[Question, ...]:
    posed_item = view.asked
    if posed_item is None or not posed_item.belief:
        return ()
    places = range(len(posed_item.beliefs))
    key = posed_item.options_key or posed_item.id
    shuffled_places = Stream(game.options_seed, "belief", key, view.turn).shuffled(places)
    return (Question(BELIEF, "choice", tuple(shuffled_places), about=posed_item.id),)


def true_belief(replay: Trajectory[State, int, View], place: At) -> int | None:
    """Return the right answer to the belief question that was asked."""
    game: Any = replay.game
    for turn in game.schedule:
        if turn.item.id == place.about and turn.item.belief is not None and turn.item.sound:
            return int(turn.item.belief.answer)
    return None


def best_replies(game: Battery, view: View, belief: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the option that follows from an answer to the belief question, or None if there is no
    such answer."""
    posed_item = view.asked
    if posed_item is None or posed_item.id not in belief:
        return None
    item = next(turn.item for turn in game.schedule if turn.item.id == posed_item.id)
    if item.belief is None:
        return None
    return (posed_item.base + item.belief.acts[belief[posed_item.id]],)


def _fresh(draws: Stream, name: str) -> Mapping[str, Any]:
    """Return the parameters of a new story with all its questions and a practice item, for visitors
    of the web page."""
    kind = draws.pick(("belief_action", "applied"))
    return {
        "generator": kind,
        "generator_seed": draws.below(2**31),
        "length": PER_STORY[kind],
        "practice": True,
    }


GAME: GameSpec[State, int, View] = GameSpec(
    name="battery",
    version=2,
    about="questions about stories: what people believe (orders 0 to 4), do, know and "
    "reasonably did; generated, or imported from a published battery",
    game=Battery,
    words=BatteryWords,
    texts=TEXTS,
    probes=(
        Probe(
            BELIEF,
            "what the person in the story believes or knows, asked before what the person does",
            "before",
            "choice",
            (READER,),
            _belief,
            true_belief,
        ),
    ),
    portable=portable,
    people=PeopleSpec.read(__package__, texts=PEOPLE, settings={"length": (1, 20)}, fresh=_fresh),
    measured=MeasureSpec(
        best_replies=best_replies,
        doing=Doing("literal", right=100.0, decisions=lambda game: len(game.items)),
        pays=lambda game, seat: (0.0, float(len(game.items))),
        reference="believer",
    ),
)
