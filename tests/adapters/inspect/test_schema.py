"""`format = schema` over HTTP: the schema is sent with every answer, and the record says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sally import store
from sally.adapters.inspect.run import play_orders
from sally.core.log.events import Forfeited, Moved, Reported
from sally.runner.budget import Meter
from sally.runner.check import check
from sally.runner.config import use_config
from sally.runner.local import play_here
from sally.runner.models import apply_settings
from tests.adapters.inspect.server import Handler, serving
from tests.adapters.inspect.tables import stored, tiny, wanted
from tests.adapters.inspect.test_faults import both, config_for

pytest.importorskip("openai", reason="the server speaks the language of openai-api")


def play_games(reply: str, transport: str, folder: Path, monkeypatch: Any) -> tuple[list[Any], Any]:
    """The requests that a server saw, and the events of the episode."""
    monkeypatch.setenv("FAULTY_KEY", "sk-very-secret-4711")
    recorded = list[Any]()

    def answer(handler: Handler) -> None:
        recorded.append(handler.asked)
        handler.say(reply)

    with serving(always=answer) as server:
        name, config = config_for(server, folder, 1, 60, transport)
        study, _ = apply_settings(tiny(repeats=1), config, {"format": "schema"}, name)
        orders = wanted(study, name, folder / "out")
        if transport == "inspect":
            play_orders("tiny", orders, folder / "out", Meter(config=config), display="none")
        else:
            with store.Writer(folder / "out") as writer:
                play_here(orders, lambda episode, _: writer.add(episode), Meter(config=config))
    use_config(None)
    (episode,) = stored(folder / "out")
    replay_check = check([episode])
    assert (replay_check.replayed, replay_check.mismatches, replay_check.unchecked) == (1, [], [])
    return recorded, episode.events


@both
def test_every_request_carries_its_strict_json_schema(
    transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests, events = play_games('{"option": "F"}', transport, tmp_path, monkeypatch)
    for request in requests:
        sent = request["response_format"]
        assert sent["type"] == "json_schema" and sent["json_schema"]["strict"] is True
        option = sent["json_schema"]["schema"]["properties"]["option"]
        assert (
            option["enum"] == ["J", "F"]
            and '"enum":["J","F"]' in request["messages"][-1]["content"]
        )
    answers = [e for e in events if isinstance(e, Moved | Reported) and e.calls]
    assert len(answers) == len(requests) == 4
    for event in answers:
        assert (event.action if isinstance(event, Moved) else event.value) == 1
        settings = event.calls[-1].settings
        assert settings["format"] == "schema" and json.loads(settings["schema"])["required"]


def test_replies_that_ignore_the_schema_are_forfeits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, events = play_games("Option: F", "server", tmp_path, monkeypatch)
    assert [e.reason for e in events if isinstance(e, Forfeited)] == ["unreadable"] * 2
