"""Plan and run studies."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from typing import Any

import msgspec

from sally import store
from sally.adapters.executors.lookup import executor
from sally.api.results import Episodes, Planned
from sally.api.rows import list_names
from sally.core.errors import BadInput, RunFailed, join_names, unknown
from sally.core.prompt.model import Model, Settings
from sally.core.registry import registry
from sally.core.registry.objects import ObjectNames
from sally.core.registry.study import Study, named_study, read_study, with_params
from sally.output.progress import notebook_progress
from sally.players.language import strategy_named
from sally.runner import run as runs
from sally.runner.budget import Budget, Meter
from sally.runner.config import Config, use_config
from sally.runner.models import OPEN, SettingUsed, apply_settings, models_of
from sally.runner.pilot import REPLY
from sally.runner.plan import plan as planned
from sally.store import Contents
from sally.studies import arms


class RunRequest(msgspec.Struct, frozen=True):
    """The part of a study to run, and how to run it."""

    limit: int | None = None  # episodes of each cell
    seed: int | None = None  # replaces the study's own
    model: str | None = None  # the model for open seats
    given: Mapping[str, Any] = {}  # settings of the model, parameters of every instance
    without: Sequence[str] = ()  # strategies to leave out
    part: arms.StudySelection = arms.StudySelection()
    unasked: bool = False  # also every cell without its probes
    packs: Sequence[str] = ()  # also every model cell in these words packs
    aware: bool = False  # also every model cell with the awareness probe
    against: str | None = None  # the opponent in a game of another program
    ask_again: int = 0  # questions are asked a second time in one of so many turns; 0: in none


PreparedStudy = tuple[Study, tuple[SettingUsed, ...]]


def prepared_study(study: Study | str | Path, request: RunRequest, config: Config) -> PreparedStudy:
    """Return the study as it will be run, with open seats filled, and its model settings.

    Raises:
        BadInput: If a strategy, cell, pack, setting or parameter is unknown, or a seat stays open.
    """
    if request.limit is not None and request.limit < 1:
        raise BadInput(f"limit must be at least 1, not {request.limit}.")
    prepared = find_study(study, request.against)
    for name in request.without:
        strategy_named(name)  # raises if unknown
    if request.without:
        prepared = arms.without(prepared, tuple(request.without))
    if request.part != arms.StudySelection():
        prepared = arms.part_of(prepared, request.part)
    if request.ask_again:
        prepared = arms.with_repeats(prepared, request.ask_again)
    if request.unasked:
        prepared = arms.with_unasked(prepared)
    if request.packs:
        prepared = arms.with_packs(prepared, request.packs)
    if request.aware:
        prepared = arms.with_awareness(prepared)
    if request.seed is not None:
        prepared = msgspec.structs.replace(prepared, seed=request.seed)
    model_settings = {k: v for k, v in request.given.items() if k in Settings.__struct_fields__}
    params = {k: v for k, v in request.given.items() if k not in model_settings}
    if params:
        _refuse_unknown(prepared, params)
        prepared = with_params(prepared, params)
    return _fill_open_seats(prepared, request.model, model_settings, config)


def _refuse_unknown(study: Study, params: Mapping[str, Any]) -> None:
    """Raise BadInput for a name that is neither a model setting nor a parameter of a game."""
    games = sorted({instance.game for cell in study.cells for instance in cell.instances})
    parameters = {name for game in games for name in registry.game(game).parameters}
    for name in params:
        if name not in parameters:
            kind = f"model setting or parameter of {join_names(games, 'or')}"
            raise unknown(kind, name, {*parameters, *Settings.__struct_fields__})


def _fill_open_seats(
    study: Study, model: str | None, model_settings: Mapping[str, Any], config: Config
) -> PreparedStudy:
    """Return the study with a model in its open seats, and with the settings of all its models."""
    models = models_of(study)
    if model is not None and OPEN not in models:
        raise BadInput(f"The study {study.name} has no open seat; run it without a model.")
    if model is None and OPEN in models:
        raise BadInput(f"The study {study.name} has open seats; name the model that takes them.")
    if model_settings and not models:
        raise BadInput(
            f"{next(iter(model_settings))} is a model setting, but no model plays {study.name}."
        )
    return apply_settings(study, config, model_settings, model or "")


def find_study(study: Study | str | Path, against: str | None = None) -> Study:
    """Return a study given by value, by name, as a TOML file, or as a game of another program.

    Args:
        study: The study, or `textarena:NAME` for a model against an opponent in that game.
        against: The opponent in a game of another program: a player or a model.

    Raises:
        BadInput: If there is no such study or file, or the file is not a valid study.
    """
    if isinstance(study, str):
        game_study: Study | None = registry.study_of_program(study, against)
        if game_study is not None:
            return game_study
    if against is not None:
        raise BadInput(
            f"{against!r} cannot be the opponent in {study}: only a game of another program, such "
            "as textarena:Nim-v0, takes one."
        )
    if isinstance(study, Study):
        return study
    if isinstance(study, Path) or study.endswith(".toml"):
        return read_study(Path(study))
    registered: Study = registry.study(study)
    return registered


def run(
    study: Study | str | Path,
    out: str | Path | None = None,
    *,
    model: str | Model | None = None,
    limit: int | None = None,
    budget: float | None = None,
    budget_tokens: int | None = None,
    without: str | Sequence[str] = (),
    seed: int | None = None,
    unasked: bool = False,
    packs: str | Sequence[str] = (),
    aware: bool = False,
    ask_again: int = 0,
    on: str = "local",
    config: Path | None = None,
    watch: runs.Watcher | None = None,
    **given: Any,
) -> Episodes:
    """Run the episodes of a study that are missing in `out`, and return all its episodes.

    Args:
        study: A study, its name, or a TOML file.
        out: Folder or address (`s3://bucket/study`) of the store; None keeps nothing on disk.
        model: The model for seats that the study leaves open: a name, or an object with the
            methods of `Model`.
        limit: Play only so many episodes of each cell, those with a model first.
        budget: Stop when calls have cost this much, in the currency of `sally.toml`.
        budget_tokens: Stop when calls have used this many tokens.
        without: Strategies to leave out.
        seed: Replaces the seed of the study.
        unasked: Also run every cell without its probes.
        packs: Also run every cell in these words packs (`all`, `twin` or names).
        aware: Also run every cell with the awareness probe.
        ask_again: Ask each question about a mind a second time, in one of so many turns; 0 in none.
        on: Executor: `local`, `pool:4` or `ray`; a study with a function or an object runs on
            `local` only.
        config: A `sally.toml`; by default the nearest one.
        watch: Called with the progress of the run; by default a notebook displays it.
        **given: Model settings (`temperature=0`) or parameters of every instance (`rounds=20`).

    Returns:
        The episodes of the study.

    Raises:
        BadInput: If the study, model, strategy, setting or parameter is unknown or wrong.

    >>> import sally
    >>> sally.run("quickstart", limit=6).title
    '18 episodes of rps, ibs, ipd'
    """
    names = ObjectNames()
    named_objects = named_study(find_study(study), names)
    model_name = None if model is None else names.model(model)
    with names.bound():
        used = use_config(config)
        request = RunRequest(
            limit,
            seed,
            model_name,
            given,
            list_names(without),
            unasked=unasked,
            packs=list_names(packs),
            aware=aware,
            ask_again=ask_again,
        )
        prepared, settings = prepared_study(named_objects, request, used)
        meter = Meter(Budget(budget, budget_tokens), used)
        meter.refuse_unpriced(models_of(prepared))
        watch = watch or notebook_progress(prepared.name)
        with tempfile.TemporaryDirectory() if out is None else nullcontext(out) as place:
            stored = runs.run_study(
                prepared, place, limit, watch, meter, executor(on), settings=settings
            )
    return Episodes(stored.episodes.values())


async def arun(
    study: Study | str | Path,
    out: str | Path | None = None,
    *,
    watch: runs.Watcher | None = None,
    **options: Any,
) -> Episodes:
    """Run a study as `run` does, in a thread, so that the running event loop stays free.

    Args:
        study: A study, its name, or a TOML file.
        out: Folder or address of the store; None keeps nothing on disk.
        watch: Called in the thread with the progress of the run.
        **options: All other arguments of `run`.

    If the awaiting task is cancelled, the run ends when its next episode is stored.

    >>> import asyncio, sally
    >>> asyncio.run(sally.arun("quickstart", limit=6)).title
    '18 episodes of rps, ibs, ipd'
    """
    import asyncio  # imported late: other functions here need none

    is_cancelled = Event()
    progress_watcher = watch or notebook_progress(find_study(study).name)

    def watch_or_stop(progress: runs.Progress) -> None:
        if is_cancelled.is_set():
            raise RunFailed("The run was cancelled.")
        if progress_watcher is not None:
            progress_watcher(progress)

    try:
        return await asyncio.to_thread(run, study, out, watch=watch_or_stop, **options)
    except asyncio.CancelledError:
        is_cancelled.set()
        raise


def plan(
    study: Study | str | Path,
    out: str | Path | None = None,
    *,
    model: str | Model | None = None,
    limit: int | None = None,
    without: str | Sequence[str] = (),
    seed: int | None = None,
    reply_tokens: int = REPLY,
    config: Path | None = None,
    **given: Any,
) -> Planned:
    """Return the calls, tokens, cost and time that the missing episodes need; nothing is spent.

    Args:
        study: A study, its name, or a TOML file.
        out: The store that may already hold some of the episodes.
        model: The model for seats that the study leaves open.
        limit: Play only so many episodes of each cell, those with a model first.
        without: Strategies to leave out.
        seed: Replaces the seed of the study.
        reply_tokens: Tokens to expect in a reply.
        config: A `sally.toml`; by default the nearest one.
        **given: Model settings or parameters of every instance.

    Raises:
        BadInput: If the study, model, strategy, setting or parameter is unknown or wrong.

    >>> import sally
    >>> sally.plan("quickstart", limit=6).title
    '18 episodes planned, 0 stored; no call of a model'
    """
    names = ObjectNames()
    named_objects = named_study(find_study(study), names)
    model_name = None if model is None else names.model(model)
    with names.bound():
        used = use_config(config)
        request = RunRequest(limit, seed, model_name, given, list_names(without))
        prepared, settings = prepared_study(named_objects, request, used)
        has_store = out is not None and store.place(out).exists()
        stored = store.load(out) if out is not None and has_store else Contents()
        return Planned(
            planned(
                prepared, limit, used, stored.episodes, stored.finished_ids, reply_tokens, settings
            )
        )
