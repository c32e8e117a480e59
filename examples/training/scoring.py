"""A causal language model that scores names: what the strategy `lm` asks, in batches, with grad.

No reply is generated. The policy is the model's own odds of the option names after the page. The
pages of an episode share rules and history, which are evaluated once: while it is played, through a
cache (`Growing`); when it is learnt from, as a tree of tokens (`Policy.scored_together`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache

from sally.models import catalogue
from sally.models.hf import loader

BATCH_TOKENS = {"cuda": 32_768, "cpu": 2_048}  # of one pass, padding included
LEARN_TOKENS = {"cuda": 16_384, "cpu": 2_048}  # of one pass that keeps what the gradient needs
HIDDEN = -30_000.0  # added to the attention that a token must not pay


class Page(NamedTuple):
    """A page with its candidates as tokens: what they share, and how each goes on."""

    shared: list[int]
    endings: list[list[int]]


class Tokens:
    """Pages as tokens; a text that was met is not tokenised again."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._met: dict[tuple[str, tuple[str, ...]], Page] = {}

    def pages(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[Page]:
        """Texts with their candidates, tokenised as one."""
        new = [each for each in asked if (each[0], tuple(each[1])) not in self._met]
        texts = [text + name for text, names in new for name in names]
        ids = iter(self._tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else [])
        for text, names in new:
            self._met[text, tuple(names)] = _page([next(ids) for _ in names])
        return [self._met[text, tuple(names)] for text, names in asked]


class Policy:
    """The model of a folder."""

    def __init__(self, folder: Path, device: str = "") -> None:
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        if str(folder) in catalogue.NAMES:  # weights that Sally knows: a file, unpacked once
            folder = loader.unpack_gguf(catalogue.have(str(folder)), "bfloat16")
        self.folder = folder
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        found: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
        self.model = found.float().to(self.device)
        if self.device == "cuda":  # with our masks it gave gradients of NaN (torch 2.11, H200)
            torch.backends.cuda.enable_cudnn_sdp(False)
        self.tokens = Tokens(self.tokenizer)
        self.model.eval()  # there is no dropout, and sampling and learning must see one policy
        self.learn_tokens = LEARN_TOKENS[self.device]

    def pages(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[Page]:
        """Texts with their candidates, tokenised as one."""
        return self.tokens.pages(asked)

    def forget(self) -> None:
        """Let go of the pages that were met."""
        self.tokens = Tokens(self.tokenizer)

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
        return self.hidden(input_ids=filled.to(self.device), use_cache=False)

    def hidden(self, **given: Any) -> torch.Tensor:
        """The last hidden states, in 16 bits on an accelerator."""
        if self.device != "cuda":
            out = self.model.model(**given)
            return out.last_hidden_state.float()
        if (seen := given.get("attention_mask")) is not None:
            # The memory-efficient kernel gave gradients of NaN with a mask of truth values.
            hidden = torch.zeros(seen.shape, dtype=torch.bfloat16, device=self.device)
            given["attention_mask"] = hidden.masked_fill(~seen, HIDDEN)
        with torch.autocast("cuda", torch.bfloat16):
            out = self.model.model(**given)
        return out.last_hidden_state.float()

    # --- pages that share their beginning -----------------------------------------------------

    def together(self, episodes: Sequence[Sequence[Page]]) -> Iterator[tuple[list[int], Trees]]:
        """Trees of episodes that fit into one pass, with the places of their episodes."""
        trees = [_tree(pages) for pages in episodes]
        chunk: list[int] = []
        for place in sorted(range(len(trees)), key=lambda i: len(trees[i].tokens)):
            if chunk and (len(chunk) + 1) * len(trees[place].tokens) > self.learn_tokens:
                yield chunk, [trees[i] for i in chunk]
                chunk = []
            chunk.append(place)
        if chunk:
            yield chunk, [trees[i] for i in chunk]

    def scored_together(self, trees: Trees) -> torch.Tensor:
        """(page, candidate) -> log-probability, page by page of each tree in turn."""
        longest = -(-max(len(tree.tokens) for tree in trees) // 16) * 16
        ids = torch.zeros(len(trees), longest, dtype=torch.long)
        places = torch.zeros(len(trees), longest, dtype=torch.long)
        seen = torch.zeros(len(trees), 1, longest, longest, dtype=torch.bool)
        seen[:, 0] = torch.eye(longest, dtype=torch.bool)  # padding must see something
        at, asked = list[tuple[int, int]](), list[list[int]]()
        for n, tree in enumerate(trees):
            many = len(tree.tokens)
            ids[n, :many] = torch.tensor(tree.tokens)
            places[n, :many] = torch.tensor(tree.places)
            seen[n, 0, :many, :many] = tree.seen
            at += [(n, end) for end in tree.ends]
            asked += tree.asked
        hidden = self.hidden(
            input_ids=ids.to(self.device),
            position_ids=places.to(self.device),
            attention_mask=seen.to(self.device),
            use_cache=False,
        )
        return self.read_off(hidden, at, asked)

    def read_off(
        self, hidden: torch.Tensor, at: Sequence[tuple[int, int]], asked: Sequence[Sequence[int]]
    ) -> torch.Tensor:
        """(spot, candidate) -> log-probability of candidates of one token each."""
        spots = torch.tensor(at, device=self.device)
        logits = self.model.lm_head(hidden[spots[:, 0], spots[:, 1]]).float()
        width = max(map(len, asked))
        named = torch.tensor([[*each, *[0] * (width - len(each))] for each in asked])
        there = torch.tensor([[n < len(each) for n in range(width)] for each in asked])
        found = logits.log_softmax(-1).gather(1, named.to(self.device))
        return found.masked_fill(~there.to(self.device), -torch.inf)


class Tree(NamedTuple):
    """Pages of an episode as one row of tokens, each seeing only the tokens of its own page."""

    tokens: list[int]
    places: list[int]  # in their page
    seen: torch.Tensor  # (token, token)
    ends: list[int]  # where each page ends
    asked: list[list[int]]  # the candidates of each page


Trees = Sequence[Tree]


def in_one_token(pages: Iterable[Page]) -> bool:
    """Whether every candidate is one token, as trees and caches need."""
    return all(len(ending) == 1 for page in pages for ending in page.endings)


def _tree(pages: Sequence[Page]) -> Tree:
    if not in_one_token(pages):
        raise SystemExit("A name of an option has several tokens; choose other letters.")
    before = [[], *(page.shared for page in pages)]
    alike = [_alike(old, page.shared) for old, page in zip(before, pages, strict=False)]
    total = sum(len(page.shared) - same for page, same in zip(pages, alike, strict=True))
    seen = torch.zeros(total, total, dtype=torch.bool)
    tokens, places, ends, path = list[int](), list[int](), list[int](), list[int]()
    for page, same in zip(pages, alike, strict=True):
        first, many = len(tokens), len(page.shared) - same
        tokens += page.shared[same:]
        places += range(same, len(page.shared))
        path = [*path[:same], *range(first, first + many)]
        seen[first : first + many, path] = True
        seen[first : first + many, first : first + many].tril_()
        ends.append(path[-1])
    return Tree(tokens, places, seen, ends, [[e[0] for e in page.endings] for page in pages])


def _alike(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two rows begin with in common."""
    for n, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return n
    return min(len(one), len(other))


class Growing:
    """Rows of pages that grow: what a page shares with the last one is not evaluated again.

    What a page does not share stays in the cache and is hidden from then on, so that rows of
    different lengths need no more than a mask.
    """

    def __init__(self, policy: Policy, rows: int) -> None:
        self._policy, self._cache = policy, DynamicCache()
        self._held: list[list[int]] = [[] for _ in range(rows)]
        self._slots: list[list[int]] = [[] for _ in range(rows)]  # by place, where it is cached
        self._width = 0

    def scores(self, pages: Mapping[int, Page]) -> dict[int, list[float]]:
        """By row, the log-probability of each candidate; rows without a page wait."""
        rows, policy = len(self._held), self._policy
        same = {
            n: min(_alike(self._held[n], page.shared), len(page.shared) - 1)
            for n, page in pages.items()
        }
        long = max(len(page.shared) - same[n] for n, page in pages.items())
        ids = torch.zeros(rows, long, dtype=torch.long)
        places = torch.zeros(rows, long, dtype=torch.long)
        seen = torch.zeros(rows, 1, long, self._width + long, dtype=torch.bool)
        seen[:, 0, :, self._width :] = torch.eye(long, dtype=torch.bool)
        for n, page in pages.items():
            new = page.shared[same[n] :]
            ids[n, : len(new)] = torch.tensor(new)
            places[n, : len(new)] = torch.arange(same[n], len(page.shared))
            seen[n, 0, : len(new), self._slots[n][: same[n]]] = True
            inside = torch.ones(len(new), len(new), dtype=torch.bool).tril()
            seen[n, 0, : len(new), self._width : self._width + len(new)] = inside
            fresh = range(self._width, self._width + len(new))
            self._slots[n] = [*self._slots[n][: same[n]], *fresh]
            self._held[n] = page.shared
        self._width += long
        at = [(n, len(page.shared) - same[n] - 1) for n, page in pages.items()]
        with torch.no_grad():
            hidden = policy.hidden(
                input_ids=ids.to(policy.device),
                position_ids=places.to(policy.device),
                attention_mask=seen.to(policy.device),
                past_key_values=self._cache,
                use_cache=True,
            )
            asked = [[e[0] for e in page.endings] for page in pages.values()]
            table = policy.read_off(hidden, at, asked).clamp(max=0.0).tolist()
        return {
            n: scores[: len(page.endings)]
            for (n, page), scores in zip(pages.items(), table, strict=True)
        }


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
