"""Every MindGames matrix: our enumeration against OR-Tools CP-SAT on the same constraints.

Run `python benchmarks/mindgames.py` with ortools installed. CP-SAT enumerates all solutions with
two attributes, which checks that both solve the same problem, and then as many as asked for with
three; ours finds all 76,728 of those. Compared are solutions a second.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import click
from ortools.sat.python import cp_model

from sally.games.mindgames.matrices import all_matrices, count_with_persuader
from sally.games.mindgames.puzzles import GOAL, INITIAL, MOST_HIDDEN, PROPOSALS, TRAP


class Counter(cp_model.CpSolverSolutionCallback):
    """Counts solutions and stops at a bound."""

    def __init__(self, limit: int | None) -> None:
        super().__init__()
        self.found, self.most = 0, limit

    def on_solution_callback(self) -> None:
        self.found += 1
        if self.most is not None and self.found >= self.most:
            self.stop_search()


def constraints(attributes: int) -> cp_model.CpModel:
    """The paper's conditions: every pick is strict, at most four cells are hidden."""
    model = cp_model.CpModel()
    cells = list(itertools.product(range(PROPOSALS), range(attributes)))
    utility = {c: model.new_int_var(-1, 1, f"u{c}") for c in cells}
    hidden = {c: model.new_bool_var(f"h{c}") for c in cells}
    revealed = {c: model.new_bool_var(f"r{c}") for c in cells}
    target = [model.new_int_var(-1, 1, f"t{a}") for a in range(attributes)]
    persuader = [model.new_int_var(-1, 1, f"p{a}") for a in range(attributes)]

    def product(first: Any, second: Any, name: str) -> Any:
        product_var = model.new_int_var(-1, 1, name)
        model.add_multiplication_equality(product_var, [first, second])
        return product_var

    def best(gains: dict[tuple[int, int], Any], row: int) -> None:
        sums = [sum(gains[p, a] for a in range(attributes)) for p in range(PROPOSALS)]
        for other_row in range(PROPOSALS):
            if other_row != row:
                model.add(sums[row] > sums[other_row])

    gain = {c: product(utility[c], target[c[1]], f"g{c}") for c in cells}
    seen_gain = {c: product(gain[c], 1 - hidden[c], f"s{c}") for c in cells}
    gain_after = {c: product(gain[c], 1 - hidden[c] + revealed[c], f"a{c}") for c in cells}
    for c in cells:
        model.add_implication(revealed[c], hidden[c])
    model.add(sum(hidden.values()) <= MOST_HIDDEN)
    best({c: product(utility[c], persuader[c[1]], f"q{c}") for c in cells}, GOAL)
    best(gain, TRAP)
    best(seen_gain, INITIAL)
    best(gain_after, GOAL)
    return model


def by_solver(attributes: int, limit: int | None) -> tuple[int, float]:
    """How many solutions CP-SAT found, and in how many seconds."""
    model, counter, solver = constraints(attributes), Counter(limit), cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    start = time.perf_counter()
    solver.solve(model, counter)
    return counter.found, time.perf_counter() - start


def by_arrays(attributes: int) -> tuple[int, float]:
    """The same by our enumeration: all of them."""
    start = time.perf_counter()
    count = count_with_persuader(all_matrices(attributes))
    return count, time.perf_counter() - start


@click.command()
@click.option("--solutions", default=2000, show_default=True, help="For CP-SAT, three attributes.")
@click.option("--rounds", default=3, show_default=True)
def main(solutions: int, rounds: int) -> None:
    """Print solutions a second of both, and the ratio."""
    cp_sat_count, ours = by_solver(2, None)[0], by_arrays(2)[0]
    if cp_sat_count != ours:
        raise SystemExit(f"CP-SAT finds {cp_sat_count} with two attributes, we find {ours}.")
    click.echo(f"two attributes: both find {ours}")
    rates: dict[str, list[float]] = {"arrays": [], "CP-SAT": []}
    for _ in range(rounds):  # in turns, so that a busy machine hits both alike
        for name, (count, took) in (
            ("arrays", by_arrays(3)),
            ("CP-SAT", by_solver(3, solutions)),
        ):
            rates[name].append(count / took)
            click.echo(f"{name}: {count} in {took:.2f} s, {count / took:,.0f} a second")
    ratio = sorted(rates["arrays"])[rounds // 2] / sorted(rates["CP-SAT"])[rounds // 2]
    click.echo(f"ratio: {ratio:.0f}")


if __name__ == "__main__":
    main()
