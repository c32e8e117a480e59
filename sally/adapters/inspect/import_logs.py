"""Import of Inspect logs of Sally's tasks, in which each finished sample holds an episode."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput, install_command
from sally.core.log.events import Episode, from_line
from sally.core.registry.paper import ImportResult
from sally.core.registry.validation import log_problem
from sally.parts.importers import ImportRun, Oddity, Source, existing

ENDINGS = (".eval", ".json")


def import_episodes(path: Path) -> ImportResult:
    """Return every episode in a log, or in the logs of a folder."""
    below = existing(path).rglob("*")
    files = [path] if path.is_file() else sorted(f for f in below if f.suffix in ENDINGS)
    if not files:
        raise BadInput(f"There is no Inspect log (.eval or .json) under {path}.")
    episodes: dict[str, Episode] = {}
    run = ImportRun(counts={"logs": len(files)})
    for file in files:
        source = Source.of("a log of Inspect", "", file.name, file.read_bytes())
        for sample in _samples(file):
            for line in _lines(sample):
                run.counts["found"] += 1
                try:
                    episode = _episode(sample, line)
                except BadInput as error:
                    run.oddities.append(Oddity(str(file), f"sample {sample.id}", str(error)))
                    continue
                used = {**episode.used, "log": msgspec.to_builtins(source)}
                episodes[episode.id] = msgspec.structs.replace(episode, used=used)
    for episode in episodes.values():
        run.episodes.append(episode)
    if not run.episodes and not run.oddities:
        raise BadInput(f"The Inspect logs under {path} contain no samples.")
    return run.result()


def _samples(file: Path) -> list[Any]:
    try:
        log: Any = import_module("inspect_ai.log")
    except ImportError:
        raise BadInput(
            f"Reading Inspect logs needs Inspect; `{install_command('inspect')}` installs it."
        ) from None
    try:
        return list(log.read_eval_log(str(file)).samples or ())
    except Exception:  # Inspect raises various errors for a broken file
        raise BadInput(f"{file} is not an Inspect log (.eval or .json).") from None


def _lines(sample: Any) -> list[Any]:
    """Return the stored lines of a sample: one episode, or the positions of a pair."""
    lines = sample.store.get("episodes")
    return lines if isinstance(lines, list) and lines else [sample.store.get("episode")]


def _episode(sample: Any, line: Any) -> Episode:
    if line is None:
        reason = f": {sample.error.message}" if sample.error else ""
        raise BadInput(f"it contains no episode of Sally{reason}")
    try:
        episode = from_line(str(line).encode("utf-8", "replace"))
        episode.end  # noqa: B018  an episode without an end is no episode
    except (msgspec.DecodeError, UnicodeError, RecursionError) as reason:
        raise BadInput(f"its episode cannot be read: {reason}") from None
    if why_not := log_problem(episode):
        raise BadInput(f"its episode is invalid: {why_not}")
    return episode
