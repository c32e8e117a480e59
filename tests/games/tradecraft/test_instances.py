"""The frozen sets: right in number, graded, certified, and each certificate replayed exactly."""

from collections import Counter
from random import Random

import pytest

from benchmarks.problem_sets.tradecraft import (
    NoInstance,
    certify,
    generate,
    generate_set,
    grade,
    instance,
    refusals,
)
from sally.games.tradecraft.instances import all_instances, instance_set, named_ruleset, set_names
from sally.games.tradecraft.invented_rulesets import invent_ruleset
from sally.games.tradecraft.rulesets import parse, shipped_ruleset
from tests.games.tradecraft.certificates import verify

SETS = dict(all_instances())


def test_each_ruleset_has_forty_instances_for_two_and_twelve_for_three() -> None:
    for name, edition in (("minecraft_core", "_2"), ("alchemy", ""), ("invented", "")):
        for players, number in ((2, 40), (3, 12)):
            actual_set = SETS[f"{name}_{players}p{edition}"]
            assert actual_set.players == players
            assert len(actual_set.instances) == number
            assert Counter(
                current_instance.grade for current_instance in actual_set.instances
            ) == dict.fromkeys((1, 2, 3, 4), number // 4)


@pytest.mark.parametrize("name", SETS)
def test_every_plan_of_every_certificate_replays_exactly(name: str) -> None:
    actual_set = SETS[name]
    rules = named_ruleset(actual_set.ruleset, actual_set.settings)
    assert len({current_instance.id for current_instance in actual_set.instances}) == len(
        actual_set.instances
    )
    for current_instance in actual_set.instances:
        assert len(current_instance.hands) == len(current_instance.targets) == actual_set.players
        assert (
            verify(
                rules,
                current_instance.hands,
                current_instance.targets,
                current_instance.certificate,
            )
            == []
        )
        assert refusals(current_instance.certificate) == []
        assert current_instance.grade == grade(current_instance.certificate)
        assert current_instance.max_turns == 15
        assert all(
            type(n) is int and n > 0 for hand in current_instance.hands for n in hand.values()
        )


@pytest.mark.parametrize("name", SETS)
def test_solver_reproduces_the_certified_minima(name: str) -> None:
    """Plans may differ from one solver version to the next; lengths and counts may not."""
    actual_set = SETS[name]
    rules = named_ruleset(actual_set.ruleset, actual_set.settings)
    for current_instance in actual_set.instances[::4]:
        repeated_certificate = certify(rules, current_instance.hands, current_instance.targets)
        assert repeated_certificate.joint == current_instance.certificate.joint
        for new, old in zip(
            repeated_certificate.seats, current_instance.certificate.seats, strict=True
        ):
            assert (new.chain, new.units, new.kinds) == (old.chain, old.units, old.kinds)


def test_known_set_has_fourteen_targets() -> None:
    targets = {
        item
        for current_instance in SETS["minecraft_core_known_2p_2"].instances
        for t in current_instance.targets
        for item in t
    }
    assert len(targets) == 14


def test_no_target_is_in_any_starting_hand() -> None:
    for actual_set in SETS.values():
        for current_instance in actual_set.instances:
            expected_items = {item for target in current_instance.targets for item in target}
            assert not expected_items & {item for hand in current_instance.hands for item in hand}


def test_some_instances_have_no_joint_solution() -> None:
    joint = [
        current_instance.certificate.joint
        for actual_set in SETS.values()
        for current_instance in actual_set.instances
    ]
    assert 0.03 < joint.count(False) / len(joint) < 0.5


def test_generator_follows_its_seed() -> None:
    rules = shipped_ruleset("alchemy")
    assert generate(rules, 2, 2, Random(4)) == generate(rules, 2, 2, Random(4))
    assert generate(rules, 2, 2, Random(4)) != generate(rules, 2, 2, Random(5))
    small = generate_set(invent_ruleset(8), 3, 4, seed=1)
    assert [item.grade for item in small] == [1, 2, 3, 4]
    assert all(len(item.hands) == 3 for item in small)


def test_ruleset_too_poor_for_the_grade_is_refused() -> None:
    rules = parse('name="poor"\n[recipes]\nk=["a + b -> c"]')
    assert generate(rules, 2, 1, Random(0)).grade == 1
    with pytest.raises(NoInstance, match=r"grade 4 was found for poor"):
        generate(rules, 2, 4, Random(0), tries=20)


@pytest.mark.parametrize(
    ("hands", "says"),
    [
        ([{"iron_ingot": 2}, {"coal": 1, "stick": 1}], "Player 1 needs nothing"),
        ([{"iron_ingot": 1}, {"coal": 1}], "cannot be made"),
        ([{"iron_ingot": 1}, {"kohle": 1}], "no item of minecraft_core"),
        ([{"iron_ingot": 0}, {"coal": 1}], "whole number of at least 1, not 0"),
        ([{"iron_ingot": 1.5}, {"coal": 1}], "whole number of at least 1, not 1.5"),
    ],
)
def test_bad_instance_is_refused_with_the_reason(hands: list[dict[str, int]], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        instance(shipped_ruleset("minecraft_core"), "mine", hands, [{"shears": 1}, {"torch": 1}])


def test_unknown_set_is_refused_with_a_list_of_names() -> None:
    with pytest.raises(ValueError, match="minecraft_core_2p_2"):
        instance_set("minecraft")
    assert "alchemy_3p" in set_names()


def test_set_made_for_other_rules_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import sally.games.tradecraft.instances as module

    monkeypatch.setattr(
        module, "named_ruleset", lambda name, settings: shipped_ruleset("minecraft_core")
    )
    with pytest.raises(ValueError, match="certify the instances again"):
        instance_set("alchemy_2p")


def test_wooden_items_are_fuel() -> None:
    fuel = shipped_ruleset("minecraft_core").fuel
    for item in ("oak_stairs", "birch_trapdoor", "chest", "spruce_fence", "crafting_table", "bow"):
        assert str(fuel[item]) == "16/3"
    assert not [item for item in fuel if item.startswith(("iron", "stone", "crimson"))]
