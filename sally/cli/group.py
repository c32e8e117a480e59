"""The top-level command group, which imports a command only when it is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from pathlib import Path

import click

import sally
from sally.core.errors import unknown

HEADINGS: Mapping[str, Mapping[str, str]] = {  # command -> module in this package and function
    "Evaluate and run": {
        "evaluate": "evaluate:evaluate_",
        "plan": "plan:plan",
        "run": "run:run",
        "watch": "watch:watch",
    },
    "Look": {
        "list": "catalog:list_",
        "show": "episodes:show",
        "score": "score:score",
        "profile": "profile:profile",
        "report": "pages:report",
    },
    "Compare and test": {
        "compare": "compare:compare",
        "fork": "fork:fork",
        "represent": "represent:represent",
        "replay": "episodes:replay",
    },
    "Share": {
        "pack": "pack:pack",
        "export": "export:export",
        "import": "imports:import_",
    },
    "People": {
        "play": "play:play",
        "serve": "serve:serve",
        "people": "people:people",
    },
    "Extend": {
        "check": "check:check",
        "audit": "papers:audit",
        "doctor": "doctor:doctor",
    },
    "Papers": {
        "reproduce": "papers:reproduce",
        "paper": "paper:paper",
    },
}
ENTRIES = {name: place for commands in HEADINGS.values() for name, place in commands.items()}
VIEWS: Mapping[str, Mapping[str, str]] = {
    # command -> option, or pattern of an argument, that selects another function
    "evaluate": {"--demo": "demo:demo"},
    "show": {"--why": "fork:list_costliest"},
    "score": {"--crossplay": "crossplay:crossplay_"},
    "profile": {
        "--checklist": "checklist:checklist",
        "--reliability": "reliability:reliability_",
        "--variance": "reliability:variance_",
        "--beliefs": "beliefs:beliefs_",
        "--told": "told:print_told",
    },
    "report": {"--atlas": "atlas:atlas_", "--board": "board:board_"},
    "compare": {
        "--asked": "contrast:contrast_",
        "--twin": "contrast:contrast_",
        "--packs": "contrast:contrast_",
        "--aware": "contrast:contrast_",
        "--transfer": "transfer:transfer_",
        "--power": "inspect_logs:power",
        "*.eval": "inspect_logs:compare_logs_",
        "*.json": "inspect_logs:compare_logs_",
    },
    "replay": {"--reread": "episodes:reread"},
    "audit": {"--logs": "audit_logs:audit_logs"},
}
RENAMED: Mapping[str, str] = {  # names of version 0.1, accepted until the next version
    "demo": "evaluate --demo",
    "why": "show --why",
    "crossplay": "score --crossplay",
    "checklist": "profile --checklist",
    "reliability": "profile --reliability",
    "variance": "profile --variance",
    "beliefs": "profile --beliefs",
    "atlas": "report --atlas",
    "board": "report --board",
    "drift": "compare",
    "contrast": "compare",
    "transfer": "compare --transfer",
    "inspect compare": "compare",
    "inspect power": "compare --power",
    "inspect": "compare",
    "reread": "replay --reread",
    "packs new": "paper packs",
    "packs": "paper packs",
}
RENAMED_OPTIONS: Mapping[str, Mapping[str, str]] = {  # options of version 0.1, likewise
    "export": {"--to": "--out", "--by-cell": "--by cell"},
    "reproduce": {"--to": "--out"},
    "report --atlas": {"--to": "--out"},
    "paper zhu2024": {"--to": "--out"},
    "paper moore2025": {"--on": ""},
    "profile": {"--by-cell": "--by cell"},
    "compare": {"--by-player": "--by player", "--html": "--out"},
    "show --why": {"--most": "--limit"},
    "serve": {"--tokens": "--budget-tokens"},
}


class Commands(click.Group):
    """A command group under headings that suggests close names and answers to old ones."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(ENTRIES)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return load(ENTRIES[name]) if name in ENTRIES else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, ENTRIES))
        for heading, commands in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(f"{name:{width}}", description(place)) for name, place in commands.items()]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        args = replace_old_names(args)
        name, *arguments = args
        if name not in ENTRIES and not name.startswith("-"):
            raise unknown("command", name, [*ENTRIES, *RENAMED])
        for key, place in VIEWS.get(name, {}).items():
            if any(fnmatch(argument, key) for argument in arguments):
                return view(name, key, load(place), arguments)
        return super().resolve_command(ctx, args)


