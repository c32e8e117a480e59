"""Reader of choices in one-shot 2x2 games from Psych-201's `zhu2024games`, with the choices of all
people in the opponent's role.

Rows and columns were shuffled on every screen. A game in a role is identified by the smallest of
the four relabellings of (own payoffs, other's payoffs). Exchanging the players gives the other
role, which other people played, so the opponent's odds are known for every choice.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from sally.core.errors import BadInput
from sally.papers.psych201 import LICENCE, experiment_file, people_lines
from sally.parts.importers import Oddity, Source

SOURCE = "Zhu et al. 2025, osf.io/xrvaw, as in github.com/marcelbinz/Psych-201"
EXPERIMENT, FOLDER = "zhu2024games", "zhu2024games"
PEOPLE, TRIALS = 4_673, 20
KINDS = (
    "both dominant",
    "own dominant",
    "other's dominant",
    "two pure equilibria",
    "one pure equilibrium, not by dominance",
)
Floats = NDArray[np.float64]
Role = tuple[int, ...]  # own payoffs by (row, column), then the other's; canonical

_CELL = r"If you choose Row {} and your opponent chooses Column {}, "
_CELL += r"you receive (\d+) and your opponent receives (\d+)\.\n"
_BLOCK = re.compile(
    r"[^\n]*'row player'[^\n]*\n[^\n]*Row A and Row B[^\n]*Column C and Column D[^\n]*\n[^\n]*\n"
    + "".join(_CELL.format(row, column) for row in "AB" for column in "CD")
    + r"You press <<([AB])>>\.\n?"
)


class _Line(msgspec.Struct, frozen=True):
    participant: int | str
    experiment: str
    text: str


class Choice(msgspec.Struct, frozen=True):
    """One choice, with the game as it was shown on the screen."""

    person: int
    trial: int  # from 1
    own_payoffs: tuple[int, int, int, int]  # payoffs at AC, AD, BC, BD
    other_payoffs: tuple[int, int, int, int]
    row: int  # 0: A, 1: B


class Record(msgspec.Struct, frozen=True):
    """All choices of a file, by person and trial."""

    source: Source
    choices: tuple[Choice, ...]
    oddities: tuple[Oddity, ...] = ()


# --- the file -------------------------------------------------------------------------------------


def read(path: Path, skip_bad: bool = False) -> Record:
    """Return the choices in a checkout, or in one `.zip`, `.jsonl` or `.jsonl.gz` file.

    Raises:
        BadInput: A line is not in the published format, and `skip_bad` is not set.
    """
    file, odd = experiment_file(path, FOLDER)
    data, lines = people_lines(file)
    source = Source.of(SOURCE, LICENCE, file.name, data)
    choices: list[Choice] = []
    people_seen: set[int] = set()
    for number, line in enumerate(lines, 1):
        try:
            person_rows = person_choices(file.name, number, line)
            if person_rows[0].person in people_seen:
                raise BadInput(
                    f"{file.name}, line {number}: person {person_rows[0].person} occurs twice."
                )
        except BadInput as error:
            if not skip_bad:
                raise
            odd.append(Oddity(file.name, "person left out", str(error), number))
            continue
        people_seen.add(person_rows[0].person)
        choices += person_rows
    if not choices:
        raise BadInput(f"{file} contains no choices; it should have one line of JSON per person.")
    choices.sort(key=lambda c: (c.person, c.trial))
    return Record(source, tuple(choices), tuple(odd))


_decode = msgspec.json.Decoder(_Line).decode


def person_choices(file: str, number: int, line: bytes) -> list[Choice]:
    """Return the twenty choices of one line."""
    try:
        record = _decode(line)
        person = int(record.participant)
    except (msgspec.DecodeError, ValueError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}, line {number}: {error}.") from None
    if record.experiment.partition("/")[0].removesuffix(".csv") != EXPERIMENT:
        raise BadInput(
            f"{file}, line {number}: experiment is {record.experiment!r}; it should be "
            f"{EXPERIMENT}."
        )
    choices, position = [], 0
    text = record.text.rstrip("\n") + "\n"
    for trial, block in enumerate(_BLOCK.finditer(text), 1):
        if block.start() != position:
            break
        position = block.end()
        pay = [int(n) for n in block.groups()[:8]]
        own_pays, other_pays = (pay[0], pay[2], pay[4], pay[6]), (pay[1], pay[3], pay[5], pay[7])
        choices.append(Choice(person, trial, own_pays, other_pays, "AB".index(block[9])))
    if position != len(text) or len(choices) != TRIALS:
        raise BadInput(
            f"{file}, line {number}: person {person} has {len(choices)} readable games before "
            f"character {position + 1} of the text; there should be {TRIALS} and nothing else."
        )
    return choices


# --- games and crowds -----------------------------------------------------------------------------


@lru_cache(maxsize=1 << 16)
def canonical(own_pays: tuple[int, ...], other_pays: tuple[int, ...]) -> tuple[Role, int, int]:
    """Return the canonical form of a game as seen by one player, and whether the game's rows and
    whether its columns are in the opposite order to that form."""
    forms = []
    for rows in (0, 1):
        for columns in (0, 1):
            order = [2 * (r ^ rows) + (c ^ columns) for r in (0, 1) for c in (0, 1)]
            role = tuple(own_pays[i] for i in order) + tuple(other_pays[i] for i in order)
            forms.append((role, rows, columns))
    return min(forms)


@lru_cache(maxsize=1 << 14)
def exchange_roles(role: Role) -> tuple[Role, int]:
    """Return the role of the other player in the same game, and 1 if the rows of that role are in
    the opposite order to the columns of `role`, else 0."""
    own_pays, other_pays = role[:4], role[4:]
    other_view = (other_pays[0], other_pays[2], other_pays[1], other_pays[3])
    own_view = (own_pays[0], own_pays[2], own_pays[1], own_pays[3])
    name, rows, _ = canonical(other_view, own_view)
    return name, rows


@lru_cache(maxsize=1 << 14)
def kind_of(role: Role) -> str:
    """Return the kind of a game, by strict dominance and by its number of pure equilibria."""
    m, n = role[:4], role[4:]
    has_own_dominance = (m[0] - m[2]) * (m[1] - m[3]) > 0
    has_other_dominance = (n[0] - n[1]) * (n[2] - n[3]) > 0
    if has_own_dominance and has_other_dominance:
        return KINDS[0]
    if has_own_dominance or has_other_dominance:
        return KINDS[1] if has_own_dominance else KINDS[2]
    return KINDS[3] if len(pure_equilibria(m, n)) == 2 else KINDS[4]


def pure_equilibria(
    own_pays: tuple[int, ...], other_pays: tuple[int, ...]
) -> list[tuple[int, int]]:
    """Return the cells in which neither player gains by changing only its own choice."""
    return [
        (r, c)
        for r in (0, 1)
        for c in (0, 1)
        if own_pays[2 * r + c] >= own_pays[2 * (1 - r) + c]
        and other_pays[2 * r + c] >= other_pays[2 * r + 1 - c]
    ]


class Crowds:
    """Counts of how often each canonical row was chosen in each role."""

    def __init__(self, choices: tuple[Choice, ...]) -> None:
        self.taken: Counter[tuple[Role, int]] = Counter()
        self.by_person: Counter[tuple[int, Role, int]] = Counter()
        for choice in choices:
            role, rows, _ = canonical(choice.own_payoffs, choice.other_payoffs)
            self.taken[role, choice.row ^ rows] += 1
            self.by_person[choice.person, role, choice.row ^ rows] += 1

    @property
    def roles(self) -> set[Role]:
        return {role for role, _ in self.taken}

    def across(self, choice: Choice) -> tuple[int, int]:
        """Return how many opponents chose column C and column D, excluding the person."""
        role, _, columns = canonical(choice.own_payoffs, choice.other_payoffs)
        other_role, rows = exchange_roles(role)
        counts = []
        for column in (0, 1):
            row = column ^ columns ^ rows
            own_count = self.by_person.get((choice.person, other_role, row), 0)
            counts.append(self.taken[other_role, row] - own_count)
        return counts[0], counts[1]
