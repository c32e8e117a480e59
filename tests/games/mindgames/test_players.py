"""A model as the reader: two structured calls a message, logged, retried, and replayed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Censored, Episode, Instance, Moved, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.prompt.model import Message
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.mindgames import GAME
from sally.games.mindgames.rules import MindGame
from sally.models.stub import Scripted as ScriptedModel
from sally.runner.check import check
from sally.runner.seating import players_of, resolve_setup, seat_player
from tests.games.mindgames.table import PUZZLE, X, Y, run

STATED = {"disclosures": [{"proposal": "A", "attribute": Y, "utility": 1}]}
WANTED = {"motivational": [X], "informational": [], "inferential": ["A", "B", "C"]}


def game_with(script: Any) -> Episode:
    """A game whose reader is a scripted model."""
    registry.add("models", "reading", lambda name: ScriptedModel(script, name=name))
    registry._make_model.cache_clear()
    reader = PlayerSpec("model", {"model": "reading"})
    lineup = {"persuader": PlayerSpec("silent"), "reader": reader}
    problem = Instance("t", "mindgames", {"puzzle": json_of(PUZZLE), "messages": 2})
    match: Match = Match(GAME, resolve_setup(Setup(problem, 1, lineup)))
    return run(match, players_of(match))


def json_of(puzzle: Any) -> Any:
    return msgspec.to_builtins(puzzle)


def render_page(messages: Sequence[Message]) -> str:
    return messages[-1].text


def by_part(messages: Sequence[Message], settings: Any) -> str:
    """The first call asks for statements, the second for questions."""
    return json.dumps(
        STATED if "What does this last message state?" in render_page(messages) else WANTED
    )


def test_reading_takes_two_calls_and_replays_without_a_model() -> None:
    episode = game_with(by_part)
    first = next(e for e in episode.events if isinstance(e, Moved) and e.seat == "reader")
    assert [call.purpose for call in first.calls] == ["disclosures", "appeals"]
    assert first.action.disclosures[0].attribute == Y
    assert first.action.inferential == ("A", "B", "C")
    checked = check([episode])
    assert (checked.replayed, checked.mismatches, checked.unchecked) == (1, [], [])


def test_each_call_sees_the_conversation_but_not_the_targets_state() -> None:
    pages: list[str] = []

    def watch(messages: Sequence[Message], settings: Any) -> str:
        pages.append(render_page(messages))
        return by_part(messages, settings)

    game_with(watch)
    assert len(pages) == 4
    assert "The message to be read: Thank you." in pages[0]
    assert "Persuader: Thank you." not in pages[1] and "Persuader: Thank you." in pages[2]
    assert "I dislike" not in pages[0]
    table = GAME.words(MindGame(), GAME.texts)._table  # type: ignore[attr-defined]
    assert "increases" not in pages[0] and table(PUZZLE.utilities) not in pages[0]


def test_schema_is_sent_with_each_reading_call() -> None:
    texts: list[str] = []

    def watch(messages: Sequence[Message], settings: Any) -> str:
        texts.append(settings.schema)
        return by_part(messages, settings)

    game_with(watch)
    stated = json.loads(texts[0])["properties"]["disclosures"]
    assert stated["items"]["properties"]["proposal"] == {"enum": ["A", "B", "C"]}
    assert stated["maxItems"] == 3 * len(stated["items"]["properties"]["attribute"]["enum"])
    assert list(json.loads(texts[1])["properties"]) == [
        "motivational",
        "informational",
        "inferential",
    ]


def test_invalid_reading_is_retried_and_then_censors_the_episode() -> None:
    asked_texts: list[str] = []

    def stubborn(messages: Sequence[Message], settings: Any) -> str:
        asked_texts.append(render_page(messages))
        return json.dumps({"disclosures": [{"proposal": "D", "attribute": Y, "utility": 1}]})

    episode = game_with(stubborn)
    assert len(asked_texts) == 3 and "'D' is not one of A, B or C" in asked_texts[1]
    end = episode.end
    assert isinstance(end, Censored) and end.cause == "helper"


def test_model_player_is_limited_to_reader_seat_of_mindgames() -> None:
    with pytest.raises(BadInput, match="only in seat 'reader'"):
        seat_player(GAME, MindGame(), Seat("persuader"), PlayerSpec("model"))
    alternative = registry.game("ipd")
    with pytest.raises(BadInput, match="no player of ipd named 'model'"):
        seat_player(alternative, alternative.build(), Seat("agent"), PlayerSpec("model"))
