"""Search short rules that predict on certified pairs without the reasoning that a pair needs.

    python -m benchmarks.pair_rules             # the table of the page on pairs
    python -m benchmarks.pair_rules --record    # and the record for the checklist of claims

Rules are those of `benchmarks.rule_search`: the option with the lowest or highest value of one
feature, after keeping or leaving out the options with the lowest or highest value of up to two
others. Options are the lines of a page (`battery`, `eleven_twenty`), tasks (`toma_po`) or places
(`toma_mg`, where a rule may be another one for agents that follow and for agents that avoid).
Features are what a line, a row of costs or a list of likes says by itself. The best rule is chosen
on fresh pairs and scored on the pairs of Sally-2. Some rules are the whole solution: of two filters
where two steps are enough. `sally/studies/records/sally_2_rules.json` holds the best rule of each
game and order; an order that a rule solves certifies no theory of mind.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.rule_search import Floats, Rule, chosen_options, short_rules
from sally.analysis.design.claims import ORDER
from sally.analysis.pairs.positions import AskedPosition, open_position, right_answers
from sally.core.registry.recipes import find_recipe
from sally.core.rules.pair import Pair, PairRecipe, draw_pair
from sally.games.battery.watched import OUTSIDE, draw_story
from sally.games.level_k.notes import OTHER
from sally.games.toma.mg.rules import PLACES, Profile, depths, destinations, profiles
from sally.games.toma.po.rules import AGENTS, TASKS
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.pairs import BOUNDS
from sally.studies import sally_2

SEED = 59  # of the pairs on which rules are chosen
RECORD = Path(sally_2.__file__).parent / "records" / sally_2.SHORT_RULES


class Page(NamedTuple):
    """What a rule sees of a position: the features of its options, and what each one answers."""

    options: list[tuple[float, ...]]
    answers: list[Any]
    case: str = ""  # rules may differ between cases


class Features(NamedTuple):
    """The features of a game's options, and how they are read."""

    names: tuple[str, ...]
    read: Callable[[AskedPosition], Page]


# --- features -------------------------------------------------------------------------------------


def lines_of_story(position: AskedPosition) -> Page:
    """Return the lines of a story of `watched`: who is present, and on which storey."""
    game = position.game
    number, member = divmod(game.number, 2)
    story = draw_story(game.generator_seed, number, game.order)
    lines = story.members[member]
    options: list[tuple[float, ...]] = []
    for place, line in enumerate(lines):
        storeys = [line.storeys[person] for person in story.chain]
        steps = [upper - lower for upper, lower in pairwise(storeys)] or [0]
        options.append(
            (
                place,
                sum(storey != OUTSIDE for storey in storeys),
                storeys[0],
                storeys[-1],
                storeys[0] - storeys[-1],
                steps[0],
                steps[-1],
                sum(storey != OUTSIDE for storey in line.storeys),
            )
        )
    return Page(options, [line.place for line in lines])


def lines_of_notes(position: AskedPosition) -> Page:
    """Return the lines of a page of notes: whom they name, and what they say was read."""
    notes = position.game.notes
    read = [reading.note for reading in notes.readings]
    options: list[tuple[float, ...]] = [
        (
            place,
            reading.person == OTHER,
            reading.sees_you,
            read.count(reading.note),
            notes.notes[reading.note].amount,
        )
        for place, reading in enumerate(notes.readings)
    ]
    return Page(options, [notes.notes[note].amount - notes.depth for note in read])


def costs_of_tasks(position: AskedPosition) -> Page:
    """Return the costs of tasks to agents, which are told apart by how many others they know."""
    game = position.game
    scenario = game.as_seen(position.view)
    subject = AGENTS.index(game.subject)
    others = [agent for agent in range(len(AGENTS)) if agent not in (scenario.player, subject)]
    is_predicted = {*scenario.knows[scenario.player]}
    others.sort(key=lambda agent: (agent not in is_predicted, len(scenario.knows[agent])))
    agents = (scenario.player, subject, *others)
    options = [tuple(float(scenario.costs[agent][task]) for agent in agents) for task in TASKS]
    return Page(options, list(TASKS))


def wishes_for_places(position: AskedPosition) -> Page:
    """Return how often the asked agent and the one that it names like and dislike each place, and
    how many agents without relations go there."""
    game = position.game
    listed = profiles(game.as_seen(position.view))
    subject = listed[game.agents[game.subject]]
    is_follower = subject.follows is not None
    named_number = subject.follows if is_follower else subject.avoids
    assert named_number is not None
    deep, gone = depths(listed), destinations(listed)

    def wishes(agent: Profile, place: int) -> tuple[int, int]:
        likes, dislikes = (
            sum(place in places for places in lists) for lists in (agent.likes, agent.dislikes)
        )
        return likes, dislikes

    options: list[tuple[float, ...]] = [
        (
            *wishes(subject, place),
            *wishes(listed[named_number], place),
            sum(gone[agent] == place and deep[agent] == 1 for agent in gone),
        )
        for place in PLACES
    ]
    return Page(options, list(PLACES), "follows" if is_follower else "avoids")


FEATURES: Mapping[str, Features] = {
    "eleven_twenty": Features(
        (
            "number of the line",
            "whether it names the other player",
            "whether it says that the asked player was seen",
            "number of readings of its note",
            "amount on its note",
        ),
        lines_of_notes,
    ),
    "battery": Features(
        (
            "number of the line",
            "number of asked people present",
            "storey of the first asked",
            "storey of the last asked",
            "storeys from the last asked up to the first",
            "storeys from the second asked up to the first",
            "storeys from the last asked up to the one before",
            "number of people present",
        ),
        lines_of_story,
    ),
    "toma_po": Features(
        (
            "cost to the player",
            "cost to the asked agent",
            "cost to the other who knows fewest",
            "cost to the other who knows most",
        ),
        costs_of_tasks,
    ),
    "toma_mg": Features(
        (
            "number of likes of the asked agent",
            "number of dislikes of the asked agent",
            "number of likes of the agent it names",
            "number of dislikes of the agent it names",
            "number of agents without relations who go there",
        ),
        wishes_for_places,
    ),
}


