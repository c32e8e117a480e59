"""Pairs of the partially observable game: the same task for the player, other knowledge or costs of
the others.

Order 1: the costs of an agent that the player can predict and of one that it cannot are exchanged.
Orders 2 and 3: all costs are the same, and two of the others exchange what they know. The agent
that is asked about knows the costs of equally many others in both members, so their number does not
tell what it takes. At order 2 failure is right in one member: if the others are one agent that
knows nobody and two that know it, every pair of this kind has a collision in one member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations, permutations, product
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.rules.chance import Stream
from sally.core.rules.pair import MOST_TRIES, Member, PairRecipe, QuestionKind
from sally.games.toma.one_shot import PLAYER, State
from sally.games.toma.po.depths import DEEPEST, choice_at, predictions_at
from sally.games.toma.po.game import PartlySeen, View
from sally.games.toma.po.rules import (
    AGENTS,
    FAILURE,
    SHAPES,
    TASKS,
    Row,
    Scenario,
    answer,
    choice,
    predictions,
    rational_actions,
)
from sally.games.toma.po.shortcuts import SHORTCUTS
from sally.games.toma.po.stories import stories

COSTS = range(10, 100)  # tenths; all are printed with three characters
ORDERS = (1, 2, 3)
SUBJECT, RIVAL, THIRD = 1, 2, 3  # the others by their part in a pair

Ranking = tuple[int, ...]  # tasks, cheapest first
Knows = tuple[tuple[int, ...], ...]


# --- construction ---------------------------------------------------------------------------------


def structures(level: int, agents: Sequence[int]) -> list[Knows]:
    """Return every way to give the roles of a level to four agents; the first is the player."""
    ways = {_knowledge(level, (agents[0], *others)) for others in permutations(agents[1:])}
    return sorted(ways)


def _knowledge(level: int, agents_by_role: Sequence[int]) -> Knows:
    knows: list[tuple[int, ...]] = [()] * len(agents_by_role)
    for role, known_roles in enumerate(SHAPES[level]):
        knows[agents_by_role[role]] = tuple(sorted(agents_by_role[r] for r in known_roles))
    return tuple(knows)


def _by_rank(level: int, rankings: Mapping[int, Ranking], knows: Knows) -> Scenario:
    """Return a scenario in which the costs of the others are ranks; the player is agent 0."""
    rows = [_as_row(TASKS)]
    for part in (SUBJECT, RIVAL, THIRD):
        rows.append(_as_row([rankings[part].index(task) for task in TASKS]))
    return _scenario(level, rows, 0, knows)


def _as_row(costs: Sequence[int]) -> Row:
    return costs[0], costs[1], costs[2], costs[3]


class Plan(msgspec.Struct, frozen=True):
    """The others' rankings of tasks and the knowledge in both members; the player is agent 0."""

    rankings: tuple[Ranking, Ranking, Ranking]  # of the asked agent, its rival and the third
    knows: tuple[Knows, Knows]


@cache
def plans(level: int) -> tuple[Plan, ...]:
    """Return every plan of level 2 or 3, up to the names of tasks.

    The asked agent takes another task in each member and knows equally many others; reasoners of
    lower order expect the same task in both; a prediction calls for one option whatever structure
    of the level it follows from; and the right options differ.
    """
    subject_ranking = tuple(TASKS)
    all_structures = structures(level, range(len(AGENTS)))
    kept_plans = []
    for rival, third in product(permutations(TASKS), repeat=2):
        rankings = {SUBJECT: subject_ranking, RIVAL: rival, THIRD: third}
        scenarios = [_by_rank(level, rankings, knows) for knows in all_structures]
        for first, second in combinations(scenarios, 2):
            if _tells_apart(level, first, second):
                plan = Plan((subject_ranking, rival, third), (first.knows, second.knows))
                kept_plans.append(plan)
    return tuple(kept_plans)


def _tells_apart(level: int, first: Scenario, second: Scenario) -> bool:
    members = first, second
    if choice(first, SUBJECT) == choice(second, SUBJECT) or answer(first) == answer(second):
        return False
    if any(
        rule(first, SUBJECT) != rule(second, SUBJECT) for rule in _structure_rules(level).values()
    ):
        return False
    for order in range(1, level):
        if len({predictions_at(member, order)[SUBJECT] for member in members}) > 1:
            return False
    return all(
        _consistent_actions(member, SUBJECT, choice(member, SUBJECT)) == (answer(member),)
        for member in members
    )


