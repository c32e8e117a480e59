"""The belief rule of nested stories, in closed form.

People believe what they last saw or were told, trust what they are told, and know who was present.
A chain of minds stands for a nested belief: what the first believes that the second believes, and
so on. An event determines the belief of a chain if all its members were present; a lie does not
change the speaker's own belief. A second implementation, in the tests, simulates each mind's own
history.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

Chain = tuple[int, ...]  # (a, b): what a thinks b thinks; empty: what is so


class Event(msgspec.Struct, frozen=True):
    """An event: the thing is put into a place, or a person says in private where it is."""

    kind: Literal["put", "tell"]
    present: tuple[int, ...]  # persons present; the first one acts or speaks
    place: int
    lie: bool = False  # the speaker believes otherwise


def place_believed(events: Sequence[Event], chain: Chain, talk: bool = True) -> int:
    """Return the place where a chain of minds believes the thing is.

    With `talk` false, statements are ignored.
    """
    for event in reversed(events):
        heard = event.kind == "put" or (talk and bool(chain))
        own_lie = event.lie and chain == event.present[:1]
        if heard and set(chain) <= set(event.present) and not own_lie:
            return event.place
    raise ValueError("everybody must see the first event")


def simpler(chain: Chain) -> dict[str, Chain]:
    """Return the shorter chains of minds that a simplifying reader uses instead of this one:
    without one of the minds, or with only its first or last minds."""
    shorter_chains: dict[str, Chain] = {}
    for n in range(len(chain)):
        shorter_chains[f"without_mind_{n + 1}"] = chain[:n] + chain[n + 1 :]
    for n in range(1, len(chain)):
        shorter_chains[f"first_{n}"], shorter_chains[f"last_{n}"] = chain[:n], chain[-n:]
    return shorter_chains
