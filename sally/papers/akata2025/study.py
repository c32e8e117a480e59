"""akata2025 as a study: the two games against the authors' bots, with a prediction probe."""

from __future__ import annotations

from typing import Any

from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.players.language import OPEN

ROUNDS, LONG = 10, 20


def _machine(*rows: tuple[str, list[int], list[list[str]]]) -> PlayerSpec:
    """Return a finite automaton as a player; each row gives a state's name, move odds and next
    states."""
    states: dict[str, Any] = {
        name: {"odds": odds, "after": next_states} for name, odds, next_states in rows
    }
    return player_spec("policy_table", table={"start": rows[0][0], "states": states})


ALTERNATES = _machine(
    ("J", [1, 0], [["F", "F"], ["F", "F"]]), ("F", [0, 1], [["J", "J"], ["J", "J"]])
)
DEFECTS_ONCE = _machine(
    ("F", [0, 1], [["J", "J"], ["J", "J"]]), ("J", [1, 0], [["J", "J"], ["J", "J"]])
)
SINGLE = (player_spec("single_action", action=0), player_spec("single_action", action=1))
RECIPROCAL = tuple(
    player_spec(name)
    for name in ("tit_for_tat", "suspicious_tit_for_tat", "tit_for_two_tats", "grim_trigger")
)


def study(model: str = OPEN) -> Study:
    """Return the study: ten rounds against simple bots, twenty against tit for tat in the dilemma.

    Without a model, the study holds a placeholder, and the model is chosen when the study runs.
    """
    agents = (
        player_spec("random"),
        player_spec("tabular"),
        player_spec("language", model=model, strategy="qa"),
        player_spec("language", model=model, strategy="social_qa"),  # predicts first
    )
    games = (
        ("experiment_pd", "ipd", ROUNDS, (*SINGLE, DEFECTS_ONCE)),
        ("experiment_bos", "ibs", ROUNDS, (*SINGLE, ALTERNATES)),
        ("pd_base_gpt4_tfts", "ipd", LONG, RECIPROCAL),
    )
    cells = tuple(
        Cell(
            name,
            (instance(game, f"akata2025-{name}", rounds=rounds, names=["J", "F"]),),
            grid(agent=agents, partner=partners),
            arms={"agent": ("their_move",)},
        )
        for name, game, rounds, partners in games
    )
    return Study(
        name="akata2025",
        about="the dilemma and the battle against the authors' bots, with and without prediction",
        cells=cells,
        paper="akata2025",
        seed=2025,
    )


STUDY = study()
STUDIES = (STUDY,)
