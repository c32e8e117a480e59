"""Pairs of MindGames: the same table, goal and notes, and a target with another mind.

In the recipe `knows`, the target likes the same and has read other facts: of two facts about one
proposal, in the same words, it has read one in one member and the other in the other member, and
likewise of two facts about a second proposal. In the recipe `likes`, it has read the same facts,
and a like and a dislike are exchanged between two attributes. In each member exactly one note makes
the target choose the goal, and it is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import combinations, permutations, product
from typing import Any, Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.rules.chance import Stream
from sally.core.rules.pair import MOST_TRIES, Member, PairRecipe, QuestionKind
from sally.games.mindgames.puzzles import PROPOSALS, Cell, Puzzle, all_cells
from sally.games.mindgames.rules import PERSUADER, TARGET, MindGame, State, Tell, View
from sally.games.mindgames.stories import stories

Difference = Literal["knows", "likes"]
Table = tuple[tuple[int, ...], ...]
Likes = tuple[int, ...]
Note = tuple[Cell, ...]
NOTES = 4
NOTE_DRAWS = 10  # for one table
ATTRIBUTES = 3
CELLS = all_cells(PROPOSALS, ATTRIBUTES)
STORIES = tuple(story.name for story in stories() if story.mental)


class TargetMind(msgspec.Struct, frozen=True):
    """What a target likes, and the cells it has read."""

    likes: Likes
    read: frozenset[Cell]

    def choice(self, table: Table, told_cells: Iterable[Cell] = ()) -> int | None:
        """Return the only best proposal once these cells are told, or None if several are best."""
        points = self.points(table, told_cells)
        best = max(points)
        return points.index(best) if points.count(best) == 1 else None

    def points(self, table: Table, told_cells: Iterable[Cell] = ()) -> list[int]:
        points = [0] * len(table)
        for row, column in self.read.union(told_cells):
            points[row] += self.likes[column] * table[row][column]
        return points


def mind_of(view: View) -> TargetMind:
    """Return the target's mind as the page states it."""
    assert view.brief.likes is not None and view.brief.known is not None
    return TargetMind(view.brief.likes, frozenset(view.brief.known))


def table_of(view: View) -> Table:
    """Return the effects of all proposals."""
    return tuple(tuple(int(effect or 0) for effect in row) for row in view.brief.utilities)


def winning_notes(
    table: Table, goal: int, notes: Sequence[Note], mind: TargetMind
) -> tuple[int, ...]:
    """Return the notes after which the goal alone is best for the target."""
    return tuple(n for n, note in enumerate(notes) if mind.choice(table, note) == goal)


# --- minds that look alike to a player who ignores what differs -----------------------------------


def similar_minds(
    difference: Difference, table: Table, notes: tuple[Note, ...], mind: TargetMind
) -> list[TargetMind]:
    """Return the minds from which only the recipe's difference tells this one apart.

    In `knows` they have read as many facts about each proposal, with the same effects, and none of
    the facts on the notes; in `likes` they like and dislike as many attributes.
    """
    if difference == "likes":
        return [TargetMind(likes, mind.read) for likes in sorted(set(permutations(mind.likes)))]
    return list(_similar_readers(table, notes, mind))


@lru_cache(maxsize=1024)
def _similar_readers(
    table: Table, notes: tuple[Note, ...], mind: TargetMind
) -> tuple[TargetMind, ...]:
    on_notes = {cell for note in notes for cell in note}
    rows = []
    for row in range(len(table)):
        columns = [column for proposal, column in sorted(mind.read) if proposal == row]
        effects = sorted(table[row][column] for column in columns)
        rows.append(
            [
                [(row, column) for column in other_columns]
                for other_columns in combinations(range(len(mind.likes)), len(columns))
                if sorted(table[row][column] for column in other_columns) == effects
                and not on_notes & {(row, column) for column in other_columns}
            ]
        )
    return tuple(
        TargetMind(mind.likes, frozenset(cell for cells in readings for cell in cells))
        for readings in product(*rows)
    )


def replies_to(
    difference: Difference,
    table: Table,
    goal: int,
    notes: tuple[Note, ...],
    mind: TargetMind,
    predicted: int,
) -> tuple[int, ...]:
    """Return the notes that win against every similar mind that would choose `predicted` now."""
    minds = [
        similar
        for similar in similar_minds(difference, table, notes, mind)
        if similar.choice(table) == predicted
    ]
    wins = [set(winning_notes(table, goal, notes, similar)) for similar in minds]
    return tuple(sorted(set.intersection(*wins))) if wins else ()


