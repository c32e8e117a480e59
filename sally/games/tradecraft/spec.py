"""Registry entry of TradeCraft: rules, words, value reports, and two tools."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sally.core.rules.chance import Stream
from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec, Seat, Tool
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.tradecraft import tools
from sally.games.tradecraft.actions import SEATS, Action
from sally.games.tradecraft.hands import Hand, union
from sally.games.tradecraft.parameters import portable
from sally.games.tradecraft.relevance import reachable, relevant
from sally.games.tradecraft.rules import State, TradeCraft, View
from sally.games.tradecraft.rulesets import Ruleset
from sally.games.tradecraft.words import PEOPLE, TEXTS, TradeWords

GROUPS: Mapping[str, tuple[str, ...]] = {  # what a seat reports, by the group of its study arm
    "v0": ("v0",),
    "v0+v1": ("v0", "v1"),
    "v0+v1+v2": ("v0", "v1", "v2"),
}

Trades = Trajectory[State, Action, View]


def fresh(draws: Stream, name: str) -> Mapping[str, Any]:
    """Return the parameters of a certified two-player problem with the default ruleset."""
    from sally.games.tradecraft.problems import list_problems  # reads all problem sets

    fitting = [p for p in list_problems().problems if p.choice[:2] == ("Minecraft", "2")]
    return draws.pick(fitting).instance.params


# --- value reports: asked once, at the start of a turn, over all items in any hand ----------------


def _own_values(game: TradeCraft, view: View, seat: Seat) -> tuple[Question, ...]:
    return (Question("v0", "values", view.items),) if view.items else ()


def _of_others(name: str) -> Any:
    def asks(game: TradeCraft, view: View, seat: Seat) -> tuple[Question, ...]:
        if not view.items:
            return ()
        others = (other_seat for other_seat in game.seats if other_seat != seat)
        return tuple(Question(name, "values", view.items, other_seat) for other_seat in others)

    return asks


def _targets(game: TradeCraft, view: View, seat: Seat) -> tuple[Question, ...]:
    targets = candidates(game.rules, frozenset(union(game.hands)))
    others = (other_seat for other_seat in game.seats if other_seat != seat)
    return tuple(Question("their_target", "odds", targets, other_seat) for other_seat in others)


@lru_cache(maxsize=256)
def candidates(rules: Ruleset, table: frozenset[str]) -> tuple[str, ...]:
    """Return the possible targets given public information: items that can be made from the initial
    goods."""
    return tuple(sorted(reachable(rules, table) - table))


@lru_cache(maxsize=4096)
def useful(rules: Ruleset, table: Hand, target: frozenset[str]) -> frozenset[str]:
    """Return the goods on any path from the goods in play to a target, including fuels if
    needed."""
    ways = relevant(rules, table, target)
    if ways is None:
        return frozenset()
    slots = {item for recipe in ways.recipes for slot in recipe.slots for item in slot.goods}
    fuels = set(rules.heat) if any(recipe.fuel for recipe in ways.recipes) else set()
    return frozenset(slots | fuels | target)


def own_use(replay: Trades, place: At) -> dict[str, float]:
    """Return the value of each item under the rules: 10 if it is on a path to the seat's target,
    else 0."""
    view = replay.view(place.turn, place.seat)
    helps = useful(view.rules, union(view.hands), frozenset(view.target))
    return {item: 10.0 if item in helps else 0.0 for item in view.items}


def their_report(of: str) -> Any:
    """Return a function that finds the other player's own report in the same turn; it returns
    None without a report."""

    def truth(replay: Trades, place: At) -> dict[str, float] | None:
        about = place.seat if of == "v1" else ""
        report = replay.report(place.turn, Seat(place.about), of, about)
        return report.value if report and isinstance(report.value, dict) else None

    return truth


def their_target(replay: Trades, place: At) -> str | None:
    """Return the other player's target if it is a single item among the candidates, else None."""
    game = replay.rules(TradeCraft)
    target = tuple(game.goals[game.number[place.about]])
    targets = candidates(game.rules, frozenset(union(game.hands)))
    return target[0] if len(target) == 1 and target[0] in targets else None


PROBES = (
    Probe(
        "v0",
        "what each item is worth for the player's own target; scored by whether it is on a way "
        "there",
        "start",
        "values",
        SEATS,
        _own_values,
        own_use,
    ),
    Probe(
        "v1",
        "what each item is worth for the other's target; judged by the other's own report",
        "start",
        "values",
        SEATS,
        _of_others("v1"),
        their_report("v0"),
    ),
    Probe(
        "v2",
        "what the other thinks each item is worth to the player; judged by the other's v1",
        "start",
        "values",
        SEATS,
        _of_others("v2"),
        their_report("v1"),
    ),
    Probe(
        "their_target",
        "the other's target, as odds over all items that can be made",
        "start",
        "odds",
        SEATS,
        _targets,
        their_target,
    ),
)


# --- tools ----------------------------------------------------------------------------------------


def _item_info(view: View, arguments: Mapping[str, Any]) -> Any:
    return tools.item_info(view.rules, str(arguments.get("item", "")))


def _possible_recipes(view: View, arguments: Mapping[str, Any]) -> Any:
    seat = str(arguments.get("of") or view.seat)
    seats = SEATS[: len(view.hands)]
    if seat not in seats:
        return {"problem": f"There is no player {seat!r}; there are {', '.join(seats)}."}
    return tools.possible_recipes(view.rules, view.hands[seats.index(Seat(seat))])


TOOLS = (
    Tool(
        "item_info",
        "The recipes that make an item, the recipes that use it, its groups and its worth as fuel.",
        {
            "type": "object",
            "properties": {"item": {"type": "string"}},
            "required": ["item"],
            "additionalProperties": False,
        },
        _item_info,
    ),
    Tool(
        "possible_recipes",
        "What can be made now from a player's hand: your own, unless you name another player.",
        {
            "type": "object",
            "properties": {"of": {"type": "string"}},
            "additionalProperties": False,
        },
        _possible_recipes,
    ),
)

GAME: GameSpec[State, Action, View] = GameSpec(
    name="tradecraft",
    about="trade and craft towards a private target; who wants what is there to be read "
    "(tradecraft2026)",
    game=TradeCraft,
    words=TradeWords,
    words_version=4,
    texts=TEXTS,
    action=Action,
    probes=PROBES,
    tools=TOOLS,
    portable=portable,
    people=PeopleSpec.read(__package__, texts=PEOPLE, fresh=fresh, settings={"max_turns": (1, 30)}),
    measured=MeasureSpec(
        doing=Doing(
            no_split="the value of an offer depends on all later trades, for which no optimum is "
            "known, so no offer is known to be a best reply to a prediction of what the other "
            "wants",
        ),
        pays=lambda game, seat: (0.0, 3.0),
        reference="first_order",
    ),
)
