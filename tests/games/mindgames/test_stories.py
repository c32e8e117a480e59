"""The stories carry the attributes of the protocol and nothing of a mind where there is none."""

import re

import pytest

from sally.games.mindgames.stories import stories, story

ATTRIBUTES = {
    ("safety and control", "development speed", "public trust"),
    ("scientific advancement", "commercial opportunities", "lunar environment"),
    ("energy production", "marine ecosystems", "coastal economies"),
    ("student achievement", "teacher satisfaction", "economic competitiveness"),
    ("cost to school", "student choice", "animal suffering"),
}


def test_five_stories_are_about_policy_and_one_about_metals() -> None:
    assert {s.attributes for s in stories() if s.mental} == ATTRIBUTES
    (metals,) = [s for s in stories() if not s.mental]
    assert metals.attributes == ("cesium", "molybdenum", "selenium")
    assert metals.names().noun == "choice"


def test_non_mental_story_uses_no_mental_terms() -> None:
    metals = story("metals")
    text = f"{metals.text} {metals.target}".lower()
    assert not re.search(r"think|believ|want|prefer|know|mind|player|person", text)


def test_no_story_gives_away_an_order_of_the_proposals() -> None:
    for current_story in stories():
        assert not re.search(r"\b[ABC]\b", current_story.text.replace("A ", "", 1))


def test_unknown_story_is_refused_with_a_list_of_stories() -> None:
    with pytest.raises(KeyError, match="language_models"):
        story("weather")
