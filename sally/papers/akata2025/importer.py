"""Importer of the recorded play of models, bots and people of Akata et al.

The moves are the recorded ones; recorded points are compared with the matrix, and bots whose rule
is known are replayed against the recorded moves. Differences are listed. Each person played both
games against a table of GPT-4's answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.registry.paper import Importer, ImportResult
from sally.core.rules.game import Seat
from sally.games.repeated_games.ordinal import canonical, game_id, ordinal_games
from sally.games.repeated_games.recorded_play import Made, Round, bot, fed, person
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.akata2025.reader import (
    PEOPLE,
    File,
    Line,
    Lookup,
    OrdinalGame,
    episodes_of,
    files_under,
    info_beside,
    lines_of,
    lookups_in,
    whole_number,
)
from sally.parts.importers import (
    Difference,
    ImportRun,
    NotPublished,
    Oddity,
    recorded_player,
)

ROUNDS = 10
GPT4 = "gpt-4 base or predict-first, by round"
PRESETS = {"PD": "ipd", "BoS": "ibs"}
CELL = "human_experiment"
THEIRS: Mapping[str, Mapping[tuple[int, int], int]] = {  # (action, score) -> GPT-4's move
    "PD": {(1, 8): 0, (1, 0): 1, (0, 10): 0, (0, 5): 1},
    "BoS": {(1, 7): 0, (1, 0): 1, (0, 0): 0, (0, 10): 1},
}
LABELS = ("Base", "Prompted")
NO_CELL = "not on record: action and score fit no cell"


def _read_person_game(
    file: File,
    participant: str,
    game: str,
    lines: Sequence[Line],
    lookups: Mapping[tuple[str, str], Lookup],
) -> tuple[Episode, list[Oddity]]:
    """Return one person's game with its oddities.

    In the battle of the sexes, people had the payoffs of the partner's seat, so they get that seat.
    """
    odd, rounds = [], []
    for number, (line, row) in enumerate(lines, 1):
        action, score = (whole_number(file, line, row, name) for name in ("action", "score"))
        if action not in (0, 1):
            raise BadInput(f"{file.path}, line {line}: action is {action}; it should be 0 or 1.")
        other_move: Made = THEIRS[game].get((action, score), NO_CELL)
        if other_move == NO_CELL:
            place = f"participant {participant}, {game}, round {number}"
            reason = f"{place}: action {action} never pays {score}"
            odd.append(Oddity(str(file.path), "no cell", reason, line))
        own_move = 1 - action  # 1 is J, which is move 0
        rounds.append(Round(own_move, other_move) if game == "PD" else Round(other_move, own_move))
    if len(lines) != ROUNDS:
        reason = f"participant {participant} has {len(lines)} rounds of {game}, not {ROUNDS}"
        odd.append(Oddity(str(file.path), "unfinished", reason, lines[0][0]))
    seats = (AGENT, PARTNER) if game == "PD" else (PARTNER, AGENT)
    lineup = {str(seats[0]): person(), str(seats[1]): recorded_player(GPT4)}
    setup = Setup(
        Instance(
            f"akata2025:{participant}:{game}", PRESETS[game], {"rounds": max(ROUNDS, len(lines))}
        ),
        0,
        {str(seat): lineup[seat] for seat in (AGENT, PARTNER)},
    )
    used = _used(file, game, lines, rounds, lookups)
    return fed(setup, rounds, {}, f"{CELL} {game}", used)[0], odd


def _used(
    file: File,
    game: str,
    lines: Sequence[Line],
    rounds: Sequence[Round],
    lookups: Mapping[tuple[str, str], Lookup],
) -> dict[str, Any]:
    """Return the recorded data other than moves: label, guess, scores and lookup tables."""
    last = lines[-1][1]
    used: dict[str, Any] = {
        "source": msgspec.to_builtins(file.source),
        "label": last["opponent"],  # of the last round only
        "guess": last["guess"],
        "scores": [whole_number(file, line, row, "score") for line, row in lines],
    }
    if lookups:
        used["fits"] = fits(game, rounds, lookups)
    return used


def fits(
    game: str, rounds: Sequence[Round], lookups: Mapping[tuple[str, str], Lookup]
) -> list[str]:
    """Return, for each round, which of GPT-4's two lookup tables (`Base` or `Prompted`) gives its
    recorded move: the name of one table, `both` or `neither`."""
    labels, moves_before = [], ""
    for played in rounds:
        own_move, other_move = (
            (played.agent, played.partner) if game == "PD" else (played.partner, played.agent)
        )
        letter = "JF"[other_move] if isinstance(other_move, int) else "?"
        agree = [label for label in LABELS if lookups[game, label].get(moves_before) == letter]
        labels.append("both" if len(agree) == 2 else agree[0] if agree else "neither")
        moves_before += "JF"[own_move] if isinstance(own_move, int) else "?"
    return labels


def _label_is_the_last(file: File, counts: Counter[str]) -> Oddity:
    n_differing = sum(counts[f"GPT-4's move fits {label}"] for label in LABELS)
    return Oddity(
        str(file.path),
        "label",
        f"`opponent` tells the variant of the last round only; in {n_differing} rounds the two "
        f"tables "
        "of answers differ, and the variant was drawn anew in each",
    )


PD = (((8, 8), (0, 10)), ((10, 0), (5, 5)))
BOS = (((10, 7), (0, 0)), ((0, 0), (7, 10)))
JJ_BY_PAYOFF = {1: (10, 7), 2: (9, 8), 3: (8, 8), 4: (8, 9), 5: (7, 10)}

Matrix = tuple[tuple[tuple[int, int], ...], ...]
MATRICES: Mapping[str, Matrix] = {"pd": PD, "bos": BOS}
Bots = Mapping[str, tuple[str, dict[str, Any]]]
BOTS: Bots = {  # the authors' bots that are partners of ours, too
    "j": ("single_action", {"action": 0}),
    "f": ("single_action", {"action": 1}),
    "tft": ("tit_for_tat", {}),
    "stft": ("suspicious_tit_for_tat", {}),
    "tftt": ("tit_for_two_tats", {}),
    "grim_trigger": ("grim_trigger", {}),
}
NAMED = {"GPT-4": "gpt4", "Alternate": "alternate", "Defect_once": "defect_once"}
RECORDED = (  # all other players in these files
    "gpt4", "gpt35", "gpt3", "gpt4_predictfirst", "claude", "claude1", "claude2", "llama2",
    "defect_once", "false_defector", "alternate", "fj", "jf", "rtft", "htft", "np10", "np20",
)  # fmt: skip
MODELS = ("gpt4", "gpt35", "gpt3", "gpt4_predictfirst", "claude", "claude1", "claude2", "llama2")


class FileConditions(msgspec.Struct, frozen=True):
    """The game, its parameters and its letters for moves 0 and 1, for the episodes of one file."""

    instance: str
    game: str
    matrix: Matrix
    letters: tuple[str, str]
    cell: str
    params: dict[str, Any]
    used: dict[str, Any]
    names: bool = True  # else the letters differ between episodes


def import_games(path: Path) -> ImportResult:
    """Import every recorded game under a path."""
    files, odd = files_under(path)
    files, copies = _without_copies(files)
    run = _Import([*odd, *copies])
    info = info_beside(files, path) if any(f.kind == "all_games" for f in files) else {}
    for file in files:
        if file.kind in ("info", "lookup"):
            continue
        with run.listing_errors(str(file.path)):
            if file.kind == "people":
                run.people(file, files)
            else:
                run.play(file, info)
    run.counts["found"] = len(run.episodes)
    return run.result()


def _without_copies(files: Sequence[File]) -> tuple[list[File], list[Oddity]]:
    """Drop duplicates among the files of games with an announced end; the four published files are
    byte-identical."""
    first: dict[bytes, File] = {}
    first_files, odd = [], []
    for file in files:
        first_file = first.setdefault(file.data, file) if file.kind == "told_end" else file
        if first_file is file:
            first_files.append(file)
        else:
            reason = f"byte for byte {first_file.path.name}, which is imported instead"
            odd.append(Oddity(str(file.path), "copy", reason))
    return first_files, odd


class _Import(ImportRun):
    def __init__(self, oddities: list[Oddity]) -> None:
        super().__init__(oddities)
        self._met: Counter[bytes] = Counter()  # how often this lineup has played this instance

    def people(self, file: File, files: Sequence[File]) -> None:
        """Import the games of every person; `files` may hold the tables of GPT-4's answers."""
        lookups = lookups_in(files)
        by_game: dict[tuple[str, str], list[Line]] = {}
        for line, row in lines_of(file, PEOPLE):
            if row["game"] not in PRESETS or row["opponent"] not in LABELS:
                raise NotPublished(
                    f"{file.path}, line {line}: game {row['game']!r} against {row['opponent']!r} "
                    "is not a condition of the experiment; its games are PD and BoS, its "
                    "opponents Base and Prompted."
                )
            by_game.setdefault((row["id"], row["game"]), []).append((line, row))
        compared = len(lookups) == len(PRESETS) * len(LABELS)
        played = [  # all before any is added: an error leaves out the whole file
            _read_person_game(file, participant, game, lines, lookups if compared else {})
            for (participant, game), lines in by_game.items()
        ]
        if not compared:
            reason = (
                "not all four tables of GPT-4's answers are there, so its moves are not compared"
            )
            self.oddities.append(Oddity(str(file.path), "no lookup tables", reason))
        fitting: Counter[str] = Counter()  # in this file
        for (episode, oddities), lines in zip(played, by_game.values(), strict=True):
            self.add(episode, counts={"rounds of people": len(lines)})
            self.oddities += oddities
            fitting.update(f"GPT-4's move fits {fit}" for fit in episode.used.get("fits", ()))
        self.counts.update(fitting)
        self.counts["people"] += len({participant for participant, _ in by_game})
        if compared:
            self.oddities.append(_label_is_the_last(file, fitting))

    def play(self, file: File, info: Mapping[int, OrdinalGame]) -> None:
        """Import all episodes of one file, which holds games of models against models or bots."""
        file_episodes = list(episodes_of(file))
        _refuse_cut(file, file_episodes)
        game = _pd_or_bos(file, file_episodes) if file.kind == "robustness" else ""
        coded = _codes(file, file_episodes, game)
        for number, lines in enumerate(file_episodes, 1):
            with self.listing_errors(str(file.path)):
                self._episode(file, number, lines, _file_conditions(file, lines, info, game, coded))
        if game == "bos" and any(row["player2"] == "Defect_once" for _, row in file_episodes[0]):
            reason = "player2 is called Defect_once and alternates, the first letter first"
            self.oddities.append(Oddity(str(file.path), "misnamed bot", reason))

    def _episode(
        self, file: File, number: int, lines: Sequence[Line], conditions: FileConditions
    ) -> None:
        first = lines[0][1]
        lineup = {
            AGENT: _player(file, lines[0], "player1"),
            PARTNER: _player(file, lines[0], "player2"),
        }
        key = msgspec.json.encode((conditions.instance, conditions.letters, [*lineup.values()]))
        params = {"rounds": len(lines), **conditions.params}
        if conditions.names:
            params["names"] = list(conditions.letters)
        setup = Setup(
            Instance(conditions.instance, conditions.game, params),
            0,
            {str(seat): player for seat, player in lineup.items()},
            repeat=self._met[key],
        )
        self._met[key] += 1
        rounds = [Round(*_moves(file, line, row, conditions.letters)) for line, row in lines]
        bots = {seat: player for seat, player in lineup.items() if player.player != "recorded"}
        used = {"source": msgspec.to_builtins(file.source), **conditions.used}
        episode, agreements = fed(setup, rounds, bots, conditions.cell, used)
        name = f"{file.path.name}, episode {number} ({first['player1']} and {first['player2']})"
        self.add(episode, _unpaid(name, file, lines, conditions, rounds), {"rounds": len(rounds)})
        for seat, judged in agreements.items():
            bot = lineup[seat].player
            self.counts[f"{bot}: moves"] += judged.certain[1]
            self.counts[f"{bot}: as recorded"] += judged.certain[0]
            for round_number in judged.outside:
                letter = conditions.letters[_move_of(rounds[round_number - 1], seat)]
                self.differences.append(Difference(name, "bot's move", round_number, letter, bot))


