"""People, models of the GPT-4 class, learners and bots side by side, from imported stores.

    sally import akata2025 PATH --out akata
    sally import brockbank2024 PATH --out brockbank
    python benchmarks/recorded_play.py akata brockbank > docs/results/appendix/recorded_play.md

Learners and bots are played here on the same settings; only aggregates are printed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sally import store
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.frames.measured_seat import person_of
from sally.games.repeated_games.conduct import (
    alternation,
    exploitation,
    forgiveness,
    retaliation,
)
from sally.games.repeated_games.optimum import machine_of
from sally.games.repeated_games.regret import functional_regret
from sally.games.repeated_games.rounds import rewards, rounds
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame, other_seat
from sally.runner.seating import players_of, resolve_setup
from sally.stats.intervals import FEW, Estimate, clustered_ratio_interval, share_interval

REPEATS = 20  # games of each learner and bot on each setting
BESIDE = ("tabular", "random", "win_stay_lose_shift")
MODELS = ("gpt4", "gpt35", "gpt3", "claude", "llama2")
SEED = 1
TEN = 10  # rounds of all games with people in akata2025

CONDITIONAL = {
    rate.__name__: rate for rate in (retaliation, forgiveness, exploitation, alternation)
}


class Seen(msgspec.Struct, frozen=True):
    """One seat of one episode in a few numbers."""

    group: str
    partner: str
    player: str
    cluster: str
    won: float  # rounds won, of `rounds`
    rounds: int
    points: float
    earned: float  # above what a random player expects
    room: float  # what the optimum earns above that; 0 where no optimum is known
    rates: Mapping[str, tuple[int, int]]


def laid_open(episode: Episode) -> Played:
    spec = registry.game(episode.setup.instance.game)
    return Played(spec, episode, replay_episode(spec, episode))


def at_random(game: RepeatedGame, seat: Seat, player: PlayerSpec, length: int) -> float:
    """What an evenly random player expects in so many rounds against a finite machine."""
    partner = registry.partners("repeated_games")[player.player]
    assert partner.automaton is not None
    machine = machine_of(game, seat, partner.automaton(game, other_seat(seat), **player.params))
    moves, other_moves = game.moves_of(seat), game.moves_of(other_seat(seat))
    state_odds, total = np.zeros(len(machine.odds)), 0.0
    state_odds[0] = 1.0
    for _ in range(length):
        next_odds = np.zeros_like(state_odds)
        for state, chance in enumerate(state_odds):
            for their in other_moves if chance else ():
                p = chance * machine.odds[state, their] / len(moves)
                for own_move in moves if p else ():
                    total += p * game.pay(seat, own_move, their)
                    next_odds[machine.next_states[state, their, own_move]] += p
        state_odds = next_odds
    return total


def measure_seat(group: str, player: str, played: Played, seat: Seat) -> Seen:
    setup, game = played.episode.setup, played.replay.game
    assert isinstance(game, RepeatedGame)
    them = setup.lineup[other_seat(seat)]
    played_rounds, earned = rounds(played, seat), rewards(played, seat)
    regret = functional_regret(played, seat)
    zero = at_random(game, seat, them, len(earned)) if regret is not None else 0.0
    won = sum(
        r.own_move is not None
        and r.other_move is not None
        and game.pay(seat, r.own_move, r.other_move)
        > game.pay(other_seat(seat), r.other_move, r.own_move)
        for r in played_rounds
    )
    rates = {n: (r.times, r.of) for n, rate in CONDITIONAL.items() if (r := rate(played, seat))}
    return Seen(
        group,
        label(them),
        player,
        person_of(setup, seat) or f"{setup.instance.id} {label(them)} {setup.repeat}",
        won,
        len(played_rounds),
        sum(earned),
        sum(earned) - zero,
        0.0 if regret is None else sum(earned) + regret * len(earned) - zero,
        rates,
    )


def label(player: PlayerSpec) -> str:
    shown_params = {k: v for k, v in player.params.items() if k not in ("name", "participant")}
    name = (
        str(player.params.get("name", player.player))
        if player.player == "recorded"
        else player.player
    )
    return name + "".join(f" {v}" for v in shown_params.values())


def read_recorded(folder: Path) -> Iterator[Seen]:
    """People and models in a store of imported play."""
    for episode in store.load(folder).episodes.values():
        played = laid_open(episode)
        game = episode.setup.instance.game
        if game not in ("rps", "ipd", "ibs"):
            continue
        for seat in (AGENT, PARTNER):
            player = episode.setup.lineup[seat]
            name = str(player.params.get("name")) if player.player == "recorded" else ""
            if name == "human":
                yield measure_seat(game, "people", played, seat)
            elif name in MODELS:
                yield measure_seat(game, name, played, seat)


def beside(episodes: Sequence[Episode]) -> Iterator[Seen]:
    """Learners and bots on the settings of recorded play, where the other side can play."""
    settings: dict[bytes, Setup] = {}
    for episode in episodes:
        partner = episode.setup.lineup[PARTNER]
        if partner.player == "recorded" or episode.setup.instance.game not in ("rps", "ipd", "ibs"):
            continue
        instance = episode.setup.instance
        params = instance.params
        met_setup = Setup(Instance("beside", instance.game, params), 0, {PARTNER: partner})
        settings[msgspec.json.encode((instance.game, params, partner), order="sorted")] = met_setup
    for number, setup in enumerate(settings.values()):
        for name in BESIDE:
            for repeat in range(REPEATS):
                lineup = {AGENT: PlayerSpec(name), PARTNER: setup.lineup[PARTNER]}
                variant = msgspec.structs.replace(
                    setup,
                    seed=SEED + number * REPEATS + repeat,  # luck of its own in every game
                    repeat=repeat,
                    lineup={str(s): w for s, w in lineup.items()},
                )
                yield measure_seat(
                    variant.instance.game, f"{name} (bot)", played_here(variant), AGENT
                )


def played_here(setup: Setup) -> Played:
    spec = registry.game(setup.instance.game)
    setup = resolve_setup(setup)
    match: Match = Match(spec, setup)
    Driver(match, players_of(match)).run()
    return laid_open(match.episode())


# --- the page -------------------------------------------------------------------------------------


def ratio(
    group: Sequence[Seen], above: Callable[[Seen], float], below: Callable[[Seen], float]
) -> str:
    rows = [s for s in group if below(s)]
    if not rows:
        return "-"
    clusters = [s.cluster for s in rows]
    above_, below_ = [above(s) for s in rows], [below(s) for s in rows]
    value = sum(above_) / sum(below_)
    if len(set(clusters)) < FEW:
        return f"{value:.2f}"
    estimate: Estimate = clustered_ratio_interval(
        above_, below_, clusters, seed=SEED, resamples=2000, method="expanded"
    )
    if estimate.low == estimate.high and value in (0.0, 1.0):  # draws know no spread at the edge
        estimate = share_interval(round(value * len(set(clusters))), len(set(clusters)))
    return f"{value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def table(
    everything: Sequence[Seen], by: Sequence[str], columns: Mapping[str, Any]
) -> Iterator[str]:
    heads = [*by, "n", "clusters", *columns]
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    groups: dict[tuple[str, ...], list[Seen]] = {}
    for record in everything:
        groups.setdefault(tuple(str(getattr(record, b)) for b in by), []).append(record)
    for key in sorted(groups):
        members = groups[key]
        cells = [ratio(members, above, below) for above, below in columns.values()]
        if any(cell != "-" for cell in cells):
            count = [str(len(members)), str(len({s.cluster for s in members}))]
            yield "| " + " | ".join([*key, *count, *cells]) + " |"


def rate(name: str) -> tuple[Callable[[Seen], float], Callable[[Seen], float]]:
    return (lambda s: s.rates.get(name, (0, 0))[0]), (lambda s: s.rates.get(name, (0, 0))[1])


DOING = ((lambda s: s.earned if s.room > 0 else 0.0), (lambda s: max(s.room, 0.0)))
WON = ((lambda s: s.won), (lambda s: s.rounds))
POINTS = ((lambda s: s.points), (lambda s: s.rounds))


def page(everything: Sequence[Seen], people: int, games: int) -> Iterator[str]:
    rps = [s for s in everything if s.group == "rps"]
    two = [s for s in everything if s.group in ("ipd", "ibs")]
    yield "# Appendix: people, models, learners and bots side by side"
    yield ""
    yield (
        f"This page compares players in {games} recorded games of "
        "[akata2025](../../papers/akata2025.md) and "
        "[brockbank2024](../../papers/brockbank2024.md), "
        f"played by {people} people and by models. For comparison, a learner (`tabular`) and two "
        "bots (`random` and `win_stay_lose_shift`) played the same games against the same bots; "
        "the tables mark all three with `(bot)`. The column `group` names the game: `rps` (rock, "
        "paper, scissors), `ipd` (the repeated prisoner's dilemma) or `ibs` (the repeated battle "
        "of the sexes). *Doing* puts the payoff on a scale from 0 (a uniformly random player) to 1 "
        "(the exact optimum against the partner, over the rounds that were played); a dash means "
        "that there is no such figure. "
        "Square brackets contain 95% intervals from a bootstrap over clusters, which are people, "
        "or games if no person played (Wilson's interval if all values are equal); rows with "
        f"fewer than {FEW} clusters have no interval, and `n` is the number of games."
    )
    yield ""
    yield (
        "In Sally's documentation, this page covers the full record of akata2025 and a sample of "
        "about a third of brockbank2024, whose full record was not available; how the sample was "
        "drawn is not known. Each bot was met by 4 to 14 people, but 20 times by the learner and "
        "by each of the two bots, so the players in the overview met different mixtures of "
        "partners. To compare people with other players, use the second table, which has separate "
        "rows for each partner. `python benchmarks/recorded_play.py AKATA BROCKBANK` prints this "
        "page for any two stores; see [how to import recorded play](../../how-to/recorded_play.md)."
    )
    yield ""
    yield "## Overview"
    with_room = [s for s in everything if s.room > 0]
    yield from table(with_room, ("group", "player"), {"doing": DOING})
    yield ""
    yield "## Rock, paper, scissors, by bot"
    yield from table(rps, ("partner", "player"), {"won": WON, "doing": DOING})
    yield ""
    yield "## People and models in one setting: against GPT-4"
    yield (
        "The table gives points per round in the prisoner's dilemma (`ipd`) and the battle of the "
        "sexes (`ibs`), over ten rounds with the same payoffs. People met two variants of GPT-4, "
        "unmodified and prompted to predict first, one of which was drawn at random in every "
        "round. Models met one variant throughout, and each pair of models played one game in "
        "each assignment of seats, so the rows of models have no interval, and a difference "
        "between models and people cannot be tested. No model played the bots that people met in "
        "rock, paper, scissors, and no person played the bots that models met in the dilemma."
    )
    yield ""
    against_gpt4 = [s for s in two if s.partner.startswith(("gpt4", "gpt-4")) and s.rounds == TEN]
    yield from table(against_gpt4, ("group", "player"), {"points per round": POINTS})
    yield ""
    yield "## Conditional behaviour"
    yield (
        "Retaliation, forgiveness and exploitation are measured in the dilemma, alternation "
        "(taking turns) in the battle of the sexes ([definitions]"
        "(../../how-to/recorded_play.md#measures-of-behaviour)). Each is a share of the rounds in "
        "which it could happen, over all partners."
    )
    yield ""
    yield from table(two, ("group", "player"), {name: rate(name) for name in CONDITIONAL})


def main(folders: Sequence[str]) -> None:
    episodes = [e for folder in folders for e in store.load(Path(folder)).episodes.values()]
    everything = [s for folder in folders for s in read_recorded(Path(folder))] + list(
        beside(episodes)
    )
    people = len({s.cluster for s in everything if s.player == "people"})
    print("\n".join(page(everything, people, len(episodes))))


if __name__ == "__main__":
    main(sys.argv[1:])
