"""A small learner for the example scripts: choose an option, then learn from each turn's reward.

Plain policy gradient. The policy is the model's distribution over the options that the prompt
names. Every turn has an advantage of its own: its reward less the mean of the same turn in its
group. No turn is credited with another's reward.

Only the last layers are trained. The frozen layers below them are computed once for each distinct
text, which is why a processor suffices: short games repeat their texts.
"""

from __future__ import annotations

import json
import re
import resource
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from sally.adapters.trainers.text import TextEnv
from sally.core.log.events import Instance, PlayerSpec
from sally.core.rules.chance import Stream, derived_seed
from sally.models import catalogue
from sally.models.hf import loader
from sally.parts.training import Split, Task

PACK = "repeated_games_terse"  # short prompts: a processor reads every token
TRAINED = 2  # layers, counted from the end
KEPT = 512  # texts whose frozen layers are remembered


class ChosenReply(NamedTuple):
    """A reply with the tokens it answered, and the replies that it was chosen from."""

    prompt: tuple[int, ...]
    options: tuple[tuple[int, ...], ...]
    place: int
    text: str


class Frozen(torch.nn.Module):
    """Layers that are not trained; their output is remembered for each row of a batch."""

    _known: ClassVar[dict[bytes, torch.Tensor]] = {}  # shared by the runs of one process

    def __init__(self, layers: torch.nn.ModuleList) -> None:
        super().__init__()
        self.layers = layers.requires_grad_(False)

    @torch.no_grad()
    def forward(self, hidden: torch.Tensor, **inputs: Any) -> torch.Tensor:
        """Return the output of the last of these layers."""
        mask, turned = inputs.get("attention_mask"), inputs["position_embeddings"]

        def row(batch: torch.Tensor, n: int) -> torch.Tensor:
            return batch[n : n + 1] if len(batch) == len(hidden) else batch

        parts = [hidden, turned[0], *([] if mask is None else [mask])]
        keys = [
            blake2b(
                b"".join(row(part, n).contiguous().numpy().tobytes() for part in parts)
            ).digest()
            for n in range(len(hidden))
        ]
        if len(self._known) + len(keys) > KEPT:
            self._known.clear()
        for n, key in enumerate(keys):
            if key in self._known:
                continue
            out = row(hidden, n)
            row_inputs = {
                "attention_mask": None if mask is None else row(mask, n),
                "position_embeddings": tuple(row(part, n) for part in turned),
            }
            for layer in self.layers:
                out = layer(out, **{**inputs, **row_inputs})
            self._known[key] = out[0]
        return torch.stack([self._known[key] for key in keys])


