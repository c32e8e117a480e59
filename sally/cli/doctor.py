"""`sally doctor`: installed and missing dependencies, and how to install them."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import Any

import click

from sally import DISTRIBUTION, __version__
from sally.core.errors import install_command, join_names
from sally.core.registry import registry
from sally.core.terminal_text import echo
from sally.models import catalogue
from sally.models.weights import SMOLLM2, cached_path
from sally.output.tables.console import json_option, print_json, print_table
from sally.runner.config import NAME, find_config, user_folder

ABOUT = "A laboratory for interactive theory of mind"  # start of this distribution's own summary
# Distribution -> (extra that installs it, purpose).
PARTS = {
    "msgspec": ("", "structs, JSON, schemas"),
    "numpy": ("", "arrays"),
    "scipy": ("", "statistics"),
    "click": ("", "the command line"),
    "rich": ("", "tables and progress"),
    "polars": ("", "episodes as tables"),
    "pandas": ("frames", "data frames"),
    "matplotlib": ("figures", "pictures"),
    "pettingzoo": ("rl", "games as environments for many learners"),
    "gymnasium": ("rl", "games as environments for one learner"),
    "inspect-ai": ("inspect", "models of any provider"),
    "openai": ("inspect", "Inspect's providers that speak OpenAI's protocol"),
    "aiohttp": ("server", "models of a server that speaks OpenAI's protocol"),
    "xllamacpp": ("embedded", "the embedded model"),
    "gguf": ("embedded", "its weights in other forms"),
    "torch": ("hf", "models on an accelerator"),
    "transformers": ("hf", "models from a folder or a GGUF file"),
    "axelrod": ("axelrod", "more partners for 2x2 games"),
    "starlette": ("web", "play and studies in the browser"),
    "uvicorn": ("web", "the web server"),
    "jinja2": ("web", "pages with everything escaped"),
    "psycopg": ("postgres", "PostgreSQL behind the web server"),
    "fsspec": ("stores", "stores at remote addresses"),
    "ray": ("ray", "studies on many machines"),
    "scikit-learn": ("adversary", "learners for `sally audit --adversary`"),
}


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Show what is installed, what is missing, and how to install it."""
    rows = [_part(name, extra, use) for name, (extra, use) in PARTS.items()]
    registries = {f: len(registry.entries(f)) for f in ("games", "partners", "metrics", "studies")}
    config = find_config().path
    if as_json:
        facts = {"sally": __version__, "python": platform.python_version(), "parts": rows}
        print_json({**facts, "shelves": registries, "config": config, "weights": weights_here()})
    else:
        echo(f"Sally {__version__} on Python {platform.python_version()}, {sys.platform}")
        print_table(rows, ("part", "version", "for", "get it with"))
        places = f"{NAME} in this folder or {user_folder() / NAME}"
        echo(f"Config: {config}" if config else f"Config: none; searched: {places}")
        if stranger := another_sally():
            echo(stranger)
        if any(row["part"] == "xllamacpp" and row["version"] for row in rows):
            for line in embedded_lines():
                echo(line)
    missing_base = [r for r in rows if r["version"] is None and not PARTS[r["part"]][0]]
    sys.exit(1 if missing_base else 0)


def another_sally() -> str:
    """Return advice if the unrelated package `sally` is installed, else an empty string."""
    try:
        about = metadata.metadata("sally")
    except metadata.PackageNotFoundError:
        return ""
    if (about["Summary"] or "").startswith(ABOUT):
        return ""  # a working copy installed before the distribution was renamed
    return (
        f"The package sally {about['Version']} is also installed; it is an unrelated project with "
        f"the same import and command name, and the two overwrite each other. Remove both "
        f"(`pip uninstall sally {DISTRIBUTION}`), then `{install_command()}`."
    )


def weights_here() -> dict[str, bool]:
    """Return which weights of the embedded model are in the cache."""
    cached = {name: weights.cached_path.is_file() for name, weights in catalogue.NAMED.items()}
    return {"smollm2": cached_path(SMOLLM2).is_file(), **cached}


def embedded_lines() -> list[str]:
    """Return lines on the cached weights and on the gain of a faster runtime."""
    cached = [name for name, is_cached in weights_here().items() if is_cached]
    away = [
        f"{name} ({weights.bytes / 1e6:,.0f} MB to download)"
        for name, weights in catalogue.NAMED.items()
        if name not in cached
    ]
    sentences = [f"Embedded weights in the cache: {join_names(cached) if cached else 'none yet'}."]
    if away:
        sentences.append(
            f"Not in the cache: {join_names(away)}; the first use of embedded:NAME downloads them."
        )
    return [*sentences, faster_runtime(platform.machine())]


def faster_runtime(machine: str) -> str:
    """Return the measured gain of a native llama.cpp build over the Python wheel on this machine
    type."""
    if machine.lower() in ("aarch64", "arm64"):
        return (
            "The xllamacpp wheel is built without dot-product instructions on ARM; a native build "
            "of llama.cpp read prompts 7 times and wrote 3 times as fast with qwen-0.5b (two ARM "
            "cores, q8_0): start its llama-server and use "
            "--model llama_server:http://localhost:8080."
        )
    return (
        "The xllamacpp wheel uses AVX2 here; the gain of a native build of llama.cpp was not "
        "measured. To use one, start its llama-server and use "
        "--model llama_server:http://localhost:8080."
    )


def _part(name: str, extra: str, use: str) -> dict[str, Any]:
    try:
        version: str | None = metadata.version(name)
    except metadata.PackageNotFoundError:
        version = None
    command = None if version else install_command(extra)
    return {"part": name, "version": version, "for": use, "get it with": command}
