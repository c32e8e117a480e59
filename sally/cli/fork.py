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
from sally.cli.common import STORE, parse_settings, set_option
from sally.cli.compare import plain
from sally.cli.episodes import find_episode
from sally.core.display.scenes import option_names, texts_of
from sally.core.errors import BadInput, join_names, unknown
from sally.core.log.events import Episode, Injection, label
from sally.core.match.seat_context import SeatContext
from sally.core.registry.objects import as_lineup
from sally.core.rules.game import Seat
from sally.frames.replays import replay_for_measures
from sally.output.tables.console import (
    PATH,
    PLAYED,
    WholeNumber,
    estimate_cell,
    json_option,
    print_json,
    print_table,
    print_text,
)
from sally.runner.fork import Change


@click.command()
@click.argument("episode", type=STORE)
@click.option(
    "--turn",
    required=True,
    type=WholeNumber(least=0),
    help="Step to continue from, numbered as in `sally show`.",
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
    "--repeats",
    default=1,
    type=PLAYED,
    show_default=True,
    help="Number of times each branch is played.",
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
    change = change_of(was, turn, seats, instead, inject, parse_settings(settings))
    description = ", ".join(
        [*seats, *instead, *(f"{message} told" for message in inject), *settings]
    )
    results, new = branches(was, turn, {description or "the same again": change}, repeats)
    if out is not None:
        _keep(out, was, new)
    if as_json:
        print_json({"episode": was.id, "turn": turn, "branches": plain(results)})
        return
    print_table(_rows(results), ["branch", *results[0].payoffs, *_differences(results), "played"])
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
    settings: dict[str, Any],
) -> Change:
    """Return the change that the command's options describe.

    Raises:
        BadInput: An option names an unknown seat or move, or has the wrong form.
    """
    lineup = as_lineup(dict(_pair("seat", option, was) for option in seats))
    for key, value in settings.items():
        seat, dot, name = key.partition(".")
        if not dot or seat not in was.setup.lineup:
            raise BadInput(f"--set takes SEAT.KEY=VALUE here, such as agent.pack=NAME, not {key}.")
        spec = lineup.get(seat, was.setup.lineup[seat])
        lineup[seat] = msgspec.structs.replace(spec, params={**spec.params, name: value})
    injections = tuple(
        Injection(Seat(s), p) for s, p in (_pair("inject", entry, was) for entry in inject)
    )
    moves = {
        s: _move(was, turn, s, name) for s, name in (_pair("instead", i, was) for i in instead)
    }
    return Change(lineup, None, (*was.setup.injections, *injections) if injections else None, moves)


def _pair(option: str, text: str, was: Episode) -> tuple[str, str]:
    seat, equals, value = text.partition("=")
    if not equals or not value:
        raise BadInput(f"--{option} takes SEAT=..., not {text!r}.")
    if seat not in was.setup.lineup:
        raise unknown(f"seat of episode {was.id}", seat, was.setup.lineup)
    return seat, value


def _move(was: Episode, turn: int, seat: str, name: str) -> Any:
    """Return the action with this name among a seat's options at this step."""
    play = replay_for_measures(was)
    if not 0 <= turn < len(play.replay) or seat not in play.replay.moves[turn]:
        raise BadInput(f"{seat} does not move in step {turn} of episode {was.id}.")
    options = play.replay.game.options(play.replay.states[turn], Seat(seat))
    texts = texts_of(was.setup.lineup[seat])
    names = option_names(
        SeatContext(play.spec, play.replay.game, Seat(seat), 0, texts).words, options
    )
    if name not in names:
        raise unknown(f"move of {seat} in step {turn}", name, names)
    return options[names.index(name)]


def _keep(out: Path, was: Episode, new: Sequence[Episode]) -> None:
    """Store the forks and the episode they come from."""
    store.claim(out, store.Manifest(f"forks of {was.id}", ""))
    stored = store.load(out).episodes
    with store.Writer(out) as writer:
        for episode in (was, *new):
            if episode.id not in stored:
                writer.add(episode)


def _rows(results: Sequence[Branch]) -> list[dict[str, Any]]:
    rows = []
    for branch in results:
        row: dict[str, Any] = {"branch": branch.name, "played": len(branch.episodes)}
        row |= {seat: estimate_cell(e.value, e.interval) for seat, e in branch.payoffs.items()}
        for seat, e in branch.difference.items() if branch is not results[0] else ():
            row[f"{seat} difference"] = estimate_cell(e.value, e.interval)
        rows.append(row)
    return rows


def _differences(results: Sequence[Branch]) -> list[str]:
    return [f"{seat} difference" for seat in results[0].payoffs]


# --- why ------------------------------------------------------------------------------------------


@click.command("why")
@click.argument("episode", type=STORE)
@click.option(
    "--seat",
    "seats",
    multiple=True,
    help="Only decisions of this seat [seats that were probed, models and people].",
)
@click.option(
    "--limit",
    default=5,
    type=WholeNumber(),
    show_default=True,
    help="List at most this many decisions.",
)
@click.option(
    "--repeats",
    type=PLAYED,
    help="Evaluate each option by this many rollouts.",
)
@click.option(
    "--by",
    default="",
    metavar="PLAYER",
    help="Player that plays the rollouts [the player itself, if it is a bot].",
)
@json_option
def list_costliest(
    episode: Path | str,
    seats: tuple[str, ...],
    limit: int,
    repeats: int | None,
    by: str,
    as_json: bool,
) -> None:
    """List the costliest decisions, with prediction, truth and best move."""
    was = find_episode(episode)
    decisions = reasons(was, seats, repeats, by)
    if as_json:
        print_json({"episode": was.id, "decisions": msgspec.to_builtins(decisions)})
        return
    if not decisions:
        print_text(
            f"The cost of decisions in this episode of {was.setup.instance.game} is unknown, "
            "because the other players declare no policy; `--repeats 10` estimates it by "
            "rollouts from every option or, if there are many, from the move of each bot."
        )
        return
    for decision in [decision for decision in decisions if decision.loss > 0][:limit]:
        print_text(describe_decision(decision, was))
    dear = sum(decision.loss > 0 for decision in decisions)
    total_loss = sum(decision.loss for decision in decisions)
    print_text(
        f"{dear} of {len(decisions)} decisions lost payoff. The total loss is {total_loss:.4g}, "
        f"evaluated by {join_names(dict.fromkeys(decision.how for decision in decisions), 'and')}."
    )


def describe_decision(decision: DecisionCost, was: Episode) -> str:
    """Return one decision, described in a few lines."""
    spec = was.setup.lineup.get(decision.seat)
    sure = (
        f" {estimate_cell(decision.loss, decision.interval)}"
        if decision.interval
        else f" {decision.loss:.4g}"
    )
    lines = [
        f"step {decision.turn}, {decision.seat} ({label(spec) if spec else '?'}) lost{sure}: "
        f"{decision.did}"
    ]
    if decision.best:
        lines.append(f"  best: {join_names(decision.best, 'or')}")
    for prediction in decision.expected:
        true = "" if prediction.true is None else f"; true: {prediction.true}"
        lines.append(f"  predicted, {prediction.probe}: {prediction.said}{true}")
    return "\n".join(lines)
