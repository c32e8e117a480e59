"""Search short rules that solve problems meant to need a depth of reasoning.

    python -m benchmarks.rule_search toma_po      # blocks 2 and 3, fresh scenarios
    python -m benchmarks.rule_search toma_mg      # level 3, fresh scenarios
    python -m benchmarks.rule_search battery      # items of `nested`, with minds permuted
    python -m benchmarks.rule_search bargaining   # stored problems that need a prediction
    python -m benchmarks.rule_search cipher       # stored decisions of the set `which`

Rules over options: the option with the lowest or highest value of one feature, after keeping or
leaving out the options with the lowest or highest value of up to two other features. The best
rule is chosen on the problems of one seed and scored on those of another; several options that a
rule leaves count in equal parts. A logistic model and boosted trees learn from the same features.
In `bargaining` and `cipher` the rules are whole ways of playing, scored on the stored problems.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, permutations, product
from statistics import fmean
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.problem_sets import toma_po_blocks as po_blocks
from sally.core.log.events import PlayerSpec, Setup, label
from sally.core.rules.card import CardQuestion
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.games.association.minds import Mind
from sally.games.bargaining.instances import ENOUGH, Problem
from sally.games.bargaining.instances import frozen as bargaining_problems
from sally.games.battery.beliefs import place_believed
from sally.games.battery.nested import PERSONS, _events
from sally.games.cipher.decisions import position_of
from sally.games.cipher.instances import frozen as cipher_problems
from sally.games.cipher.listeners import (
    Listener,
    Position,
    decoder_odds,
    digits,
    listener_odds,
    unsaid,
)
from sally.games.toma.mg import generators as mg_generators
from sally.games.toma.mg.rules import PLACES, depths, destinations, profiles
from sally.games.toma.mg.rules import Scenario as MinorityScenario
from sally.games.toma.mg.surface import counters_of, mentions
from sally.games.toma.po.rules import TASKS, Scenario
from sally.games.toma.po.rules import answer as task_of
from sally.runner import local
from sally.runner.seating import resolve_setup

Floats = NDArray[np.float64]


class Extreme(msgspec.Struct, frozen=True):
    """The options with the lowest or highest value of a feature."""

    feature: int
    is_highest: bool


class Rule(msgspec.Struct, frozen=True):
    """A short rule: up to two filters, then the extreme of one feature."""

    words: str
    filters: tuple[tuple[Extreme, bool], ...]  # the flag: keep these options, or leave them out
    choice: Extreme


MOST_FEATURES = 8  # with two filters


def short_rules(names: Sequence[str]) -> Iterator[Rule]:
    """Yield every rule over these features: two filters for few features, else one."""

    def describe(extreme: Extreme) -> str:
        return f"{'highest' if extreme.is_highest else 'lowest'} {names[extreme.feature]}"

    every_extreme = [Extreme(n, highest) for n in range(len(names)) for highest in (False, True)]
    every_filter = list(product(every_extreme, (False, True)))
    max_filters = 2 if len(names) <= MOST_FEATURES else 1
    for count in range(max_filters + 1):
        for filters in permutations(every_filter, count):
            for choice in every_extreme:
                steps = [f"{'of' if keeps else 'without'} the {describe(extreme)}"
                         for extreme, keeps in filters]  # fmt: skip
                yield Rule(", ".join([*steps, f"the {describe(choice)}"]), filters, choice)


def extremes(values: Floats, allowed: NDArray[np.bool_], highest: bool) -> NDArray[np.bool_]:
    """Return which of the allowed options have the extreme value; options without one have none."""
    signed = np.where(allowed & ~np.isnan(values), values if highest else -values, -np.inf)
    best = signed.max(axis=1, keepdims=True)
    return np.asarray((signed == best) & (best > -np.inf))


def chosen_options(rule: Rule, options: Floats) -> NDArray[np.bool_]:
    """Return which options a rule leaves; `options` is indexed by (problem, option, feature)."""
    allowed = np.ones(options.shape[:2], dtype=bool)
    for extreme, keeps in rule.filters:
        selected = extremes(options[:, :, extreme.feature], allowed, extreme.is_highest)
        allowed = selected if keeps else allowed & ~selected
    return extremes(options[:, :, rule.choice.feature], allowed, rule.choice.is_highest)


def rule_share(rule: Rule, options: Floats, right: NDArray[np.intp]) -> float:
    """Return how often a rule is right."""
    chosen = chosen_options(rule, options)
    count = chosen.sum(axis=1)
    hits = chosen[np.arange(len(right)), right]
    return float(np.where(count > 0, hits / np.maximum(count, 1), 0.0).mean())


def as_arrays(questions: Sequence[CardQuestion]) -> tuple[Floats, NDArray[np.intp]]:
    return (
        np.array([question.options for question in questions], dtype=float),
        np.array([question.right for question in questions], dtype=np.intp),
    )


def learned_share(training: Sequence[CardQuestion], held_out: Sequence[CardQuestion]) -> str:
    """Return how often learners are right that read the features of all options."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    train, test = as_arrays(training), as_arrays(held_out)

    def rows(options: Floats) -> Floats:
        """Return, for each option, its features, their ranks, and those of all options."""
        count, menu, features = options.shape
        ranks = np.argsort(np.argsort(options, axis=1), axis=1)
        all_options = np.repeat(options.reshape(count, 1, menu * features), menu, axis=1)
        place = np.broadcast_to(np.arange(menu)[None, :, None], (count, menu, 1))
        joined = np.concatenate([options, ranks, all_options, place], axis=2)
        return np.nan_to_num(joined.reshape(count * menu, -1), nan=-1)

    labels = (np.arange(train[0].shape[1])[None] == train[1][:, None]).ravel()
    scaler = StandardScaler().fit(rows(train[0]))
    shares = []
    for name, model in (
        ("logistic", LogisticRegression(max_iter=500)),
        ("trees", HistGradientBoostingClassifier(max_iter=150, random_state=1)),
    ):
        model.fit(scaler.transform(rows(train[0])), labels)
        ratings = model.decision_function(scaler.transform(rows(test[0])))
        picks = ratings.reshape(test[0].shape[:2]).argmax(axis=1)
        shares.append(f"{name} {np.mean(picks == test[1]):.2f}")
    return ", ".join(shares)


