"""Reading a log back: the moves alone (`replayed`), as metrics do, against through a match."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from sally.api.play import play
from sally.core.log.events import Episode
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.rules.game import GameSpec

GAMES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("ipd", {"rounds": 100}),
    ("mindgames", {}),
    ("hanabi", {}),
    ("tradecraft", {}),
)
TIMES = 10
Spec = GameSpec


def through_a_match(spec: Spec, episode: Episode) -> None:
    Driver(Match(spec, episode.setup, ask_nature=True)).replay(episode)


def seconds(run: Callable[[Spec, Episode], object], spec: Spec, episode: Episode) -> float:
    began = time.process_time()  # of the processor, so a busy machine matters less
    run(spec, episode)
    return time.process_time() - began


def main() -> None:
    for name, params in GAMES:
        spec = registry.games()[name]
        episode = play(name, dict.fromkeys(spec.build(params).seats, "random"), 1, **params)
        pairs = [
            [seconds(run, spec, episode) for run in (replay_episode, through_a_match)]
            for _ in range(TIMES)
        ]
        alone, through_match = (min(times) for times in zip(*pairs, strict=True))
        print(
            f"{name}: {alone * 1e3:.2f} ms; through a match {through_match / alone:.1f} times "
            "as long"
        )


if __name__ == "__main__":
    main()
