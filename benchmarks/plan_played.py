"""What `sally plan` says and what a run takes, for every shipped study with an open seat.

    python -m benchmarks.plan_played [STUDY ...] [--limit 1] [--plan]
    python -m benchmarks.plan_played --recorded docs/results/bundles/*-0.5b.sally.zip

Studies are played with a server on this machine that answers every question with one of its
options, as far as it can read them from the page; `asked again` are calls after an answer that
could not be read, which the ratio of played to planned calls leaves out. `--plan` only plans.
`--recorded` compares up to forty recorded episodes of a real model with pilots of the same setups.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from sally import store
from sally.api.studies import RunRequest, find_study, prepared_study
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.runner.budget import Meter
from sally.runner.config import Config, ModelEntry, use_config
from sally.runner.models import OPEN, models_of
from sally.runner.orders import models_in
from sally.runner.plan import pilot_episode, plan
from sally.runner.run import play_missing
from sally.store.bundles import open_store
from tests.adapters.inspect.server import plain, serving

MODEL = "openai-api/lab/plain"
RECORDED = 40  # episodes of a bundle, at most
WITHOUT = ("lm", "social_lm")  # strategies that score candidates


def open_studies() -> list[str]:
    """Return the shipped studies with a seat for a model."""
    return [name for name in registry.entries("studies") if OPEN in models_of(find_study(name))]


def measure(name: str, limit: int | None, only_plan: bool) -> str:
    """Return one line of the table: planned calls and seconds, played calls and their ratio."""
    with serving(always=plain) as server, tempfile.TemporaryDirectory() as folder:
        entry = ModelEntry(MODEL, base_url=server.address, at_once=16)
        config = use_config(Config(models={"plain": entry}))
        request = RunRequest(limit=limit, model=MODEL, without=WITHOUT)
        try:
            study, _ = prepared_study(find_study(name), request, config)
        except BadInput:  # it has none of these strategies
            request = RunRequest(limit=limit, model=MODEL)
            study, _ = prepared_study(find_study(name), request, config)
        begun = time.process_time()
        planned = plan(study, limit, config)
        seconds = time.process_time() - begun
        calls = round(sum(bill.count.calls for bill in planned.bills))
        start = f"| {name} | {planned.wanted:,} | {calls:,} | {seconds:.1f} s |"
        if only_plan:
            return start
        play_missing(study, Path(folder) / "out", limit, None, Meter(config=config))
        episodes = store.load(Path(folder) / "out").episodes.values()
        again = sum(event.tries - 1 for e in episodes for event in e.events if event.calls)
        ratio = (server.calls - again) / calls if calls else float("nan")
        return f"{start} {server.calls:,} | {again:,} | {ratio:.2f} |"


def measure_recorded(bundle: str) -> str:
    """Return one line of the table for the recorded episodes of a bundle."""
    with open_store(bundle) as (folder, _):
        stored = store.load(folder).episodes.values()
    episodes = [episode for episode in stored if models_in(episode.setup)]
    random.Random(1).shuffle(episodes)
    episodes = episodes[:RECORDED]
    begun = time.process_time()
    counts = [count for e in episodes for count in pilot_episode(e.setup).values()]
    seconds = time.process_time() - begun
    planned = round(sum(count.calls for count in counts))
    calls = sum(len(event.calls) for e in episodes for event in e.events)
    again = sum(event.tries - 1 for e in episodes for event in e.events if event.calls)
    ratio = (calls - again) / planned if planned else float("nan")
    name = Path(bundle).name.partition(".sally")[0]
    start = f"| {name} | {len(episodes)} | {planned:,} | {seconds:.1f} s |"
    return f"{start} {calls:,} | {again:,} | {ratio:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("studies", nargs="*")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--plan", action="store_true", help="Only plan.")
    parser.add_argument("--recorded", nargs="+", default=[], metavar="BUNDLE")
    chosen = parser.parse_args()
    print("| study | episodes | planned calls | planning | played calls | asked again | ratio |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for bundle in chosen.recorded:
        print(measure_recorded(bundle), flush=True)
    for name in chosen.studies or (() if chosen.recorded else open_studies()):
        print(measure(name, chosen.limit, chosen.plan), flush=True)


if __name__ == "__main__":
    main()