def report(
    title: str, names: Sequence[str], draw: Callable[[int], Sequence[CardQuestion]], seed: int
) -> None:
    """Print the best short rule of a set, and learners on the same features."""
    training, held_out = draw(seed), draw(seed + 1)
    rules = list(short_rules(names))
    train, test = as_arrays(training), as_arrays(held_out)
    best = max(rules, key=lambda rule: rule_share(rule, *train))
    answers = np.bincount(test[1]) / len(test[1])
    print(
        f"{title}: best of {len(rules):,} rules {rule_share(best, *test):.2f} "
        f"({best.words}); learners: {learned_share(training, held_out)}; best constant option "
        f"{answers.max():.2f}; n {len(held_out)}",
        flush=True,
    )


# --- sets -----------------------------------------------------------------------------------------


def roles(scenario: Scenario) -> list[int]:
    """Return the player, then the agents it can predict, by how many others they know; then the
    rest."""
    others = [agent for agent in range(4) if agent != scenario.player]
    is_predicted = set(scenario.knows[scenario.player])
    others.sort(key=lambda agent: (agent not in is_predicted, len(scenario.knows[agent])))
    return [scenario.player, *others]


def tasks_by_cost(scenario: Scenario) -> CardQuestion:
    """Return the tasks and failure with their costs to each role."""
    agents = roles(scenario)
    cheapest = [int(np.argmin(scenario.costs[agent])) for agent in agents[1:]]
    tasks = [
        (
            *(float(scenario.costs[agent][task]) for agent in agents),
            float(cheapest.count(task)),
            0.0,
        )
        for task in TASKS
    ]
    failure = (*(float("nan"),) * 5, 1.0)
    return CardQuestion((*tasks, failure), task_of(scenario))


TASK_FEATURES = (
    "cost to the player",
    "cost to the agent who knows fewest",
    "cost to the agent who knows more",
    "cost to the agent who knows most (or cannot be predicted)",
    "number of others whose cheapest task it is",
    "chance of being failure",
)


def search_toma_po(count: int, seed: int) -> None:
    for block in (2, 3):

        def draw(drawn_seed: int, block: int = block) -> list[CardQuestion]:
            scenarios = islice(po_blocks.scenarios(block, drawn_seed), count)
            return [tasks_by_cost(scenario) for scenario in scenarios]

        report(f"toma_po, block {block}", TASK_FEATURES, draw, seed)


def places_by_visits(scenario: MinorityScenario) -> tuple[float, ...]:
    """Return, place by place, how many agents of depth 1 and of depth 1 or 2 go there."""
    listed = profiles(scenario)
    deep, gone = depths(listed), destinations(listed)
    return tuple(
        float(sum(gone[agent] == place and deep[agent] <= max_depth for agent in gone))
        for place in PLACES
        for max_depth in (1, 2)
    )


VISITS = (
    "number of agents of depth 1 who go there",
    "number of agents of depth 1 or 2 who go there",
)


