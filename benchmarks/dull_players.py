"""Do only those players pass that should? Dull players and the perfect bot through every measure.

    python -m benchmarks.dull_players --size S --workers 2 --out dull.jsonl
    python -m benchmarks.dull_players --size L --workers 16 --out dull.jsonl --json

Players: every simple rule, played and replied to; learners; a key-presser, which predicts perfectly
and always presses one key; a rationaliser, which moves at random and predicts what would make its
move the best reply; players with noise in their reports only; one that follows whatever it is told;
the perfect bot, and the same bot as a mind-reader, which is lost where a mechanism replaces the
mind. Measures:

- pairs: predictions and moves on the certified pairs of Sally-2, in the games that tables do not
  solve and in those that they do; the slope of moves on a stated forecast (arm *told*);
- checklist: *knows*, *acts on* and *theory of mind* in Sally-1, with the control arms of a bot
  (other words never change it; a mechanism changes only the mind-reader);
- card: doing above the best mindless player of the game's card;
- acting: moves that change with the player's own forecasts (acting by contrast).

A measure is passed in a game if its interval is above 0, after Holm's adjustment over games
(pairs), over all players and games of the table (acting by contrast) or over all players (slope):
some of a hundred intervals of random players are above 0 by chance. Acting by contrast cannot be
shown where the best reply is always to copy the forecast, as in the battle of the sexes. The table
gives the number of games passed of those played, and an exclamation mark where a player passes what
it should not, or a player that should pass passes nowhere. `--out` keeps one line per game and
player; a second run plays only what is missing. Exit code 1: the table is not as it should be.

    python -m benchmarks.dull_players --tables

writes `sally/studies/records/sally_2_tables.json`: how well the best table of what followed
predicts on all pairs of each game of Sally-2.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import scipy

from sally.analysis.design.claims import (
    ACTS_ON,
    KNOWS,
    ORDER,
    THEORY,
    ArmResult,
    Controls,
    arm_reasons,
    verdicts,
)
from sally.analysis.evaluation import ASKED as ASKED_ARM
from sally.analysis.evaluation import certified_order, evaluated_seats, measured_of
from sally.analysis.pairs.evaluation import (
    ALPHA,
    PairRecord,
    RecordSummary,
    evaluate_pairs,
    pair_records,
    summarize_records,
)
from sally.analysis.profile.baselines import baselines
from sally.analysis.profile.profile import ProfileRow, profile_of
from sally.core.errors import BadInput
from sally.core.log.events import Episode, PlayerSpec
from sally.core.match.player import Decision, Player, Turn, send_ask
from sally.core.registry.objects import ObjectNames
from sally.core.registry.recipes import find_recipe
from sally.core.registry.study import Study, player_spec
from sally.core.rules.chance import Stream, derived_seed
from sally.core.rules.menu import example, is_finite
from sally.core.rules.pair import Pair
from sally.core.rules.probe import ProbeReport
from sally.frames.frame import Frame, as_frame
from sally.games.bargaining.pairs import changes_after
from sally.parts.simple_rules import MOVES, PLAYER, RULES
from sally.players.language import LANGUAGE
from sally.players.mindless import question_of, report_choice
from sally.players.pair_reasoner import REASONER
from sally.runner import local
from sally.runner.seating import seat_player
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate
from sally.stats.multiple_tests import holm_where_known
from sally.studies import sally_1, sally_2
from sally.studies.sally_2 import ASKED, TOLD, Size

GAMES = tuple(dict.fromkeys((*sally_2.GAMES, *sally_1.GAMES)))
PREDICTS, ACTS, SLOPE = "pairs: predicts", "pairs: moves", "pairs: slope told"
PREDICTS_SOLVED, ACTS_SOLVED = "solved pairs: predicts", "solved pairs: moves"
CARD, CONTRAST = "above the card", "acting by contrast"
MEASURES = (PREDICTS, ACTS, PREDICTS_SOLVED, ACTS_SOLVED, SLOPE, KNOWS, ACTS_ON, THEORY, CARD,
            CONTRAST)  # fmt: skip
KNOWING = {PREDICTS, PREDICTS_SOLVED, KNOWS}
DOING = {ACTS, ACTS_SOLVED, CARD}
PERFECT = "perfect bot"
TABLES = ("after_last, replied to", "after_own, replied to", "after_pair, replied to",
          "table of cases")  # fmt: skip
RECORD = Path(__file__).parent.parent / "sally" / "studies" / "records" / sally_2.TABLES
TOLD_PAIRS = 100  # per game at most


# --- players --------------------------------------------------------------------------------------


class Split(msgspec.Struct, frozen=True):
    """Moves like one player and reports like another."""

    name: str
    moves: PlayerSpec
    reports: PlayerSpec

    def decide(self, turn: Turn) -> Any:
        return send_ask(turn, _seat(turn, self.moves))

    def report(self, turn: Turn) -> Any:
        return send_ask(turn, _seat(turn, self.reports))


class Rationaliser(msgspec.Struct, frozen=True):
    """Moves at random and predicts what would make that move a best reply."""

    name: str = "rationaliser"
    recipe: str = ""  # of a pair

    def decide(self, turn: Turn) -> Decision[Any]:
        return Decision(self._move(turn))

    def report(self, turn: Turn) -> ProbeReport:
        question, move = question_of(turn), self._move(turn)
        fitting = [
            choice for choice in question.choices if self._fits(turn, question.about, choice, move)
        ]
        chance = Stream(turn.context.seed, turn.number, "excuse", question.about)
        if question.kind == "values":
            return ProbeReport({str(choice): question.low for choice in question.choices})
        return report_choice(question, chance.pick(fitting or question.choices))

    def _move(self, turn: Turn) -> Any:
        return example(turn.options, Stream(turn.context.seed, turn.number, "habit"))

    def _fits(self, turn: Turn, about: str, choice: Any, move: Any) -> bool:
        context = turn.context
        if self.recipe:
            recipe = find_recipe(context.spec.name, self.recipe)
            return move in recipe.best_moves(context.game, turn.view, choice)
        if context.spec.measured.best_replies is None:
            return False
        belief = {about: choice}
        try:
            return bool(context.spec.is_best_reply(context.game, turn.view, belief, move))
        except (KeyError, BadInput):
            return False  # a best reply to one of several predictions is not defined


class Follower(msgspec.Struct, frozen=True):
    """Guesses, and makes the best move for whatever it is told that the other will do."""

    recipe: str
    name: str = "follows what it is told"

    def decide(self, turn: Turn) -> Decision[Any]:
        menu = turn.options
        for statement in turn.told:
            recipe = find_recipe(turn.context.spec.name, self.recipe)
            moves = recipe.best_moves(turn.context.game, turn.view, statement.value)
            if is_finite(menu) and (fitting := [move for move in moves if move in menu]):
                return Decision(turn.draws.pick(fitting))
        return Decision(example(menu, turn.draws))

    def report(self, turn: Turn) -> Any:
        return send_ask(turn, _seat(turn, PlayerSpec("random")))


class CaseTable(msgspec.Struct, frozen=True):
    """Bargaining: expects the change of the ask that followed the same case the last time."""

    name: str = "table of cases"

    def decide(self, turn: Turn) -> Decision[Any]:
        recipe = find_recipe("bargaining", "haggler")
        moves = recipe.best_moves(turn.context.game, turn.view, self._expect(turn))
        fitting = [move for move in moves if move in turn.options]
        return Decision(turn.draws.pick(fitting or turn.options))

    def report(self, turn: Turn) -> ProbeReport:
        question, expected = question_of(turn), self._expect(turn)
        choices = question.choices
        return report_choice(
            question, expected if expected in choices else turn.draws.pick(choices)
        )

    def _expect(self, turn: Turn) -> int:
        bids = [quotes.bid for quotes in turn.view.past if quotes.bid is not None]
        asks = [quotes.ask for quotes in turn.view.past if quotes.bid is not None]
        changes = changes_after(bids, asks, True, True)
        return int(asks[-1] + (changes[-1] if changes else 0))


def _seat(turn: Turn, spec: PlayerSpec) -> Player:
    return seat_player(turn.context.spec, turn.context.game, turn.context.seat, spec)


PairBot = Callable[[Pair], Any]  # a player as `as_player` takes it; None: it does not play
GameBot = Callable[[str, sally_1.Others], Any]


class DullPlayer(msgspec.Struct, frozen=True):
    """A player with the measures that it must pass in some game, and those that it may pass."""

    name: str
    must: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    on_pairs: PairBot | None = None
    in_games: GameBot | None = None
    in_twin: GameBot | None = None  # with a mechanism in place of the mind; None: as always


def perfect_on_pairs(pair: Pair) -> PlayerSpec:
    return player_spec(REASONER, recipe=pair.recipe, order=pair.order)


def _everywhere(spec: PlayerSpec) -> tuple[PairBot, GameBot]:
    return lambda pair: spec, lambda game, others: spec


def _noisy(spec: PlayerSpec, error: float) -> PlayerSpec:
    return player_spec("noisy", of=spec.player, params=spec.params, error=error)


@cache
def players() -> tuple[DullPlayer, ...]:
    """Return all players, the perfect bot first, because the others are compared with it."""

    def press(pair: Pair) -> Split:
        return Split("key-presser", PlayerSpec("constant"), perfect_on_pairs(pair))

    def press_in_game(game: str, others: sally_1.Others) -> Split:
        return Split("key-presser", PlayerSpec("constant"), sally_1.best_bot(game, others))

    def misreport(error: float) -> tuple[PairBot, GameBot]:
        def on_pair(pair: Pair) -> Split:
            best = perfect_on_pairs(pair)
            return Split(f"report noise {error}", best, _noisy(best, error))

        def in_game(game: str, others: sally_1.Others) -> Split:
            best = sally_1.best_bot(game, others)
            return Split(f"report noise {error}", best, _noisy(best, error))

        return on_pair, in_game

    def learner(name: str) -> GameBot:
        return lambda game, others: player_spec(name) if game in sally_1.REPEATED else None

    def haggle(pair: Pair) -> CaseTable | None:
        return CaseTable() if pair.game == "bargaining" else None

    def zero(game: str, others: sally_1.Others) -> PlayerSpec | None:
        return player_spec("zero_then_last") if game == "bargaining" else None

    everything = frozenset(KNOWING | DOING | {ACTS_ON, CONTRAST})
    solved = frozenset({PREDICTS_SOLVED, ACTS_SOLVED})
    nothing = frozenset[str]()
    listed = [
        DullPlayer(PERFECT, everything, nothing, perfect_on_pairs, sally_1.best_bot),
        DullPlayer(
            "perfect mind-reader",
            everything | {THEORY},
            nothing,
            perfect_on_pairs,
            sally_1.best_bot,
            lambda game, others: player_spec("random"),
        ),
        DullPlayer("report noise 0.2", everything, nothing, *misreport(0.2)),
        DullPlayer("report noise 0.5", frozenset(DOING | solved), everything, *misreport(0.5)),
        DullPlayer("report noise 1.0", frozenset(DOING), nothing, *misreport(1.0)),
        DullPlayer("key-presser that knows", frozenset(KNOWING), nothing, press, press_in_game),
        DullPlayer(
            "rationaliser",
            nothing,
            frozenset({CONTRAST}),  # its forecasts fit its moves; only the slope tells
            lambda pair: Rationaliser(recipe=pair.recipe),
            lambda game, others: Rationaliser(),
        ),
        DullPlayer(
            "follows what it is told",
            frozenset({SLOPE}),
            nothing,
            lambda pair: Follower(pair.recipe),
        ),
        DullPlayer("random", nothing, nothing, *_everywhere(PlayerSpec("random"))),
        DullPlayer("constant", nothing, nothing, *_everywhere(PlayerSpec("constant"))),
        DullPlayer("table of cases", solved, nothing, haggle),
        DullPlayer("zero_then_last", nothing, nothing, None, zero),
    ]
    for rule in (*RULES, *MOVES):
        for reply in (False, True) if rule in RULES else (False,):
            name = f"{rule}, {'replied to' if reply else 'played'}"
            spec = player_spec(PLAYER, rule=rule, reply=reply)
            may = solved if rule.startswith("after_") else nothing
            # who replies to what it expects acts on its forecasts; so does, in part, who stays
            # after a best reply
            may |= {CONTRAST} if reply or rule in MOVES else nothing
            listed.append(DullPlayer(name, nothing, may, *_everywhere(spec)))
    listed += [
        DullPlayer(name, may=frozenset({CONTRAST}), in_games=learner(name))
        for name in sally_1.LEARNERS
    ]
    return tuple(listed)


# --- what one player does in one game -------------------------------------------------------------


class GameLine(msgspec.Struct, frozen=True):
    """What one player did in one game, as stored."""

    game: str
    size: str
    player: str
    records: list[PairRecord] = []  # of pairs
    passed: dict[str, bool] = {}  # measures of Sally-1; without those that cannot be shown
    values: dict[str, tuple[float | None, float | None, float | None]] = {}
    seconds: float = 0.0
    p_contrast: float | None = None  # that acting by contrast is 0; None: it cannot be shown


def play_pairs(player: DullPlayer, game: str, size: Size) -> list[PairRecord]:
    """Return the answers of a player on the pairs of a game, in the arms asked and told."""
    if player.on_pairs is None or game not in sally_2.GAMES:
        return []
    names, cells = ObjectNames(), []
    pairs = sally_2.frozen_pairs(game)
    count = sally_2.row_named(game).count(size)
    for cell in sally_2.suite("L", (game,)).cells:
        if cell.factors["arm"] not in (ASKED, TOLD):
            continue
        played = 2 * (count if cell.factors["arm"] == ASKED else min(count, TOLD_PAIRS))
        lineups = []
        for index, lineup in enumerate(cell.lineups[:played]):
            bot = player.on_pairs(pairs[index // 2])
            if bot is None:
                return []
            lineups.append({**lineup, pairs[0].seat: names.player(bot)})
        cells.append(
            msgspec.structs.replace(cell, instances=cell.instances[:played], lineups=tuple(lineups))
        )
    study = Study(name="dull", about="", cells=tuple(cells), seed=sally_2.SEED)
    episodes = _play_study(study, names)
    arms = {cell.name: cell.factors["arm"] for cell in cells}
    return pair_records(episodes, player=player.name, game_of=sally_2.game_of, arms=arms)


def _play_study(study: Study, names: ObjectNames) -> list[Episode]:
    """Return the episodes of a study; none if the player does not fit the game."""
    with names.bound():
        try:
            return [local.play(setup, cell) for _, cell, setup in local.orders(study)]
        except BadInput:
            return []


def play_game(bot: GameBot, name: str, game: str, size: Size) -> Frame | None:
    """Return the probed episodes of a player in a game of Sally-1; None if it does not play it.

    The chance of an episode depends on the name of the player: if all players shared it, one draw
    could make several of them pass.
    """
    if game not in sally_1.GAMES:
        return None
    names, cells = ObjectNames(), []
    for cell in sally_1.suite(size, (game,)).cells:
        if cell.factors["arm"] != ASKED_ARM:
            continue
        lineups = []
        for lineup in cell.lineups:
            others = {seat: spec for seat, spec in lineup.items() if spec.player != LANGUAGE}
            player = bot(game, others)
            if player is None:
                return None
            seated = names.player(player)
            lineups.append({seat: others.get(seat, seated) for seat in lineup})
        cells.append(msgspec.structs.replace(cell, lineups=tuple(lineups)))
    seed = derived_seed(sally_1.SEED, name)
    study = Study(name="dull", about="", cells=tuple(cells), seed=seed)
    episodes = _play_study(study, names)
    return as_frame(episodes, studies=[study]) if episodes else None


def profile_row(frame: Frame, name: str) -> ProfileRow:
    """Return the profile of a player in its one game; the part with a known optimum comes first."""
    seats = measured_of(frame)
    row = profile_of(seats, baselines(seats, False), name_of=lambda spec: name)[0]
    return msgspec.structs.replace(row, arms=("labels", "not asked", "twin"))


def twin_result(frame: Frame, twin: Frame | None, game: str) -> ArmResult:
    """Return what a mechanism in place of the mind changes: nothing for a bot that reads no words,
    else the paired difference of right predictions."""
    if twin is None:
        no_difference = Estimate(0.0, 0.0, 0.0, len(frame), "the same answers")
        return ArmResult(game, "tom_percent", True, no_difference, "identical")
    seat = evaluated_seats(frame)[game]
    sides = [
        side.seats("seat", "instance", "tom_percent").filter(pl.col("seat") == seat)
        for side in (frame, twin)
    ]
    joined = sides[0].join(sides[1], on="instance", suffix="_twin").drop_nulls()
    differences = (joined["tom_percent_twin"] - joined["tom_percent"]).to_numpy()
    difference = mean_by_rule(differences, joined["instance"].cast(pl.String).to_list())
    is_worse = difference.high is not None and difference.high < 0
    verdict = "worse" if is_worse else "not told apart"
    return ArmResult(game, "tom_percent", True, difference, verdict)


def measure_game(
    player: DullPlayer, game: str, size: Size, best: ProfileRow | None
) -> tuple[GameLine, ProfileRow | None]:
    """Return what a player did in a game, and its profile; `best` is that of the perfect bot."""
    start = time.process_time()
    records = play_pairs(player, game, size)
    name = player.name
    frame = play_game(player.in_games, name, game, size) if player.in_games else None
    passed: dict[str, bool] = {}
    values: dict[str, tuple[float | None, float | None, float | None]] = {}
    row, p_contrast = None, None
    if frame is not None:
        row = profile_row(frame, name)
        twin = play_game(player.in_twin, name, game, size) if player.in_twin else None
        pairs = _evaluate(records, name, game) if records else None
        certifying_orders = sally_2.certifying_orders(ORDER)
        controls = Controls(
            arm_reasons([twin_result(frame, twin, game)], game),
            certified_order(pairs, game, certifying_orders.get(game, ())),
            game in certifying_orders,
        )
        (verdict,) = verdicts([row], controls={game: controls}, best=[best or row])
        passed = {
            word: not reasons
            for word, reasons in verdict.refused.items()
            if word not in verdict.unshowable
        }
        if _is_above_card(best or row):
            passed[CARD] = _is_above_card(row)
        if row.has_rounds:
            p_contrast = p_above_zero(row.acting_contrast, row.cluster_count)
        estimates = {"doing": row.doing, "beyond learning rules": row.beyond_learning,
                 CONTRAST: row.acting_contrast}  # fmt: skip
        values = {name: _bounds(estimate) for name, estimate in estimates.items()}
        if row.mindless is not None:
            values["best mindless"] = (row.mindless.doing, None, None)
    seconds = time.process_time() - start
    line = GameLine(game, size, player.name, records, passed, values, round(seconds, 1), p_contrast)
    return line, row


def p_above_zero(estimate: Estimate, clusters: int) -> float | None:
    """Return the two-sided p value that a measure is 0, by the lower half of its interval; None
    without an interval.

    >>> round(p_above_zero(Estimate(0.5, 0.0, 1.0, 9, "t"), 10), 3)
    0.05
    """
    if estimate.value is None or estimate.low is None:
        return None
    if estimate.value <= 0:
        return 1.0
    if estimate.value == estimate.low:
        return 0.0
    reach = float(scipy.special.stdtrit(clusters - 1, 0.975))
    t = estimate.value / (estimate.value - estimate.low) * reach
    return float(2 * scipy.special.stdtr(clusters - 1, -t))


def _is_above_card(row: ProfileRow) -> bool:
    """Return whether doing is above the best mindless player, and above the random one at 0."""
    if row.doing.low is None or row.mindless is None or row.mindless.doing is None:
        return False
    return row.doing.low > max(row.mindless.doing, 0.0)


def _evaluate(records: Sequence[PairRecord], name: str, game: str) -> Any:
    blank = evaluate_pairs([], player=name, suite="", size="", planned=0,
                           game_of=sally_2.game_of, arms={}, games=())  # fmt: skip
    return msgspec.structs.replace(blank, games=summarize_records(records, (game,)).games)


def _bounds(estimate: Estimate) -> tuple[float | None, float | None, float | None]:
    return estimate.value, estimate.low, estimate.high


def measure_players(size: Size, done: Sequence[tuple[str, str]], game: str) -> list[GameLine]:
    """Return the lines of a game that are not done; the perfect bot is always played first."""
    missing = [player for player in players() if (game, player.name) not in done]
    if not missing:
        return []
    best: ProfileRow | None = None
    if missing[0].name != PERFECT:
        frame = play_game(sally_1.best_bot, PERFECT, game, size)
        best = profile_row(frame, PERFECT) if frame is not None else None
    lines = []
    for player in missing:
        line, row = measure_game(player, game, size, best)
        best = row if player.name == PERFECT else best
        lines.append(line)
    return lines


# --- tables of what followed ----------------------------------------------------------------------


def play_tables(size: Size, game: str) -> list[GameLine]:
    """Return what the tables of what followed answer on the pairs of a game."""
    return [
        GameLine(game, size, player.name, play_pairs(player, game, size))
        for player in players()
        if player.name in TABLES
    ]


def score_tables(lines: Iterable[GameLine]) -> dict[str, sally_2.TableScore]:
    """Return the best table of each game by J of its predictions, over all orders."""
    scores: dict[str, sally_2.TableScore] = {}
    for line in lines:
        for game in summarize_records(line.records, (line.game,)).games:
            j = game.knowing.j if game.knowing is not None else None
            if j is None or j.value is None or j.low is None or j.high is None:
                continue
            if line.game not in scores or j.value > scores[line.game].j:
                j_value, low, high = (round(number, 3) for number in (j.value, j.low, j.high))
                scores[line.game] = sally_2.TableScore(line.player, j_value, low, high, game.pairs)
    return {game: scores[game] for game in GAMES if game in scores}


# --- the table ------------------------------------------------------------------------------------


class TableRow(msgspec.Struct, frozen=True):
    """One player: by measure, the games passed of those in which it was measured."""

    player: str
    passed: dict[str, list[str]]
    measured: dict[str, list[str]]
    wrong: list[str]  # measures that came out as they should not
    slope: tuple[float | None, float | None, float | None] | None


def contrasted_games(lines: Sequence[GameLine]) -> dict[tuple[str, str], bool]:
    """Return, for each player and game in which acting by contrast can be shown, whether it is
    above 0 after Holm's adjustment over all of them."""
    adjusted = holm_where_known([line.p_contrast for line in lines])
    return {
        (line.player, line.game): p < ALPHA
        for line, p in zip(lines, adjusted, strict=True)
        if p is not None
    }


