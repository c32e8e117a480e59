"""Rollouts for TRL: whole episodes as tokens, with the tokens of prompts masked."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

import trl_rollouts  # noqa: E402
from trl_rollouts import Rollouts, Talk, TurnRollouts  # noqa: E402

from sally.adapters.trainers.text import TextEnv  # noqa: E402
from sally.core.errors import BadInput  # noqa: E402
from sally.core.log.events import Instance, PlayerSpec  # noqa: E402
from sally.parts.training import Split, Task  # noqa: E402
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


def test_environment_tokens_are_masked_and_model_tokens_are_not():
    env = TextEnv("ipd", strategy="chat", retries=0)
    env.begin(
        Task(
            Instance("ipd", "ipd", {"rounds": 2}), "agent", {"partner": PlayerSpec("tit_for_tat")}
        ),
        1,
    )
    letters = Letters()
    talk = Talk(env, letters)
    replies = [ord(c) for c in "Option: F$"]
    talk.answer(replies, [-0.5] * len(replies))
    talk.answer(replies, [-0.5] * len(replies))
    own_rows = [t for t, m in zip(talk.completion, talk.mask, strict=True) if m]
    assert letters.decode(own_rows) == "Option: F$" * 2
    data = letters.decode([t for t, m in zip(talk.completion, talk.mask, strict=True) if not m])
    assert "Round 1: you picked Option F" in data and "Option: F$" not in data
    assert len(talk.completion) == len(talk.mask) == len(talk.logprobs)
    assert talk.reward == -3.0  # 8 + 10 were to be had, and 10 + 5 were got


def test_rows_name_seeds_and_rewards_come_from_the_rollouts():
    rollouts = Rollouts("rps")
    rows = rollouts.rows(3)
    assert len({row["prompt"] for row in rows}) == 3
    with pytest.raises(BadInput, match="rollout_func"):
        rollouts.reward(["x"])
    with pytest.raises(BadInput, match=r"come from `Rollouts\.rows`"):
        rollouts._begin_episode("hello")


# --- one turn a row -------------------------------------------------------------------------------


class Trainer:
    """As much of a trainer as a rollout function uses."""

    processing_class = Letters()
    model = None

    class accelerator:
        unwrap_model = staticmethod(lambda model: model)

    class args:
        temperature = 1.0


def script(monkeypatch, moves):
    """Replies by (episode, turn): what `moves(n, turn)` says, n counting the talks of a call."""

    def sample_replies(model, tokenizer, talks, limit, temperature):
        texts = [f"Option: {moves(n, len(talk.replies))}$" for n, talk in enumerate(talks)]
        return [([ord(c) for c in text], [-0.5] * len(text)) for text in texts]

    monkeypatch.setattr(trl_rollouts, "sample_replies", sample_replies)


def two_rounds(rounds: int = 3) -> Split:
    def at(partner: str) -> tuple[Task, ...]:
        others = {"partner": PlayerSpec(partner)}
        return (Task(Instance(f"ipd_{partner}", "ipd", {"rounds": rounds}), "agent", others),)

    return Split("two", "", {"train": at("tit_for_tat"), "held_out": at("single_action")})


def prompt_at(turn: int, seed: int = 5) -> str:
    return trl_rollouts.MARK + f'{{"seed": {seed}, "turn": {turn}}}'


def test_group_shares_history_and_differs_in_one_reply(monkeypatch):
    rollouts = TurnRollouts("ipd", turns=3, problems=two_rounds())
    script(monkeypatch, lambda n, turn: "JF"[n % 2] if turn == 1 else "J")
    actual_rollouts = rollouts([prompt_at(1)] * 4, Trainer())
    replies = [
        Letters().decode(actual_rollout) for actual_rollout in actual_rollouts["completion_ids"]
    ]
    assert replies == ["Option: J$", "Option: F$"] * 2
    assert len({tuple(actual_rollout) for actual_rollout in actual_rollouts["prompt_ids"]}) == 1
    past = Letters().decode(actual_rollouts["prompt_ids"][0])
    assert past.count("Option: J$") == 1 and "Round 1: you picked Option J" in past
    # kind until the last round
    assert actual_rollouts["sally_reward"][0] == 0.0 > actual_rollouts["sally_reward"][1]
    assert all(set(mask) == {1} for mask in actual_rollouts["env_mask"])


def advantages(rewards):
    mean = sum(rewards) / len(rewards)
    return [reward - mean for reward in rewards]


def test_advantage_of_a_turn_does_not_leak_into_others(monkeypatch):
    """One reply of the second turn is bad; whole episodes blame the first turn's words as well."""
    bad = lambda n, turn: "F" if (n, turn) == (0, 1) else "J"  # noqa: E731
    script(monkeypatch, bad)
    whole = Rollouts("ipd", problems=two_rounds())(['sally {"seed": 5}'] * 4, Trainer())
    first = len("Option: J$")
    tokens = [set(mask[:first]) for mask in whole["env_mask"]]
    assert tokens == [{1}] * 4 and advantages(whole["sally_reward"])[0] < 0  # that is the leak
    turns = TurnRollouts("ipd", turns=3, problems=two_rounds())
    by_turn = {turn: turns([prompt_at(turn)] * 4, Trainer()) for turn in range(3)}
    blamed = {turn: advantages(actual["sally_reward"]) for turn, actual in by_turn.items()}
    assert blamed[1][0] < 0 and blamed[0] == blamed[2] == [0.0] * 4
    for actual in by_turn.values():  # and nothing but the reply of the turn itself is trained on
        assert {len(actual_tokens) for actual_tokens in actual["completion_ids"]} == {first}


