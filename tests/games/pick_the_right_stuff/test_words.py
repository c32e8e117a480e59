"""What the manager reads, in our wording and in the authors', and how its replies are read."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sally.core.errors import Unreadable
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Decision, Forfeit, Turn
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.probe import Question
from sally.games.pick_the_right_stuff import locker
from sally.games.pick_the_right_stuff.extrapolation import Rule, Shift, TwoStride
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Mode,
    Move,
    Rehearsal,
    Reset,
    Snapshot,
    View,
    Visit,
)
from sally.games.pick_the_right_stuff.rules import MANAGER, LockerGame
from sally.games.pick_the_right_stuff.words import TEXTS, LockerWords, ordinal, to_last
from sally.papers.tang2024.study import SETS

NAME = "pick_the_right_stuff"
RIGHT, LEFT = Reset((1, 2, 0)), Reset((2, 0, 1))


def params(
    mode: Mode, *script: Move, rules: tuple[Rule, ...] = (), wording: str = "page"
) -> dict[str, Any]:
    families = ("shift", "two_stride") if rules else ()
    instance = locker.Instance("by hand", mode, 3, (0, 1, 2), script, rules, families)  # type: ignore[arg-type]
    return {"problem": msgspec.to_builtins(instance), "wording": wording}


def match_of(given: dict[str, Any]) -> Match:
    lineup = {str(MANAGER): PlayerSpec("by hand")}
    return Match(registry.game(NAME), Setup(Instance(NAME, NAME, given), 1, lineup))


def ask_once(given: dict[str, Any], *answers: int | None) -> Turn:
    """The turn after these answers."""
    match = match_of(given)
    for answer in answers:
        (turn,) = match.asks()
        match.answer(turn.id, Forfeit("unreadable") if answer is None else Decision(answer))
    (turn,) = match.asks()
    return turn


def past(turn: Turn) -> list[str]:
    return list(turn.context.words.lines(turn.view, 0, "agent_first"))


ALL = (Collection(1), Collection(0), Collection(2))


def test_every_announcement_is_one_line() -> None:
    script = (RIGHT, Visit(0), LEFT, *ALL)
    assert past(ask_once(params("zero", *script))) == [
        "The users have stored their items and left. Now box 0 holds the item of User 0, box 1 "
        "holds the item of User 1 and box 2 holds the item of User 2.",
        "The locker resets itself. Now box 0 holds the item of User 2, box 1 holds the item of "
        "User 0 and box 2 holds the item of User 1.",
        "User 0 comes to Room 2, looks at the monitor and leaves.",
        "The locker resets itself. Now box 0 holds the item of User 0, box 1 holds the item of "
        "User 1 and box 2 holds the item of User 2.",
        "User 1 comes to Room 1 to collect its item.",
    ]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (1, "You named box 1, and User 1 opened it: one point."),
        (0, "You named box 0, but User 1 opened box 1: no point."),
        (None, "You named no box, and User 1 opened box 1: no point."),
    ],
)
def test_outcome_line_names_believed_and_true_box(answer: int | None, told: str) -> None:
    line = past(ask_once(params("zero", RIGHT, *ALL), answer))[-2]
    assert line == (
        f"{told} The item was swapped into it from box 2 and User 1 has left with it. Now box 0 "
        "holds the item of User 2, box 1 is empty and box 2 holds the item of User 0."
    )


def test_item_in_its_believed_box_is_not_swapped() -> None:
    line = past(ask_once(params("zero", *ALL), 1))[-2]
    assert "one point. The item was in it and User 1 has left with it." in line


def test_snapshot_line_states_its_age() -> None:
    script = (RIGHT, RIGHT, Snapshot(0, 1), Snapshot(1, 3), Snapshot(2, 2), *ALL)
    lines = past(ask_once(params("finite", *script)))
    assert [line.split("snapshot of the ")[1].split(" state")[0] for line in lines[3:6]] == [
        "last",
        "3rd-to-last",
        "2nd-to-last",
    ]


def test_ordinal_numbers_have_english_suffixes() -> None:
    text = " ".join(ordinal(n) for n in (0, 1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111))
    assert text == "0th 1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 101st 111th"
    assert [to_last(n) for n in (1, 2, 23)] == ["last", "2nd-to-last", "23rd-to-last"]


def test_locker_is_drawn_as_a_row_of_boxes() -> None:
    turn = ask_once(params("zero", RIGHT, *ALL), 1)
    assert turn.context.words.drawn(turn.view) == (
        "+--------+--------+--------+\n"
        "| User 2 |        | User 0 |\n"
        "+--------+--------+--------+\n"
        "  box 0    box 1    box 2"
    )


# --- secrets ------------------------------------------------------------------------------------


def page(turn: Turn) -> str:
    words, game = turn.context.words, turn.context.game
    context = SeatContext(registry.game(NAME), game, MANAGER, 1)
    tail = f"{words.now(turn.view)}{words.question(turn.view, turn.options)}{turn.options}"
    return f"{context.opening(turn.view, 'agent_first')}{tail}{words.drawn(turn.view)}{turn.view}"


def test_page_shows_private_rules_only_through_rehearsals() -> None:
    script = (Rehearsal(0, 0, 1, 1), RIGHT, *ALL)
    turn, other_turn = (
        ask_once(params("infinite", *script, rules=(Shift(1), rule, Shift(1))))
        for rule in (Shift(2), TwoStride(0, 2))
    )
    assert page(turn) == page(other_turn)
    assert "would open box 1" in page(turn)


def test_page_does_not_depend_on_future_moves_of_nature() -> None:
    turn, other_turn = (
        ask_once(params("zero", RIGHT, Collection(1), *rest))
        for rest in (
            (Visit(0), RIGHT, Collection(0), Collection(2)),
            (Collection(2), Collection(0)),
        )
    )
    assert page(turn) == page(other_turn)


def test_page_shows_age_but_not_content_of_a_snapshot() -> None:
    (_, line) = past(ask_once(params("finite", RIGHT, Snapshot(0, 2), *ALL)))[1:3]
    assert line.endswith("sees a snapshot of the 2nd-to-last state of the monitor and leaves.")


# --- replies ------------------------------------------------------------------------------------


def read(reply: str, wording: str = "page") -> Any:
    turn = ask_once(params("zero", RIGHT, *ALL, wording=wording))
    return turn.context.words.read(reply, turn.view, turn.options)


@pytest.mark.parametrize(
    ("reply", "box"),
    [("Answer: 2", 2), ("2", 2), ("**Answer:** 1", 1), ("I track User 1.\nAnswer: 0", 0)],
)
def test_own_wording_reads_labelled_or_bare_answer(reply: str, box: int) -> None:
    assert read(reply) == box


@pytest.mark.parametrize("reply", ["", "Answer: 3", "Answer: 1 or 2", "User 1 saw it last."])
def test_own_wording_refuses_answer_with_no_box_or_two(reply: str) -> None:
    with pytest.raises(Unreadable, match="Answer"):
        read(reply)


@pytest.mark.parametrize("reply", ["-1", "Answer: -1", "1.5", "Answer: 0,5"])
def test_number_out_of_range_is_not_read_by_its_digits(reply: str) -> None:
    with pytest.raises(Unreadable, match="exactly one of 0, 1 or 2"):
        read(reply)


@pytest.mark.parametrize(
    ("reply", "box"),
    [
        ("1", 1),
        (" 2\n", 2),
        ("The user will go to position 2, because", 2),
        ("I predict Position 0th.", 0),
        ("position 1 or position 2", 1),  # the first one, as a search finds it
    ],
)
def test_authors_harness_reads_a_bare_integer_or_the_number_after_position(
    reply: str, box: int
) -> None:
    assert read(reply, "published") == box


@pytest.mark.parametrize("reply", ["", "Answer: 1", "box 1", "7", "-1", "position 3", "1st", "1."])
def test_authors_harness_refuses_other_replies(reply: str) -> None:
    with pytest.raises(Unreadable, match="one number from 0 to 2"):
        read(reply, "published")


def test_authors_harness_names_boxes_by_ordinals_and_asks_for_a_number() -> None:
    turn = ask_once(params("zero", RIGHT, *ALL, wording="published"))
    words = turn.context.words
    assert "position 2nd holds the item of User 1" in past(turn)[-2]
    assert words.now(turn.view) == ""
    assert "the number alone" in words.format(turn.view, turn.options)
    assert words.menu(turn.options) == ("0", "1", "2")


# --- the rules as told --------------------------------------------------------------------------


@pytest.mark.parametrize("given", [p for _, p in SETS])
@pytest.mark.parametrize("wording", ["page", "published"])
def test_pages_have_no_unfilled_slot_and_grow_by_appending(given: Any, wording: str) -> None:
    match = match_of({**given, "users": 3, "number": 3, "wording": wording})
    shown = ""
    while asks := match.asks():
        (turn,) = asks
        opening = str(turn.context.opening(turn.view, "agent_first"))
        assert opening.startswith(shown)
        assert "{" not in opening
        assert "None" not in opening
        shown = opening
        match.answer(turn.id, Decision(0))


def test_rules_of_each_mode_state_only_its_belief_rule() -> None:
    fields = {}
    for mode in ("zero", "finite", "infinite"):
        game = registry.game(NAME).build({"mode": mode, "users": 3})
        assert isinstance(game, LockerGame)
        fields[mode] = LockerWords(game, TEXTS).rules(Seat("manager"))
    assert "Room 3" in fields["finite"]
    assert "Room 3" not in fields["zero"] + fields["infinite"]
    assert "rehearses" in fields["infinite"]
    assert "rehearses" not in fields["zero"] + fields["finite"]
    assert fields["infinite"].count("(a,") + fields["infinite"].count("(a +") == 6  # six families


def test_probes_can_be_answered_by_name() -> None:
    turn = ask_once(params("finite", RIGHT, RIGHT, Snapshot(1, 2), *ALL))
    words, view = turn.context.words, turn.view
    assert isinstance(view, View)
    question = Question("state_last_seen", "choice", (1, 2, 3), about="1")
    assert "User 1" in words.aside(question, view)
    assert words.read_report("Answer: 2nd-to-last", question).value == 2
    assert words.read_report("Answer: last", question).value == 1
    with pytest.raises(Unreadable):
        words.read_report("Answer: last or 2nd-to-last", question)
