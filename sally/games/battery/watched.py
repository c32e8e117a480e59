"""Generator `watched`: nested beliefs among people who watch one another from galleries.

A thing is put into one container after another on the floor of a hall. People in the hall see the
floor and who else is on their own storey or lower down, but not who is higher up. So an event tells
the first mind of a chain what the second one believes only if the first stands as high as the
second or higher, and so on down the chain: what A thinks that B thinks is another question than
what B thinks that A thinks, and its answer is another place.

A story has two members. They differ in four lines, in which two people exchange places; every line
is about the same container in both. Early and late, one line of two reaches the whole chain: the
lines about the second place early and about the first place late in one member, the other way round
in the other. After that, every shorter chain, every other order of the minds, and every reading
that skips a mind meets lines that are the same in both members.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise, permutations, product

from sally.core.errors import BadInput, join_names
from sally.core.rules.chance import Stream
from sally.core.rules.words import read_tables
from sally.games.battery.belief_action import COLOURS
from sally.games.battery.beliefs import Chain
from sally.games.battery.casts import Cast, cast_name, wording_for
from sally.games.battery.items import Belief, Item
from sally.games.battery.nested import CONTAINERS, NAMES, QUESTION, THINGS

PERSONS, PLACES = 6, 4
FEWEST_LINES = 12
MOST_FILLS = 2  # lines without a purpose, at each point
STOREYS = 4
OUTSIDE = -1
ORDERS = range(1, 5)
PER_STORY = 2
MOST_DRAWS, MOST_NAMINGS = 2_000, 200
FIRST, SECOND = 0, 1  # the two places between which the members differ
OTHER_PLACES = (2, 3)

WHERE = {
    OUTSIDE: "outside",
    0: "on the floor",
    1: "on the lower gallery",
    2: "on the middle gallery",
    3: "on the upper gallery",
}
STORIES = read_tables(__package__, "stories.toml")["watched"]
OPENING: str = STORIES["opening"]
NOTE: str = STORIES["note"]
FORMS: tuple[str, ...] = tuple(STORIES["forms"])
ASKED_WHERE = {
    1: "where the {thing} is",
    2: "where {1} thinks the {thing} is",
    3: "where {1} thinks {2} thinks the {thing} is",
    4: "where {1} thinks {2} thinks {3} thinks the {thing} is",
}
LAMP = "the {colour} lamp lights the {place}"
ACT: str = STORIES["act"]


@dataclass(frozen=True)
class Line:
    """One event: the container, and the people on each storey in the order of their naming."""

    place: int
    groups: tuple[tuple[int, tuple[int, ...]], ...]  # (storey, people)
    form: int = 0  # of the sentence

    @cached_property
    def storeys(self) -> tuple[int, ...]:
        """The storey of each person."""
        by_person = {person: storey for storey, people in self.groups for person in people}
        return tuple(by_person[person] for person in range(PERSONS))

    @cached_property
    def naming(self) -> tuple[int, ...]:
        """The people in the order in which the sentence names them."""
        return tuple(person for _, people in self.groups for person in people)

    @cached_property
    def name_places(self) -> tuple[int, ...]:
        """The place of each person in the order of naming."""
        return tuple(self.naming.index(person) for person in range(PERSONS))

    def exchange(self, first: int, second: int) -> Line:
        """Return the line with two people in each other's place."""
        other_name = {first: second, second: first}
        groups = tuple(
            (storey, tuple(other_name.get(person, person) for person in people))
            for storey, people in self.groups
        )
        return Line(self.place, groups, self.form)


Lines = tuple[Line, ...]


@dataclass(frozen=True)
class Story:
    """Both members of a story, and the chain of minds that the question names."""

    chain: Chain
    members: tuple[Lines, Lines]


# --- beliefs --------------------------------------------------------------------------------------


def reaches(storeys: Sequence[int], chain: Chain) -> bool:
    """Return whether an event tells each mind of a chain that the next one saw it."""
    heights = [storeys[person] for person in chain]
    return OUTSIDE not in heights and all(upper >= lower for upper, lower in pairwise(heights))