class WithViews(click.Command):
    """A command whose help also lists the options that select another function."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        keys: dict[str, list[str]] = {}
        for key, place in VIEWS.get(self.name or "", {}).items():
            keys.setdefault(place, []).append(key)
        with formatter.section(f"Instead, each with its own `sally {self.name} OPTION --help`"):
            formatter.write_dl(
                [(", ".join(names), description(place)) for place, names in keys.items()]
            )


def view(
    name: str, key: str, command: click.Command, args: list[str]
) -> tuple[str, click.Command, list[str]]:
    """Return the name, the command and the arguments of a view; an option that only selects the
    view is removed."""
    if not key.startswith("-"):
        return name, command, args
    if any(key in option.opts for option in command.params):
        return name, command, args
    return f"{name} {key}", command, [argument for argument in args if argument != key]


def replace_old_names(args: Sequence[str]) -> list[str]:
    """Return the arguments with old names of commands and options replaced by the present ones,
    and name the present ones on standard error."""
    args = list(args)
    old = next((name for name in RENAMED if args[: name.count(" ") + 1] == name.split()), None)
    present = RENAMED.get(old or "")
    if old is None and args[0] not in ENTRIES and args[0] in {**brought(), **installed_papers()}:
        old, present = args[0], f"paper {args[0]}"
    if old is not None and present is not None:
        args[: old.count(" ") + 1] = present.split()
        _say(f"`sally {old}` is now `sally {present}`.")
    for command, options in RENAMED_OPTIONS.items():
        if set(command.split()) <= set(args) and args[0] == command.split()[0]:
            args = [word for argument in args for word in _renamed_option(argument, options)]
    return args


def _renamed_option(argument: str, options: Mapping[str, str]) -> list[str]:
    option, equals, value = argument.partition("=")
    if option not in options:
        return [argument]
    present = options[option]
    _say(f"`{option}` is now {f'`{present}`' if present else 'left out'}.")
    return [*present.split(), *([value] if equals else [])]


def _say(sentence: str) -> None:
    from sally.core.terminal_text import echo  # `sally --help` does without it

    echo(sentence, err=True)


def load(place: str) -> click.Command:
    """Import a command."""
    module, _, function = place.partition(":")
    command: click.Command = getattr(import_module(f"sally.cli.{module}"), function)
    return command


def description(place: str) -> str:
    """Return the summary of a command's docstring, read from its source without importing it."""
    module, _, function = place.partition(":")
    source = Path(__file__).with_name(f"{module}.py").read_text("utf-8")
    summary = re.search(rf'^def {function}\(.*?"""(.+?)(?:"""|\n\n)', source, re.S | re.M)
    return " ".join(summary[1].split()) if summary else ""


@cache
def brought() -> Mapping[str, str]:
    """Return the papers that have commands, with descriptions, without importing them."""
    return dict(sorted(_find_commands(Path(next(iter(sally.__path__))) / "papers")))


def _find_commands(papers: Path) -> Iterator[tuple[str, str]]:
    for file in papers.rglob("commands.py"):
        name = "_".join(file.parent.relative_to(papers).parts)
        docstring = ast.get_docstring(ast.parse(file.read_bytes())) or ""
        yield name, docstring.partition(": ")[2].partition("\n")[0].capitalize()


@cache
def installed_papers() -> Mapping[str, str]:
    """Return the papers of other installed packages that have commands."""
    from importlib.metadata import entry_points

    if not entry_points(group="sally.papers"):
        return {}
    from sally.core.registry import registry

    return {name: "" for name in registry.with_commands() if name not in brought()}
