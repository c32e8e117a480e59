"""Names that a game accepts can be read back; odds and values."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sally.core.errors import BadInput, Unreadable
from sally.core.reply.named_numbers import read_odds, read_values
from sally.core.reply.plain_text import plain
from sally.core.reply.reading import read_choice, read_number, read_numbered
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
            try:
                assert read_choice(reply, names, "Option") == i
            except Unreadable:
                assert plain(names[0]) in plain(names[1]) or plain(names[1]) in plain(names[0])


@pytest.mark.parametrize("names", [("J", "*J*"), ("J", "j "), ("[]", "F"), ("a\nb", "F")])
def test_names_that_look_alike_in_a_reply_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(BadInput):
        RepeatedGame(names=names)


# --- odds and values ----------------------------------------------------------------------------


def test_odds_are_read_by_name_and_sum_to_one() -> None:
    assert read_odds("Odds: J 60%, F 40%", ("J", "F")) == (0.6, 0.4)
    assert read_odds("Odds: F: 40, J: 60", ("J", "F")) == (0.6, 0.4)
    assert sum(read_odds("Odds: a 33.3, b 33.3, c 33.3", "abc")) == pytest.approx(1)
    boxes = [f"box {n}" for n in range(1, 11)]
    assert read_odds("Odds: " + ", ".join(f"{b} 10%" for b in boxes), boxes) == (0.1,) * 10


@pytest.mark.parametrize("reply", ["", "Odds: J 60", "Odds: J 60, F 60", "Odds: J 5, J 95, F 0"])
def test_odds_that_do_not_add_up_are_refused(reply: str) -> None:
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


# --- statements of a choice ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "names", "theirs", "place"),
    [
        ("Plans: I will pick F to counter J. If they pick J again, I will adjust.", "JF", False, 1),
        ("I predict the other player will pickOption J.", "JF", True, 0),
        ("The other player will pick T, not M.", "TM", True, 0),
        ("The option that is cheapest, which is J, is the best choice.", "JF", False, 0),
        (
            "Thoughts: they have picked F in the last round, so I expect it once more.",
            "JF",
            True,
            1,
        ),
        ("No, it won't quote 50.", ("yes", "no"), True, 1),
        ("Player 3: No", ("yes", "no"), True, 1),
        ("Option: Game", ("a game", "a test"), True, 0),
    ],
)
def test_clear_reply_is_read(
    reply: str, names: str | tuple[str, ...], theirs: bool, place: int
) -> None:
    assert read_choice(reply, list(names), "Option", theirs) == place


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ("Option: F, F or B", "JFB"),
        ("Option: Player 1", "135"),
        ("Turn 5: Please choose your move.", "135"),
        ("There is no way to tell whether it will.", ("yes", "no")),
        ("In round 11, the player picks J. J wins 10 points.", "JF"),
        ("Option: J\nI will pick F in this round.", "JF"),
    ],
)
def test_unclear_reply_is_refused(reply: str, names: str | tuple[str, ...]) -> None:
    with pytest.raises(Unreadable):
        read_choice(reply, list(names), "Option")


def test_numbers() -> None:
    assert read_number("40.0", 0, 100, "Answer") == 40
    assert (
        read_number("The price in this round is \\(\\boxed{75}\\).", 0, 100, "Answer", True) == 75
    )
    for reply in ("Answer: 62.5", "Answer: negative 7", "Round 15", "Answer: 150"):
        with pytest.raises(Unreadable):
            read_number(reply, 0, 100, "Answer")
    assert read_numbered("4. Piano", ["Staircase", "Throne", "Balcony", "Piano"], "Answer") == 3
    with pytest.raises(Unreadable):
        read_numbered("4. Staircase", ["Staircase", "Throne", "Balcony", "Piano"], "Answer")