def believed_place(lines: Sequence[Line], chain: Chain) -> int:
    """Return the place at which a chain of minds believes the thing to be."""
    return next(line.place for line in reversed(lines) if reaches(line.storeys, chain))


def simulated_place(lines: Sequence[Line], chain: Chain, notices_same_storey: bool) -> int:
    """Return the same from the history of each mind: what the first saw of what the second saw.

    Args:
        lines: The events.
        chain: The minds, the outermost first.
        notices_same_storey: Whether people see who is on their own storey.
    """
    history = [(line.place, dict(enumerate(line.storeys))) for line in lines]
    for person in chain:
        remembered = []
        for place, storeys in history:
            height = storeys.get(person, OUTSIDE)
            if height == OUTSIDE:
                continue
            top = height if notices_same_storey else height - 1
            in_view = {person: storey for person, storey in storeys.items() if storey <= top}
            remembered.append((place, in_view | {person: height}))
        history = remembered
    return history[-1][0]


# --- readings that skip a part of the reasoning ---------------------------------------------------

Condition = Callable[[Line, Chain], bool]


def rank_places(lines: Sequence[Line], chain: Chain, condition: Condition) -> tuple[int, ...]:
    """Return the places of the lines that meet a condition, the one mentioned last first."""
    places = (line.place for line in reversed(lines) if condition(line, chain))
    return tuple(dict.fromkeys(places))


@lru_cache(maxsize=512)
def _outsiders(chain: Chain) -> tuple[int, ...]:
    return tuple(person for person in range(PERSONS) if person not in chain)


def _always(line: Line, chain: Chain) -> bool:
    return True


def reaches_all(line: Line, chain: Chain) -> bool:
    return reaches(line.storeys, chain)


def _are_present(minds: Sequence[int]) -> Condition:
    return lambda line, chain: all(line.storeys[chain[mind]] != OUTSIDE for mind in minds)


def _reaches(minds: Sequence[int]) -> Condition:
    """Return whether a line reaches other minds; numbers are places in the chain."""
    return lambda line, chain: reaches(line.storeys, tuple(chain[mind] for mind in minds))


def _reaches_with(mind: int | None, outsider: int, is_first: bool) -> Condition:
    """Return whether a line reaches a person outside the chain, alone or with one of its minds."""

    def holds(line: Line, chain: Chain) -> bool:
        person = _outsiders(chain)[outsider]
        minds = () if mind is None else (chain[mind],)
        return reaches(line.storeys, (*minds, person) if is_first else (person, *minds))

    return holds


def _stand_on(by_mind: Mapping[int, int]) -> Condition:
    return lambda line, chain: all(
        line.storeys[chain[mind]] == storey for mind, storey in by_mind.items()
    )


def _is_above(upper: int, lower: int) -> Condition:
    return lambda line, chain: line.storeys[chain[upper]] > line.storeys[chain[lower]] > OUTSIDE


def _breaks_at_most(step: int) -> Condition:
    """Return whether all minds are present and every step down the chain but one holds."""

    def holds(line: Line, chain: Chain) -> bool:
        heights = [line.storeys[person] for person in chain]
        steps = [upper >= lower for upper, lower in pairwise(heights)]
        return OUTSIDE not in heights and all(steps[:step] + steps[step + 1 :])

    return holds


def _names_before(first: int, second: int) -> Condition:
    """Return whether one person is named before another; the chain counts first."""

    def holds(line: Line, chain: Chain) -> bool:
        people = chain + _outsiders(chain)
        return line.name_places[people[first]] < line.name_places[people[second]]

    return holds


def _names_at(mind: int, place: int) -> Condition:
    return lambda line, chain: line.naming[place] == chain[mind]


def _names_in_order(sign: int) -> Condition:
    """Return whether the minds are named in the order of the question, or in the reverse one."""

    def holds(line: Line, chain: Chain) -> bool:
        places = [sign * line.name_places[person] for person in chain]
        return places == sorted(places)

    return holds