def _move_of(played: Round, seat: Seat) -> int:
    move = played.agent if seat == AGENT else played.partner
    assert isinstance(move, int)  # every answer in these files is a letter
    return move


def _refuse_cut(file: File, file_episodes: Sequence[Sequence[Line]]) -> None:
    """Raise NotPublished if the last episode is shorter than the others, that is, if the file is
    truncated."""
    longest, last = max(map(len, file_episodes)), len(file_episodes[-1])
    if last < longest:
        raise NotPublished(
            f"{file.path} stops after round {last} of {longest} in its last episode; the "
            "download may be incomplete."
        )


def _player(file: File, line: Line, column: str) -> PlayerSpec:
    """Return the player named in a column: Sally's bot if the rule is known, else a recorded
    player."""
    player_name = line[1][column]
    name = NAMED.get(player_name, player_name.removeprefix("act_"))
    if name in BOTS:
        return bot(*BOTS[name])
    if name not in RECORDED:
        raise NotPublished(
            f"{file.path}, line {line[0]}: {column} is {player_name!r}, which is not a player in "
            f"the "
            "published files."
        )
    return recorded_player(name)


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


def _file_conditions(
    file: File,
    lines: Sequence[Line],
    info: Mapping[int, OrdinalGame],
    game: str,
    coded: Mapping[frozenset[str], tuple[str, str]],
) -> FileConditions:
    line, row = lines[0]
    name = f"akata2025-{file.stem}"
    if file.kind == "all_games":
        return _ordinal(file, line, row, info)
    if file.kind == "payoffs":
        number = whole_number(file, line, row, "payoff")
        if number not in JJ_BY_PAYOFF:
            raise BadInput(f"{file.path}, line {line}: payoff is {number}; it should be 1 to 5.")
        a, b = JJ_BY_PAYOFF[number]
        matrix = (((a, b), (0, 0)), ((0, 0), (b, a)))
        params = {"matrix": _matrix_lists(matrix)}
        return FileConditions(
            f"{name}-{number}", "repeated_games", matrix, ("J", "F"), file.stem, params, {}
        )
    if file.kind == "robustness":
        letters = coded[frozenset((row["option1"], row["option2"]))]
        matrix, preset = (BOS, "ibs") if game == "bos" else (PD, "ipd")
        cell = f"{file.stem} {row['outcomes']}"
        used = {"outcomes": row["outcomes"]}
        return FileConditions(
            f"{name}-{game}-{letters[0]}{letters[1]}", preset, matrix, letters, cell, {}, used
        )
    matrix, preset = (BOS, "ibs") if file.kind == "bos" else (PD, "ipd")
    return FileConditions(name, preset, matrix, ("J", "F"), file.stem, {}, {})


