"""The reader of announcements on sentences of our own."""

from __future__ import annotations

import pytest

from sally.games.step_race.rules import Spoken
from sally.games.step_race.talk import announcement, last_announcements


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("I will move 5 this turn.", 5),
        ("I'll take 3, you two share the rest.", 3),
        ("I’m locked on **5**.", 5),
        ("Locked on 1. No changes.", 1),
        ("My move is 3.", 3),
        ("Agreed: P1 takes 5, P2 takes 1 and I take 3.", 3),
        ("Let's stick to the plan: me 5, you 1.", 5),
        ("First I thought of 1, but I'm going with 3. Next turn I'll take 5.", 3),
        ("I'll choose <move>5</move>.", 5),
        ("I'll take\u202f3.", 3),
        ("If you take 5, I'll take 3.", None),
        ("I'll take 5 if you take 3.", None),
        ("I won't take 5.", None),
        ("I'm not taking 5.", None),
        ("Should I take 5?", None),
        ("I suggest that I take 5 and you take 3.", None),
        ("I'll take 1 or 3.", None),
        ("Next turn I'll take 5.", None),
        ('You said "I\'ll take 3" and did not.', None),
        ("P2, take 5 please.", None),
        ("I am at 13 and need 5 more.", None),
        ("", None),
    ],
)
def test_announcements(text: str, move: int | None) -> None:
    assert announcement(text) == move


def test_label_announces_only_for_its_seat_in_a_confirmed_plan() -> None:
    plan = "Confirmed: P1=5, P2=3, P3=1."
    assert [announcement(plan, number) for number in range(3)] == [5, 3, 1]
    assert announcement("P1=5, P2=3, P3=1", 0) is None


def test_announcement_for_another_turn_is_ignored() -> None:
    assert announcement("For round 6 I'll take 5.", 0, turn=5) is None
    assert announcement("For round 5 I'll take 5.", 0, turn=5) == 5


def test_last_announcement_of_a_seat_counts() -> None:
    said = (
        Spoken(0, "I will move 5.", False),
        Spoken(1, "Hello.", False),
        Spoken(0, "I will move 1 instead.", True),
        Spoken(0, "Good luck.", True),
    )
    assert last_announcements(said) == (1, None, None)


def test_long_and_odd_messages_are_read_in_time() -> None:
    assert announcement("i am going to to to " * 9_000) is None
    assert announcement("I'll " * 4_000 + "take 5") in (None, 5)
