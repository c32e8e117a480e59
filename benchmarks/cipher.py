"""Figures of Cipher: encoders against interceptors, private links, wrong models, a channel.

`python benchmarks/cipher.py` plays 60 games a cell; `--confusion` prints the confusion of the
interceptor by history against `nearest` over 400 games; `--links`, `--certified`, `--channel` and
`--learner` print one table each; `--seconds` times 100 episodes. Intervals are 95%, with matches of
four games as clusters.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.cipher.listeners import CODES
from sally.games.cipher.rules import Hinted, Over, Revealed
from sally.games.cipher.spec import numbers
from sally.runner.seating import players_of, resolve_setup
from sally.stats.cluster_interval import ratio_by_rule
from sally.studies.cipher import CONFUSION, LINKS

Who = tuple[str, dict[str, Any]]
ENCODERS: list[Who] = [
    ("nearest", {}),
    ("same", {}),
    ("top16", {}),
    ("crossing", {}),
    ("crossing", {"against": "bayes"}),
    ("adapts", {}),
    ("anything", {}),
]
MINDLESS: list[Who] = [("decoy", {}), ("hub", {}), ("loner", {}), ("random", {})]
INTERCEPTORS = ("by_history", "by_bayes", "random")
ROWS = 15  # of four games


def played(row: int, params: dict[str, Any] | None = None, **who: Who) -> Played:
    """One episode of four games."""
    spec = registry.game("cipher")
    lineup = {seat: PlayerSpec(*each) for seat, each in who.items()}
    instance = Instance(f"cipher {row}", "cipher", {"number": row, **(params or {})})
    match = Match(spec, resolve_setup(Setup(instance, row, lineup)))
    Driver(match, players_of(match, match.setup.lineup)).run()
    episode = match.episode()
    return Played(spec, episode, replay_episode(spec, episode))


def share(hits: list[int], trials: list[int]) -> str:
    """A share of counts with its interval; each pair of counts is one match."""
    found = ratio_by_rule(hits, trials, range(len(hits)), (0.0, 1.0))
    assert found.low is not None
    assert found.high is not None
    return f"{found.value:.0%} [{found.low:.0%}, {found.high:.0%}]"


def line(name: str, episodes: list[Played]) -> None:
    """Print one cell: wins with their interval, rounds, tokens, bits, regret."""
    logs = [[e.how for e in one.replay.states[-1].log if isinstance(e, Over)] for one in episodes]
    wins, games = [each.count("survived") for each in logs], [len(each) for each in logs]
    shown = [e for one in episodes for e in one.replay.states[-1].log if isinstance(e, Revealed)]
    won, n = sum(wins), sum(games)
    caught = sum(e.interceptor == e.code for e in shown) / len(shown)
    missed = sum(e.decoder != e.code for e in shown) / len(shown)
    parts = [
        f"{name}: won {won}/{n} = {share(wins, games)}",
        f"rounds {len(shown) / n:.1f}",
        f"intercepted {caught:.0%}",
        f"miscommunicated {missed:.0%}",
    ]
    for metric in ("bits_left", "bits_given", "hint_regret", "modelling_lost", "play_lost"):
        measure = registry.metrics("cipher")[f"cipher_{metric}"].measure
        values = [v for one in episodes if (v := measure(one, Seat("encoder"))) is not None]
        parts += [f"{metric} {np.mean(values):.3f}"] if values else []
    print(", ".join(parts), flush=True)


def table(rows: int = ROWS) -> None:
    """The protocol's table, on our frozen games."""
    for name, params in ENCODERS:
        for interceptor in INTERCEPTORS:
            who = {"encoder": (name, params), "decoder": ("by_keywords", {})}
            episodes = [played(r, interceptor=(interceptor, {}), **who) for r in range(rows)]
            line(f"{name} {params or ''} against {interceptor}", episodes)


def links(rows: int = ROWS) -> None:
    """Encoder and decoder share private links; the interceptor has plain sense."""
    for name in ("nearest", "crossing"):
        for amount in (0.0, 2.0, 4.0):
            mind = {**LINKS, "amount": amount}
            who = {"encoder": (name, mind), "decoder": ("by_keywords", mind)}
            episodes = [played(r, interceptor=("by_history", {}), **who) for r in range(rows)]
            line(f"{name}, links {amount:g}", episodes)


