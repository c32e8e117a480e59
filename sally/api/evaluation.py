"""Evaluate a player on a suite: Sally-2 of certified pairs, or Sally-1 of whole episodes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import polars as pl

from sally.adapters.executors.lookup import executor
from sally.analysis.design.claims import ORDER
from sally.analysis.evaluation import ASKED, Evaluation, GameResult, name_of
from sally.analysis.evaluation import evaluate as evaluated
from sally.api.pair_evaluation import (
    PairRequest,
    PairRows,
    evaluate_on_pairs,
    evaluate_people,
    require_finished,
)
from sally.api.rows import Rows, list_names
from sally.api.studies import PreparedStudy, RunRequest, prepared_study
from sally.core.errors import BadInput, RunFailed, unknown
from sally.core.log.events import Episode
from sally.core.prompt.model import Model
from sally.core.registry.objects import ObjectNames
from sally.core.registry.study import Study
from sally.frames.frame import Frame, as_frame
from sally.output.page.evaluation import write_evaluation
from sally.output.progress import notebook_progress
from sally.runner import local
from sally.runner import run as runs
from sally.runner.budget import Budget, Meter
from sally.runner.config import use_config
from sally.runner.gates import unreadable_models
from sally.runner.models import models_of
from sally.runner.progress import currency_of
from sally.store import Where
from sally.studies import sally_1, sally_2
from sally.studies.sally_1 import BOTS, REFERENCES, Size, bot_suite, in_one_store

MEASURES = ("knowing", "acting", "doing")
SIZES = sally_1.SIZE_NAMES
Suite = Literal["sally_2", "sally_1"]
SUITES: tuple[Suite, ...] = get_args(Suite)


class EvaluationRows(Rows):
    """An evaluation: one row per game; `evaluation` has everything that its page shows."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        super().__init__(
            {"game": result.game, "seat": result.seat, "episodes": result.episodes}
            | {"problems": result.problems}
            | chosen_estimates(result)
            | {"mindless": result.mindless, "forfeits": result.forfeits, "moves": result.moves}
            for result in evaluation.games
        )

    @property
    def heading(self) -> str:
        """The player and the suite, and how much of it was played."""
        evaluation = self.evaluation
        played = f"{evaluation.episodes} of {evaluation.wanted or evaluation.episodes} episodes"
        return f"{evaluation.player}, {evaluation.suite}, {played}"

    @property
    def is_complete(self) -> bool:
        """Whether every episode of the suite was played."""
        return self.evaluation.complete

    @property
    def is_readable(self) -> bool:
        """Whether at least one move could be read."""
        return any(game.moves for game in self.evaluation.games)

    def page(self, out: str | Path) -> Path:
        """Write the evaluation as one HTML page; return its path.

        Raises:
            BadInput: If the file cannot be written.
        """
        write_evaluation(self.evaluation, Path(out))
        return Path(out)


def chosen_estimates(result: GameResult) -> dict[str, Any]:
    """Return knowing, acting and doing in one game, each with its interval."""
    return {
        name: value
        for measure in MEASURES
        for name, value in (
            (measure, getattr(result, measure).value),
            (f"{measure}_interval", getattr(result, measure).interval),
        )
    }


def evaluate(
    model: str | Model | None = None,
    *,
    bot: str | None = None,
    people: Where | None = None,
    suite: Suite = "sally_2",
    size: Size = "S",
    games: str | Sequence[str] = (),
    until: float | None = None,
    out: str | Path | None = None,
    play: bool = True,
    budget: float | None = None,
    budget_tokens: int | None = None,
    on: str = "local",
    config: Path | None = None,
    watch: runs.Watcher | None = None,
    **settings: Any,
) -> EvaluationRows | PairRows:
    """Evaluate a model, a bot or people: how well they predict others, and whether they act on it.

    Args:
        model: The model: a name, or an object with the methods of `Model`.
        bot: A bot instead of a model, such as `random`.
        people: A store with the pairs that people played; nothing else is played.
        suite: `sally_2` (certified pairs) or `sally_1` (whole episodes).
        size: Size of the suite: `S`, `M` or `L`.
        games: Only these games of the suite.
        until: Play one size after another until the intervals of the means over games reach at
            most that far to either side (Sally-2 only).
        out: Folder or address of the store, in which a stopped evaluation continues; None keeps
            nothing on disk.
        play: Play the missing episodes; False evaluates the episodes in the store.
        budget: Stop when calls have cost this much, in the currency of `sally.toml`.
        budget_tokens: Stop when calls have used this many tokens.
        on: Executor: `local`, `pool:4` or `ray`.
        config: A `sally.toml`; by default the nearest one.
        watch: Called with the progress; by default a notebook displays it.
        **settings: Model settings, such as `temperature=0`.

    Returns:
        One row per game; `plot()` draws them and `page(FILE)` writes the page.

    Raises:
        BadInput: If the model, bot, game or setting is unknown, or no episode was finished.

    >>> import sally
    >>> rows = sally.evaluate(bot="reasoner", games=["ibs"])
    >>> [(row["game"], row["knowing"], row["doing"]) for row in rows]
    [('ibs', 1.0, 1.0)]
    """
    if sum(player is not None for player in (model, bot, people)) > 1:
        raise BadInput("Name the player to evaluate: either a model, a bot or people.")
    if people is not None:
        return evaluate_people(people)
    games = list_names(games)
    if suite == "sally_2":
        request = PairRequest(model, bot, size, games, until, out, play, on, dict(settings))
        return evaluate_on_pairs(request, use_config(config), Budget(budget, budget_tokens), watch)
    if suite != "sally_1":
        raise unknown("suite", suite, SUITES)
    if until is not None:
        raise BadInput("`until` needs the suite sally_2, whose games share one scale.")
    names = ObjectNames()
    model_name = None if model is None else names.model(model)
    with names.bound():
        used = use_config(config)
        run_request = RunRequest(model=model_name, given=settings)
        study, settings_used = (
            prepared_suite(run_request, size, games, config)
            if bot is None
            else (suite_of_bot(bot, size, games), ())
        )
        trials = local.orders(study)
        with tempfile.TemporaryDirectory() if out is None else nullcontext(out) as place:
            if play:
                meter = Meter(Budget(budget, budget_tokens), used)
                meter.refuse_unpriced(models_of(study))
                watch = watch or notebook_progress(study.name)
                job: dict[str, Any] = {"tables": True, "planned": trials, "settings": settings_used}
                try:
                    runs.play_missing(study, place, None, watch, meter, executor(on), **job)
                except RunFailed:
                    if (
                        not unreadable_models()
                    ):  # such a model has an evaluation: no result, and why
                        raise
            require_finished(place, (id for id, _, _ in trials), play)
            return EvaluationRows(
                evaluation_of(place, bot or "", study=study, many=len(trials), size=size)
            )


