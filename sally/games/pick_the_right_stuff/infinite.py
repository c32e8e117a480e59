"""The generator of the infinite mode: private rules of users, rehearsals that identify the rules,
and questions about cases that were not rehearsed.

Every user gets a rule from the families in play and rehearses it at a few gaps (a gap is the number
of resets since the user last saw the locker). The generator accepts rehearsals only if all rules
that explain them, from any family in play, are the same function; so the rehearsals identify the
rule. In the game, a user collects only at a gap that it has not rehearsed.

The gap and the rehearsed gaps are drawn first; then, independently of them, the distance from the
box seen last; then a rule that fits. So without the rehearsed answers, every box is equally likely
at any gap. A first generator drew the distance first and then a suitable gap, so the gap revealed
information about the distance (multiples of a rule's period lead back to the box seen last).
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import combinations
from random import Random

import msgspec

from sally.games.pick_the_right_stuff.extrapolation import (
    FAMILIES,
    Family,
    Rule,
    distance_moved,
    extrapolate,
    list_rules,
)
from sally.games.pick_the_right_stuff.generate_published import random_cycle
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Instance,
    Move,
    Rehearsal,
    Reset,
    Visit,
)
from sally.games.pick_the_right_stuff.tracker import fitting_rules

# Every family obeys the recurrence with characteristic polynomial (x-1)^3 (x+1) (x^2-x-1) from the
# first reset on. It is monic of degree 6, so two rules that agree at gaps 1 to 6 agree at all gaps.
DECIDING_GAPS = range(1, 7)
LONGEST_GAP = 12


class Mind(msgspec.Struct, frozen=True):
    """A user's private rule, the rehearsals that show how the rule works, and the number of resets
    (the gap) between the user's last look at the locker and the collection of its item."""

    rule: Rule
    shown: tuple[Rehearsal, ...]
    gap: int


def infinite_games(
    users: int,
    count: int,
    seed: int,
    families: tuple[Family, ...] = FAMILIES,
) -> tuple[Instance, ...]:
    """Generate games of the infinite mode, in which users infer by private rules where their items
    are, from one random stream."""
    chance, games = Random(seed), list[Instance]()
    for number in range(count):
        minds = [_even_mind(user, families, users, chance) for user in range(users)]
        name = f"infinite2-{users}-{number:03d}"
        games.append(_game(name, _shuffle_users(users, chance), minds, families, chance))
    return tuple(games)


def _shuffle_users(users: int, chance: Random) -> list[int]:
    placement = list(range(users))
    chance.shuffle(placement)
    return placement


def _game(
    name: str,
    placement: list[int],
    minds: list[Mind],
    families: tuple[Family, ...],
    chance: Random,
) -> Instance:
    """Return the game in which the users have these minds, starting from a placement."""
    users = len(minds)
    return Instance(
        name=name,
        mode="infinite",
        users=users,
        placement=tuple(placement),
        script=(
            *(rehearsal for mind in minds for rehearsal in mind.shown),
            *_timetable(tuple(mind.gap for mind in minds), chance),
        ),
        rules=tuple(mind.rule for mind in minds),
        families=families,
    )


def _even_mind(user: int, families: tuple[Family, ...], boxes: int, chance: Random) -> Mind:
    """Draw a user's private rule, its rehearsals, and the gap after which it collects its item. A
    gap is a number of resets since the user last saw the locker.

    The gaps of the collection and of the rehearsals are drawn first, then the distance between the
    box seen last and the believed box, then a rule that leads to this distance.
    """
    plans = even_plans(families, boxes)
    gap, shown_at = chance.choice(sorted(plans))
    kinds = plans[gap, shown_at][chance.randrange(boxes)]
    rule = chance.choice(kinds[chance.choice(sorted(kinds))])
    return Mind(rule, rehearsals(user, rule, shown_at, families, boxes, chance), gap)


Plans = dict[tuple[int, tuple[int, ...]], list[dict[Family, list[Rule]]]]


