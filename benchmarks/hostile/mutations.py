"""What happens to bytes on their way: seeded flips, cuts, swaps, repeats and strange pieces."""

from __future__ import annotations

import random

PIECES = (
    *(
        b"",
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\n",
        b"\r\n",
        b",",
        b'"',
        b";",
    ),
    *(b"null", b"NaN", b"-1", b"1e999", b"9" * 30, b"[]", b"{}", b"[" * 200, b"=cmd()", b"../.."),
    *("²".encode(), "\u202e".encode(), b"true", b"0", b"99", b" ", b"\t", b":", b"}", b"]"),
)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The bytes with one to four things done to them."""
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(data) + 1)
        to = min(len(data), at + draw.choice((0, 1, 1, 2, 8, 40, 400)))
        match draw.randrange(6):
            case 0 if at < len(data):
                data = data[:at] + bytes([data[at] ^ (1 << draw.randrange(8))]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[to:]
            case 2:
                data = data[:to] + data[at:to] + data[to:]
            case 3:
                data = data[:at]
            case 4:
                lines = data.split(b"\n")
                draw.shuffle(lines)
                data = b"\n".join(lines)
            case _:
                data = data[:at] + draw.choice(PIECES) + data[to:]
    return data