def _consistent_actions(scenario: Scenario, subject: int, predicted: int) -> tuple[int, ...]:
    """Return the options that are right in every structure in which the agent takes `predicted`.

    At level 1 what the agents know is not in question: only the prediction is replaced.
    """
    if scenario.level == 1:
        others = predictions(scenario)
        return tuple(sorted(rational_actions(scenario, {**others, subject: predicted})))
    others_seats = [agent for agent in range(len(AGENTS)) if agent != scenario.player]
    answers = set()
    for knows in structures(scenario.level, (scenario.player, *others_seats)):
        supposed = msgspec.structs.replace(scenario, knows=knows)
        if choice(supposed, subject) == predicted:
            answers.add(answer(supposed))
    return tuple(answers) if len(answers) == 1 else ()


def _draw(chance: Stream, order: int) -> tuple[Member, Member]:
    seats = chance.shuffled(range(len(AGENTS)))  # of the player, the asked agent, rival and third
    story = chance.pick(list(stories()))
    tasks = chance.shuffled(stories()[story].tasks)[: len(TASKS)]
    for _ in range(MOST_TRIES):
        drafts = (_exchange_rows if order == 1 else _exchange_knowledge)(chance, order, seats)
        scenarios = [
            msgspec.structs.replace(draft, id="pair", story=story, tasks=tuple(tasks))
            for draft in drafts
        ]
        if scenarios and _is_pair(order, scenarios[0], scenarios[1], seats[SUBJECT]):
            first, second = (
                Member(
                    {"scenario": msgspec.to_builtins(scenario), "subject": AGENTS[seats[SUBJECT]]}
                )
                for scenario in scenarios
            )
            return first, second
    raise BadInput(f"No pair of order {order} was found in {MOST_TRIES} tries.")


def _draw_row(chance: Stream, ranking: Sequence[int] | None = None) -> Row:
    costs = chance.shuffled(COSTS)[: len(TASKS)]
    if ranking is not None:
        costs = [sorted(costs)[ranking.index(task)] for task in TASKS]
    return _as_row(costs)


def _exchange_rows(chance: Stream, order: int, seats: Sequence[int]) -> list[Scenario]:
    """Return scenarios of level 1 in which the asked agent and the stranger exchange their rows."""
    player, subject, stranger, third = seats
    rows = [_draw_row(chance) for _ in AGENTS]
    exchanged = list(rows)
    exchanged[subject], exchanged[stranger] = rows[stranger], rows[subject]
    knows = _knowledge(1, (player, subject, third, stranger))
    return [_scenario(1, costs, player, knows) for costs in (rows, exchanged)]


def _exchange_knowledge(chance: Stream, order: int, seats: Sequence[int]) -> list[Scenario]:
    """Return scenarios of level 2 or 3 with the same costs and other knowledge."""
    plan = chance.pick(plans(order))
    names = chance.shuffled(TASKS)
    rows = [_draw_row(chance) for _ in AGENTS]
    for part, ranking in zip((SUBJECT, RIVAL, THIRD), plan.rankings, strict=True):
        rows[seats[part]] = _draw_row(chance, [names[task] for task in ranking])
    scenarios = []
    for planned in plan.knows:
        knows: list[tuple[int, ...]] = [()] * len(AGENTS)
        for part, known_parts in enumerate(planned):
            knows[seats[part]] = tuple(sorted(seats[known_part] for known_part in known_parts))
        scenarios.append(_scenario(order, rows, seats[0], tuple(knows)))
    return scenarios


def _scenario(level: int, rows: Sequence[Row], player: int, knows: Knows) -> Scenario:
    costs = rows[0], rows[1], rows[2], rows[3]
    return Scenario("", level, "", ("a", "b", "c", "d"), costs, player,
                    (knows[0], knows[1], knows[2], knows[3]))  # fmt: skip


def _is_pair(order: int, first: Scenario, second: Scenario, subject: int) -> bool:
    """Return whether answers and predictions differ, and no mindless rule tells the members
    apart."""
    if choice(first, subject) == choice(second, subject) or answer(first) == answer(second):
        return False
    if any(rule(first) != rule(second) for rule in _move_rules(order).values()):
        return False
    return all(
        rule(first, subject) == rule(second, subject) for rule in _prediction_rules(order).values()
    )


# --- truth, minds, reasoners ----------------------------------------------------------------------


def _subject_of(game: PartlySeen) -> int:
    return AGENTS.index(game.subject)


def _truth(game: PartlySeen, state: State, others: Mapping[str, PlayerSpec]) -> int:
    return predictions(game.problem)[_subject_of(game)]


