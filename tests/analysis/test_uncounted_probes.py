"""Questions about the world and questions about a mind are distinguished wherever knowing is drawn.

Literal and functional have riemer2025's meaning and are not used for this distinction.
"""

from __future__ import annotations

from sally.frames.knowing import uncounted_probes_note


def test_note_separates_world_probes_from_mind_probes() -> None:
    note = uncounted_probes_note("pick_the_right_stuff")
    assert "about a mind: state_last_seen" in note
    assert "true_box is about the world and not counted" in note
    assert "literal" not in note and "functional" not in note


def test_game_with_only_mind_probes_has_no_note() -> None:
    assert uncounted_probes_note("rps") == ""
