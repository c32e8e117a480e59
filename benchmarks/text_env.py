"""Rounds a second of the text environment and the PettingZoo shell, beside TextArena and rps_v2.

    python benchmarks/text_env.py [--rounds 10] [--seconds 2] [--many 1024]

A round is counted, not a step: a step of ours is a whole round, in which the partner moves too and
the exact regret is worked out; a step of TextArena's is one seat's message, so a round of its RPS
takes two, and of its dilemma four (it has each seat say something before it decides). Both sides
make the whole page at each step and play as many rounds. Ours also keeps a log that replays; it is
measured twice, without and with the finished line of each episode. Beside them stands the floor:
the same round in plain Python, with the page and the pay, and neither reader, log nor regret.

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

from sally.adapters.trainers.text import TextEnv, TextEnvs
from sally.core.log.events import to_line
from sally.core.rules.chance import derived_seed
from sally.parts.training import Task

TOGETHER = 20  # episodes in plain Python at a time: one is too short to be measured in turns
Round = Callable[[], int]  # plays an episode, says how many rounds it had


def ours(game: str, rounds: int = 10, line: bool = False) -> Round:
    """An episode against a training partner, always with the first option; its line too, or not."""
    env = TextEnv(game)
    tasks = _tasks(env, rounds)
    seeds = iter(range(10**9))

    def episode() -> int:
        seed = next(seeds)
        env.begin(tasks[seed % len(tasks)], seed)
        reply, steps, done = f"Option: {env.task.instance.params['names'][0]}", 0, False
        while not done:
            _, _, done, _ = env.step(reply)
            steps += 1
        if line:
            to_line(env.episode())
        return steps

    return episode


def plainly(rounds: int) -> Round:
    """The floor: a reply looked up, a partner that copies, a line told, a page put together."""
    rules, tail, line_form = (
        "r" * 700,
        "q" * 120,
        "Round {}: you picked {}, the other player picked {}.\n",
    )
    moves, pay = {"Option: J": 0, "Option: F": 1}, ((8.0, 0.0), (10.0, 5.0))

    def episodes() -> int:
        for _ in range(TOGETHER):
            past, last, paid, page = rules, 0, 0.0, ""
            for number in range(rounds):
                own_move, other_move = moves["Option: J"], last
                paid, last = paid + pay[own_move][other_move], own_move
                past += line_form.format(number + 1, "JF"[own_move], "JF"[other_move])
                page = f"{past}This is round {number + 2}.\n{tail}"
        return TOGETHER * rounds if page else 0

    return episodes


def _tasks(env: TextEnv, rounds: int) -> list[Task]:
    """The tasks to learn from, with so many rounds."""
    tasks = []
    for task in env.split.part("train"):
        params = {**task.instance.params, "rounds": rounds}
        problem = msgspec.structs.replace(task.instance, params=params)
        tasks.append(msgspec.structs.replace(task, instance=problem))
    return tasks


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
    from sally.adapters.rl.pettingzoo import SimultaneousEnv

    env = SimultaneousEnv("rps", rounds=15, pages=pages)

    return at_once(env)


def pettingzoo_peer() -> Round:
    from pettingzoo.classic import rps_v2  # type: ignore[import-untyped]

    env = rps_v2.parallel_env(max_cycles=15)

    return at_once(env)


def measure_rates(pair: dict[str, Round], seconds: float) -> dict[str, float]:
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


def measure_memory(n: int, times: int = 5) -> list[int]:
    """Peak memory in MiB after each time that n environments have played an episode."""
    envs = TextEnvs(lambda: TextEnv("rps", strategy="lm", sample=True), n)
    peaks = []
    for time_ in range(times):
        envs.reset([derived_seed("bench", time_, i) for i in range(n)])
        while waiting := envs.asked():
            envs.step({i: [-1.0] * len(ask.candidates) for i, ask in waiting.items()})
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    return peaks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="of processor time, for each")
    parser.add_argument("--rounds", type=int, default=10, help="of an episode of text")
    parser.add_argument("--many", type=int, default=0)
    options = parser.parse_args()
    pairs: list[tuple[str, dict[str, Round]]] = []
    for game, peer, action in (
        ("rps", "IteratedRockPaperScissors-v0", "[rock]"),
        ("ipd", "IteratedPrisonersDilemma-v0", "[Cooperate]"),
    ):
        pair = {f"sally {game}": ours(game, options.rounds)}
        pair[f"sally {game}, the line written"] = ours(game, options.rounds, line=True)
        pair["plain Python, no log"] = plainly(options.rounds)
        if importlib.util.find_spec("textarena"):
            pair[f"textarena {peer}"] = textarena(peer, action, options.rounds)
        pairs.append((f"text, {game}, {options.rounds} rounds", pair))
    if importlib.util.find_spec("pettingzoo"):
        for pages in (False, True):
            page_note = "with pages" if pages else "without pages"
            pair = {f"sally rps, parallel, full log, {page_note}": pettingzoo_ours(pages)}
            if importlib.util.find_spec("pygame"):
                pair["pettingzoo rps_v2"] = pettingzoo_peer()
            pairs.append(("PettingZoo, 15 rounds", pair))
    for title, pair in pairs:
        rates = measure_rates(pair, options.seconds)
        print(title)
        for name, rate in rates.items():
            print(f"  {name}: {rate:,.0f} rounds/s of processor time")
        *own_names, peer = rates
        for name in own_names if "plain" not in peer else ():
            print(f"  {name} / {peer}: {rates[name] / rates[peer]:.2f}")
    if options.many:
        print(
            f"{options.many} environments, MiB at the most after each: "
            f"{measure_memory(options.many)}"
        )


if __name__ == "__main__":
    main()
