"""Rounds a second of the text environment and the PettingZoo shell, beside TextArena and rps_v2.

    python benchmarks/text_env.py [--rounds 10] [--seconds 2] [--many 1024]

A round is counted, not a step: a step of ours is a whole round, in which the partner moves too and
the exact regret is worked out; a step of TextArena's is one seat's message, so a round of its RPS
takes two, and of its dilemma four (it has each seat say something before it decides). Both sides
make the whole page at each step and play as many rounds. Ours also keeps a log that replays.

The peers are measured where they are installed (`pip install textarena 'pettingzoo[classic]'`), in
turns with ours in one run, so that a busy machine is as busy for both. Prints ratios, gates on
nothing. With `--many`, so many environments are stepped side by side and memory is read after each
round of episodes: it must not grow.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import time
from collections.abc import Callable
from typing import Any

import msgspec

from sally.adapters.text import TextEnv, TextEnvs
from sally.core.chance import derived_seed

Round = Callable[[], int]  # plays an episode, says how many rounds it had


def ours(game: str, rounds: int = 10) -> Round:
    """An episode against a training partner, always with the first option."""
    env = TextEnv(game)
    tasks = [
        msgspec.structs.replace(
            task,
            instance=msgspec.structs.replace(
                task.instance, params={**task.instance.params, "rounds": rounds}
            ),
        )
        for task in env.split.part("train")
    ]
    seeds = iter(range(10**9))

    def episode() -> int:
        seed = next(seeds)
        env.begin(tasks[seed % len(tasks)], seed)
        reply, steps, done = f"Option: {env.task.instance.params['names'][0]}", 0, False
        while not done:
            _, _, done, _ = env.step(reply)
            steps += 1
        return steps

    return episode


def textarena(name: str, action: str, rounds: int) -> Round:
    """An episode of TextArena's wrapped game, both sides with one fixed reply."""
    import textarena as ta  # type: ignore[import-not-found]

    def episode() -> int:
        env = ta.make(name, num_rounds=rounds)  # comes wrapped for language models
        env.reset(num_players=2)
        done = False
        while not done:
            env.get_observation()
            done, _ = env.step(action=action)
        env.close()
        return rounds

    return episode


def at_once(env: Any) -> Round:
    """Episodes of a parallel environment in which everybody takes the first option."""

    def episode() -> int:
        env.reset(seed=1)
        steps = 0
        while env.agents:
            env.step(dict.fromkeys(env.agents, 0))
            steps += 1
        return steps

    return episode


def pettingzoo_ours(pages: bool) -> Round:
    from sally.adapters.pettingzoo import SimultaneousEnv

    env = SimultaneousEnv("rps", rounds=15, pages=pages)

    return at_once(env)


def pettingzoo_peer() -> Round:
    from pettingzoo.classic import rps_v2  # type: ignore[import-untyped]

    env = rps_v2.parallel_env(max_cycles=15)

    return at_once(env)


def interleaved(pair: dict[str, Round], seconds: float) -> dict[str, float]:
    """Rounds a second of each, in turns of one episode."""
    steps, spent = dict.fromkeys(pair, 0), dict.fromkeys(pair, 0.0)
    for play in pair.values():
        play()  # what is made once is made now
    while min(spent.values()) < seconds:
        for name, play in pair.items():
            began = time.process_time()
            steps[name] += play()
            spent[name] += time.process_time() - began
    return {name: steps[name] / spent[name] for name in pair}


def many(n: int, times: int = 5) -> list[int]:
    """Peak memory in MiB after each time that n environments have played an episode."""
    envs = TextEnvs(lambda: TextEnv("rps", strategy="lm", sample=True), n)
    peaks = []
    for time_ in range(times):
        envs.reset([derived_seed("bench", time_, i) for i in range(n)])
        while waiting := envs.asked():
            envs.step({i: [-1.0] * len(asked.candidates) for i, asked in waiting.items()})
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    return peaks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="of processor time, for each")
    parser.add_argument("--rounds", type=int, default=10, help="of an episode of text")
    parser.add_argument("--many", type=int, default=0)
    given = parser.parse_args()
    pairs: list[tuple[str, dict[str, Round]]] = []
    for game, peer, action in (
        ("rps", "IteratedRockPaperScissors-v0", "[rock]"),
        ("ipd", "IteratedPrisonersDilemma-v0", "[Cooperate]"),
    ):
        pair = {f"sally {game}": ours(game, given.rounds)}
        if importlib.util.find_spec("textarena"):
            pair[f"textarena {peer}"] = textarena(peer, action, given.rounds)
        pairs.append((f"text, {game}, {given.rounds} rounds", pair))
    if importlib.util.find_spec("pettingzoo"):
        for pages in (False, True):
            told = "with pages" if pages else "without pages"
            pair = {f"sally rps, parallel, full log, {told}": pettingzoo_ours(pages)}
            if importlib.util.find_spec("pygame"):
                pair["pettingzoo rps_v2"] = pettingzoo_peer()
            pairs.append(("PettingZoo, 15 rounds", pair))
    for title, pair in pairs:
        rates = interleaved(pair, given.seconds)
        print(title)
        for name, rate in rates.items():
            print(f"  {name}: {rate:,.0f} rounds/s of processor time")
        if len(rates) > 1:
            mine, peer_rate = rates.values()
            print(f"  ratio: {mine / peer_rate:.1f}")
    if given.many:
        print(f"{given.many} environments, MiB at the most after each: {many(given.many)}")


if __name__ == "__main__":
    main()