class Learner:
    """The model of a folder, or weights that Sally knows (`smollm2`)."""

    def __init__(self, model: str, rate: float, seed: int = 0) -> None:
        folder = model
        if model in catalogue.NAMES:
            folder = str(loader.unpack_gguf(catalogue.have(model), "float32"))
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
        self.model.float().eval().requires_grad_(False)
        self.model.generation_config.use_cache = False  # a frozen text is remembered as a whole
        layers = self.model.model.layers
        trained = layers[-TRAINED:].requires_grad_(True)
        frozen = [Frozen(layers[:-TRAINED])] if len(layers) > TRAINED else []
        self.model.model.layers = torch.nn.ModuleList([*frozen, *trained])
        self._optimiser = torch.optim.AdamW(trained.parameters(), rate, weight_decay=0.0)
        self._draws = torch.Generator().manual_seed(seed)

    def replies(self, talks: Sequence[Sequence[dict[str, str]]]) -> list[ChosenReply]:
        """Choose a reply to each conversation among those that its last message allows."""
        questions = [(self._tokens(talk), *options_in(talk[-1]["content"])) for talk in talks]
        rows = dict.fromkeys((prompt, self._encode(texts)) for prompt, *texts in questions)
        with torch.no_grad():
            odds = dict(zip(rows, self._log_odds(list(rows)), strict=True))
        replies = []
        for prompt, *texts in questions:
            options = self._encode(texts)
            weights = odds[prompt, options].exp()
            place = int(torch.multinomial(weights, 1, generator=self._draws))
            replies.append(ChosenReply(prompt, options, place, texts[place]))
        return replies

    def learn(self, replies: Sequence[ChosenReply], advantages: Sequence[float]) -> None:
        """One step of the optimiser; replies with an advantage of 0 teach nothing."""
        rows = dict.fromkeys(
            (s.prompt, s.options) for s, a in zip(replies, advantages, strict=True) if a
        )
        if not rows:
            return
        odds = dict(zip(rows, self._log_odds(list(rows)), strict=True))
        gains = [
            advantage * odds[s.prompt, s.options][s.place]
            for s, advantage in zip(replies, advantages, strict=True)
            if advantage
        ]
        self._step(-torch.stack(gains).sum() / len(replies))

    def warm_up(self, game: str, steps: int, **env: Any) -> None:
        """Teach the form of an answer: every option, equally likely, as reply to the first prompt.

        A trainer that samples freely needs it: a small model rarely answers in the form that is
        asked for, and what cannot be read earns the same whatever it says. It also evens out the
        model's liking for the first option.
        """
        asking = TextEnv(game, **env)
        for step in range(steps):
            asking.reset(derived_seed("warm up", step))
            prompt = self._tokens([{"role": "user", "content": asking.page}])
            options = self._encode(options_in(asking.page), [self.tokenizer.eos_token_id])
            self._step(-self._log_probs([(prompt, option) for option in options]).mean())

    def _log_odds(self, rows: Sequence[tuple[Any, Any]]) -> list[torch.Tensor]:
        """Return the log-probability of each option, given that one of them is chosen."""
        flat = [(prompt, option) for prompt, options in rows for option in options]
        log_probs = self._log_probs(flat).split([len(options) for _, options in rows])
        return [logs.log_softmax(-1) for logs in log_probs]

    def _log_probs(self, rows: Sequence[tuple[Any, Any]]) -> torch.Tensor:
        """Return the summed log-probability of the tokens that follow each prompt."""
        longest = max(len(prompt) + len(tokens) for prompt, tokens in rows)
        ids = torch.tensor([[*p, *t, *[0] * (longest - len(p) - len(t))] for p, t in rows])
        hidden = self.model.model(input_ids=ids, use_cache=False).last_hidden_state
        sums = []
        for n, (prompt, tokens) in enumerate(rows):
            span = slice(len(prompt) - 1, len(prompt) + len(tokens) - 1)
            logs = self.model.lm_head(hidden[n, span]).log_softmax(-1)
            sums.append(logs.gather(1, torch.tensor(tokens)[:, None]).sum())
        return torch.stack(sums)

    def _step(self, loss: torch.Tensor) -> None:
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._optimiser.step()

    def _encode(self, texts: Sequence[str], end: Sequence[int] = ()) -> tuple[tuple[int, ...], ...]:
        ids = [self.tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
        return tuple((*token_ids, *end) for token_ids in ids)

    def _tokens(self, talk: Sequence[dict[str, str]]) -> tuple[int, ...]:
        text = self.tokenizer.apply_chat_template(
            list(talk), tokenize=False, add_generation_prompt=True
        )
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def options_in(page: str) -> list[str]:
    """Return the replies that a page allows by its last line, such as `Option: <J or F>`."""
    label, names = re.findall(r"^(\w+: )<(.+)>$", page, re.MULTILINE)[-1]
    return [label + name for name in re.split(", | or ", names)]


def problems(game: str = "ipd", rounds: int = 2, mixed: bool = True, **params: Any) -> Split:
    """Short games against partners that are machines, so that regret is exact.

    One partner always makes its second move. If `mixed`, another answers in kind; the first round
    cannot tell them apart, so that even the best player regrets some of its first moves.
    """

    settings = {"rounds": rounds, **params}

    def make_tasks(**partners: PlayerSpec) -> tuple[Task, ...]:
        return tuple(
            Task(
                Instance(f"{game}_{name}", game, settings),
                "agent",
                {"partner": partner},
            )
            for name, partner in partners.items()
        )

    defects, cooperates = (PlayerSpec("single_action", {"action": n}) for n in (1, 0))
    train = make_tasks(defects=defects, **({"answers": PlayerSpec("tit_for_tat")} if mixed else {}))
    return Split(
        "doors", "short games", {"train": train, "held_out": make_tasks(cooperates=cooperates)}
    )


def less_the_mean(
    groups: Sequence[Sequence[float]], control: Stream | None = None
) -> list[list[float]]:
    """By turn, the reward of each member of a group less the group's mean, over its spread.

    With `control`, the rewards of a turn are first dealt to the group's members at random, so that
    they say nothing about the replies.
    """
    advantages = []
    for rewards in groups:
        rewards = rewards if control is None else control.shuffled(rewards)
        mean = sum(rewards) / len(rewards)
        spread = (sum((reward - mean) ** 2 for reward in rewards) / len(rewards)) ** 0.5
        advantages.append([(reward - mean) / (spread + 1e-6) for reward in rewards])
    return advantages


class Curve:
    """The mean reward of a turn at every step: printed, stored, and drawn with Matplotlib."""

    def __init__(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "curve.jsonl").unlink(missing_ok=True)
        self._out, self._began, self.values = out, time.monotonic(), list[float]()
        self._used = _processor_seconds()

    def add(self, reward: float) -> None:
        """Add the mean reward of a step, with the time since the start and the processor's time."""
        self.values.append(reward)
        line = {
            "step": len(self.values),
            "reward": round(reward, 4),
            "seconds": round(time.monotonic() - self._began, 1),
            "processor_seconds": round(_processor_seconds() - self._used, 1),
        }
        print(json.dumps(line), flush=True)
        with (self._out / "curve.jsonl").open("a") as file:
            print(json.dumps(line), file=file)

    def steps(self, max_steps: int, seconds: float) -> Iterator[int]:
        """Count steps until there are enough, or the time is used up."""
        for step in range(max_steps):
            if time.monotonic() - self._began > seconds:
                return
            yield step

    def finish(self) -> None:
        """Print the means of the first and the last fifth of the steps, and draw the curve."""
        if not self.values:
            print("no step had an episode with a result")
            return
        part = max(1, len(self.values) // 5)
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


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
