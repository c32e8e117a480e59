"""Append-only text with a running digest, so that no part of a long prompt is hashed twice."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Final

DIGEST_SIZE: Final = 16
_text = str.__new__  # looked up once because a page grows at every turn


class HashedText(str):
    """A text with a running digest: only appended text is hashed, on demand."""

    __slots__ = ("_hashed",)

    _hashed: tuple[blake2b, str]  # the hasher so far, and the end that is not hashed yet

    @classmethod
    def start(cls, text: str = "") -> HashedText:
        """Return a text with a running digest, to which more text can be appended."""
        begun = _text(cls, text)
        begun._hashed = blake2b(digest_size=DIGEST_SIZE), text
        return begun

    def plus(self, suffix: str) -> HashedText:
        """Return a new text with `suffix` appended; this text is unchanged, so prompts can
        branch."""
        grown = _text(HashedText, self + suffix)
        grown._hashed = self._hasher(), suffix
        return grown

    def digest(self) -> bytes:
        """Return the digest of the whole text, the same as for an ordinary string."""
        return self._hasher().digest()

    def _hasher(self) -> blake2b:
        hasher, end = self._hashed
        if end:
            hasher = hasher.copy()
            hasher.update(_utf8(end))
            self._hashed = hasher, ""
        return hasher

    def __reduce__(self) -> tuple[Any, ...]:
        # A hasher cannot be pickled; it is rebuilt from the text.
        return (HashedText.start, (str(self),))

    def __str__(self) -> str:
        return str.__getitem__(self, slice(None))


def _utf8(text: str) -> bytes:
    # Replies may hold lone surrogates; hashing them must not fail.
    return text.encode("utf-8", "surrogatepass")


def text_digest(text: str) -> bytes:
    """Return the digest of a text; the running digest is used if the text has one."""
    if isinstance(text, HashedText):
        return text.digest()
    return blake2b(_utf8(text), digest_size=DIGEST_SIZE).digest()
