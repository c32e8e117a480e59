"""Hanabi: games a second against two public engines, the same games in both, and a belief's time.

The peers are the Hanabi Learning Environment (HLE) by its own Python interface, and OpenSpiel,
which has the same C++ engine behind other bindings; both deal card by card and draw moves in
Python. With "sees" the mover gets what it may know, as any player must; our match always hands it
over, and logs every event. Seconds are of the processor, so a busy machine matters less.
`python -m benchmarks.hanabi 10000` plays as many games side by side with OpenSpiel.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import Any

import pyspiel

from benchmarks.common import time_in_turns

try:
    from hanabi_learning_environment import pyhanabi
except ImportError:  # its source builds only where CMake takes old projects
    pyhanabi = None

sys.path.insert(0, str(Path(__file__).parent.parent))  # the side-by-side play of the tests

from sally.core.log.events import Instance, PlayerSpec, Setup, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.games.hanabi.belief import count_own_hand
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import shuffle_cards
from sally.players.mindless import Random
from tests.games.hanabi.same_as_open_spiel import difference, loaded
from tests.games.hanabi.sitting import VARIANTS, random_states

GAMES, SIDE_BY_SIDE = 60, 400
DRAWS = random.Random(1)


def ours(players: int, write: bool = False) -> None:
    """Games of random legal moves through the match, with or without the line for the disk."""
    spec, game = registry.game("hanabi"), {"players": players}
    seats = Hanabi(players=players).seats
    for seed in range(GAMES):
        setup = Setup(
            Instance("hanabi", "hanabi", game), seed, {s: PlayerSpec("random") for s in seats}
        )
        match = Match(spec, setup)
        Driver(match, {s: Random() for s in seats}).run()
        if write:
            to_line(match.episode())


def bare(players: int) -> None:
    """The same by the rules alone."""
    game = Hanabi(players=players)
    for deal in range(GAMES):
        state = game.dealt(shuffle_cards(game.cards, deal))
        while not game.is_over(state):
            seat = game.seats[state.mover]
            state = game.step(state, {seat: DRAWS.choice(game.options(state, seat))})


def play_open_spiel(peer: Any, sees: str = "") -> None:
    """OpenSpiel's games; `sees` names what the mover is shown, if anything."""
    for _ in range(GAMES):
        state = peer.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                cards, odds = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(DRAWS.choices(cards, odds)[0])
            else:
                if sees:
                    getattr(state, sees)(state.current_player())
                state.apply_action(DRAWS.choice(state.legal_actions()))


def by_hle(peer: Any) -> None:
    """HLE's games by its Python interface, the mover shown its observation."""
    for _ in range(GAMES):
        state = peer.new_initial_state()
        while not state.is_terminal():
            if state.cur_player() == pyhanabi.CHANCE_PLAYER_ID:
                state.deal_random_card()
            else:
                state.observation(state.cur_player())
                state.apply_move(DRAWS.choice(state.legal_moves()))


def belief_ms(players: int) -> float:
    """Milliseconds for the exact posterior of a hand, over the turns of random games."""
    game = Hanabi(players=players)
    views = [
        game.observe(state, game.seats[state.mover])
        for deal in range(40)
        for state in list(random_states(game, deal))[:-1]
    ]
    start = time.process_time()
    for view in views:
        count_own_hand(game, view)
    return 1000 * (time.process_time() - start) / len(views)


def side_by_side(count: int) -> None:
    """As many games in both engines, over every variant and number of players."""
    tables = [(name, n) for name in VARIANTS for n in (2, 3, 4, 5)]
    differ = 0
    for number in range(count):
        name, players = tables[number % len(tables)]
        problem = difference(pyspiel, VARIANTS[name], players, number)
        if problem is not None:
            differ += 1
            print(f"{name}, {players} players, deal {number}: {problem}")
    print(f"side by side with OpenSpiel: {count} games, {differ} differ")


def main() -> None:
    for players in (2, 5):
        peer = loaded(pyspiel, Hanabi(players=players))
        jobs = {
            "ours, sees, full log": lambda n=players: ours(n),
            "ours, sees, log as lines": lambda n=players: ours(n, write=True),
            "ours, rules alone": lambda n=players: bare(n),
            "OpenSpiel, moves alone": lambda p=peer: play_open_spiel(p),
            "OpenSpiel, sees text": lambda p=peer: play_open_spiel(p, "observation_string"),
            "OpenSpiel, sees a tensor": lambda p=peer: play_open_spiel(p, "observation_tensor"),
        }
        if pyhanabi is not None:
            hle = pyhanabi.HanabiGame({"players": players})
            jobs["HLE, sees"] = lambda p=hle: by_hle(p)
        took = time_in_turns(jobs, clock=time.process_time)
        for name, seconds in took.items():
            ratio = seconds / took["ours, sees, full log"]
            speed = f"{GAMES / seconds:,.0f} games/s"
            print(f"{players} players, {name}: {speed}; ours is {ratio:.2f} times as fast")
        print(f"{players} players, exact belief of a hand: {belief_ms(players):.2f} ms")
    side_by_side(int(sys.argv[1]) if len(sys.argv) > 1 else SIDE_BY_SIDE)


if __name__ == "__main__":
    main()