def other_chains(order: int) -> Iterator[tuple[int, ...]]:
    """Yield every chain of the question's minds but the one that is asked about."""
    for length in range(1, order + 1):
        for minds in permutations(range(order), length):
            if minds != tuple(range(order)):
                yield minds


@lru_cache(maxsize=len(ORDERS))
def conditions_by_place(order: int) -> Mapping[str, Condition]:
    """Return conditions on a line that say nothing about the members: in both, the last line of
    each place that meets the condition is the same.

    Together with every condition on the storeys of all minds but one, of which single minds and
    pairs are listed here.
    """
    conditions: dict[str, Condition] = {"any line": _always}
    for minds in other_chains(order):
        conditions[f"reaches {_numbers(minds)}"] = _reaches(minds)
    for mind in range(order):
        conditions[f"without mind {mind + 1}"] = _stand_on({mind: OUTSIDE})
    if order == 1:
        return conditions
    conditions["with all minds"] = _are_present(range(order))
    for step in range(order - 1 if order > 2 else 0):
        conditions[f"all steps but {step + 1}"] = _breaks_at_most(step)
    for mind in range(order):
        for storey in range(STOREYS):
            conditions[f"mind {mind + 1} {WHERE[storey]}"] = _stand_on({mind: storey})
    if order > 2:
        for minds in permutations(range(order), 2):
            conditions[f"mind {minds[0] + 1} above {minds[1] + 1}"] = _is_above(*minds)
            conditions[f"minds {_numbers(minds)} present"] = _are_present(minds)
            if minds[0] < minds[1]:
                for storeys in product(range(STOREYS), repeat=2):
                    name = f"minds {_numbers(minds)} on {_numbers(storeys)}"
                    conditions[name] = _stand_on(dict(zip(minds, storeys, strict=True)))
    else:
        conditions["mind 2 above 1"] = _is_above(1, 0)
    return conditions


@lru_cache(maxsize=len(ORDERS))
def conditions_on_last_line(order: int) -> Mapping[str, Condition]:
    """Return conditions on a line of which the last one is about the same place in both members."""
    conditions: dict[str, Condition] = {}
    for outsider in range(PERSONS - order):
        conditions[f"reaches outsider {outsider + 1}"] = _reaches_with(None, outsider, True)
        for mind in range(order if order > 1 else 0):
            people = f"mind {mind + 1}, outsider {outsider + 1}"
            conditions[f"reaches {people}"] = _reaches_with(mind, outsider, True)
            conditions[f"reaches, the other way round, {people}"] = _reaches_with(
                mind, outsider, False
            )
    return conditions


@lru_cache(maxsize=len(ORDERS))
def conditions_on_names(order: int) -> Mapping[str, Condition]:
    """Return conditions on the order in which a line names people, likewise."""
    conditions: dict[str, Condition] = {}
    for mind in range(order):
        conditions[f"names mind {mind + 1} first"] = _names_at(mind, 0)
        conditions[f"names mind {mind + 1} last"] = _names_at(mind, PERSONS - 1)
    for first, second in permutations(range(PERSONS), 2):
        if min(first, second) < order:
            name = f"names person {first + 1} before person {second + 1}"
            conditions[name] = _names_before(first, second)
    if order > 1:
        conditions["names the minds in order"] = _names_in_order(1)
        conditions["names the minds in reverse"] = _names_in_order(-1)
    return conditions


def _numbers(indices: Sequence[int]) -> str:
    return " ".join(str(index + 1) for index in indices)


