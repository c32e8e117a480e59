"""Numbers as moves and as answers: a scale for a menu, and a near miss that counts as one."""

from __future__ import annotations

import pytest

from sally.core.rules.chance import Stream
from sally.core.rules.menu import Whole, span
from sally.core.rules.probe import ProbeReport, Question, corrupt, problem, score

DIAL = Question("dial", "choice", tuple(range(101)), numeric=True)


def test_consecutive_numbers_form_a_scale() -> None:
    assert span((11, 12, 13)) == Whole(11, 13)
    assert span((11, 13)) is None
    assert span((13, 12, 11)) is None
    assert span(("a", "b")) is None
    assert span((False, True)) is None
    assert span(()) is None


def test_question_has_a_scale_only_if_it_asks_for_a_number() -> None:
    assert DIAL.scale == Whole(0, 100)
    assert Question("place", "choice", (0, 1, 2)).scale is None
    assert Question("place", "odds", (0, 1, 2), numeric=True).scale is None


def test_near_miss_is_wrong_with_small_distance() -> None:
    assert score(DIAL, ProbeReport(40), 40)["absolute_error"] == 0
    near_value, far_value = (score(DIAL, ProbeReport(reply), 40) for reply in (42, 90))
    assert near_value["right"] == far_value["right"] == 0
    assert (near_value["absolute_error"], far_value["absolute_error"]) == (2, 50)
    assert "absolute_error" not in score(Question("place", "choice", (0, 1)), ProbeReport(0), 1)


@pytest.mark.parametrize("said", [-1, 101, 40.5, "40", True])
def test_value_off_the_scale_is_refused(said: object) -> None:
    assert problem(DIAL, ProbeReport(said)) is not None  # type: ignore[arg-type]


def test_corrupted_number_is_different_and_on_the_scale() -> None:
    wrong = {corrupt(DIAL, 40, 1.0, Stream("wrong", n)) for n in range(200)}
    assert 40 not in wrong
    assert wrong <= set(DIAL.choices)
