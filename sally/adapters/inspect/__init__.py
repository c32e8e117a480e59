"""Integration with Inspect AI, which no other package imports."""

from importlib.util import find_spec

from sally.core.errors import install_command

if find_spec("inspect_ai") is None:
    raise ImportError(
        f"inspect_ai is not installed; `{install_command('inspect')}` installs it.",
        name="inspect_ai",
    )
