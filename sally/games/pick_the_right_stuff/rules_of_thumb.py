"""Mindless rules, each a pure function of the manager's information, and their inverses.

A rule returns the boxes from which it would draw uniformly, so its expected score is computed, not
sampled. No rule considers what the waiting user has seen.
"""

from collections import Counter
from collections.abc import Callable

from sally.games.pick_the_right_stuff.locker import Instance, View, looks, occupied_in, questions

RuleOfThumb = Callable[[View], tuple[int, ...]]


def start(view: View) -> tuple[int, ...]:
    """Name the box where the item was stored."""
    return (view.states[0].index(view.asked),)


def true(view: View) -> tuple[int, ...]:
    """Name the box where the item is."""
    return (view.states[-1].index(view.asked),)


def last_seen(view: View) -> tuple[int, ...]:
    """Name the item's box at the time of the last look by any user, or the start box if there was
    no look."""
    states_shown = [look.shown for look in looks(view)]
    return (view.states[states_shown[-1] if states_shown else 0].index(view.asked),)


def most_frequent(view: View) -> tuple[int, ...]:
    """Draw from the occupied boxes that held the item in the most states."""
    stays = Counter(state.index(view.asked) for state in view.states)
    boxes = occupied_in(view.states[-1])
    largest = max(stays[box] for box in boxes)
    return tuple(box for box in boxes if stays[box] == largest)


def recency(view: View) -> tuple[int, ...]:
    """Name the box that held the item most recently, apart from its current box.

    Only boxes that are occupied now are considered; if there is no such box, the current box is
    named.
    """
    places = [state.index(view.asked) for state in reversed(view.states)]
    boxes = set(occupied_in(view.states[-1])) - {places[0]}
    return (next((box for box in places if box in boxes), places[0]),)


def first_box(view: View) -> tuple[int, ...]:
    """Name the occupied box with the lowest number."""
    return occupied_in(view.states[-1])[:1]


def random(view: View) -> tuple[int, ...]:
    """Draw from the occupied boxes."""
    return occupied_in(view.states[-1])


def any_box(view: View) -> tuple[int, ...]:
    """Guess any box, with equal probability; empty boxes are included."""
    return tuple(range(view.users))


def either(*rules: RuleOfThumb) -> RuleOfThumb:
    """Return a rule that draws from the boxes that any of these rules would name."""

    def union(view: View) -> tuple[int, ...]:
        return tuple(sorted({box for rule in rules for box in rule(view)}))

    return union


def but(*rules: RuleOfThumb) -> RuleOfThumb:
    """Return a rule that draws from the occupied boxes that none of these rules would name, or
    from all occupied boxes if no such box exists."""

    def inverse(view: View) -> tuple[int, ...]:
        boxes = occupied_in(view.states[-1])
        avoided = {box for rule in rules for box in rule(view)}
        return tuple(box for box in boxes if box not in avoided) or boxes

    return inverse


RULES_OF_THUMB: dict[str, RuleOfThumb] = {
    "start": start,
    "true": true,
    "last_seen": last_seen,
    "most_frequent": most_frequent,
    "recency": recency,
    "first_box": first_box,
    "random": random,
    "but_start": but(start),
    "but_true": but(true),
    "but_last_seen": but(last_seen),
    "but_most_frequent": but(most_frequent),
    "but_recency": but(recency),
    "but_first_box": but(first_box),
    "but_start_or_true": but(start, true),
    "but_start_or_last_seen": but(start, last_seen),
    "but_true_or_last_seen": but(true, last_seen),
    "but_start_true_or_last_seen": but(start, true, last_seen),
}

# The frozen sets were selected by the rules above; these combine several shortcuts.
COMBINED: dict[str, RuleOfThumb] = {
    "start_or_true": either(start, true),
    "start_or_last_seen": either(start, last_seen),
    "true_or_last_seen": either(true, last_seen),
    "start_true_or_last_seen": either(start, true, last_seen),
}


def game_score(game: Instance, rule: RuleOfThumb) -> float:
    """Return the expected score of a rule in one game."""
    asked_questions = questions(game)
    return (
        100
        * sum(hit_chance(rule(view), believed) for view, believed in asked_questions)
        / len(asked_questions)
    )


def hit_chance(drawn_from: tuple[int, ...], believed: int) -> float:
    """Return the chance that a uniform draw from these boxes is the box in which the user believes
    its item to be."""
    return (believed in drawn_from) / len(drawn_from)