@lru_cache(maxsize=64)
def mindless_answers(lines: Lines, chain: Chain) -> Mapping[str, int | None]:
    """Return the places that readers without all minds of the chain would name, by reading."""
    order = len(chain)
    answers: dict[str, int | None] = {}
    for name, condition in conditions_by_place(order).items():
        ranking = (*rank_places(lines, chain, condition), None, None, None, None)
        for rank in range(PLACES):
            answers[f"place {rank + 1} from the last: {name}"] = ranking[rank]
    for conditions in (conditions_on_last_line(order), conditions_on_names(order)):
        for name, condition in conditions.items():
            answers[f"last line: {name}"] = next(iter(rank_places(lines, chain, condition)), None)
    answers["first line for the chain"] = next(
        line.place for line in lines if reaches_all(line, chain)
    )
    answers["line for the chain before the last one"] = [
        line.place for line in lines if reaches_all(line, chain)
    ][-2]
    for name, condition in {"all": _always, "reaching": reaches_all}.items():
        counts = Counter(line.place for line in lines if condition(line, chain))
        for sign, word in ((1, "most"), (-1, "fewest")):
            answers[f"place of {word} lines, {name}"] = max(
                range(PLACES), key=lambda place: (sign * counts[place], -place)
            )
    for number in range(FEWEST_LINES):
        answers[f"line {number + 1}"] = lines[number].place
        answers[f"line {number + 1} from the end"] = lines[-1 - number].place
    return answers


# --- construction ---------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def draw_story(seed: int, number: int, order: int) -> Story:
    """Return a story with both members."""
    draws = Stream(seed, "battery", "watched", order, number)
    chain = tuple(draws.shuffled(range(PERSONS))[:order])
    for _ in range(MOST_DRAWS):
        lines, exchanges, pair = _draw_lines(draws, chain)
        story = _exchange(chain, lines, exchanges, pair)
        if not (is_nested(story) and hides_each_mind(story) and _last_lines_agree(story, order)):
            continue
        for _ in range(MOST_NAMINGS):
            if _agree(story, conditions_on_names(order)):
                return story
            lines = [_reorder(draws, line) for line in lines]
            story = _exchange(chain, lines, exchanges, pair)
    raise BadInput(f"No story of order {order} was found in {MOST_DRAWS} draws.")


def _exchange(
    chain: Chain, lines: Sequence[Line], exchanges: Sequence[int], pair: tuple[int, int]
) -> Story:
    """Return the story whose second member has two people in each other's place in some lines."""
    other_lines = [
        line.exchange(*pair) if number in exchanges else line for number, line in enumerate(lines)
    ]
    return Story(chain, (tuple(lines), tuple(other_lines)))


def is_nested(story: Story) -> bool:
    """Return whether the key differs between the members, and every other order of the minds has
    another right answer in both."""
    keys = {believed_place(lines, story.chain) for lines in story.members}
    return len(keys) == 2 and not any(
        believed_place(lines, minds) in keys
        for lines in story.members
        for minds in permutations(story.chain)
        if minds != story.chain
    )


def hides_each_mind(story: Story) -> bool:
    """Return whether a reader that ignores one mind finds the same last lines in both members.

    For all minds but any one, and any storeys of theirs, the last line about each place in which
    they stand there must be the same. So must then be the answer of every rule that looks for the
    last line about each place with some condition on these minds.
    """
    tables = []
    for lines in story.members:
        last_lines: dict[tuple[int, ...], int] = {}
        for number, line in enumerate(lines):
            heights = [line.storeys[person] for person in story.chain]
            for ignored in range(len(heights)):
                key = (ignored, *heights[:ignored], *heights[ignored + 1 :], line.place)
                last_lines[key] = number
        tables.append(last_lines)
    return tables[0] == tables[1]


def _last_lines_agree(story: Story, order: int) -> bool:
    by_place = conditions_by_place(order)
    names = [name for name in by_place if name.startswith(("all steps", "with all", "without"))]
    first, second = story.members
    return _agree(story, conditions_on_last_line(order)) and all(
        rank_places(first, story.chain, by_place[name])
        == rank_places(second, story.chain, by_place[name])
        for name in names
    )


def _agree(story: Story, conditions: Mapping[str, Condition]) -> bool:
    """Return whether the last line with each condition is about the same place in both members."""
    first, second = (
        [rank_places(lines, story.chain, condition)[:1] for condition in conditions.values()]
        for lines in story.members
    )
    return first == second


