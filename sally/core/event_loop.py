"""Run a coroutine to its end, also where an event loop is already running, as in a notebook."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


def run_coroutine(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result.

    In a thread whose event loop is running, `asyncio.run` raises an error. There the coroutine runs
    in a thread of its own, with its own event loop and the context variables of the caller.
    """
    import asyncio  # a sixth of a worker's start, and bots need none

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return _run_in_thread(coroutine)


def _run_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor
    from contextvars import copy_context

    loop, context = asyncio.new_event_loop(), copy_context()

    def run() -> T:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(coroutine, context=context)

    with ThreadPoolExecutor(1, "sally") as threads:
        result = threads.submit(run)
        try:
            return result.result()
        except BaseException:
            if not result.done():  # an interrupt of the waiting thread, such as a kernel's
                loop.call_soon_threadsafe(_cancel_tasks, loop)
            raise


def _cancel_tasks(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    for task in asyncio.all_tasks(loop):
        task.cancel()
