"""Read the published tournaments: matches with replies (CSV), and histories without replies (JSON).

The authors' parser scores an unreadable reply as cooperation. Replies are therefore read again: the
last line must be C, D, cooperate or defect, optionally after a word such as "decision".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput
from sally.parts.importers import Oddity, Source, existing, table_rows

SOURCE = "HCSS Data Lab 2025, github.com/HCSS-Data-Lab/Strategic-LLM-IPD"
LICENCE = "MIT"
MATCHES = 7_560  # in the full record, with replies
POINTS = {"CC": (3, 3), "CD": (0, 5), "DC": (5, 0), "DD": (1, 1)}

# Experiments by time stamp: chance to stop after each round, and whether models were told under an
# alias whom they had met before.
EXPERIMENTS: Mapping[str, tuple[float, bool]] = {
    "20250908_081108": (0.05, True),
    "20250912_153315": (0.05, False),
    "20250905_152754": (0.10, True),
    "20250911_112723": (0.10, False),
    "20250905_152805": (0.25, True),
    "20250910_074608": (0.25, False),
    "20250905_152321": (0.75, True),
    "20250910_074557": (0.75, False),
}
MODELS = ("GPT5mini", "GPT5nano", "GPT4.1mini", "Claude4-Sonnet", "Mistral-Medium", "Gemini20Flash")
HISTORY_NAMES = {
    "gpt5mini": "GPT5mini",
    "gpt5nano": "GPT5nano",
    "gpt41mini": "GPT4.1mini",
    "claudesonnet420250514": "Claude4-Sonnet",
    "mistralmedium2508": "Mistral-Medium",
    "gemini20flash": "Gemini20Flash",
}

_FOLDER = re.compile(r"experiment_(\d{8}_\d{6})")
_CSV = re.compile(r"evolutionary_shadow(\d+)_phase(\d+)\.csv")
_HISTORY = re.compile(r"match_history_shadow(\d+)\.json")
_AGENT = re.compile(r"(.+)_p(\d+)i(\d+)")
_COLUMNS = (
    "shadow_condition",
    "match_id",
    "round",
    "agent1",
    "agent2",
    "agent1_move",
    "agent2_move",
    "agent1_total_score",
    "agent2_total_score",
    "agent1_reasoning",
    "agent2_reasoning",
)

Reply = Literal["readable", "empty", "unreadable", "says the other move"]


class Agent(msgspec.Struct, frozen=True):
    """A player of a tournament."""

    setting: str  # with its temperature, such as Claude4-Sonnet_T02
    phase: int
    number: int

    @property
    def model(self) -> str:
        """The model's name without its temperature; "" for a scripted player."""
        name = self.setting.rpartition("_T")[0]
        return name if name in MODELS else ""


class RoundSide(msgspec.Struct, frozen=True):
    """One side of one round."""

    move: str  # C or D, as the authors' parser has it
    reply: str | None = None  # None: not published


class RecordedMatch(msgspec.Struct, frozen=True):
    """One match."""

    source: Source
    experiment: str
    phase: int
    name: str  # unique within experiment and phase
    agents: tuple[Agent, Agent]
    rounds: tuple[tuple[RoundSide, RoundSide], ...]

    @property
    def stop(self) -> float:
        return EXPERIMENTS[self.experiment][0]

    @property
    def cell(self) -> str:
        """The condition: stopping probability, and whether opponents are tracked."""
        stop, tracking = EXPERIMENTS[self.experiment]
        return f"stop {stop:.2f}, tracking {'yes' if tracking else 'no'}"


class FoundMatches(msgspec.Struct, frozen=True):
    """The matches found under a path, and the oddities in the files."""

    matches: tuple[RecordedMatch, ...]  # with replies
    sides: tuple[RecordedMatch, ...]  # of histories alone, from the side of one model
    oddities: tuple[Oddity, ...]
    compared: int  # sides of histories that agree with a match


_READ = re.compile(
    r"(?:(?:my|the|final|therefore|so)\s+)*"
    r"(?:(?:decision|move|answer|choice|action)\s+(?:is\s+)?)?(c|d|cooperate|defect)"
)


def read_reply(reply: str) -> str | None:
    """Return the move that a reply names in its last line: C, D, or None.

    >>> read_reply("I think it over.\\n**Decision: Defect**"), read_reply("DECISION: I will")
    ('D', None)
    """
    lines = reply.strip().splitlines()
    words = re.sub(r"[\W_]+", " ", lines[-1]).strip().lower() if lines else ""
    named_move = _READ.fullmatch(words)
    return named_move[1][0].upper() if named_move else None


