"""The door to TRL: whole episodes as tokens, the table's words masked out."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs sally-lab[trl]")

from sally.adapters.trainers.text import TextEnv  # noqa: E402
from sally.adapters.trainers.trl import Rollouts, Talk  # noqa: E402
from sally.core.errors import BadInput  # noqa: E402
from sally.core.log.events import Instance, PlayerSpec  # noqa: E402
from sally.core.rules.training import Split, Task  # noqa: E402
from tests.adapters.tutorial import example  # noqa: E402


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
        Task(
            Instance("ipd", "ipd", {"rounds": 2}), "agent", {"partner": PlayerSpec("tit_for_tat")}
        ),
        1,
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


# --- a training run of a few steps ----------------------------------------------------------------

WORDS = ("<pad>", "<end>", "<unk>", "<user>", "<assistant>", "Option:", "J", "F")
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}> {{ m.content }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)


def tiny():
    """A random net of a few hundred weights that knows eight words, with their tokeniser."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = Tokenizer(WordLevel({w: n for n, w in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<end>", unk_token="<unk>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<user>", "<assistant>"]})
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    size = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    net = LlamaConfig(vocab_size=len(WORDS), num_hidden_layers=1, pad_token_id=0, **size)
    return LlamaForCausalLM(net), tokenizer


def test_a_random_net_is_trained_for_a_few_steps_and_changes(tmp_path, monkeypatch):
    trl = pytest.importorskip("trl", reason="needs sally-lab[trl]")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    from datasets import Dataset

    def at(partner: str) -> tuple[Task, ...]:
        others = {"partner": PlayerSpec(partner)}
        return (Task(Instance(f"ipd_{partner}", "ipd", {"rounds": 2}), "agent", others),)

    split = Split("two", "", {"train": at("tit_for_tat"), "held_out": at("single_action")})
    rollouts = Rollouts("ipd", problems=split, max_new_tokens=2)
    model, tokenizer = tiny()
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    args = trl.GRPOConfig(
        output_dir=str(tmp_path),
        per_device_train_batch_size=8,
        num_generations=8,
        max_steps=3,
        learning_rate=1e-2,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        save_strategy="no",
        seed=0,
    )
    rows = Dataset.from_list(rollouts.rows(8))
    trainer = trl.GRPOTrainer(
        model, rollouts.reward, args, rows, processing_class=tokenizer, rollout_func=rollouts
    )
    trainer.train()
    logged = [step for step in trainer.state.log_history if "reward" in step]
    assert len(logged) == 3 and any(float(step["reward_std"]) > 0 for step in logged)
    assert any(not torch.equal(before[n], w) for n, w in model.named_parameters())


def test_the_tutorials_code_runs(tmp_path, monkeypatch):
    pytest.importorskip("trl", reason="needs sally-lab[trl]")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    monkeypatch.chdir(tmp_path)
    for part in tiny():
        part.save_pretrained("FOLDER")
    ran: dict = {}
    exec(example("TRL"), ran)
    assert ran["trainer"].state.global_step == 2
