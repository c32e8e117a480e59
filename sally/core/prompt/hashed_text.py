"""Text that grows by appending and knows its digest, so that a long page is not hashed anew."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Final

DIGEST_SIZE: Final = 16
_text = str.__new__  # looked up once: a page grows at every turn


class HashedText(str):
    """A text that remembers its running digest, so that hashing what was appended is enough."""

    __slots__ = ("_hasher",)

    _hasher: blake2b

    @classmethod
    def start(cls, text: str = "") -> HashedText:
        """Begin a growing text."""
        return cls._make(text, blake2b(_utf8(text), digest_size=DIGEST_SIZE))

    @classmethod
    def _make(cls, text: str, hasher: blake2b) -> HashedText:
        grown = str.__new__(cls, text)
        grown._hasher = hasher
        return grown

    def plus(self, more: str) -> HashedText:
        """The longer text; this one stays as it was, so two pages may fork from it."""
        hasher = self._hasher.copy()
        hasher.update(_utf8(more))
        grown = _text(HashedText, self + more)
        grown._hasher = hasher
        return grown

    def digest(self) -> bytes:
        """The digest of the whole text, equal to that of the plain string."""
        return self._hasher.digest()

    def __reduce__(self) -> tuple[Any, ...]:
        # A hasher cannot be pickled; it is made again from the text.
        return (HashedText.start, (str(self),))

    def __str__(self) -> str:
        return str.__getitem__(self, slice(None))


def _utf8(text: str) -> bytes:
    # Replies may hold lone surrogates; hashing them must not fail.
    return text.encode("utf-8", "surrogatepass")


def text_digest(text: str) -> bytes:
    """The digest of a text, taken from its running hasher where it has one."""
    if isinstance(text, HashedText):
        return text.digest()
    return blake2b(_utf8(text), digest_size=DIGEST_SIZE).digest()
