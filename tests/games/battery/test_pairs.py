"""Pairs of the battery: two engines agree, minds cannot change places, each line matters."""

from __future__ import annotations

from itertools import permutations

import pytest

from sally.analysis.pairs.certificate import certify
from sally.core.rules.chance import Stream
from sally.core.rules.pair import draw_pair
from sally.games.battery import watched
from sally.games.battery.pairs import PAIRS
from sally.games.battery.watched import (
    FIRST,
    ORDERS,
    OUTSIDE,
    PERSONS,
    SECOND,
    Line,
    Story,
    believed_place,
    draw_story,
    hides_each_mind,
    is_nested,
    simulated_place,
)

(RECIPE,) = PAIRS


def line(place: int, *storeys: int) -> Line:
    """Return a line with the first people on these storeys and all others outside."""
    heights = (*storeys, *[OUTSIDE] * (PERSONS - len(storeys)))
    return Line(place, tuple((storey, (person,)) for person, storey in enumerate(heights)))


def test_watcher_above_knows_what_the_lower_one_saw_and_not_the_other_way_round() -> None:
    lines = [line(0, 0, 0), line(1, 2, 1)]
    assert believed_place(lines, (0, 1)) == 1
    assert believed_place(lines, (1, 0)) == 0
    assert believed_place(lines, (0,)) == believed_place(lines, (1,)) == 1


@pytest.mark.parametrize("order", ORDERS)
def test_two_engines_agree_on_every_chain(order: int) -> None:
    for number in range(5):
        for lines in draw_story(11, number, order).members:
            for length in range(1, 5):
                for chain in permutations(range(PERSONS), length):
                    assert believed_place(lines, chain) == simulated_place(lines, chain, True)


@pytest.mark.parametrize("order", ORDERS)
def test_members_exchange_two_people_in_four_lines(order: int) -> None:
    for number in range(20):
        story = draw_story(12, number, order)
        changed = [
            (first, second) for first, second in zip(*story.members, strict=True) if first != second
        ]
        assert len(changed) == 4
        people = {
            frozenset(
                person
                for person in range(PERSONS)
                if first.storeys[person] != second.storeys[person]
            )
            for first, second in changed
        }
        assert len(people) == 1
        assert all(first.place == second.place for first, second in changed)
        assert [believed_place(lines, story.chain) for lines in story.members] == [FIRST, SECOND]


@pytest.mark.parametrize("order", [2, 3, 4])
def test_another_order_of_the_minds_has_another_answer(order: int) -> None:
    for number in range(20):
        story = draw_story(13, number, order)
        for lines in story.members:
            for minds in permutations(story.chain):
                assert (believed_place(lines, minds) in (FIRST, SECOND)) == (minds == story.chain)


def test_story_of_public_presence_is_not_nested() -> None:
    """With everyone on one storey the key does not depend on the order of the minds."""
    lines = (line(2, 0, 0), line(FIRST, 0, 0)), (line(2, 0, 0), line(SECOND, 0, 0))
    assert not is_nested(Story((0, 1), lines))


def test_story_that_one_mind_tells_apart_is_refused() -> None:
    lines = (line(2, 0, 0), line(FIRST, 1, 0)), (line(2, 0, 0), line(FIRST, OUTSIDE, 0))
    assert not hides_each_mind(Story((0, 1), lines))


def test_pair_that_shared_witness_solves_has_no_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two minds that exchange "outside" instead of storeys."""
    lines, exchanges, _ = watched._draw_lines(Stream(5), (0, 1))
    members = [
        tuple(
            line(row.place, 1, OUTSIDE if n in exchanges and n % 2 == member else 0)
            for n, row in enumerate(lines)
        )
        for member in (0, 1)
    ]
    story = Story((0, 1), (members[0], members[1]))
    pair = draw_pair(RECIPE, 2, 3, 0)
    monkeypatch.setattr("sally.games.battery.pairs.draw_story", lambda *_: story)
    assert any("C4" in problem for problem in certify(pair).problems)
