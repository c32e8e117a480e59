"""Sally's games for TRL's GRPOTrainer: whole episodes as rollouts, with prompts masked out.

    rollouts = Rollouts("ipd")
    trainer = GRPOTrainer(model, rollouts.reward, args, rollouts.rows(64), rollout_func=rollouts)

An episode is one conversation (strategy `chat`), so each turn only appends; prompt tokens have
`env_mask` 0. A row names a seed and a split, which all members of a group share, so GRPO's baseline
is paired by design.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import torch

from sally.adapters.trainers.text import TextEnv
from sally.core.errors import BadInput
from sally.core.prompt.model import Assistant, Message
from sally.core.rules.chance import Stream, derived_seed
from sally.parts.training import Split

MARK = "sally "  # prefix of a row's prompt


class Talk:
    """One episode as tokens: replies have mask 1, prompts 0."""

    def __init__(self, env: TextEnv, tokenizer: Any) -> None:
        self.env, self._tokenizer = env, tokenizer
        self._text = self._render()
        self.prompt: list[int] = self._ids(self._text)
        self.completion: list[int] = []
        self.mask: list[int] = []
        self.logprobs: list[float] = []
        self.rewards: list[float] = []  # of each reply
        self.replies: list[tuple[Sequence[int], Sequence[float]]] = []

    @property
    def reward(self) -> float:
        """The sum of the rewards so far."""
        return sum(self.rewards)

    @property
    def context(self) -> list[int]:
        """All tokens so far."""
        return self.prompt + self.completion

    def answer(self, tokens: Sequence[int], logprobs: Sequence[float]) -> None:
        """Add a reply of the model and the prompt that follows it."""
        self._add(tokens, 1, logprobs)
        self.replies.append((tokens, logprobs))
        reply = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        _, reward, done, _ = self.env.step(reply)
        self.rewards.append(reward)
        if done:
            return
        full_text = self._render()
        # A template may trim a reply; the prompt is what follows the reply in the whole text.
        text_with_reply = self._text + reply.strip()
        if not full_text.startswith(self._text):
            raise BadInput("The chat template rewrites earlier turns; use one that only appends.")
        added_text = (
            full_text[len(text_with_reply) :]
            if full_text.startswith(text_with_reply)
            else full_text[len(self._text) :]
        )
        end_token = self._tokenizer.decode(list(tokens)[-1:]) if tokens else ""
        added_text = (
            added_text.removeprefix(end_token)
            if end_token in self._tokenizer.all_special_tokens
            else added_text
        )
        self._text = full_text
        added_ids = self._ids(added_text)
        self._add(added_ids, 0, [0.0] * len(added_ids))

    def _add(self, tokens: Sequence[int], mask: int, logprobs: Sequence[float]) -> None:
        self.completion += tokens
        self.mask += [mask] * len(tokens)
        self.logprobs += logprobs

    def _render(self) -> str:
        ask = self.env.asked
        assert ask is not None and not isinstance(ask.messages, str)
        turns = [{"role": _role(m), "content": m.text} for m in ask.messages]
        return str(
            self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        )

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids


def _role(message: Message) -> str:
    return "assistant" if isinstance(message, Assistant) else "user"


class Rollouts:
    """The `rollout_func`, rows and reward function for a trainer."""

    def __init__(
        self,
        game: str,
        *,
        split: str = "train",
        problems: Split | None = None,
        max_new_tokens: int = 12,
        **env: Any,
    ):
        self._game, self._split, self._most = game, split, max_new_tokens
        self._env = {"strategy": "chat", "retries": 0, "split": problems, **env}
        TextEnv(game, **self._env)  # checks the arguments before a model is loaded

    def rows(self, n: int, seed: int = 0) -> list[dict[str, str]]:
        """Return `n` rows for `datasets.Dataset.from_list`."""
        seeds = (derived_seed("trl", seed, i) for i in range(n))
        return [{"prompt": MARK + json.dumps({"seed": episode_seed})} for episode_seed in seeds]

    def __call__(self, prompts: Sequence[str], trainer: Any) -> dict[str, list[Any]]:
        """Play the episode of each prompt to its end; a prompt is repeated for each generation."""
        talks = [Talk(self._begin_episode(prompt), trainer.processing_class) for prompt in prompts]
        while waiting := [talk for talk in talks if talk.env.asked is not None]:
            self._answer(waiting, trainer)
        return {
            "prompt_ids": [talk.prompt for talk in talks],
            "completion_ids": [talk.completion for talk in talks],
            "logprobs": [talk.logprobs for talk in talks],
            "env_mask": [talk.mask for talk in talks],
            "sally_reward": [_to_the_end(talk) for talk in talks],
        }

    def reward(self, completions: Any = None, **columns: Any) -> list[float | None]:
        """Return the rewards of the episodes; None for an episode without a result."""
        if "sally_reward" not in columns:
            raise BadInput(
                "Pass this `Rollouts` object to the trainer as rollout_func; `reward` reads its "
                "results."
            )
        rewards: list[float | None] = columns["sally_reward"]
        return rewards

    def _answer(self, talks: Sequence[Talk], trainer: Any) -> None:
        """Sample the policy's next reply in each conversation."""
        model = trainer.accelerator.unwrap_model(trainer.model)
        tokenizer, heat = trainer.processing_class, trainer.args.temperature
        replies = sample_replies(model, tokenizer, talks, self._most, heat)
        for talk, reply in zip(talks, replies, strict=True):
            talk.answer(*reply)

    def _begin_episode(self, prompt: str) -> TextEnv:
        if not prompt.startswith(MARK):
            raise BadInput("Every prompt must come from `Rollouts.rows`.")
        env = TextEnv(self._game, **self._env)
        env.reset(json.loads(prompt.removeprefix(MARK))["seed"], self._split)
        return env


