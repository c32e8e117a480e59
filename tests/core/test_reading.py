"""Names that a game accepts can be read back; odds and values."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sally.core.errors import BadInput, Unreadable
from sally.core.reply.named_numbers import read_odds, read_values
from sally.core.reply.reader import read_choice
from sally.games.repeated_games.rules import RepeatedGame


@given(
    st.lists(st.text("ABCdefgXYZ", min_size=1, max_size=12), min_size=2, max_size=2, unique=True)
)
def test_names_that_a_game_accepts_can_be_read_back(names: list[str]) -> None:
    try:
        RepeatedGame(names=tuple(names))
    except BadInput:
        assume(False)
    for i, name in enumerate(names):
        for reply in (f"Option: {name}", name):
            assert read_choice(reply, names, "Option") == i


@pytest.mark.parametrize("names", [("J", "*J*"), ("J", "j "), ("[]", "F"), ("a\nb", "F")])
def test_names_that_look_alike_in_a_reply_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(BadInput):
        RepeatedGame(names=names)


# --- odds and values ----------------------------------------------------------------------------


def test_odds_are_read_by_name_and_sum_to_one() -> None:
    assert read_odds("Odds: J 60%, F 40%", ("J", "F")) == (0.6, 0.4)
    assert read_odds("Odds: F: 40, J: 60", ("J", "F")) == (0.6, 0.4)
    assert read_odds("They like J.\n**Odds:** J 0.6 (likely) and F 0.4.", ("J", "F")) == (0.6, 0.4)
    assert read_odds("Odds:\nJ 60%\nF 40%", ("J", "F")) == (0.6, 0.4)
    assert sum(read_odds("Odds: a 33.3, b 33.3, c 33.3", "abc")) == pytest.approx(1)
    boxes = [f"box {n}" for n in range(1, 11)]
    assert read_odds("Odds: " + ", ".join(f"{b} 10%" for b in boxes), boxes) == (0.1,) * 10


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Odds: J 60",
        "Odds: J 60, F 60",
        "Odds: J 5, J 95, F 0",
        "Odds: J 60, F 40?",
        "Odds: J 60, F 40 or so",
        "I doubt that J 60%, F 40% is right.",
    ],
)
def test_odds_that_do_not_add_up_or_say_more_are_refused(reply: str) -> None:
    with pytest.raises(Unreadable):
        read_odds(reply, ("J", "F"))


def test_values_keep_their_sign() -> None:
    names = ("wood", "wool")
    assert read_values("wood: -3\n- **wool**: **4.5**", names, -5, 5) == {0: -3.0, 1: 4.5}
    with pytest.raises(Unreadable):
        read_values("wood: -3", names, 0, 5)  # not 3


def test_value_out_of_range_or_repeated_is_ignored() -> None:
    names = ("wood", "wool")
    assert read_values("wood: 9\nwool: 2", names, 0, 5) == {1: 2.0}
    assert read_values("wood: 1\nwood: 2\nwool: 2", names, 0, 5) == {1: 2.0}
