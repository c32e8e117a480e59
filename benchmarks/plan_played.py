"""What `sally plan` says and what a run takes, for every shipped study with an open seat.

    python -m benchmarks.plan_played [STUDY ...] [--limit 1] [--plan] [--page PAGE]
    python -m benchmarks.plan_played STUDY ... --limit 1 --model embedded:smollm2
    python -m benchmarks.plan_played --recorded docs/results/bundles/*-0.5b.sally.zip

Studies are played with a server on this machine that answers every question with one of its
options, as far as it can read them from the page, or with a model that is named. `asked again` are
calls after an answer that could not be read, which the ratio of played to planned calls leaves out.
`--plan` only plans. `--recorded` compares up to forty recorded episodes of a real model with pilots
of the same setups; those that a fault ended, such as a full context, are left out. `--page` fills
the part of a page between `<!-- table: NAME -->` and `<!-- end -->`, where NAME is `plan_played`,
`plan_recorded` or `plan_model`.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from benchmarks.result_pages import fill_table
from sally import store
from sally.api.studies import RunRequest, find_study, prepared_study
from sally.cli.plan import calls_text
from sally.core.errors import BadInput, RunFailed
from sally.core.log.events import Episode
from sally.core.registry import registry
from sally.runner.budget import Meter
from sally.runner.config import Config, ModelEntry, use_config
from sally.runner.models import OPEN, models_of
from sally.runner.orders import models_in
from sally.runner.pilot import MOVES, count_decisions, pilot_episode
from sally.runner.plan import plan
from sally.runner.run import play_missing
from sally.store.bundles import open_store
from tests.adapters.inspect.server import plain, serving

MODEL = "openai-api/lab/plain"
RECORDED = 40  # episodes of a bundle, at most
NEAR = 0.2  # relative difference of planned and played calls that counts as near
HEAD = (
    "| study | episodes | planned calls (range) | planning | played calls | asked again | ratio | "
    "within 20% |",
    "|---|---|---|---|---|---|---|---|",
)
WITHOUT = ("lm", "social_lm")  # strategies that score candidates


def open_studies() -> list[str]:
    """Return the shipped studies with a seat for a model."""
    return [name for name in registry.entries("studies") if OPEN in models_of(find_study(name))]


def measure(name: str, limit: int | None, only_plan: bool, model: str = "") -> str:
    """Return one line of the table: planned calls and seconds, played calls and their ratio."""
    with serving(always=plain) as server, tempfile.TemporaryDirectory() as folder:
        entry = ModelEntry(MODEL, base_url=server.address, at_once=16)
        config = use_config(Config(models={} if model else {"plain": entry}))
        without = () if model else WITHOUT
        request = RunRequest(limit=limit, model=model or MODEL, without=without)
        try:
            study, _ = prepared_study(find_study(name), request, config)
        except BadInput:  # it has none of these strategies
            request = RunRequest(limit=limit, model=model or MODEL)
            study, _ = prepared_study(find_study(name), request, config)
        begun = time.process_time()
        planned = plan(study, limit, config)
        seconds = time.process_time() - begun
        calls = sum(bill.count.calls for bill in planned.bills)
        fewest = sum(bill.fewest for bill in planned.bills)
        most = sum(bill.most for bill in planned.bills)
        start = (
            f"| {name} | {planned.wanted:,} | {calls_text(calls, fewest, most)} | {seconds:.1f} s |"
        )
        if only_plan:
            return start
        try:
            play_missing(study, Path(folder) / "out", limit, None, Meter(config=config))
        except RunFailed:  # the server cannot write what the study asks for
            return f"{start} - | - | - | no answer could be read |"
        episodes = store.load(Path(folder) / "out").episodes.values()
        return f"{start} {played_cells(episodes, calls, fewest, most)}"


def played_cells(episodes: Iterable[Episode], planned: float, fewest: float, most: float) -> str:
    """Return the cells of the played calls, the repeated ones, their ratio and the verdict."""
    events = [event for episode in episodes for event in episode.events if event.calls]
    calls = sum(len(event.calls) for event in events)
    again = sum(event.tries - 1 for event in events)
    asked = calls - again
    ratio = asked / planned if planned else float("nan")
    if abs(ratio - 1) <= NEAR:
        verdict = "yes"
    else:
        verdict = "in range" if fewest <= asked <= most and fewest < most else "no"
    return f"{calls:,} | {again:,} | {ratio:.2f} | {verdict} |"


def measure_recorded(bundle: str) -> str:
    """Return one line of the table for the recorded episodes of a bundle."""
    with open_store(bundle) as (folder, _):
        stored = store.load(folder).episodes.values()
    episodes = [e for e in stored if models_in(e.setup) and not store.to_run_again(e)]
    random.Random(1).shuffle(episodes)
    episodes = episodes[:RECORDED]
    begun = time.process_time()
    calls = fewest = most = 0.0
    for episode in episodes:
        pilot = sum(count.calls for count in pilot_episode(episode.setup).values())
        usual, *others = (count_decisions(episode.setup, moves) for moves in MOVES)
        calls += pilot
        fewest += pilot * min(usual, *others) / usual
        most += pilot * max(usual, *others) / usual
    seconds = time.process_time() - begun
    name = Path(bundle).name.partition(".sally")[0]
    start = f"| {name} | {len(episodes)} | {calls_text(calls, fewest, most)} | {seconds:.1f} s |"
    return f"{start} {played_cells(episodes, calls, fewest, most)}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("studies", nargs="*")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--plan", action="store_true", help="Only plan.")
    parser.add_argument("--model", default="", help="A model in place of the server.")
    parser.add_argument("--recorded", nargs="+", default=[], metavar="BUNDLE")
    parser.add_argument("--page", type=Path, help="Page whose table is replaced.")
    chosen = parser.parse_args()
    lines = list(HEAD)
    print("\n".join(HEAD), flush=True)
    names = chosen.studies or (() if chosen.recorded else open_studies())
    measured = [
        *(partial(measure_recorded, bundle) for bundle in chosen.recorded),
        *(partial(measure, name, chosen.limit, chosen.plan, chosen.model) for name in names),
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
