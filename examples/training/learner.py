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
    machines = []
    for game in GAMES:
        rules = registry.game(game).build({"rounds": ROUNDS})
        assert isinstance(rules, RepeatedGame)
        ladder = split(game)
        assert ladder is not None
        for partner in {repr(t.others): t.others["partner"] for t in ladder.part(part)}.values():
            machine = _machine(rules, AGENT, partner)
            assert machine is not None
            machines.append((rules, machine))
    return machines


def random_machine(rng: np.random.Generator, rules: RepeatedGame) -> Machine:
    """Looks at its own last move, the other's, both or neither; sure or not so sure."""
    n = len(rules.matrix)
    listens, remembers = rng.random() < 0.75, rng.random() < 0.5
    sure = rng.random() < 0.6
    table = {}
    odds, next_states = np.zeros((1 + n * n, n)), np.zeros((1 + n * n, n, n), dtype=np.intp)
    for state in range(1 + n * n):
        own_move, their = divmod(state - 1, n)
        key = "first" if state == 0 else (own_move if remembers else -1, their if listens else -1)
        if key not in table:
            random_odds = rng.dirichlet(np.full(n, 0.3))
            table[key] = np.eye(n)[rng.integers(n)] if sure else random_odds
        odds[state] = table[key]
        next_states[state] = 1 + np.arange(n * n).reshape(n, n)
    return Machine(odds, next_states)


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

    def select(self, indices: np.ndarray) -> dict[str, torch.Tensor]:
        names = ("pays", "moves", "odds", "after", "missed")
        return {name: torch.from_numpy(getattr(self, name)[indices]) for name in names}


def _missed(rules: RepeatedGame, machine: Machine) -> np.ndarray:
    """(round, state, move) -> what the move gives up, as a share of what a round can pay."""
    pay = np.array([[rules.pay(Seat(AGENT), m, t) for t in range(len(rules.matrix))]
                    for m in range(len(rules.matrix))], float)  # fmt: skip
    values = plan(rules, AGENT, machine, ROUNDS).values
    shares = []
    for round_index in range(ROUNDS):
        future_worths = np.einsum(
            "qb,qba->qa", machine.odds, values[ROUNDS - round_index - 1][machine.after]
        )
        move_worths = machine.odds @ pay.T + future_worths
        shares.append((move_worths.max(axis=1, keepdims=True) - move_worths) / (np.ptp(pay) or 1.0))
    return np.array(shares)


