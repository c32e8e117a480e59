"""The group of all commands: each is loaded when it is called, none for a list of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click

import sally
from sally.core.errors import unknown
from sally.core.terminal_text import nothing_steers


class Entry(NamedTuple):
    """Where a command lies, and what a list says about it."""

    place: str  # module:name
    about: str


ENTRIES: Mapping[str, Entry] = {
    "list": Entry(
        "sally.cli.listing:list_",
        "List what there is to choose from: games, players, studies and more.",
    ),
    "play": Entry("sally.cli.playing:play", "Play GAME yourself; Ctrl-D leaves the table."),
    "plan": Entry(
        "sally.cli.planning:plan",
        "Say what the rest of STUDY would take: calls, tokens, cost and time.",
    ),
    "run": Entry(
        "sally.cli.running:run",
        "Play what the store still lacks of STUDY (a name or a TOML file).",
    ),
    "watch": Entry(
        "sally.cli.watching:watch", "Show how far the runs in STORE have got, until they finish."
    ),
    "score": Entry(
        "sally.cli.scoring:score",
        "Means with 95% intervals for every player in a store or a bundle.",
    ),
    "profile": Entry(
        "sally.cli.profiling:profile",
        "What each player in some stores knew of the others, and what it did with it.",
    ),
    "compare": Entry(
        "sally.cli.comparing:compare",
        "Is A better than B in the store DIR, where, and how certain is that?",
    ),
    "contrast": Entry(
        "sally.cli.contrasting:contrast_",
        "The same players in the store DIR under two conditions, with tests of equivalence.",
    ),
    "reliability": Entry(
        "sally.cli.reliable:reliability_",
        "How far the scores in DIR tell players apart, and whether they measure one thing.",
    ),
    "variance": Entry(
        "sally.cli.reliable:variance_",
        "Where the variance of scores in DIR comes from, and what is lost in fresh wordings.",
    ),
    "export": Entry(
        "sally.cli.exporting:export",
        "Write rows of the stores DIR, or figures drawn from them, to a file.",
    ),
    "report": Entry(
        "sally.cli.pages:report",
        "One page of HTML for the episodes in DIR (a store or a bundle): open it in a browser.",
    ),
    "pack": Entry(
        "sally.cli.packing:pack",
        "Pack the episodes in DIR, its study and its words into one file with hashes.",
    ),
    "replay": Entry(
        "sally.cli.reading:replay",
        "Play every stored episode again from its log, and say where it differs.",
    ),
    "show": Entry(
        "sally.cli.reading:show",
        "The transcript of EPISODE: STORE/ID (the id's beginning will do) or STORE (its first).",
    ),
    "fork": Entry(
        "sally.cli.forking:fork",
        "Replay EPISODE up to a turn, then go on with another player, wording or move.",
    ),
    "why": Entry(
        "sally.cli.forking:why",
        "The decisions of EPISODE that cost most: what was expected, what was true, what was best.",
    ),
    "reproduce": Entry(
        "sally.cli.papers:reproduce",
        "The tables and figures of PAPER in its own layout, published and ours side by side.",
    ),
    "audit": Entry(
        "sally.cli.papers:audit",
        "What mindless players score in GAME: rules of thumb and their inverses.",
    ),
    "check": Entry(
        "sally.cli.checking:check",
        "Hold GAME, with its partners, metrics, card and board, to the checks that ours pass.",
    ),
    "doctor": Entry(
        "sally.cli.doctor:doctor", "What is installed, what is missing, and how to get it."
    ),
    "demo": Entry(
        "sally.cli.demo:demo",
        "Three games, four kinds of player: what each knew, and what it did with it.",
    ),
    "crossplay": Entry(
        "sally.cli.crossplaying:crossplay_",
        "Mean payoffs of everybody against everybody in the two-seat games of the store DIR.",
    ),
    "transfer": Entry(
        "sally.cli.transferring:transfer_",
        "What players were trained on (rows) against what they were tested on (columns).",
    ),
    "import": Entry(
        "sally.cli.importing:import_",
        "Import games recorded elsewhere; each source has a command.",
    ),
    "serve": Entry(
        "sally.cli.serving:serve",
        "Let people play in the browser; moves are on disk before they are acknowledged.",
    ),
    "people": Entry(
        "sally.cli.people:people", "Studies with people: a template, a check, progress, export."
    ),
}
OWNERS = ("papers", "games")  # folders whose members may bring commands of their own


class Commands(click.Group):
    """A group that suggests the nearest command, and finds those that papers and games bring."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*ENTRIES, *sorted({*brought(), *_installed()})]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in ENTRIES:
            module, _, attribute = ENTRIES[name].place.partition(":")
            found: click.Command = getattr(import_module(module), attribute)
            return found
        if name not in self.list_commands(ctx):
            return None
        from sally.core.registry import registry

        return registry.commands(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = {name: entry.about for name, entry in ENTRIES.items()}
        rows = {**own, **brought(), **_installed()}
        with formatter.section("Commands"):
            formatter.write_dl(list(rows.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever it prints of anybody's text cannot steer the terminal."""
        with nothing_steers():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in ENTRIES and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            if args[0] not in known:
                raise unknown("command", args[0], known)
        return super().resolve_command(ctx, args)


@cache
def brought() -> Mapping[str, str]:
    """What papers and games of ours bring, with what its file says about it; none is imported."""
    return dict(sorted(_found(Path(next(iter(sally.__path__))))))


def _found(home: Path) -> Iterator[tuple[str, str]]:
    for owner in OWNERS:
        for file in (home / owner).rglob("commands.py"):
            name = "_".join(file.parent.relative_to(home / owner).parts)
            said = ast.get_docstring(ast.parse(file.read_bytes())) or ""
            yield name, said.partition(": ")[2].partition("\n")[0].capitalize()


@cache
def _installed() -> Mapping[str, str]:
    """What papers and games of other packages bring; only where such packages are installed."""
    from importlib.metadata import entry_points

    if not any(entry_points(group=f"sally.{owner}") for owner in OWNERS):
        return {}
    from sally.core.registry import registry

    return {name: "" for name in registry.with_commands() if name not in brought()}