@cache
def even_plans(families: tuple[Family, ...], boxes: int) -> Plans:
    """Return, for each combination of gaps, the rules that the generator may draw. A gap is the
    number of resets since a user last saw the locker.

    A combination consists of the gap after which the user collects its item, and of the gaps for
    which the user has demonstrated its rule before (rehearsals). The rules are grouped by how far
    they move the item in the gap before the collection. Combinations in which some distance is
    reached by no rule are left out.
    """
    plans_by_gaps: Plans = {}
    rules = [(family, rule) for family in families for rule in list_rules(family, boxes)]
    # equally many rehearsals for all users: otherwise the number would reveal the family
    size = max(len(smallest_gap_sets(rule, families, boxes)[0]) for _, rule in rules)
    for family, rule in rules:
        smallest = smallest_gap_sets(rule, families, boxes)
        for shown_at in combinations(DECIDING_GAPS, size):
            if any(set(few) <= set(shown_at) for few in smallest):
                for gap in set(range(1, LONGEST_GAP + 1)) - set(shown_at):
                    plan = plans_by_gaps.setdefault((gap, shown_at), [{} for _ in range(boxes)])
                    plan[distance_moved(rule, gap) % boxes].setdefault(family, []).append(rule)
    plans = {key: plan for key, plan in plans_by_gaps.items() if all(plan)}
    if not plans:
        raise ValueError(
            f"With {boxes} boxes, there is no gap (number of resets) after which the rules of the "
            f"families {', '.join(families)} can move an item by every distance."
        )
    return plans


def rehearsals(
    user: int,
    rule: Rule,
    gaps: tuple[int, ...],
    scope: tuple[Family, ...],
    boxes: int,
    chance: Random,
) -> tuple[Rehearsal, ...]:
    """Return examples (rehearsals) of the boxes to which a user's rule leads after these numbers of
    resets.

    Raises:
        ValueError: The examples do not identify the rule.
    """
    boxes_seen = [chance.randrange(boxes) for _ in gaps]
    examples = tuple(
        Rehearsal(user, box, gap, extrapolate(rule, box, gap, boxes))
        for box, gap in zip(boxes_seen, gaps, strict=True)
    )
    if not is_identified(examples, scope, boxes):
        raise ValueError(
            f"The rehearsed answers {examples} fit other rules of the families {scope} too, not "
            f"only "
            f"{rule}."
        )
    return examples


@cache
def smallest_gap_sets(
    rule: Rule, families: tuple[Family, ...], boxes: int
) -> tuple[tuple[int, ...], ...]:
    """Return the smallest sets of gaps (numbers of resets) that suffice to tell a rule apart from
    all others in these families of rules."""
    own_signature = signature(rule, boxes)
    others = {signature(r, boxes) for f in families for r in list_rules(f, boxes)} - {own_signature}
    places = range(len(DECIDING_GAPS))
    for size in range(1, len(DECIDING_GAPS) + 1):
        sets = [
            chosen
            for chosen in combinations(places, size)
            if not any(
                all(own_signature[i] == other_signature[i] for i in chosen)
                for other_signature in others
            )
        ]
        if sets:
            return tuple(tuple(DECIDING_GAPS[i] for i in chosen) for chosen in sets)
    raise AssertionError("two different rules agree for all numbers of resets in DECIDING_GAPS")


def is_identified(examples: Iterable[Rehearsal], families: Iterable[Family], boxes: int) -> bool:
    """Return whether all rules that explain the rehearsals are the same function."""
    fitting = fitting_rules(examples, families, boxes)
    return len({signature(rule, boxes) for rule in fitting}) == 1


@lru_cache(maxsize=4096)
def signature(rule: Rule, boxes: int) -> tuple[int, ...]:
    """Return how far the rule moves an item for a few numbers of resets, which together determine
    the rule."""
    return tuple(distance_moved(rule, gap) % boxes for gap in DECIDING_GAPS)


def _timetable(gaps: tuple[int, ...], chance: Random) -> list[Move]:
    """Draw when each user last looks into the locker, and schedule the moment at which it collects
    its item: `gaps[user]` resets later."""
    users = len(gaps)
    during: defaultdict[int, list[Move]] = defaultdict(list)
    for user, gap in enumerate(gaps):
        last_look = chance.choice([0, chance.randint(1, users + 2)])
        looks = [t for t in range(1, last_look) if chance.random() < 1 / users]
        looks += [last_look] if last_look else []
        for moment in looks:
            during[moment].append(Visit(user))
        during[last_look + gap].append(Collection(user))
    script = list[Move]()
    for moment in range(max(during) + 1):
        if moment:
            script.append(Reset(random_cycle(users, chance)))
        chance.shuffle(during[moment])
        script.extend(during[moment])
    return script
