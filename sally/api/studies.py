"""Running studies: what is wished of one, what it would take, and playing what is missing."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from sally import store
from sally.adapters.executors.by_name import executor
from sally.api.results import Episodes, Planned
from sally.core.errors import BadInput
from sally.core.prompt.model import Settings
from sally.core.registry import registry
from sally.core.registry.study import Study, read_study, with_params
from sally.players.language import strategy_named
from sally.runner import run as runs
from sally.runner.budget import Budget, Meter
from sally.runner.config import Config, use_config
from sally.runner.models import OPEN, models_of, with_model
from sally.runner.plan import REPLY
from sally.runner.plan import plan as planned
from sally.store import Contents
from sally.studies import arms

THROUGH = "sally.adapters.inspect.run:play_orders"  # by name: importing it takes seconds


class Wish(msgspec.Struct, frozen=True):
    """What is to be run of a study, and how."""

    limit: int | None = None  # episodes of each lineup, at most
    seed: int | None = None  # another than the study's own
    model: str | None = None  # who sits in open seats
    given: Mapping[str, Any] = {}  # settings of the model, parameters of every instance
    without: Sequence[str] = ()  # strategies to leave out
    part: arms.Part = arms.Part()
    unasked: bool = False  # every cell once more without its probes
    packs: Sequence[str] = ()  # every cell of a model once more in these words
    aware: bool = False  # every cell of a model once more, asked what it takes this for


def wished(study: Study | str | Path, wish: Wish, config: Config) -> Study:
    """The study as it is to be run, its open seats filled."""
    if wish.limit is not None and wish.limit < 1:
        raise BadInput(f"limit must be at least 1, not {wish.limit}.")
    wanted = find_study(study)
    for name in wish.without:
        strategy_named(name)  # refuses one that is not there
    if wish.without:
        wanted = arms.without(wanted, tuple(wish.without))
    if wish.part != arms.Part():
        wanted = arms.part_of(wanted, wish.part)
    if wish.unasked:
        wanted = arms.with_unasked(wanted)
    if wish.packs:
        wanted = arms.with_packs(wanted, wish.packs)
    if wish.aware:
        wanted = arms.with_awareness(wanted)
    if wish.seed is not None:
        wanted = msgspec.structs.replace(wanted, seed=wish.seed)
    asked = {k: v for k, v in wish.given.items() if k in Settings.__struct_fields__}
    params = {k: v for k, v in wish.given.items() if k not in asked}
    if params:
        wanted = with_params(wanted, params)
    return _seated(wanted, wish.model, asked, config)


def _seated(study: Study, model: str | None, asked: Mapping[str, Any], config: Config) -> Study:
    """The study with a model in its open seats."""
    if model is not None:
        if OPEN not in models_of(study):
            raise BadInput(f"{study.name} leaves no seat open, so a model has no use there.")
        entry = config.entry(model)
        return with_model(study, entry.name, dict(asked), entry.settings)
    if asked:
        raise BadInput(f"{next(iter(asked))} is a setting of a model; name the model, too.")
    if OPEN in models_of(study):
        raise BadInput(f"{study.name} leaves seats open for a model; say which model sits there.")
    return study


def find_study(study: Study | str | Path) -> Study:
    """A study by value, by name, or from a TOML file."""
    if isinstance(study, Study):
        return study
    if isinstance(study, Path) or study.endswith(".toml"):
        return read_study(Path(study))
    found: Study = registry.study(study)
    return found


def run(
    study: Study | str | Path,
    out: str | Path | None = None,
    *,
    model: str | None = None,
    limit: int | None = None,
    budget: float | None = None,
    budget_tokens: int | None = None,
    without: Sequence[str] = (),
    seed: int | None = None,
    unasked: bool = False,
    packs: Sequence[str] = (),
    aware: bool = False,
    on: str = "local",
    config: Path | None = None,
    watch: runs.Watcher | None = None,
    **given: Any,
) -> Episodes:
    """Run what is missing of a study and return its episodes; without `out`, keep nothing.

    `out` is a folder or an address such as `s3://bucket/study`; `on` is `local`, `pool:4`, `ray`.
    `unasked` plays every cell once more without its probes, `packs` in other words (`all`, `twin`),
    `aware` with the question what the model takes this for.
    Further arguments are settings of the model (`temperature=0`) or parameters of every instance.
    """
    used = use_config(config)
    wish = Wish(
        limit,
        seed,
        model,
        given,
        tuple(without),
        unasked=unasked,
        packs=tuple(packs),
        aware=aware,
    )
    wanted = wished(study, wish, used)
    meter = Meter(Budget(budget, budget_tokens), used)
    meter.refuse_unpriced(models_of(wanted))
    with tempfile.TemporaryDirectory() if out is None else nullcontext(out) as place:
        found = runs.run_study(wanted, place, limit, watch, meter, executor(on), through=THROUGH)
    return Episodes(found.episodes.values())


def plan(
    study: Study | str | Path,
    out: str | Path | None = None,
    *,
    model: str | None = None,
    limit: int | None = None,
    without: Sequence[str] = (),
    seed: int | None = None,
    reply_tokens: int = REPLY,
    config: Path | None = None,
    **given: Any,
) -> Planned:
    """Calls, tokens, cost and time of what is missing of a study, before anything is spent."""
    used = use_config(config)
    wanted = wished(study, Wish(limit, seed, model, given, tuple(without)), used)
    there = out is not None and store.place(out).exists()
    held = store.load(out) if out is not None and there else Contents()
    return Planned(planned(wanted, limit, used, held.episodes, held.finished, reply_tokens))


run_study = run  # its older name
