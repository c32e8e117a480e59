"""The top-level command group, which imports a command only when it is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import click

import sally
from sally.core.errors import unknown

ENTRIES: Mapping[str, str] = {  # command -> module in this package and function
    "evaluate": "evaluating:evaluate_",
    "list": "listing:list_",
    "play": "playing:play",
    "plan": "planning:plan",
    "run": "running:run",
    "watch": "watching:watch",
    "score": "scoring:score",
    "profile": "profiling:profile",
    "represent": "representing:represent",
    "checklist": "claiming:checklist",
    "atlas": "atlas:atlas_",
    "beliefs": "beliefs:beliefs_",
    "compare": "comparing:compare",
    "drift": "evaluating:drift_",
    "contrast": "contrasting:contrast_",
    "reliability": "reliable:reliability_",
    "variance": "reliable:variance_",
    "export": "exporting:export",
    "report": "pages:report",
    "pack": "packing:pack",
    "board": "boarding:board_",
    "replay": "reading:replay",
    "reread": "reading:reread",
    "show": "reading:show",
    "fork": "forking:fork",
    "why": "forking:why",
    "reproduce": "papers:reproduce",
    "audit": "papers:audit",
    "check": "checking:check",
    "packs": "packs:packs",
    "doctor": "doctor:doctor",
    "demo": "demo:demo",
    "crossplay": "crossplaying:crossplay_",
    "transfer": "transferring:transfer_",
    "inspect": "inspecting:inspect",
    "import": "importing:import_",
    "serve": "serving:serve",
    "people": "people:people",
}
OWNERS = ("papers", "games")  # packages that may add commands


class Commands(click.Group):
    """A command group that suggests close names and includes commands of papers and games."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*ENTRIES, *sorted({*brought(), *_installed()})]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in ENTRIES:
            module, _, function = ENTRIES[name].partition(":")
            found: click.Command = getattr(import_module(f"sally.cli.{module}"), function)
            return found
        if name not in self.list_commands(ctx):
            return None
        from sally.core.registry import registry

        return registry.commands(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = {name: description(place) for name, place in ENTRIES.items()}
        rows = {**own, **brought(), **_installed()}
        with formatter.section("Commands"):
            formatter.write_dl(list(rows.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in ENTRIES and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            if args[0] not in known:
                raise unknown("command", args[0], known)
        return super().resolve_command(ctx, args)


def description(place: str) -> str:
    """Return the summary of a command's docstring, read from its source without importing it."""
    module, _, function = place.partition(":")
    source = Path(__file__).with_name(f"{module}.py").read_text("utf-8")
    summary = re.search(rf'^def {function}\(.*?"""(.+?)(?:"""|\n\n)', source, re.S | re.M)
    return " ".join(summary[1].split()) if summary else ""


@cache
def brought() -> Mapping[str, str]:
    """Return the commands of Sally's papers and games, with descriptions, without importing
    them."""
    return dict(sorted(_found(Path(next(iter(sally.__path__))))))


def _found(home: Path) -> Iterator[tuple[str, str]]:
    for owner in OWNERS:
        for file in (home / owner).rglob("commands.py"):
            name = "_".join(file.parent.relative_to(home / owner).parts)
            said = ast.get_docstring(ast.parse(file.read_bytes())) or ""
            yield name, said.partition(": ")[2].partition("\n")[0].capitalize()


@cache
def _installed() -> Mapping[str, str]:
    """Return the commands that other installed packages add."""
    from importlib.metadata import entry_points

    if not any(entry_points(group=f"sally.{owner}") for owner in OWNERS):
        return {}
    from sally.core.registry import registry

    return {name: "" for name in registry.with_commands() if name not in brought()}
