"""Claims of a message: disclosed facts and questions, by name, and the form (a structured menu)
that a reader fills in with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from sally.core.rules.menu import Act, Choice, Form, Many, Whole
from sally.games.mindgames.puzzles import Cell, Puzzle


class Disclosure(Act, frozen=True, order=True):
    """A statement of the effect of one proposal on one attribute (-1, 0 or 1)."""

    proposal: str
    attribute: str
    utility: int


class Asked(Act, frozen=True, order=True):
    """A question about whether the target knows one proposal's effect on one attribute."""

    proposal: str
    attribute: str


class Claims(Act, frozen=True):
    """All claims found in one message; each list is sorted and without duplicates."""

    disclosures: tuple[Disclosure, ...] = ()
    motivational: tuple[str, ...] = ()
    informational: tuple[Asked, ...] = ()
    inferential: tuple[str, ...] = ()
    unclear: tuple[Disclosure, ...] = ()  # ambiguous; the speaker is asked which is meant


class Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The names of a puzzle's proposals (rows) and attributes (columns) in a conversation."""

    proposals: tuple[str, ...]
    attributes: tuple[str, ...]
    noun: str = "proposal"

    def cell(self, proposal: str, attribute: str) -> Cell:
        """Return the row and column of a named cell."""
        return (self.proposal(proposal), self.attribute(attribute))

    def proposal(self, name: str) -> int:
        """Return the row of a named proposal."""
        return _place(name, self.proposals, self.noun)

    def attribute(self, name: str) -> int:
        """Return the column of a named attribute."""
        return _place(name, self.attributes, "attribute")


class UnknownName(ValueError):
    """Raised for a proposal or an attribute that the game does not have."""


def _place(name: str, names: tuple[str, ...], kind: str) -> int:
    if name not in names:
        raise UnknownName(f"There is no {kind} {name!r} here; the names are {', '.join(names)}.")
    return names.index(name)


def claims(
    disclosures: Iterable[Disclosure] = (),
    motivational: Iterable[str] = (),
    informational: Iterable[Asked] = (),
    inferential: Iterable[str] = (),
    unclear: Iterable[Disclosure] = (),
) -> Claims:
    """Return claims in canonical order."""
    return Claims(
        disclosures=tuple(sorted(set(disclosures))),
        motivational=tuple(sorted(set(motivational))),
        informational=tuple(sorted(set(informational))),
        inferential=tuple(sorted(set(inferential))),
        unclear=tuple(sorted(set(unclear))),
    )


def disclosed_cells(message_claims: Claims, names: Names) -> frozenset[Cell]:
    """Return the cells that a message discloses."""
    return frozenset(names.cell(d.proposal, d.attribute) for d in message_claims.disclosures)


def falsehoods(message_claims: Claims, puzzle: Puzzle, names: Names) -> tuple[Disclosure, ...]:
    """Return the false disclosures; a single one is enough to reject the whole message."""
    return tuple(
        d
        for d in message_claims.disclosures
        if puzzle.utility(names.cell(d.proposal, d.attribute)) != d.utility
    )


EFFECTS = {1: "increases", 0: "has no effect on", -1: "decreases"}


def claims_form(names: Names, cells: int) -> Form[Any]:
    """Return the form in which a reader records the disclosures and questions of a message, with
    proposals and attributes given by name."""
    proposal, attribute = Choice(names.proposals), Choice(names.attributes)
    cell_fields: Any = (("proposal", proposal), ("attribute", attribute))
    told_of = Form(Disclosure, (*cell_fields, ("utility", Whole(-1, 1))))
    return Form(
        Claims,
        (
            ("disclosures", Many(told_of, 3 * cells)),
            ("motivational", Many(attribute, len(names.attributes))),
            ("informational", Many(Form(Asked, cell_fields), cells)),
            ("inferential", Many(proposal, len(names.proposals))),
            ("unclear", Many(told_of, cells)),
        ),
    )


def samples(names: Names, puzzle: Puzzle, discrete: bool) -> tuple[str, ...]:
    """Return the messages that a random persuader may send: true or false statements about
    cells, questions, and a greeting."""
    if discrete:
        appeal = {"motivational": list(names.attributes)}
        return ("{}", msgspec.json.encode(appeal).decode())
    noun = names.noun.capitalize()
    told_of = [
        f"{noun} {names.proposals[p]} {EFFECTS[u]} {names.attributes[a]}."
        for p, a in puzzle.cells
        for u in (puzzle.utility((p, a)), (puzzle.utility((p, a)) + 2) % 3 - 1)
    ]
    return (*told_of, "What do you like?", f"Which {names.noun} do you prefer?", "Hello.")
