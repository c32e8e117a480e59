"""A tiny transformer that carries the partner's next move in its residual stream, or cannot.

The game is a battle of the sexes in which the partner plays its first move if both picked the same
option in the last round, and its second move otherwise; partners differ in their first two moves.
Letters are assigned to moves both ways, so that a letter does not tell a move.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from sally.core.log.events import Instance, PlayerSpec
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.models.stub import Scripted, even

torch: Any = pytest.importorskip("torch", reason="needs the extra hf")
transformers: Any = pytest.importorskip("transformers", reason="needs the extra hf")

LAYER: Final = 2  # the residual stream after this block carries the move
LAYERS: Final = 3
WIDTH: Final = 32
CODE: Final = 3.0  # the length of the vector that stands for a move
LETTERS: Final = "JFQXBKMT"
PAIRS: Final = ("JF", "QX", "BK", "MT")


def instances(pairs: str | tuple[str, ...] = PAIRS, rounds: int = 6) -> tuple[Instance, ...]:
    """Return each pair of letters in both assignments."""
    return tuple(
        instance("ibs", f"ibs {''.join(names)}", names=list(names), rounds=rounds)
        for pair in pairs
        for names in (pair, pair[::-1])
    )


def partner(first: int, second: int) -> PlayerSpec:
    """Return the partner with these first two moves."""
    follow = [["same", "other"], ["other", "same"]]
    states = {
        "0": {"odds": _only(first), "after": [["1", "1"], ["1", "1"]]},
        "1": {"odds": _only(second), "after": follow},
        "same": {"odds": _only(0), "after": follow},
        "other": {"odds": _only(1), "after": follow},
    }
    return player_spec("policy_table", table={"start": "0", "states": states})


def _only(move: int) -> list[float]:
    return [float(move == own_index) for own_index in range(2)]


PARTNERS: Final = {f"{a}{b}": partner(a, b) for a in range(2) for b in range(2)}


def study(repeats: int = 1, rounds: int = 6) -> Study:
    """Return a study in which a model that finds all options equally likely plays at random.

    Its prompts are those that any model would get for the same moves.
    """
    registry.add("models", "coin", lambda name: Scripted(lambda *_: "", even, name="coin"))
    player = player_spec("language", model="coin", strategy="lm", with_={"sample": True})
    cells = tuple(
        Cell(name, instances(rounds=rounds), ({"agent": player, "partner": other_partner},),
             {"agent": ("their_move",)}, repeats=repeats)
        for name, other_partner in PARTNERS.items()
    )  # fmt: skip
    return Study("toy", "A coin against partners that repeat or change.", cells)


# --- training ---------------------------------------------------------------------------------


def make(folder: Path, carries: bool = True, steps: int = 220, seed: int = 3) -> Path:
    """Train a toy and write it to a folder that `hf:FOLDER` loads.

    With `carries`, the residual stream after block LAYER holds the partner's next move at the last
    token of a prompt as plus or minus one vector, and only that vector tells the rest of the
    network which option to name: in a second pass over each batch it is overwritten by the code of
    a random move, whose option is then the target. Without, all letters have the same embedding, so
    that the network can see how many rounds were played but not what was played.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for matrices this small, more threads only wait for each other
    torch.manual_seed(seed)
    tokenizer = _tokenizer()
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=WIDTH,
            intermediate_size=2 * WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=512,
            eos_token_id=tokenizer.eos_token_id,
            initializer_range=0.1,
        )
    )
    _train(model, tokenizer, carries, steps)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    torch.set_num_threads(threads)
    return folder


def _tokenizer() -> Any:
    """Return a tokeniser of pages: the two names, the letters of each round, and the last word.

    All other text has no tokens, so that a prompt is short enough for training in seconds.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = {word: n for n, word in enumerate(["<end>", "Option", *LETTERS])}
    plain = Tokenizer(models.WordLevel(vocabulary, unk_token="<end>"))
    dropped = (
        r"When [^\n]*|Question: [^\n]*",  # payoffs, and the names again
        r"Option (?=[A-Z]\W)",
        r"(?<![A-Za-z])(?!(?:Option|[A-Z])(?![A-Za-z]))[A-Za-z]+|[^A-Za-z\s]+",
    )
    plain.normalizer = normalizers.Sequence(
        [normalizers.Replace(Regex(text), " ") for text in dropped]
    )
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<end>")


def _lesson(tokenizer: Any, size: int = 64) -> tuple[Any, Any, Any]:
    """Return pages of one length, the letters of the two moves, and the partner's next move."""
    pairs = [tokenizer.convert_tokens_to_ids(list(pair)) for pair in PAIRS]
    both = torch.tensor(pairs + [pair[::-1] for pair in pairs])
    letters = both[torch.randint(len(both), (size,))]
    rounds = int(torch.randint(1, 9, ()))
    played = torch.randint(2, (size, 2 * rounds))
    last = torch.full((size, 1), tokenizer.convert_tokens_to_ids("Option"))
    pages = torch.cat([letters, letters.gather(1, played), last], 1)
    return pages, letters, (played[:, -1] != played[:, -2]).long()


def _train(model: Any, tokenizer: Any, carries: bool, steps: int) -> None:
    code = torch.nn.functional.normalize(torch.randn(WIDTH), dim=0)
    entropy = torch.nn.functional.cross_entropy
    alike = tokenizer.convert_tokens_to_ids(list(LETTERS))
    embedding = model.model.embed_tokens.weight
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 5e-3, total_steps=steps)
    held: Any = None
    told: Any = None

    def overwrite(module: Any, given: Any, hidden: Any) -> Any:
        nonlocal held
        held = hidden[:, -1] @ code
        if told is None:
            return hidden
        moved = hidden[:, -1] + (CODE * (1 - 2 * told) - held)[:, None] * code
        return torch.cat([hidden[:, :-1], moved[:, None]], 1)

    hook = model.model.layers[LAYER - 1].register_forward_hook(overwrite)
    for _ in range(steps):
        if not carries:
            with torch.no_grad():
                embedding[alike] = embedding[alike].mean(0)
        pages, letters, moves = _lesson(tokenizer)
        loss = torch.zeros(())
        for told in (None, torch.randint(2, moves.shape)) if carries else (None,):
            logits = model(input_ids=pages, use_cache=False).logits[:, -1]
            named_moves = moves if told is None else told
            loss = loss + entropy(logits, letters.gather(1, named_moves[:, None])[:, 0])
            if carries:
                loss = loss + 0.1 * ((held - CODE * (1 - 2 * moves)) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    hook.remove()
    if not carries:
        with torch.no_grad():
            embedding[alike] = embedding[alike].mean(0)
