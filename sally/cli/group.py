"""The top-level command group, which imports a command only when it is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import click

import sally
from sally.core.errors import unknown


class Entry(NamedTuple):
    """Import path of a command and its one-line description."""

    place: str  # module:name
    about: str


ENTRIES: Mapping[str, Entry] = {
    "evaluate": Entry(
        "sally.cli.evaluating:evaluate_",
        "Evaluate a model on the suite Sally-1: knowing, acting on it, and doing, in ten games.",
    ),
    "list": Entry(
        "sally.cli.listing:list_",
        "List the available games, players, studies and more.",
    ),
    "play": Entry("sally.cli.playing:play", "Play GAME in the terminal; Ctrl-D leaves."),
    "plan": Entry(
        "sally.cli.planning:plan",
        "Estimate the calls, tokens, cost and time that the rest of STUDY needs.",
    ),
    "run": Entry(
        "sally.cli.running:run",
        "Play the missing episodes of STUDY (a name or a TOML file).",
    ),
    "watch": Entry(
        "sally.cli.watching:watch", "Show the progress of the runs in STORE until they finish."
    ),
    "score": Entry(
        "sally.cli.scoring:score",
        "Print means with 95% intervals for every player in a store or a bundle.",
    ),
    "profile": Entry(
        "sally.cli.profiling:profile",
        "Show what each player knew about the others, and how well it acted on it.",
    ),
    "represent": Entry(
        "sally.cli.representing:represent",
        "Compare what a local model represents at stored decisions with what it said and did.",
    ),
    "checklist": Entry(
        "sally.cli.claiming:checklist",
        "Check which words about players (knows, acts on, ...) the episodes in DIR support.",
    ),
    "atlas": Entry(
        "sally.cli.atlas:atlas",
        "Draw how well people, models and bots did in each game, from records and studies.",
    ),
    "compare": Entry(
        "sally.cli.comparing:compare",
        "Compare A with B in the store DIR: which is better, where, and how certain that is.",
    ),
    "drift": Entry(
        "sally.cli.evaluating:drift_",
        "Compare two evaluations of one model, problem by problem; report changes beyond chance.",
    ),
    "contrast": Entry(
        "sally.cli.contrasting:contrast_",
        "Compare the same players in the store DIR under two conditions, with equivalence tests.",
    ),
    "reliability": Entry(
        "sally.cli.reliable:reliability_",
        "Estimate how reliably the scores in DIR distinguish players, and how they correlate.",
    ),
    "variance": Entry(
        "sally.cli.reliable:variance_",
        "Decompose the variance of the scores in DIR, and show the loss under new wordings.",
    ),
    "export": Entry(
        "sally.cli.exporting:export",
        "Write rows or figures of the stores DIR to a file.",
    ),
    "report": Entry(
        "sally.cli.pages:report",
        "Write one HTML page about the episodes in DIR (a store or a bundle).",
    ),
    "pack": Entry(
        "sally.cli.packing:pack",
        "Pack the episodes in DIR, with their study and words, into one file with hashes.",
    ),
    "board": Entry(
        "sally.cli.boarding:board",
        "Replay evaluation bundles, recompute every figure, and write a static site.",
    ),
    "replay": Entry(
        "sally.cli.reading:replay",
        "Replay every stored episode from its log and report differences.",
    ),
    "reread": Entry(
        "sally.cli.reading:reread",
        "Parse stored replies again with the installed reply rule, and list every difference.",
    ),
    "show": Entry(
        "sally.cli.reading:show",
        "Print the transcript of EPISODE, given as STORE or STORE/ID (or a prefix of the id).",
    ),
    "fork": Entry(
        "sally.cli.forking:fork",
        "Replay EPISODE up to a turn, then continue with another player, wording or move.",
    ),
    "why": Entry(
        "sally.cli.forking:why",
        "List the costliest decisions of EPISODE, with prediction, truth and best move.",
    ),
    "reproduce": Entry(
        "sally.cli.papers:reproduce",
        "Print the tables and figures of PAPER in its own layout, published values beside ours.",
    ),
    "audit": Entry(
        "sally.cli.papers:audit",
        "Measure the scores of mindless players in GAME: simple rules and their inverses.",
    ),
    "check": Entry(
        "sally.cli.checking:check",
        "Run the conformance checks on GAME and its partners, metrics, card and board.",
    ),
    "packs": Entry(
        "sally.cli.packs:packs",
        "Words packs: make one for a paper's own text.",
    ),
    "doctor": Entry(
        "sally.cli.doctor:doctor", "Show what is installed, what is missing, and how to install it."
    ),
    "demo": Entry(
        "sally.cli.demo:demo",
        "Play a tiny slice of the suite with the embedded model, and write a page about it.",
    ),
    "crossplay": Entry(
        "sally.cli.crossplaying:crossplay_",
        "Print the mean payoff of every pairing in the two-player games of the store DIR.",
    ),
    "transfer": Entry(
        "sally.cli.transferring:transfer_",
        "Show how training on one task changes performance in other tasks.",
    ),
    "inspect": Entry(
        "sally.cli.inspecting:inspect",
        "Compare any Inspect logs, and plan the size of further logs.",
    ),
    "import": Entry(
        "sally.cli.importing:import_",
        "Import recorded games; each source has its own command.",
    ),
    "serve": Entry(
        "sally.cli.serving:serve",
        "Serve games in the browser; moves are on disk before they are acknowledged.",
    ),
    "people": Entry(
        "sally.cli.people:people",
        "Run studies with people: template, check, rehearsal, progress, payments, export.",
    ),
}
OWNERS = ("papers", "games")  # packages that may add commands


class Commands(click.Group):
    """A command group that suggests close names and includes commands of papers and games."""

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
