"""Notes about what a player will ask for, and who has read them.

Notes tell `player_1` what `player_2` expects. In the simple case, the other player believes the
note about `player_1` that it read last and replies best to it. If some readings of `player_1` were
seen by others, the other player believes no note about `player_1`; it takes `player_1` to believe
the note that it last saw `player_1` read, expects the best reply to that, and replies best again.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from sally.core.errors import BadInput

OTHER = 0  # index of the other player among the people


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A note that says how much a player will ask for."""

    colour: str
    amount: int
    about: Literal["you", "other"] = "you"


class Reading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event: a person reads a note, or sees `player_1` read it."""

    person: int
    note: int
    sees_you: bool = False


class Notes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The notes on the table, the people around it, and who read which note, in order of time."""

    people: tuple[str, ...]  # the other player comes first
    notes: tuple[Note, ...]
    readings: tuple[Reading, ...]

    def __post_init__(self) -> None:
        for reading in self.readings:
            if not 0 <= reading.person < len(self.people):
                raise BadInput(f"a reading names person {reading.person} of {len(self.people)}")
            if not 0 <= reading.note < len(self.notes):
                raise BadInput(f"a reading names note {reading.note} of {len(self.notes)}")
        if not self.amounts_read():
            raise BadInput("the other player must have read a note, or have seen one being read")

    @property
    def depth(self) -> int:
        """How many minds the other player's request depends on: its own, or also `player_1`'s as
        the other player sees it."""
        return 2 if any(reading.sees_you for reading in self.readings) else 1

    def amounts_read(self, depth: int | None = None) -> list[int]:
        """Return the amounts on the notes that count for the other player, in order of time.

        Args:
            depth: 1 for the notes that the other player read, 2 for those that it saw `player_1`
                read; None for the depth of these notes.
        """
        is_second = (self.depth if depth is None else depth) == 2
        return [
            self.notes[reading.note].amount
            for reading in self.readings
            if reading.person == OTHER and reading.sees_you == is_second
        ]
