"""Learn from OpenEnv's observations: the reward of each step teaches that step alone.

python openenv_turns.py --model smollm2 --seconds 600 --out out/openenv
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from learner import PACK, Curve, Learner, less_the_mean, problems

from sally.adapters.trainers.openenv import GameEnvironment, ReplyAction


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2", help="known weights, or a folder")
    parser.add_argument("--out", type=Path, default=Path("out/openenv"))
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--group", type=int, default=8, help="sessions of one task")
    parser.add_argument("--rate", type=float, default=3e-5)
    parser.add_argument("--warm-up", type=int, default=8, help="steps that teach the form")
    given = parser.parse_args()
    torch.manual_seed(0)
    learner = Learner(given.model, given.rate)
    asked = {"split": problems(), "strategy": "chat", "pack": PACK, "retries": 0}
    learner.warm_up("ipd", given.warm_up, **asked)
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
        credit = less_the_mean(rewards)
        learner.learn(
            [reply for turn in said for reply in turn], [a for turn in credit for a in turn]
        )
        curve.add(sum(map(sum, rewards)) / sum(map(len, rewards)))
    curve.finish()


if __name__ == "__main__":
    main()
