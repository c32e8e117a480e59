"""A causal language model that scores names: what the strategy `lm` asks, in batches, with grad.

No reply is generated. The policy is the model's own odds of the option names after the page, so
one pass over a page is one decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

BATCH_TOKENS = {"cuda": 32_768, "cpu": 2_048}  # of one pass, padding included


class Page(NamedTuple):
    """A page with its candidates as tokens: what they share, and how each goes on."""

    shared: list[int]
    endings: list[list[int]]


class Policy:
    """The model of a folder."""

    def __init__(self, folder: Path, device: str = "") -> None:
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        found: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
        self.model = found.float().to(self.device)
        self._met: dict[tuple[str, tuple[str, ...]], Page] = {}
        self.model.eval()  # there is no dropout, and sampling and learning must see one policy

    def pages(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[Page]:
        """Texts with their candidates, tokenised as one; a text that was met is not read again."""
        new = [each for each in asked if (each[0], tuple(each[1])) not in self._met]
        texts = [text + name for text, names in new for name in names]
        ids = iter(self.tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else [])
        for text, names in new:
            self._met[text, tuple(names)] = _page([next(ids) for _ in names])
        return [self._met[text, tuple(names)] for text, names in asked]

    def forget(self) -> None:
        """Let go of the pages that were met."""
        self._met.clear()

    def scores(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[list[float]]:
        """By text, the log-probability of each candidate."""
        pages = self.pages(asked)
        found: list[list[float]] = [[] for _ in pages]
        with torch.no_grad():
            for chunk in self.chunks(pages):
                table = self.scored([pages[i] for i in chunk]).clamp(max=0.0).tolist()
                for place, scores in zip(chunk, table, strict=True):
                    found[place] = scores[: len(pages[place].endings)]
        return found

    def chunks(self, pages: Sequence[Page]) -> Iterable[list[int]]:
        """Places of pages that fit into one pass."""
        return _chunks(pages, BATCH_TOKENS[self.device])

    def scored(self, pages: Sequence[Page]) -> torch.Tensor:
        """(page, candidate) -> log-probability, in one pass; minus infinity beside the menu."""
        rows, spots, tokens, owners = [], [], [], []
        width = max(len(page.endings) for page in pages)
        for place, page in enumerate(pages):
            single = all(len(ending) == 1 for ending in page.endings)
            for n, ending in enumerate(page.endings):
                if n == 0 or not single:  # names of one token are read off one row
                    rows.append(page.shared + ending[:-1])
                for step, token in enumerate(ending):
                    spots.append((len(rows) - 1, len(page.shared) - 1 + step))
                    tokens.append(token)
                    owners.append(place * width + n)
        at = torch.tensor(spots, device=self.device)
        owner = torch.tensor(owners, device=self.device)
        named = torch.tensor(tokens, device=self.device)
        logits = self.model.lm_head(self._hidden(rows)[at[:, 0], at[:, 1]]).float()
        each = logits.log_softmax(-1).gather(1, named[:, None])[:, 0]
        size = len(pages) * width
        total = torch.zeros(size, device=self.device).index_add(0, owner, each)
        there = torch.zeros(size, dtype=torch.bool, device=self.device).index_fill(0, owner, True)
        return total.masked_fill(~there, -torch.inf).reshape(len(pages), width)

    def _hidden(self, rows: Sequence[list[int]]) -> torch.Tensor:
        longest = max(map(len, rows))
        # Padding stands on the right, where no token in use can see it: no mask is needed.
        filled = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
        cast = torch.autocast("cuda", torch.bfloat16) if self.device == "cuda" else nullcontext()
        with cast:
            out = self.model.model(input_ids=filled.to(self.device), use_cache=False)
        return out.last_hidden_state.float()


def _page(ids: Sequence[list[int]]) -> Page:
    """Candidates never begin one another, so each has an ending of its own."""
    alike = 0
    while len({each[alike] for each in ids}) == 1:
        alike += 1
    return Page(ids[0][:alike], [each[alike:] for each in ids])


def _chunks(pages: Sequence[Page], budget: int) -> Iterable[list[int]]:
    """Pages of like length together, as many as the budget of tokens takes."""

    def rows(page: Page) -> int:
        return 1 if all(len(e) == 1 for e in page.endings) else len(page.endings)

    def length(page: Page) -> int:
        return len(page.shared) + max(map(len, page.endings)) - 1

    chunk: list[int] = []
    held = 0
    for place in sorted(range(len(pages)), key=lambda i: length(pages[i])):
        page = pages[place]
        if chunk and (held + rows(page)) * length(page) > budget:
            yield chunk
            chunk, held = [], 0
        chunk.append(place)
        held += rows(page)
    if chunk:
        yield chunk
