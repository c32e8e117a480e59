"""brockbank2024 as a study: the fifteen bots against a model or a learner."""

from __future__ import annotations

from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.papers.brockbank2024.importer import ADAPTIVE, MATRIX, NAMES, STABLE
from sally.papers.brockbank2024.reader import ROUNDS
from sally.players.language import OPEN

BOTS_BESIDE = ("random", "tabular")


def study(model: str = OPEN) -> Study:
    """Return the study: 300 rounds against each bot, which treats void rounds as the authors' bots
    do."""
    problem = instance(
        "rps", "brockbank2024", matrix=MATRIX, rounds=ROUNDS, names=list(NAMES), void_limit=ROUNDS
    )
    agents = (
        *(player_spec(bot) for bot in BOTS_BESIDE),
        player_spec("language", model=model, strategy="qa"),
    )
    cells = tuple(
        Cell(
            f"{kind} bots",
            (problem,),
            grid(
                agent=agents, partner=tuple(player_spec(b, void="published") for b in bots.values())
            ),
            arms={"agent": ("their_move",)},
        )
        for kind, bots in (("stable", STABLE), ("adaptive", ADAPTIVE))
    )
    return Study(
        name="brockbank2024",
        about="rock, paper, scissors against the fifteen bots that people met, predictions asked",
        cells=cells,
        paper="brockbank2024",
        seed=2024,
    )


STUDY = study()
STUDIES = (STUDY,)
