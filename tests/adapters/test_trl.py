"""The door to TRL: whole episodes as tokens, the table's words masked out."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs sally-lab[trl]")

from sally.adapters.text import TextEnv  # noqa: E402
from sally.adapters.trl import Rollouts, Talk  # noqa: E402
from sally.core.errors import BadInput  # noqa: E402
from sally.core.log import Instance, Sitter  # noqa: E402
from sally.core.training import Task  # noqa: E402


class Letters:
    """A tokeniser of single characters with a template that only adds."""

    all_special_tokens = ("$",)

    def __call__(self, text, add_special_tokens=False):
        return {"input_ids": [ord(c) for c in text]}

    def decode(self, tokens, skip_special_tokens=False):
        text = "".join(map(chr, tokens))
        return text.replace("$", "") if skip_special_tokens else text

    def apply_chat_template(self, turns, tokenize=False, add_generation_prompt=True):
        return "".join(f"<{t['role']}>{t['content']}$" for t in turns) + "<assistant>"


def test_the_tables_words_are_masked_and_the_models_are_not():
    env = TextEnv("ipd", strategy="chat", retries=0)
    env.begin(
        Task(Instance("ipd", "ipd", {"rounds": 2}), "agent", {"partner": Sitter("tit_for_tat")}), 1
    )
    letters = Letters()
    talk = Talk(env, letters)
    said = [ord(c) for c in "Option: F$"]
    talk.answer(said, [-0.5] * len(said))
    talk.answer(said, [-0.5] * len(said))
    mine = [t for t, m in zip(talk.completion, talk.mask, strict=True) if m]
    assert letters.decode(mine) == "Option: F$" * 2
    told = letters.decode([t for t, m in zip(talk.completion, talk.mask, strict=True) if not m])
    assert "Round 1: you picked Option F" in told and "Option: F$" not in told
    assert len(talk.completion) == len(talk.mask) == len(talk.logprobs)
    assert talk.reward == -3.0  # 8 + 10 were to be had, and 10 + 5 were got


def test_rows_name_seeds_and_rewards_come_from_the_rollouts():
    rollouts = Rollouts("rps")
    rows = rollouts.rows(3)
    assert len({row["prompt"] for row in rows}) == 3
    with pytest.raises(BadInput, match="rollout_func"):
        rollouts.reward(["x"])
    with pytest.raises(BadInput, match="a row of `rows`"):
        rollouts._begun("hello")
