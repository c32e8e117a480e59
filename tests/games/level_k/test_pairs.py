"""Pairs of the request game: what notes make the other player ask for, and what is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import sally
from sally.analysis.pairs.certificate import certify
from sally.analysis.pairs.positions import open_position
from sally.core.errors import BadInput
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.pair import Member, Pair, draw_pair
from sally.games.level_k.notes import OTHER, Note, Notes, Reading
from sally.games.level_k.pairs import PAIRS, RIVAL
from sally.games.level_k.payoffs import Contest
from sally.games.level_k.rules import LevelGame

(RECIPE,) = PAIRS
PEOPLE = ("Ines", "Keiko")


def ask_note_reader(notes: Notes) -> int:
    """Return what the other player asks for."""
    players = {"player_1": "random", "player_2": "note_reader"}
    episode = sally.play("eleven_twenty", players, notes=msgspec.to_builtins(notes))
    return next(
        event.action for event in episode.events if getattr(event, "seat", "") == "player_2"
    )


def test_other_player_replies_to_the_note_that_it_read_last() -> None:
    notes = (Note("red", 19), Note("blue", 15))
    readings = (Reading(OTHER, 1), Reading(OTHER, 0), Reading(RIVAL, 1))
    assert ask_note_reader(Notes(PEOPLE, notes, readings)) == 18


def test_other_player_replies_to_the_reply_to_the_note_that_it_saw_being_read() -> None:
    notes = (Note("red", 19, "other"), Note("blue", 15, "other"), Note("grey", 17))
    readings = (
        Reading(OTHER, 0, True),
        Reading(OTHER, 1, True),
        Reading(RIVAL, 0, True),
        Reading(OTHER, 2),
    )
    assert ask_note_reader(Notes(PEOPLE, notes, readings)) == 13


def test_notes_are_on_the_page_of_the_first_player_only() -> None:
    spec = registry.game("eleven_twenty")
    game = LevelGame(notes=Notes(PEOPLE, (Note("red", 19),), (Reading(OTHER, 0),)))
    first, second = (SeatContext(spec, game, seat, 0).words.rules(seat) for seat in game.seats)
    assert "Ines reads the red note" in first and "will ask for 19" in first
    assert "Ines" not in second and "note" not in second


@pytest.mark.parametrize(
    ("notes", "problem"),
    [
        ({"notes": []}, "names note 0 of 0"),
        ({"readings": []}, "must have read a note"),
        ({"readings": [{"person": 7, "note": 0}]}, "names person 7 of 2"),
        ({"notes": [{"colour": "red", "amount": 30}]}, "a note says 30"),
    ],
)
def test_impossible_notes_are_refused(notes: dict[str, Any], problem: str) -> None:
    plain = {
        "people": PEOPLE,
        "notes": [{"colour": "red", "amount": 19}],
        "readings": [{"person": 0, "note": 0}],
        **notes,
    }
    with pytest.raises(BadInput, match=problem):
        registry.game("eleven_twenty").build({"notes": plain})


def test_only_the_request_game_has_notes() -> None:
    notes = Notes(PEOPLE, (Note("red", 19),), (Reading(OTHER, 0),))
    with pytest.raises(BadInput, match="only in the request game"):
        LevelGame(pays=Contest(), notes=notes)


def change_readings(pair: Pair, keep: Any) -> Pair:
    """Return the pair with the readings for which `keep` is true, by number and reading."""
    members = []
    for member in pair.members:
        notes = msgspec.convert(member.params["notes"], Notes)
        readings = tuple(r for n, r in enumerate(notes.readings) if keep(n, r))
        notes = msgspec.structs.replace(notes, readings=readings)
        members.append(Member({"notes": msgspec.to_builtins(notes)}, member.past, member.others))
    return msgspec.structs.replace(pair, members=(members[0], members[1]))


@pytest.mark.parametrize("order", RECIPE.orders)
def test_members_exchange_two_people_in_four_lines(order: int) -> None:
    for number in range(20):
        pair = draw_pair(RECIPE, order, 4, number)
        first, second = (msgspec.convert(m.params["notes"], Notes) for m in pair.members)
        assert (first.people, first.notes, first.depth) == (second.people, second.notes, order)
        changed = [
            (reading, other_reading)
            for reading, other_reading in zip(first.readings, second.readings, strict=True)
            if reading != other_reading
        ]
        assert len(changed) == 4
        for reading, other_reading in changed:
            assert {reading.person, other_reading.person} == {OTHER, RIVAL}
            assert reading.note == other_reading.note


@pytest.mark.parametrize("order", RECIPE.orders)
def test_rival_without_a_shared_last_reading_has_no_certificate(order: int) -> None:
    pair = draw_pair(RECIPE, order, 4, 0)
    notes = msgspec.convert(pair.members[0].params["notes"], Notes)
    is_seen = order == 2
    of_rival = [
        n for n, r in enumerate(notes.readings) if r.person == RIVAL and r.sees_you == is_seen
    ]
    changed = change_readings(pair, lambda n, reading: n != of_rival[-1])
    assert certify(pair).holds
    problems = certify(changed).problems
    assert any("last note of person 2" in problem for problem in problems)


def test_rule_about_a_person_who_read_nothing_has_no_answer() -> None:
    pair = draw_pair(RECIPE, 1, 1, 588)  # a third person reads nothing
    position = open_position(RECIPE, pair, 0)
    answers = [rule(position.game, position.view, "know") for rule in RECIPE.rules(1).values()]
    assert None in answers and certify(pair).holds