# --- construction ---------------------------------------------------------------------------------


class Draft(msgspec.Struct, frozen=True):
    """A pair before its wording: what both members share, and the two minds."""

    table: Table
    goal: int
    notes: tuple[Note, ...]
    minds: tuple[TargetMind, TargetMind]


def _draw(difference: Difference, chance: Stream, order: int) -> tuple[Member, Member]:
    for _ in range(MOST_TRIES):
        for draft in (_draft_readers if difference == "knows" else _draft_likes)(chance):
            if _is_balanced(difference, draft):
                return _members(chance.pick(STORIES), draft)
    raise BadInput(f"No pair of {difference} was found in {MOST_TRIES} tries.")


def _draft_readers(chance: Stream) -> Iterator[Draft]:
    """Draw a table, likes, and two sets of facts in the same words that the target has read.

    Both rivals of the goal have the same effect on two attributes, of which one is liked and the
    other disliked; the rival of which the good fact was read is chosen.
    """
    goal, first, second = chance.shuffled(range(PROPOSALS))
    column, other_column, third = chance.shuffled(range(ATTRIBUTES))
    effect = chance.pick((-1, 1))
    drawn_likes = {column: effect, other_column: -effect, third: chance.pick((-1, 1))}
    likes = tuple(drawn_likes[attribute] for attribute in range(ATTRIBUTES))
    table = [[chance.pick((-1, 0, 1)) for _ in range(ATTRIBUTES)] for _ in range(PROPOSALS)]
    for row in (first, second):
        table[row][column] = table[row][other_column] = effect
    goal_read = chance.below(ATTRIBUTES)
    table[goal][goal_read] = chance.pick((0, -likes[goal_read]))
    shared = {(goal, goal_read)}
    minds = (
        TargetMind(likes, frozenset({(first, column), (second, other_column), *shared})),
        TargetMind(likes, frozenset({(first, other_column), (second, column), *shared})),
    )
    untold = [cell for cell in CELLS if cell not in minds[0].read | minds[1].read]
    return _with_notes(chance, tuple(map(tuple, table)), goal, untold, minds)


def _draft_likes(chance: Stream) -> Iterator[Draft]:
    """Draw a table, facts that the target has read, and likes with two of them exchanged.

    One rival of the goal is good in the first member by what was read, the other in the second.
    """
    goal, first, second = chance.shuffled(range(PROPOSALS))
    column, other_column, third = chance.shuffled(range(ATTRIBUTES))
    likes = [0] * ATTRIBUTES
    likes[column], likes[other_column], likes[third] = 1, -1, chance.pick((-1, 1))
    exchanged = list(likes)
    exchanged[column], exchanged[other_column] = likes[other_column], likes[column]
    table = [[chance.pick((-1, 0, 1)) for _ in range(ATTRIBUTES)] for _ in range(PROPOSALS)]
    first_read, second_read = (chance.pick((column, other_column)) for _ in range(2))
    table[first][first_read] = likes[first_read]
    table[second][second_read] = exchanged[second_read]
    goal_read = chance.below(ATTRIBUTES)  # good in neither member
    table[goal][goal_read] = chance.pick((0, -likes[third])) if goal_read == third else 0
    read = frozenset({(first, first_read), (second, second_read), (goal, goal_read)})
    minds = TargetMind(tuple(likes), read), TargetMind(tuple(exchanged), read)
    untold = [cell for cell in CELLS if cell not in read]
    return _with_notes(chance, tuple(map(tuple, table)), goal, untold, minds)


def _with_notes(
    chance: Stream,
    table: Table,
    goal: int,
    untold: Sequence[Cell],
    minds: tuple[TargetMind, TargetMind],
) -> Iterator[Draft]:
    """Yield drafts with notes of two facts, of which one wins in each member."""
    choices = [mind.choice(table) for mind in minds]
    if None in choices or choices[0] == choices[1] or goal in choices:
        return
    pool = list(combinations(untold, 2))
    wins = [set(winning_notes(table, goal, pool, mind)) for mind in minds]
    only = [sorted(wins[0] - wins[1]), sorted(wins[1] - wins[0])]
    losing = [n for n in range(len(pool)) if n not in wins[0] | wins[1]]
    if not only[0] or not only[1] or len(losing) < NOTES - 2:
        return
    for _ in range(NOTE_DRAWS):
        others = chance.shuffled(losing)[: NOTES - 2]
        numbers = chance.shuffled([chance.pick(only[0]), chance.pick(only[1]), *others])
        yield Draft(table, goal, tuple(pool[n] for n in numbers), minds)


