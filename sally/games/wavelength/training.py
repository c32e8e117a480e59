"""Wavelength to learn from."""

from __future__ import annotations

from sally.core.log.events import PlayerSpec
from sally.core.rules.training import Split, Training, by_problem
from sally.games.wavelength.instances import frozen
from sally.games.wavelength.rules import Wavelength


def split(game: str) -> Split:
    """The frozen rows of problems, dealt to the parts; the learner gives, the other guesses."""
    rows = range(len(frozen(Wavelength().set).rows))
    problems = {f"{game}_{n}": {"number": n} for n in rows}
    return by_problem(game, "psychic", problems, {"guesser": PlayerSpec("own_dial")})


TRAINING = Training(split)