def _draw_lines(draws: Stream, chain: Chain) -> tuple[list[Line], list[int], tuple[int, int]]:
    """Return the lines of the first member, the indices of those in which the members differ, and
    the two people who exchange places there."""
    order = len(chain)
    heights = sorted(draws.shuffled(range(STOREYS))[:order], reverse=True)
    in_order = dict(zip(chain, heights, strict=True))
    if order == 1:
        pair = (chain[0], draws.pick(_outsiders(chain)))
        in_order[pair[1]] = OUTSIDE
    else:
        step = draws.below(order - 1)
        pair = (chain[step], chain[step + 1])
    swapped = {**in_order, pair[0]: in_order[pair[1]], pair[1]: in_order[pair[0]]}
    broken = _break_chain(draws, chain, heights, swapped)
    plan: list[tuple[Mapping[int, int], int]] = [
        (dict.fromkeys(range(PERSONS), 0), draws.pick(OTHER_PLACES))
    ]
    both_orders = [(levels, place) for levels in (in_order, swapped) for place in (FIRST, SECOND)]
    plan += draws.shuffled([*both_orders, *_fill(draws, [in_order, *broken], range(PLACES))])
    exchanges: list[int] = []
    for is_late in (False, True):
        plan += _fill(draws, [in_order, *broken], range(PLACES))
        plan.append(({mind: in_order[mind] for mind in chain}, draws.pick(OTHER_PLACES)))
        for place in draws.shuffled((FIRST, SECOND)):
            exchanges.append(len(plan))
            # the chain is reached by the line about the second place early, the first one late
            plan.append((in_order if (place == FIRST) == is_late else swapped, place))
            plan += _fill(draws, broken if is_late else [in_order, *broken], (FIRST, SECOND))
    # every way to break the chain, for both places in question, and then for another place
    later_lines = [(levels, place) for levels in broken for place in (FIRST, SECOND)]
    plan += draws.shuffled([*later_lines, *_fill(draws, broken, (FIRST, SECOND))])
    last_lines = [
        (levels, draws.pick(OTHER_PLACES))
        for levels in broken
        if all(levels[mind] != OUTSIDE for mind in chain)
    ]
    absences = [levels for levels in broken if any(levels[mind] == OUTSIDE for mind in chain)]
    plan += draws.shuffled([*last_lines, *_fill(draws, absences, range(PLACES))])
    lines = [_draw_line(draws, place, storeys) for storeys, place in plan]
    return lines, exchanges, pair


def _fill(
    draws: Stream, choices: Sequence[Mapping[int, int]], places: Sequence[int]
) -> list[tuple[Mapping[int, int], int]]:
    """Return some lines more, so that no line is known by its number."""
    return [(draws.pick(choices), draws.pick(places)) for _ in range(draws.below(MOST_FILLS + 1))]


def _break_chain(
    draws: Stream, chain: Chain, heights: Sequence[int], swapped: Mapping[int, int]
) -> list[Mapping[int, int]]:
    """Return storeys of the minds from which a line does not reach the chain: two minds exchanged,
    and each of the minds too low, too high or outside."""
    order = len(chain)
    if order == 1:
        return [{chain[0]: OUTSIDE}]
    broken: list[Mapping[int, int]] = [{mind: swapped[mind] for mind in chain}]
    for mind in range(order):
        is_moved = order > 2 and mind in (0, order - 1, *([1] if order == 4 else []))
        storey = _displace(draws, heights, mind) if is_moved else OUTSIDE
        levels = [*heights[:mind], storey, *heights[mind + 1 :]]
        broken.append(dict(zip(chain, levels, strict=True)))
    return broken


