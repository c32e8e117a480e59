"""Surface features for attacks on the partially observable game. An attack tests whether shallow
learners find the answers without predicting other agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from math import nan

from sally.core.rules.card import Attack, CardQuestion
from sally.games.toma.po import generators
from sally.games.toma.po.game import frozen_scenarios
from sally.games.toma.po.rules import FAILURE, TASKS, Scenario, answer

OWN = (
    "cost to the player",
    "place on the page",
    "letters in its name",
    "mission failure",
    "cheapest own cost",
    "second own cost",
    "third own cost",
    "dearest own cost",
    "seat of the player",
)
COLUMNS = (
    "cost to all four together",
    "smallest cost to anybody",
    "largest cost to anybody",
    "cost to the other three together",
)
READS = (
    "a low cost to somebody else makes a task likely to be that agent's choice, and predicting "
    "choices is what the level asks for"
)
# rate of the best constant answer; at level 2 failure and each rank of own costs have a fifth
CHANCE = {0: 1.0, 1: 0.25, 2: 0.2, 3: 0.25, 4: 0.25}
Seen = Callable[[Scenario], CardQuestion]


def own_row(s: Scenario) -> CardQuestion:
    """Return the player's own costs, and the position and name length of each task."""
    return CardQuestion(tuple(_own_features(s, option) for option in _options(s)), answer(s))


def whole_page(s: Scenario) -> CardQuestion:
    """Return the player's row, and the sum, minimum and maximum of each column."""
    return CardQuestion(
        tuple((*_own_features(s, o), *_column(s, o)) for o in _options(s)), answer(s)
    )


def _options(s: Scenario) -> tuple[int, ...]:
    return (*TASKS, FAILURE) if s.level in (1, 2) else tuple(TASKS)


def _own_features(s: Scenario, option: int) -> tuple[float, ...]:
    own_costs, fails = s.costs[s.player], option == FAILURE
    task = (nan, nan, nan) if fails else (own_costs[option], option, len(s.tasks[option]))
    return (*task, float(fails), *sorted(own_costs), s.player)


def _column(s: Scenario, option: int) -> tuple[float, ...]:
    if option == FAILURE:
        return (nan,) * len(COLUMNS)
    column = [row[option] for row in s.costs]
    return sum(column), min(column), max(column), sum(column) - column[s.player]


def attacks() -> Iterable[Attack]:
    """Yield attacks on levels 1 to 4: tests of whether shallow learners find the answers from the
    player's own costs, or from the costs of all agents."""
    for level in (1, 2, 3, 4):
        yield _attack(f"level {level}, own row", level, OWN, own_row)
        yield _attack(f"level {level}, whole page", level, (*OWN, *COLUMNS), whole_page, READS)


@lru_cache(maxsize=4)  # shared by both attacks of a level
def _draw_scenarios(level: int, seed: int, n_scenarios: int) -> tuple[Scenario, ...]:
    return tuple(islice(generators.scenarios(level, seed), n_scenarios))


def _attack(
    name: str, level: int, features: tuple[str, ...], features_of: Seen, reasoning: str = ""
) -> Attack:
    def fresh(n_scenarios: int, seed: int) -> Sequence[CardQuestion]:
        return [features_of(s) for s in _draw_scenarios(level, seed, n_scenarios)]

    def frozen() -> Sequence[CardQuestion]:
        return [features_of(s) for s in frozen_scenarios().values() if s.level == level]

    return Attack(name, features, fresh, frozen, CHANCE[level], reasoning)