def kind_of(side: RoundSide) -> Reply | None:
    """Return how a reply relates to the move that was scored; None if the reply was not
    published."""
    if side.reply is None:
        return None
    if not side.reply.strip():
        return "empty"
    named_move = read_reply(side.reply)
    if named_move is None:
        return "unreadable"
    return "readable" if named_move == side.move else "says the other move"


# --- files ----------------------------------------------------------------------------------------


def read(path: Path) -> FoundMatches:
    """Return the matches of a checkout, of an experiment's folder, or of one file."""
    files = (
        [path] if existing(path).is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    )
    matches: list[RecordedMatch] = []
    histories: list[tuple[Path, str]] = []
    other_files: Counter[str] = Counter()
    odd: list[Oddity] = []
    for file in files:
        folder = _FOLDER.fullmatch(file.parent.name)
        table, history = _CSV.fullmatch(file.name), _HISTORY.fullmatch(file.name)
        if folder is None or not (table or history):
            other_files[file.parent.name] += 1
        elif folder[1] not in EXPERIMENTS:
            odd.append(Oddity(str(file.name), "unknown experiment", folder[1]))
        elif table:
            matches += _matches(file, folder[1], int(table[2]))
        else:
            histories.append((file, folder[1]))
    if not matches and not histories:
        raise BadInput(
            f"There is no evolutionary_shadowNN_phaseP.csv or match_history_shadowNN.json in a "
            f"folder experiment_STAMP under {path}."
        )
    odd += [Oddity(name, "left alone", f"{n} other files") for name, n in other_files.items()]
    sides: list[RecordedMatch] = []
    compared = 0
    for file, experiment in histories:
        experiment_matches = [match for match in matches if match.experiment == experiment]
        sides_found, agreed = _history(file, experiment, experiment_matches)
        sides += sides_found
        compared += agreed
    return FoundMatches(tuple(matches), tuple(sides), tuple(odd), compared)


def _matches(file: Path, experiment: str, phase: int) -> Iterator[RecordedMatch]:
    """Yield the matches of one table after checking rounds, agents, stopping probability and
    scores."""
    data = file.read_bytes()
    source = Source.of(SOURCE, LICENCE, f"{file.parent.name}/{file.name}", data)
    by_match: dict[str, list[tuple[int, Mapping[str, str]]]] = {}
    for line, row in table_rows(file, data, _COLUMNS, strict=True):
        by_match.setdefault(row["match_id"], []).append((line, row))
    names = {side for name in by_match for side in name.split("_vs_")}
    pairs = len(names) * (len(names) - 1) // 2
    if len(by_match) != pairs:
        raise BadInput(
            f"{file.name} has {len(by_match)} matches of {len(names)} agents; with all pairs it "
            f"should have {pairs}. The file may be truncated."
        )
    for name, rows in by_match.items():
        yield _match(file, source, experiment, phase, name, rows)


def _match(
    file: Path,
    source: Source,
    experiment: str,
    phase: int,
    name: str,
    rows: list[tuple[int, Mapping[str, str]]],
) -> RecordedMatch:
    rounds, totals = [], [0, 0]
    first = rows[0][1]
    for number, (line, row) in enumerate(rows, 1):
        place = f"{file.name}, line {line}"
        joint = row["agent1_move"] + row["agent2_move"]
        if row["round"] != str(number):
            raise BadInput(f"{place}: round {row['round']!r} of {name} should be {number}.")
        if joint not in POINTS:
            raise BadInput(f"{place}: the moves are {joint!r}; each should be C or D.")
        if f"{row['agent1']}_vs_{row['agent2']}" != name:
            raise BadInput(f"{place}: the agents should be those of {name}.")
        if _number(row["shadow_condition"]) != EXPERIMENTS[experiment][0]:
            raise BadInput(
                f"{place}: shadow_condition is {row['shadow_condition']!r}; in this experiment it "
                f"should be {EXPERIMENTS[experiment][0]:g}."
            )
        for side, points in enumerate(POINTS[joint]):
            totals[side] += points
        rounds.append(
            (
                RoundSide(row["agent1_move"], row["agent1_reasoning"]),
                RoundSide(row["agent2_move"], row["agent2_reasoning"]),
            )
        )
    for side, total in enumerate(totals, 1):
        for line, row in rows:
            if _number(row[f"agent{side}_total_score"]) != total:
                raise BadInput(
                    f"{file.name}, line {line}: agent{side}_total_score is "
                    f"{row[f'agent{side}_total_score']!r}; the rounds of {name} give {total}."
                )
    agents = _agent(file, first["agent1"]), _agent(file, first["agent2"])
    return RecordedMatch(source, experiment, phase, name, agents, tuple(rounds))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _agent(file: Path, name: str) -> Agent:
    name_match = _AGENT.fullmatch(name)
    if name_match is None:
        raise BadInput(f"{file.name}: agent {name!r} should be NAME_pPiI, with phase and instance.")
    return Agent(name_match[1], int(name_match[2]), int(name_match[3]))


