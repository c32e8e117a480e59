"""Features of the options of a question, generated from its rendered page without knowledge of the
game.

A page is read as a list of lines `- head: segment; segment`. A segment starts with its label
("likes", "follows"); commas separate its phrases. A phrase belongs to an option if it names the
option or quotes the option's own line. Lines that name the heads of other lines form a graph.

The features of an option count the phrases that belong to it, by label, by place in the segment, by
place of the line on the page, by the labels of the line's outgoing and incoming links, and by
combinations of these. Further features are the numbers that follow the option's name, with their
rank in the line, and how often and where the name occurs. No agent's choice is computed. With
`joined`, the labels that belong to the option in a line are also counted together with the labels
in each line that this line links to.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sally.core.rules.card import CardQuestion
from sally.core.rules.game import GameSpec, Seat

MOST_FEATURES = 160  # the ones that vary most between options
PRODUCTS_OF = 8  # of these, all pairwise products are added
NUMBER = re.compile(r"\(?(\d+(?:\.\d+)?)\)?")
PHRASES = re.compile(r", | and ")


def page_of(spec: GameSpec, game: Any) -> tuple[list[str], list[str]]:
    """Return the lines that the first seat reads at the start, and the names of its options."""
    seat: Seat = game.to_move(game.start())[0]
    words: Any = spec.words(game, spec.texts)
    state = game.start()
    view, options = game.observe(state, seat), game.options(state, seat)
    page = [*words.rules(seat).split("\n"), *words.lines(view, 0, "agent_first")]
    return page, [str(words.name(option)) for option in options]


def features_of(
    page: Sequence[str], options: Sequence[str], joined: bool = False
) -> list[Counter[str]]:
    """Return the features of each option, such as its position and how often the text names it."""
    features: list[Counter[str]] = [Counter() for _ in options]
    text = "\n".join(page)
    lines = [line[2:].rstrip(".") for line in page if line.startswith("- ") and ": " in line]
    heads = [line.partition(": ")[0] for line in lines]
    bodies = [line.partition(": ")[2] for line in lines]
    own_bodies = {option: bodies[heads.index(option)] for option in options if option in heads}
    names, is_named, edges = _graph(heads, bodies)
    for place, option in enumerate(options):
        counts = features[place]
        counts["place on the menu"] = place
        counts["letters in its name"] = len(option)
        counts["times named"] = text.count(option)
        counts["first named at"] = text.find(option)
        for number, (head, body) in enumerate(zip(heads, bodies, strict=True)):
            if head in options:
                continue
            phrases = _belonging(body, option, own_bodies.get(option, ""))
            signature = f"names {names[number]}, named {is_named[number]}"
            third = f"third {3 * number // len(lines) + 1} of the page"
            for label, first in phrases:
                for suffix in ("", names[number], is_named[number], signature, third):
                    counts[f"{label} {suffix}".strip()] += 1
                    if first:
                        counts[f"{label} first {suffix}".strip()] += 1
            labels = "+".join(sorted({label for label, _ in phrases}))
            if "+" in labels:
                counts[labels] += 1
                counts[f"{labels} {signature}"] += 1
        for source, label, target in edges if joined else ():
            source_labels, target_labels = (
                "+".join(
                    sorted(
                        {x for x, _ in _belonging(bodies[n], option, own_bodies.get(option, ""))}
                    )
                )
                for n in (source, target)
            )
            counts[f"({source_labels}) {label} ({target_labels})"] += 1
    _add_numbers(features, bodies, heads, options)
    return features


Edge = tuple[int, str, int]


def _graph(heads: Sequence[str], bodies: Sequence[str]) -> tuple[list[str], list[str], list[Edge]]:
    """Return, for each line, the labels of the links that start there and of those that end there;
    and all links, as (from, label, to)."""
    edges: list[Edge] = []
    names: list[list[str]] = [[] for _ in heads]
    is_named: list[list[str]] = [[] for _ in heads]
    for source, body in enumerate(bodies):
        for segment in body.split("; "):
            label, _, linked = segment.partition(" ")
            for target, head in enumerate(heads):
                if target != source and linked == head:
                    names[source].append(label)
                    is_named[target].append(label)
                    edges.append((source, label, target))
    return ["/".join(sorted(n)) for n in names], ["/".join(sorted(n)) for n in is_named], edges


def _belonging(body: str, option: str, own_body: str) -> list[tuple[str, bool]]:
    """Return the label of each phrase that belongs to an option, and whether the phrase comes first
    in its segment."""
    labels = []
    for segment in body.split("; "):
        label, _, phrases = segment.partition(" ")
        for n, phrase in enumerate(PHRASES.split(phrases)):
            if phrase == option or (
                own_body and f" {phrase} " in f" {own_body} ".replace(",", " ")
            ):
                labels.append((label, n == 0))
    return labels


def _add_numbers(
    features: Sequence[Counter[str]],
    bodies: Sequence[str],
    heads: Sequence[str],
    options: Sequence[str],
) -> None:
    """Add the numbers that follow each option's name, their sums, and their ranks in the line."""
    for head, body in zip(heads, bodies, strict=True):
        values: dict[int, float] = {}
        for place, option in enumerate(options):
            _, separator, following = body.partition(f"{option} ")
            if separator and (number := NUMBER.match(following)):
                values[place] = float(number[1])
        for place, value in values.items():
            counts: Any = features[place]
            counts[f"number of {head}"] = value
            counts[f"rank of {head}"] = sum(rival < value for rival in values.values())
            counts["sum of numbers"] += value
            counts["sum of ranks"] += counts[f"rank of {head}"]
            counts["times least"] += value == min(values.values())


def pose_questions(
    spec: GameSpec, games: Sequence[tuple[Any, int]], joined: bool = False
) -> tuple[tuple[str, ...], list[CardQuestion]]:
    """Return the names of the generated features, and every question as values of these features.

    `games` is a list of pairs: a problem, and the position of its right answer among the options.
    """
    counted = [(features_of(*page_of(spec, game), joined), right) for game, right in games]
    names = _most_varied([options for options, _ in counted])
    products = [(a, b) for n, a in enumerate(names[:PRODUCTS_OF]) for b in names[n + 1 :][:7]]
    rows = []
    for options, right in counted:
        values = [
            (*(float(o[n]) for n in names), *(float(o[a]) * o[b] for a, b in products))
            for o in options
        ]
        rows.append(CardQuestion(tuple(values), right))
    return (*names, *(f"{a} times {b}" for a, b in products)), rows


def _most_varied(questions: Sequence[Sequence[Mapping[str, float]]]) -> list[str]:
    """Return the features that vary within the most questions, the most variable first."""
    varied: dict[str, int] = defaultdict(int)
    for options in questions:
        for name in {name for option in options for name in option}:
            varied[name] += len({option.get(name, 0) for option in options}) > 1
    ranked = sorted(varied, key=lambda name: (-varied[name], name))
    return [name for name in ranked[:MOST_FEATURES] if varied[name]]