def table_rows(lines: Sequence[GameLine]) -> list[TableRow]:
    """Return the rows of all players that have lines."""
    lines_by_player: dict[str, list[GameLine]] = {}
    for line in lines:
        lines_by_player.setdefault(line.player, []).append(line)
    players_by_name = {
        player.name: player for player in players() if player.name in lines_by_player
    }
    summaries = {
        name: summarize_records([r for line in lines_by_player[name] for r in line.records], GAMES)
        for name in players_by_name
    }
    slopes = {
        name: next((arm for arm in summary.arms if arm.measure == "slope"), None)
        for name, summary in summaries.items()
    }
    p_values = [
        None if arm is None or arm.difference is None else p_above_zero(arm.difference, arm.pairs)
        for arm in slopes.values()
    ]
    sloped = dict(zip(slopes, holm_where_known(p_values), strict=True))
    contrasted = contrasted_games(lines)
    return [
        table_row(player, lines_by_player[name], summaries[name], sloped[name], contrasted)
        for name, player in players_by_name.items()
    ]


def table_row(
    player: DullPlayer,
    lines: Sequence[GameLine],
    summary: RecordSummary,
    p_slope: float | None,
    contrasted: Mapping[tuple[str, str], bool],
) -> TableRow:
    """Return the row of a player from its lines of all games, with adjusted p values."""
    passed: dict[str, list[str]] = {measure: [] for measure in MEASURES}
    measured: dict[str, list[str]] = {measure: [] for measure in MEASURES}

    def count(measure: str, game: str, is_passed: bool) -> None:
        measured[measure].append(game)
        if is_passed:
            passed[measure].append(game)

    for game in summary.games:
        is_solved = game.game in sally_2.solved_by_tables()
        if game.knowing is not None:
            count(PREDICTS_SOLVED if is_solved else PREDICTS, game.game, game.tells_apart)
        if game.doing is not None:
            count(ACTS_SOLVED if is_solved else ACTS, game.game, game.acts_apart)
    slope = next((arm.difference for arm in summary.arms if arm.measure == "slope"), None)
    if p_slope is not None:
        count(SLOPE, "all", p_slope < ALPHA)
    for line in lines:
        for measure, is_passed in line.passed.items():
            count(measure, line.game, is_passed)
        if (line.player, line.game) in contrasted:
            count(CONTRAST, line.game, contrasted[line.player, line.game])
    wrong = [
        measure
        for measure in MEASURES
        if (passed[measure] and measure not in player.must | player.may)
        or (measured[measure] and not passed[measure] and measure in player.must)
    ]
    return TableRow(player.name, passed, measured, wrong, _bounds(slope) if slope else None)