def _best_moves(game: PartlySeen, view: View, predicted: int) -> tuple[int, ...]:
    return _consistent_actions(game.as_seen(view), _subject_of(game), predicted)


def _minds(game: PartlySeen, view: View, order: int) -> Iterator[int]:
    """Yield the task that the asked agent takes at every depth that its knowledge needs or more."""
    scenario = game.as_seen(view)
    for depth in range(order - 1, DEEPEST + 1):
        yield choice_at(scenario, _subject_of(game), depth)


def _reason(game: PartlySeen, view: View, order: int) -> int:
    """Return the task that a reasoner of this order expects; order 0 expects its own cheapest."""
    scenario = game.as_seen(view)
    if order == 0:
        return scenario.costs[scenario.player].index(min(scenario.costs[scenario.player]))
    return predictions_at(scenario, order)[_subject_of(game)]


# --- mindless rules -------------------------------------------------------------------------------

AgentRule = Callable[[Scenario, int], int]  # (scenario, asked agent) -> a task


def _rank_of_agent(rank: int, scenario: Scenario, subject: int) -> int:
    """Return the asked agent's task of a rank."""
    row = scenario.costs[subject]
    return sorted(TASKS, key=row.__getitem__)[rank]


def _rank_by_knowledge(scenario: Scenario, subject: int) -> int:
    """Return the asked agent's cheapest task if it knows nobody, its second if it knows one..."""
    return _rank_of_agent(len(scenario.knows[subject]), scenario, subject)


def _cheapest_of_least_informed(scenario: Scenario, subject: int) -> int:
    """Return the cheapest task of the agent that knows the fewest others."""
    others = [agent for agent in range(len(AGENTS)) if agent != scenario.player]
    row = scenario.costs[min(others, key=lambda agent: len(scenario.knows[agent]))]
    return row.index(min(row))


def _structure_rules(level: int) -> Mapping[str, AgentRule]:
    """Return the rules that look at who knows how many others.

    At level 2 the cheapest task of the agent that knows nobody is what the asked agent avoids, so
    it differs in every pair; at level 3 it is the same.
    """
    rules: dict[str, AgentRule] = {
        "the agent's cost by the number of others it knows": _rank_by_knowledge
    }
    if level == 3:
        rules["cheapest of the agent that knows fewest"] = _cheapest_of_least_informed
    return rules


def _prediction_rules(order: int) -> Mapping[str, AgentRule]:
    rules: dict[str, AgentRule] = dict(_structure_rules(order)) if order > 1 else {}
    if order > 1:  # at order 1 the agent's row is what differs
        for rank in TASKS:
            rules[f"the agent's cost of rank {rank}"] = partial(_rank_of_agent, rank)
    return rules


def _move_rules(order: int) -> Mapping[str, Callable[[Scenario], int | None]]:
    """Return the shortcuts; at order 1 without those that read the stranger's row, which is
    exchanged."""
    return {
        name: rule
        for name, rule in SHORTCUTS.items()
        if order > 1 or not name.startswith("stranger")
    }


def _follow_move_rule(
    rule: Callable[[Scenario], int | None], game: PartlySeen, view: View, question: QuestionKind
) -> int | None:
    task = rule(game.as_seen(view))
    return None if question == "know" and task == FAILURE else task


def _follow_prediction_rule(
    rule: AgentRule, game: PartlySeen, view: View, question: QuestionKind
) -> int | None:
    predicted = rule(game.as_seen(view), _subject_of(game))
    if question == "know":
        return predicted
    moves = _best_moves(game, view, predicted)
    return moves[0] if moves else None


def _constant(number: int, game: PartlySeen, view: View, question: QuestionKind) -> int:
    return number


def _rules(order: int) -> Mapping[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {
        name: partial(_follow_move_rule, rule) for name, rule in _move_rules(order).items()
    }
    for name, rule in _prediction_rules(order).items():
        rules[name] = partial(_follow_prediction_rule, rule)
    for number in TASKS:
        rules[f"always option {number}"] = partial(_constant, number)
    return rules


PAIRS = (
    PairRecipe(
        name="tasks",
        title="four tasks, who knows whose costs",
        game="toma_po",
        about="who knows whose costs (order 1: whose costs the player knows), so one agent takes "
        "another task",
        seat=PLAYER,
        probe="their_choice",
        subject="",
        orders=ORDERS,
        draw=_draw,
        truth=_truth,
        best_moves=_best_moves,
        minds=_minds,
        minds_about="agents that decide by the stated rule, at least as deep as their knowledge "
        "needs",
        rules=_rules,
        reason=_reason,
    ),
)
