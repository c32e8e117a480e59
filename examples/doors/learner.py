"""A small learner for the example scripts: sample replies, then learn from the reward of each turn.

Plain policy gradient on whole replies. Every turn has an advantage of its own: its reward less the
mean of the same turn in its group. No turn is credited with another's reward.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from sally.adapters.trainers.text import TextEnv
from sally.core.log.events import Instance, PlayerSpec
from sally.core.rules.chance import Stream, derived_seed
from sally.core.rules.training import Split, Task
from sally.models import catalogue
from sally.models.hf import loading

PACK = "repeated_games_terse"  # short prompts: a processor reads every token


class Said(NamedTuple):
    """A reply with the tokens it answered."""

    prompt: list[int]
    tokens: list[int]
    text: str


class Learner:
    """The model of a folder, or weights that Sally knows (`smollm2`)."""

    def __init__(self, model: str, rate: float, most: int = 6) -> None:
        folder = model
        if model in catalogue.NAMES:
            folder = str(loading.unpacked(catalogue.have(model), "float32"))
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
        self.model.float().eval()
        self.most = most
        self._optimiser = torch.optim.AdamW(self.model.parameters(), rate, weight_decay=0.0)

    def replies(self, talks: Sequence[Sequence[dict[str, str]]]) -> list[Said]:
        """Sample a reply to each conversation."""
        prompts = [self._tokens(talk) for talk in talks]
        longest, pad = max(map(len, prompts)), self.tokenizer.eos_token_id
        ids = torch.tensor([[pad] * (longest - len(p)) + p for p in prompts])
        seen = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
        with torch.no_grad():
            out = self.model.generate(
                input_ids=ids, attention_mask=seen, max_new_tokens=self.most, do_sample=True,
                temperature=1.0, top_k=0, top_p=1.0, pad_token_id=pad,
            )  # fmt: skip
        found = []
        for prompt, row in zip(prompts, out[:, longest:].tolist(), strict=True):
            tokens = row[: row.index(pad) + 1] if pad in row else row
            text = self.tokenizer.decode(tokens, skip_special_tokens=True)
            found.append(Said(prompt, tokens, text))
        return found

    def warm_up(self, game: str, steps: int, **env: Any) -> None:
        """Teach the form of an answer: random options as replies to a game's first prompts.

        A small model rarely answers in the form that is asked for, and what cannot be read earns
        the same whatever it says. Every option is as likely, so no preference is taught.
        """
        for step in range(steps):
            said = []
            for n in range(8):
                draws = Stream("warm up", step, n)
                asking = TextEnv(game, **env)
                asking.reset(derived_seed("warm up", step, n))
                option = draws.pick(asking.task.instance.params.get("names") or ["J", "F"])
                prompt = self._tokens([{"role": "user", "content": asking.page}])
                text = f"Option: {option}"
                end = [self.tokenizer.eos_token_id]
                tokens = self.tokenizer(text, add_special_tokens=False)["input_ids"] + end
                said.append(Said(prompt, tokens, text))
            self.learn(said, [1.0] * len(said))

    def learn(self, said: Sequence[Said], advantages: Sequence[float]) -> None:
        """One step of the optimiser; replies with an advantage of 0 teach nothing."""
        taught = [(s, a) for s, a in zip(said, advantages, strict=True) if a]
        if not taught:
            return
        self._optimiser.zero_grad(set_to_none=True)
        rows = [s.prompt + s.tokens for s, _ in taught]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
        hidden = self.model.model(input_ids=ids, use_cache=False).last_hidden_state
        loss = torch.zeros(())
        for n, (s, advantage) in enumerate(taught):
            at = range(len(s.prompt) - 1, len(rows[n]) - 1)
            logs = self.model.lm_head(hidden[n, at]).log_softmax(-1)
            loss = loss - advantage * logs.gather(1, torch.tensor(s.tokens)[:, None]).sum()
        (loss / len(said)).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._optimiser.step()

    def _tokens(self, talk: Sequence[dict[str, str]]) -> list[int]:
        text = self.tokenizer.apply_chat_template(
            list(talk), tokenize=False, add_generation_prompt=True
        )
        found: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return found


def problems(rounds: int = 2) -> Split:
    """Short games against partners that are machines, so that regret is exact."""

    def at(**partners: PlayerSpec) -> tuple[Task, ...]:
        return tuple(
            Task(Instance(f"ipd_{name}", "ipd", {"rounds": rounds}), "agent", {"partner": who})
            for name, who in partners.items()
        )

    train = at(
        defects=PlayerSpec("single_action", {"action": 1}), answers=PlayerSpec("tit_for_tat")
    )
    return Split("doors", "short games", {"train": train, "held_out": at(cooperates=_COOPERATES)})


_COOPERATES = PlayerSpec("single_action", {"action": 0})


def less_the_mean(groups: Sequence[Sequence[float]]) -> list[list[float]]:
    """By turn, the reward of each member of a group less the group's mean, over its spread."""
    found = []
    for rewards in groups:
        mean = sum(rewards) / len(rewards)
        spread = (sum((each - mean) ** 2 for each in rewards) / len(rewards)) ** 0.5
        found.append([(each - mean) / (spread + 1e-6) for each in rewards])
    return found


class Curve:
    """The mean reward of a turn, step by step: printed, kept, and drawn if Matplotlib is there."""

    def __init__(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._out, self._began, self.values = out, time.monotonic(), list[float]()

    def add(self, reward: float) -> None:
        """Add the mean reward of a step."""
        self.values.append(reward)
        seconds = round(time.monotonic() - self._began, 1)
        line = json.dumps({"step": len(self.values), "reward": reward, "seconds": seconds})
        print(line, flush=True)
        with (self._out / "curve.jsonl").open("a") as file:
            print(line, file=file)

    def steps(self, most: int, seconds: float) -> Iterator[int]:
        """Count steps until there are enough, or the time is used up."""
        for step in range(most):
            if time.monotonic() - self._began > seconds:
                return
            yield step

    def finish(self) -> None:
        """Say how the first and the last quarter differ, and draw the curve."""
        if not self.values:
            print("no step had an episode with a result")
            return
        part = max(1, len(self.values) // 4)
        first = sum(self.values[:part]) / part
        last = sum(self.values[-part:]) / part
        print(f"reward of a turn: {first:.3f} in the first {part} steps, {last:.3f} in the last")
        try:
            from matplotlib.figure import Figure
        except ImportError:
            return
        figure = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.subplots()
        axes.plot(range(1, len(self.values) + 1), self.values)
        axes.set_xlabel("step")
        axes.set_ylabel("reward of a turn")
        figure.savefig(self._out / "curve.svg")
