"""Instances of TradeCraft: hands and targets drawn at random, certified and graded.

A certificate concerns one craft phase with all hands combined. Units are whole: taking a fraction
from a hand costs its owner the whole unit, because fractions are lost.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from random import Random

import msgspec

from sally.games.tradecraft.craft_plan import Craft, Plan, Undecided, best_plan, replay
from sally.games.tradecraft.hands import Hand, holds, union
from sally.games.tradecraft.instances import GRADES, Instance
from sally.games.tradecraft.rulesets import Recipe, Ruleset
from sally.games.tradecraft.solver import Certificate, Goods, SeatCertificate

_MOST_KINDS = 9  # in one hand, so that hands stay readable
_MOST_UNITS = 40
_MOST_ALIKE = 4  # instances of a set that share a target
_MOST_NEEDED = 12  # goods that one seat needs from others


def certify(rules: Ruleset, hands: Sequence[Goods], targets: Sequence[Goods]) -> Certificate:
    """Return the certificate of an instance: what each player needs to reach its target, computed
    before play."""
    if len(hands) != len(targets) or len(hands) < 2:
        raise ValueError(
            f"{len(hands)} hands, {len(targets)} targets: give a hand and a target to each of at "
            "least two players."
        )
    table = union(hands)
    seats = []
    for seat, target in enumerate(targets):
        others = union(hand for other_seat, hand in enumerate(hands) if other_seat != seat)
        plan = partial(best_plan, rules, target=target)
        shortest = plan(table, {}, aim="crafts")
        trade = None if shortest is None else plan(hands[seat], others, aim="goods")
        seats.append(_seat(shortest, trade))
    together = _together(rules, table, seats, union(targets))
    return Certificate(tuple(seats), together is not None, together or ())


def _together(
    rules: Ruleset, table: Hand, seats: Sequence[SeatCertificate], targets: Hand
) -> tuple[Craft, ...] | None:
    """Return crafts that make all targets at once, or None; the seats' own plans are tried
    first."""
    if any(seat.chain is None for seat in seats):
        return None
    chains = tuple(step for seat in seats for step in seat.shortest)
    with suppress(ValueError):
        if holds(replay(rules, table, chains), targets):
            return chains
    plan = best_plan(rules, table, {}, targets, "any")
    return None if plan is None else plan.crafts


def _seat(shortest: Plan | None, trade: Plan | None) -> SeatCertificate:
    if shortest is None or trade is None:
        return SeatCertificate(None, None, None, {}, (), ())
    return SeatCertificate(
        chain=len(shortest.crafts),
        units=sum(trade.goods_taken.values()),
        kinds=len(trade.goods_taken),
        needs=dict(sorted(trade.goods_taken.items())),
        shortest=shortest.crafts,
        after_trade=trade.crafts,
    )


def refusals(certificate: Certificate) -> list[str]:
    """Return the reasons why an instance may not be used; an empty list means that it may be
    used."""
    reasons = []
    for number, seat in enumerate(certificate.seats, 1):
        if seat.chain is None:
            reasons.append(f"Player {number}'s target cannot be made from all hands together.")
        elif seat.chain == 0:
            reasons.append(f"Player {number}'s target lies ready in a hand.")
        elif seat.units == 0:
            reasons.append(f"Player {number} needs nothing from the others.")
    return reasons


class NoInstance(RuntimeError):
    """Raised if the generator gives up; the message states the number of tries."""


def grade(certificate: Certificate) -> int:
    """Return the grade (1 to 4) of the seat with the harder task, by its number of crafts and
    the number of kinds of goods that it must get from others."""
    worst = max((seat.chain or 0) + (seat.kinds or 0) for seat in certificate.seats)
    return 1 if worst <= 3 else 2 if worst <= 5 else 3 if worst <= 7 else 4


def instance(
    rules: Ruleset,
    id: str,
    hands: Sequence[Mapping[str, int]],
    targets: Sequence[Mapping[str, int]],
    max_turns: int = 15,
) -> Instance:
    """Return a certified instance; raise ValueError with the reasons if it is not usable."""
    for goods in (*hands, *targets):
        for item, amount in goods.items():
            if (unknown := rules.unknown(item)) is not None:
                raise ValueError(f"{id}: {unknown}")
            if type(amount) is not int or amount < 1:
                raise ValueError(
                    f"{id}: the amount of {item} must be a whole number of at least 1, "
                    f"not {amount!r}."
                )
    certificate = certify(rules, [Hand(hand) for hand in hands], [Hand(t) for t in targets])
    if problems := refusals(certificate):
        raise ValueError(f"{id}: {' '.join(problems)}")
    return Instance(
        id=id,
        hands=tuple(dict(sorted(hand.items())) for hand in hands),
        targets=tuple(dict(target) for target in targets),
        max_turns=max_turns,
        grade=grade(certificate),
        certificate=certificate,
    )


def generate(
    rules: Ruleset, players: int, grade_wanted: int, rng: Random, *, tries: int = 400
) -> Instance:
    """Generate a certified instance of the wanted grade."""
    depths = depth(rules)
    for _ in range(tries):
        hands_and_targets = _draft(rules, depths, players, grade_wanted, rng)
        if hands_and_targets is None:
            continue
        try:
            candidate = instance(rules, "draft", *hands_and_targets)
        except (ValueError, Undecided):
            continue
        units = max(seat.units or 0 for seat in candidate.certificate.seats)
        if candidate.grade == grade_wanted and units <= _MOST_NEEDED:
            return candidate
    raise NoInstance(
        f"No instance of grade {grade_wanted} was found for {rules.name} in {tries} tries."
    )


def generate_set(rules: Ruleset, players: int, number: int, seed: int) -> tuple[Instance, ...]:
    """Generate instances spread evenly over the grades, easiest first, and over targets."""
    rng = Random(f"tradecraft:{rules.name}:{players}:{seed}")
    instances: list[Instance] = []
    target_counts: Counter[str] = Counter()
    while len(instances) < number:
        grade_wanted = GRADES[len(instances) * len(GRADES) // number]
        candidate = generate(rules, players, grade_wanted, rng)
        targets = {item for target in candidate.targets for item in target}
        if all(target_counts[item] < _MOST_ALIKE for item in targets):
            target_counts.update(targets)
            name = f"{rules.name}-{players}p-{len(instances) + 1:02d}"
            instances.append(msgspec.structs.replace(candidate, id=name))
    return tuple(instances)


def depth(rules: Ruleset) -> dict[str, int]:
    """Return the number of crafts between the starting goods and each item, ignoring fuel."""
    depths = dict.fromkeys(rules.starting, 0)
    grown = True
    while grown:
        grown = False
        for recipe in rules.recipes:
            deep = _run_depth(recipe, depths)
            if deep is not None and deep < depths.get(recipe.output, 10**6):
                depths[recipe.output], grown = deep, True
    return depths


def _run_depth(recipe: Recipe, depths: Mapping[str, int]) -> int | None:
    deep = 0
    for slot in recipe.slots:
        known_depths = [depths[item] for item in slot.goods if item in depths]
        if not known_depths:
            return None
        deep = max(deep, min(known_depths))
    return deep + 1


def _draft(
    rules: Ruleset, depths: Mapping[str, int], players: int, grade_wanted: int, rng: Random
) -> tuple[list[dict[str, int]], list[dict[str, int]]] | None:
    """Return hands and targets that may give an instance of the wanted grade, or None."""
    deepest = {1: 2, 2: 3, 3: 4, 4: 7}[grade_wanted]
    shallow = {1: 1, 2: 1, 3: 2, 4: 3}[grade_wanted]
    choices = sorted(item for item, deep in depths.items() if shallow <= deep <= deepest)
    if not choices:
        return None
    targets = [choices[rng.randrange(len(choices))] for _ in range(players)]
    keep = {1: 0.6, 2: 0.4, 3: 0.25, 4: 0.1}[grade_wanted]
    hands: list[dict[str, int]] = [{} for _ in range(players)]
    for seat, target in enumerate(targets):
        bag = _bag(rules, depths, {target: 1}, keep, rng)
        if bag is None or len(bag) < 2:
            return None
        _deal(bag, seat, hands, grade_wanted, rng)
    _add_decoys(rules, depths, choices, hands, rng)
    fits = all(len(h) <= _MOST_KINDS and sum(h.values()) <= _MOST_UNITS for h in hands)
    fits = fits and not any(target in hand for target in targets for hand in hands)
    return (hands, [{target: 1} for target in targets]) if fits else None


def _bag(
    rules: Ruleset, depths: Mapping[str, int], need: dict[str, int], keep: float, rng: Random
) -> dict[str, int] | None:
    """Return goods from which the needed items can be made, found by undoing recipes at random."""
    bag: dict[str, int] = {}
    first, burnt = True, 0.0
    while need:
        item, amount = need.popitem()
        makers = [rules.recipes[n] for n in rules.makers.get(item, ())]
        makers = [m for m in makers if (_run_depth(m, depths) or 99) <= depths.get(item, 0)]
        if not makers or (not first and rng.random() < keep):
            bag[item] = bag.get(item, 0) + amount
            continue
        first = False
        recipe = makers[rng.randrange(len(makers))]
        runs = -(-amount // recipe.amount)
        burnt += float(recipe.fuel * runs)
        for slot in recipe.slots:
            low = min(depths[i] for i in slot.goods if i in depths)
            fits = [i for i in slot.goods if depths.get(i) == low]
            chosen = fits[rng.randrange(len(fits))]
            need[chosen] = need.get(chosen, 0) + slot.amount * runs
        if sum(need.values()) + sum(bag.values()) > _MOST_UNITS:
            return None
    if burnt:
        fuels = sorted(item for item in rules.fuel if depths.get(item, 9) <= 1)
        fuel = fuels[rng.randrange(len(fuels))]
        bag[fuel] = bag.get(fuel, 0) + int(burnt / float(rules.heat[fuel])) + 1
    return bag


def _deal(
    bag: Mapping[str, int], seat: int, hands: list[dict[str, int]], grade_wanted: int, rng: Random
) -> None:
    """Deal the goods that one seat needs, giving at least one kind of these goods to other
    seats."""
    kinds = sorted(bag)
    away = 1 + rng.randrange(min(len(kinds) - 1, grade_wanted) or 1)
    for number, item in enumerate(rng.sample(kinds, len(kinds))):
        others = [other_seat for other_seat in range(len(hands)) if other_seat != seat]
        owner = others[rng.randrange(len(others))] if number < away else seat
        amount = bag[item]
        # Sometimes two seats need the same goods: then not every target can be made.
        if rng.random() < 0.3 and any(item in hand for hand in hands):
            amount = max(1, amount // 2)
        hands[owner][item] = hands[owner].get(item, 0) + amount


def _add_decoys(
    rules: Ruleset,
    depths: Mapping[str, int],
    choices: Sequence[str],
    hands: list[dict[str, int]],
    rng: Random,
) -> None:
    """Add goods that serve another target, so that a hand does not reveal its owner's target."""
    for hand in hands:
        for _ in range(rng.randint(1, 2)):
            decoys = _bag(rules, depths, {choices[rng.randrange(len(choices))]: 1}, 0.5, rng)
            if decoys:
                item = sorted(decoys)[rng.randrange(len(decoys))]
                hand[item] = hand.get(item, 0) + min(decoys[item], 4)
