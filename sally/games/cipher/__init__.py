"""Cipher: hints that the decoder must understand and the interceptor must not."""

from sally.games.cipher.spec import GAME

__all__ = ["GAME"]
