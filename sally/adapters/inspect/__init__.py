"""Inspect AI: model access, scheduling, cache, limits and viewer; imported in this package only."""

from importlib.util import find_spec

if find_spec("inspect_ai") is None:
    raise ImportError(
        "inspect_ai is not installed; `pip install 'sally-lab[inspect]'` installs it.",
        name="inspect_ai",
    )
