"""`sally play`: play a game in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from sally import store
from sally.adapters.terminal import Left, Person
from sally.api.playing import play as play_episode
from sally.cli.common import parsed, set_option
from sally.core.display.scenes import tell
from sally.core.errors import BadInput, unknown
from sally.core.log.events import PlayerSpec
from sally.core.registry import registry
from sally.core.registry.objects import as_player
from sally.core.rules.game import NATURE
from sally.core.terminal_text import echo, harmless
from sally.output.files.transcript import transcript
from sally.output.tables.console import PATH, folded, json_option, print_json, print_text

PERSON = "person"
LANGUAGE = "language"


@click.command()
@click.argument("game")
@click.option("--as", "mine", default="", help="Your seat [the first].")
@click.option(
    "--seat",
    "seats",
    multiple=True,
    metavar="SEAT=PLAYER",
    help="Player of another seat, including helpers such as reader.",
)
@click.option("--probe", "probes", multiple=True, help="Name of a probe to answer while playing.")
@click.option("--seed", default=1, show_default=True)
@click.option("--out", type=PATH, help="Store for the episode.")
@set_option
@json_option
def play(
    game: str,
    mine: str,
    seats: tuple[str, ...],
    probes: tuple[str, ...],
    seed: int,
    out: Path | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Play GAME in the terminal; Ctrl-D leaves."""
    spec = registry.game(game)
    given = parsed(settings)
    params = {key: value for key, value in given.items() if "." not in key}
    built = spec.build(params)
    everyone = built.seats
    helpers = tuple(helper for helper in built.helpers if helper != NATURE)
    seat = mine or everyone[0]
    if seat not in everyone:
        raise unknown(f"seat of {game}", seat, everyone)
    person = Person(lambda text: echo(folded(text), err=as_json), _read(as_json))
    named: dict[str, Any] = {seat: PERSON, **lineup_of(game, (*everyone, *helpers), seats, given)}
    others: dict[str, Any] = {s: PlayerSpec("random") for s in everyone} | named
    lineup = {s: person if who == PERSON else who for s, who in others.items()}
    asked = {seat: probes} if probes else {}
    if out is not None:
        store.require(out, f"play {game}")  # fail before the game rather than after it
    episode = play_episode(game, lineup, seed, probes=asked, **params)
    if out is not None:
        store.claim(out, store.Manifest(f"play {game}", ""))
        with store.Writer(out) as writer:
            writer.add(episode)
    if as_json:
        print_json(msgspec.to_builtins(episode))
        return
    echo("")
    print_text(*tell(episode).after.get(seat, ()))  # what happened after the last move
    *_, last = transcript(episode)
    echo(last.strip())


def lineup_of(
    game: str, seats: Sequence[str], named: Sequence[str], given: dict[str, Any]
) -> dict[str, Any]:
    """Return the players named for seats, with their `SEAT.KEY` parameters.

    Raises:
        BadInput: An option has the wrong form, or names a seat that is unknown or has no player.
    """
    chosen: dict[str, Any] = {}
    for entry in named:
        seat, equals, who = entry.partition("=")
        if not equals:
            raise BadInput(f"--seat takes SEAT=PLAYER, such as partner=tit_for_tat, not {entry!r}.")
        if seat not in seats:
            raise unknown(f"seat of {game}", seat, seats)
        prefix = f"{seat}."
        params = {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)}
        if who == LANGUAGE and "model" not in params:
            raise BadInput(
                f"--seat {entry} needs a model; add --set {seat}.model=embedded, or another model."
            )
        chosen[seat] = who if who == PERSON else as_player((who, params), seat)
    for key in given:
        if "." in key and key.partition(".")[0] not in chosen:
            raise BadInput(
                f"--set {key}: no player is named for seat {key.partition('.')[0]!r}; add --seat."
            )
    return chosen


def _read(quiet: bool) -> Any:
    def read(prompt: str) -> str:
        try:
            typed: str = click.prompt(
                harmless(prompt), prompt_suffix="", default="", show_default=False, err=quiet
            )
        except click.Abort:  # end of input, or Ctrl-C
            raise Left from None
        return typed

    return read
