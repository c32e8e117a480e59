"""Importer of the sequential dilemma of Andreozzi, Ploner and Saral (2020).

Every person chooses a first move and a reply to each move of the other, and before that states the
odds of the partner's first move and replies. The role that counts is drawn afterwards. Each first
move is one episode; only first moves test acting, because replying with the lowest transfer is
always best. The columns read are listed in `COLUMNS`; no other column gets into a store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from sally.core.registry.paper import Importer, ImportResult
from sally.games.elicitation.recorded_decisions import BeliefRow, StatedBelief, episode_of
from sally.parts.importers import (
    ImportRun,
    NotPublished,
    Source,
    existing,
    published_line,
    read_fetched_file,
    table_rows,
)

SOURCE = "Andreozzi, Ploner and Saral 2020, github.com/seyhunsaral/stabilitycondcoop"
LICENCE = "CC BY 4.0; other columns left out"
FILE = "data/csv/subjects.csv"
NAMES = ("L", "M", "H")
STEPS = {"0": "L", "50": "M", "100": "H"}
POINTS = {"L": 0, "M": 50, "H": 100}
REPLIES = tuple(f"cc{name}" for name in NAMES)
ASKS = ("uc", *REPLIES)  # the partner's first move, and the reply to each first move
BELIEFS = tuple(f"b{ask}_{name}" for ask, name in product(ASKS, NAMES))
COLUMNS = (
    *("subject_unq", "session_unq", "period", "treatment", "first_player", "opp_unq"),
    *ASKS,
    *(f"o{ask}" for ask in ASKS),
    *BELIEFS,
    *("action", "opp_action", "earning_game", "earning_guess"),
)
ENDOWMENT, FACTOR = 100, 3
TREATMENTS = ("CondInfo", "NoCondInfo")
CLOSE = 0.051  # the file rounds payoffs for beliefs to one decimal


class DilemmaPeriod(msgspec.Struct, frozen=True):
    """One period of one person."""

    person: str
    session: str
    period: int
    treatment: str
    partner: str
    is_first: bool  # whether the person's first move counted
    plan: tuple[str, ...]  # first move, reply to L, M and H
    partner_plan: tuple[str, ...]
    beliefs: tuple[tuple[float, ...], ...]  # odds of the partner's plan, in the same order


def read(path: Path) -> tuple[Source, list[DilemmaPeriod]]:
    """Return the periods in a checkout or in `subjects.csv`.

    Raises:
        NotPublished: The file is not the published one: a column is missing, or the recorded
            moves, payoffs and plans contradict each other.
    """
    file = path if existing(path).is_file() else path / FILE
    if not file.is_file():
        raise NotPublished(f"{path} has no {FILE}; give a checkout of stabilitycondcoop.")
    data = read_fetched_file(file)
    periods = []
    for line, row in table_rows(file, data, COLUMNS):
        with published_line(file, line):
            periods.append(_period(row))
    _check_partners(file.name, periods)
    _check_complete(file.name, periods)
    return Source.of(SOURCE, LICENCE, file.name, data), periods


def _period(row: Mapping[str, str]) -> DilemmaPeriod:
    beliefs = tuple(tuple(float(row[f"b{ask}_{name}"]) for name in NAMES) for ask in ASKS)
    is_first = {"1": True, "0": False}[row["first_player"]]
    plan = tuple(STEPS[row[ask]] for ask in ASKS)
    partner_plan = tuple(STEPS[row[f"o{ask}"]] for ask in ASKS)
    if row["treatment"] not in TREATMENTS:
        raise ValueError(row["treatment"])
    first, second = (plan, partner_plan) if is_first else (partner_plan, plan)
    moves = (first[0], second[1 + NAMES.index(first[0])])
    own_move, other_move = moves if is_first else moves[::-1]
    if (STEPS[row["action"]], STEPS[row["opp_action"]]) != (own_move, other_move):
        raise NotPublished("the recorded moves are not those of the recorded plans.")
    payoff = ENDOWMENT - POINTS[own_move] + FACTOR * POINTS[other_move]
    if float(row["earning_game"]) != payoff:
        raise NotPublished(f"the moves pay {payoff}, the file says {row['earning_game']}.")
    pays = [belief_pay(odds, truth) for odds, truth in zip(beliefs, partner_plan, strict=True)]
    if min(abs(float(row["earning_guess"]) - pay) for pay in pays) > CLOSE:
        raise NotPublished(f"no stated belief pays {row['earning_guess']}.")
    return DilemmaPeriod(
        row["subject_unq"],
        row["session_unq"],
        int(row["period"]),
        row["treatment"],
        row["opp_unq"],
        is_first,
        plan,
        partner_plan,
        beliefs,
    )


def belief_pay(odds: tuple[float, ...], truth: str) -> float:
    """Return the payoff of a stated belief, by the quadratic rule of the experiment.

    >>> belief_pay((1.0, 0.0, 0.0), "L")
    40.0
    """
    return 20 + 40 * odds[NAMES.index(truth)] - 20 * sum(p * p for p in odds)


def _check_complete(file: str, periods: Sequence[DilemmaPeriod]) -> None:
    """Raise NotPublished if the people of a session have different periods."""
    by_session: dict[str, dict[str, set[int]]] = {}
    for row in periods:
        by_session.setdefault(row.session, {}).setdefault(row.person, set()).add(row.period)
    for session, people in by_session.items():
        all_periods = set[int]().union(*people.values())
        for person, own_periods in people.items():
            if own_periods != all_periods:
                raise NotPublished(
                    f"{file}: person {person} has {len(own_periods)} of {len(all_periods)} "
                    f"periods of session "
                    f"{session}."
                )


def _check_partners(file: str, periods: list[DilemmaPeriod]) -> None:
    """Raise NotPublished unless partners name each other and their plans agree."""
    by_person = {(period.person, period.period): period for period in periods}
    if len(by_person) < len(periods):
        raise NotPublished(f"{file}: a person has the same period twice.")
    for period in periods:
        partner = by_person.get((period.partner, period.period))
        if (
            partner is None
            or partner.partner != period.person
            or partner.is_first is period.is_first
        ):
            raise NotPublished(
                f"{file}: {period.partner}, the partner of {period.person} in period "
                f"{period.period}, "
                "is missing or has another partner or the same role."
            )
        if partner.plan != period.partner_plan:
            raise NotPublished(
                f"{file}: the plan of {period.partner} in period {period.period} is recorded in "
                "two ways."
            )


def row_for(period: DilemmaPeriod) -> BeliefRow:
    """Return a first move as a row of the common table."""
    asks = ("same_move", *(f"reply_to_{name}" for name in NAMES))
    return BeliefRow(
        source="andreozzi2020",
        person=period.person,
        cluster=period.session,
        period=period.period,
        instance=f"andreozzi2020:{period.person}:{period.period}:first",
        cell=f"{period.treatment}:{period.period}",
        menu=NAMES,
        action=period.plan[0],
        payoff="sequential_transfer",
        params={"endowment": ENDOWMENT, "factor": FACTOR, "steps": list(POINTS.values())},
        beliefs=tuple(
            StatedBelief(
                ask,
                NAMES,
                "odds",
                odds,
                truth=truth,
                about="partner",
                asked="before",
                paid="quadratic",
                bears="peer" if ask == "same_move" else "payoff",
            )
            for ask, odds, truth in zip(asks, period.beliefs, period.partner_plan, strict=True)
        ),
    )


def facts_of(period: DilemmaPeriod) -> dict[str, Any]:
    """Return what the figures need besides the row: own replies, partner and role."""
    return {
        "dilemma": {
            "replies": list(period.plan[1:]),
            "partner": period.partner,
            "is_first": period.is_first,
        }
    }


def import_first_moves(path: Path) -> ImportResult:
    """Import every first move of a checkout, or of `subjects.csv`."""
    source, periods = read(path)
    counts = {
        "found": len(periods),
        "people": len({period.person for period in periods}),
        "sessions": len({period.session for period in periods}),
    }
    run = ImportRun(counts=counts)
    for period in periods:
        run.add(*episode_of(row_for(period), source, facts_of(period)))
    return run.result()


IMPORTER = Importer(
    "andreozzi2020",
    "people with paid beliefs in a sequential dilemma (Andreozzi et al. 2020)",
    import_first_moves,
)