def test_reward_without_exact_values_is_the_remaining_payoff(monkeypatch):
    rollouts = TurnRollouts("ipd", turns=3, problems=two_rounds(), weights={"payoff": 1.0})
    script(monkeypatch, lambda n, turn: "J")
    monkeypatch.setattr(trl_rollouts.TextEnv, "worths", property(lambda env: None))
    actual_rollouts = rollouts([prompt_at(1)] * 2, Trainer())
    assert actual_rollouts["sally_reward"] == [16.0, 16.0]  # two rounds of eight are left
    assert {len(actual_rollout) for actual_rollout in actual_rollouts["completion_ids"]} == {
        len("Option: J$")
    }


def test_episode_that_ends_early_forks_at_its_last_turn(monkeypatch):
    rollouts = TurnRollouts("ipd", turns=9, problems=two_rounds())
    script(monkeypatch, lambda n, turn: "F" if turn == 2 else "J")
    actual_rollouts = rollouts([prompt_at(7)] * 2, Trainer())
    assert Letters().decode(actual_rollouts["prompt_ids"][0]).count("Option: J$") == 2
    assert actual_rollouts["sally_reward"] == [0.0, 0.0]
    with pytest.raises(BadInput, match="turns must be at least 1"):
        TurnRollouts("ipd", turns=0)


# --- a training run of a few steps ----------------------------------------------------------------

WORDS = ("<pad>", "<end>", "<unk>", "<user>", "<assistant>", "Option:", "J", "F", "B")
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}> {{ m.content }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)


def tiny():
    """A random net of a few hundred weights that knows nine words, with their tokeniser."""
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


def test_random_net_is_trained_for_a_few_steps_and_changes(tmp_path, monkeypatch):
    trl = pytest.importorskip("trl", reason="needs trl")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    from datasets import Dataset

    rollouts = Rollouts("ipd", problems=two_rounds(2), max_new_tokens=2)
    model, tokenizer = tiny()
    weights_before = {name: weight.clone() for name, weight in model.named_parameters()}
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
    assert any(not torch.equal(weights_before[n], w) for n, w in model.named_parameters())


def test_tutorials_code_runs(tmp_path, monkeypatch):
    pytest.importorskip("trl", reason="needs trl")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    monkeypatch.chdir(tmp_path)
    for part in tiny():
        part.save_pretrained("FOLDER")
    ran: dict = {}
    exec(example("TRL"), ran)
    assert ran["trainer"].state.global_step == 2