def _ordinal(
    file: File, line: int, row: Mapping[str, str], info: Mapping[int, OrdinalGame]
) -> FileConditions:
    number = whole_number(file, line, row, "game_number")
    if number not in info:
        raise BadInput(f"{file.path}, line {line}: game {number} is not in 144_games_info.csv.")
    ordinal_game = info[number]
    letters = (row["choice_option1"], row["choice_option2"])
    strict = all(
        sorted(c[p] for r in ordinal_game.matrix for c in r) == [1, 2, 3, 4] for p in (0, 1)
    )
    ordinal = game_id(canonical(ordinal_game.matrix)) if strict else ""
    used = {
        "game": ordinal_game.name,
        "ordinal": ordinal if ordinal in ordinal_games() else None,
        "letters": list(letters),
    }
    return FileConditions(
        f"akata2025-{number}",
        "repeated_games",
        ordinal_game.matrix,
        letters,
        f"all_games {ordinal_game.family}",
        {"matrix": _matrix_lists(ordinal_game.matrix)},
        used,
        names=False,
    )


def _matrix_lists(matrix: Matrix) -> list[list[list[int]]]:
    return [[list(cell) for cell in row] for row in matrix]


def _pd_or_bos(file: File, file_episodes: Sequence[Sequence[Line]]) -> str:
    """Return the game of a robustness file: the one whose matrix explains more of the recorded
    points, or, if they tie, the one that the folder names."""
    explained = {
        game: sum(
            max(_points_of(rows, letters, MATRICES[game]) for letters in _orders(pair))
            for pair, rows in _by_pair(file_episodes).items()
        )
        for game in ("pd", "bos")
    }
    if explained["pd"] != explained["bos"]:
        return max(explained, key=lambda game: explained[game])
    return "bos" if "bos" in file.path.resolve().parts else "pd"


