"""`sally represent`: what a local model represents at stored decisions."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from sally import store
from sally.cli.common import STORE
from sally.core.errors import BadInput
from sally.core.terminal_text import echo
from sally.output.figures.panels import check, write
from sally.output.tables.console import PATH, SEED, WholeNumber, json_option, print_json, progress
from sally.output.tables.representation import say
from sally.represent.prompts import Place, decisions, require_decisions
from sally.represent.results import FOLDER
from sally.represent.run import fit_groups
from sally.represent.surface import As
from sally.store.bundles import open_store


@click.command()
@click.argument("folder", metavar="DIR", type=STORE)
@click.option("--model", required=True, metavar="hf:NAME", help="The local model that is read.")
@click.option(
    "--about",
    default="",
    metavar="LABEL",
    help="What to predict: their_move or another probe, own_move, own_forecast [others' moves].",
)
@click.option(
    "--as",
    "kind",
    type=click.Choice(get_args(As)),
    default="action",
    show_default=True,
    help="Predict the action, the name on the page, or whether the action repeats the last one.",
)
@click.option(
    "--at",
    type=click.Choice(get_args(Place)),
    default="move",
    show_default=True,
    help="Read the page of the move or of the probe.",
)
@click.option("--layers", default="all", show_default=True, help="Layers, such as 0,8,16 or 4-12.")
@click.option("--cell", "cells", multiple=True, help="Only this cell; * matches anything.")
@click.option("--decisions", "most", type=WholeNumber(), help="Maximum per game and player.")
@click.option(
    "--seed",
    default=0,
    type=SEED,
    show_default=True,
    help="Seed of the sample, folds and controls.",
)
@click.option(
    "--causal",
    is_flag=True,
    help="Instead of testing probes, change the stream along their directions and score the "
    "options again; --decisions limits how many are changed, --layers all means four layers.",
)
@click.option("--no-untrained", is_flag=True, help="Leave out the untrained network.")
@click.option("--out", type=PATH, help="Folder for activations and results [DIR/represented].")
@click.option("--figure", type=PATH, help="Draw accuracy by layer: .svg, .pdf or .png.")
@json_option
def represent(
    *,
    folder: Path | str,
    model: str,
    about: str,
    kind: As,
    at: Place,
    layers: str,
    cells: tuple[str, ...],
    most: int | None,
    seed: int,
    causal: bool,
    no_untrained: bool,
    out: Path | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Compare what a local model represents with what it says and does.

    Prompts of stored decisions are rendered again from the log and checked against their hashes.
    The residual stream at the last token is kept in DIR/represented; an interrupted command
    continues. Linear probes are tested on partners and instances that they have not seen. They are
    compared with learners on surface features, with control tasks, with an untrained network and,
    if the store has such episodes, with the same problems in which a mechanism takes the place of
    the other player.
    """
    if figure:
        check(figure)
    out = _out_folder(folder, out)
    with open_store(folder) as (place, _):
        episodes = [
            episode
            for episode in store.load(place).episodes.values()
            if not cells or any(fnmatch(episode.cell, cell) for cell in cells)
        ]
        if causal:
            from sally.cli.causal import causal_check

            chosen_layers = None if layers == "all" else partial(_layers, layers)
            causal_check(
                episodes,
                model=model,
                about=about,
                kind=kind,
                layers=chosen_layers,
                limit=most,
                seed=seed,
                out=out,
                figure=figure,
                as_json=as_json,
            )
            return
        with progress() as bar:
            task = bar.add_task("prompts", total=len(episodes), note="")

            def count_episodes() -> Any:
                for episode in episodes:
                    yield episode
                    bar.advance(task)

            all_decisions = list(decisions(count_episodes(), about, at))
    require_decisions(all_decisions, about, at)
    with progress() as bar:
        task = bar.add_task("activations", total=None, note="")

        def read(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        from sally.models.hf.residual_stream import ResidualStream

        results = fit_groups(
            all_decisions,
            lambda untrained: ResidualStream(model, untrained=untrained, seed=seed),
            out,
            model=model.removeprefix("hf:"),
            about=about,
            kind=kind,
            place=at,
            layers=lambda count: _layers(layers, count),
            limit=most,
            seed=seed,
            untrained=not no_untrained,
            tell=lambda sentence: echo(sentence, err=True),
            read=read,
        )
    if figure:
        from sally.output.figures.representation import layers_figure

        write(layers_figure(results), figure)
    if as_json:
        print_json(msgspec.to_builtins(results))
        return
    say(results)
    if figure:
        echo(f"Written: {figure}")


def _out_folder(folder: Path | str, out: Path | None) -> Path:
    if out is not None:
        return out
    if isinstance(folder, Path) and not folder.exists():
        raise BadInput(f"There is no store at {folder}.")
    if not isinstance(folder, Path) or not folder.is_dir():
        raise BadInput(
            f"Activations cannot be saved in {folder}, which is not a local folder; name a "
            "folder for them with --out."
        )
    return folder / FOLDER


def _layers(text: str, count: int) -> list[int]:
    """Return the layers that `all`, `0,8,16` or `4-12` names."""
    if text == "all":
        return list(range(count))
    layers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if match is None:
            raise BadInput(f"--layers takes all, 0,8,16 or 4-12, not {text!r}.")
        first = int(match[1])
        layers += range(first, int(match[2] or first) + 1)
    if not layers or max(layers) >= count:
        raise BadInput(f"The model has layers 0 to {count - 1}; --layers says {text!r}.")
    return sorted(set(layers))
