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


def mutate(data: bytes, draw: random.Random) -> bytes:
    """The bytes with one to four things done to them."""
    for _ in range(draw.randrange(1, 5)):
        start = draw.randrange(len(data) + 1)
        end = min(len(data), start + draw.choice((0, 1, 1, 2, 8, 40, 400)))
        match draw.randrange(6):
            case 0 if start < len(data):
                data = (
                    data[:start]
                    + bytes([data[start] ^ (1 << draw.randrange(8))])
                    + data[start + 1 :]
                )
            case 1:
                data = data[:start] + data[end:]
            case 2:
                data = data[:end] + data[start:end] + data[end:]
            case 3:
                data = data[:start]
            case 4:
                lines = data.split(b"\n")
                draw.shuffle(lines)
                data = b"\n".join(lines)
            case _:
                data = data[:start] + draw.choice(PIECES) + data[end:]
    return data
