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

    def pages(self, asks: Sequence[tuple[str, Sequence[str]]]) -> list[Page]:
        """Texts with their candidates, tokenised as one."""
        new = [ask for ask in asks if (ask[0], tuple(ask[1])) not in self._met]
        texts = [text + name for text, names in new for name in names]
        ids = iter(self._tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else [])
        for text, names in new:
            self._met[text, tuple(names)] = _page([next(ids) for _ in names])
        return [self._met[text, tuple(names)] for text, names in asks]


class Policy:
    """The model of a folder."""

    def __init__(self, folder: Path, device: str = "") -> None:
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        if str(folder) in catalogue.NAMES:  # weights that Sally knows: a file, unpacked once
            folder = loader.unpack_gguf(catalogue.have(str(folder)), "bfloat16")
        self.folder = folder
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
        self.model = model.float().to(self.device)
        if self.device == "cuda":  # with our masks it gave gradients of NaN (torch 2.11, H200)
            torch.backends.cuda.enable_cudnn_sdp(False)
        self.tokens = Tokens(self.tokenizer)
        self.model.eval()  # there is no dropout, and sampling and learning must see one policy
        self.learn_tokens = LEARN_TOKENS[self.device]

    def pages(self, asks: Sequence[tuple[str, Sequence[str]]]) -> list[Page]:
        """Texts with their candidates, tokenised as one."""
        return self.tokens.pages(asks)

    def forget(self) -> None:
        """Let go of the pages that were met."""
        self.tokens = Tokens(self.tokenizer)

    def scores(self, asks: Sequence[tuple[str, Sequence[str]]]) -> list[list[float]]:
        """By text, the log-probability of each candidate."""
        pages = self.pages(asks)
        all_scores: list[list[float]] = [[] for _ in pages]
        with torch.no_grad():
            for chunk in self.chunks(pages):
                table = self.score_pages([pages[i] for i in chunk]).clamp(max=0.0).tolist()
                for place, scores in zip(chunk, table, strict=True):
                    all_scores[place] = scores[: len(pages[place].endings)]
        return all_scores

    def chunks(self, pages: Sequence[Page]) -> Iterable[list[int]]:
        """Places of pages that fit into one pass."""
        return _chunks(pages, BATCH_TOKENS[self.device])

    def score_pages(self, pages: Sequence[Page]) -> torch.Tensor:
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
        positions = torch.tensor(spots, device=self.device)
        owner = torch.tensor(owners, device=self.device)
        token_ids = torch.tensor(tokens, device=self.device)
        logits = self.model.lm_head(self._hidden(rows)[positions[:, 0], positions[:, 1]]).float()
        token_logs = logits.log_softmax(-1).gather(1, token_ids[:, None])[:, 0]
        size = len(pages) * width
        total = torch.zeros(size, device=self.device).index_add(0, owner, token_logs)
        is_candidate = torch.zeros(size, dtype=torch.bool, device=self.device).index_fill(
            0, owner, True
        )
        return total.masked_fill(~is_candidate, -torch.inf).reshape(len(pages), width)

    def _hidden(self, rows: Sequence[list[int]]) -> torch.Tensor:
        longest = max(map(len, rows))
        # Padding stands on the right, where no token in use can see it: no mask is needed.
        filled = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
        return self.hidden(input_ids=filled.to(self.device), use_cache=False)

    def hidden(self, **inputs: Any) -> torch.Tensor:
        """The last hidden states, in 16 bits on an accelerator."""
        if self.device != "cuda":
            out = self.model.model(**inputs)
            return out.last_hidden_state.float()
        if (mask := inputs.get("attention_mask")) is not None:
            # The memory-efficient kernel gave gradients of NaN with a mask of truth values.
            hidden = torch.zeros(mask.shape, dtype=torch.bfloat16, device=self.device)
            inputs["attention_mask"] = hidden.masked_fill(~mask, HIDDEN)
        with torch.autocast("cuda", torch.bfloat16):
            out = self.model.model(**inputs)
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
        mask = torch.zeros(len(trees), 1, longest, longest, dtype=torch.bool)
        mask[:, 0] = torch.eye(longest, dtype=torch.bool)  # padding must see something
        positions, candidates = list[tuple[int, int]](), list[list[int]]()
        for n, tree in enumerate(trees):
            n_tokens = len(tree.tokens)
            ids[n, :n_tokens] = torch.tensor(tree.tokens)
            places[n, :n_tokens] = torch.tensor(tree.places)
            mask[n, 0, :n_tokens, :n_tokens] = tree.mask
            positions += [(n, end) for end in tree.ends]
            candidates += tree.candidates
        hidden = self.hidden(
            input_ids=ids.to(self.device),
            position_ids=places.to(self.device),
            attention_mask=mask.to(self.device),
            use_cache=False,
        )
        return self.read_off(hidden, positions, candidates)

    def read_off(
        self,
        hidden: torch.Tensor,
        positions: Sequence[tuple[int, int]],
        candidates: Sequence[Sequence[int]],
    ) -> torch.Tensor:
        """(spot, candidate) -> log-probability of candidates of one token each."""
        spots = torch.tensor(positions, device=self.device)
        logits = self.model.lm_head(hidden[spots[:, 0], spots[:, 1]]).float()
        width = max(map(len, candidates))
        candidate_ids = torch.tensor(
            [[*token_ids, *[0] * (width - len(token_ids))] for token_ids in candidates]
        )
        is_candidate = torch.tensor(
            [[n < len(token_ids) for n in range(width)] for token_ids in candidates]
        )
        logs = logits.log_softmax(-1).gather(1, candidate_ids.to(self.device))
        return logs.masked_fill(~is_candidate.to(self.device), -torch.inf)


