"""What a person saw is what the record shows: the board and the buttons of the page."""

from __future__ import annotations

import msgspec
import pytest

from sally.core.display.scenes import PEOPLE_READ, tell
from sally.core.log.events import Episode, PlayerSpec
from sally.core.registry import registry
from sally.output.files.transcript import transcript
from sally.output.page.transcripts import transcript_of
from sally.runner.local import play
from sally.runner.seating import resolve_setup
from tests.table import table

FORM = "Answer with one"


def played_by_a_person(game: str, **used: str) -> Episode:
    """An episode whose first seat is recorded as a person's."""
    episode = play(resolve_setup(table(game, 4)))
    seat = registry.game(game).build(episode.setup.instance.params).seats[0]
    lineup = {**episode.setup.lineup, seat: PlayerSpec("person")}
    setup = msgspec.structs.replace(episode.setup, lineup=lineup)
    return msgspec.structs.replace(episode, setup=setup, used=used)


@pytest.mark.parametrize("game", sorted(registry.games()))
def test_no_scene_of_a_person_quotes_the_answer_format_of_models(game: str) -> None:
    episode = played_by_a_person(game)
    (seat,) = (s for s, player in episode.setup.lineup.items() if player.player == "person")
    scenes = [s for s in tell(episode).scenes if s.seat == seat and s.question]
    assert scenes and all(scene.format.startswith("[") for scene in scenes)
    assert not any(FORM in text for s in scenes for text in (s.now, s.question, s.format))


def test_scene_of_a_person_has_the_table_and_the_buttons() -> None:
    scenes = [s for s in tell(played_by_a_person("ipd")).scenes if s.question]
    own_scenes = [scene for scene in scenes if scene.seat == "agent"]
    assert own_scenes[0].format == "[J] [F]" and "What a round pays" in own_scenes[0].now
    assert "J: J 8 / 8, F 0 / 10" in own_scenes[0].now
    other_scenes = [scene for scene in scenes if scene.seat == "partner"]
    assert FORM in other_scenes[0].format and other_scenes[0].now == "This is round 1."


def test_transcript_and_page_quote_the_persons_page() -> None:
    episode = played_by_a_person("ipd")
    assert "What a round pays" in "\n".join(transcript(episode, "agent"))
    assert "[J] [F]" in str(transcript_of(episode))


def test_words_that_a_study_gave_people_are_those_of_the_transcript() -> None:
    ours, models = (tell(played_by_a_person("ipd", **u)) for u in ({}, {PEOPLE_READ: "models"}))
    assert "Option J" in models.rules["agent"] and ours.rules["agent"] != models.rules["agent"]
