"""The card of the game `battery`, which asks questions about stories: mindless rules, their
inverses, and tests of whether learners answer generated questions from surface features."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.registry.study import instance
from sally.core.rules.card import Attack, Card, CardQuestion, Condition, both_ways
from sally.games.battery.items import Item
from sally.games.battery.mindless import SURFACE, content, words_of
from sally.games.battery.rules import PER_STORY, Battery, Generator, generate_item

ITEMS = 120
SEED = 2025  # fixed before any result was seen
SKIPS = {
    "belief_action": ("where_it_is", "old_state", "other_person"),
    "applied": ("always_aware", "never_aware"),
}
NESTED_SKIPS = ("where_it_is", "talk_ignored", "without_mind_1")
CHANCE = {"nested": 100 / 3, "belief_action": 100 / 3, "applied": 50.0}


def _condition(name: str, generator: str, skips: Sequence[str], **params: object) -> Condition:
    return Condition(
        name=name,
        instances=tuple(
            instance(
                "battery",
                f"{name} {n:03d}",
                generator=generator,
                number=n,
                generator_seed=SEED,
                **params,
            )
            for n in range(ITEMS)
        ),
        seat="reader",
        shortcuts=(
            *(both_ways(rule) for rule in SURFACE),
            *(both_ways("skips", what=skipped_part) for skipped_part in skips),
        ),
        metrics=("literal",),
        chance={"literal": CHANCE[generator]},
    )


# --- attacks --------------------------------------------------------------------------------------

FEATURES = (
    "place of the option as printed",
    "letters",
    "times its words are in the story",
    "where its words come first, as a share of the story",
    "where its words come last",
    "share of its words that the story has",
    "times its words are in the question",
    "words of the story",
    "statements of the story",
)


def features(item: Item, place: int) -> tuple[float, ...]:
    """Return surface features of an option."""
    option_words = [content(option) for option in item.options]
    distinctive = option_words[place] - frozenset.intersection(*option_words)
    story = words_of(item.story)
    places = [n for n, word in enumerate(story) if word in distinctive]
    none = float("nan")
    return (
        float(place),
        float(len(item.options[place])),
        float(len(places)),
        places[0] / len(story) if places else none,
        places[-1] / len(story) if places else none,
        len(option_words[place] & content(item.story)) / max(1, len(option_words[place])),
        float(sum(word in distinctive for word in words_of(item.question))),
        float(len(story)),
        float(item.story.count("\n")),
    )


def number_of(generator: Generator, n: int) -> tuple[int, int | None]:
    """Return the number of the n-th question on which learners are tested, and its order of belief,
    or None if the number alone identifies it. Each question is from a different story.

    Questions about the world (order 0) are left out, because their answer is the real state of the
    world.
    """
    if generator == "nested":
        return n, 1 + n % 4
    per = PER_STORY[generator]
    return n * per + n % per, None


def fresh_items(generator: Generator, n_items: int, seed: int) -> list[Item]:
    """Return generated items, each from a different story, on which learners are tested."""
    return [generate_item(generator, seed, *number_of(generator, n)) for n in range(n_items)]


def _attack(generator: Generator) -> Attack:
    def fresh(n_items: int, seed: int) -> list[CardQuestion]:
        return [
            CardQuestion(tuple(features(item, n) for n in range(len(item.options))), item.answer)
            for item in fresh_items(generator, n_items, seed)
        ]

    def pages(n_items: int, seed: int) -> list[tuple[Battery, int]]:
        pages = []
        for n in range(n_items):
            number, order = number_of(generator, n)
            game = Battery(generator=generator, number=number, order=order, generator_seed=seed)
            turn = game.schedule[0]
            pages.append((game, turn.shown.index(turn.item.answer)))
        return pages

    return Attack(generator, FEATURES, fresh, pages=pages)


CARD = Card(
    family="battery",
    no_ideal="a story has no partner to learn about: its answer is in the text",
    about="scores on our own items without a mind: surface rules, and readings that skip a step",
    conditions=(
        *(_condition(f"nested, order {k}", "nested", NESTED_SKIPS, order=k) for k in range(1, 5)),
        *(_condition(name, name, skips) for name, skips in SKIPS.items()),
    ),
    attacks=(_attack("nested"), _attack("belief_action"), _attack("applied")),
)
