"""Reader of the cells of one episode; errors are collected with their line numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite

import msgspec

from sally.adapters.importers.table_layout import Layout
from sally.adapters.importers.table_rows import CellError, PlayerCells, RoundCells, no_such_move
from sally.core.log.imported import Difference
from sally.core.rules.probe import ProbeReport
from sally.games.repeated_games.recorded import Made, Round
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame

SEATS = (AGENT, PARTNER)
NO_MOVE = "no move"
NO_ROW = "the round is not in the table"
ODDS = re.compile(r"\s*(.+?):(\S+)")  # a name, which may contain spaces, and its probability
OFF = 0.01  # tolerance of the sum of odds, for rounded values


class CheckedEpisode(msgspec.Struct, frozen=True):
    """One episode of a table with its errors."""

    name: str
    players: tuple[str, str]
    condition: str
    rounds: tuple[Round, ...]
    seconds: dict[str, tuple[float | None, ...]]  # by seat, if response times are given
    wrong: tuple[CellError, ...]
    differences: tuple[Difference, ...]


def checked(
    name: str, rows: Sequence[RoundCells], game: RepeatedGame, layout: Layout
) -> CheckedEpisode:
    """Return one episode of a table, with all of its errors."""
    reader = _Reader(name, game, layout)
    for each in rows:
        reader.take(each)
    first = rows[0].halves
    players = (first[0].player or "1", first[1].player or "2")
    return CheckedEpisode(
        name,
        players,
        rows[0].condition,
        tuple(reader.rounds),
        {s: tuple(t) for s, t in reader.seconds.items() if any(x is not None for x in t)},
        tuple(reader.wrong),
        tuple(reader.differences),
    )


class _Reader:
    def __init__(self, name: str, game: RepeatedGame, layout: Layout) -> None:
        self.name, self.game, self.layout = name, game, layout
        self.rounds: list[Round] = []
        self.seconds: dict[str, list[float | None]] = {str(seat): [] for seat in SEATS}
        self.wrong: list[CellError] = []
        self.differences: list[Difference] = []
        self._first: RoundCells | None = None

    def take(self, row: RoundCells) -> None:
        """Add a round; earlier rounds that have no row become void."""
        while len(self.rounds) + 1 < row.round:
            self.rounds.append(Round(NO_ROW, NO_ROW))
            for times in self.seconds.values():
                times.append(None)
        self._same(row)
        made: list[Made] = []
        said: dict[str, ProbeReport] = {}
        for side, seat in enumerate(SEATS):
            half = row.halves[side]
            made.append(self._move(half, side))
            if (report := self._prediction(half, side)) is not None:
                said[seat] = report
            self.seconds[seat].append(self._time(half, side))
        self.rounds.append(Round(made[0], made[1], said))
        self._paid(row, made)

    def _note(self, half: PlayerCells, column: str, side: int, why: str) -> None:
        named = self.layout.column(column if self.layout.long else f"{column}{side + 1}")
        self.wrong.append(CellError(half.line, named, why, self.name))

    def _same(self, row: RoundCells) -> None:
        """Check that players and condition are the same in all rounds."""
        first = self._first = self._first or row
        for side in (0, 1):
            then, now = first.halves[side].player, row.halves[side].player
            if then != now:
                why = f"{now!r} plays where {then!r} played in round {first.round}"
                self._note(row.halves[side], "player", side, why)
        if row.condition != first.condition:
            why = f"the condition changes from {first.condition!r} to {row.condition!r}"
            named = self.layout.column("condition")
            self.wrong.append(CellError(row.line, named, why, self.name))

    def _move(self, half: PlayerCells, side: int) -> Made:
        if not half.action:
            return NO_MOVE
        names = self.game.names_of(SEATS[side])
        if half.action not in names:
            self._note(half, "action", side, no_such_move(half.action, names))
            return NO_MOVE
        return names.index(half.action)

    def _prediction(self, half: PlayerCells, side: int) -> ProbeReport | None:
        """Return a predicted move, given by name or as odds such as `J:.7 F:.3`."""
        if not half.prediction:
            return None
        names = self.game.names_of(SEATS[1 - side])
        if half.prediction in names:
            return ProbeReport(names.index(half.prediction))
        odds = dict.fromkeys(names, 0.0)
        for name, chance in ODDS.findall(half.prediction) or [(half.prediction, "")]:
            if name not in odds:
                self._note(half, "prediction", side, no_such_move(name, names))
                return None
            if (number := _float(chance)) is None or number < 0:
                self._note(half, "prediction", side, f"{chance!r} is not a probability")
                return None
            odds[name] = number
        total = sum(odds.values())
        if abs(total - 1) > OFF:
            self._note(half, "prediction", side, f"the odds sum to {total:g}, not to 1")
            return None
        whole = abs(total - 1) < 1e-9  # then they stay exactly as given
        chances = tuple(p if whole else p / total for p in odds.values())
        return ProbeReport(chances.index(max(chances)), chances)

    def _time(self, half: PlayerCells, side: int) -> float | None:
        if not half.rt:
            return None
        if (number := _float(half.rt)) is None:
            self._note(half, "rt", side, f"{half.rt!r} is not a number")
            return None
        return number / 1000 if self.layout.rt == "ms" else number

    def _paid(self, row: RoundCells, made: Sequence[Made]) -> None:
        """Compare the recorded payoffs of a round with the matrix; a void round must pay 0 to both
        players."""
        given = [half.payoff for half in row.halves]
        if not any(given):
            return
        if not all(given):
            side = given.index("")
            self._note(row.halves[side], "payoff", side, "only one of the two payoffs is given")
            return
        numbers: list[float] = []
        for side, payoff in enumerate(given):
            if (number := _float(payoff)) is None:
                self._note(row.halves[side], "payoff", side, f"{payoff!r} is not a number")
                return
            numbers.append(number)
        one, two = made
        void = isinstance(one, str) or isinstance(two, str)
        ours: list[float] = [0.0, 0.0]
        if isinstance(one, int) and isinstance(two, int):
            ours = [float(due) for due in self.game.matrix[one][two]]
        if any(abs(number - due) > 1e-9 for number, due in zip(numbers, ours, strict=True)):
            shown = [" and ".join(f"{p:g}" for p in pair) for pair in (numbers, ours)]
            what = "payoff of a void round" if void else "payoff"
            self.differences.append(Difference(self.name, what, row.round, *shown))


def _float(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
