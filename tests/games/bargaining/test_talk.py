"""What a message commits to: sentences of ours, for both sides, with what the reader finds."""

from __future__ import annotations

import pytest

from sally.games.bargaining.rules import BUYER, SELLER
from sally.games.bargaining.talk import FoundCommitments, read_message


@pytest.mark.parametrize(
    ("seat", "text", "announced"),
    [
        (BUYER, "I'll bid 40 this round.", 40),
        (BUYER, "I will keep bidding 40, as before.", 40),
        (BUYER, "Bid 41 again; please do the same.", 41),
        (BUYER, "My bid is 38.", 38),
        (SELLER, "I’m asking **62** now!", 62),
        (SELLER, "Asking 62 again.", 62),
        (SELLER, "I'll set my ask at 62.", 62),
        (SELLER, "I will stick to 62.", 62),
        (SELLER, "Is 60 too much? I will ask 58.", 58),
        (BUYER, "I'll bid 40 if you ask 40.", None),
        (BUYER, "If you ask 40, I'll bid 40.", None),
        (SELLER, "Bid 50 and I'll ask 50.", None),
        (BUYER, "Let's trade at 50.", None),
        (BUYER, "I'll bid 40 next round.", None),
        (BUYER, "I'll bid at most 40.", None),
        (BUYER, "I will bid 40-45.", None),
        (SELLER, "I can go no lower than 60.", None),
        (BUYER, "Shall I bid 40?", None),
        (BUYER, "You ask 40.", None),
        (BUYER, "I bid 40 last round.", None),
        (BUYER, "I will bid 40. No, I will bid 45.", None),
        (BUYER, "I will bid 400.", None),
        (BUYER, "", None),
    ],
)
def test_announcements(seat: object, text: str, announced: int | None) -> None:
    assert read_message(text, seat).announced == announced  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seat", "text", "claimed"),
    [
        (BUYER, "My value is 55.", 55),
        (BUYER, "My true valuation is only 55, sorry.", 55),
        (SELLER, "My cost is still 30.", 30),
        (SELLER, "It costs me 30.", 30),
        (SELLER, "My cost is around 30.", None),
        (BUYER, "Your cost is 30.", None),
        (BUYER, "My cost is 30.", None),
        (SELLER, "My value is 30.", None),
        (SELLER, "If my cost is 30, we both gain.", None),
        (BUYER, "Is my value 55?", None),
    ],
)
def test_claims(seat: object, text: str, claimed: int | None) -> None:
    assert read_message(text, seat).claimed == claimed  # type: ignore[arg-type]


def test_long_and_hostile_messages_are_read_in_time() -> None:
    assert read_message("i " * 700, BUYER) == FoundCommitments()
    assert read_message("i'll " + "keep to " * 150 + "bid", BUYER) == FoundCommitments()
    assert read_message("my my my " * 150, SELLER) == FoundCommitments()
