"""The generators: keys from one engine checked by another, and nothing to gain without a mind."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from sally.core.rules.chance import Stream
from sally.games.battery.applied import applied_item
from sally.games.battery.belief_action import PER_STORY, SWAPS, belief_action
from sally.games.battery.beliefs import Event, place_believed
from sally.games.battery.card import fresh_items
from sally.games.battery.items import Item
from sally.games.battery.mindless import SURFACE, chance, inverse_share, share
from sally.games.battery.nested import PERSONS, _events, _outline, _story, nested_item
from sally.games.battery.rules import Generator
from tests.games.battery import reference

GENERATORS: tuple[Generator, ...] = ("nested", "belief_action", "applied")
MANY = 300


def items_of(generator: Generator) -> list[Item]:
    if generator not in ITEMS:
        ITEMS[generator] = fresh_items(generator, MANY, 5)
    return ITEMS[generator]


ITEMS: dict[Generator, list[Item]] = {}


# --- the belief rule ------------------------------------------------------------------------------


def test_two_engines_agree_on_every_chain_of_generated_stories() -> None:
    for n in range(15):
        events = _events(Stream(3, n), tuple(range(1 + n % 4)))
        for length in range(5):
            for chain in permutations(range(PERSONS), length):
                assert place_believed(events, chain) == reference.believed(events, chain)


def test_liar_keeps_its_own_belief_and_knows_the_hearers_new_one() -> None:
    events = [Event("put", (0, 1, 2), 0), Event("tell", (0, 1), 1, lie=True)]
    assert place_believed(events, (0,)) == 0
    assert (
        place_believed(events, (1,))
        == place_believed(events, (0, 1))
        == place_believed(events, (1, 0))
        == 1
    )
    assert (
        place_believed(events, (2,))
        == place_believed(events, (2, 1))
        == place_believed(events, (1, 2))
        == 0
    )


def test_absent_person_does_not_learn_of_the_move() -> None:
    events = [Event("put", (0, 1), 0), Event("put", (0,), 2)]
    assert place_believed(events, ()) == place_believed(events, (0,)) == 2
    assert place_believed(events, (1,)) == place_believed(events, (0, 1)) == 0


# --- balance --------------------------------------------------------------------------------------


@pytest.mark.parametrize("generator", GENERATORS)
def test_surface_rules_and_their_inverses_are_at_chance(generator: Generator) -> None:
    items = items_of(generator)
    even = chance(items)
    for name, rule in SURFACE.items():  # 5,000 items: benchmarks/battery.py
        assert share(rule, items) == pytest.approx(even, abs=9), name
        assert inverse_share(rule, items) == pytest.approx(even, abs=9), name


@pytest.mark.parametrize("generator", GENERATORS)
def test_mindless_readings_are_at_chance(generator: Generator) -> None:
    items = items_of(generator)
    even = chance(items)
    for name in {name for item in items for name in item.mindless}:
        existing = [item for item in items if name in item.mindless]
        if len(existing) >= MANY / 4:
            hits = 100 * sum(i.mindless[name] == i.answer for i in existing) / len(existing)
            assert hits == pytest.approx(even, abs=13), name


@pytest.mark.parametrize("order", range(1, 5))
def test_either_every_belief_level_is_needed_or_none(order: int) -> None:
    separate_count = 0
    for n in range(40):
        item = nested_item(7, n, order)
        same = {reply == item.answer for reply in item.mindless.values()}
        assert len(same) == 1
        separate_count += same == {False}
    assert 17 <= separate_count <= 36  # two thirds


@pytest.mark.parametrize("order", (1, 3))
def test_stories_with_different_keys_have_the_same_outline(order: int) -> None:
    """Only the people differ: places, kinds, numbers of people and lies say nothing of the key."""
    chain, count = tuple(range(order)), 0
    for n in range(12):
        draws = Stream(6, n)
        outline = _outline(draws, order)
        stories = [_story(draws, outline, chain, key) for key in range(3)]
        if None in stories:
            continue
        count += 1
        events = [story for story in stories if story is not None]
        assert [place_believed(story, chain) for story in events] == [0, 1, 2]
        shapes = {
            tuple((e.kind, e.place, len(e.present), e.lie) for e in story) for story in events
        }
        assert len(shapes) == 1
    assert count >= 2


def test_speaker_lies_exactly_if_its_belief_differs_from_the_claim() -> None:
    for n in range(12):
        events = _events(Stream(11, n), tuple(range(1 + n % 4)))
        for index, event in enumerate(events):
            if event.kind == "tell":
                assert (
                    place_believed(events[:index], event.present[:1]) != event.place
                ) == event.lie


def test_ignoring_talk_changes_many_answers() -> None:
    items = [nested_item(8, n, 2) for n in range(60)]
    assert sum(item.mindless["talk_ignored"] != item.answer for item in items) > 25


def test_twins_have_equal_length_and_different_answers() -> None:
    story = [belief_action(4, n) for n in range(PER_STORY)]
    for question in {item.task for item in story}:
        twins = [item for item in story if item.task == question]
        assert sorted(item.answer for item in twins) == [0, 1, 2]
        assert len({Counter(item.story.split("\n")[0]).total() for item in twins}) == 1
        if question != "backward":
            lengths = {len(item.story.split("\n")) for item in twins}
            assert len(lengths) == 1
    assert SWAPS == 4


def test_twins_with_different_answers_use_the_same_words() -> None:
    twins = [applied_item(4, n) for n in (0, 4)]
    words = [Counter(twin.story.split()) for twin in twins]
    assert [twin.answer for twin in twins] == [0, 1]
    assert {w.strip(".,") for w in words[0]} == {w.strip(".,") for w in words[1]}


def test_reasonable_act_depends_on_awareness() -> None:
    keys = {
        (i.condition, n % 4): i.answer for n in range(8) if (i := applied_item(9, n)).task[0] == "r"
    }
    assert keys == {("aware", 2): 1, ("aware", 3): 0, ("unaware", 2): 0, ("unaware", 3): 1}


def test_item_is_determined_by_seed_and_number() -> None:
    assert nested_item(1, 5) == nested_item(1, 5) != nested_item(2, 5)
    assert belief_action(1, 5) == belief_action(1, 5) != belief_action(2, 5)
    assert applied_item(1, 5) == applied_item(1, 5) != applied_item(2, 5)
