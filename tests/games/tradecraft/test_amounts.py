"""Amounts are exact, and what is no amount is refused with one sentence."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.games.tradecraft.amounts import BadAmount, plain, read_amount


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (2, 2),
        (2.0, 2),
        (0.5, Fraction(1, 2)),
        (0.1, Fraction(1, 10)),
        ("2/3", Fraction(2, 3)),
        (" 4/2 ", 2),
        ("0.125", Fraction(1, 8)),
        ("+3", 3),
        (Fraction(6, 3), 2),
    ],
)
def test_amounts_are_read_exactly(written: object, meant: object) -> None:
    amount = read_amount(written)
    assert amount == meant
    assert type(amount) is type(meant)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (-1, "negative"),
        ("-2/3", "negative"),
        (0, "more than zero"),
        ("0.0", "more than zero"),
        ("0/5", "more than zero"),
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        ("nan", "not an amount"),
        ("1/0", "divides by zero"),
        ("1/-2", "not an amount"),
        (10**7, "too much"),
        (1e300, "too much"),
        ("1" * 19, "not an amount"),
        ("9" * 5000, "not an amount"),
        ("1/999999999", "too fine"),
        (1e-12, "too fine"),
        ("two", "not an amount"),
        ("1e3", "not an amount"),
        ("__import__('os')", "not an amount"),
        ("٣", "not an amount"),
        (True, "not an amount"),
        (None, "NoneType"),
        ([1], "list"),
        (Decimal("NaN"), "Decimal"),
    ],
)
def test_invalid_amount_is_refused_with_one_message(written: object, says: str) -> None:
    with pytest.raises(BadAmount) as refused:
        read_amount(written)
    message = str(refused.value)
    assert says in message
    assert message.endswith(".")
    assert len(message) < 200


def test_number_too_long_to_print_is_refused() -> None:
    with pytest.raises(BadAmount, match="too much"):
        read_amount(10**5000)
    with pytest.raises(BadAmount, match="too much"):
        read_amount(Fraction(10**5000, 7))


@given(st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000))
def test_displayed_amount_is_read_back(amount: Fraction) -> None:
    assert read_amount(str(plain(amount))) == amount
