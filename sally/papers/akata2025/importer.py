"""Play of models, bots and people in the repeated games of Akata et al., as episodes.

The moves are the recorded ones; recorded points are compared with the matrix, and bots whose
rule we have are driven by the recorded moves. What differs is listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.log.imported import Difference, NotPublished, Oddity, or_listed, told
from sally.core.registry.paper import Imported, Importer
from sally.core.rules.game import Seat
from sally.games.repeated_games.ordinal import canonical, game_id, ordinal_games
from sally.games.repeated_games.recorded import Round, bot, fed, player_spec
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.akata2025.people import people_in
from sally.papers.akata2025.reading import (
    File,
    Line,
    OrdinalGame,
    episodes_of,
    files_under,
    info_beside,
    whole,
)

PD = (((8, 8), (0, 10)), ((10, 0), (5, 5)))
BOS = (((10, 7), (0, 0)), ((0, 0), (7, 10)))
JJ_BY_PAYOFF = {1: (10, 7), 2: (9, 8), 3: (8, 8), 4: (8, 9), 5: (7, 10)}

Matrix = tuple[tuple[tuple[int, int], ...], ...]
MATRICES: Mapping[str, Matrix] = {"pd": PD, "bos": BOS}
Bots = Mapping[str, tuple[str, dict[str, Any]]]
BOTS: Bots = {  # functions of the authors whose rule is a partner of ours
    "j": ("single_action", {"action": 0}),
    "f": ("single_action", {"action": 1}),
    "tft": ("tit_for_tat", {}),
    "stft": ("suspicious_tit_for_tat", {}),
    "tftt": ("tit_for_two_tats", {}),
    "grim_trigger": ("grim_trigger", {}),
}
NOT_IMPORTED = "not imported"
NAMED = {"GPT-4": "gpt4", "Alternate": "alternate", "Defect_once": "defect_once"}
RECORDED = (  # everybody else who plays in these files
    "gpt4", "gpt35", "gpt3", "gpt4_predictfirst", "claude", "claude1", "claude2", "llama2",
    "defect_once", "false_defector", "alternate", "fj", "jf", "rtft", "htft", "np10", "np20",
)  # fmt: skip
MODELS = ("gpt4", "gpt35", "gpt3", "gpt4_predictfirst", "claude", "claude1", "claude2", "llama2")


class Told(msgspec.Struct, frozen=True):
    """How one file's episodes are played: the game, its parameters, and its move 0 and 1."""

    instance: str
    game: str
    matrix: Matrix
    letters: tuple[str, str]
    cell: str
    params: dict[str, Any]
    used: dict[str, Any]
    names: bool = True  # whether the letters are the instance's; else they differ from play to play


def imported(path: Path) -> Imported:
    """Every recorded game under a path."""
    files, odd = files_under(path)
    files, copies = _without_copies(files)
    taken = _Taken([*odd, *copies])
    info = info_beside(files, path) if any(f.kind == "all_games" for f in files) else {}
    for file in files:
        if file.kind in ("info", "lookup"):
            continue
        with or_listed(taken.odd, str(file.path), NOT_IMPORTED):
            if file.kind == "people":
                episodes, oddities, counts = people_in(file, files)
                taken.episodes += episodes
                taken.odd += oddities
                taken.counts.update(counts)
            else:
                taken.play(file, info)
    wrong = [each for each in taken.odd if each.what == NOT_IMPORTED]
    if wrong and not taken.episodes:
        raise BadInput(wrong[0].why)
    taken.counts["found"] = len(taken.episodes)
    return told(taken.episodes, taken.odd, taken.differences, dict(taken.counts))


def _without_copies(files: Sequence[File]) -> tuple[list[File], list[Oddity]]:
    """Each published play once: the four files of told endings are one file under four names."""
    first: dict[bytes, File] = {}
    kept, odd = [], []
    for file in files:
        before = first.setdefault(file.data, file) if file.kind == "told_end" else file
        if before is file:
            kept.append(file)
        else:
            why = f"byte for byte {before.path.name}, which is imported instead"
            odd.append(Oddity(str(file.path), "copy", why))
    return kept, odd