def certified(rows: int = 50) -> None:
    """Certified decisions: the right model, the wrong one, and none."""
    for name, params in ENCODERS + MINDLESS:
        for interceptor in INTERCEPTORS[:2]:
            who = {"encoder": (name, params), "decoder": ("by_keywords", {})}
            params_ = {"set": "which", "rounds": 1, "tokens": 1}
            episodes = [
                played(r, params_, interceptor=(interceptor, {}), **who) for r in range(rows)
            ]
            line(f"certified, {name} {params or ''} against {interceptor}", episodes)


def confusion(rows: int = 100) -> list[list[float]]:
    """By round, how often 0, 1, 2 and 3 places of the interceptor's guess were right."""
    counts = np.zeros((8, 4))
    for row in range(rows):
        who = {"encoder": ("nearest", {}), "decoder": ("by_keywords", {})}
        one, n = played(row, interceptor=("by_history", {}), **who), 0
        for event in one.replay.states[-1].log:
            if isinstance(event, Over):
                n = 0
            if isinstance(event, Revealed):
                pairs = zip(str(event.code), str(event.interceptor), strict=True)
                counts[n, sum(a == b for a, b in pairs)] += 1
                n += 1
    for n, row_ in enumerate(counts, 1):
        print(f"round {n}: {row_.astype(int).tolist()} of {int(row_.sum())}")
    later = counts[1:].sum(axis=0)
    both = [counts[0] / counts[0].sum(), later / later.sum()]
    print("first round, later rounds:", [[round(float(p), 4) for p in each] for each in both])
    return [each.tolist() for each in both]


def channel(rows: int = ROWS) -> None:
    """A mechanism with the confusion of the interceptor by history."""
    for name, params in ENCODERS:
        who = {"encoder": (name, params), "decoder": ("by_keywords", {})}
        given = {"channel": [list(row) for row in CONFUSION]}
        episodes = [played(r, given, interceptor=("channel", {}), **who) for r in range(rows)]
        line(f"mechanism, {name} {params or ''}", episodes)


def learner(rows: int = 60, held_out: int = 40) -> None:
    """A linear interceptor that learns from revealed codes how ties speak for digits.

    It sees what `numbers` gives to any learner (ties of the hints to those of earlier rounds, codes
    left, tokens) and learns one weight of a tie by gradient steps on the log chance of the code.
    """
    codes = [tuple(int(sign) - 1 for sign in str(code)) for code in CODES]
    for name in ("nearest", "top16", "crossing"):
        weight = 0.0
        right, asked, even = [], [], []
        for row in range(rows + held_out):
            who = {"encoder": (name, {}), "decoder": ("by_keywords", {})}
            one = played(row % 100, interceptor=("by_history", {}), **who)
            replay = one.replay
            right.append(0)
            asked.append(0)
            for turn, state in enumerate(replay.states):
                if not state.hints or not isinstance(state.log[-1], Hinted):
                    continue
                seen = np.array(numbers(replay.game, replay.view(turn, Seat("interceptor"))))
                ties, left = seen[:12].reshape(3, 4), seen[12:36] > 0
                sums = np.array([sum(ties[j, d] for j, d in enumerate(code)) for code in codes])
                logits = np.where(left, weight * sums, -np.inf)
                odds = np.exp(logits - logits.max())
                odds /= odds.sum()
                true = CODES.index(state.code)
                if row < rows:
                    weight += 0.5 * float(sums[true] - (odds * sums).sum())
                else:
                    right[-1] += int(np.argmax(odds) == true)
                    asked[-1] += 1
                    even.append(1 / int(left.sum()))
        found = share(right[rows:], asked[rows:])
        print(f"learner against {name}: weight {weight:.1f}, right {found}, guessing "
              f"{np.mean(even):.1%}", flush=True)  # fmt: skip


def seconds() -> None:
    """Time of 100 episodes of four games."""
    for name in ("nearest", "crossing"):
        began = time.process_time()
        for row in range(25):
            who = {"encoder": (name, {}), "decoder": ("by_keywords", {})}
            played(row, interceptor=("by_history", {}), **who)
        print(f"{name}: {40 * (time.process_time() - began):.0f} ms of one core an episode")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    choices = {
        "table": table,
        "links": links,
        "certified": certified,
        "confusion": confusion,
        "channel": channel,
        "learner": learner,
        "seconds": seconds,
    }
    for name in choices:
        parser.add_argument(f"--{name}", action="store_true")
    given = parser.parse_args()
    wanted = [name for name in choices if getattr(given, name)] or ["table"]
    for name in wanted:
        choices[name]()


if __name__ == "__main__":
    main()
