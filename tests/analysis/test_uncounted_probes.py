"""Questions about the world and questions about a mind are distinguished wherever knowing is drawn.

Literal and functional have riemer2025's meaning and are not used for this distinction.
"""

from __future__ import annotations

from sally.analysis.profile.knowing import uncounted_probes_note


def test_where_the_item_is_concerns_the_world_and_what_the_user_saw_concerns_a_mind() -> None:
    note = uncounted_probes_note("pick_the_right_stuff")
    assert "about a mind: state_last_seen" in note
    assert "true_box is about the world and not counted" in note
    assert "literal" not in note and "functional" not in note


def test_a_game_that_asks_about_minds_alone_needs_no_note() -> None:
    assert uncounted_probes_note("rps") == ""