class _Taken:
    """What has been taken in so far."""

    def __init__(self, odd: list[Oddity]) -> None:
        self.odd = odd
        self.episodes: list[Episode] = []
        self.differences: list[Difference] = []
        self.counts: Counter[str] = Counter()
        self._met: Counter[bytes] = Counter()  # so often has this lineup played this instance

    def play(self, file: File, info: Mapping[int, OrdinalGame]) -> None:
        """All episodes of one file of models and bots."""
        found = list(episodes_of(file))
        _refuse_cut(file, found)
        game = _pd_or_bos(file, found) if file.kind == "robustness" else ""
        coded = _codes(file, found, game)
        for number, lines in enumerate(found, 1):
            with or_listed(self.odd, str(file.path), NOT_IMPORTED):
                self._episode(file, number, lines, _told(file, lines, info, game, coded))
        if game == "bos" and any(row["player2"] == "Defect_once" for _, row in found[0]):
            why = "player2 is called Defect_once and alternates, the first letter first"
            self.odd.append(Oddity(str(file.path), "misnamed bot", why))

    def _episode(self, file: File, number: int, lines: Sequence[Line], told: Told) -> None:
        first = lines[0][1]
        lineup = {
            AGENT: _sitter(file, lines[0], "player1"),
            PARTNER: _sitter(file, lines[0], "player2"),
        }
        key = msgspec.json.encode((told.instance, told.letters, [*lineup.values()]))
        params = {"rounds": len(lines), **told.params}
        if told.names:
            params["names"] = list(told.letters)
        setup = Setup(
            Instance(told.instance, told.game, params),
            0,
            {str(seat): who for seat, who in lineup.items()},
            repeat=self._met[key],
        )
        self._met[key] += 1
        rounds = [Round(*_moves(file, line, row, told.letters)) for line, row in lines]
        bots = {seat: who for seat, who in lineup.items() if who.player != "recorded"}
        used = {"source": msgspec.to_builtins(file.source), **told.used}
        episode, seen = fed(setup, rounds, bots, told.cell, used)
        name = f"{file.path.name}, episode {number} ({first['player1']} and {first['player2']})"
        self.differences += _unpaid(name, file, lines, told, rounds)
        self.episodes.append(episode)
        self.counts["rounds"] += len(rounds)
        for seat, judged in seen.items():
            who = lineup[seat].player
            self.counts[f"{who}: moves"] += judged.certain[1]
            self.counts[f"{who}: as recorded"] += judged.certain[0]
            for at in judged.outside:
                made = told.letters[_made(rounds[at - 1], seat)]
                self.differences.append(Difference(name, "bot's move", at, made, who))


def _made(played: Round, seat: Seat) -> int:
    made = played.agent if seat == AGENT else played.partner
    assert isinstance(made, int)  # every answer in these files is a letter
    return made


def _refuse_cut(file: File, found: Sequence[Sequence[Line]]) -> None:
    """All episodes of a published file are of one length; a shorter last one was cut."""
    longest, last = max(map(len, found)), len(found[-1])
    if last < longest:
        raise NotPublished(
            f"{file.path} stops after round {last} of {longest} of its last episode; it may be "
            "half downloaded."
        )


def _sitter(file: File, line: Line, column: str) -> PlayerSpec:
    """Who played: a bot of ours where we have its rule, or somebody recorded."""
    given = line[1][column]
    name = NAMED.get(given, given.removeprefix("act_"))
    if name in BOTS:
        return bot(*BOTS[name])
    if name not in RECORDED:
        raise NotPublished(
            f"{file.path}, line {line[0]}: {column} is {given!r}, who does not play in the "
            "published files."
        )
    return player_spec(name)


def _moves(
    file: File, line: int, row: Mapping[str, str], letters: Sequence[str]
) -> tuple[int, int]:
    for column in ("answer1", "answer2"):
        if row[column] not in letters:
            raise BadInput(
                f"{file.path}, line {line}: {column} is {row[column]!r}; it should be "
                f"{letters[0]} or {letters[1]}."
            )
    return letters.index(row["answer1"]), letters.index(row["answer2"])


# --- which game, which letter is which move -------------------------------------------------------


def _told(
    file: File,
    lines: Sequence[Line],
    info: Mapping[int, OrdinalGame],
    game: str,
    coded: Mapping[frozenset[str], tuple[str, str]],
) -> Told:
    line, row = lines[0]
    name = f"akata2025-{file.stem}"
    if file.kind == "all_games":
        return _ordinal(file, line, row, info)
    if file.kind == "payoffs":
        number = whole(file, line, row, "payoff")
        if number not in JJ_BY_PAYOFF:
            raise BadInput(f"{file.path}, line {line}: payoff is {number}; it should be 1 to 5.")
        a, b = JJ_BY_PAYOFF[number]
        matrix = (((a, b), (0, 0)), ((0, 0), (b, a)))
        params = {"matrix": _listed(matrix)}
        return Told(f"{name}-{number}", "repeated_games", matrix, ("J", "F"), file.stem, params, {})
    if file.kind == "robustness":
        letters = coded[frozenset((row["option1"], row["option2"]))]
        matrix, preset = (BOS, "ibs") if game == "bos" else (PD, "ipd")
        cell = f"{file.stem} {row['outcomes']}"
        used = {"outcomes": row["outcomes"]}
        return Told(
            f"{name}-{game}-{letters[0]}{letters[1]}", preset, matrix, letters, cell, {}, used
        )
    matrix, preset = (BOS, "ibs") if file.kind == "bos" else (PD, "ipd")
    return Told(name, preset, matrix, ("J", "F"), file.stem, {}, {})


