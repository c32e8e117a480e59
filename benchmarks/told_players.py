"""Do moves follow a stated forecast only where they should? Players of known kind in causal_acting.

    python -m benchmarks.told_players [--positions 96] [--json]

Players: followers, which with probability q play the best reply to what they are told, else at
random; the ideal player, which earns most if the stated reliability is believed; one that repeats
the label it has read; a rationaliser, which moves at random and reports what would make its move
the best reply; a key-presser; one that reports what it is told and ignores it in its moves; a
random player; and one that sees what the other picks, as no reader of the page can.

For each player and arm the table has the slope of moves and of reported forecasts, and the slopes
that they should have; `!` marks an interval that does not contain its value. With 95% intervals
about one in twenty does not. Exit code 1: more than one in ten are marked, or a player whose slope
is 0 by construction has another one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from benchmarks.dull_players import Rationaliser
from sally.analysis.pairs.told import IRRELEVANT, ToldSlope, told_slopes
from sally.core.log.events import Episode, Told
from sally.core.match.player import Decision, Player, Turn
from sally.core.registry.objects import ObjectNames
from sally.core.registry.study import Study, player_spec
from sally.core.rules.chance import Stream
from sally.core.rules.menu import example
from sally.core.rules.probe import ProbeReport
from sally.output.tables.console import cell, estimate_cell
from sally.runner import local
from sally.stats.intervals import Estimate
from sally.studies.causal_acting import AGENT, PARTNER, SEED, TWIN, cells

MOST_MARKED = 0.1  # share of intervals that may miss their value
Kind = Literal["follower", "ideal", "repeats the label", "reports only", "random"]


class Informed(msgspec.Struct, frozen=True):
    """A player that does something known with what an informant says."""

    kind: Kind
    follows: float = 1.0  # probability, of a follower

    @property
    def name(self) -> str:
        return f"follower {self.follows:g}" if self.kind == "follower" else self.kind

    def decide(self, turn: Turn) -> Decision[Any]:
        (statement,) = turn.told
        chance = self._stream(turn, "move", statement)
        if self.kind == "repeats the label":
            return Decision(statement.value)
        if self.kind == "reports only":  # its move is drawn once for each position
            return Decision(example(turn.options, Stream(turn.context.seed, "move")))
        is_about_me = statement.source == "informant"
        if self.kind == "random" or not is_about_me or chance() >= self.follows:
            return Decision(example(turn.options, chance))
        belief = self._belief(turn, statement)
        best_replies: Any = turn.context.spec.measured.best_replies
        return Decision(chance.pick(best_replies(turn.context.game, turn.view, {PARTNER: belief})))

    def report(self, turn: Turn) -> ProbeReport:
        assert turn.question is not None
        (statement,) = turn.told
        choices = turn.question.choices
        chance = self._stream(turn, "report", statement)
        is_about_me = statement.source == "informant" or self.kind == "repeats the label"
        if self.kind == "random" or not is_about_me:
            return ProbeReport(chance.pick(choices))
        belief = self._belief(turn, statement)
        if isinstance(belief, int):
            return ProbeReport(belief)
        return ProbeReport(chance.pick([c for c in choices if belief[c] == max(belief)]))

    def _stream(self, turn: Turn, purpose: str, statement: Told) -> Stream:
        """Return draws that differ between players, questions and statements."""
        content = statement.source, statement.reliability or 0.0, statement.value
        return Stream(turn.context.seed, turn.number, self.name, purpose, *map(str, content))

    def _belief(self, turn: Turn, statement: Told) -> Any:
        """Return the stated forecast, or odds if the stated reliability is believed."""
        if self.kind != "ideal":
            return statement.value
        game: Any = turn.context.game
        count = len(game.moves_of(PARTNER))
        assert statement.reliability is not None
        wrong = (1 - statement.reliability) / (count - 1)
        return tuple(
            statement.reliability if move == statement.value else wrong for move in range(count)
        )


class Sees(msgspec.Struct, frozen=True):
    """A player that sees what the other picks, and plays and reports accordingly."""

    action: int

    @property
    def name(self) -> str:
        return f"sees the pick {self.action}"

    def decide(self, turn: Turn) -> Decision[Any]:
        game: Any = turn.context.game
        return Decision(game.best_replies(AGENT, self.action)[0])

    def report(self, turn: Turn) -> ProbeReport:
        return ProbeReport(self.action)


class Expected(msgspec.Struct, frozen=True):
    """The slopes that a player should have, of moves and of reported forecasts."""

    slope: Callable[[ToldSlope], float]
    forecast: Callable[[ToldSlope], float]
    is_exact: bool = False  # whether the slope of moves is 0 by construction


def _zero(slope: ToldSlope) -> float:
    return 0.0


def _if_told(value: float) -> Callable[[ToldSlope], float]:
    return lambda slope: 0.0 if slope.arm == IRRELEVANT else value


def _ideal(slope: ToldSlope) -> float:
    assert slope.ideal is not None
    return slope.ideal


def _slope_of_seeing(slope: ToldSlope) -> float:
    return 2 * slope.reliability - 1


PLAYERS: Mapping[str, tuple[Callable[[int], Player | Any], Expected]] = {
    **{
        f"follower {q:g}": (
            lambda action, q=q: Informed("follower", q),
            Expected(_if_told(q), _if_told(1.0)),
        )
        for q in (0.3, 0.7, 1.0)
    },
    "ideal": (lambda action: Informed("ideal"), Expected(_ideal, _ideal)),
    "repeats the label": (
        lambda action: Informed("repeats the label"),
        Expected(_zero, lambda slope: 1.0, is_exact=True),
    ),
    "reports only": (
        lambda action: Informed("reports only"),
        Expected(_zero, _if_told(1.0), is_exact=True),
    ),
    "rationaliser": (lambda action: Rationaliser(), Expected(_zero, _zero, is_exact=True)),
    "key-presser": (lambda action: player_spec("constant"), Expected(_zero, _zero, is_exact=True)),
    "random": (lambda action: Informed("random"), Expected(_zero, _zero)),
    "sees the pick": (Sees, Expected(_slope_of_seeing, _slope_of_seeing)),
}


def play(name: str, positions: int) -> list[Episode]:
    """Return the episodes of the study with one of these players."""
    make, _ = PLAYERS[name]
    names, study_cells = ObjectNames(), []
    for study_cell in cells([player_spec("random")], positions):
        if study_cell.factors["arm"] == TWIN:
            continue  # bots read no words
        lineups = tuple(
            {**lineup, AGENT: names.player(make(lineup[PARTNER].params["action"]))}
            for lineup in study_cell.lineups
        )
        study_cells.append(msgspec.structs.replace(study_cell, lineups=lineups))
    study = Study(name="told_players", about="", cells=tuple(study_cells), seed=SEED)
    with names.bound():
        return [local.play(setup, study_cell) for _, study_cell, setup in local.orders(study)]


class Row(msgspec.Struct, frozen=True):
    """One player in one arm, with the slopes that it should have."""

    player: str
    slope: ToldSlope
    expected: float
    expected_forecast: float
    is_exact: bool

    @property
    def misses(self) -> tuple[bool, bool]:
        """Whether the intervals of moves and of forecasts miss their values."""
        return (
            _misses(self.slope.slope, self.expected),
            _misses(self.slope.forecast, self.expected_forecast),
        )

    @property
    def is_wrong(self) -> bool:
        """Whether a slope that is 0 by construction is another one."""
        estimate = self.slope.slope
        return self.is_exact and (estimate is None or estimate.value != 0)


def _misses(estimate: Estimate | None, value: float) -> bool:
    if estimate is None or estimate.low is None or estimate.high is None:
        return True
    return not estimate.low - 1e-9 <= value <= estimate.high + 1e-9


def measure_players(positions: int) -> Iterator[Row]:
    """Yield each player in each arm."""
    for name, (_, expected) in PLAYERS.items():
        slopes = told_slopes(_as_one(play(name, positions))).slopes
        for slope in slopes:
            yield Row(
                name, slope, expected.slope(slope), expected.forecast(slope), expected.is_exact
            )


def _as_one(episodes: list[Episode]) -> Iterator[Episode]:
    """Yield the episodes with one name for the player, which may be another one by what it sees."""
    for episode in episodes:
        lineup = {**episode.setup.lineup, AGENT: player_spec("own:player")}
        yield msgspec.structs.replace(
            episode, setup=msgspec.structs.replace(episode.setup, lineup=lineup)
        )


def format_rows(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of the table in Markdown."""
    yield "| player | arm | right in | positions | slope | should be | forecast | should be |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        marks = ["!" if is_missed else "" for is_missed in row.misses]
        yield (
            f"| {row.player} | {row.slope.arm} | {row.slope.reliability:.0%} | "
            f"{row.slope.positions} | {_cell(row.slope.slope)} {marks[0]} | {cell(row.expected)} | "
            f"{_cell(row.slope.forecast)} {marks[1]} | {cell(row.expected_forecast)} |"
        )


def _cell(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "-"
    return estimate_cell(estimate.value, estimate.interval, 2)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--positions", type=int, default=96)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = list(measure_players(options.positions))
    if options.json:
        print(msgspec.json.encode(rows).decode())
    else:
        print("\n".join(format_rows(rows)))
    misses = [is_missed for row in rows for is_missed in row.misses]
    share = sum(misses) / len(misses)
    print(f"{sum(misses)} of {len(misses)} intervals miss their value.", file=sys.stderr)
    sys.exit(int(share > MOST_MARKED or any(row.is_wrong for row in rows)))


if __name__ == "__main__":
    main()
