"""Services for the workers of a run, each imported when it is first used."""

from __future__ import annotations

from typing import Any

from sally.runner.rates import Ask
from sally.runner.shards import Job, Services


def play_with_provider(*arguments: Any) -> None:
    """Play episodes through Inspect; see `sally.adapters.inspect.run.play_orders`."""
    from sally.adapters.inspect.run import play_orders  # takes seconds to import

    play_orders(*arguments)


def table_writer() -> Any:
    """Return a writer of the tables of a file of episodes."""
    from sally.frames.writer import TableWriter  # not needed for small runs

    return TableWriter()


def rates_from_ray(job: Job) -> Ask:
    """Return a function by which a worker queries the Ray actor that tracks rate limits."""
    import ray  # takes a second to import

    keeper: Any = ray.get_actor(keeper_name(job))

    async def ask(model: str, used: int) -> float:
        return float(await keeper.wait.remote(model, used))

    return ask


def keeper_name(job: Job) -> str:
    """Return the name of the Ray actor that tracks the providers' rate limits in a run."""
    return f"sally-rates-{job.run}"


SERVICES = Services(play_with_provider, table_writer, rates_from_ray)