def _is_balanced(difference: Difference, draft: Draft) -> bool:
    """Return whether mindless rules answer alike, and the best reply to the truth is the winning
    note alone."""
    table, goal, notes = draft.table, draft.goal, draft.notes
    views = [_Facts(table, goal, notes, mind) for mind in draft.minds]
    if any(rule(views[0]) != rule(views[1]) for rule in _fact_rules().values()):
        return False
    for mind in draft.minds:
        choice = mind.choice(table)
        assert choice is not None
        wins = winning_notes(table, goal, notes, mind)
        if replies_to(difference, table, goal, notes, mind, choice) != wins:
            return False
    return True


def _members(story: str, draft: Draft) -> tuple[Member, Member]:
    first, second = (_member(story, draft, mind) for mind in draft.minds)
    return first, second


def _member(story: str, draft: Draft, mind: TargetMind) -> Member:
    everything = TargetMind(mind.likes, frozenset(CELLS)).points(draft.table)
    initial = mind.choice(draft.table)
    assert initial is not None
    (winner,) = winning_notes(draft.table, draft.goal, draft.notes, mind)
    puzzle = Puzzle(
        utilities=draft.table,
        hidden=tuple(cell for cell in CELLS if cell not in mind.read),
        target_values=mind.likes,
        persuader_values=draft.table[draft.goal],
        goal=draft.goal,
        trap=everything.index(max(everything)),
        initial=initial,
        winning=draft.notes[winner],
        kind="can_win",
    )
    return Member(
        {
            "puzzle": msgspec.to_builtins(puzzle),
            "story": story,
            "condition": "revealed",
            "messages": 1,
            "notes": msgspec.to_builtins(draft.notes),
        }
    )


# --- truth, minds, reasoners ----------------------------------------------------------------------


def _truth(game: MindGame, state: State, others: Mapping[str, PlayerSpec]) -> int:
    return game.current_choice(state)


def _best_moves(
    difference: Difference, game: MindGame, view: View, predicted: int
) -> tuple[Tell, ...]:
    assert view.brief.goal is not None
    notes = replies_to(
        difference, table_of(view), view.brief.goal, game.notes, mind_of(view), predicted
    )
    return tuple(Tell(note) for note in notes)


def _minds(game: MindGame, view: View, order: int) -> Iterator[int]:
    """Yield the choice of every target with the stated likes and facts, whatever it chose before
    (its earlier choice decides among equally good proposals)."""
    choice = mind_of(view).choice(table_of(view))
    yield from range(len(game.names.proposals)) if choice is None else (choice,)


def _reason(difference: Difference, game: MindGame, view: View, order: int) -> int:
    """Return the predicted choice.

    A reasoner of order 0 expects the target to know what it knows itself (`knows`), or to like
    whatever a proposal increases (`likes`).
    """
    mind, table = mind_of(view), table_of(view)
    if order == 0 and difference == "knows":
        mind = TargetMind(mind.likes, frozenset(CELLS))
    elif order == 0:
        mind = TargetMind((1,) * len(mind.likes), mind.read)
    points = mind.points(table)
    return points.index(max(points))


# --- mindless rules -------------------------------------------------------------------------------


class _Facts(msgspec.Struct, frozen=True):
    """What the page states, for rules."""

    table: Table
    goal: int
    notes: tuple[Note, ...]
    mind: TargetMind


FactRule = Callable[[_Facts], tuple[int | None, int | None]]  # the proposal, and the note


def _highest(scores: Sequence[float]) -> int:
    return scores.index(max(scores))


def _score_by(
    proposal: Callable[[_Facts, int], float], note: Callable[[_Facts, Note], float]
) -> FactRule:
    def rule(facts: _Facts) -> tuple[int, int]:
        rows = [proposal(facts, row) for row in range(len(facts.table))]
        return _highest(rows), _highest([note(facts, cells) for cells in facts.notes])

    return rule


def _count(facts: _Facts, cells: Iterable[Cell], row: int, effect: int) -> int:
    return sum(cell[0] == row and facts.table[cell[0]][cell[1]] == effect for cell in cells)