def _displace(draws: Stream, heights: Sequence[int], mind: int) -> int:
    """Return a storey on which one mind breaks the step to the next mind of the chain, and no
    other; for the last mind, the step from the one before."""
    step = min(mind, len(heights) - 2)
    storeys = []
    for storey in range(STOREYS):
        levels = [*heights[:mind], storey, *heights[mind + 1 :]]
        breaks = [upper < lower for upper, lower in pairwise(levels)]
        if breaks[step] and sum(breaks) == 1:
            storeys.append(storey)
    return draws.pick(storeys)


def _draw_storey(draws: Stream) -> int:
    return draws.below(STOREYS + 1) - 1


def _draw_line(draws: Stream, place: int, storeys: Mapping[int, int]) -> Line:
    """Return a line with people on given storeys; all others stand anywhere."""
    by_storey: dict[int, tuple[int, ...]] = {}
    for person in range(PERSONS):
        storey = storeys[person] if person in storeys else _draw_storey(draws)
        by_storey[storey] = (*by_storey.get(storey, ()), person)
    return _reorder(draws, Line(place, tuple(by_storey.items()), draws.below(len(FORMS))))


def _reorder(draws: Stream, line: Line) -> Line:
    """Return a line that names the same people in another order."""
    groups = draws.shuffled(line.groups)
    return replace(
        line, groups=tuple((storey, tuple(draws.shuffled(people))) for storey, people in groups)
    )


# --- the text -------------------------------------------------------------------------------------


def watched_item(seed: int, number: int, order: int | None = None, cast: Cast = "people") -> Item:
    """Return an item; every two consecutive numbers are the members of one story.

    Without `order`, consecutive stories take the orders of belief in rotation.
    """
    story_number, member = divmod(number, PER_STORY)
    level = ORDERS[story_number % len(ORDERS)] if order is None else order
    story = draw_story(seed, story_number, level)
    lines, chain = story.members[member], story.chain
    draws = Stream(seed, "battery", "watched", level, story_number, "words")
    names = [cast_name(name, cast) for name in draws.shuffled(NAMES)[:PERSONS]]
    places = draws.shuffled(CONTAINERS)[:PLACES]
    colours = draws.shuffled(COLOURS)[:PLACES]
    thing = draws.pick(THINGS)
    opening = wording_for(OPENING, cast).format(
        names=join_names(draws.shuffled(names)),
        places=join_names([f"a {place}" for place in draws.shuffled(places)]),
    )
    note = wording_for(NOTE, cast).format(thing=thing)
    minds = [names[person] for person in chain]
    lamps = [LAMP.format(colour=colours[n], place=places[n]) for n in draws.shuffled(range(PLACES))]
    key = believed_place(lines, chain)
    question = wording_for(QUESTION[level], cast).format(*minds, thing=thing)
    id = f"watched-{seed}-{level}-{story_number}"
    return Item(
        id=f"{id}-{member}",
        story="\n".join(
            [opening, note, *(_sentence(line, names, thing, places) for line in lines)]
        ),
        question=wording_for(ACT, cast).format(
            *minds,
            lamps="; ".join(lamps),
            asked=wording_for(ASKED_WHERE[level], cast).format(*minds, thing=thing),
        ),
        options=tuple(f"the {colour} lamp" for colour in colours),
        answer=key,
        task="watched",
        order=level,
        pair=id,
        belief=Belief(question, tuple(f"the {place}" for place in places), key, (0, 1, 2, 3)),
        about=minds[0],
        people=tuple(names),
        by_depth=tuple(believed_place(lines, chain[level - k :]) for k in range(level + 1)),
        mindless={
            "where_it_is": lines[-1].place,
            "all_present": rank_places(lines, chain, _are_present(range(level)))[0],
            "reversed": believed_place(lines, chain[::-1]),
        },
        options_key=id,
    )


def _sentence(line: Line, names: Sequence[str], thing: str, place_names: Sequence[str]) -> str:
    clauses = [
        f"{join_names([names[person] for person in people])} {WHERE[storey]}"
        for storey, people in line.groups
    ]
    return FORMS[line.form].format(
        people=", ".join(clauses), thing=thing, place=place_names[line.place]
    )
