"""Train the learner that ships: a small recurrent net on a ladder of partners of matrix games.

    python learner.py --out FOLDER [--steps 300] [--seed 0]

Partners are the training partners of the splits of rps, ipd and ibs, and random machines that look
at the last round; a random machine that behaves as a held-out partner is left out. Every partner
is a machine, so the exact worth of each move is known: the loss is the expected regret, and the
log loss of what it foresees. Writes `ladder.npz` and `ladder.json` (seed, curve, a check).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.repeated_games.optimum import Machine, plan
from sally.games.repeated_games.players.meta import FAR, INPUT, MOST, Net, input_row, payoffs
from sally.games.repeated_games.rules import AGENT, RepeatedGame
from sally.games.repeated_games.training import _becomes, _machine, split

ROUNDS = 20
STATES = 1 + MOST * MOST
HIDDEN = 96
RATE = 5e-3
GAMES = ("rps", "ipd", "ibs")


def ladder(part: str) -> list[tuple[RepeatedGame, Machine]]:
    """The machines of one part of the splits, by game."""
    found = []
    for game in GAMES:
        rules = registry.game(game).build({"rounds": ROUNDS})
        assert isinstance(rules, RepeatedGame)
        ladder = split(game)
        assert ladder is not None
        for who in {repr(t.others): t.others["partner"] for t in ladder.part(part)}.values():
            machine = _machine(rules, AGENT, who)
            assert machine is not None
            found.append((rules, machine))
    return found


def random_machine(rng: np.random.Generator, rules: RepeatedGame) -> Machine:
    """Looks at its own last move, the other's, both or neither; sure or not so sure."""
    n = len(rules.matrix)
    listens, remembers = rng.random() < 0.75, rng.random() < 0.5
    sure = rng.random() < 0.6
    table = {}
    odds, after = np.zeros((1 + n * n, n)), np.zeros((1 + n * n, n, n), dtype=np.intp)
    for state in range(1 + n * n):
        own, their = divmod(state - 1, n)
        key = "first" if state == 0 else (own if remembers else -1, their if listens else -1)
        if key not in table:
            drawn = rng.dirichlet(np.full(n, 0.3))
            table[key] = np.eye(n)[rng.integers(n)] if sure else drawn
        odds[state] = table[key]
        after[state] = 1 + np.arange(n * n).reshape(n, n)
    return Machine(odds, after)


def random_game(rng: np.random.Generator) -> RepeatedGame:
    """One of the three by name, or any matrix of two or three moves."""
    if rng.random() < 0.6:
        rules = registry.game(GAMES[rng.integers(3)]).build({"rounds": ROUNDS})
        assert isinstance(rules, RepeatedGame)
        return rules
    n = int(rng.integers(2, MOST + 1))
    pays = rng.integers(0, 11, (n, n, 2)).tolist()
    return RepeatedGame(tuple(tuple(tuple(cell) for cell in row) for row in pays), rounds=ROUNDS)


class Pool:
    """Machines as tables of one size, with the worth of every move in every state."""

    def __init__(self, pairs: list[tuple[RepeatedGame, Machine]]) -> None:
        size, wide = len(pairs), max(STATES, *(len(m.odds) for _, m in pairs))
        self.pays = np.zeros((size, 2 * MOST * MOST), np.float32)
        self.moves = np.zeros((size, MOST), np.float32)  # 0, or minus a lot where there is none
        self.odds = np.zeros((size, wide, MOST), np.float32)
        self.after = np.zeros((size, wide, MOST, MOST), np.int64)
        self.missed = np.zeros((size, ROUNDS, wide, MOST), np.float32)
        for i, (rules, machine) in enumerate(pairs):
            states, n = machine.odds.shape
            self.pays[i] = payoffs(rules, AGENT)
            self.moves[i, n:] = -1e9
            self.odds[i, :states, :n] = machine.odds
            self.after[i, :states, :n, :n] = machine.after
            self.missed[i, :, :states, :n] = _missed(rules, machine)

    def drawn(self, at: np.ndarray) -> dict[str, torch.Tensor]:
        names = ("pays", "moves", "odds", "after", "missed")
        return {name: torch.from_numpy(getattr(self, name)[at]) for name in names}


def _missed(rules: RepeatedGame, machine: Machine) -> np.ndarray:
    """(round, state, move) -> what the move gives up, as a share of what a round can pay."""
    pay = np.array([[rules.pay(Seat(AGENT), m, t) for t in range(len(rules.matrix))]
                    for m in range(len(rules.matrix))], float)  # fmt: skip
    values = plan(rules, AGENT, machine, ROUNDS).values
    found = []
    for at in range(ROUNDS):
        then = np.einsum("qb,qba->qa", machine.odds, values[ROUNDS - at - 1][machine.after])
        worth = machine.odds @ pay.T + then
        found.append((worth.max(axis=1, keepdims=True) - worth) / (np.ptp(pay) or 1.0))
    return np.array(found)


