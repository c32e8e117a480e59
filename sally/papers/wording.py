"""Whether a words pack reproduces a paper's published text, decided by hashes.

A paper's folder may hold `wording.json`: hashes of texts that the paper prints for one example,
with whitespace folded. The texts themselves are not ours to ship. A pack is rendered for the same
example and hashed in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any, Literal

import msgspec

from sally.core.prompt.words import Pack
from sally.core.registry import registry
from sally.core.rules.game import Seat


class PrintedText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One text that a paper prints: which part of which prompt, and its hash."""

    what: str
    game: str
    params: dict[str, Any]
    seat: str
    part: Literal["rules"]
    sha256: str


class Found(msgspec.Struct, frozen=True):
    """Whether a pack reproduces one printed text."""

    what: str
    verbatim: bool


def folded_hash(text: str) -> str:
    """Return the SHA-256 of a text whose runs of whitespace count as one space.

    >>> folded_hash("a  b\\n") == folded_hash(" a b")
    True
    """
    return sha256(" ".join(text.split()).encode()).hexdigest()


def printed_texts(paper: str) -> tuple[PrintedText, ...]:
    """Return the texts of a paper that are known by their hash."""
    file = files(registry.paper(paper).home) / "wording.json"
    if not file.is_file():
        return ()
    return msgspec.convert(json.loads(file.read_text("utf-8")), tuple[PrintedText, ...])


def compared(pack: Pack) -> Mapping[str, Sequence[Found]]:
    """Return, by paper, which printed texts of the pack's game the pack reproduces."""
    found: dict[str, list[Found]] = {}
    for paper in registry.entries("papers"):
        for text in printed_texts(paper):
            if registry.family(text.game).name == registry.family(pack.game).name:
                same = folded_hash(rendered(text, pack)) == text.sha256
                found.setdefault(paper, []).append(Found(text.what, same))
    return found


def rendered(text: PrintedText, pack: Pack) -> str:
    """Return the part of a prompt that a printed text belongs to, in the words of a pack."""
    spec = registry.game(text.game)
    words = spec.words(spec.build(text.params), {**spec.texts, **pack.texts})
    return words.rules(Seat(text.seat))
