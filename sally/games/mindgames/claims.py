"""What a reader finds in a message: facts told and questions asked, by name."""

from collections.abc import Iterable

import msgspec

from sally.core.rules.menu import Act
from sally.games.mindgames.puzzles import Cell, Puzzle


class Disclosure(Act, frozen=True, order=True):
    """The message says what one proposal does to one attribute (-1, 0 or 1)."""

    proposal: str
    attribute: str
    utility: int


class Asked(Act, frozen=True, order=True):
    """The message asks what the other knows of one proposal's effect on one attribute."""

    proposal: str
    attribute: str


class Claims(Act, frozen=True):
    """Everything a reader found in one message: its move, each list sorted, without repeats."""

    disclosures: tuple[Disclosure, ...] = ()
    motivational: tuple[str, ...] = ()
    informational: tuple[Asked, ...] = ()
    inferential: tuple[str, ...] = ()
    unclear: tuple[Disclosure, ...] = ()  # read in one of two ways; the speaker is asked which

    @property
    def empty(self) -> bool:
        """Was nothing recognised?"""
        return self == Claims()


class Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the rows and columns of a puzzle are called in a conversation."""

    proposals: tuple[str, ...]
    attributes: tuple[str, ...]
    noun: str = "proposal"

    def cell(self, proposal: str, attribute: str) -> Cell:
        """The row and column of a named cell."""
        return (self.proposal(proposal), self.attribute(attribute))

    def proposal(self, name: str) -> int:
        """The row of a named proposal."""
        return _place(name, self.proposals, self.noun)

    def attribute(self, name: str) -> int:
        """The column of a named attribute."""
        return _place(name, self.attributes, "attribute")


class UnknownName(ValueError):
    """A claim names a proposal or an attribute that the game does not have."""


def _place(name: str, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        raise UnknownName(f"There is no {what} {name!r} here; there are {', '.join(names)}.")
    return names.index(name)


def claims(
    disclosures: Iterable[Disclosure] = (),
    motivational: Iterable[str] = (),
    informational: Iterable[Asked] = (),
    inferential: Iterable[str] = (),
    unclear: Iterable[Disclosure] = (),
) -> Claims:
    """Claims in their one canonical order."""
    return Claims(
        disclosures=tuple(sorted(set(disclosures))),
        motivational=tuple(sorted(set(motivational))),
        informational=tuple(sorted(set(informational))),
        inferential=tuple(sorted(set(inferential))),
        unclear=tuple(sorted(set(unclear))),
    )


def disclosed_cells(found: Claims, names: Names) -> frozenset[Cell]:
    """The cells a message talks about as facts."""
    return frozenset(names.cell(d.proposal, d.attribute) for d in found.disclosures)


def falsehoods(found: Claims, puzzle: Puzzle, names: Names) -> tuple[Disclosure, ...]:
    """The disclosures that are not so; one of them rejects the whole message."""
    return tuple(
        d
        for d in found.disclosures
        if puzzle.utility(names.cell(d.proposal, d.attribute)) != d.utility
    )
