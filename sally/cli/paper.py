"""`sally paper`: what papers bring: their own commands, and words packs, files in which a paper's
own text can replace Sally's prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from sally.cli.group import brought, installed_papers
from sally.core.errors import BadInput, join_names, unknown
from sally.core.registry import packs as words_packs
from sally.core.registry import registry
from sally.core.registry.study import Study
from sally.core.registry.wording import PackMatch, compare_with_printed
from sally.core.rules.words import COMMON_TEXTS, Pack, check_pack, slots
from sally.core.terminal_text import echo
from sally.output.tables.console import PATH, print_text
from sally.players.language import every_strategy_text


class Papers(click.Group):
    """A group that imports the commands of a paper only when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*sorted({**brought(), **installed_papers()}), *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in brought() or name in installed_papers():
            commands: click.Command | None = registry.commands(name)
            return commands
        return super().get_command(ctx, name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own_commands = {
            name: command.get_short_help_str(200) for name, command in self.commands.items()
        }
        with formatter.section("Commands"):
            formatter.write_dl(
                [*{**brought(), **installed_papers()}.items(), *own_commands.items()]
            )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            raise unknown("paper with commands", args[0], names)
        return super().resolve_command(ctx, args)


@click.group(cls=Papers)
def paper() -> None:
    """Run a paper's own commands: figures, readers, studies, words."""


@paper.command("packs")
@click.argument("paper_name", metavar="PAPER")
@click.option("--out", type=PATH, default=Path(), help="Folder for the files [here].")
def packs(paper_name: str, out: Path) -> None:
    """Write a words pack for each game of PAPER, to be filled with the paper's own sentences.

    Sally's prompts are in our own words. `sally check FILE.toml` checks a pack, and
    `sally run PAPER --packs FILE.toml` plays with it.

    A pack lists every sentence of the game's prompts as a comment, in our wording, with the facts
    in braces that Sally fills in. To use the paper's sentence, remove the # before its key and
    paste the sentence there; every other sentence keeps our wording.
    """
    studies: Sequence[Study] = registry.paper_part(paper_name, "study") or ()
    games = dict.fromkeys(
        registry.family(instance.game).name
        for study in studies
        for cell in study.cells
        for instance in cell.instances
    )
    if not games:
        raise BadInput(f"{paper_name} has no study, so there are no prompts to reword.")
    files = {game: out / f"{paper_name}_{game}.toml" for game in games}
    if existing := [str(file) for file in files.values() if file.exists()]:
        raise BadInput(f"{join_names(existing)} exists already; choose another folder with --out.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"The folder {out} cannot be created: {error.strerror}.") from None
    for game, file in files.items():
        file.write_text(template(paper_name, game, studies), "utf-8")
        echo(f"{file}: {len(texts_of(game, studies))} sentences of {game}")
    first = next(iter(files.values()))
    print_text(
        f"`sally check {first}` checks it, `sally run {paper_name} --packs {first}` plays it."
    )


def texts_of(game: str, studies: Sequence[Study]) -> dict[str, str]:
    """Return the texts that prompts of these studies can contain, by key."""
    strategy_names = {
        str(spec.params.get("strategy", "qa"))
        for study in studies
        for cell in study.cells
        for lineup in cell.lineups
        for spec in lineup.values()
        if spec.player == "language"
    }
    entries = registry.entries("strategies")
    strategies: dict[str, str] = {}
    for name in sorted(strategy_names & entries.keys()):
        strategies |= entries[name].texts
    return {**COMMON_TEXTS, **registry.family(game).texts, **strategies}


def template(paper: str, game: str, studies: Sequence[Study]) -> str:
    """Return a template for a words pack as TOML.

    For every text, the template has our wording as a comment, the names of its slots, and a
    commented-out key with an empty value.
    """
    lines = [
        f"# Words pack for {game} as in {paper}: replace our sentences by the paper's.",
        "# Remove the # before a key and paste the text; names in braces are filled in.",
        f'name = "{paper}_{game}"',
        f'game = "{game}"',
        "",
        "[texts]",
    ]
    for key, text in texts_of(game, studies).items():
        facts = sorted(slots(text, key))
        lines.append("")
        lines += [f"# ours: {line}" for line in text.split("\n")]
        if facts:
            lines.append(f"# facts: {', '.join(f'{{{fact}}}' for fact in facts)}")
        lines.append(f'# "{key}" = ""')
    return "\n".join(lines) + "\n"


def say_pack(path: Path) -> None:
    """Print how many texts a pack replaces, and which published texts it reproduces.

    Raises:
        BadInput: A sentence or a fact of the pack is unknown.
    """
    pack = words_packs.read_pack(path)
    family = registry.family(pack.game)
    check_pack(pack, {**every_strategy_text(), **family.texts})
    text_count = len(pack.texts)
    echo(
        f"{pack.name}: {text_count} sentences of {pack.game} replaced, all known with their facts."
    )
    print_text(*verbatim_lines(pack))


def verbatim_lines(pack: Pack) -> Iterator[str]:
    """Yield one line for each published text of the pack's game: whether the pack has it
    verbatim."""
    matches: Mapping[str, Sequence[PackMatch]] = compare_with_printed(pack)
    if not matches:
        yield f"No published text of {pack.game} is known by its hash, so none is compared."
    for paper, texts in matches.items():
        for match in texts:
            verdict = "verbatim" if match.verbatim else "not verbatim"
            yield f"{paper}, {match.what}: {verdict}"
