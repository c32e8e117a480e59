"""`sally fork` and `sally show --why`: play from a turn on, and the cost of decisions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from sally import store
from sally.analysis.decisions.costs import DecisionCost
from sally.analysis.decisions.rollouts import Branch, branches, reasons
from sally.cli.common import STORE, parsed, set_option
from sally.cli.comparing import plain
from sally.cli.reading import find_episode
from sally.core.display.scenes import option_names, texts_of
from sally.core.errors import BadInput, listed, unknown
from sally.core.log.events import Episode, Injection, label
from sally.core.match.seat_context import SeatContext
from sally.core.registry.objects import as_lineup
from sally.core.rules.game import Seat
from sally.frames.replays import played
from sally.output.tables.console import (
    PATH,
    estimate_cell,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.runner.forking import Change


@click.command()
@click.argument("episode", type=STORE)
@click.option(
    "--turn", required=True, type=int, help="Step to continue from, numbered as in `sally show`."
)
@click.option(
    "--seat",
    "seats",
    multiple=True,
    metavar="SEAT=PLAYER",
    help="Player that takes a seat from that step on.",
)
@click.option(
    "--instead", multiple=True, metavar="SEAT=MOVE", help="Move played by a seat in that step."
)
@click.option(
    "--inject",
    multiple=True,
    metavar="SEAT=PROBE",
    help="Tell a seat the true answer to a probe from that step on.",
)
@click.option(
    "--repeats", default=1, show_default=True, help="Number of times each branch is played."
)
@click.option("--out", type=PATH, help="Store for the new episodes.")
@set_option
@json_option
def fork(
    episode: Path | str,
    turn: int,
    seats: tuple[str, ...],
    instead: tuple[str, ...],
    inject: tuple[str, ...],
    repeats: int,
    out: Path | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Continue an episode from a turn with another player or move.

    The episode is replayed up to that turn, on the same random draws. EPISODE is STORE/ID as for
    `sally show`. `--set agent.pack=NAME` changes the wording.
    """
    was = find_episode(episode)
    if out is not None:
        store.require(out, f"forks of {was.id}")
    change = change_of(was, turn, seats, instead, inject, parsed(settings))
    said = ", ".join([*seats, *instead, *(f"{one} told" for one in inject), *settings])
    found, new = branches(was, turn, {said or "the same again": change}, repeats)
    if out is not None:
        _keep(out, was, new)
    if as_json:
        print_json({"episode": was.id, "turn": turn, "branches": plain(found)})
        return
    print_table(_rows(found), ["branch", *found[0].payoffs, *_differences(found), "played"])
    print_text(
        f"The table shows final payoffs when play continues from step {turn}. The first repeat "
        "uses the random draws of the log; each later repeat uses new draws, the same for all "
        "branches. difference: from the branch `as it was`, over pairs with the same draws; "
        "with fewer than five pairs there is no interval."
    )


def change_of(
    was: Episode,
    turn: int,
    seats: Sequence[str],
    instead: Sequence[str],
    inject: Sequence[str],
    given: dict[str, Any],
) -> Change:
    """Return the change that the command's options describe.

    Raises:
        BadInput: An option names an unknown seat or move, or has the wrong form.
    """
    lineup = as_lineup(dict(_pair("seat", option, was) for option in seats))
    for key, value in given.items():
        seat, dot, name = key.partition(".")
        if not dot or seat not in was.setup.lineup:
            raise BadInput(f"--set takes SEAT.KEY=VALUE here, such as agent.pack=NAME, not {key}.")
        who = lineup.get(seat, was.setup.lineup[seat])
        lineup[seat] = msgspec.structs.replace(who, params={**who.params, name: value})
    told = tuple(Injection(Seat(s), p) for s, p in (_pair("inject", one, was) for one in inject))
    moves = {
        s: _move(was, turn, s, name) for s, name in (_pair("instead", i, was) for i in instead)
    }
    return Change(lineup, None, (*was.setup.injections, *told) if told else None, moves)


def _pair(option: str, given: str, was: Episode) -> tuple[str, str]:
    seat, equals, what = given.partition("=")
    if not equals or not what:
        raise BadInput(f"--{option} takes SEAT=..., not {given!r}.")
    if seat not in was.setup.lineup:
        raise unknown(f"seat of episode {was.id}", seat, was.setup.lineup)
    return seat, what


