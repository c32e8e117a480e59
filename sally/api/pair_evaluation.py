"""Evaluate a player on the suite Sally-2 of certified pairs."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from sally import store
from sally.adapters.executors.lookup import executor
from sally.analysis.pairs.comparison import PairComparison, compare_pairs
from sally.analysis.pairs.evaluation import (
    GamePairs,
    PairEvaluation,
    evaluate_pairs,
    participant_of,
)
from sally.api.rows import Rows
from sally.api.studies import RunRequest, prepared_study
from sally.core.errors import BadInput, RunFailed, join_names
from sally.core.log.events import Episode, Setup
from sally.core.registry.objects import ObjectNames
from sally.core.registry.study import Study
from sally.frames.frame import Frame, as_frame
from sally.output.page.pair_evaluation import write_pair_evaluation
from sally.output.progress import notebook_progress
from sally.runner import local
from sally.runner import run as runs
from sally.runner.budget import Budget, Meter
from sally.runner.config import Config
from sally.runner.gates import unreadable_models
from sally.runner.models import models_of
from sally.runner.plan import bill_of, plan
from sally.runner.progress import currency_of
from sally.stats.intervals import Estimate
from sally.stats.power import t_power
from sally.store import Where
from sally.studies import sally_2
from sally.studies.sally_2 import SIZE_NAMES, Size

MEASURES = ("knowing", "doing", "acting")
POCOCK = 2.289  # normal quantile of three looks at a joint level of .05 (Pocock 1977)
NORMAL = 1.960


class PairRows(Rows):
    """An evaluation on pairs: one row per game; `evaluation` has everything that its page shows."""

    def __init__(self, evaluation: PairEvaluation) -> None:
        self.evaluation = evaluation
        super().__init__(map(game_row, evaluation.games))

    @property
    def heading(self) -> str:
        """The player and the suite, and how much of it was played."""
        evaluation = self.evaluation
        played = f"{evaluation.episodes:,} of {evaluation.planned:,} positions"
        return f"{evaluation.player}, {evaluation.suite}, size {evaluation.size}, {played}"

    @property
    def is_complete(self) -> bool:
        """Whether every position of the suite was answered."""
        return self.evaluation.is_complete

    @property
    def is_readable(self) -> bool:
        """Whether at least one game has a score."""
        return self.evaluation.is_readable

    def page(self, out: str | Path) -> Path:
        """Write the evaluation as one HTML page; return its path.

        Raises:
            BadInput: If the file cannot be written.
        """
        write_pair_evaluation(self.evaluation, Path(out))
        return Path(out)


def game_row(game: GamePairs) -> dict[str, Any]:
    """Return the results of one game as a row of plain values."""
    row: dict[str, Any] = {"game": game.game, "pairs": game.pairs}
    for measure in MEASURES:
        score = getattr(game, measure)
        row[measure] = score.j.value if score else None
        row[f"{measure}_interval"] = score.j.interval if score else None
    row |= {"known": game.known, "known_not_done": game.known_not_done, "order": game.order}
    row["same_move_twice"] = game.doing.same_twice if game.doing else None
    return row | {"unreadable": game.unreadable, "answers": game.answers}


class PairRequest(msgspec.Struct, frozen=True):
    """What is played of the suite, by whom, and where it is stored."""

    model: Any = None
    bot: str | None = None
    size: Size = "S"
    games: tuple[str, ...] = ()
    until: float | None = None
    out: str | Path | None = None
    play: bool = True
    on: str = "local"
    settings: dict[str, Any] = {}


def evaluate_on_pairs(
    request: PairRequest, config: Config, budget: Budget, watch: runs.Watcher | None = None
) -> PairRows:
    """Play what is missing of the suite and return the evaluation.

    With `until` the sizes are played one after another, until the intervals of both means reach
    at most that far to either side; the intervals are then widened for the three looks.

    Raises:
        BadInput: If the model, bot, game or setting is unknown, or no position was finished.
    """
    names = ObjectNames()
    model = None if request.model is None else names.model(request.model)
    is_kept = request.out is not None
    with (
        names.bound(),
        nullcontext(request.out) if is_kept else tempfile.TemporaryDirectory() as place,
    ):
        assert place is not None
        meter = Meter(budget, config)
        sizes = SIZE_NAMES if request.until is not None else (request.size,)
        for size in sizes:
            study, settings = _fill_seats(request, model, size, config)
            planned_setups = local.orders(study)
            if request.play:
                meter.refuse_unpriced(models_of(study))
                watch = watch or notebook_progress(study.name)
                job: dict[str, Any] = {
                    "tables": True,
                    "planned": planned_setups,
                    "settings": settings,
                }
                try:
                    runs.play_missing(study, place, None, watch, meter, executor(request.on), **job)
                except RunFailed:
                    if (
                        not unreadable_models()
                    ):  # such a model has an evaluation: no result, and why
                        raise
            require_finished(place, (id for id, _, _ in planned_setups), request.play)
            evaluation = pair_evaluation_of(place, study, planned_setups, request.bot or "")
            if request.until is None:
                return PairRows(evaluation)
            evaluation = _corrected_for_looks(evaluation)
            if _half_width(evaluation) <= request.until or not evaluation.is_complete:
                break
        return PairRows(evaluation)


def _fill_seats(
    request: PairRequest, model: str | None, size: Size, config: Config
) -> tuple[Study, Any]:
    games = request.games or sally_2.GAMES
    if request.bot is not None:
        return sally_2.bot_suite(request.bot, size, games), ()
    return prepared_study(
        sally_2.suite(size, games), RunRequest(model=model, given=request.settings), config
    )


def _half_width(evaluation: PairEvaluation) -> float:
    widths = [
        (estimate.high - estimate.low) / 2
        for estimate in (evaluation.knowing, evaluation.doing)
        if estimate is not None and estimate.low is not None and estimate.high is not None
    ]
    return max(widths, default=math.inf)


def _corrected_for_looks(evaluation: PairEvaluation) -> PairEvaluation:
    """Return the evaluation with intervals of the means that hold for three looks together."""
    return msgspec.structs.replace(
        evaluation,
        knowing=_widen(evaluation.knowing),
        doing=_widen(evaluation.doing),
        acting=_widen(evaluation.acting),
    )


def _widen(estimate: Estimate | None) -> Estimate | None:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    half = (estimate.high - estimate.low) / 2 * POCOCK / NORMAL
    return msgspec.structs.replace(
        estimate,
        low=max(estimate.value - half, -1.0),
        high=min(estimate.value + half, 1.0),
        method=f"{estimate.method}, three looks (Pocock)",
    )


def require_finished(place: Where, planned: Iterable[str], has_played: bool) -> None:
    """Raise an error if a store holds no finished episode of those that were planned.

    Raises:
        RunFailed: If they were just played; the message says why none was finished.
        BadInput: If they were not.
    """
    stored = store.survey(place)
    if any(id in stored.finished for id in planned):
        return
    if has_played:
        reasons = join_names(
            [
                f"{count:,}: {reason.removeprefix('fault: ').rstrip('.')}"
                for reason, count in stored.reasons.items()
            ][:3]
        )
        raise RunFailed(f"No episode was finished ({reasons or 'none was started'}).")
    raise BadInput(f"The store {place} holds no finished episode of this suite.")


def pair_evaluation_of(
    place: Where,
    study: Study,
    planned_setups: Sequence[tuple[str, str, Setup]],
    player: str = "",
) -> PairEvaluation:
    """Return the evaluation of the positions of a study that a store holds.

    Raises:
        BadInput: If the store holds none of them.
    """
    ids = {id for id, _, _ in planned_setups}
    episodes = [
        episode
        for episode in store.load(place).episodes.values()
        if episode.id in ids and not store.to_run_again(episode)
    ]
    if not episodes:
        raise BadInput(f"The store {place} holds no finished position of {study.name}.")
    evaluation = evaluation_of_episodes(episodes, study, len(ids), player)
    calls = msgspec.structs.replace(evaluation.calls, currency=currency_of(place))
    return msgspec.structs.replace(evaluation, calls=calls, answered_as=_other_names(episodes))


def _other_names(episodes: Iterable[Episode]) -> tuple[str, ...]:
    """Return the names under which servers answered for a model, other than its own."""
    names = set[str]()
    for episode in episodes:
        for seat, player in episode.setup.lineup.items():
            used = episode.used.get(seat)
            stored = used.get("answered_as") if isinstance(used, dict) else None
            requested_name = str(player.params.get("model", "")).partition("/")[2]
            names.update({str(name) for name in stored or ()} - {requested_name})
    return tuple(sorted(names))


def evaluation_of_episodes(
    episodes: Sequence[Episode], study: Study, planned: int, player: str = ""
) -> PairEvaluation:
    """Return the evaluation of the positions of one player, which are those of a study."""
    from sally.analysis.evaluation import name_of

    return evaluate_pairs(
        episodes,
        player=player or name_of(episode.setup for episode in episodes),
        suite=f"Sally-2, version {sally_2.VERSION}",
        size=study.tags["size"],
        planned=planned,
        game_of=sally_2.game_of,
        arms={cell.name: cell.factors["arm"] for cell in study.cells},
        games=sally_2.GAMES,
        planned_pairs={
            cell.name.partition(":")[0]: len(cell.instances) // 2
            for cell in study.cells
            if cell.factors["arm"] == sally_2.ASKED
        },
    )


def evaluate_people(place: Where) -> PairRows:
    """Return the evaluation of the people in a store: the score of models, of the same pairs.

    Raises:
        BadInput: If no person of the store has answered a position of the suite.
    """
    episodes = [e for e in store.load(place).episodes.values() if participant_of(e)]
    people = len({participant_of(episode) for episode in episodes})
    evaluation = evaluate_pairs(
        episodes,
        player="1 person" if people == 1 else f"{people} people",
        suite=f"Sally-2, version {sally_2.VERSION}",
        size="chosen by the study",
        planned=len(episodes),
        game_of=sally_2.game_of,
        arms={episode.cell: sally_2.ASKED for episode in episodes},
        games=sally_2.GAMES,
    )
    if not evaluation.games:
        raise BadInput(f"No person in {place} has answered both positions of a pair.")
    return PairRows(evaluation)


def compare_on_pairs(first: Where | Frame, second: Where | Frame) -> PairComparison:
    """Compare two evaluations on Sally-2, pair by pair.

    Args:
        first: A store or bundle.
        second: Another one, whose scores are shown as differences from the first.

    Raises:
        BadInput: If one of them holds several players, or both have no pair in common.
    """
    from sally.analysis.evaluation import compared_names

    sides = [as_frame(side).filter(~pl.col("cut")) for side in (first, second)]
    names = compared_names(sides)
    players = (names[0], names[1])
    return compare_pairs(sides[0], sides[1], players, sally_2.game_of, sally_2.GAMES)


# --- the plan -------------------------------------------------------------------------------------

POWER = 0.8


def plan_pairs(model: str, games: Sequence[str], config: Config) -> list[dict[str, Any]]:
    """Return, for each size, the pairs, calls, tokens, cost and what can be detected."""
    pilots = sally_2.pilot_suite(tuple(games) or sally_2.GAMES)
    study, _ = prepared_study(pilots, RunRequest(model=model), config)
    parts = plan(study, config=config).parts
    cells = {cell.name: cell for cell in study.cells}
    rows = []
    for size in SIZE_NAMES:
        of_size = [
            msgspec.structs.replace(part, episodes=sally_2.count_positions(cells[part.cell], size))
            for part in parts
        ]
        bill = bill_of(parts[0].model, of_size, config)
        counts = [sally_2.row_named(game).count(size) for game in games or sally_2.GAMES]
        rows.append(
            {
                "size": size,
                "pairs": sum(counts),
                "calls": round(bill.count.calls),
                "input tokens": round(bill.count.input),
                "output tokens": round(bill.count.output),
                "cost": bill.cost,
                "found in a game": smallest_found(min(counts)),
                "interval of the mean": widest_mean(counts),
            }
        )
    return rows


def guess_variance(share: float, options: int) -> float:
    """Return the variance of j of a player that knows this share of the pairs and guesses among
    so many options in the others."""
    return share + (1 - share) / options - share**2


def smallest_found(pairs: int, options: int = 2) -> float:
    """Return the J of a player that is found in one game with a power of .8, at a level of .05
    (one-sided)."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        power = t_power(pairs, middle, guess_variance(middle, options), alpha=0.1)
        low, high = (middle, high) if power < POWER else (low, middle)
    return high


def widest_mean(counts: Sequence[int], options: int = 2) -> float:
    """Return the largest half width of the mean's interval: of a player that guesses everywhere."""
    variance = guess_variance(0.0, options)
    return NORMAL * math.sqrt(sum(variance / count for count in counts)) / len(counts)
