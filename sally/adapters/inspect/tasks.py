"""Every study as an Inspect task: one sample an episode, our record the canonical data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from sally import store
from sally.adapters.inspect.model import InspectModel
from sally.core import shelf
from sally.core.drive import play_async
from sally.core.game import Seat
from sally.core.log import Episode, Setup, Sitter
from sally.core.match import Match
from sally.core.metric import Played
from sally.core.playback import replayed
from sally.players.language import LANGUAGE
from sally.runner.local import orders
from sally.runner.models import with_model
from sally.runner.seating import players_of

Order = tuple[str, str, Setup]  # (episode id, cell, setup)


def task_of(name: str, wanted: Sequence[Order], out: str, cache: bool = False) -> Task:
    """The task that plays these episodes and appends each record to the store at `out`."""
    samples = [
        Sample(
            id=id,
            input=setup.instance.game,
            metadata={"setup": msgspec.to_builtins(setup), "cell": cell},
        )
        for id, cell, setup in wanted
    ]
    return Task(
        name=name,
        dataset=samples,
        solver=play_episode(out, cache),
        scorer=all_metrics(),
        continue_on_fail=True,
    )


@solver
def play_episode(out: str, cache: bool = False) -> Solver:
    """Play one episode; a limit censors it, and the record is kept whatever happens."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        setup = msgspec.convert(state.metadata["setup"], Setup)
        match: Match[Any, Any, Any] = Match(shelf.game(setup.instance.game), setup)
        lineup = {seat: _on_inspect(who, cache) for seat, who in setup.lineup.items()}
        try:
            await play_async(match, players_of(match, lineup))
        except LimitExceededError as why:
            if not match.over:
                match.censor("limit", f"{why.type} limit")
            raise
        except BaseException:
            if not match.over:
                match.censor("fault", "the episode was broken off")
            raise
        finally:
            _keep(match.episode(state.metadata["cell"]), state, out)
        return state

    return solve


def _on_inspect(who: Sitter, cache: bool) -> Sitter:
    """A language player's model, reached through Inspect."""
    if who.player != LANGUAGE:
        return who
    model = InspectModel(get_model(who.params["model"]), cache)
    return msgspec.structs.replace(who, params={**who.params, "model": model})


def _keep(episode: Episode, state: TaskState, out: str) -> None:
    """One record, once: in the store, and in the sample for the viewer."""
    state.store.set("episode", msgspec.to_builtins(episode))
    if out in _writers:
        _writers[out].add(episode)
    elif out:
        with store.Writer(Path(out)) as writer:
            writer.add(episode)


_writers: dict[str, store.Writer] = {}  # one a store and process, while an eval runs


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """One writer for all episodes of an eval."""
    with store.Writer(out) as writer:
        _writers[str(out)] = writer
        try:
            yield
        finally:
            del _writers[str(out)]


@scorer(metrics={"*": [mean()]})
def all_metrics() -> Scorer:
    """Every metric of every seat that a language model sat in."""

    async def score(state: TaskState, target: Target) -> Score:
        episode = msgspec.convert(state.store.get("episode"), Episode)
        spec = shelf.game(episode.setup.instance.game)
        whole = Played(spec, episode, replayed(spec, episode))
        values: dict[str, float] = {}
        for seat, who in episode.setup.lineup.items():
            if who.player != LANGUAGE:
                continue
            for name, metric in shelf.metrics(spec.family or spec.name).items():
                value = metric.measure(whole, Seat(seat))
                if value is not None:
                    values[f"{seat}.{name}"] = value
        values["censored"] = float(episode.payoffs is None)
        return Score(value=dict(values), explanation=f"episode {episode.id}")

    return score


def study_task(name: str) -> Callable[..., Task]:
    """A task that Inspect finds under the study's name: `inspect eval sally/NAME`."""

    def make(limit: int = 0, out: str = "") -> Task:
        study = with_model(shelf.pick("study", name, shelf.shelf("studies")), str(get_model()))
        return task_of(name, orders(study, limit or None), out)

    make.__name__ = name
    return task(name=name)(make)


TASKS = {name: study_task(name) for name in shelf.shelf("studies")}
