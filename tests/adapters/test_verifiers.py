"""The door to verifiers (v1): whole rollouts through its own interception, with a model of ours."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("verifiers.v1", reason="needs sally-lab[verifiers]")

import verifiers.v1 as vf

from sally.adapters.trainers.text import TextEnv
from sally.adapters.trainers.verifiers import (
    GameEnv,
    GameEnvConfig,
    GamesConfig,
    credit_turns,
    seats_env,
    turns_of,
)
from sally.core.errors import BadInput
from sally.core.log.events import from_line
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from tests.adapters.tutorial import example

Says = Callable[[list[dict[str, str]]], str]


@contextmanager
def served(says: Says, finish: str = "stop") -> Iterator[tuple[str, list]]:
    """A model at an address, and what it was sent."""
    recorded: list = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked_data = json.loads(self.rfile.read(int(self.headers["content-length"])))
            recorded.append(asked_data["messages"])
            reply = {"role": "assistant", "content": says(asked_data["messages"])}
            body = {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": asked_data["model"],
            }
            body["choices"] = [{"index": 0, "message": reply, "finish_reason": finish}]
            body["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", recorded
    finally:
        server.shutdown()
        server.server_close()


def rolled_out(says: Says, finish: str = "stop", player=None, **given_options) -> tuple:
    """One rollout of the first task, and what the model was sent."""
    seat = {"player": vf.AgentConfig(runtime={"type": "subprocess"}, **player)} if player else {}
    taskset = GamesConfig(id="sally-verifiers", game="ipd", count=2)
    env = GameEnv(GameEnvConfig(taskset=taskset, **seat, **given_options))

    async def run(address: str) -> vf.Episode:
        client = vf.EvalClientConfig(base_url=address, api_key_var="SALLY_NO_KEY")
        async with env.serving():
            task = next(iter(env.taskset))
            return await env.run_episode(task, vf.ModelContext(model="stub", client=client))

    with served(says, finish) as (address, requests):
        return asyncio.run(run(address)), requests


@pytest.fixture(autouse=True)
def _a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SALLY_NO_KEY", "x")


def names() -> list[str]:
    env = TextEnv("ipd")
    env.reset(next(iter(GameEnv(GameEnvConfig(taskset=_games())).taskset)).data.seed)
    return list(env.task.instance.params["names"])


def _games(**given_options) -> GamesConfig:
    return GamesConfig(id="sally-verifiers", game="ipd", **given_options)


def test_rollout_contains_a_sally_episode_record():
    second = names()[1]
    episode, requests = rolled_out(lambda messages: f"Option: {second}")
    assert episode.ok and not episode.errors
    (trace,) = episode.traces
    assert trace.num_turns == len(requests) == 10 and trace.num_branches == 1
    assert trace.rewards["format"].score == 0 and trace.rewards["regret"].score <= 0
    assert trace.metrics["payoff"] > 0 and "payoff" not in trace.rewards
    kept_episode = from_line(trace.info["sally_episode"].encode())
    final = replay_episode(registry.game("ipd"), kept_episode).states[-1]
    assert final.agent_total == trace.metrics["payoff"]


def test_model_receives_same_messages_as_in_evaluation():
    first = names()[0]
    episode, requests = rolled_out(lambda messages: f"Option: {first}")
    env = TextEnv("ipd", strategy="chat")
    env.reset(episode.task.data.seed)
    for sent in requests:
        assert [m["content"] for m in sent] == [m.text for m in env.asked.messages]
        env.step(f"Option: {first}")
    assert env.asked is None


def test_probes_have_separate_trace_that_is_not_trained_on():
    first, second = names()

    def says(messages: list[dict[str, str]]) -> str:
        aside = "Option:" not in messages[-1]["content"]
        return f"{first}: 60\n{second}: 40" if aside else f"Option: {first}"

    episode, _ = rolled_out(says, probes=["their_odds"])
    traces = {trace.agent.name: trace for trace in episode.traces}
    assert traces["player"].agent.trainable and not traces["prober"].agent.trainable
    assert traces["player"].num_turns == traces["prober"].num_turns == 10
    assert "60" not in traces["player"].transcript
    assert 0 < traces["player"].metrics["belief"] < 10


def test_unreadable_reply_is_tried_again_and_then_forfeited():
    episode, requests = rolled_out(
        lambda messages: "whatever", misreadings=1, weights={"format": 2}
    )
    assert episode.errors[0].message.endswith("has no result: forfeits.")
    assert len(requests) % 2 == 0 and not episode.ok


def test_cut_reply_is_not_read_as_a_whole_one():
    first = names()[0]
    episode, _ = rolled_out(lambda messages: f"Option: {first}", finish="length", misreadings=0)
    assert "no result: forfeits" in episode.errors[0].message


def test_rollout_that_is_stopped_has_no_reward():
    first = names()[0]
    episode, _ = rolled_out(lambda messages: f"Option: {first}", player={"max_turns": 3})
    assert not episode.ok and "no result: limit" in episode.errors[0].message
    assert not episode.traces[0].rewards


def test_tutorials_code_runs(monkeypatch, capsys):
    code = example("verifiers")
    monkeypatch.setenv("KEY", "x")
    with served(lambda messages: "Option: " + options(messages)[0]) as (address, requests):
        exec(code.replace("http://127.0.0.1:8000/v1", address), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 2 and all("'regret'" in line for line in printed) and len(requests) == 20


def options(messages: list[dict[str, str]]) -> tuple[str, ...]:
    return re.findall(r"<(\w) or (\w)>", messages[-1]["content"])[-1]


def test_tasks_differ_by_seed_and_do_not_name_the_partner():
    tasks = list(GameEnv(GameEnvConfig(taskset=_games(count=3, part="held_out"))).taskset)
    assert len({task.data.seed for task in tasks}) == 3
    assert "tit_for" not in str([task.data for task in tasks])
    with pytest.raises(BadInput, match="part of the split"):
        list(GameEnv(GameEnvConfig(taskset=_games(part="exam"))).taskset)


def test_strategy_that_needs_scores_is_refused():
    episode, requests = rolled_out(lambda messages: "J", strategy="lm")
    assert not requests and "needs scores" in episode.errors[0].message


# --- several seats --------------------------------------------------------------------------------


def seats_played(says: Says, game: str = "ipd", **given_options) -> tuple:
    """One episode with an agent in every seat, and what each was sent."""
    cls, config = seats_env(game)
    taskset = GamesConfig(id="sally-verifiers", game=game, count=1)
    env = cls(config(taskset=taskset, **given_options))

    async def run(address: str) -> vf.Episode:
        client = vf.EvalClientConfig(base_url=address, api_key_var="SALLY_NO_KEY")
        async with env.serving():
            task = next(iter(env.taskset))
            return await env.run_episode(task, vf.ModelContext(model="stub", client=client))

    with served(says) as (address, requests):
        return asyncio.run(run(address)), requests


def test_every_seat_has_a_trace_and_the_reward_of_each_turn():
    episode, requests = seats_played(lambda messages: f"Option: {options(messages)[1]}")
    assert episode.ok, episode.errors
    traces = {trace.agent.name: trace for trace in episode.traces}
    assert set(traces) == {"agent", "partner"} and len(requests) == 20
    for trace in traces.values():
        turns = turns_of(trace)
        assert [turn["reward"] for turn in turns] == [5.0] * 10  # both defect
        assert trace.rewards["payoff"].score == 50 and trace.agent.trainable
        assert all(trace.nodes[place].sampled for turn in turns for place in turn["nodes"])
    kept_episode = from_line(traces["agent"].info["sally_episode"].encode())
    assert replay_episode(registry.game("ipd"), kept_episode).states[-1].partner_total == 50


def test_fixed_seat_is_not_trained_on_and_a_seat_may_have_another_model():
    other_fields = {"model": "other", "runtime": {"type": "subprocess"}}
    episode, _ = seats_played(
        lambda messages: f"Option: {options(messages)[0]}", fixed=("partner",), partner=other_fields
    )
    traces = {trace.agent.name: trace for trace in episode.traces}
    assert traces["agent"].agent.trainable and not traces["partner"].agent.trainable
    kept_episode = from_line(traces["agent"].info["sally_episode"].encode())
    models = {seat: player.params["model"] for seat, player in kept_episode.setup.lineup.items()}
    assert models == {"agent": "trained:stub", "partner": "trained:other"}


def test_advantage_of_a_turn_stays_on_its_own_message():
    episode, _ = seats_played(lambda messages: f"Option: {options(messages)[0]}")
    trace = episode.traces[0]
    turns = turns_of(trace)
    for node in trace.nodes:  # as a training client fills them in
        node.token_ids, node.mask = [1, 2, 3], [False, node.sampled, node.sampled]
    credit_turns(trace, [0.0, 0.0, 7.0, *[0.0] * 7])
    (own_node,) = turns[2]["nodes"]
    assert trace.nodes[own_node].advantages == [7.0, 7.0]
    (branch,) = trace.branches
    assert sum(branch.advantages) == 14.0
    assert all(
        set(node.advantages or [0.0]) == {0.0}
        for n, node in enumerate(trace.nodes)
        if n != own_node
    )
    with pytest.raises(BadInput, match="2 advantages were given for 10 turns"):
        credit_turns(trace, [1.0, 2.0])


def test_stored_run_of_several_agents_is_replayed_and_given_advantages(tmp_path):
    from verifiers.v1.configs.agent import WireAgentConfig
    from verifiers.v1.state import State
    from verifiers.v1.task import WireTaskData
    from verifiers.v1.utils.trace_store import read_episodes, write_episode

    from sally.adapters.trainers.verifiers_runs import replay_run, write_run

    for place in (0, 1):
        episode, _ = seats_played(
            lambda messages, place=place: f"Option: {options(messages)[place]}"
        )
        for trace in episode.traces:
            for node in trace.nodes:  # as a training client fills them in
                node.token_ids, node.mask = [1, 2, 3], [False, node.sampled, node.sampled]
                node.logprobs = [-0.5] * sum(node.mask)
        write_episode(tmp_path, episode)
    replay = replay_run(tmp_path)
    assert replay.problems == [] and len(replay.seats) == 4
    write_run(replay, tmp_path / "out")
    stored = read_episodes(tmp_path / "out", vf.Trace[WireTaskData, State, WireAgentConfig])
    rewards = {(e.id, t.agent.name): t.reward for e in stored for t in e.traces}
    for rollout in stored:
        for trace in rollout.traces:
            same_role = [r for (_, role), r in rewards.items() if role == trace.agent.name]
            advantage = trace.reward - sum(same_role) / 2
            assert advantage != 0
            (branch,) = trace.branches
            is_sampled = [part for node in branch.nodes for part in node.mask]
            assert branch.advantages == [
                pytest.approx(advantage) if sampled else 0.0 for sampled in is_sampled
            ]