class Weights(torch.nn.Module):
    """The same net as `Net`, to be trained."""

    def __init__(self) -> None:
        super().__init__()
        near = 1 / HIDDEN**0.5

        def drawn(*shape: int) -> torch.nn.Parameter:
            return torch.nn.Parameter((torch.rand(shape) * 2 - 1) * near)

        self.x, self.h = drawn(INPUT, 3 * HIDDEN), drawn(HIDDEN, 3 * HIDDEN)
        self.b = torch.nn.Parameter(torch.zeros(3 * HIDDEN))
        self.move, self.foresee = drawn(HIDDEN + 1, MOST), drawn(HIDDEN + 1, MOST)

    def step(self, hidden: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        n = HIDDEN
        given, kept = rows @ self.x + self.b, hidden @ self.h
        update = torch.sigmoid(given[:, :n] + kept[:, :n])
        reset = torch.sigmoid(given[:, n : 2 * n] + kept[:, n : 2 * n])
        new = torch.tanh(given[:, 2 * n :] + reset * kept[:, 2 * n :])
        return (1 - update) * new + update * hidden


def episodes(
    net: Weights, here: dict[str, torch.Tensor], entropy: float
) -> tuple[torch.Tensor, dict[str, float]]:
    """One batch of whole episodes: its loss, and how it went."""
    size = len(here["pays"])
    every = torch.arange(size)
    state, hidden = torch.zeros(size, dtype=torch.int64), torch.zeros(size, HIDDEN)
    last = torch.zeros(size, 2 * MOST)
    loss, regret, right = torch.zeros(()), 0.0, 0.0
    for at in range(ROUNDS):
        first = torch.full((size, 1), float(at == 0))
        left = torch.full((size, 1), min(ROUNDS - at, FAR) / FAR)
        hidden = net.step(hidden, torch.cat([here["pays"], last, first, left], 1))
        mine = (hidden @ net.move[:-1] + net.move[-1] + here["moves"]).log_softmax(-1)
        theirs = (hidden @ net.foresee[:-1] + net.foresee[-1] + here["moves"]).log_softmax(-1)
        odds, missed = here["odds"][every, state], here["missed"][every, at, state]
        expected = (mine.exp() * missed).sum(-1)
        spread = -(mine.exp() * mine.clamp(min=-30)).sum(-1)
        surprise = -(odds * theirs.clamp(min=-30)).sum(-1)  # of its odds, not only of its draw
        loss = loss + (expected - entropy * spread + 0.5 * surprise).mean() / ROUNDS
        move = torch.multinomial(mine.exp().detach(), 1)[:, 0]
        their = torch.multinomial(odds, 1)[:, 0]
        regret += float(expected.detach().mean()) / ROUNDS
        right += float((theirs.argmax(-1) == their).float().mean()) / ROUNDS
        state = here["after"][every, state, their, move]
        last = torch.zeros(size, 2 * MOST)
        last[every, move] = 1.0
        last[every, MOST + their] = 1.0
    return loss, {"regret": regret, "foreseen": right}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--machines", type=int, default=1500)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    rng = np.random.default_rng(given.seed)
    train, held = ladder("train"), ladder("held_out")
    for rules, machine in train * 20:
        assert not any(g.matrix == rules.matrix and _becomes(h, machine) for g, h in held)
    made = list(train)
    while len(made) < given.machines:
        rules = random_game(rng)
        machine = random_machine(rng, rules)
        alike = any(
            g.matrix == rules.matrix and (_becomes(h, machine) or _becomes(machine, h))
            for g, h in held
        )
        if not alike:
            made.append((rules, machine))
    pool, tests = Pool(made), {"train": Pool(train), "held_out": Pool(held)}
    net = Weights()
    optimiser = torch.optim.Adam(net.parameters(), RATE)
    curve, began = [], time.monotonic()
    for step in range(given.steps + 1):
        done = step / given.steps
        if step % max(1, given.steps // 30) == 0:
            curve.append({"step": step, **measured(net, tests)})
            print(
                json.dumps({**curve[-1], "seconds": round(time.monotonic() - began, 1)}), flush=True
            )
            save(net, given, curve)
        some = rng.integers(len(made), size=given.batch)
        known = rng.random(given.batch) < 0.25  # the ladder itself comes up more often
        some[known] = rng.integers(len(train), size=int(known.sum()))
        loss, _ = episodes(net, pool.drawn(some), 0.03 * (1 - done))
        for group in optimiser.param_groups:
            group["lr"] = RATE * (1 - 0.95 * done)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()


def measured(net: Weights, tests: dict[str, Pool]) -> dict[str, Any]:
    """Regret a round (as a share of what a round can pay) and foreseen moves, by part."""
    found = {}
    with torch.no_grad():
        for part, pool in tests.items():
            _, how = episodes(net, pool.drawn(np.repeat(np.arange(len(pool.pays)), 64)), 0.0)
            found[part] = {name: round(value, 4) for name, value in how.items()}
    return found


def save(net: Weights, given: argparse.Namespace, curve: list[dict[str, Any]]) -> None:
    """The weights, and beside them how they came about and what they answer in one game."""
    given.out.mkdir(parents=True, exist_ok=True)
    arrays = {name: value.detach().numpy() for name, value in net.named_parameters()}
    np.savez(given.out / "ladder.npz", **arrays)
    rules = registry.game("rps").build({"rounds": ROUNDS})
    assert isinstance(rules, RepeatedGame)
    played, pays = [(0, 1), (2, 1), (1, 1)], payoffs(rules, AGENT)
    rows = [input_row(pays, None, ROUNDS)]
    rows += [input_row(pays, joint, ROUNDS - n) for n, joint in enumerate(played, 1)]
    hidden = torch.zeros(1, HIDDEN)
    with torch.no_grad():
        for row in rows:
            hidden = net.step(hidden, torch.from_numpy(row)[None])
        odds = (hidden @ net.foresee[:-1] + net.foresee[-1]).softmax(-1)[0].tolist()
    about = {
        "script": "examples/training/learner.py",
        "seed": given.seed,
        "steps": given.steps,
        "batch": given.batch,
        "machines": given.machines,
        "rounds": ROUNDS,
        "weights": sum(value.size for value in arrays.values()),
        "curve": curve,
        "check": {"game": "rps", "played": played, "foresees": odds},
    }
    (given.out / "ladder.json").write_text(json.dumps(about, indent=1) + "\n")
    assert set(arrays) == set(Net.__struct_fields__)


if __name__ == "__main__":
    main()