class TurnRollouts(Rollouts):
    """Rollouts of single turns; the members of a group share an episode's past and differ in one
    reply.

    The policy plays a task up to a turn; then each member of the group answers that turn from the
    same past. Only the tokens of that answer are trained on, and they get the reward of that turn:
    the loss of the move where it is known exactly, else the seat's gain from that turn to the end.
    So the advantage of a turn does not affect any other turn. The turn of each row is drawn from
    the first `turns` turns of an episode.
    """

    def __init__(self, game: str, *, turns: int, **settings: Any) -> None:
        if turns < 1:
            raise BadInput(f"turns must be at least 1, not {turns}.")
        self._turns = turns
        super().__init__(game, **settings)

    def rows(self, n: int, seed: int = 0) -> list[dict[str, str]]:
        """Return `n` rows of a data set.

        Each row has the seed of an episode and a turn. The rollouts of a row form a group: they
        share the episode up to that turn, where each of them samples its own reply.
        """
        seeds = [derived_seed("trl turns", seed, i) for i in range(n)]
        return [
            {
                "prompt": MARK
                + json.dumps(
                    {"seed": episode_seed, "turn": Stream(episode_seed).below(self._turns)}
                )
            }
            for episode_seed in seeds
        ]

    def __call__(self, prompts: Sequence[str], trainer: Any) -> dict[str, list[Any]]:
        """Play each episode once up to its fork; sample one reply for every member of its group.

        Members of a group have equal prompts; an episode that ends before its turn forks at its
        last turn.
        """
        tokenizer = trainer.processing_class
        pasts = {
            prompt: Talk(self._begin_episode(prompt), tokenizer)
            for prompt in dict.fromkeys(prompts)
        }
        while early := [
            talk
            for prompt, talk in pasts.items()
            if talk.env.asked is not None and len(talk.replies) < _turn(prompt)
        ]:
            self._answer(early, trainer)
        forks = [self._fork(prompt, pasts[prompt], tokenizer) for prompt in prompts]
        contexts, starts = [fork.context for fork in forks], [len(f.replies) for f in forks]
        exact = [fork.env.worths is not None for fork in forks]
        self._answer(forks, trainer)
        replies = [fork.replies[start] for fork, start in zip(forks, starts, strict=True)]
        while later := [
            fork
            for fork, is_exact in zip(forks, exact, strict=True)
            if not is_exact and fork.env.asked is not None
        ]:
            self._answer(later, trainer)
        return {
            "prompt_ids": contexts,
            "completion_ids": [list(tokens) for tokens, _ in replies],
            "logprobs": [list(logs) for _, logs in replies],
            "env_mask": [[1] * len(tokens) for tokens, _ in replies],
            "sally_reward": [
                fork.rewards[start] if is_exact else _to_the_end(fork, start)
                for fork, start, is_exact in zip(forks, starts, exact, strict=True)
            ],
        }

    def _fork(self, prompt: str, past: Talk, tokenizer: Any) -> Talk:
        """Return a new episode with the same replies as `past` so far, to be continued differently.

        If `past` is already over, its last reply is left out.
        """
        fork = Talk(self._begin_episode(prompt), tokenizer)
        replies = past.replies if past.env.asked is not None else past.replies[:-1]
        for reply in replies:
            fork.answer(*reply)
        return fork


def _turn(prompt: str) -> int:
    return int(json.loads(prompt.removeprefix(MARK))["turn"])


def _to_the_end(talk: Talk, start: int = 0) -> float | None:
    """Return the rewards from a reply on; None if the episode has no result."""
    return None if talk.env.episode().payoffs is None else sum(talk.rewards[start:])


def sample_replies(
    model: Any, tokenizer: Any, talks: Sequence[Talk], max_new_tokens: int, temperature: float
) -> list[tuple[list[int], list[float]]]:
    """Sample one reply per conversation in one batch; return tokens and log-probabilities."""
    contexts = [talk.context for talk in talks]
    longest = max(map(len, contexts))
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    ids = torch.tensor([[pad] * (longest - len(c)) + c for c in contexts], device=model.device)
    mask = torch.tensor([[0] * (longest - len(c)) + [1] * len(c) for c in contexts])
    with torch.no_grad():
        out = model.generate(
            input_ids=ids,
            attention_mask=mask.to(model.device),
            max_new_tokens=max_new_tokens,
            do_sample=True,
            temperature=temperature,
            top_k=0,
            top_p=1.0,
            pad_token_id=pad,
            return_dict_in_generate=True,
            output_scores=True,
        )
    scores = model.compute_transition_scores(out.sequences, out.scores, normalize_logits=True)
    replies = []
    for row, logs in zip(out.sequences[:, longest:].tolist(), scores.tolist(), strict=True):
        end = row.index(tokenizer.eos_token_id) + 1 if tokenizer.eos_token_id in row else len(row)
        replies.append((row[:end], logs[:end]))
    return replies
