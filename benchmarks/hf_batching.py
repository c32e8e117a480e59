"""Tokens a second of `hf:` beside transformers' own continuous batching.

    python benchmarks/hf_batching.py MODEL [PAGES]

MODEL is a folder or a GGUF file. Both sides get the same pages, as a study sends them: episodes
whose pages grow by a line a round, and one short reply to each page, greedily. Ours reuses the
beginnings of pages; the other side gets all pages of a round in one batch.
"""

from __future__ import annotations

import asyncio
import sys
import time

from sally.core.prompt.model import Settings, User
from sally.core.registry import registry

ROUNDS, WORDS = 10, 16
RULES = "You play a repeated game. In every round you and the other player pick J or F.\n" * 8
LINE = "Round {}: you picked J and the other player picked F.\n"
ASK = "Which option do you pick in this round? Answer with one line of the form `Option: X`."


def page(episode: int, round: int) -> str:
    past = "".join(LINE.format(n + 1) for n in range(round))
    return f"Table {episode}. {RULES}{past}{ASK}"


def ours(name: str, pages: int) -> tuple[float, int]:
    """Return seconds and generated tokens."""
    model = registry.model(f"hf:{name}")
    settings = Settings(temperature=0.0, max_tokens=WORDS)

    async def play() -> int:
        n_tokens = 0
        for round in range(ROUNDS):
            calls = [
                model.complete([User(page(episode, round))], settings) for episode in range(pages)
            ]
            n_tokens += sum(reply.usage.output for reply in await asyncio.gather(*calls))
        return n_tokens

    asyncio.run(play())  # warm: kernels are compiled, pages are not kept between runs
    begun = time.perf_counter()
    n_tokens = asyncio.run(play())
    return time.perf_counter() - begun, n_tokens


def transformers_alone(name: str, pages: int) -> tuple[float, int]:
    """Return seconds and generated tokens."""
    import torch
    import transformers
    from transformers import GenerationConfig

    from sally.models.hf import loader  # the same weights, in the same precision

    device = loader.device_here()
    dtype = "float32" if device == "cpu" else "bfloat16"
    found_at = loader.find_model(name)
    folder = found_at if found_at.is_dir() else loader.unpack_gguf(found_at, dtype)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=getattr(torch, dtype),
        attn_implementation="sdpa",  # continuous batching refuses the attention of `hf:`
        local_files_only=True,
    )
    net = loaded.to(device).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    config = GenerationConfig(
        max_new_tokens=WORDS, do_sample=False, eos_token_id=tokenizer.eos_token_id
    )

    def play() -> int:
        n_tokens = 0
        for round in range(ROUNDS):
            prompts = [
                tokenizer.apply_chat_template(
                    [{"role": "user", "content": page(episode, round)}], add_generation_prompt=True
                )
                for episode in range(pages)
            ]
            ids = [list(p["input_ids"]) if hasattr(p, "keys") else list(p) for p in prompts]
            with torch.inference_mode():
                outputs = net.generate_batch(inputs=ids, generation_config=config)
            n_tokens += sum(len(output.generated_tokens) for output in outputs.values())
        return n_tokens

    play()
    begun = time.perf_counter()
    n_tokens = play()
    return time.perf_counter() - begun, n_tokens


def main(name: str, pages: int) -> None:
    for side, run in (("hf:", ours), ("transformers", transformers_alone)):
        try:
            seconds, n_tokens = run(name, pages)
        except Exception as why:  # the other side may not run on this device
            print(f"{side}: {type(why).__name__}: {str(why)[:300]}", flush=True)
            continue
        calls = pages * ROUNDS
        print(
            f"{side}: {n_tokens / seconds:,.0f} tokens a second, {calls / seconds:,.0f} calls "
            "a second "
            f"({calls} calls, {n_tokens} tokens, {seconds:.1f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 128)