def _ordinal(
    file: File, line: int, row: Mapping[str, str], info: Mapping[int, OrdinalGame]
) -> Told:
    number = whole(file, line, row, "game_number")
    if number not in info:
        raise BadInput(f"{file.path}, line {line}: game {number} is not in 144_games_info.csv.")
    known = info[number]
    letters = (row["choice_option1"], row["choice_option2"])
    strict = all(sorted(c[p] for r in known.matrix for c in r) == [1, 2, 3, 4] for p in (0, 1))
    ordinal = game_id(canonical(known.matrix)) if strict else ""
    used = {
        "game": known.name,
        "ordinal": ordinal if ordinal in ordinal_games() else None,
        "letters": list(letters),
    }
    return Told(
        f"akata2025-{number}",
        "repeated_games",
        known.matrix,
        letters,
        f"all_games {known.family}",
        {"matrix": _listed(known.matrix)},
        used,
        names=False,
    )


def _listed(matrix: Matrix) -> list[list[list[int]]]:
    return [[list(cell) for cell in row] for row in matrix]


def _pd_or_bos(file: File, found: Sequence[Sequence[Line]]) -> str:
    """Which game a robustness file holds: the one whose points it has; then by its folder."""
    explained = {
        game: sum(
            max(_paid(rows, letters, MATRICES[game]) for letters in _orders(pair))
            for pair, rows in _by_pair(found).items()
        )
        for game in ("pd", "bos")
    }
    if explained["pd"] != explained["bos"]:
        return max(explained, key=lambda game: explained[game])
    return "bos" if "bos" in file.path.resolve().parts else "pd"


Rows = Sequence[Mapping[str, str]]


def _codes(
    file: File, found: Sequence[Sequence[Line]], game: str
) -> dict[frozenset[str], tuple[str, str]]:
    """For each pair of letters in a robustness file, which is move 0; the points say so."""
    if file.kind != "robustness":
        return {}
    matrix = MATRICES[game]
    return {
        pair: max(_orders(pair), key=lambda letters: _paid(rows, letters, matrix))
        for pair, rows in _by_pair(found).items()
    }


def _by_pair(found: Sequence[Sequence[Line]]) -> dict[frozenset[str], list[Mapping[str, str]]]:
    by_pair: dict[frozenset[str], list[Mapping[str, str]]] = {}
    for lines in found:
        for _, row in lines:
            by_pair.setdefault(frozenset((row["option1"], row["option2"])), []).append(row)
    return by_pair


def _orders(pair: frozenset[str]) -> list[tuple[str, str]]:
    """Both ways round; J, Q and R come first, and stay move 0 unless the points say otherwise."""
    one, two = sorted(pair, key="JQRFXH".find)
    return [(one, two), (two, one)]


def _paid(rows: Rows, letters: Sequence[str], matrix: Matrix) -> int:
    return sum(_pays(row, letters, matrix) for row in rows)


def _pays(row: Mapping[str, str], letters: Sequence[str], matrix: Matrix) -> bool:
    moves = (row["answer1"], row["answer2"])
    if not set(moves) <= set(letters):
        return False
    cell = matrix[letters.index(moves[0])][letters.index(moves[1])]
    return (row["points1"], row["points2"]) == (str(cell[0]), str(cell[1]))


def _unpaid(
    name: str, file: File, lines: Sequence[Line], told: Told, rounds: Sequence[Round]
) -> list[Difference]:
    """Recorded points and totals that the matrix does not give."""
    found, total = [], [0, 0]
    for at, ((line, row), played) in enumerate(zip(lines, rounds, strict=True), 1):
        ours = told.matrix[_made(played, AGENT)][_made(played, PARTNER)]
        total = [total[0] + ours[0], total[1] + ours[1]]
        for what, due in (("points", list(ours)), ("total", total)):
            recorded = [whole(file, line, row, f"{what}{seat}") for seat in (1, 2)]
            if recorded != due:
                shown = [" and ".join(map(str, pair)) for pair in (recorded, due)]
                found.append(Difference(name, what, at, *shown))
    return found


IMPORTER = Importer(
    "akata2025",
    "models, bots and people in the repeated games of Akata et al. (2025)",
    imported,
)
