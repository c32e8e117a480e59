"""Train with TRL's GRPOTrainer on single turns: a group shares an episode's past.

python trl_turns.py --model smollm2 --steps 16 --out out/trl
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from learner import PACK, Curve, Learner, problems
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer
from trl_rollouts import TurnRollouts

from sally.core.rules.chance import Stream


class Watch(TrainerCallback):
    """Adds the mean reward that the trainer logs to the curve, and stops when time is up."""

    def __init__(self, curve: Curve, seconds: float) -> None:
        self._curve, self._left = curve, curve.steps(10**9, seconds)

    def on_log(self, args, state, control, logs=None, **kwargs):  # type: ignore[no-untyped-def]
        if logs and "reward" in logs:
            self._curve.add(float(logs["reward"]))
            if next(self._left, None) is None:
                control.should_training_stop = True


def main(args: Sequence[str] | None = None) -> list[float]:
    """Train, and return the mean reward of each step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2", help="known weights, or a folder")
    parser.add_argument("--out", type=Path, default=Path("out/trl"))
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--group", type=int, default=4, help="replies to one past")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--warm-up", type=int, default=12, help="steps that teach the form")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--control", action="store_true", help="deal rewards at random")
    options = parser.parse_args(args)
    torch.manual_seed(options.seed)
    learner = Learner(options.model, 3e-4, options.seed)
    split = problems(mixed=False)  # a step is one turn of one game, so games must not differ
    learner.warm_up("ipd", options.warm_up, split=split, strategy="chat", pack=PACK)
    rollouts = TurnRollouts("ipd", turns=2, problems=split, pack=PACK, max_new_tokens=4)
    curve = Curve(options.out)

    def deal_rewards(**columns: Any) -> list[float | None]:
        """Return the rewards of a group, each given to a member at random."""
        rewards = rollouts.reward(**columns)
        return Stream("control", options.seed, len(curve.values)).shuffled(rewards)

    trainer = GRPOTrainer(
        learner.model,
        deal_rewards if options.control else rollouts.reward,
        GRPOConfig(
            str(options.out),
            max_steps=options.steps,
            per_device_train_batch_size=options.group,
            num_generations=options.group,
            learning_rate=options.rate,
            lr_scheduler_type="constant",
            logging_steps=1,
            report_to=[],
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            save_strategy="no",
            seed=options.seed,
        ),
        Dataset.from_list(rollouts.rows(min(options.steps, 512), options.seed)),
        processing_class=learner.tokenizer,
        rollout_func=rollouts,
        callbacks=[Watch(curve, options.seconds)],
    )
    trainer.train()
    curve.finish()
    return curve.values


if __name__ == "__main__":
    main()