def search_toma_mg(count: int, seed: int) -> None:
    """Search rules over mentions, and over the visits of agents that are not of the last depth."""
    names = tuple(name for name in counters_of(3, False))

    def draw(drawn_seed: int) -> list[CardQuestion]:
        questions = []
        for scenario in islice(mg_generators.scenarios(3, drawn_seed), count):
            surface, visits = mentions(scenario, False), places_by_visits(scenario)
            options = tuple(
                (*map(float, surface.options[place]), *visits[2 * place : 2 * place + 2])
                for place in PLACES
            )
            questions.append(CardQuestion(options, surface.right))
        return questions

    report("toma_mg, level 3", (*names, *VISITS), draw, seed)


def search_battery(count: int, seed: int) -> None:
    """Print how often the key of an item changes if the minds of its question change places."""
    for order in (2, 3, 4):
        changed = last_line = 0
        for number in range(count):
            draws = Stream(seed, "rule search", order, number)
            chain = tuple(draws.shuffled(range(PERSONS))[:order])
            events = _events(draws, chain)
            key = place_believed(events, chain)
            changed += any(
                place_believed(events, permuted) != key for permuted in permutations(chain)
            )
            lines = [event.place for event in events if {*chain} <= {*event.present}]
            last_line += lines[-1] == key
        print(
            f"battery, nested, order {order}: the key changes under some permutation of the minds "
            f"in {changed} of {count}; the last line with all asked names is right in {last_line}"
        )


def search_bargaining() -> None:
    """Print how often simple ways of quoting solve the problems of each depth."""
    players = [PlayerSpec(name) for name in QUOTES]
    players += [PlayerSpec("constant", {"q": price}) for price in range(5, 100, 5)]
    for depth in (1, 2):
        problems = [problem for problem in bargaining_problems().problems if problem.depth == depth]
        shares = {label(player): solved_share(player, problems) for player in players}
        best = max(shares, key=lambda name: shares[name])
        print(
            f"bargaining, problems of depth {depth}: best of {len(players)} ways of quoting "
            f"{shares[best]:.2f} ({best}); n {len(problems)}",
            flush=True,
        )


QUOTES = ("truthful", "beyond_limit", "one_quarter", "three_quarters", "half", "fifty_capped",
          "copy_last_capped", "away_from_last", "split_own_and_last", "concede_1", "harden_1",
          "random")  # fmt: skip


def solved_share(player: PlayerSpec, problems: Sequence[Problem]) -> float:
    """Return the share of problems in which a player earns enough of the optimum."""
    solved = []
    for problem in problems:
        setup = Setup(problem.instance(), 1, {problem.seat: player, **problem.across})
        payoffs = local.play(resolve_setup(setup)).payoffs
        assert payoffs is not None
        solved.append(payoffs[Seat(problem.seat)] >= ENOUGH * problem.optimum)
    return fmean(solved)


MOST_PLACES = 160  # how far down the list of nearest words a rule reaches


def search_cipher() -> None:
    """Print how often giving the n-th nearest word for each digit wins a decision."""
    positions = [position_of(problem) for row in cipher_problems("which").rows for problem in row]
    for kind in ("history", "bayes"):
        wins = np.array(
            [[wins_with(kind, position, n) for n in range(MOST_PLACES)] for position in positions]
        )
        best = int(wins[::2].mean(axis=0).argmax())
        print(
            f"cipher, set which, interceptor by {kind}: best of {MOST_PLACES} rules "
            f"{wins[1::2, best].mean():.2f} (word {best + 1} of the nearest words, chosen on the "
            f"other half); n {len(positions) // 2}",
            flush=True,
        )


def wins_with(kind: Literal["history", "bayes"], position: Position, place: int) -> bool:
    """Return whether the decoder reads the code and the interceptor does not."""
    hints = [unsaid(Mind(), position, digit)[place] for digit in digits(position.code)]
    true_index = position.codes_left.index(position.code)
    read = decoder_odds(Mind(), position.keywords, hints, position.codes_left)
    heard_as = listener_odds(Listener(kind), position.filed, hints, position.codes_left)
    return bool(read.argmax() == true_index and heard_as.argmax() != true_index)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "games", nargs="+", choices=["toma_po", "toma_mg", "battery", "bargaining", "cipher"]
    )
    parser.add_argument("--count", type=int, default=1000, help="problems of each seed")
    parser.add_argument("--seed", type=int, default=2071)
    arguments = parser.parse_args()
    fresh = {"toma_po": search_toma_po, "toma_mg": search_toma_mg, "battery": search_battery}
    stored = {"bargaining": search_bargaining, "cipher": search_cipher}
    for game in arguments.games:
        if game in fresh:
            fresh[game](arguments.count, arguments.seed)
        else:
            stored[game]()


if __name__ == "__main__":
    main()
