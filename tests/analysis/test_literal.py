"""Questions of the world and questions of minds are told apart wherever knowing is drawn."""

from __future__ import annotations

from sally.analysis.profile.knowing import literal_note


def test_where_the_item_is_is_literal_and_what_the_user_saw_is_not() -> None:
    note = literal_note("pick_the_right_stuff")
    assert "functional: state_last_seen" in note and "true_box, of the world, is literal" in note


def test_a_game_that_asks_of_minds_alone_needs_no_note() -> None:
    assert literal_note("rps") == ""