# --- histories ------------------------------------------------------------------------------------


class _Round(msgspec.Struct, frozen=True):
    your_move: Literal["C", "D"]
    opponent_move: Literal["C", "D"]


class _Meeting(msgspec.Struct, frozen=True):
    opponent_real_name: str
    rounds: tuple[_Round, ...]


class _File(msgspec.Struct, frozen=True):
    agent_histories: dict[str, tuple[_Meeting, ...]]
    enable_opponent_tracking: bool


Moves = tuple[tuple[str, str], ...]


def _history(
    file: Path, experiment: str, matches: list[RecordedMatch]
) -> tuple[list[RecordedMatch], int]:
    """Return the matches that only the history file contains, and the number of its entries that a
    table contains too, with the same moves.

    An entry is a match as seen by one model. A match of two models has two entries; it is returned
    once.
    """
    data = file.read_bytes()
    try:
        history_file = msgspec.json.decode(data, type=_File)
    except msgspec.DecodeError as error:
        raise BadInput(f"{file.name} is not a match history: {error}.") from None
    if history_file.enable_opponent_tracking != EXPERIMENTS[experiment][1]:
        raise BadInput(f"{file.name}: opponent tracking differs from that of {experiment}.")
    source = Source.of(SOURCE, LICENCE, f"{file.parent.name}/{file.name}", data)
    table_entries: Counter[tuple[str, str, Moves]] = Counter()
    for match in matches:
        first_agent, two = match.agents
        moves = tuple((a.move, b.move) for a, b in match.rounds)
        for side, name, seen_by in (
            (first_agent, _full(two), moves),
            (two, _full(first_agent), _turn_around(moves)),
        ):
            if side.model:
                table_entries[side.setting, name, seen_by] += 1
    phases = {match.phase for match in matches}
    compared, label_counts = 0, Counter[str]()
    twice: Counter[tuple[str, str, int, Moves]] = Counter()
    matches_found: list[RecordedMatch] = []
    for name, histories in history_file.agent_histories.items():
        setting = _setting(file, name)
        for entry in histories:
            opponent = _agent(file, entry.opponent_real_name)
            moves = tuple((r.your_move, r.opponent_move) for r in entry.rounds)
            if opponent.phase in phases:
                key = setting, entry.opponent_real_name, moves
                if not table_entries[key]:
                    raise BadInput(
                        f"{file.name}: a match of {setting} with {entry.opponent_real_name} is not "
                        "in the table of its phase, or has other moves there."
                    )
                table_entries[key] -= 1
                compared += 1
                continue
            if opponent.model:
                mirrored_key = opponent.setting, setting, opponent.phase, _turn_around(moves)
                if twice[mirrored_key]:
                    twice[mirrored_key] -= 1
                    continue
                twice[setting, opponent.setting, opponent.phase, moves] += 1
            label = f"{setting}_vs_{entry.opponent_real_name}"
            label_counts[label] += 1
            own_agent = Agent(setting, opponent.phase, 0)
            rounds = tuple((RoundSide(a), RoundSide(b)) for a, b in moves)
            matches_found.append(
                RecordedMatch(
                    source,
                    experiment,
                    opponent.phase,
                    f"{label}#{label_counts[label]}",
                    (own_agent, opponent),
                    rounds,
                )
            )
    return matches_found, compared


def _turn_around(moves: Moves) -> Moves:
    return tuple((b, a) for a, b in moves)


def _full(agent: Agent) -> str:
    return f"{agent.setting}_p{agent.phase}i{agent.number}"


def _setting(file: Path, name: str) -> str:
    model, _, temperature = name.partition("-temperature")
    if model not in HISTORY_NAMES:
        raise BadInput(f"{file.name}: {name!r} is not a model of this record.")
    temperature_text: Any = temperature
    temperature_shown = "1" if temperature_text == "10" else temperature_text
    return f"{HISTORY_NAMES[model]}_T{temperature_shown}"