Rows = Sequence[Mapping[str, str]]


def _codes(
    file: File, file_episodes: Sequence[Sequence[Line]], game: str
) -> dict[frozenset[str], tuple[str, str]]:
    """Return, for each pair of letters in a robustness file, which letter is move 0 and which is
    move 1, inferred from the points."""
    if file.kind != "robustness":
        return {}
    matrix = MATRICES[game]
    return {
        pair: max(_orders(pair), key=lambda letters: _points_of(rows, letters, matrix))
        for pair, rows in _by_pair(file_episodes).items()
    }


def _by_pair(
    file_episodes: Sequence[Sequence[Line]],
) -> dict[frozenset[str], list[Mapping[str, str]]]:
    by_pair: dict[frozenset[str], list[Mapping[str, str]]] = {}
    for lines in file_episodes:
        for _, row in lines:
            by_pair.setdefault(frozenset((row["option1"], row["option2"])), []).append(row)
    return by_pair


def _orders(pair: frozenset[str]) -> list[tuple[str, str]]:
    """Return both assignments of two letters to moves 0 and 1; the default, with J, Q or R as move
    0, comes first."""
    first, two = sorted(pair, key="JQRFXH".find)
    return [(first, two), (two, first)]


def _points_of(rows: Rows, letters: Sequence[str], matrix: Matrix) -> int:
    return sum(_pays(row, letters, matrix) for row in rows)


