"""The population of random machines: parts differ in behaviour and letters, and are exact."""

from __future__ import annotations

from itertools import product

import population as drawing
import pytest
from population import LETTERS, PreparedMachine, population, random_table, reletter

from sally.adapters.trainers.text import TextEnv
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.games.repeated_games.training import (
    TRAINING,
    _becomes,
    _machine,
    split,
)
from sally.parts.training import check_split

SIZES = {"train": 12, "validation": 3, "held_out": 3}


@pytest.mark.parametrize("game", ["rps", "ipd"])
def test_parts_differ_in_behaviour_and_letters(game):
    drawn_split = population(game, SIZES)
    assert {part: len(tasks) for part, tasks in drawn_split.parts.items()} == SIZES
    check_split(drawn_split, TRAINING.alike)
    for part, tasks in drawn_split.parts.items():
        assert {name for t in tasks for name in t.instance.params["names"]} <= {*LETTERS[part]}
    named_tasks = split(game).part("held_out")
    for task, counterpart in product(drawn_split.part("train"), named_tasks):
        assert not TRAINING.alike(task, counterpart) and not TRAINING.alike(counterpart, task)


def test_population_follows_the_seed():
    assert population("ipd", SIZES) == population("ipd", SIZES)
    assert population("ipd", SIZES).parts != population("ipd", SIZES, seed=1).parts


def test_quick_comparison_agrees_with_the_exact_one():
    rules = registry.game("ipd").build({"rounds": 10})
    tasks = population("ipd", SIZES).part("train")
    machines = [_machine(rules, AGENT, task.others[PARTNER]) for task in tasks]
    pairs = list(product(machines, repeat=2))
    exact = [_becomes(a, b) for a, b in pairs]
    assert [PreparedMachine(a).becomes(PreparedMachine(b)) for a, b in pairs] == exact
    assert 0 < sum(exact) < len(exact)  # both answers occur


def test_every_move_against_an_automaton_has_an_exact_value():
    task = reletter(population("rps", SIZES).part("train")[0], Stream("test"))
    env = TextEnv("rps", strategy="lm", pack="repeated_games_terse")
    env.begin(task, 1)
    while env.asked is not None:
        assert env.worths is not None and len(env.worths) == 4  # three moves and a forfeit
        env.step([-1.0, -2.0, -3.0])
    assert len(env.rows()) == 10


def test_automata_of_all_sizes_are_drawn():
    sizes = {len(random_table(Stream("kinds", n), 3)["states"]) for n in range(60)}
    assert sizes == {1, 2, 3, 4}


def test_too_many_automata_are_refused(monkeypatch):
    monkeypatch.setattr(drawing, "MOST_TRIES", 1)
    with pytest.raises(BadInput, match="of 20 machines for held_out behave differently"):
        population("ipd", {"train": 1, "validation": 1, "held_out": 20})
    with pytest.raises(BadInput, match="no training split"):
        population("hanabi", SIZES)
