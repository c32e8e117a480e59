"""Games on an OpenEnv server; skipped if OpenEnv is not installed."""

from __future__ import annotations

import pytest

pytest.importorskip("openenv.core", reason="needs openenv")

from openenv_server import GameEnvironment, ReplyAction, app_of

from sally.core.errors import BadInput


def test_episode_in_process():
    env = GameEnvironment("ipd")
    observation = env.reset(seed=4)
    assert "This is round 1." in observation.page and observation.kind == "move"
    names = env.env.task.instance.params["names"]
    while not observation.done:
        observation = env.step(ReplyAction(text=f"Option: {names[0]}"))
    assert observation.columns["format"] == 0.0 and env.state.step_count == 10
    with pytest.raises(BadInput, match="The episode is over"):
        env.step(ReplyAction(text="Option: J"))


def test_tasks_are_named_without_their_partner():
    env = GameEnvironment("rps")
    assert env.list_splits() == ["train", "validation", "held_out"]
    assert env.num_tasks("held_out") == 4 == len(env.list_tasks("held_out"))
    assert "previous" not in str(env.list_tasks("held_out"))
    first = env.reset(split="held_out", index=2, seed=1).page
    assert first == GameEnvironment("rps").reset(split="held_out", index=2, seed=1).page
    with pytest.raises(BadInput, match="index must be from 0 to 3"):
        env.reset(split="held_out", index=9)


def test_server_app_answers_reset():
    from starlette.testclient import TestClient

    with TestClient(app_of("ipd")) as client:
        answer = client.post("/reset", json={"seed": 4})
        assert answer.status_code == 200 and "round 1" in answer.text