def format_table(rows: Iterable[TableRow]) -> Iterator[str]:
    """Yield the lines of the table in Markdown."""
    yield f"| player | {' | '.join(MEASURES)} |"
    yield f"|---{'|---' * len(MEASURES)}|"
    for row in rows:
        cells = []
        for measure in MEASURES:
            mark = " !" if measure in row.wrong else ""
            if measure == SLOPE and row.slope is not None and row.slope[0] is not None:
                cells.append(f"{row.slope[0]:.2f}{mark}")
            elif row.measured[measure]:
                count = f"{len(row.passed[measure])} of {len(row.measured[measure])}"
                cells.append(f"{count}{mark}")
            else:
                cells.append("-")
        yield f"| {row.player} | {' | '.join(cells)} |"


def read_lines(path: Path | None, size: Size) -> list[GameLine]:
    """Return the stored lines of a size."""
    if path is None or not path.exists():
        return []
    lines = [msgspec.json.decode(line, type=GameLine) for line in path.read_bytes().splitlines()]
    return [line for line in lines if line.size == size]


def in_parallel(
    measure: Callable[[str], list[GameLine]], games: Sequence[str], workers: int
) -> Iterator[list[GameLine]]:
    """Yield the lines of each game when they are known."""
    if workers == 1:
        yield from map(measure, games)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(measure, games)


