"""The training script: episodes evaluated as a whole give what page by page gives, and teach."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs sally-lab[hf]")
pytest.importorskip("transformers", reason="needs sally-lab[hf]")
sys.path.insert(0, str(Path(__file__).parent.parent / "examples" / "training"))

from lessons import lesson  # noqa: E402
from scoring import Growing, Policy  # noqa: E402
from train import PopulationRun, TaughtRun  # noqa: E402

from sally.adapters.trainers.text import TextEnv  # noqa: E402

LETTERS = ("J", "F", "B", *"ACDEGHKLMNPRSUWXYZQTV")


@pytest.fixture
def policy(tmp_path):
    """A random net of few weights that knows the letters, in a folder."""
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocab = {word: n for n, word in enumerate(("<unk>", "Option", "you", "they", *LETTERS))}
    words = Tokenizer(WordLevel(vocab, unk_token="<unk>"))
    words.pre_tokenizer = Split(Regex(r"\w+"), "isolated")
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>").save_pretrained(tmp_path)
    torch.manual_seed(0)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
    net = LlamaConfig(vocab_size=len(vocab), num_hidden_layers=2, pad_token_id=0, **size)
    LlamaForCausalLM(net).save_pretrained(tmp_path)
    return Policy(tmp_path, "cpu")


def test_cached_tree_scores_equal_page_by_page_scores(policy):
    packs = ("repeated_games_terse", "repeated_games_names")
    envs = [TextEnv("rps", strategy="lm", pack=pack, sample=True) for pack in packs]
    pages: list[list] = [[], []]
    for n, env in enumerate(envs):
        env.reset(n)
    growing, cached = Growing(policy, 2), [[], []]
    while envs[0].asked is not None:
        asked_pairs = [(str(env.asked.messages), env.asked.candidates) for env in envs]
        now = dict(enumerate(policy.pages(asked_pairs)))
        for n, scores in growing.scores(now).items():
            pages[n].append(now[n])
            cached[n].append(scores)
            envs[n].step(scores)
    with torch.no_grad():
        for n in range(2):
            plain = policy.scored(pages[n])
            ((_, trees),) = policy.together([pages[n]])
            assert torch.allclose(policy.scored_together(trees), plain, atol=1e-5)
            assert torch.allclose(torch.tensor(cached[n]), plain, atol=1e-5)
            full_total = sum(len(page.shared) for page in pages[n])
            assert len(trees[0].tokens) < full_total / 3  # what the tree is for


def test_learning_from_the_same_episodes_lowers_their_regret(policy):
    namespace = Namespace(
        game="rps", learn="move", estimator="all_moves", lr=1e-2, seed=0, seconds=1e9, steps=10**9,
        tasks=1, group=1, entropy=0.0,
    )  # fmt: skip
    run = PopulationRun(policy, namespace)
    run.step = 9  # after the warm-up
    tasks = run.machines.part("train")[:3]
    played = run.played([(task, "repeated_games_terse", n) for n, task in enumerate(tasks)])
    losses = [run.learn_from(played)["expected"] for _ in range(12)]
    assert losses[-1] < 0.7 * losses[0]


def test_lessons_teach_moves_and_predictions(policy):
    namespace = Namespace(
        game="rps", learn="both", estimator="best_moves", lr=1e-2, seed=0, seconds=1e9, steps=10**9,
        tasks=1, group=1, entropy=0.0, workers=1, episodes=3,
    )  # fmt: skip
    run = TaughtRun(policy, namespace)
    run.teacher.close()  # lessons are played here
    run.step = 9  # after the warm-up
    lessons = [lesson(expected_order, policy.tokens) for expected_order in run.wanted(0)]
    assert all(
        len(current_lesson.pages) == len(current_lesson.right) == 20 for current_lesson in lessons
    )
    assert lessons == [lesson(expected_order, policy.tokens) for expected_order in run.wanted(0)]
    learnt = [run.learn_from(lessons) for _ in range(60)]
    for name in ("loss", "foreseeing", "expected"):
        assert learnt[-1][name] < 0.8 * learnt[0][name]
