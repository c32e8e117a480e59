"""The embedded model over a growing history: tokens evaluated per trie node, and time per token.

Fifty rounds of a repeated game, each with a probe (candidates scored) and a move (a short reply).
The bare loop sends the same tokens to llama.cpp straight, in the same order, to a second copy of
the same weights; rounds of the two take turns, so that both meet the same load of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from sally.core.prompt.hashed_text import HashedText
from sally.core.prompt.model import Assistant, Message, Settings, User
from sally.models import wire
from sally.models.embedded import Embedded
from sally.models.llama import wheel

RULES = (
    "You and a partner meet many times. Each time both pick J or F without seeing the other's "
    "pick. Two times J pays 8 points to each, two times F pays 5 to each; who picks F against J "
    "gets 10 and the other none. You want many points. What happened so far:\n"
)
PROBE = "Now comes round {round}. Before you pick: what will your partner pick, J or F?"
MOVE = "Now comes round {round}. Answer with one letter, J or F. What do you pick?"
CANDIDATES = (" J", " F")
SAID = 6


def line(round_number: int, rng: np.random.Generator) -> str:
    """What the history says of one round."""
    own_move, other_move = (["J", "F"][i] for i in rng.integers(0, 2, size=2))
    return f"Round {round_number}: you picked {own_move}, your partner picked {other_move}.\n"


def trie_nodes(prompts: Sequence[Sequence[int]]) -> int:
    """How many different beginnings the prompts have: what one must evaluate at least."""
    root: dict[int, Any] = {}
    nodes = 0
    for prompt in prompts:
        node = root
        for token in prompt:
            if token not in node:
                node[token] = {}
                nodes += 1
            node = node[token]
    return nodes


class Bare:
    """llama.cpp as the wheel sets it up, with its own prefix cache, shown ready-made tokens."""

    def __init__(self, model: Embedded, context: int) -> None:
        module = wheel()
        params = module.CommonParams()
        params.model.path, params.n_ctx, params.n_parallel = str(model._path), context, 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = model._threads
        params.warmup, params.verbosity = False, -1
        self.server = module.Server(params)

    def ask(self, tokens: Sequence[int], n_tokens: int, **settings: Any) -> float:
        """The seconds one call takes."""
        begun = time.perf_counter()
        body = {
            "prompt": list(tokens),
            "n_predict": n_tokens,
            "temperature": 0,
            "cache_prompt": True,
        }
        self.server.handle_completions({**body, **settings})
        return time.perf_counter() - begun


def tokens_of(model: Embedded, messages: Sequence[Message], begun: str = "") -> list[int]:
    """The tokens of a chat with an open turn."""
    text = model._llama.render_chat([wire.turn(message) for message in messages]) + begun
    return [int(token) for token in model._llama.tokens(text, control=True)]


async def main(rounds: int, context: int, threads: int | None) -> None:
    """Play the episode and print the ratios."""
    model = Embedded(context=context, threads=threads)
    bare = Bare(model, context)
    rng = np.random.default_rng(1)
    history, prompts = HashedText.start(RULES), []
    evaluated, ours, bare_seconds = 0, 0.0, 0.0
    for number in range(1, rounds + 1):
        probe: list[Message] = [User(history.plus(PROBE.format(round=number)))]
        move: list[Message] = [User(history.plus(MOVE.format(round=number)))]
        begun = time.perf_counter()
        scores = await model.score([*probe, Assistant("They pick")], CANDIDATES)
        reply = await model.complete(move, Settings(temperature=0, max_tokens=SAID))
        ours += time.perf_counter() - begun
        evaluated += (scores.usage.evaluated or 0) + (reply.usage.evaluated or 0)
        prompt_pair = [tokens_of(model, probe, "They pick"), tokens_of(model, move)]
        prompts += prompt_pair
        bare_seconds += bare.ask(prompt_pair[0], 1, n_probs=20)
        bare_seconds += bare.ask(prompt_pair[1], SAID)
        history = history.plus(line(number, rng))
    nodes = trie_nodes(prompts)
    total = sum(len(prompt) for prompt in prompts)
    print(f"{rounds} rounds, {len(prompts)} prompts, {total} prompt tokens, form {model.used.form}")
    print(
        f"tokens evaluated / trie nodes: {evaluated} / {nodes} = {evaluated / nodes:.3f} (<= 1.15)"
    )
    print(
        f"seconds / bare llama.cpp: {ours:.1f} / {bare_seconds:.1f} = "
        f"{ours / bare_seconds:.3f} (<= 1.3)"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=None)
    chosen = parser.parse_args()
    asyncio.run(main(chosen.rounds, chosen.context, chosen.threads))
