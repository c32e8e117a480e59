"""With many players the profile is two lists, and the text above describes lists."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib.backends.backend_agg")

from sally.output.page.profile import MANY, profile_section
from tests.output.test_figures import row


def test_text_describes_the_layout_for_few_or_many_players() -> None:
    few = str(profile_section([row(f"p{n}") for n in range(3)], lambda row: None))
    assert "Horizontal: how often" in few and "Two lists" not in few
    many = str(profile_section([row(f"p{n}") for n in range(MANY + 18)], lambda row: None))
    assert "Two lists" in many and "Horizontal: how often" not in many
    assert 'class="whole"' in many and "doing and knowing, sorted by doing" in many
