"""The solver against exhaustive search, against itself without pruning, and on known answers."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from random import Random

import pytest

from benchmarks.problem_sets.tradecraft import certify, refusals
from sally.games.tradecraft.amounts import Amount
from sally.games.tradecraft.craft_plan import Aim, Undecided, best_plan, replay
from sally.games.tradecraft.crafting import CraftSuccess, craft
from sally.games.tradecraft.hands import Hand, holds, union
from sally.games.tradecraft.instances import instance_set, named_ruleset
from sally.games.tradecraft.rulesets import Ruleset, parse, shipped_ruleset
from tests.games.tradecraft.certificates import verify

CORE = shipped_ruleset("minecraft_core")


def small_rules(rng: Random, *, circles: bool, fire: bool = False) -> Ruleset:
    """A few random recipes over seven goods, one with a choice of goods, some perhaps fired."""
    items = "abcdefg"
    lines = []
    while len(lines) < 6:
        inputs = rng.sample(items, rng.randint(1, 2))
        output = rng.choice(items)
        if output in inputs or (not circles and output <= max(inputs)):
            continue
        remaining_text = " + ".join(f"{rng.randint(1, 3)} {item}" for item in inputs)
        lines.append(f"{remaining_text} -> {rng.randint(1, 2)} {output}")
    lines.append("2 #t -> f")
    fired = lines[:3] if fire else []
    return parse(
        f'name = "small"\n[tags]\nt = ["b", "c"]\n[fuel]\nb = 2\ne = "1/2"\n[cost]\nfire = "1/3"\n'
        f"[recipes]\nk = {[line for line in lines if line not in fired]}\nfire = {fired}"
    )


def next_hands(rules: Ruleset, hand: Hand) -> set[Hand]:
    """Every hand one craft away; whole amounts suffice where there is no fuel."""
    result = set()
    for recipe in rules.recipes:
        for times in range(1, 13):
            fills = [
                combinations_with_replacement(slot.goods, slot.amount * times)
                if len(slot.goods) > 1
                else [(slot.goods[0],) * (slot.amount * times)]
                for slot in recipe.slots
            ]
            worked = False
            for fill in product(*fills):
                inputs: dict[str, Amount] = {}
                for item in (item for part in fill for item in part):
                    inputs[item] = inputs.get(item, 0) + 1
                done = craft(rules, hand, inputs, recipe.output, recipe.amount * times)
                if isinstance(done, CraftSuccess):
                    worked = True
                    result.add(done.hand)
            if not worked:
                break
    return result


def fewest_crafts(rules: Ruleset, hand: Hand, target: dict[str, int], limit: int) -> int | None:
    """Breadth-first search over hands, up to so many crafts."""
    level, visited = {hand}, {hand}
    for crafts in range(limit + 1):
        if any(holds(item, target) for item in level):
            return crafts
        level = {n for item in level for n in next_hands(rules, item)} - visited
        visited |= level
    return None


@pytest.mark.parametrize("seed", range(16))
def test_fewest_crafts_equal_exhaustive_search(seed: int) -> None:
    rng = Random(seed)
    rules = small_rules(rng, circles=seed % 2 == 0)
    pool = Hand({item: rng.randint(1, 4) for item in rng.sample("abcde", 3)})
    target = {rng.choice("efg"): rng.randint(1, 2)}
    try:
        plan = best_plan(rules, pool, {}, target, "crafts")
    except Undecided:
        pytest.fail("small rules must be decided")
    searched = fewest_crafts(rules, pool, target, limit=3)
    if searched is None:
        assert plan is None or len(plan.crafts) > 3
    else:
        assert plan is not None
        assert len(plan.crafts) == searched
        assert holds(replay(rules, pool, plan.crafts), target)


def fewest_goods(
    rules: Ruleset, own: Hand, others: Hand, target: dict[str, int], limit: int
) -> tuple[int, int] | None:
    """Try every set of goods from others, small ones first; the rules must have no circles."""

    def reached(start: Hand) -> bool:
        level, visited = {start}, {start}
        while level:
            if any(holds(item, target) for item in level):
                return True
            level = {n for item in level for n in next_hands(rules, item)} - visited
            visited |= level
        return False

    for units in range(limit + 1):
        kinds = []
        for taken in set(combinations_with_replacement(sorted(others), units)):
            goods = {item: taken.count(item) for item in taken}
            if holds(others, goods) and reached(union((own, goods))):
                kinds.append(len(goods))
        if kinds:
            return units, min(kinds)
    return None


@pytest.mark.parametrize("seed", range(12))
def test_fewest_goods_equal_exhaustive_search(seed: int) -> None:
    rng = Random(1000 + seed)
    rules = small_rules(rng, circles=False)
    own_hand = Hand({rng.choice("abcd"): rng.randint(1, 2)})
    others = Hand({item: rng.randint(1, 3) for item in rng.sample("abcde", 3)})
    target = {rng.choice("efg"): rng.randint(1, 2)}
    plan = best_plan(rules, own_hand, others, target, "goods")
    searched = fewest_goods(rules, own_hand, others, target, limit=3)
    if searched is None:
        assert plan is None or sum(plan.goods_taken.values()) > 3
    else:
        assert plan is not None
        assert (sum(plan.goods_taken.values()), len(plan.goods_taken)) == searched
        assert holds(replay(rules, union((own_hand, plan.goods_taken)), plan.crafts), target)


@pytest.mark.parametrize("number", [0, 5, 11, 16, 22, 27, 33, 38])
def test_pruning_recipes_does_not_change_the_answer(number: int) -> None:
    instance = instance_set("minecraft_core_2p_2").instances[number]
    for seat, target in enumerate(instance.targets):
        table, others = union(instance.hands), instance.hands[1 - seat]
        full = best_plan(CORE, table, {}, target, "crafts", prune=False)
        assert full is not None
        assert len(full.crafts) == instance.certificate.seats[seat].chain
        try:
            goods = best_plan(CORE, instance.hands[seat], others, target, "goods", prune=False)
        except Undecided:
            continue
        assert goods is not None
        assert sum(goods.goods_taken.values()) == instance.certificate.seats[seat].units
        assert len(goods.goods_taken) == instance.certificate.seats[seat].kinds


@pytest.mark.parametrize("aim", ["crafts", "goods"])
def test_pruning_does_not_change_answers_on_random_cyclic_rules(aim: Aim) -> None:
    solved = undecided = 0
    for seed in range(60):
        rng = Random(5000 + seed)
        rules = small_rules(rng, circles=True, fire=seed % 2 == 0)
        own_hand = Hand({item: rng.randint(1, 4) for item in rng.sample("abcde", 2)})
        others = Hand({item: rng.randint(1, 3) for item in rng.sample("abcdef", 3)})
        target = {rng.choice("efg"): rng.randint(1, 2)}
        try:
            lean, full = (
                best_plan(rules, own_hand, others, target, aim, prune=prune)
                for prune in (True, False)
            )
        except Undecided:
            undecided += 1
            continue
        assert (lean is None) == (full is None)
        if lean is not None and full is not None:
            solved += 1
            if aim == "crafts":
                assert len(lean.crafts) == len(full.crafts)
            else:
                assert sum(lean.goods_taken.values()) == sum(full.goods_taken.values())
                assert len(lean.goods_taken) == len(full.goods_taken)
    assert solved > 20
    assert undecided < 6


def test_printed_example_of_the_paper() -> None:
    hands = (
        {"cherry_planks": 1, "coal": 1, "iron_ingot": 1, "raw_copper": 1, "cobblestone": 1},
        {"oak_planks": 1, "raw_iron": 5, "cobblestone": 1, "raw_copper": 2},
    )
    targets = ({"shears": 1}, {"torch": 1})
    certificate = certify(CORE, hands, targets)
    assert [(s.chain, s.units, s.kinds) for s in certificate.seats] == [(2, 1, 1), (2, 2, 2)]
    assert certificate.seats[0].needs == {"raw_iron": 1}
    assert certificate.seats[1].needs == {"cherry_planks": 1, "coal": 1}
    assert certificate.joint
    assert refusals(certificate) == []
    assert verify(CORE, hands, targets, certificate) == []


def test_plans_for_charcoal_use_logs_and_charcoal_as_fuel() -> None:
    """A first charcoal costs 5/3 logs and then burns for the others."""
    pool = Hand({"oak_log": 9})
    one_go = best_plan(CORE, pool, {}, {"charcoal": 5}, "crafts")
    assert one_go is not None
    assert len(one_go.crafts) == 1  # 5 logs and 10/3 as fuel are less than 9
    two_steps = best_plan(CORE, pool, {}, {"charcoal": 7}, "crafts")
    assert two_steps is not None
    assert len(two_steps.crafts) == 2
    assert best_plan(CORE, pool, {}, {"charcoal": 9}, "any") is None


def test_fraction_of_fuel_counts_as_one_unit_from_others() -> None:
    plan = best_plan(CORE, {"raw_iron": 2}, {"coal": 3}, {"shears": 1}, "goods")
    assert plan is not None
    assert plan.goods_taken == {"coal": 1}
    assert plan.crafts[0].inputs == {"raw_iron": "2", "coal": "1/4"}


def test_plan_uses_held_swords_as_a_source_of_iron() -> None:
    """Nuggets go back to ingots only in circles, unless a hand holds what they come from."""
    pool = {"iron_sword": 9, "iron_ingot": 2, "coal": 2, "stick": 2}
    plan = best_plan(CORE, pool, {}, {"bucket": 1}, "crafts")
    assert plan is not None
    assert [current_craft.output for current_craft in plan.crafts] == [
        "iron_nugget",
        "iron_ingot",
        "bucket",
    ]


def test_fewest_units_take_precedence_over_fewest_kinds() -> None:
    rules = parse('name="r"\n[recipes]\nk=["4 a -> goal", "b + c + d -> goal"]')
    others = {"a": 4, "b": 1, "c": 1, "d": 1}
    plan = best_plan(rules, {"z": 1}, others, {"goal": 1}, "goods")
    assert plan is not None
    assert plan.goods_taken == {"b": 1, "c": 1, "d": 1}
    cheaper = parse('name="r"\n[recipes]\nk=["3 a -> goal", "b + c + d -> goal"]')
    plan = best_plan(cheaper, {"z": 1}, others, {"goal": 1}, "goods")
    assert plan is not None
    assert plan.goods_taken == {"a": 3}


def test_contention_makes_an_instance_not_jointly_solvable() -> None:
    hands = ({"cobblestone": 8, "stick": 2}, {"redstone": 3, "quartz": 2, "cobblestone": 3})
    certificate = certify(CORE, hands, ({"dropper": 1}, {"observer": 1}))
    assert not certificate.joint
    assert [seat.units for seat in certificate.seats] == [1, 3]


@pytest.mark.parametrize(
    ("hands", "targets", "says"),
    [
        (({"iron_ingot": 2}, {"coal": 1}), ("shears", "torch"), "Player 1 needs nothing"),
        (({"iron_ingot": 2}, {"coal": 1}), ("shears", "torch"), "Player 2's target cannot"),
        (({"coal": 1}, {"shears": 1, "stick": 1}), ("shears", "torch"), "lies ready in a hand"),
    ],
)
def test_trivial_or_unsolvable_instance_is_refused(
    hands: tuple[dict[str, int], ...], targets: tuple[str, ...], says: str
) -> None:
    certificate = certify(CORE, hands, [{target: 1} for target in targets])
    assert any(says in reason for reason in refusals(certificate))


def test_verify_detects_a_changed_certificate() -> None:
    import msgspec

    hands = ({"coal": 1, "iron_ingot": 1}, {"raw_iron": 1, "oak_planks": 2})
    targets = ({"shears": 1}, {"torch": 1})
    good = certify(CORE, hands, targets)
    assert verify(CORE, hands, targets, good) == []
    seat = good.seats[0]
    for change in (
        {"chain": 1},
        {"units": 0},
        {"needs": {"raw_iron": 2}},
        {"shortest": seat.shortest[1:]},
        {"after_trade": ()},
    ):
        bad = msgspec.structs.replace(seat, **change)
        spoilt = msgspec.structs.replace(good, seats=(bad, good.seats[1]))
        assert verify(CORE, hands, targets, spoilt) != [], change


def test_reachability_is_over_rationals() -> None:
    """Half an oak and half a birch plank make a whole one where the rest had to burn."""
    rules = parse(
        'name="r"\n[tags]\np=["o","b"]\n[fuel]\no=2\nb=2\n[cost]\nfire="1/2"\n'
        '[recipes]\nfire=["m -> n"]\nk=["n + #p -> goal"]'
    )
    pool = {"m": 1, "o": 1, "b": 1}
    plan = best_plan(rules, pool, {}, {"goal": 1}, "crafts")
    assert plan is not None
    assert len(plan.crafts) == 2
    less = {"m": 1, "o": Fraction(3, 2), "b": Fraction(1, 2)}
    assert best_plan(rules, less, {}, {"goal": 1}, "crafts") is not None
    too_little = {"m": 1, "o": 1, "b": Fraction(3, 4)}
    assert best_plan(rules, too_little, {}, {"goal": 1}, "crafts") is None


def test_named_rulesets_of_the_sets_exist() -> None:
    assert named_ruleset("alchemy").name == "alchemy"
