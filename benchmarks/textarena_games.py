"""Twelve games of TextArena over HTTP with a server that fails, stopped once, resumed, replayed.

    python -m benchmarks.textarena_games --out out/textarena [--deals 1] [--json]

Needs the extra `textarena`. The server answers some calls with 429, 500 or a text without a move.
The first run of `sally run textarena:...` is stopped with Ctrl-C, and the second one continues it.
Exits with 1 if an episode is missing, a game was never played to its end, or a replay differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from threading import Lock

from benchmarks.evaluate_faults import count_stored
from sally import store
from sally.core.log.events import Ended, Forfeited
from sally.runner.check import check
from tests.adapters.inspect.server import RAMBLE, Fault, Handler, serving

GAMES = (
    "Chopsticks-v0",
    "ConnectFour-v0",
    "GameOfPureStrategy-v0",
    "IteratedMatchingPennies-v0",
    "IteratedPrisonersDilemma-v0",
    "IteratedRockPaperScissors-v0",
    "KuhnPoker-v0",
    "Nim-v0",
    "Othello-v0-small",
    "SimpleTak-v0",
    "TicTacToe-v0",
    "WildTicTacToe-v0",
)
LISTS = re.compile(
    r"(?:Available Moves:|Valid moves:|available actions are:|remaining hand:|Please reply|"
    r"respond with one of:|Reply with your choice).*"
)
MOVE = re.compile(r"\[[^\]\n]{1,12}\]")


def choose_move(page: str, chance: float) -> str:
    """Return a move that the texts on a page offer; it may be illegal where they list none."""
    if "Nim" in page:
        piles = re.findall(r"pile (\d): ([1-9]\d*)", page.rpartition("Current Pile:")[2])
        moves = [f"[{pile} {count}]" for pile, size in piles for count in range(1, int(size) + 1)]
    elif "Connect Four" in page:
        moves = [f"[col {column}]" for column in range(7)]
    elif "Chopsticks" in page:
        moves = [
            f"[attack {own_hand} {other_hand}]" for own_hand in (0, 1) for other_hand in (0, 1)
        ]
    else:
        lists = LISTS.findall(page)
        moves = MOVE.findall(lists[-1]) if lists else []
    return moves[int(chance * len(moves))] if moves else "Let us begin."


def unsteady_player(seed: int) -> Fault:
    """Answer most calls with a move, some with 429, 500 or a text without a move."""
    luck, lock = random.Random(seed), Lock()

    def say(handler: Handler) -> None:
        with lock:
            fault_chance, move_chance = luck.random(), luck.random()
        if fault_chance < 0.03:
            handler.send(429, b'{"error": {"message": "slow down"}}', {"retry-after": "0.05"})
        elif fault_chance < 0.06:
            handler.send(500, b'{"error": {"message": "oops"}}')
        elif fault_chance < 0.10:
            handler.say(RAMBLE)
        else:
            page = "\n".join(str(message["content"]) for message in handler.asked["messages"])
            handler.say(choose_move(page, move_chance))

    return say


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--deals", type=int, default=1, help="deals of each game and seat")
    parser.add_argument("--stop", type=int, default=5, help="episodes before Ctrl-C")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # a shell starts background jobs deaf to Ctrl-C, and children inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    exits = []
    with serving(always=unsteady_player(5)) as server:
        config = options.out.parent / "textarena.toml"
        config.write_text(
            f'[models.faulty]\nname = "openai-api/lab/faulty"\nbase_url = "{server.address}"\n'
            'api_key_env = "LAB_KEY"\nat_once = 8\n[limits]\nfirst_wait = 0.05\n'
        )
        command = [sys.executable, "-m", "sally", "run", f"textarena:{','.join(GAMES)}",
                   "--model", "faulty", "--limit", str(options.deals),
                   "--config", str(config), "--out", str(options.out)]  # fmt: skip
        for stop in (options.stop, None):
            run = subprocess.Popen(
                command, env={**os.environ, "LAB_KEY": "abcdefgh"}, stdout=subprocess.DEVNULL
            )
            while run.poll() is None and (stop is None or count_stored(options.out) < stop):
                time.sleep(0.05)
            if run.poll() is None:
                run.send_signal(signal.SIGINT)
            exits.append(run.wait())
        calls = server.calls
    episodes = list(store.load(options.out).episodes.values())
    ended, forfeited = Counter[str](), Counter[str]()
    for episode in episodes:
        game = episode.setup.instance.game
        has_forfeit = any(isinstance(event, Forfeited) for event in episode.events)
        forfeited[game] += has_forfeit
        ended[game] += isinstance(episode.events[-1], Ended) and not has_forfeit
    checked = check(episodes)
    planned = 2 * options.deals * len(GAMES)
    figures = {
        "exit_codes": exits,
        "calls": calls,
        "episodes": len(episodes),
        "wanted": planned,
        "played_to_the_end": dict(sorted(ended.items())),
        "forfeited": dict(sorted(forfeited.items())),
        "replay": str(checked),
    }
    print(json.dumps(figures) if options.json else json.dumps(figures, indent=1))
    is_complete = len(episodes) == planned and sum(n > 0 for n in ended.values()) >= 10
    sys.exit(0 if is_complete and not checked.mismatches else 1)


if __name__ == "__main__":
    main()