def _move(was: Episode, turn: int, seat: str, name: str) -> Any:
    """Return the action with this name among a seat's options at this step."""
    whole = played(was)
    if not 0 <= turn < len(whole.replay) or seat not in whole.replay.moves[turn]:
        raise BadInput(f"{seat} does not move in step {turn} of episode {was.id}.")
    options = whole.replay.game.options(whole.replay.states[turn], Seat(seat))
    texts = texts_of(was.setup.lineup[seat])
    names = option_names(
        SeatContext(whole.spec, whole.replay.game, Seat(seat), 0, texts).words, options
    )
    if name not in names:
        raise unknown(f"move of {seat} in step {turn}", name, names)
    return options[names.index(name)]


def _keep(out: Path, was: Episode, new: Sequence[Episode]) -> None:
    """Store the forks and the episode they come from."""
    store.claim(out, store.Manifest(f"forks of {was.id}", ""))
    there = store.load(out).episodes
    with store.Writer(out) as writer:
        for one in (was, *new):
            if one.id not in there:
                writer.add(one)


def _rows(found: Sequence[Branch]) -> list[dict[str, Any]]:
    rows = []
    for one in found:
        row: dict[str, Any] = {"branch": one.name, "played": len(one.episodes)}
        row |= {seat: estimate_cell(e.value, e.interval) for seat, e in one.payoffs.items()}
        for seat, e in one.difference.items() if one is not found[0] else ():
            row[f"{seat} difference"] = estimate_cell(e.value, e.interval)
        rows.append(row)
    return rows


def _differences(found: Sequence[Branch]) -> list[str]:
    return [f"{seat} difference" for seat in found[0].payoffs]


# --- why ------------------------------------------------------------------------------------------


@click.command()
@click.argument("episode", type=STORE)
@click.option(
    "--seat",
    "seats",
    multiple=True,
    help="Only decisions of this seat [seats that were probed, models and people].",
)
@click.option("--limit", default=5, show_default=True, help="List at most this many decisions.")
@click.option(
    "--repeats",
    type=int,
    help="Evaluate each option by this many rollouts.",
)
@click.option(
    "--by",
    default="",
    metavar="PLAYER",
    help="Player that plays the rollouts [the player itself, if it is a bot].",
)
@json_option
def why(
    episode: Path | str,
    seats: tuple[str, ...],
    limit: int,
    repeats: int | None,
    by: str,
    as_json: bool,
) -> None:
    """List the costliest decisions, with prediction, truth and best move."""
    was = find_episode(episode)
    found = reasons(was, seats, repeats, by)
    if as_json:
        print_json({"episode": was.id, "decisions": msgspec.to_builtins(found)})
        return
    if not found:
        print_text(
            f"The cost of decisions in this episode of {was.setup.instance.game} is unknown, "
            "because the other players declare no policy; `--repeats 10` estimates it by "
            "rollouts from every option or, if there are many, from the move of each bot."
        )
        return
    for each in [one for one in found if one.loss > 0][:limit]:
        print_text(told(each, was))
    dear = sum(one.loss > 0 for one in found)
    lost = sum(one.loss for one in found)
    print_text(
        f"{dear} of {len(found)} decisions lost payoff. The total loss is {lost:.4g}, "
        f"evaluated by {listed(dict.fromkeys(one.how for one in found), 'and')}."
    )


def told(each: DecisionCost, was: Episode) -> str:
    """Return one decision, described in a few lines."""
    who = was.setup.lineup.get(each.seat)
    sure = f" {estimate_cell(each.loss, each.interval)}" if each.interval else f" {each.loss:.4g}"
    lines = [f"step {each.turn}, {each.seat} ({label(who) if who else '?'}) lost{sure}: {each.did}"]
    if each.best:
        lines.append(f"  best: {listed(each.best, 'or')}")
    for said in each.expected:
        true = "" if said.true is None else f"; true: {said.true}"
        lines.append(f"  predicted, {said.probe}: {said.said}{true}")
    return "\n".join(lines)
