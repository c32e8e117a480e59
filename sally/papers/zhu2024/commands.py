"""`sally zhu2024`: figures of the published choices, their table, and a study of the games."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click
import msgspec

from sally import store
from sally.core.errors import BadInput
from sally.core.match.playback import replayed
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.core.terminal_text import echo
from sally.games.repeated_games.regret import decisions_lost
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.output.tables.console import json_option, print_json, print_table
from sally.papers.zhu2024 import figures
from sally.papers.zhu2024.importer import params_of
from sally.papers.zhu2024.reading import KINDS, Crowds, Role, exchanged, kind_of, read
from sally.stats.cluster_interval import ratio_by_rule
from sally.stats.intervals import Estimate

least_option = click.option(
    "--least", default=5, show_default=True, help="People across that a choice needs to count."
)


@click.group("zhu2024")
def COMMANDS() -> None:
    """People in one-shot 2x2 games: figures, a table and a study of the same games."""


@COMMANDS.command("figures")
@click.argument("path", type=click.Path(path_type=Path))
@least_option
@json_option
def show(path: Path, least: int, as_json: bool) -> None:
    """Doing, levels and mixtures from the published file or checkout PATH."""
    record = read(path)
    table = figures.table_of(record.choices, Crowds(record.choices))
    found = figures.summary(table, least)
    kinds = figures.by_kind(table)
    mixed = [figures.mixture(table, figures.FIXED_ERROR), figures.fitted_mixture(table)]
    if as_json:
        print_json(
            {
                "figures": msgspec.to_builtins(found),
                "kinds": msgspec.to_builtins(kinds),
                "mixtures": msgspec.to_builtins(mixed),
            }
        )
        return
    rows = [{"figure": name, **_shown(value)} for name, value in found.items()]
    print_table(rows, ["figure", "value", "interval", "n"], "People and rules")
    split = [
        {
            "kind": kind,
            **{k: _shown(v)["value"] if isinstance(v, Estimate) else str(v) for k, v in of.items()},
        }
        for kind, of in kinds.items()
    ]
    print_table(split, ["kind", "choices", "level 1", "level 2"], "By kind of game")
    for each in mixed:
        shares = ", ".join(f"{s:.3f}" for s in each.shares)
        echo(f"Levels 0 to 3 with an error rate of {each.error:g}: {shares} "
             f"(log likelihood {each.log_likelihood:.1f})")  # fmt: skip


def _shown(value: Estimate | float) -> dict[str, str]:
    if not isinstance(value, Estimate):
        return {"value": f"{value:.4f}", "interval": "", "n": ""}
    ends = value.interval
    return {
        "value": "" if value.value is None else f"{value.value:.4f}",
        "interval": "" if ends is None else f"[{ends[0]:.3f}, {ends[1]:.3f}]",
        "n": str(value.n),
    }


@COMMANDS.command("choices")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path), help="CSV file to write.")
def choices(path: Path, to: Path) -> None:
    """Write one row per choice of PATH: game, choice, kind, opposing crowd and levels."""
    record = read(path)
    table = figures.table_of(record.choices, Crowds(record.choices))
    levels = figures.levels(table)
    cells = ("AC", "AD", "BC", "BD")
    head = ["person", "trial", *(f"own_{c}" for c in cells), *(f"other_{c}" for c in cells)]
    head += ["choice", "kind", "value_A", "value_B", "people_across"]
    head += [f"level_{k}" for k in range(1, len(levels))]
    with to.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        for n, choice in enumerate(record.choices):
            picks = ["tie" if row[n] == 0.5 else "BA"[int(row[n])] for row in levels[1:]]
            values = [f"{v:.6g}" for v in table.values[n]]
            kind = KINDS[table.kind[n]]
            writer.writerow([choice.person, choice.trial, *choice.own, *choice.other,
                             "AB"[choice.row], kind, *values, table.crowd[n], *picks])  # fmt: skip
    echo(f"{len(record.choices)} choices were written to {to}.")


@COMMANDS.command("study")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path), help="TOML file to write.")
@click.option("--games", default=100, show_default=True, help="Games in a role, evenly by kind.")
def study(path: Path, to: Path, games: int) -> None:
    """Write a study in which models play the games of PATH against the same crowds.

    The file holds published payoffs: check their licence before you share it.
    """
    record = read(path)
    crowds = Crowds(record.choices)
    by_kind: dict[str, list[Role]] = {kind: [] for kind in KINDS}
    for role in sorted(crowds.roles):
        by_kind[kind_of(role)].append(role)
    lines = [
        'name = "zhu2024_games"',
        'about = "2x2 games played once, against the odds of the people across"',
    ]
    each = max(1, games // len(KINDS))
    for kind, roles in by_kind.items():
        step = max(1, len(roles) // each)
        for n, role in enumerate(roles[::step][:each], 1):
            theirs, rows = exchanged(role)
            counts = [crowds.taken[theirs, column ^ rows] for column in (0, 1)]
            if sum(counts):
                lines += _cell(f"{kind} {n}", role, [k / sum(counts) for k in counts])
    to.write_text("\n".join(lines) + "\n", "utf-8")
    echo(f"`sally run {to} --model NAME --out DIR` plays it; `sally zhu2024 scale DIR` scores it.")


def _cell(name: str, role: Role, odds: list[float]) -> list[str]:
    """Return one cell of a study as lines of TOML: a random player and a model, the same crowd."""
    params = params_of(role[:4], role[4:])
    given = ", ".join(f"{k} = {msgspec.json.encode(v).decode()}" for k, v in params.items())
    partner = f'partner = {{ player = "mixed", params = {{ odds = {odds} }} }}'
    asked = 'agent = { player = "language", params = { model = "model", strategy = "qa" } }'
    return [
        "",
        "[[cells]]",
        f'name = "{name}"',
        "[[cells.instances]]",
        f'id = "zhu2024 {name}"',
        'game = "repeated_games"',
        f"params = {{ {given} }}",
        "[[cells.lineups]]",
        'agent = { player = "random" }',
        partner,
        "[[cells.lineups]]",
        asked,
        partner,
    ]


@COMMANDS.command("scale")
@click.argument("where")
@json_option
def scale(where: str, as_json: bool) -> None:
    """Doing against the crowd for every player in the store WHERE, both people and models."""
    spec = registry.game("repeated_games")
    gained: dict[str, list[tuple[float, float, str]]] = {}
    for episode in store.load(where).episodes.values():
        setup = episode.setup
        one_shot = setup.instance.params.get("rounds") == 1
        if setup.instance.game != spec.name or not one_shot:
            continue
        if setup.lineup[PARTNER].player != "mixed":
            continue
        lost = decisions_lost(Played(spec, episode, replayed(spec, episode)), AGENT)
        if lost is None or not lost.decisions:
            continue
        who = setup.lineup[AGENT]
        name = str(who.params.get("name") or who.params.get("model") or who.player)
        unit = setup.instance.id.rpartition(":")[0] or setup.instance.id
        gained.setdefault(name, []).append((lost.at_random - lost.lost, lost.at_random, unit))
    if not gained:
        raise BadInput(f"{where} contains no one-shot game against a `mixed` partner.")
    rows: list[dict[str, Any]] = []
    for name, made in sorted(gained.items()):
        found = ratio_by_rule([a for a, _, _ in made], [b for _, b, _ in made],
                              [c for _, _, c in made])  # fmt: skip
        rows.append({"player": name, "choices": len(made), "doing": found.value,
                     "interval": found.interval})  # fmt: skip
    if as_json:
        print_json(rows)
        return
    shown = [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows]
    print_table(shown, list(shown[0]), "Doing against the crowd: 0 even odds, 1 best reply")