def prepared_suite(
    request: RunRequest, size: Size, games: Sequence[str], config: Path | None
) -> PreparedStudy:
    """Return the suite with the model of the request in its open seats, and the model settings.

    Raises:
        BadInput: If no model is named, or a game or setting is unknown.
    """
    if request.model is None:
        raise BadInput("Name the player to evaluate: a model, or a bot such as random.")
    check_games(games)
    open_suite = sally_1.suite(size, tuple(games) or sally_1.GAMES)
    study, settings_used = prepared_study(open_suite, request, use_config(config))
    return in_one_store(study), settings_used


def suite_of_bot(bot: str, size: Size, games: Sequence[str] = ()) -> Study:
    """Return the suite with a bot in its open seats.

    Raises:
        BadInput: If the bot or a game is unknown, or the bot plays none of these games.
    """
    if bot not in BOTS:
        raise unknown("bot", bot, BOTS)
    check_games(games)
    return in_one_store(_only(bot_suite(bot, size), games))


def check_games(games: Sequence[str]) -> None:
    """Raise BadInput if a game is not one of Sally-1."""
    for game in games:
        if game not in sally_1.GAMES:
            raise unknown("game of sally_1", game, sally_1.GAMES)


def _only(study: Study, games: Sequence[str]) -> Study:
    if not games:
        return study
    cells = tuple(cell for cell in study.cells if cell.instances[0].game in games)
    if not cells:
        raise BadInput(f"This bot does not play {', '.join(games)}.")
    return msgspec.structs.replace(study, cells=cells)


def evaluation_of(
    place: Where,
    player: str = "",
    *,
    study: Study | None = None,
    many: int = 0,
    size: Size = "S",
) -> Evaluation:
    """Return the evaluation of a store, with reference bots on the same problems.

    Raises:
        BadInput: If the store holds no episode, or several players.
    """
    finished = as_frame(place).filter(~pl.col("cut"))
    if study is not None:
        cells = [cell.name for cell in study.cells]
        ids = [id for id, _, _ in local.orders(study)]
        is_planned = pl.col("cell").cast(pl.String).is_in(cells) & pl.col("episode").is_in(ids)
        finished = finished.filter(is_planned)
    if not len(finished):
        raise BadInput(f"The store {place} holds no finished episode of sally_1.")
    name = player or name_of(finished.setups())
    evaluation = evaluated(
        finished,
        player=name,
        suite=f"Sally-1, version {sally_1.VERSION}, size {size}",
        wanted=many,
        references=reference_episodes(finished),
        reliability=sally_1.reliability(size),
        recorded=sally_1.recorded_play(),
        certifying_orders=sally_2.certifying_orders(ORDER),
    )
    bill = msgspec.structs.replace(evaluation.bill, currency=currency_of(place))
    return msgspec.structs.replace(evaluation, bill=bill)


def reference_episodes(frame: Frame) -> dict[str, Frame]:
    """Return episodes of the reference bots on the problems of these episodes."""
    problems: dict[str, set[str]] = {}
    for game, id in frame.episodes.select("game", "instance").unique(maintain_order=True).rows():
        problems.setdefault(game, set()).add(id)
    sizes = {game: _least_size(game, ids) for game, ids in problems.items()}
    return {
        name: as_frame(
            [
                episode
                for game, size in sizes.items()
                for episode in _bot_episodes(name, game, size)
                if episode.setup.instance.id in problems[game]
            ],
            studies=[_bot_suite(name, size) for size in {*sizes.values()}],
        )
        for name in REFERENCES
    }


def _least_size(game: str, ids: set[str]) -> Size:
    """Return the smallest suite size that contains all these problems."""
    small: tuple[Size, ...] = ("S", "M")
    for size in small:
        first = sally_1.tasks(game)[: sally_1.SIZES[game][size][0]]
        if ids <= {task.instance.id for task in first}:
            return size
    return "L"


@cache
def _bot_suite(name: str, size: Size) -> Study:
    return bot_suite(name, size)


@cache
def _bot_episodes(name: str, game: str, size: Size) -> tuple[Episode, ...]:
    """Return a bot's episodes of the probed arm of one game; empty if the bot cannot play it."""
    study = _bot_suite(name, size)
    cells = tuple(
        cell
        for cell in study.cells
        if cell.factors["arm"] == ASKED and cell.instances[0].game == game
    )
    if not cells:
        return ()
    trials = local.orders(msgspec.structs.replace(study, cells=cells))
    return tuple(local.play(setup, cell) for _, cell, setup in trials)
