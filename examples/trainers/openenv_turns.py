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
    options = parser.parse_args(args)
    learner = Learner(options.model, options.rate, options.seed)
    control = Stream("control", options.seed) if options.control else None
    settings = {"split": problems(), "strategy": "chat", "pack": PACK, "retries": 0}
    curve = Curve(options.out)
    sessions = [GameEnvironment("ipd", **settings) for _ in range(options.group)]
    for step in curve.steps(options.steps, options.seconds):
        index = step % sessions[0].num_tasks("train")
        observations = [
            session.reset(seed=step, split="train", index=index) for session in sessions
        ]
        replies, rewards = [], []
        while not observations[0].done:  # all sessions of a task have the same turns
            talks = [
                [{"role": "user", "content": observation.page}] for observation in observations
            ]
            turn_replies = learner.replies(talks)
            observations = [
                session.step(ReplyAction(text=reply.text))
                for session, reply in zip(sessions, turn_replies, strict=True)
            ]
            replies.append(turn_replies)
            rewards.append([float(observation.reward or 0.0) for observation in observations])
        credit = less_the_mean(rewards, control)
        learner.learn(
            [reply for turn in replies for reply in turn], [a for turn in credit for a in turn]
        )
        curve.add(sum(map(sum, rewards)) / sum(map(len, rewards)))
    curve.finish()
    return curve.values


if __name__ == "__main__":
    main()
