"""Learners of scikit-learn on one thread."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from sally.core.errors import needs_extra


def one_thread(extra: str) -> AbstractContextManager[Any]:
    """Return a context in which scikit-learn uses one thread. On small problems several threads
    wait for each other most of the time, and use the processor while they wait.

    Args:
        extra: The extra that installs scikit-learn.

    Raises:
        NotInstalled: scikit-learn is not installed.
    """
    with needs_extra(extra):
        import sklearn.ensemble  # type: ignore[import-untyped]  # noqa: F401 - loads what is limited
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits
