"""The certificate of a pair: what makes a player that ignores the difference answer alike.

C1  same seat, menu, names, own moves, and pages of equal length
C2  truths differ, best moves are disjoint
C3  every mind of the declared class that fits what was seen gives the same answer
C4  every mindless rule gives one answer for both members
C6  a reasoner of the pair's order is right in both members, every lower one answers alike
(C5, learners trained on pages of other pairs, needs many pairs: `learners`.)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from sally.analysis.pairs.positions import (
    AskedPosition,
    open_position,
    page_of,
    right_answers,
)
from sally.core.registry.recipes import find_recipe
from sally.core.rules.pair import QUESTIONS, Pair, PairRecipe

WORD = re.compile(r"\w+")


class Certificate(msgspec.Struct, frozen=True):
    """The result of checking one pair; it holds if there is no problem."""

    pair: str
    problems: tuple[str, ...]
    has_same_words: bool  # both pages of each question consist of the same words

    @property
    def holds(self) -> bool:
        return not self.problems


def certify(pair: Pair) -> Certificate:
    """Check a pair; each problem begins with the clause that it breaks."""
    recipe = find_recipe(pair.game, pair.recipe)
    first, second = (open_position(recipe, pair, member) for member in (0, 1))
    pages = [
        tuple(page_of(position.asks[question]) for position in (first, second))
        for question in QUESTIONS
    ]
    problems = (
        *_same_surface(recipe, pair, first, second, pages),
        *_different_answers(recipe, first, second),
        *_check_identified(recipe, pair, first, second),
        *_alike_for_rules(recipe, pair, first, second),
        *_solved_at_its_order(recipe, pair, first, second),
    )
    same_words = all(
        Counter(WORD.findall(first_page)) == Counter(WORD.findall(second_page))
        for first_page, second_page in pages
    )
    return Certificate(pair.id, tuple(problems), same_words)


def _same_surface(
    recipe: PairRecipe,
    pair: Pair,
    first: AskedPosition,
    second: AskedPosition,
    pages: Sequence[tuple[str, ...]],
) -> Iterator[str]:
    if first.asks["do"].options != second.asks["do"].options:
        yield "C1: the menus of moves differ"
    questions = [position.asks["know"].question for position in (first, second)]
    if recipe.subject == "":  # may name the member's story
        questions = [
            question and msgspec.structs.replace(question, about="") for question in questions
        ]
    if questions[0] != questions[1]:
        yield "C1: the questions differ"
    own_moves = [[moves.get(recipe.seat) for moves in member.past] for member in pair.members]
    if own_moves[0] != own_moves[1]:
        yield "C1: the own moves differ"
    for question, (page, other_page) in zip(QUESTIONS, pages, strict=True):
        if page == other_page:
            yield f"C1: the pages of {question} are identical"
        if len(page) != len(other_page):
            yield f"C1: the pages of {question} have {len(page)} and {len(other_page)} characters"


def _different_answers(
    recipe: PairRecipe, first: AskedPosition, second: AskedPosition
) -> Iterator[str]:
    right = right_answers(recipe, first), right_answers(recipe, second)
    for question in QUESTIONS:
        if not right[0][question] or not right[1][question]:
            yield f"C2: no right answer to {question}"
        if set(right[0][question]) & set(right[1][question]):
            yield f"C2: the right answers to {question} overlap"


def _check_identified(
    recipe: PairRecipe, pair: Pair, first: AskedPosition, second: AskedPosition
) -> Iterator[str]:
    for member, position in enumerate((first, second)):
        truth = recipe.truth(position.game, position.state, position.others)
        answers = set(recipe.minds(position.game, position.view, pair.order))
        if answers != {truth}:
            yield f"C3: member {member}: the minds that fit answer {sorted(map(str, answers))}"


def _alike_for_rules(
    recipe: PairRecipe, pair: Pair, first: AskedPosition, second: AskedPosition
) -> Iterator[str]:
    for name, rule in recipe.rules(pair.order).items():
        for question in QUESTIONS:
            if rule(first.game, first.view, question) != rule(second.game, second.view, question):
                yield f"C4: the rule {name!r} tells the members apart ({question})"


def _solved_at_its_order(
    recipe: PairRecipe, pair: Pair, first: AskedPosition, second: AskedPosition
) -> Iterator[str]:
    for order in range(pair.order + 1):
        answers = [
            recipe.reason(position.game, position.view, order) for position in (first, second)
        ]
        if order < pair.order and answers[0] != answers[1]:
            yield f"C6: a reasoner of order {order} tells the members apart"
        if order == pair.order:
            truths = [
                recipe.truth(position.game, position.state, position.others)
                for position in (first, second)
            ]
            if answers != truths:
                yield f"C6: a reasoner of order {order} answers {answers}, not {truths}"
