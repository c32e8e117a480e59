"""Depth tables on fresh scenarios: python -m benchmarks.certified_depth --many 1000 --seed 2037.

Each line is printed as soon as it is known; 1,000 scenarios take a few minutes. At most 200
scenarios per level of toma_mg are drawn, because they are the slowest.

For toma_po and toma_mg, by published level and by certified block: how often reasoners of depth 0
to 3 are right. For toma_po also two readings of one step of prediction at level 3 that use the
others' first choices: without the player's costs, and weighed with them by boosted trees.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import click

from benchmarks.problem_sets import toma_po_blocks as po_certified
from sally.analysis.design import adversary
from sally.core.rules.card import Attack, CardQuestion
from sally.core.rules.depth import Reasoned
from sally.games.toma.mg import decisions as mg
from sally.games.toma.mg import generators as mg_generators
from sally.games.toma.po import decisions as po
from sally.games.toma.po import generators as po_generators
from sally.games.toma.po.depths import predictions_at
from sally.games.toma.po.rules import TASKS, Scenario, answer


def shares(listed: Iterable[Reasoned]) -> str:
    """Return the share right by depth."""
    rows = list(listed)
    hit_shares = [sum(reasoned.hit(k) for reasoned in rows) / len(rows) for k in range(4)]
    return "  ".join(f"{share:.3f}" for share in hit_shares) + f"   chance {rows[0].chance:.2f}"


def one_step(scenario: Scenario, depth: int, has_own_cost: bool) -> CardQuestion:
    """Return each task by how many agents are predicted on it at a depth, and its own cost."""
    predicted = list(predictions_at(scenario, depth).values())
    row = scenario.costs[scenario.player]
    return CardQuestion(
        tuple((predicted.count(t), *((row[t],) if has_own_cost else ())) for t in TASKS),
        answer(scenario),
    )


@click.command()
@click.option("--many", default=1000, help="Fresh scenarios per level or block.")
@click.option("--seed", default=2037)
def main(many: int, seed: int) -> None:
    """Print the share right of reasoners of depth 0, 1, 2, 3."""
    published: list[Scenario] = []
    for level in range(4):
        published = list(islice(po_generators.scenarios(level, seed), many))
        click.echo(f"toma_po, level {level}: {shares(map(po.reason_about, published))}")
    kept_3: list[Scenario] = []
    for block in po_certified.DEPTHS:
        kept_3 = list(islice(po_certified.scenarios(block, seed), many))
        click.echo(
            f"toma_po, certified {block}: {shares(po.reason_about(s, block) for s in kept_3)}"
        )
    for name, fresh in (("level 3", published), ("certified 3", kept_3)):
        for depth in (1, 2):
            for has_own_cost, features in (
                (False, ("predicted",)),
                (True, ("predicted", "own cost")),
            ):
                rows = [one_step(s, depth, has_own_cost) for s in fresh]
                attack = Attack("one step", features, lambda n, s, rows=rows: rows, chance=0.25)
                accuracy_by_attacker = {
                    f.attacker: f.accuracy for f in adversary.attack_of(attack, many, seed)
                }
                accuracies = ", ".join(
                    f"{attacker} {share:.3f}" for attacker, share in accuracy_by_attacker.items()
                )
                with_own = " and own costs" if has_own_cost else ""
                features_text = f"counts predicted at depth {depth}{with_own}"
                click.echo(f"toma_po, {name}, {features_text}: {accuracies}")
    for level in (2, 3):
        drawn_mg = islice(mg_generators.scenarios(level, seed), min(many, 200))
        click.echo(f"toma_mg, certified {level}: {shares(map(mg.reason_about, drawn_mg))}")


if __name__ == "__main__":
    main()
