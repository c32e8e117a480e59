"""Learn from verifiers' traces, one for each seat: one policy takes both seats of a game.

    python verifiers_seats.py --model smollm2 --seconds 600 --out out/verifiers

The model answers at an address of its own, as verifiers expects. Each seat's trace lists the reward
of its turns, and each turn is compared with the same turn of the same seat in its group.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from learner import PACK, ChosenReply, Curve, Learner, less_the_mean, problems

from sally.adapters.trainers.verifiers import GamesConfig, seats_env, turns_of
from sally.core.rules.chance import Stream

# A seat gains by its second move whatever the other does, and so does the other. In a game of
# agreement the control rises too: one policy in both seats agrees with itself once it has drifted
# to either option.
GAME, MATRIX = "repeated_games", (((2, 2), (3, 5)), ((5, 3), (6, 6)))


@contextmanager
def serve(learner: Learner, replies_by_id: dict[str, ChosenReply]) -> Iterator[str]:
    """Serve the learner; `replies_by_id` keeps every reply by its own id, which is
    sent as the reply's."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            talk = [{"role": m["role"], "content": m["content"]} for m in request["messages"]]
            with lock:
                (reply,) = learner.replies([talk])
                replies_by_id[json.dumps(talk) + reply.text] = reply
            body: dict[str, Any] = {"id": "x", "object": "chat.completion", "created": 1}
            message = {"role": "assistant", "content": reply.text}
            body["model"] = request["model"]
            body["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
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
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def turns(trace: Any, replies_by_id: dict[str, ChosenReply]) -> list[tuple[ChosenReply, float]]:
    """The replies of a trace with the reward of each; a retried turn counts with its last reply."""
    rated_replies = []
    for turn in turns_of(trace):
        path, node = [], turn["nodes"][-1]
        text = trace.nodes[node].message.content or ""
        while (node := trace.nodes[node].parent) is not None:
            path.append(trace.nodes[node].message)
        talk = [{"role": m.role, "content": m.content} for m in reversed(path)]
        rated_replies.append((replies_by_id[json.dumps(talk) + text], float(turn["reward"])))
    return rated_replies


async def play_group(env: Any, address: str, task: Any, group: int) -> list[Any]:
    client = vf.EvalClientConfig(base_url=address, api_key_var="SALLY_NO_KEY")
    model = vf.ModelContext(model="learner", client=client)
    episodes = [await env.run_episode(task, model) for _ in range(group)]
    return [episode for episode in episodes if episode.ok]


async def train(options: argparse.Namespace) -> list[float]:
    learner = Learner(options.model, options.rate, options.seed)
    control = Stream("control", options.seed) if options.control else None
    split = problems(GAME, rounds=1, matrix=MATRIX)
    learner.warm_up(GAME, options.warm_up, split=split, strategy="chat", pack=PACK)
    curve = Curve(options.out)
    env_class, config = seats_env(GAME, split=split)
    taskset = GamesConfig(id="sally-verifiers", game=GAME, count=64)
    env = env_class(config(taskset=taskset, pack=PACK, misreadings=0))
    tasks = list(env.taskset)
    replies_by_id: dict[str, ChosenReply] = {}
    with serve(learner, replies_by_id) as address:
        async with env.serving():
            for step in curve.steps(options.steps, options.seconds):
                replies_by_id.clear()
                task = tasks[step % len(tasks)]
                episodes = await play_group(env, address, task, options.group)
                by_seat = [
                    [turns(t, replies_by_id) for t in episode.traces] for episode in episodes
                ]
                grouped = [
                    list(turn_group)
                    for seat in zip(*by_seat, strict=True)  # the same seat of every episode
                    for turn_group in zip(*seat, strict=False)  # the same turn of it
                ]
                rewards = [[reward for _, reward in turn_group] for turn_group in grouped]
                replies = [reply for turn_group in grouped for reply, _ in turn_group]
                if not replies:
                    continue
                learner.learn(
                    replies, [a for turn in less_the_mean(rewards, control) for a in turn]
                )
                curve.add(sum(map(sum, rewards)) / len(replies))
    curve.finish()
    return curve.values


def main(args: Sequence[str] | None = None) -> list[float]:
    """Train, and return the mean reward of each step."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="smollm2", help="known weights, or a folder")
    parser.add_argument("--out", type=Path, default=Path("out/verifiers"))
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--group", type=int, default=4, help="episodes of one task")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--warm-up", type=int, default=10, help="steps that even out the options")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--control", action="store_true", help="deal rewards at random")
    options = parser.parse_args(args)
    os.environ.setdefault("SALLY_NO_KEY", "none")
    return asyncio.run(train(options))


if __name__ == "__main__":
    main()
