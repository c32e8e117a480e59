"""What `sally plan` says and what a run takes, for every shipped study with an open seat.

    python -m benchmarks.plan_played [STUDY ...] [--plan] [--page PAGE]
    python -m benchmarks.plan_played STUDY ... --model embedded:smollm2 [--out FOLDER]
    python -m benchmarks.plan_played --recorded docs/results/bundles/*-0.5b.sally.zip

Each study is planned twice, as a user would: before the first call, and again once one episode of
each cell is stored, for the episodes that are then left. Played calls include those repeated after
an answer that could not be read, which only the second plan can know. Studies are played with two
episodes of each cell, with a server on this machine that answers every question with one of its
options, as far as it can read them from the page, or with a model that is named (`--out` keeps its
stores). `--recorded` compares the recorded episodes of a real model; those that a fault ended, such
as a full context, are left out. `--plan` only plans. `--page` fills the part of a page between
`<!-- table: NAME -->` and `<!-- end -->`, where NAME is `plan_played`, `plan_recorded` or
`plan_model`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

from benchmarks.result_pages import fill_table
from sally import store
from sally.api.studies import RunRequest, find_study, prepared_study
from sally.cli.plan import calls_text
from sally.core.errors import BadInput, RunFailed
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.core.registry.study import Study
from sally.runner.budget import Meter
from sally.runner.config import Config, ModelEntry, use_config
from sally.runner.local import orders
from sally.runner.models import OPEN, models_of
from sally.runner.orders import Orders, calls_of, models_in
from sally.runner.plan import Plan, plan
from sally.runner.run import play_missing
from sally.store.bundles import open_store
from tests.adapters.inspect.server import plain, serving

MODEL = "openai-api/lab/plain"
EACH = 2  # played episodes of a cell
NEAR = 0.2  # relative difference of planned and played calls that counts as near
HEAD = (
    "| study | episodes | planned calls (range) | planning | played | ratio | then left | "
    "planned | planning | played | ratio | within 20% |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|",
)
WITHOUT = ("lm", "social_lm")  # strategies that score candidates


def open_studies() -> list[str]:
    """Return the shipped studies with a seat for a model."""
    return [name for name in registry.entries("studies") if OPEN in models_of(find_study(name))]


def measure(name: str, only_plan: bool, model: str, out: Path) -> str:
    """Return the line of a shipped study, which is played with a model or a server."""
    with serving(always=plain) as server:
        entry = ModelEntry(MODEL, base_url=server.address, at_once=16)
        config = use_config(Config(models={} if model else {"plain": entry}))
        without = () if model else WITHOUT
        request = RunRequest(limit=EACH, model=model or MODEL, without=without)
        try:
            study, _ = prepared_study(find_study(name), request, config)
        except BadInput:  # it has none of these strategies
            request = RunRequest(limit=EACH, model=model or MODEL)
            study, _ = prepared_study(find_study(name), request, config)
        if only_plan:
            planned, seconds = _time_plan(study, config)
            return f"| {name} | {planned.wanted:,} | {_calls(planned)} | {seconds:.1f} s |"
        try:
            play_missing(study, out / name, EACH, None, Meter(config=config))
        except RunFailed as error:  # no answer could be read
            return f"| {name} | {error} |"
        episodes = store.load(out / name).episodes
        first = [id for id, _, _ in orders(study, 1, open_models=False)]
        return _line(name, study, config, episodes, first)


def measure_recorded(bundle: str) -> str:
    """Return the line of the recorded episodes of a bundle."""
    with open_store(bundle) as (folder, _):
        stored = store.load(folder).episodes
    episodes = {
        id: episode
        for id, episode in stored.items()
        if models_in(episode.setup) and not store.to_run_again(episode)
    }
    by_cell = {episode.cell: id for id, episode in reversed(episodes.items())}
    name = Path(bundle).name.partition(".sally")[0]
    study = find_study("quickstart")  # not read where the episodes are listed
    return _line(name, study, Config(), episodes, list(by_cell.values()), True)


def _line(
    name: str,
    study: Study,
    config: Config,
    episodes: Mapping[str, Episode],
    first: Collection[str],
    is_recorded: bool = False,
) -> str:
    """Return the line of a study whose `first` episodes are played before the others."""
    recorded_orders = None
    if is_recorded:
        recorded_orders = Orders()
        for episode in episodes.values():
            setup = episode.setup
            recorded_orders.add(
                recorded_orders.kind((episode.cell, setup)), setup.seed, setup.repeat
            )
    cells = [name, f"{len(episodes):,}"]
    earlier = {id: episodes[id] for id in first if id in episodes}
    for stored in (dict[str, Episode](), earlier):
        missing = [episode for id, episode in episodes.items() if id not in stored]
        if stored and not any(map(calls_of, missing)):  # all left are bots
            cells += [f"{len(missing):,}", *["-"] * 5]
            break
        planned, seconds = _time_plan(study, config, stored, recorded_orders)
        played, calls = sum(map(calls_of, missing)), sum(bill.count.calls for bill in planned.bills)
        ratio = played / calls if calls else float("nan")
        cells += [f"{len(missing):,}"] if stored else []
        cells += [_calls(planned), f"{seconds:.1f} s", f"{played:,}", f"{ratio:.2f}"]
        if stored:
            cells.append("yes" if abs(ratio - 1) <= NEAR else "no")
    return f"| {' | '.join(cells)} |"


def _time_plan(
    study: Study,
    config: Config,
    stored: Mapping[str, Episode] | None = None,
    recorded_orders: Orders | None = None,
) -> tuple[Plan, float]:
    """Return the plan of the episodes that are not stored, and its processor time in seconds."""
    begun = time.process_time()
    planned = plan(study, EACH, config, stored, list(stored or {}), planned=recorded_orders)
    return planned, time.process_time() - begun


def _calls(planned: Plan) -> str:
    calls = sum(bill.count.calls for bill in planned.bills)
    fewest = sum(bill.fewest for bill in planned.bills)
    return calls_text(calls, fewest, sum(bill.most for bill in planned.bills))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("studies", nargs="*")
    parser.add_argument("--plan", action="store_true", help="Only plan.")
    parser.add_argument("--model", default="", help="A model in place of the server.")
    parser.add_argument("--out", type=Path, help="Folder for the stores; a missing one is made.")
    parser.add_argument("--recorded", nargs="+", default=[], metavar="BUNDLE")
    parser.add_argument("--page", type=Path, help="Page whose table is replaced.")
    chosen = parser.parse_args()
    lines = list(HEAD)
    print("\n".join(HEAD), flush=True)
    names = chosen.studies or (() if chosen.recorded else open_studies())
    with tempfile.TemporaryDirectory() as folder:
        out = chosen.out or Path(folder)
        measured = [
            *(partial(measure_recorded, bundle) for bundle in chosen.recorded),
            *(partial(measure, name, chosen.plan, chosen.model, out) for name in names),
        ]
        for write_line in measured:
            lines.append(write_line())
            print(lines[-1], flush=True)
    if chosen.page:
        kind = "recorded" if chosen.recorded else "model" if chosen.model else "played"
        text = chosen.page.read_text(encoding="utf-8")
        chosen.page.write_text(fill_table(text, f"plan_{kind}", lines), encoding="utf-8")


if __name__ == "__main__":
    main()