class Tree(NamedTuple):
    """Pages of an episode as one row of tokens, each seeing only the tokens of its own page."""

    tokens: list[int]
    places: list[int]  # in their page
    mask: torch.Tensor  # (token, token)
    ends: list[int]  # where each page ends
    candidates: list[list[int]]  # the candidates of each page


Trees = Sequence[Tree]


def in_one_token(pages: Iterable[Page]) -> bool:
    """Whether every candidate is one token, as trees and caches need."""
    return all(len(ending) == 1 for page in pages for ending in page.endings)


def _tree(pages: Sequence[Page]) -> Tree:
    if not in_one_token(pages):
        raise SystemExit("A name of an option has several tokens; choose other letters.")
    previous = [[], *(page.shared for page in pages)]
    alike = [_alike(old, page.shared) for old, page in zip(previous, pages, strict=False)]
    total = sum(len(page.shared) - n_shared for page, n_shared in zip(pages, alike, strict=True))
    mask = torch.zeros(total, total, dtype=torch.bool)
    tokens, places, ends, path = list[int](), list[int](), list[int](), list[int]()
    for page, n_shared in zip(pages, alike, strict=True):
        first, n_new = len(tokens), len(page.shared) - n_shared
        tokens += page.shared[n_shared:]
        places += range(n_shared, len(page.shared))
        path = [*path[:n_shared], *range(first, first + n_new)]
        mask[first : first + n_new, path] = True
        mask[first : first + n_new, first : first + n_new].tril_()
        ends.append(path[-1])
    return Tree(tokens, places, mask, ends, [[e[0] for e in page.endings] for page in pages])


def _alike(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens two rows begin with in common."""
    for n, (a, b) in enumerate(zip(first, second, strict=False)):
        if a != b:
            return n
    return min(len(first), len(second))


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
        n_shared = {
            n: min(_alike(self._held[n], page.shared), len(page.shared) - 1)
            for n, page in pages.items()
        }
        long = max(len(page.shared) - n_shared[n] for n, page in pages.items())
        ids = torch.zeros(rows, long, dtype=torch.long)
        places = torch.zeros(rows, long, dtype=torch.long)
        mask = torch.zeros(rows, 1, long, self._width + long, dtype=torch.bool)
        mask[:, 0, :, self._width :] = torch.eye(long, dtype=torch.bool)
        for n, page in pages.items():
            new = page.shared[n_shared[n] :]
            ids[n, : len(new)] = torch.tensor(new)
            places[n, : len(new)] = torch.arange(n_shared[n], len(page.shared))
            mask[n, 0, : len(new), self._slots[n][: n_shared[n]]] = True
            inside = torch.ones(len(new), len(new), dtype=torch.bool).tril()
            mask[n, 0, : len(new), self._width : self._width + len(new)] = inside
            fresh = range(self._width, self._width + len(new))
            self._slots[n] = [*self._slots[n][: n_shared[n]], *fresh]
            self._held[n] = page.shared
        self._width += long
        positions = [(n, len(page.shared) - n_shared[n] - 1) for n, page in pages.items()]
        with torch.no_grad():
            hidden = policy.hidden(
                input_ids=ids.to(policy.device),
                position_ids=places.to(policy.device),
                attention_mask=mask.to(policy.device),
                past_key_values=self._cache,
                use_cache=True,
            )
            candidates = [[e[0] for e in page.endings] for page in pages.values()]
            table = policy.read_off(hidden, positions, candidates).clamp(max=0.0).tolist()
        return {
            n: scores[: len(page.endings)]
            for (n, page), scores in zip(pages.items(), table, strict=True)
        }


def _page(ids: Sequence[list[int]]) -> Page:
    """Candidates never begin one another, so each has an ending of its own."""
    alike = 0
    while len({token_ids[alike] for token_ids in ids}) == 1:
        alike += 1
    return Page(ids[0][:alike], [token_ids[alike:] for token_ids in ids])


def _chunks(pages: Sequence[Page], budget: int) -> Iterable[list[int]]:
    """Pages of like length together, as many as the budget of tokens takes."""

    def rows(page: Page) -> int:
        return 1 if all(len(e) == 1 for e in page.endings) else len(page.endings)

    def length(page: Page) -> int:
        return len(page.shared) + max(map(len, page.endings)) - 1

    chunk: list[int] = []
    n_rows = 0
    for place in sorted(range(len(pages)), key=lambda i: length(pages[i])):
        page = pages[place]
        if chunk and (n_rows + rows(page)) * length(page) > budget:
            yield chunk
            chunk, n_rows = [], 0
        chunk.append(place)
        n_rows += rows(page)
    if chunk:
        yield chunk
