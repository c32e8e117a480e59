"""Board of TradeCraft: hands, the seat's own target, recipes within reach, and messages."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import resources

import msgspec

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import (
    Board,
    Face,
    Good,
    Hand,
    Hands,
    Part,
    Progress,
    Recipe,
    Recipes,
    Reveal,
    Saying,
    Talk,
)
from sally.core.rules.replay import Trajectory
from sally.games.tradecraft.actions import SEATS, Action, Craft, as_action_goods, goods
from sally.games.tradecraft.amounts import Amount
from sally.games.tradecraft.crafting import cover, prepare_recipes
from sally.games.tradecraft.hands import holds, union
from sally.games.tradecraft.rules import Entry, State, TradeCraft, View
from sally.games.tradecraft.speech import amount_said, goods_said, item_said
from sally.games.tradecraft.tools import within_reach

SHAPES = 6  # for names that say nothing, such as made-up ones


@lru_cache(maxsize=4096)
def glyph(item: str) -> str:
    """Return an item's glyph: that of the last word in its name that has one, or else a shape
    chosen by a hash of the name."""
    for word in reversed(item_said(item).split()):
        if word in _kinds():
            return _kinds()[word]
    return f"shape{blake2b(item.encode(), digest_size=4).digest()[0] % SHAPES}"


@cache
def _kinds() -> dict[str, str]:
    text = (resources.files(__package__) / "data" / "glyphs.toml").read_text("utf-8")
    return {word: kind for kind, words in tomllib.loads(text).items() for word in words.split()}


def board(context: SeatContext, view: View) -> Board:
    """Return all hands as the seat knows them, its own target, and the recipes within reach."""
    game = context.game
    assert isinstance(game, TradeCraft)
    hands = [
        Hand(
            f"{seat} (you)" if seat == view.seat else seat,
            _goods(hand),
            "yours" if seat == view.seat else "",
        )
        for seat, hand in zip(SEATS, view.hands, strict=False)
    ]
    has_target = holds(view.hand, view.target)
    target = Hand(
        "Your target, in your hand" if has_target else "Your target", _goods(view.target), "goal"
    )
    parts: list[Part] = [Hands("On the table", (*hands, target))]
    faces: dict[str, Face] = {}
    if (proposal := view.proposal) is not None and proposal.to == view.seat:
        get = Hand("You would get", _goods(goods(proposal.offer)))
        give = Hand("You would give", _goods(goods(proposal.request)))
        parts.append(Hands(f"{view.proposer} proposes to you", (get, give)))
    if game.book:  # else recipes are there to be looked up, for people as for models
        recipes = _recipes(game, view)
        parts.append(Recipes("Recipes", tuple(recipe for recipe, _ in recipes)))
        faces = {
            context.words.name(craft): Face(
                goods_said([(craft.output, craft.amount)]),
                f"from {goods_said(craft.inputs)}",
                glyph(craft.output),
            )
            for _, craft in recipes
            if craft is not None
        }
    if sayings := tuple(_sayings(view)):
        parts.append(Talk("Messages", sayings))
    progress = Progress(min(view.turn, game.max_turns), game.max_turns, "turn")
    return Board(tuple(parts), progress=progress, faces=faces)


def REVEAL(context: SeatContext, replay: Trajectory[State, Action, View]) -> Reveal:
    """Return all hands and all targets, and who made its item."""
    game, state, me = replay.rules(TradeCraft), replay.present, context.seat
    hands = [
        Hand(f"{seat} (you)" if seat == me else seat, _goods(hand), "yours" if seat == me else "")
        for seat, hand in zip(game.seats, state.hands, strict=True)
    ]
    targets = [
        Hand(f"Target of {seat}", _goods(goal), "goal")
        for seat, goal in zip(game.seats, game.goals, strict=True)
    ]
    if not state.winners:
        explanation = (
            "Nobody made their own secret target before the turns were over, so nobody got points."
        )
    elif len(state.winners) == 1:
        (winner,) = state.winners
        subject = "You" if winner == me else winner
        target = "your" if winner == me else "their"
        explanation = f"{subject} alone made {target} secret target, which pays 3 points."
    else:
        explanation = (
            "Several players made their secret targets in the same turn, which pays 1 point each."
        )
    return Reveal(explanation, parts=(Hands("All hands and all targets", (*hands, *targets)),))


def _goods(hand: Mapping[str, Amount]) -> tuple[Good, ...]:
    return tuple(Good(item_said(i), amount_said(n), glyph(i)) for i, n in hand.items())


def _recipes(game: TradeCraft, view: View) -> list[tuple[Recipe, Craft | None]]:
    """Return the recipes printed in the prompt, each with the craft that runs it once from the
    seat's own hand, if it can; those come first and are marked ready."""
    ready, hand = prepare_recipes(view.rules), view.hand.goods
    book = within_reach(view.rules, frozenset(union(game.hands)))
    recipes = []
    for number, (text, fuel) in zip(book.numbers, book.lines, strict=True):
        recipe = view.rules.recipes[number]
        inputs = cover(ready[number], 1, hand)
        craft = Craft(as_action_goods(inputs), recipe.output, recipe.amount) if inputs else None
        uses = {item_said(item) for slot in recipe.slots for item in slot.goods}
        drawn_recipe = Recipe(
            text,
            fuel,
            craft is not None,
            item_said(recipe.output),
            tuple(sorted(uses)),
            glyph(recipe.output),
            msgspec.to_builtins(craft),
        )
        recipes.append((drawn_recipe, craft))
    return sorted(recipes, key=lambda pair: not pair[0].ready)


def _sayings(view: View) -> Iterator[Saying]:
    """Yield the messages to and from this seat, in the order in which they were written."""
    for entry in view.story:
        if text := _message(entry).strip():
            is_own = entry.who == view.seat
            yield Saying(entry.who, text, f"turn {entry.turn}", "yours" if is_own else "")


def _message(entry: Entry) -> str:
    if entry.kind == "proposed":
        return entry.proposal.message if entry.proposal else ""
    return entry.text if entry.kind in ("passed", "accepted", "rejected") else ""


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a trade, and what can be crafted then."""
    give, get, output = (
        (Good(item, amount, kind),)
        for item, amount, kind in (
            ("coal", "1", "coal"),
            ("log", "2", "log"),
            ("plank", "8", "plank"),
        )
    )
    hands = (Hand("You give", give), Hand("You get", get), Hand("You craft", output, "goal"))
    return (Hands("Example: a trade, then crafting", hands),)


BOARD = board
