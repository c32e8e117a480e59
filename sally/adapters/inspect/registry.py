"""Tasks and provider that Inspect loads through its entry point."""

from sally.adapters.inspect.provider import sally
from sally.adapters.inspect.tasks import study_task
from sally.core.registry import registry

__all__ = ["TASKS", "sally"]

TASKS = {name: study_task(name) for name in registry.entries("studies")}
