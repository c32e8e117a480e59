"""A check, by hashes, of whether a words pack reproduces a paper's published text.

A paper's folder may hold `wording.json`: hashes of texts that the paper prints, computed after
whitespace is collapsed and emphasis marks are removed. The texts themselves may not be
redistributed. A pack is rendered for an example and hashed in the same way: its rules as a whole,
or, for a passage of a known number of words, every passage of that length in the rules and in the
pack's own sentences.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Literal

import msgspec

from sally.core.registry import packs, registry
from sally.core.rules.game import Seat
from sally.core.rules.words import Pack


class PrintedText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One text that a paper prints: its hash, and the prompt and part to which it belongs."""

    what: str
    game: str
    params: dict[str, Any]
    seat: str
    part: Literal["rules", "passage"]
    sha256: str
    words: int = 0  # of a passage


class PackMatch(msgspec.Struct, frozen=True):
    """Whether a pack reproduces one printed text."""

    what: str
    verbatim: bool


def folded_hash(text: str) -> str:
    """Return the SHA-256 of a text with whitespace collapsed and emphasis marks removed.

    >>> folded_hash("**a**  b\\n") == folded_hash(" a b")
    True
    """
    return sha256(" ".join(_words(text)).encode()).hexdigest()


def _words(text: str) -> list[str]:
    return text.replace("*", "").replace("#", "").split()


def printed_texts(paper: str) -> tuple[PrintedText, ...]:
    """Return the texts listed in a paper's `wording.json`; empty if there is no such file."""
    file = files(registry.paper(paper).home) / "wording.json"
    if not file.is_file():
        return ()
    return msgspec.convert(json.loads(file.read_text("utf-8")), tuple[PrintedText, ...])


def compare_with_printed(pack: Pack) -> Mapping[str, Sequence[PackMatch]]:
    """Return, by paper, which printed texts of the pack's game the pack reproduces."""
    matches: dict[str, list[PackMatch]] = {}
    for paper in registry.entries("papers"):
        for text in printed_texts(paper):
            if registry.family(text.game).name == registry.family(pack.game).name:
                matches.setdefault(paper, []).append(PackMatch(text.what, _reproduces(pack, text)))
    return matches


def _reproduces(pack: Pack, text: PrintedText) -> bool:
    page = render_rules(text, pack)
    if text.part == "rules":
        return folded_hash(page) == text.sha256
    for pack_text in (page, *pack.texts.values()):
        words = _words(pack_text)
        passages = (words[n : n + text.words] for n in range(len(words) - text.words + 1))
        if any(folded_hash(" ".join(passage)) == text.sha256 for passage in passages):
            return True
    return False


@cache
def verbatim_texts(reference: str) -> tuple[str, ...]:
    """Return the published texts that a pack, given by its reference, reproduces word for word."""
    texts = compare_with_printed(packs.find(reference))
    return tuple(
        f"{paper}: {match.what}" for paper, all in texts.items() for match in all if match.verbatim
    )


def render_rules(text: PrintedText, pack: Pack) -> str:
    """Return the rules as a seat is shown them in the wording of a pack. The game and the seat are
    those to which `text`, a text printed in a paper, belongs."""
    spec = registry.game(text.game)
    words = spec.words(spec.build(text.params), {**spec.texts, **pack.texts})
    return words.rules(Seat(text.seat))