class Weights(torch.nn.Module):
    """The same net as `Net`, to be trained."""

    def __init__(self) -> None:
        super().__init__()
        bound = 1 / HIDDEN**0.5

        def draw_weights(*shape: int) -> torch.nn.Parameter:
            return torch.nn.Parameter((torch.rand(shape) * 2 - 1) * bound)

        self.x, self.h = draw_weights(INPUT, 3 * HIDDEN), draw_weights(HIDDEN, 3 * HIDDEN)
        self.b = torch.nn.Parameter(torch.zeros(3 * HIDDEN))
        self.move, self.foresee = draw_weights(HIDDEN + 1, MOST), draw_weights(HIDDEN + 1, MOST)

    def step(self, hidden: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        n = HIDDEN
        from_rows, from_hidden = rows @ self.x + self.b, hidden @ self.h
        update = torch.sigmoid(from_rows[:, :n] + from_hidden[:, :n])
        reset = torch.sigmoid(from_rows[:, n : 2 * n] + from_hidden[:, n : 2 * n])
        new = torch.tanh(from_rows[:, 2 * n :] + reset * from_hidden[:, 2 * n :])
        return (1 - update) * new + update * hidden


def episodes(
    net: Weights, tables: dict[str, torch.Tensor], entropy: float
) -> tuple[torch.Tensor, dict[str, float]]:
    """One batch of whole episodes: its loss, and how it went."""
    size = len(tables["pays"])
    row_ids = torch.arange(size)
    state, hidden = torch.zeros(size, dtype=torch.int64), torch.zeros(size, HIDDEN)
    last = torch.zeros(size, 2 * MOST)
    loss, regret, right = torch.zeros(()), 0.0, 0.0
    for round_index in range(ROUNDS):
        first = torch.full((size, 1), float(round_index == 0))
        rounds_left = torch.full((size, 1), min(ROUNDS - round_index, FAR) / FAR)
        hidden = net.step(hidden, torch.cat([tables["pays"], last, first, rounds_left], 1))
        own_logs = (hidden @ net.move[:-1] + net.move[-1] + tables["moves"]).log_softmax(-1)
        predicted_logs = (
            hidden @ net.foresee[:-1] + net.foresee[-1] + tables["moves"]
        ).log_softmax(-1)
        odds, missed = tables["odds"][row_ids, state], tables["missed"][row_ids, round_index, state]
        expected = (own_logs.exp() * missed).sum(-1)
        spread = -(own_logs.exp() * own_logs.clamp(min=-30)).sum(-1)
        surprise = -(odds * predicted_logs.clamp(min=-30)).sum(
            -1
        )  # of its odds, not only of its draw
        loss = loss + (expected - entropy * spread + 0.5 * surprise).mean() / ROUNDS
        move = torch.multinomial(own_logs.exp().detach(), 1)[:, 0]
        their = torch.multinomial(odds, 1)[:, 0]
        regret += float(expected.detach().mean()) / ROUNDS
        right += float((predicted_logs.argmax(-1) == their).float().mean()) / ROUNDS
        state = tables["after"][row_ids, state, their, move]
        last = torch.zeros(size, 2 * MOST)
        last[row_ids, move] = 1.0
        last[row_ids, MOST + their] = 1.0
    return loss, {"regret": regret, "foreseen": right}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--machines", type=int, default=1500)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    train, held_out = ladder("train"), ladder("held_out")
    for rules, machine in train * 20:
        assert not any(g.matrix == rules.matrix and _becomes(h, machine) for g, h in held_out)
    machines = list(train)
    while len(machines) < options.machines:
        rules = random_game(rng)
        machine = random_machine(rng, rules)
        alike = any(
            g.matrix == rules.matrix and (_becomes(h, machine) or _becomes(machine, h))
            for g, h in held_out
        )
        if not alike:
            machines.append((rules, machine))
    pool, tests = Pool(machines), {"train": Pool(train), "held_out": Pool(held_out)}
    net = Weights()
    optimiser = torch.optim.Adam(net.parameters(), RATE)
    curve, began = [], time.monotonic()
    for step in range(options.steps + 1):
        done = step / options.steps
        if step % max(1, options.steps // 30) == 0:
            curve.append({"step": step, **measure(net, tests)})
            print(
                json.dumps({**curve[-1], "seconds": round(time.monotonic() - began, 1)}), flush=True
            )
            save(net, options, curve)
        batch = rng.integers(len(machines), size=options.batch)
        from_ladder = rng.random(options.batch) < 0.25  # the ladder itself comes up more often
        batch[from_ladder] = rng.integers(len(train), size=int(from_ladder.sum()))
        loss, _ = episodes(net, pool.select(batch), 0.03 * (1 - done))
        for group in optimiser.param_groups:
            group["lr"] = RATE * (1 - 0.95 * done)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()


def measure(net: Weights, tests: dict[str, Pool]) -> dict[str, Any]:
    """Regret a round (as a share of what a round can pay) and foreseen moves, by part."""
    figures = {}
    with torch.no_grad():
        for part, pool in tests.items():
            _, means = episodes(net, pool.select(np.repeat(np.arange(len(pool.pays)), 64)), 0.0)
            figures[part] = {name: round(value, 4) for name, value in means.items()}
    return figures


def save(net: Weights, options: argparse.Namespace, curve: list[dict[str, Any]]) -> None:
    """The weights, and beside them how they came about and what they answer in one game."""
    options.out.mkdir(parents=True, exist_ok=True)
    arrays = {name: value.detach().numpy() for name, value in net.named_parameters()}
    np.savez(options.out / "ladder.npz", **arrays)
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
        "seed": options.seed,
        "steps": options.steps,
        "batch": options.batch,
        "machines": options.machines,
        "rounds": ROUNDS,
        "weights": sum(value.size for value in arrays.values()),
        "curve": curve,
        "check": {"game": "rps", "played": played, "foresees": odds},
    }
    (options.out / "ladder.json").write_text(json.dumps(about, indent=1) + "\n")
    assert set(arrays) == set(Net.__struct_fields__)


if __name__ == "__main__":
    main()
