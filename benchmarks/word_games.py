"""How fast the word games are, and how natural clues fare with the listeners of toma_ag.

`python benchmarks/word_games.py` times the best clue by enumeration and a number of bot games of
each kind; `--table` prints points and regret of givers by partner; `--natural` how a hundred
natural clues fare with each listener (single vectors, senses, senses without the clue's own word).
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.games.association.minds import Mind
from sally.games.codenames import instances as codenames
from sally.games.codenames.solver import best_clue
from sally.games.taboo import instances as taboo
from sally.games.taboo.solver import best_hint
from sally.games.toma.ag import senses
from sally.games.toma.ag.partners import encode_text, heard_as, heard_by_senses
from sally.games.toma.ag.rules import items, judge
from sally.games.wavelength.dials import Dial
from sally.games.wavelength.dials import best_clue as best_word
from sally.runner.seating import players_of, resolve_setup

GIVERS = {"codenames": "giver", "taboo": "giver", "wavelength": "psychic"}
BOTS = {"codenames": "associates", "taboo": "associates", "wavelength": "own_dial"}
PARTNERS: dict[str, list[dict[str, Any]]] = {
    "wavelength": [{}, {"shift": 20.0}, {"stretch": -1.0}, {"lean": 20.0, "who": 1}],
    "taboo": [{}, {"kind": "form", "amount": 0.5}, {"kind": "noise", "amount": 1.0, "who": 1}],
}
PARTNERS["codenames"] = PARTNERS["taboo"]


def play_game(game: str, number: int, giver: str, guesser: dict[str, Any], **params: Any) -> Played:
    """One episode of bots."""
    spec = registry.game(game)
    lineup = {GIVERS[game]: PlayerSpec(giver), "guesser": PlayerSpec(BOTS[game], guesser)}
    instance = Instance(f"{game} {number}", game, {"number": number % 100, **params})
    match = Match(spec, resolve_setup(Setup(instance, number, lineup)))
    Driver(match, players_of(match, match.setup.lineup)).run()
    episode = match.episode()
    return Played(spec, episode, replay_episode(spec, episode))


def milliseconds(calls: list[Callable[[], object]]) -> float:
    """The mean time of some calls, each made once."""
    began = time.perf_counter()
    for call in calls:
        call()
    return 1000 * (time.perf_counter() - began) / len(calls)


def best_clues(n: int = 40) -> dict[str, float]:
    """By game, what the best clue takes when no answer is cached; minds are loaded before."""
    boards = [row[0] for row in codenames.frozen("full").rows[: n + 1]]
    hints = [row[0] for row in taboo.frozen("balanced").rows[: n + 1]]

    def clue(problem: codenames.Problem) -> object:
        pairs = zip(problem.words, problem.key, strict=True)
        return best_clue(Mind(), problem.words, tuple(w for w, c in pairs if c == "own"))

    clue(boards[-1]), best_hint(Mind(), hints[-1]), best_word(Dial(), "cold", "hot", 50)
    return {
        "codenames, 25 cards": milliseconds([lambda b=b: clue(b) for b in boards[:n]]),
        "taboo": milliseconds([lambda h=h: best_hint(Mind(), h) for h in hints[:n]]),
        "wavelength": milliseconds(
            [lambda t=t: best_word(Dial(shift=t), "cold", "hot", 50) for t in range(n)]
        ),
    }


def measure_speed(games: int) -> None:
    for name, took in best_clues().items():
        print(f"best clue, {name}: {took:.1f} ms")
    for game in GIVERS:
        began, used = time.perf_counter(), time.process_time()
        for number in range(games):
            play_game(game, number, BOTS[game], {})
        took, used = time.perf_counter() - began, time.process_time() - used
        print(f"{games} bot games of {game}: {used:.1f} s of one core, {took:.1f} s by the clock")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def table(rows: int) -> None:
    for game, partners in PARTNERS.items():
        for params in partners:
            for giver in (BOTS[game], "adapts"):
                episodes = [play_game(game, n, giver, params) for n in range(rows)]
                cells = [
                    f"{name} {mean(game, name, episodes):.2f}"
                    for name in ("points", "regret", "regret_first", "regret_last")
                ]
                print(f"{game}, guesser {params or 'plain'}, giver {giver}: {', '.join(cells)}")


def mean(game: str, name: str, episodes: list[Played]) -> float:
    metric = registry.metrics(game)[f"{game}_{name}"]
    values = [metric.measure(played, GIVERS[game]) for played in episodes]  # type: ignore[arg-type]
    measured = [value for value in values if value is not None]
    return sum(measured) / len(measured)


def natural() -> None:
    def by_senses(hint: str, clue: str) -> str:
        return heard_by_senses(hint, clue, encode_text)

    def held_out(hint: str, clue: str) -> str:
        return heard_by_senses(hint, clue, encode_text, clue)

    def embedding(hint: str, clue: str) -> str:
        return heard_as(hint, clue, encode_text)

    for hear in (embedding, by_senses, held_out):
        verdicts: Counter[str] = Counter()
        for item in items():
            clue = senses.natural_clues()[item.word]
            verdicts[judge(item, hear(item.b_hint, clue), hear(item.c_hint, clue))] += 1
        print(f"{hear.__name__}: {dict(sorted(verdicts.items()))}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--natural", action="store_true")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=30)
    options = parser.parse_args()
    if options.table:
        table(options.rows)
    elif options.natural:
        natural()
    else:
        measure_speed(options.games)
