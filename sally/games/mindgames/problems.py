"""Problems that a visitor of the lobby may choose from: who makes the final choice, and whether
lies are believed."""

from __future__ import annotations

from functools import cache

from sally.core.log.events import Instance
from sally.core.rules.problems import Problem, Problems
from sally.games.mindgames.rules import PERSUADER, TARGET

WHO = {"exact": "a target that goes by what it knows", "free": "a player"}
SAYING = {False: "has to be true", True: "is believed"}


@cache
def list_problems() -> Problems:
    """Return every combination of who makes the final choice and whether lies are believed."""
    problems = tuple(
        Problem(
            (chooses, may),
            Instance(f"mindgames-{target}{'-lying' if lying else ''}", "mindgames", params),
            (PERSUADER, TARGET) if target == "free" else (PERSUADER,),
        )
        for target, chooses in WHO.items()
        for lying, may in SAYING.items()
        for params in [{"target": target, "lying": lying}]
    )
    return Problems(("The choice is made by", "What is stated"), problems)


PROBLEMS = list_problems
