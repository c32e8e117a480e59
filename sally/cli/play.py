"""`sally play`: play a game in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from sally import store
from sally.adapters.terminal import Left, Person
from sally.api.pair_play import play_pairs, score_episodes
from sally.api.play import play as play_episode
from sally.cli.common import parse_settings, set_option
from sally.core.display.board import board_of
from sally.core.display.reveal import ending_of, ending_text
from sally.core.display.scenes import tell
from sally.core.errors import BadInput, unknown
from sally.core.log.events import Ended, PlayerSpec
from sally.core.match.playback import replay_episode
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.registry.objects import as_player
from sally.core.rules.game import NATURE, Seat
from sally.core.terminal_text import echo, harmless
from sally.output.files.transcript import transcript
from sally.output.tables.console import (
    PATH,
    SEED,
    WholeNumber,
    fold_text,
    json_option,
    print_json,
    print_text,
)

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
@click.option("--pairs", "pair_count", type=WholeNumber(most=500), metavar="COUNT",
              help="Play so many certified pairs of positions, and see your score.")  # fmt: skip
@click.option("--seed", default=1, type=SEED, show_default=True)
@click.option("--out", type=PATH, help="Store for the episode.")
@set_option
@json_option
def play(
    game: str,
    mine: str,
    seats: tuple[str, ...],
    probes: tuple[str, ...],
    pair_count: int | None,
    seed: int,
    out: Path | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Play a game in the terminal; Ctrl-D leaves."""
    if pair_count is not None:
        if mine or seats or probes or settings:
            raise BadInput("--pairs plays fixed positions: leave out --as, --seat, --probe, --set.")
        _play_pairs(game, pair_count, seed, out, as_json)
        return
    spec = registry.game(game)
    values = parse_settings(settings)
    params = {key: value for key, value in values.items() if "." not in key}
    built = spec.build(params)
    everyone = built.seats
    helpers = tuple(helper for helper in built.helpers if helper != NATURE)
    seat = mine or everyone[0]
    if seat not in everyone:
        raise unknown(f"seat of {game}", seat, everyone)
    person = Person(lambda text: echo(fold_text(text), err=as_json), _read(as_json))
    chosen: dict[str, Any] = {seat: PERSON, **lineup_of(game, (*everyone, *helpers), seats, values)}
    others: dict[str, Any] = {s: PlayerSpec("random") for s in everyone} | chosen
    lineup = {s: person if spec == PERSON else spec for s, spec in others.items()}
    seat_probes = {seat: probes} if probes else {}
    if out is not None:
        store.require(out, f"play {game}")  # fail before the game rather than after it
    episode = play_episode(game, lineup, seed, probes=seat_probes, **params)
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
    if isinstance(episode.end, Ended) and episode.end.payoffs:
        echo("")
        replay = replay_episode(spec, episode)
        context = SeatContext(spec, replay.game, Seat(seat), seed)
        board = board_of(context, replay.view(len(replay), context.seat))
        print_text(*ending_text(ending_of(context, replay), board))


def _play_pairs(game: str, count: int, seed: int, out: Path | None, as_json: bool) -> None:
    """Play positions of pairs at the keyboard, store them, and print the score."""
    if out is not None:
        store.require(out, f"pairs of {game}")
    person = Person(lambda text: echo(fold_text(text), err=as_json), _read(as_json))
    episodes = play_pairs(game, person, count, seed)
    if out is not None:
        store.claim(out, store.Manifest(f"pairs of {game}", ""))
        with store.Writer(out) as writer:
            for episode in episodes:
                writer.add(episode)
    score = score_episodes(episodes)
    if as_json:
        print_json(msgspec.to_builtins(score))
        return
    echo("")
    if score.knowing is None or score.doing is None:
        print_text(f"No pair was finished; {2 * count} positions make {count} pairs.")
        return
    pairs = "1 pair" if score.pairs == 1 else f"{score.pairs} pairs"
    print_text(
        f"{pairs}: you predicted {score.knowing.both_right} rightly in both positions "
        f"(J {score.knowing.j.value:.2f}) and played {score.doing.both_right} rightly "
        f"(J {score.doing.j.value:.2f}); {score.known_not_done} known and not done. J is 0 for a "
        "player that ignores the difference, 1 for a perfect one."
    )


def lineup_of(
    game: str, seats: Sequence[str], entries: Sequence[str], values: dict[str, Any]
) -> dict[str, Any]:
    """Return the players named for seats, with their `SEAT.KEY` parameters.

    Raises:
        BadInput: An option has the wrong form, or names a seat that is unknown or has no player.
    """
    chosen: dict[str, Any] = {}
    for entry in entries:
        seat, equals, player = entry.partition("=")
        if not equals:
            raise BadInput(f"--seat takes SEAT=PLAYER, such as partner=tit_for_tat, not {entry!r}.")
        if seat not in seats:
            raise unknown(f"seat of {game}", seat, seats)
        prefix = f"{seat}."
        params = {k.removeprefix(prefix): v for k, v in values.items() if k.startswith(prefix)}
        if player == LANGUAGE and "model" not in params:
            raise BadInput(
                f"--seat {entry} needs a model; add --set {seat}.model=embedded, or another model."
            )
        chosen[seat] = player if player == PERSON else as_player((player, params), seat)
    for key in values:
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
