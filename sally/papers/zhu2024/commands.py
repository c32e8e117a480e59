"""`sally paper zhu2024`: figures and a table of the published choices, and a study of the same
games."""

from __future__ import annotations

import csv
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
import msgspec

from sally.analysis.episodes.stores import games_in
from sally.core.errors import BadInput
from sally.core.rules.metric import Played
from sally.core.terminal_text import echo
from sally.frames.replays import replay_for_measures
from sally.output.tables.console import (
    PLAYED,
    WholeNumber,
    json_option,
    print_json,
    print_rows,
    print_table,
)
from sally.papers.zhu2024 import figures
from sally.papers.zhu2024.atlas import LEAST
from sally.papers.zhu2024.importer import as_episode, params_of
from sally.papers.zhu2024.reader import (
    KINDS,
    Crowds,
    Role,
    canonical,
    exchange_roles,
    kind_of,
    read,
)
from sally.papers.zhu2024.scale import ID, Scaled, roles_of, rules, scale_players
from sally.stats.intervals import Estimate
from sally.store.bundles import open_store

least_option = click.option(
    "--least",
    default=5,
    type=WholeNumber(),
    show_default=True,
    help="Leave out choices with fewer opponents than this in the record.",
)


@click.group("zhu2024")
def COMMANDS() -> None:
    """People in one-shot 2x2 games: figures, a table and a study of the same games."""


@COMMANDS.command("figures")
@click.argument("path", type=click.Path(path_type=Path))
@least_option
@json_option
def show(path: Path, least: int, as_json: bool) -> None:
    """Print how much people gained (from 0 for random to 1 for best choices), their levels of
    reasoning and mixtures of these levels, computed from the published file or checkout PATH."""
    record = read(path)
    table = figures.table_of(record.choices, Crowds(record.choices))
    results = figures.summary(table, least)
    kinds = figures.by_kind(table)
    mixed = [figures.mixture(table, figures.FIXED_ERROR), figures.fitted_mixture(table)]
    if as_json:
        print_json(
            {
                "figures": msgspec.to_builtins(results),
                "kinds": msgspec.to_builtins(kinds),
                "mixtures": msgspec.to_builtins(mixed),
            }
        )
        return
    rows = [{"figure": name, **_value_cells(value)} for name, value in results.items()]
    print_table(rows, ["figure", "value", "interval", "n"], "People and rules")
    split = [
        {
            "kind": kind,
            **{
                k: _value_cells(v)["value"] if isinstance(v, Estimate) else str(v)
                for k, v in of.items()
            },
        }
        for kind, of in kinds.items()
    ]
    print_table(split, ["kind", "choices", "level 1", "level 2"], "By kind of game")
    for fit in mixed:
        shares = ", ".join(f"{s:.3f}" for s in fit.shares)
        echo(f"Levels 0 to 3 with an error rate of {fit.error:g}: {shares} "
             f"(log likelihood {fit.log_likelihood:.1f})")  # fmt: skip


def _value_cells(value: Estimate | float) -> dict[str, str]:
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
@click.option("--out", required=True, type=click.Path(path_type=Path), help="CSV file to write.")
def choices(path: Path, out: Path) -> None:
    """Write one row per choice in PATH: the game, the choice, the payoffs against the people in the
    other role, and the choices of levels 1 and above."""
    record = read(path)
    table = figures.table_of(record.choices, Crowds(record.choices))
    levels = figures.levels(table)
    cells = ("AC", "AD", "BC", "BD")
    head = ["person", "trial", *(f"own_{c}" for c in cells), *(f"other_{c}" for c in cells)]
    head += ["choice", "kind", "value_A", "value_B", "people_across"]
    head += [f"level_{k}" for k in range(1, len(levels))]
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        for n, choice in enumerate(record.choices):
            picks = ["tie" if row[n] == 0.5 else "BA"[int(row[n])] for row in levels[1:]]
            values = [f"{v:.6g}" for v in table.values[n]]
            kind = KINDS[table.kind[n]]
            writer.writerow([choice.person, choice.trial,
                             *choice.own_payoffs, *choice.other_payoffs,
                             "AB"[choice.row], kind, *values, table.crowd[n], *picks])  # fmt: skip
    echo(f"{len(record.choices)} choices were written to {out}.")


