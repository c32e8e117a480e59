"""Word pieces of an uncased BERT vocabulary (Devlin et al. 2019)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

LONGEST_WORD = 100  # characters; a longer word is unknown


@dataclass(frozen=True)
class WordPiece:
    """Cuts a text into the longest pieces that the vocabulary has."""

    vocabulary: Sequence[str]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {piece: number for number, piece in enumerate(self.vocabulary)}

    def tokens(self, text: str, most: int) -> list[int]:
        """The numbers of the pieces between a start and an end mark; what is too long is cut."""
        ids = self._ids
        pieces = [piece for word in words(text) for piece in self._pieces(word)]
        return [ids["[CLS]"], *(ids[piece] for piece in pieces[: most - 2]), ids["[SEP]"]]

    def _pieces(self, word: str) -> list[str]:
        if len(word) > LONGEST_WORD:
            return ["[UNK]"]
        found, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((e for e in ends if mark + word[start:e] in self._ids), None)
            if end is None:
                return ["[UNK]"]
            found.append(mark + word[start:end])
            start = end
        return found


def words(text: str) -> Iterator[str]:
    """Words and single signs in small letters, without accents."""
    word = ""
    plain = unicodedata.normalize("NFD", _clean(text).lower())
    for sign in plain:
        if unicodedata.category(sign) == "Mn":
            continue
        if sign.isspace() or _is_alone(sign):
            if word:
                yield word
            if not sign.isspace():
                yield sign
            word = ""
        else:
            word += sign
    if word:
        yield word


def _clean(text: str) -> str:
    """The text without control signs; every kind of blank is a blank."""
    kept = (" " if c.isspace() else c for c in text if c.isspace() or c not in "\0\ufffd")
    return "".join(c for c in kept if c == " " or not unicodedata.category(c).startswith("C"))


def _is_alone(sign: str) -> bool:
    """Punctuation, every ASCII sign that is no letter or digit, and Chinese characters."""
    code = ord(sign)
    if code < 128:
        return not (sign.isalnum() or sign.isspace())
    chinese = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF
    compatible = 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F
    return chinese or compatible or unicodedata.category(sign).startswith("P")