# --- scores ---------------------------------------------------------------------------------------


class ReadPairs(NamedTuple):
    """Both members of many pairs: features by (pair, option, feature), and what each option gains
    (1: right here, -1: right in the other member)."""

    options: tuple[Floats, Floats]
    gains: tuple[Floats, Floats]
    cases: NDArray[np.str_]

    def of_case(self, case: str) -> ReadPairs:
        is_case = self.cases == case
        first, second = self.options
        first_gains, second_gains = self.gains
        return ReadPairs(
            (first[is_case], second[is_case]),
            (first_gains[is_case], second_gains[is_case]),
            self.cases[is_case],
        )


def read_pairs(recipe: PairRecipe, pairs: Sequence[Pair], features: Features) -> ReadPairs:
    """Return the options of both members of these pairs."""
    members: list[list[tuple[Page, tuple[Any, ...]]]] = [[], []]
    for pair in pairs:
        for member, pages in enumerate(members):
            position = open_position(recipe, pair, member)
            pages.append((features.read(position), tuple(right_answers(recipe, position)["know"])))
    menu_width = max(len(page.options) for pages in members for page, _ in pages)
    options = [np.full((len(pairs), menu_width, len(features.names)), np.nan) for _ in members]
    gains = [np.zeros((len(pairs), menu_width)) for _ in members]
    for member, pages in enumerate(members):
        for number, (page, right) in enumerate(pages):
            crossed = members[1 - member][number][1]
            options[member][number, : len(page.options)] = page.options
            gains[member][number, : len(page.options)] = [
                (answer in right) - (answer in crossed) for answer in page.answers
            ]
    cases = np.array([page.case for page, _ in members[0]])
    return ReadPairs((options[0], options[1]), (gains[0], gains[1]), cases)


def gains_of(rule: Rule, pairs: ReadPairs) -> Floats:
    """Return the J of a rule's predictions in each pair; options that it leaves count equally."""
    total = np.zeros(len(pairs.cases))
    for options, gains in zip(pairs.options, pairs.gains, strict=True):
        chosen = chosen_options(rule, options)
        total += (chosen * gains).sum(axis=1) / np.maximum(chosen.sum(axis=1), 1)
    return total / 2


@cache
def rules_of(names: tuple[str, ...], filters: int) -> tuple[Rule, ...]:
    """Return every rule over these features with at most so many filters."""
    return tuple(rule for rule in short_rules(names) if len(rule.filters) <= filters)


def best_rules(pairs: ReadPairs, names: tuple[str, ...], filters: int) -> dict[str, Rule]:
    """Return, for each case, the rule with the highest J on these pairs."""
    return {
        str(case): _best_rule(pairs.of_case(str(case)), rules_of(names, filters))
        for case in np.unique(pairs.cases)
    }


def _best_rule(pairs: ReadPairs, rules: Sequence[Rule]) -> Rule:
    return max(rules, key=lambda rule: float(gains_of(rule, pairs).mean()))


def score_rules(rules: Mapping[str, Rule], pairs: ReadPairs) -> sally_2.TableScore:
    """Return the J of the rules of each case on these pairs."""
    gains = np.concatenate([gains_of(rule, pairs.of_case(case)) for case, rule in rules.items()])
    estimate = mean_by_rule(gains, range(len(gains)), BOUNDS)
    assert estimate.value is not None
    low, high = estimate.interval or BOUNDS
    words = "; ".join(
        f"{case}: {rule.words}" if case else rule.words for case, rule in rules.items()
    )
    j, low, high = (round(number, 3) for number in (estimate.value, low, high))
    return sally_2.TableScore(words, j, low, high, len(gains))


def search(game: str, recipe: str, order: int, count: int) -> Iterator[sally_2.TableScore]:
    """Yield the score on Sally-2 of the best rules with no filter, at most one and at most two."""
    row, features = sally_2.row_named(game), FEATURES[game]
    pair_recipe = find_recipe(row.game, recipe)
    drawn_pairs = [draw_pair(pair_recipe, order, SEED, number) for number in range(count)]
    frozen = [pair for pair in sally_2.frozen_pairs(game) if pair.order == order]
    training, held_out = (
        read_pairs(pair_recipe, pairs, features) for pairs in (drawn_pairs, frozen)
    )
    for filters in range(3):
        yield score_rules(best_rules(training, features.names, filters), held_out)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="fresh pairs of each order")
    parser.add_argument("--record", action="store_true", help="write the record")
    arguments = parser.parse_args()
    record: dict[str, dict[int, sally_2.TableScore]] = {}
    print("| game | order | rules | no filter | one | two | best rule |\n|" + "---|" * 7)
    for game, features in FEATURES.items():
        for recipe, order in sally_2.row_named(game).kinds:
            if order < ORDER:
                continue
            scores = list(search(game, recipe, order, arguments.count))
            cells = " | ".join(f"{s.j:.2f} [{s.low:.2f}, {s.high:.2f}]" for s in scores)
            count = len(rules_of(features.names, 2))
            print(f"| `{game}` | {order} | {count:,} | {cells} | {scores[-1].table} |", flush=True)
            record.setdefault(game, {})[order] = scores[-1]
    if arguments.record:
        RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


if __name__ == "__main__":
    main()