def _pays(row: Mapping[str, str], letters: Sequence[str], matrix: Matrix) -> bool:
    moves = (row["answer1"], row["answer2"])
    if not set(moves) <= set(letters):
        return False
    cell = matrix[letters.index(moves[0])][letters.index(moves[1])]
    return (row["points1"], row["points2"]) == (str(cell[0]), str(cell[1]))


def _unpaid(
    name: str,
    file: File,
    lines: Sequence[Line],
    conditions: FileConditions,
    rounds: Sequence[Round],
) -> list[Difference]:
    """Return the recorded points and totals that differ from those of the payoff matrix."""
    differences, total = [], [0, 0]
    for round_number, ((line, row), played) in enumerate(zip(lines, rounds, strict=True), 1):
        ours = conditions.matrix[_move_of(played, AGENT)][_move_of(played, PARTNER)]
        total = [total[0] + ours[0], total[1] + ours[1]]
        for subject, due in (("points", list(ours)), ("total", total)):
            recorded = [whole_number(file, line, row, f"{subject}{seat}") for seat in (1, 2)]
            if recorded != due:
                texts = [" and ".join(map(str, pair)) for pair in (recorded, due)]
                differences.append(Difference(name, subject, round_number, *texts))
    return differences


IMPORTER = Importer(
    "akata2025",
    "models, bots and people in the repeated games of Akata et al. (2025)",
    import_games,
)
