"""Importer of the threshold public goods games of Mori, Hanaki and Kameda (2024).

The main experiment has six decisions per person: participation is mandatory or voluntary, and the
threshold is 2, 4 or 5. The additional experiment has three: a share 0, .5 or 1 of those who stay
out still fills up groups. Each person states how many of 30 others choose each action. The file
holds no groups, so the truth of a decision is the choices of all other people in the same condition
(in the additional experiment: and in the same session). Participants' ids are replaced by numbers,
and of their attributes only the session is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from pathlib import Path

import msgspec

from sally.core.registry.paper import Importer, ImportResult
from sally.games.elicitation.recorded_decisions import BeliefRow, StatedBelief, episode_of
from sally.parts.importers import (
    ImportRun,
    NotPublished,
    PersonNumbers,
    Source,
    existing,
    published_line,
    read_fetched_file,
    table_rows,
)

SOURCE = "Mori, Hanaki and Kameda 2024, github.com/ryutau/voluntary-collaboration"
LICENCE = "Apache-2.0; participants' ids replaced, other columns left out"
MAIN, ADDITIONAL = "mori2024", "mori2024b"
FILES = {MAIN: "main_exp_result.csv", ADDITIONAL: "sub_exp_result.csv"}
SESSIONS = "sub_participant_attributes.csv"
OTHERS = 30
COUNTS = ("belief_c", "belief_d", "belief_l")
MAIN_COLUMNS = ("pid", "p_option", "thr", "action", *COUNTS, "confidence", "gamma_c")
ADDITIONAL_COLUMNS = ("pid", "rho", "action", *COUNTS, "round_number", "gamma")
MENUS = {"A": ("C", "D"), "F": ("C", "D", "L")}
THRESHOLD = 4  # of the additional experiment


class GroupChoice(msgspec.Struct, frozen=True):
    """One decision of one person."""

    source: str
    person: str
    session: str | None
    period: int | None
    condition: str  # in the id of the decision
    cell: str
    menu: tuple[str, ...]
    threshold: int
    loners_in: float
    action: str
    counts: tuple[int, ...]  # of 30 others, by action
    confidence: float | None


def read(path: Path) -> tuple[dict[str, Source], list[GroupChoice]]:
    """Return the decisions in a checkout, or in its folder `data`, with the files they are from.

    Raises:
        NotPublished: A file or column is missing, or numbers contradict each other.
    """
    folder = path / "data" if (existing(path) / "data").is_dir() else path
    sources: dict[str, Source] = {}
    choices: list[GroupChoice] = []
    for name, file_name in FILES.items():
        file = folder / file_name
        if not file.is_file():
            raise NotPublished(f"{path} has no data/{file_name}; give a checkout.")
        data = read_fetched_file(file)
        sources[name] = Source.of(SOURCE, LICENCE, file.name, data)
        rows = _main(file, data) if name == MAIN else _additional(folder, file, data)
        choices += rows
    occurrences = Counter((choice.source, choice.person, choice.condition) for choice in choices)
    for (_, person, condition), count in occurrences.items():
        if count > 1:
            raise NotPublished(f"{path}: person {person} has the condition {condition} twice.")
    conditions = Counter(source for source, _, _ in {(c.source, "", c.condition) for c in choices})
    for (source, person), count in Counter((c.source, c.person) for c in choices).items():
        if count != conditions[source]:
            raise NotPublished(
                f"{path}: person {person} has {count} of {conditions[source]} conditions."
            )
    return sources, choices


def _main(file: Path, data: bytes) -> Iterator[GroupChoice]:
    people = PersonNumbers("m")
    for line, row in table_rows(file, data, MAIN_COLUMNS):
        with published_line(file, line):
            option, threshold = row["p_option"], int(row["thr"])
            menu = MENUS[option]
            counts = _counts(row, menu)
            _check_share(row["gamma_c"], counts[0], counts[0] + counts[1])
            yield GroupChoice(
                source=MAIN,
                person=people[row["pid"]],
                session=None,
                period=None,
                condition=f"{option}{threshold}",
                cell=f"{'M' if option == 'A' else 'V'}{threshold}",
                menu=menu,
                threshold=threshold,
                loners_in=0.0,
                action=_action(row, menu),
                counts=counts,
                confidence=float(row["confidence"]) / 100,
            )


def _additional(folder: Path, file: Path, data: bytes) -> Iterator[GroupChoice]:
    attributes = folder / SESSIONS
    if not attributes.is_file():
        raise NotPublished(f"{folder} has no {SESSIONS}, which names the sessions.")
    sessions = {
        row["pid"]: row["session_no"]
        for _, row in table_rows(attributes, read_fetched_file(attributes), ("pid", "session_no"))
    }
    people, menu = PersonNumbers("s"), MENUS["F"]
    for line, row in table_rows(file, data, ADDITIONAL_COLUMNS):
        with published_line(file, line):
            share = float(row["rho"])
            counts = _counts(row, menu)
            _check_share(row["gamma"], counts[0], counts[0] + counts[1] + share * counts[2])
            yield GroupChoice(
                source=ADDITIONAL,
                person=people[row["pid"]],
                session=str(int(float(sessions[row["pid"]]))),
                period=int(row["round_number"]),
                condition=str(share),
                cell=f"rho{share}",
                menu=menu,
                threshold=THRESHOLD,
                loners_in=share,
                action=_action(row, menu),
                counts=counts,
                confidence=None,
            )


def _counts(row: Mapping[str, str], menu: Sequence[str]) -> tuple[int, ...]:
    numbers = [float(row[name]) for name in COUNTS[: len(menu)]]
    counts = tuple(int(number) for number in numbers)
    if sum(counts) != OTHERS or min(counts) < 0 or list(counts) != numbers:
        raise NotPublished(f"the beliefs about {OTHERS} others are {numbers}.")
    return counts


def _action(row: Mapping[str, str], menu: Sequence[str]) -> str:
    if row["action"] not in menu:
        raise ValueError(repr(row["action"]))
    return row["action"]


def _check_share(share: str, givers: float, members: float) -> None:
    """Raise NotPublished unless the recorded share of givers follows from the beliefs."""
    if not members:
        if share not in ("", "nan", "NaN"):
            raise NotPublished(f"nobody is believed in groups, but the share of givers is {share}.")
    elif not isclose(float(share), givers / members, abs_tol=1e-6):
        raise NotPublished(f"the share of givers is {share}, by the beliefs {givers / members:g}.")


def truths(choices: Sequence[GroupChoice]) -> list[tuple[int, ...]]:
    """Return, for each decision, how many other people of the condition chose each action."""
    actions: Counter[tuple[str, str | None, str, str]] = Counter(
        (choice.source, choice.session, choice.cell, choice.action) for choice in choices
    )
    return [
        tuple(
            actions[choice.source, choice.session, choice.cell, action] - (action == choice.action)
            for action in choice.menu
        )
        for choice in choices
    ]


def row_for(choice: GroupChoice, truth: tuple[int, ...]) -> BeliefRow:
    """Return a decision as a row of the common table."""
    is_main = choice.source == MAIN
    belief = StatedBelief(
        "same_move",
        choice.menu,
        "counts",
        choice.counts,
        confidence=choice.confidence,
        truth=truth if sum(truth) else None,
        about="30 others",
        asked="unknown" if is_main else "before",
        paid="unknown" if is_main else "absolute",
        bears="peer payoff",
    )
    return BeliefRow(
        source=choice.source,
        person=choice.person,
        cluster=choice.session,
        period=choice.period,
        instance=f"{choice.source}:{choice.person}:{choice.condition}",
        cell=choice.cell,
        menu=choice.menu,
        action=choice.action,
        payoff="threshold_of_five",
        params={"threshold": choice.threshold, "loners_in": choice.loners_in},
        beliefs=(belief,),
    )


def import_choices(path: Path) -> ImportResult:
    """Import every decision of both experiments of a checkout."""
    sources, choices = read(path)
    counts = {"found": len(choices)}
    for name, about in ((MAIN, "main experiment"), (ADDITIONAL, "additional experiment")):
        people = {choice.person for choice in choices if choice.source == name}
        counts[f"people, {about}"] = len(people)
    run = ImportRun(counts=counts)
    for choice, truth in zip(choices, truths(choices), strict=True):
        run.add(*episode_of(row_for(choice, truth), sources[choice.source]))
    return run.result()


IMPORTER = Importer(
    "mori2024",
    "people with beliefs in threshold public goods games (Mori et al. 2024)",
    import_choices,
)
