"""Read public goods games of people from Psych-201's `alsobay2025publicGoodsGame`.

Each line of the file is the transcript of one person; people of one group share `experiment`. A
transcript states the parameters and, round by round, the person's contribution, the group's total
and the others' contributions.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from sally.core.errors import BadInput
from sally.papers.psych201 import LICENCE, experiment_file, people_lines
from sally.parts.importers import Oddity, Source

SOURCE = "Alsobay et al. 2025, as in github.com/marcelbinz/Psych-201"
FOLDER = "alsobay2025publicGoodsGame"
PEOPLE, GROUPS = 3_912, 366  # in the full record

_PLAYERS = re.compile(r"in a group of (\d+) players")
_TOKENS = re.compile(r"amount of (\d+) coins")
_RATIO = re.compile(r"multiplier of (\d+(?:\.\d+)?)")
_ALL = re.compile(r"all of your \d+ coins or nothing")
_ROUND = re.compile(r"^## Round (\d+)(?: of (\d+))?:$", re.MULTILINE)
_OWN = re.compile(r"You contributed <<(\d+) coins?>>")
_TOTAL = re.compile(r"group contribution is (\d+) coins?,")
_OTHER = re.compile(r"^([A-Z][A-Z ]*) contributed (\d+) coins?\.$", re.MULTILINE)
_FUND = re.compile(r"=> (\d+(?:\.\d+)?) coins? in the public fund")
_GAIN = re.compile(r"^You:.*Total round gains/losses are ([+-]?\d+) coins?\.$", re.MULTILINE)
START = "# GAME STARTS"
LEFT = "exited the game"  # in the last round of a person who left


class Rules(msgspec.Struct, frozen=True):
    """The parameters that a person's transcript states."""

    players: int
    tokens: int
    ratio: float
    all_or_nothing: bool
    chat: bool
    punishment: bool
    reward: bool

    @property
    def extra(self) -> tuple[str, ...]:
        """The stages that the game in Sally does not have."""
        has_stage = {"chat": self.chat, "punishment": self.punishment, "reward": self.reward}
        return tuple(name for name, is_there in has_stage.items() if is_there)

    @property
    def back(self) -> float:
        """The amount that each player gets back for a coin given."""
        return self.ratio / self.players


class PersonRound(msgspec.Struct, frozen=True):
    """One round in the transcript of one person."""

    number: int
    own_contribution: int
    total: int
    others: tuple[int, ...]
    fund: float | None = None  # as stated: the total times the multiplier
    gain: int | None = None  # as stated, in whole coins: own gain of the round


class Person(msgspec.Struct, frozen=True):
    """The transcript of one person: the rules of the game, and the rounds."""

    id: str
    group: str
    rules: Rules
    rounds: tuple[PersonRound, ...]


class Record(msgspec.Struct, frozen=True):
    """The contents of a file."""

    source: Source
    people: tuple[Person, ...]
    oddities: tuple[Oddity, ...]

    def groups(self) -> dict[str, list[Person]]:
        """Return the people of each group in order of their ids."""
        people_by_group: dict[str, list[Person]] = {}
        for person in self.people:
            people_by_group.setdefault(person.group, []).append(person)
        return {
            name: sorted(of, key=lambda p: p.id) for name, of in sorted(people_by_group.items())
        }


class _Line(msgspec.Struct, frozen=True):
    experiment: str
    participant: str
    text: str


_decode = msgspec.json.Decoder(_Line).decode


def read(path: Path) -> Record:
    """Return the participants recorded in a local copy of the repository, or in one `.zip`,
    `.jsonl` or `.jsonl.gz` file."""
    file, odd = experiment_file(path, FOLDER)
    data, lines = people_lines(file)
    people: list[Person] = []
    people_seen: set[tuple[str, str]] = set()
    for number, line in enumerate(lines, 1):
        try:
            line_record = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{file.name}, line {number}: {error}.") from None
        if (line_record.experiment, line_record.participant) in people_seen:
            raise BadInput(f"{file.name}, line {number}: {line_record.participant} occurs twice.")
        people_seen.add((line_record.experiment, line_record.participant))
        people.append(_person(f"{file.name}, line {number}", line_record))
    if not people:
        raise BadInput(f"{file} contains no people; it should have one line of JSON per person.")
    record = Record(Source.of(SOURCE, LICENCE, file.name, data), tuple(people), tuple(odd))
    for name, group in record.groups().items():
        _check_group(file.name, name, group)
    return record


def _person(place: str, record: _Line) -> Person:
    head, start, play = record.text.partition(START)
    stated = [pattern.search(head) for pattern in (_PLAYERS, _TOKENS, _RATIO)]
    if not start or None in stated:
        raise BadInput(
            f"{place}: the text should state players, coins and multiplier before the line "
            f"{START!r}."
        )
    players, tokens, ratio = (
        number_match[1] for number_match in stated if number_match is not None
    )
    rules = Rules(
        int(players),
        int(tokens),
        float(ratio),
        _ALL.search(head) is not None,
        "can communicate" in head,
        "impose deductions" in head,
        "reward each other" in head,
    )
    heads = list(_ROUND.finditer(play))
    ends = [heading.start() for heading in heads[1:]] + [len(play)]
    rounds = []
    for number, (heading, end) in enumerate(zip(heads, ends, strict=True), 1):
        body = play[heading.end() : end]
        own_match, total = _OWN.search(body), _TOTAL.search(body)
        if int(heading[1]) != number:
            raise BadInput(f"{place}: round {heading[1]} stands where round {number} is expected.")
        if (own_match is None or total is None) and number == len(heads) and LEFT in body:
            break
        if own_match is None or total is None:
            raise BadInput(f"{place}: round {number} lacks a contribution or the group's total.")
        others = tuple(int(number_text) for _, number_text in _OTHER.findall(body))
        if int(own_match[1]) > rules.tokens or int(own_match[1]) + sum(others) != int(total[1]):
            raise BadInput(
                f"{place}: in round {number} the person gave {own_match[1]} and the others "
                f"{sum(others)}; the stated total is {total[1]}, which should be the sum, and a "
                f"person can give at most {rules.tokens}."
            )
        fund, gain = _FUND.search(body), _GAIN.search(body)
        rounds.append(
            PersonRound(
                number,
                int(own_match[1]),
                int(total[1]),
                others,
                None if fund is None else float(fund[1]),
                None if gain is None else int(gain[1]),
            )
        )
    return Person(record.participant, record.experiment, rules, tuple(rounds))


def _check_group(file: str, name: str, group: list[Person]) -> None:
    if len({person.rules for person in group}) > 1:
        raise BadInput(f"{file}: the records of people in group {name} state different rules.")
    if len(group) > group[0].rules.players:
        raise BadInput(f"{file}: group {name} has {len(group)} people, more than its rules state.")


def complete_rounds(group: list[Person]) -> list[tuple[int, ...]]:
    """Return all contributions up to the first round in which a member is missing.

    Raises:
        BadInput: The contributions of a round do not sum to the stated total.
    """
    rounds_found = []
    if len(group) < group[0].rules.players:
        return []
    for n in range(min(len(person.rounds) for person in group)):
        contributions = tuple(person.rounds[n].own_contribution for person in group)
        if any(person.rounds[n].total != sum(contributions) for person in group):
            raise BadInput(
                f"Group {group[0].group}: the contributions in round {n + 1} sum to "
                f"{sum(contributions)}, "
                f"but the stated total is {group[0].rounds[n].total}."
            )
        rounds_found.append(contributions)
    return rounds_found
