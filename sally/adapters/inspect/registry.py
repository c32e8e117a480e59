"""What Inspect loads through its entry point: our tasks and our provider."""

from sally.adapters.inspect.provider import sally
from sally.adapters.inspect.tasks import TASKS

__all__ = ["TASKS", "sally"]
