"""What can be told and asked in MindGames, and what a persuader says who draws it at random."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.rules.menu import Choice, Form, Many, Whole
from sally.games.mindgames.claims import Asked, Claims, Disclosure, Names
from sally.games.mindgames.puzzles import Puzzle

EFFECTS = {1: "increases", 0: "has no effect on", -1: "decreases"}


def claims_form(names: Names, cells: int) -> Form[Any]:
    """Whatever can be told or asked, by name."""
    proposal, attribute = Choice(names.proposals), Choice(names.attributes)
    named: Any = (("proposal", proposal), ("attribute", attribute))
    told_of = Form(Disclosure, (*named, ("utility", Whole(-1, 1))))
    return Form(
        Claims,
        (
            ("disclosures", Many(told_of, 3 * cells)),
            ("motivational", Many(attribute, len(names.attributes))),
            ("informational", Many(Form(Asked, named), cells)),
            ("inferential", Many(proposal, len(names.proposals))),
            ("unclear", Many(told_of, cells)),
        ),
    )


def samples(names: Names, puzzle: Puzzle, discrete: bool) -> tuple[str, ...]:
    """What a random persuader says: one true cell, one false, a question, or nothing much."""
    if discrete:
        asked = {"motivational": list(names.attributes)}
        return ("{}", msgspec.json.encode(asked).decode())
    noun = names.noun.capitalize()
    told_of = [
        f"{noun} {names.proposals[p]} {EFFECTS[u]} {names.attributes[a]}."
        for p, a in puzzle.cells
        for u in (puzzle.utility((p, a)), (puzzle.utility((p, a)) + 2) % 3 - 1)
    ]
    return (*told_of, "What do you like?", f"Which {names.noun} do you prefer?", "Hello.")
