"""Figures of Cipher: encoders against interceptors, private links, wrong models, a channel.

`python benchmarks/cipher.py` plays 60 games a cell; `--confusion` prints the confusion of the
interceptor by history against `nearest` over 400 games; `--links`, `--certified`, `--channel` and
`--learner` print one table each; `--seconds` times 100 episodes. Intervals are 95%, with matches of
four games as clusters.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
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
Players = dict[str, Any]  # `Who` by seat
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


def play_match(row: int, params: dict[str, Any] | None = None, **players: Who) -> Played:
    """One episode of four games."""
    spec = registry.game("cipher")
    lineup = {seat: PlayerSpec(*spec_parts) for seat, spec_parts in players.items()}
    instance = Instance(f"cipher {row}", "cipher", {"number": row, **(params or {})})
    match = Match(spec, resolve_setup(Setup(instance, row, lineup)))
    Driver(match, players_of(match, match.setup.lineup)).run()
    episode = match.episode()
    return Played(spec, episode, replay_episode(spec, episode))


def share(hits: list[int], trials: list[int]) -> str:
    """A share of counts with its interval; each pair of counts is one match."""
    estimate = ratio_by_rule(hits, trials, range(len(hits)), (0.0, 1.0))
    assert estimate.low is not None
    assert estimate.high is not None
    return f"{estimate.value:.0%} [{estimate.low:.0%}, {estimate.high:.0%}]"


def line(name: str, episodes: list[Played]) -> None:
    """Print one cell: wins with their interval, rounds, tokens, bits, regret."""
    logs = [
        [e.how for e in played.replay.states[-1].log if isinstance(e, Over)] for played in episodes
    ]
    wins, games = [log.count("survived") for log in logs], [len(log) for log in logs]
    revealed = [
        e for played in episodes for e in played.replay.states[-1].log if isinstance(e, Revealed)
    ]
    won, n = sum(wins), sum(games)
    caught = sum(e.interceptor == e.code for e in revealed) / len(revealed)
    missed = sum(e.decoder != e.code for e in revealed) / len(revealed)
    parts = [
        f"{name}: won {won}/{n} = {share(wins, games)}",
        f"rounds {len(revealed) / n:.1f}",
        f"intercepted {caught:.0%}",
        f"miscommunicated {missed:.0%}",
    ]
    for metric in ("bits_left", "bits_given", "hint_regret", "modelling_lost", "play_lost"):
        measure = registry.metrics("cipher")[f"cipher_{metric}"].measure
        values = [v for played in episodes if (v := measure(played, Seat("encoder"))) is not None]
        parts += [f"{metric} {np.mean(values):.3f}"] if values else []
    print(", ".join(parts), flush=True)


def table(rows: int = ROWS) -> None:
    """The protocol's table, on our frozen games."""
    for name, params in ENCODERS:
        for interceptor in INTERCEPTORS:
            players: Players = {"encoder": (name, params), "decoder": ("by_keywords", {})}
            episodes = [
                play_match(r, interceptor=(interceptor, {}), **players) for r in range(rows)
            ]
            line(f"{name} {params or ''} against {interceptor}", episodes)


def links(rows: int = ROWS) -> None:
    """Encoder and decoder share private links; the interceptor has plain sense."""
    for name in ("nearest", "crossing"):
        for amount in (0.0, 2.0, 4.0):
            mind = {**LINKS, "amount": amount}
            players: Players = {"encoder": (name, mind), "decoder": ("by_keywords", mind)}
            episodes = [
                play_match(r, interceptor=("by_history", {}), **players) for r in range(rows)
            ]
            line(f"{name}, links {amount:g}", episodes)


def certified_table(rows: int = 50) -> None:
    """Certified decisions: the right model, the wrong one, and none."""
    for name, params in ENCODERS + MINDLESS:
        for interceptor in INTERCEPTORS[:2]:
            players: Players = {"encoder": (name, params), "decoder": ("by_keywords", {})}
            params_ = {"set": "which", "rounds": 1, "tokens": 1}
            episodes = [
                play_match(r, params_, interceptor=(interceptor, {}), **players)
                for r in range(rows)
            ]
            line(f"certified, {name} {params or ''} against {interceptor}", episodes)


