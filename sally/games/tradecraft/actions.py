"""Actions of TradeCraft, and the menus that offer them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sally.core.rules.game import Seat
from sally.core.rules.menu import Act, Amounts, Choice, Field, Form, Options, Text, Whole
from sally.games.tradecraft.amounts import MOST, Amount, plain, read_amount
from sally.games.tradecraft.crafting import cover, prepare_recipes
from sally.games.tradecraft.hands import Hand, read_goods
from sally.games.tradecraft.rulesets import Ruleset
from sally.games.tradecraft.tools import runnable

SEATS = tuple(Seat(f"p{n}") for n in range(1, 7))
ACCEPT, REJECT = "accept", "reject"
LONGEST = 600  # characters of a message

Goods = tuple[tuple[str, str], ...]  # (item, amount): amounts are exact texts, "2" or "2/3"


class Propose(Act, frozen=True, gc=False):
    """A proposal to exchange goods, with a message; the offer or the request may be empty, and
    if both are empty the proposal is a pass."""

    to: str
    offer: Goods
    request: Goods
    message: str = ""


class Pass(Act, frozen=True, gc=False):
    """The action of making no proposal in this turn."""


class Answer(Act, frozen=True, gc=False):
    """The addressed player's answer to a proposal."""

    answer: str
    message: str = ""


class Craft(Act, frozen=True, gc=False):
    """A craft action: the inputs, and the output with its amount."""

    inputs: Goods
    output: str
    amount: int


class Done(Act, frozen=True, gc=False):
    """The action by which a player ends its crafting in this phase."""


Action = Propose | Pass | Answer | Craft | Done
PASS, DONE = Pass(), Done()
YES, NO = Answer(ACCEPT), Answer(REJECT)

_NOTE = Text(LONGEST, samples=("", "A fair trade?"), least=0)
ANSWERS: Options[Any] = (
    YES,
    NO,
    Form(Answer, (("answer", Choice((ACCEPT, REJECT))), ("message", _NOTE))),
)


# --- menus: what may be done with a hand, worked out once for each hand ---------------------------


def craft_menu(rules: Ruleset, hand: Hand) -> Options[Action]:
    """Return the craft menu: to stop, to run a feasible recipe once, or to enter a free-form
    craft."""
    if not hand.goods:
        return (DONE,)
    largest = most_of_a_run(rules)
    used = [pair for pair in hand.goods.items() if pair[0] in largest]
    enough = tuple([pair if pair[1] < largest[pair[0]][1] else largest[pair[0]] for pair in used])
    output, number = _rest_of_a_craft(rules)
    form: Form[Any] = Form(
        Craft, (("inputs", Amounts(as_action_goods(hand.goods))), output, number)
    )
    return (*_one_run_each(rules, enough), form)


@lru_cache(maxsize=1 << 14)
def _one_run_each(rules: Ruleset, held_goods: tuple[tuple[str, Amount], ...]) -> tuple[Action, ...]:
    ready, hand = prepare_recipes(rules), Hand(held_goods)
    crafts = [
        Craft(as_action_goods(inputs), ready[n].recipe.output, ready[n].recipe.amount)
        for n in runnable(rules, hand)
        if (inputs := cover(ready[n], 1, hand.goods)) is not None
    ]
    return (DONE, *dict.fromkeys(crafts))


@lru_cache(maxsize=16)
def most_of_a_run(rules: Ruleset) -> dict[str, tuple[str, Amount]]:
    """Return, for each item, the largest amount of it that any recipe uses in one run."""
    largest: dict[str, Amount] = {}
    for recipe in rules.recipes:
        burnt = rules.heat if recipe.fuel else {}
        used: dict[str, Amount] = {i: Fraction(recipe.fuel) / heat for i, heat in burnt.items()}
        for slot in recipe.slots:
            for item in slot.goods:
                used[item] = used.get(item, 0) + slot.amount
        for item, amount in used.items():
            largest[item] = max(largest.get(item, 0), amount)
    return {item: (item, plain(amount)) for item, amount in largest.items()}


@lru_cache(maxsize=16)
def _rest_of_a_craft(rules: Ruleset) -> tuple[tuple[str, Field], tuple[str, Field]]:
    return ("output", Text(80, samples=tuple(rules.makers))), ("amount", Whole(1, MOST))


def proposal_menu(hands: tuple[Hand, ...], n: int) -> Options[Action]:
    """Return the proposal menu: pass, or any offer; the rules check that the goods are
    available."""
    others = [hand for m, hand in enumerate(hands) if m != n]
    largest: dict[str, Amount] = {}
    for hand in others:
        for item, amount in hand.goods.items():
            largest[item] = max(largest.get(item, 0), amount)
    form: Form[Any] = Form(
        Propose,
        (
            ("to", Choice(tuple(SEATS[m] for m in range(len(hands)) if m != n))),
            ("offer", Amounts(as_action_goods(hands[n].goods))),
            ("request", Amounts(as_action_goods(largest))),
            ("message", _NOTE),
        ),
    )
    return (PASS, form)


def as_action_goods(amounts: Mapping[str, Amount]) -> Goods:
    """Return goods in the form used in actions."""
    return tuple([(item, str(amount)) for item, amount in amounts.items()])


@lru_cache(maxsize=1 << 14)
def goods(listed: Goods) -> Mapping[str, Amount]:
    """Return the goods named by an action with exact amounts, as a read-only mapping."""
    return read_goods((item, read_amount(amount)) for item, amount in listed)
