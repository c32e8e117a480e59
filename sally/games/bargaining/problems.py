"""Problems that a visitor of the lobby may choose from: message orders and numbers of rounds."""

from __future__ import annotations

from functools import cache

from sally.core.log.events import Instance
from sally.core.rules.problems import Problem, Problems
from sally.games.bargaining.rules import SEATS

TALK = {
    "simultaneous": "both at the same time",
    "sequential": "one after the other",
    "none": "nothing",
}
ROUNDS = {20: "twenty rounds", 5: "five rounds"}


@cache
def PROBLEMS() -> Problems:
    """Return every combination of message order and number of rounds."""
    problems = tuple(
        Problem(
            (talk_text, long),
            Instance(f"bargaining-{talk}-{rounds}", "bargaining", {"talk": talk, "rounds": rounds}),
            SEATS,
        )
        for talk, talk_text in TALK.items()
        for rounds, long in ROUNDS.items()
    )
    return Problems(("What is said", "The game has"), problems)
