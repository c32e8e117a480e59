"""Pairs of Pick the Right Stuff: what the members share, and what the certificate refuses."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sally.analysis.pairs.certificate import certify
from sally.core.rules.pair import Member, PairRecipe, draw_pair
from sally.games.pick_the_right_stuff.pairs import PAIRS


def events_of(member: Member) -> list[dict[str, Any]]:
    return [moves["nature"] for moves in member.past]


@pytest.mark.parametrize("recipe", PAIRS, ids=lambda recipe: recipe.name)
def test_members_differ_in_the_users_of_four_looks(recipe: PairRecipe) -> None:
    for number in range(20):
        pair = draw_pair(recipe, 1, 3, number)
        first, second = (events_of(member) for member in pair.members)
        changed = [
            (event, counterpart)
            for event, counterpart in zip(first, second, strict=True)
            if event != counterpart
        ]
        assert len(changed) == 4
        for event, counterpart in changed:
            assert {**event, "user": 0} == {**counterpart, "user": 0}
            assert {event["user"], counterpart["user"]} == {
                e["user"] for pair in changed for e in pair
            }
        waiting = first[-1]["user"]
        late = [event["user"] == waiting for event, _ in changed][2:]
        assert sorted(late) == [False, True]


@pytest.mark.parametrize("recipe", PAIRS, ids=lambda recipe: recipe.name)
def test_rival_without_a_shared_last_look_has_no_certificate(recipe: PairRecipe) -> None:
    pair = draw_pair(recipe, 1, 3, 0)
    first, second = (events_of(member) for member in pair.members)
    changed = next(n for n, event in enumerate(first) if event != second[n])
    (rival,) = {first[changed]["user"], second[changed]["user"]} - {first[-1]["user"]}
    last = max(n for n, event in enumerate(first) if event.get("user") == rival)
    members = []
    for member in pair.members:
        problem = msgspec.convert(member.params["problem"], dict[str, Any])
        script = [event for n, event in enumerate(problem["script"]) if n != last]
        past = tuple(moves for n, moves in enumerate(member.past) if n != last)
        params = {**member.params, "problem": {**problem, "script": script}}
        members.append(Member(params, past))
    tampered = msgspec.structs.replace(pair, members=(members[0], members[1]))
    assert certify(pair).holds
    problems = certify(tampered).problems
    assert problems and all("the last look of other user" in problem for problem in problems)
