"""Importer of the public goods game of Fischbacher and Gaechter (2010), from a user's own copy.

The data have no licence, so no part of them is shipped, and the importer was written from a
description of the file: it has never read the file itself. Giving nothing is best whatever is
believed, so there is no acting; the schedule of contributions that every person filled in is the
norm to which contributions are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.registry.paper import Importer, ImportResult
from sally.games.elicitation.recorded_decisions import BeliefRow, StatedBelief, episode_of
from sally.parts.importers import (
    ImportRun,
    NotPublished,
    PersonNumbers,
    Source,
    check_columns,
    existing,
    published_line,
    read_fetched_file,
    table_rows,
)

SOURCE = "Fischbacher and Gaechter 2010, as in github.com/sbordt/PublicGoodsHeterogeneity"
LICENCE = "none; not to be passed on"
FILE = "data/FG2010.csv"
TOKENS, PLAYERS, BACK = 20, 4, 0.4
MENU = tuple(map(str, range(TOKENS + 1)))
SCHEDULE = tuple(f"b{tokens_given}" for tokens_given in range(TOKENS + 1))
COLUMNS = ("cont", "othercont", "belief", "profit", "preftype", "sequencePC", *SCHEDULE)
ROLES: Mapping[str, tuple[str, ...]] = {  # names that the description of the file leaves open
    "person": ("idsubj", "subj", "subject", "id"),
    "session": ("session",),
    "period": ("period",),
    "group": ("group", "groupid", "gruppe"),
}
CLOSE = 0.051


class Contribution(msgspec.Struct, frozen=True):
    """One period of one person."""

    person: str
    session: str
    period: int
    group: str
    tokens_given: int
    others: int  # the others' mean contribution, rounded
    belief: float
    profit: float
    schedule: tuple[int, ...]  # what the person would give, by the others' mean
    preference: str
    sequence: str


def read(path: Path) -> tuple[Source, list[Contribution]]:
    """Return the contributions in a checkout or in `FG2010.csv`.

    Raises:
        NotPublished: A column is missing, or contributions, means and profits contradict each
            other.
    """
    file = path if existing(path).is_file() else path / FILE
    if not file.is_file():
        raise NotPublished(f"{path} has no {FILE}; give a checkout of PublicGoodsHeterogeneity.")
    data, people = read_fetched_file(file), PersonNumbers("f")
    contributions, roles = list[Contribution](), dict[str, str]()
    for line, row in table_rows(file, data, COLUMNS):
        roles = roles or _roles(file, row)
        with published_line(file, line):
            contributions.append(_contribution(people, roles, row))
    _check_groups(file.name, contributions)
    return Source.of(SOURCE, LICENCE, file.name, data), contributions


def _roles(file: Path, row: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that hold person, session, period and group."""
    by_name = {name.casefold(): name for name in row}
    columns = {
        role: next((by_name[name] for name in names if name in by_name), "")
        for role, names in ROLES.items()
    }
    check_columns(file, row, [column or ROLES[role][0] for role, column in columns.items()])
    return columns


def _contribution(
    people: PersonNumbers, roles: Mapping[str, str], row: Mapping[str, str]
) -> Contribution:
    tokens_given = _tokens(row["cont"])
    others, belief = _tokens(row["othercont"]), float(row["belief"])
    if not 0 <= belief <= TOKENS:
        raise ValueError(row["belief"])
    return Contribution(
        people[row[roles["person"]]],
        row[roles["session"]],
        int(float(row[roles["period"]])),
        row[roles["group"]],
        tokens_given,
        others,
        belief,
        float(row["profit"]),
        tuple(_tokens(row[name]) for name in SCHEDULE),
        row["preftype"],
        row["sequencePC"],
    )


def _tokens(text: str) -> int:
    number = int(float(text))
    if number != float(text) or not 0 <= number <= TOKENS:
        raise ValueError(text)
    return number


def _check_groups(file: str, contributions: Sequence[Contribution]) -> None:
    """Raise NotPublished unless means and profits are those of groups of four."""
    groups: dict[tuple[str, int, str], list[Contribution]] = {}
    for member in contributions:
        groups.setdefault((member.session, member.period, member.group), []).append(member)
    for (session, period, group), members in groups.items():
        place = f"{file}: group {group} of session {session}, period {period}"
        if len(members) != PLAYERS or len({member.person for member in members}) < PLAYERS:
            raise NotPublished(f"{place}, has {len(members)} members, not {PLAYERS}.")
        total = sum(member.tokens_given for member in members)
        for member in members:
            if round((total - member.tokens_given) / (PLAYERS - 1)) != member.others:
                raise NotPublished(f"{place}: the others' mean is not that of the group.")
            if abs(TOKENS - member.tokens_given + BACK * total - member.profit) > CLOSE:
                raise NotPublished(f"{place}: a profit is not that of the contributions.")


def row_for(member: Contribution) -> BeliefRow:
    """Return a contribution as a row of the common table."""
    belief = StatedBelief(
        "others_mean",
        (0, TOKENS),
        "number",
        member.belief,
        truth=member.others,
        about="three others",
        asked="same screen",
        paid="absolute",
        bears="payoff",
    )
    return BeliefRow(
        source="fischbacher2010",
        person=member.person,
        cluster=member.session,
        period=member.period,
        instance=f"fischbacher2010:{member.person}:{member.period}",
        cell=f"period {member.period}",
        menu=MENU,
        action=str(member.tokens_given),
        payoff="linear_public_good",
        params={"tokens": TOKENS, "players": PLAYERS, "back": BACK},
        beliefs=(belief,),
    )


def facts_of(member: Contribution) -> dict[str, Any]:
    """Return what the figures need besides the row: the schedule and the order of the tasks."""
    return {
        "public_good": {
            "schedule": list(member.schedule),
            "preference": member.preference,
            "sequence": member.sequence,
        }
    }


def import_contributions(path: Path) -> ImportResult:
    """Import every contribution of a checkout, or of `FG2010.csv`."""
    source, contributions = read(path)
    people = {member.person for member in contributions}
    run = ImportRun(counts={"found": len(contributions), "people": len(people)})
    for member in contributions:
        run.add(*episode_of(row_for(member), source, facts_of(member)))
    return run.result()


IMPORTER = Importer(
    "fischbacher2010",
    "people with beliefs in a public goods game (Fischbacher and Gaechter 2010)",
    import_contributions,
)
