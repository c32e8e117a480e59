"""Solutions of scenarios, as the stored sets hold them, and how often each shortcut is right."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from sally.games.toma.frozen import CertifiedScenario, Keyed
from sally.games.toma.mg import depths as mg_depths
from sally.games.toma.mg import rules as mg_rules
from sally.games.toma.mg import shortcuts as mg_shortcuts
from sally.games.toma.po import depths as po_depths
from sally.games.toma.po import rules as po_rules
from sally.games.toma.po.shortcuts import SHORTCUTS

SEED = 2026  # of all stored sets


def keyed_po(scenario: po_rules.Scenario) -> Keyed[po_rules.Scenario]:
    """Return a scenario with the answer and predictions of the exact solver."""
    tasks = {po_rules.AGENTS[a]: task for a, task in po_rules.predictions(scenario).items()}
    return Keyed(scenario, po_rules.answer(scenario), tasks)


def certified_po(scenario: po_rules.Scenario, block: int) -> CertifiedScenario[po_rules.Scenario]:
    """Return a scenario with its solution and the answers of reasoners of every depth."""
    solved = keyed_po(scenario)
    by_depth = tuple((answers,) for answers in po_depths.answers_by_depth(scenario))
    depth = least_depth(by_depth, solved.answer)
    return CertifiedScenario(scenario, solved.answer, solved.predictions, block, depth, by_depth)


def keyed_mg(scenario: mg_rules.Scenario) -> Keyed[mg_rules.Scenario]:
    """Return a scenario with the answer and predictions of the exact solver."""
    gone = mg_rules.predictions(scenario)
    named = {agent.name: gone[index] for index, agent in enumerate(scenario.agents)}
    return Keyed(scenario, mg_rules.answer(scenario), named)


def certified_mg(scenario: mg_rules.Scenario) -> CertifiedScenario[mg_rules.Scenario]:
    """Return a scenario with its solution and the answers of reasoners of every depth."""
    solved = keyed_mg(scenario)
    by_depth = mg_depths.answers_by_depth(scenario)
    depth = least_depth(by_depth, solved.answer)
    return CertifiedScenario(
        scenario, solved.answer, solved.predictions, scenario.level, depth, by_depth
    )


def least_depth(by_depth: Sequence[tuple[int, ...]], right: int) -> int:
    """Return the smallest depth from which on every depth gives exactly the right answer."""
    wrong = [k for k, answers in enumerate(by_depth) if answers != (right,)]
    return wrong[-1] + 1 if wrong else 0


def po_hit_rates(scenarios: Sequence[po_rules.Scenario]) -> dict[str, float]:
    """Return the share of scenarios that each shortcut answers correctly; shortcuts that apply to
    no scenario are left out."""
    right = [po_rules.answer(scenario) for scenario in scenarios]
    picks = {name: [rule(scenario) for scenario in scenarios] for name, rule in SHORTCUTS.items()}
    return {
        name: sum(map(operator.eq, picked, right)) / len(scenarios)
        for name, picked in picks.items()
        if any(pick is not None for pick in picked)
    }


def mg_hit_rates(scenarios: Sequence[mg_rules.Scenario]) -> dict[str, float]:
    """Return how often each rule (`least_...`) and its inverse (`most_...`) is right in scenarios
    of one level."""
    (level,) = {scenario.level for scenario in scenarios}
    partial = mg_shortcuts.PARTIAL if level > 1 else {}
    read = [(mg_rules.profiles(scenario), mg_rules.answer(scenario)) for scenario in scenarios]
    rates = {}
    for name, count in (mg_shortcuts.EVEN | mg_shortcuts.counters(level) | partial).items():
        for end, picked in (
            ("least", mg_shortcuts.smallest_counts),
            ("most", mg_shortcuts.greatest),
        ):
            hits = [mg_shortcuts.hit(picked(count(agents)), right) for agents, right in read]
            rates[f"{end}_{name}"] = sum(hits) / len(read)
    return rates
