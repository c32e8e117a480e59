"""Train with TRL's GRPOTrainer on single turns: a group shares an episode's past.

python trl_turns.py --model smollm2 --steps 16 --out out/trl
"""

from __future__ import annotations

import argparse
from pathlib import Path

from datasets import Dataset
from learner import PACK, Curve, Learner, problems
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from sally.adapters.trainers.trl import TurnRollouts


class Watch(TrainerCallback):
    """Adds the mean reward that the trainer logs to the curve, and stops when time is up."""

    def __init__(self, curve: Curve, seconds: float) -> None:
        self._curve, self._left = curve, curve.steps(10**9, seconds)

    def on_log(self, args, state, control, logs=None, **more):  # type: ignore[no-untyped-def]
        if logs and "reward" in logs:
            self._curve.add(float(logs["reward"]))
            if next(self._left, None) is None:
                control.should_training_stop = True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2", help="known weights, or a folder")
    parser.add_argument("--out", type=Path, default=Path("out/trl"))
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--group", type=int, default=8, help="replies to one past")
    parser.add_argument("--rate", type=float, default=3e-5)
    parser.add_argument("--warm-up", type=int, default=8, help="steps that teach the form")
    given = parser.parse_args()
    learner = Learner(given.model, given.rate)
    learner.warm_up("ipd", given.warm_up, split=problems(), strategy="chat", pack=PACK)
    rollouts = TurnRollouts("ipd", turns=2, problems=problems(), pack=PACK, max_new_tokens=6)
    curve = Curve(given.out)
    trainer = GRPOTrainer(
        learner.model,
        rollouts.reward,
        GRPOConfig(
            str(given.out),
            max_steps=given.steps,
            per_device_train_batch_size=given.group,
            num_generations=given.group,
            learning_rate=given.rate,
            lr_scheduler_type="constant",
            logging_steps=1,
            report_to=[],
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            save_strategy="no",
        ),
        Dataset.from_list(rollouts.rows(min(given.steps, 512))),
        processing_class=learner.tokenizer,
        rollout_func=rollouts,
        callbacks=[Watch(curve, given.seconds)],
    )
    trainer.train()
    curve.finish()


if __name__ == "__main__":
    main()
