"""Attack the generator of toma_mg with learners: python -m benchmarks.toma_attack.

Fresh scenarios of one seed, cross-fitted: a learner trained on one half answers the other. Three
families of features: the declared counts of the card, those generated from the rendered page, and
those with relations joined (a step of the reasoning, expected above chance). One seed was used to
design the generator (7); the figures in docs/discussion/validity.md come from another.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click
import numpy as np

from sally.analysis.design import adversary
from sally.core.rules.card import Attack
from sally.games.toma.mg.surface import attack_on


def forest() -> Any:
    """Return a random forest, beside the two learners of the audit."""
    from sklearn.ensemble import RandomForestClassifier  # type: ignore[import-untyped]

    return RandomForestClassifier(200, min_samples_leaf=5, max_features=0.3, random_state=0)


def attackers(attack: Attack, count: int, seed: int) -> list[tuple[str, float, Any]]:
    """Return every attacker with its accuracy and interval on fresh scenarios."""
    findings = [
        finding
        for finding in adversary.attack_of(attack, count, seed)
        if finding.questions == "fresh"
    ]
    makers: dict[str, Callable[[], Any]] = {"forest": forest}
    table = adversary.tabulate(attack, attack.fresh(count, seed))
    rows = [
        (f"{finding.attacker} {finding.words}".strip(), finding.accuracy, finding.interval)
        for finding in findings
    ]
    for name, make in makers.items():
        if "joined" in attack.name or "generated" in attack.name:
            filled = adversary.OptionTable(
                np.nan_to_num(table.columns), table.question, table.right, table.chance
            )
            hits = adversary.cross_validate(make, filled)
            finding = adversary.finding(attack, "fresh", name, filled, hits)
            rows.append((name, finding.accuracy, finding.interval))
    return rows


@click.command()
@click.option("--many", default=2000, help="Fresh scenarios per level.")
@click.option("--seed", default=2037, help="Seed of the scenarios.")
@click.option("--levels", default="1,2,3")
def main(many: int, seed: int, levels: str) -> None:
    """Print the accuracy of every attacker, level by level."""
    for level in map(int, levels.split(",")):
        declared = attack_on(level)
        attacks = [declared, adversary.page_attack("toma_mg", declared, many, seed, False)]
        if level > 1:
            attacks.append(adversary.page_attack("toma_mg", declared, many, seed, True))
        for attack in attacks:
            start = time.perf_counter()
            for name, accuracy, interval in attackers(attack, many, seed):
                low, high = interval or (accuracy, accuracy)
                click.echo(f"{attack.name}: {name}: {accuracy:.3f} [{low:.3f}, {high:.3f}]")
            click.echo(f"   ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