@COMMANDS.command("study")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="TOML file to write.")
@click.option(
    "--games",
    default=100,
    type=PLAYED,
    show_default=True,
    help="Number of games to draw at random; the two roles of a game count as two.",
)
@least_option
def study(path: Path, out: Path, games: int, least: int) -> None:
    """Write a study in which models play the games of PATH against the choices recorded from people
    in the other role.

    Each game is played twice, once with its rows exchanged, so a player that always takes the upper
    row gains no more than random play and has a score of 0. The file contains published payoffs:
    check their licence before you share it.
    """
    record = read(path)
    crowds = Crowds(record.choices)
    drawn_roles = sorted(crowds.roles, key=lambda role: sha256(repr(role).encode()).digest())
    lines = [
        'name = "zhu2024_games"',
        'about = "2x2 games played once, against the odds of the people across"',
    ]
    written = 0
    for role in drawn_roles:
        other_role, rows = exchange_roles(role)
        counts = [crowds.taken[other_role, column ^ rows] for column in (0, 1)]
        if written < games and sum(counts) >= max(1, least):
            written += 1
            lines += _cell(written, role, (counts[0], counts[1]))
    if not written:
        raise BadInput(
            f"No game of {path} was played by at least {least} people in the other role."
        )
    out.write_text("\n".join(lines) + "\n", "utf-8")
    echo(f"{written} games, each in two orders: `sally run {out} --model NAME --out DIR` plays "
         f"them, `sally paper zhu2024 scale DIR --people {path}` scores them.")  # fmt: skip


def _cell(number: int, role: Role, across: tuple[int, int]) -> list[str]:
    """Return one cell of a study as lines of TOML: one game with its rows in both orders."""
    columns = sha256(b"columns" + repr(role).encode()).digest()[0] % 2
    odds = [across[c ^ columns] / sum(across) for c in (0, 1)]
    lines = [
        "",
        "[[cells]]",
        f'name = "{number:04d} {kind_of(role)}"',
        'arms = { agent = ["their_move"] }',
    ]
    for rows in (0, 1):
        order = [2 * (r ^ rows) + (c ^ columns) for r in (0, 1) for c in (0, 1)]
        own_pays, other_pays = tuple(role[i] for i in order), tuple(role[4 + i] for i in order)
        params = params_of(own_pays, other_pays)
        params_text = ", ".join(
            f"{k} = {msgspec.json.encode(v).decode()}" for k, v in params.items()
        )
        lines += [
            "[[cells.instances]]",
            f'id = "{ID}:game {number:04d}:{rows + 1}"',
            'game = "repeated_games"',
            f"params = {{ {params_text} }}",
        ]
    return [
        *lines,
        "[[cells.lineups]]",
        'agent = { player = "language", params = { model = "model", strategy = "qa" } }',
        f'partner = {{ player = "mixed", params = {{ odds = {odds} }} }}',
    ]


@COMMANDS.command("scale")
@click.argument("places", nargs=-1, required=True, metavar="STORE...")
@click.option(
    "--people",
    type=click.Path(path_type=Path),
    help="Published file or checkout: also show people and rules on the games that were played.",
)
@json_option
def scale(places: tuple[str, ...], people: Path | None, as_json: bool) -> None:
    """Print the scores for doing (gains) and knowing (predictions), measured against the people in
    the other role, for every player (people and models) in the given stores."""
    games = list[Played]()
    for place in places:
        with open_store(place) as (folder, _):
            games += games_in(folder, "repeated_games", quarantine=False)
    scaled_players = scale_players(games)
    if not scaled_players:
        raise BadInput(f"{', '.join(places)} contains no one-shot game against a `mixed` partner.")
    rows = [_on_scale(name, scaled_player) for name, scaled_player in scaled_players.items()]
    if people is not None:
        record = read(people)
        source = msgspec.to_builtins(record.source)
        crowds, roles = Crowds(record.choices), roles_of(games)
        same_games = [
            as_episode(choice, crowds.across(choice), source)
            for choice in record.choices
            if canonical(choice.own_payoffs, choice.other_payoffs)[0] in roles
        ]
        them = scale_players(list(map(replay_for_measures, same_games)), LEAST)
        for crowd in them.values():
            rows.append(_on_scale("people on these games", crowd))
            rows += [
                {"player": name, "choices": value.n, "doing": value.value,
                 "interval": value.interval}
                for name, value in rules(crowd.table).items()
            ]  # fmt: skip
    title = "Against the crowd: 0 even odds, 1 best reply (doing) or the choice of most (knowing)"
    print_rows(rows, as_json, title)


def _on_scale(name: str, scaled_player: Scaled) -> dict[str, Any]:
    knowing = scaled_player.knowing
    return {
        "player": name,
        "choices": scaled_player.choices,
        "forfeits": scaled_player.forfeits,
        "doing": scaled_player.doing.value,
        "interval": scaled_player.doing.interval,
        "upper row": scaled_player.first_row,
        "answers": scaled_player.answers,
        "unread": scaled_player.unread,
        "knowing": None if knowing is None else knowing.value,
        "its interval": None if knowing is None else knowing.interval,
        "acts on it": scaled_player.acts_on_it,
    }
