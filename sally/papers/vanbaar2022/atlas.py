"""Dots of the atlas figure: predictions of scripted players, beside a rule that repeats the last
answer of the player, and thresholds of inspections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sally.core.rules.metric import Played
from sally.papers.belief_records import BeliefRecord, belief_dot, mean, records_of
from sally.papers.vanbaar2022.figures import (
    FIXED,
    payoff_below,
    repeats_last_answer,
    scale_payoffs,
    thresholds_of,
)
from sally.parts.atlas import AtlasColumn, AtlasDot, AtlasSource
from sally.parts.beliefs import PEOPLE

SOURCE = "vanbaar2022"
STUDY_NUMBERS = (1, 2, 3, 4)
RULE = "its last answer"  # in that type of game
INSPECTIONS = AtlasColumn(
    "inspection",
    "two players, one always works, one always shirks",
    "doing of the threshold, prices even from 0 to 30",
    "random choice",
    "best threshold",
)


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return the dots of predictions by study, and of inspections with the knowing behind them."""
    records = records_of(games)
    dots: list[AtlasDot] = []
    for study in STUDY_NUMBERS:
        chosen = [r for r in records if r.row.source == f"{SOURCE}_study{study}"]
        if chosen:
            dots += _prediction_dots(study, chosen)
    inspections = [record for record in records if record.row.source == SOURCE]
    if inspections:
        data = thresholds_of(inspections)
        is_right = np.where(data.works == 0.5, 0.5, (data.works > 0.5) == data.is_worker)
        doing = scale_payoffs(payoff_below(data.true, data.threshold), data.true, data.person)
        fixed = payoff_below(data.true, np.full(len(data.person), FIXED[0]))
        knowing = 2 * float(is_right.mean()) - 1
        dots += belief_dot(INSPECTIONS, PEOPLE, doing, inspections, SOURCE, knowing)
        constant = scale_payoffs(fixed, data.true, data.person)
        dots += belief_dot(INSPECTIONS, "threshold 15", constant, inspections, SOURCE)
    return dots


def _prediction_dots(study: int, records: Sequence[BeliefRecord]) -> list[AtlasDot]:
    """Return the dots of people and of the rule; predictions are knowing, without moves."""
    column = AtlasColumn(
        "predicting a scripted player",
        f"study {study}, 16 games with each player",
        "right predictions",
        "a coin",
        "every prediction right",
    )
    person = np.array([record.row.person for record in records])
    beliefs = [record.row.beliefs[0] for record in records]
    right = 2 * np.array([float(belief.value == belief.truth) for belief in beliefs]) - 1
    people = mean(right, person)
    rule = mean(2 * repeats_last_answer(records) - 1, person)
    return [
        *belief_dot(column, PEOPLE, people, records, SOURCE, people.value),
        *belief_dot(column, RULE, rule, records, SOURCE),
    ]


ATLAS = AtlasSource((SOURCE, *(f"{SOURCE}_study{study}" for study in STUDY_NUMBERS)), dots_of)