def _effects(effect: int, sign: int) -> FactRule:
    """Return the rule that takes the proposal and the note with most (or fewest) such effects."""
    return _score_by(
        lambda facts, row: sign * _count(facts, CELLS, row, effect),
        lambda facts, note: (
            sign * sum(_count(facts, note, row, effect) for row in range(PROPOSALS))
        ),
    )


def _read_effects(effect: int, sign: int) -> FactRule:
    """Return the rule that counts what the target has read, and what notes say of the goal."""
    return _score_by(
        lambda facts, row: sign * _count(facts, facts.mind.read, row, effect),
        lambda facts, note: sign * _count(facts, note, facts.goal, effect),
    )


def _about_goal(sign: int) -> FactRule:
    """Return the rule that takes the note with most (or fewest) facts about the goal."""
    return _score_by(
        lambda facts, row: sign * (row == facts.goal),
        lambda facts, note: sign * sum(row == facts.goal for row, _ in note),
    )


def _read_most(sign: int) -> FactRule:
    """Return the rule that takes the proposal about which the target has read most (or least), and
    the note with most (or fewest) facts about it."""

    def rule(facts: _Facts) -> tuple[int, int]:
        counts = [sign * sum(row == p for p, _ in facts.mind.read) for row in range(PROPOSALS)]
        proposal = _highest(counts)
        return proposal, _highest([sum(row == proposal for row, _ in n) for n in facts.notes])

    return rule


def _everything_known(sign: int) -> FactRule:
    """Return the rule that takes what is best (or worst) for the target if it knew all facts, and
    the note that says most (or least) for the goal by its likes."""

    def rule(facts: _Facts) -> tuple[int, int]:
        full = TargetMind(facts.mind.likes, frozenset(CELLS)).points(facts.table)
        nothing = TargetMind(facts.mind.likes, frozenset())
        leads = []
        for note in facts.notes:
            points = nothing.points(facts.table, note)
            rivals = [points[row] for row in range(PROPOSALS) if row != facts.goal]
            leads.append(sign * (points[facts.goal] - max(rivals)))
        return _highest([sign * value for value in full]), _highest(leads)

    return rule


def _fact_rules() -> Mapping[str, FactRule]:
    rules: dict[str, FactRule] = {
        "best if the target knew everything": _everything_known(1),
        "worst if the target knew everything": _everything_known(-1),
        "most facts about the goal": _about_goal(1),
        "fewest facts about the goal": _about_goal(-1),
        "the proposal that the target has read most about": _read_most(1),
        "the proposal that the target has read least about": _read_most(-1),
    }
    for effect, verb in ((1, "increases"), (0, "no effects"), (-1, "decreases")):
        for sign, amount in ((1, "most"), (-1, "fewest")):
            rules[f"{amount} {verb}"] = _effects(effect, sign)
            rules[f"{amount} {verb} among what was read"] = _read_effects(effect, sign)
    return rules


def _answer(
    rule: FactRule, game: MindGame, view: View, question: QuestionKind
) -> int | Tell | None:
    assert view.brief.goal is not None
    facts = _Facts(table_of(view), view.brief.goal, game.notes, mind_of(view))
    proposal, note = rule(facts)
    if question == "know":
        return proposal
    return None if note is None else Tell(note)


def _constant(number: int, game: MindGame, view: View, question: QuestionKind) -> int | Tell:
    return number if question == "know" else Tell(number)


def _rules(order: int) -> Mapping[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {
        name: partial(_answer, rule) for name, rule in _fact_rules().items()
    }
    for number in range(NOTES):
        rules[f"always option {number}"] = partial(_constant, number)
    return rules


def _recipe(difference: Difference, title: str, about: str) -> PairRecipe:
    return PairRecipe(
        name=difference,
        title=title,
        game="mindgames",
        about=about,
        seat=PERSUADER,
        probe="target_choice",
        subject=TARGET,
        orders=(1,),
        draw=partial(_draw, difference),
        truth=_truth,
        best_moves=partial(_best_moves, difference),
        minds=_minds,
        minds_about="targets with the stated likes and facts, whatever they chose before",
        rules=_rules,
        reason=partial(_reason, difference),
    )


PAIRS = (
    _recipe(
        "knows",
        "MindGames, what the target knows",
        "of two facts in the same words the target has read one or the other",
    ),
    _recipe(
        "likes",
        "MindGames, what the target likes",
        "a like and a dislike of the target are exchanged between two attributes",
    ),
)
