"""Learn from OpenEnv's observations: the reward of each step teaches that step alone.

python openenv_turns.py --model smollm2 --seconds 600 --out out/openenv
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from learner import PACK, Curve, Learner, less_the_mean, problems
from openenv_server import GameEnvironment, ReplyAction

from sally.core.rules.chance import Stream


def main(args: Sequence[str] | None = None) -> list[float]:
    """Train, and return the mean reward of each step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2", help="known weights, or a folder")
    parser.add_argument("--out", type=Path, default=Path("out/openenv"))
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--group", type=int, default=8, help="sessions of one task")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--control", action="store_true", help="deal rewards at random")
    given = parser.parse_args(args)
    learner = Learner(given.model, given.rate, given.seed)
    control = Stream("control", given.seed) if given.control else None
    asked = {"split": problems(), "strategy": "chat", "pack": PACK, "retries": 0}
    curve = Curve(given.out)
    sessions = [GameEnvironment("ipd", **asked) for _ in range(given.group)]
    for step in curve.steps(given.steps, given.seconds):
        index = step % sessions[0].num_tasks("train")
        seen = [session.reset(seed=step, split="train", index=index) for session in sessions]
        said, rewards = [], []
        while not seen[0].done:  # all sessions of a task have the same turns
            talks = [[{"role": "user", "content": each.page}] for each in seen]
            now = learner.replies(talks)
            seen = [
                session.step(ReplyAction(text=reply.text))
                for session, reply in zip(sessions, now, strict=True)
            ]
            said.append(now)
            rewards.append([float(each.reward or 0.0) for each in seen])
        credit = less_the_mean(rewards, control)
        learner.learn(
            [reply for turn in said for reply in turn], [a for turn in credit for a in turn]
        )
        curve.add(sum(map(sum, rewards)) / sum(map(len, rewards)))
    curve.finish()
    return curve.values


if __name__ == "__main__":
    main()