def confusion(rows: int = 100) -> list[list[float]]:
    """By round, how often 0, 1, 2 and 3 places of the interceptor's guess were right."""
    counts = np.zeros((8, 4))
    for row in range(rows):
        players: Players = {"encoder": ("nearest", {}), "decoder": ("by_keywords", {})}
        played, n = play_match(row, interceptor=("by_history", {}), **players), 0
        for event in played.replay.states[-1].log:
            if isinstance(event, Over):
                n = 0
            if isinstance(event, Revealed):
                pairs = zip(str(event.code), str(event.interceptor), strict=True)
                counts[n, sum(a == b for a, b in pairs)] += 1
                n += 1
    for n, row_ in enumerate(counts, 1):
        print(f"round {n}: {row_.astype(int).tolist()} of {int(row_.sum())}")
    later = counts[1:].sum(axis=0)
    shares = [counts[0] / counts[0].sum(), later / later.sum()]
    print(
        "first round, later rounds:",
        [[round(float(p), 4) for p in share_row] for share_row in shares],
    )
    return [share_row.tolist() for share_row in shares]


def channel(rows: int = ROWS) -> None:
    """A mechanism with the confusion of the interceptor by history."""
    for name, params in ENCODERS:
        players = {"encoder": (name, params), "decoder": ("by_keywords", {})}
        channel_params = {"channel": [list(row) for row in CONFUSION]}
        episodes = [
            play_match(r, channel_params, interceptor=("channel", {}), **players)
            for r in range(rows)
        ]
        line(f"mechanism, {name} {params or ''}", episodes)


def learner(rows: int = 60, held_out: int = 40) -> None:
    """A linear interceptor that learns from revealed codes how ties speak for digits.

    It sees what `numbers` gives to any learner (ties of the hints to those of earlier rounds, codes
    left, tokens) and learns one weight of a tie by gradient steps on the log chance of the code.
    """
    codes = [tuple(int(sign) - 1 for sign in str(code)) for code in CODES]
    for name in ("nearest", "top16", "crossing"):
        weight = 0.0
        right, trials, even = [], [], []
        for row in range(rows + held_out):
            players: Players = {"encoder": (name, {}), "decoder": ("by_keywords", {})}
            played = play_match(row % 100, interceptor=("by_history", {}), **players)
            replay = played.replay
            game: Any = replay.game
            right.append(0)
            trials.append(0)
            for turn, state in enumerate(replay.states):
                if not state.hints or not isinstance(state.log[-1], Hinted):
                    continue
                view: Any = replay.view(turn, Seat("interceptor"))
                observed = np.array(numbers(game, view))
                ties, is_left = observed[:12].reshape(3, 4), observed[12:36] > 0
                sums = np.array([sum(ties[j, d] for j, d in enumerate(code)) for code in codes])
                logits = np.where(is_left, weight * sums, -np.inf)
                odds = np.exp(logits - logits.max())
                odds /= odds.sum()
                true = CODES.index(state.code)
                if row < rows:
                    weight += 0.5 * float(sums[true] - (odds * sums).sum())
                else:
                    right[-1] += int(np.argmax(odds) == true)
                    trials[-1] += 1
                    even.append(1 / int(is_left.sum()))
        share_text = share(right[rows:], trials[rows:])
        print(f"learner against {name}: weight {weight:.1f}, right {share_text}, guessing "
              f"{np.mean(even):.1%}", flush=True)  # fmt: skip


def seconds() -> None:
    """Time of 100 episodes of four games."""
    for name in ("nearest", "crossing"):
        began = time.process_time()
        for row in range(25):
            players: Players = {"encoder": (name, {}), "decoder": ("by_keywords", {})}
            play_match(row, interceptor=("by_history", {}), **players)
        print(f"{name}: {40 * (time.process_time() - began):.0f} ms of one core an episode")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    choices: dict[str, Callable[[], object]] = {
        "table": table,
        "links": links,
        "certified": certified_table,
        "confusion": confusion,
        "channel": channel,
        "learner": learner,
        "seconds": seconds,
    }
    for name in choices:
        parser.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    selected = [name for name in choices if getattr(options, name)] or ["table"]
    for name in selected:
        choices[name]()


if __name__ == "__main__":
    main()