def run(size: Size, games: Sequence[str], workers: int, out: Path | None = None) -> list[TableRow]:
    """Play what is missing and return the table."""
    lines = read_lines(out, size)
    measure = partial(measure_players, size, [(line.game, line.player) for line in lines])
    for new_lines in in_parallel(measure, games, workers):
        lines += new_lines
        if out is not None and new_lines:
            with out.open("ab") as file:
                file.writelines(msgspec.json.encode(line) + b"\n" for line in new_lines)
            seconds = sum(line.seconds for line in new_lines)
            print(f"{new_lines[0].game}: {seconds:.0f} s", file=sys.stderr, flush=True)
    return table_rows([line for line in lines if line.game in games])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=sally_2.SIZE_NAMES, default="S")
    parser.add_argument("--games", nargs="+", choices=GAMES, default=GAMES)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tables", action="store_true", help="write the record of tables")
    options = parser.parse_args()
    if options.tables:
        played = in_parallel(partial(play_tables, "L"), sally_2.GAMES, options.workers)
        scores = score_tables(line for lines in played for line in lines)
        RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(scores), indent=2) + b"\n")
        return
    rows = run(options.size, options.games, options.workers, options.out)
    if options.json:
        print(msgspec.json.encode(rows).decode())
    else:
        print("\n".join(format_table(rows)))
    sys.exit(int(any(row.wrong for row in rows)))


if __name__ == "__main__":
    main()
