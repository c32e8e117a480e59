"""The audit of a game's pairs: certificates, mindless rules, reasoners and learners, in rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from sally.analysis.pairs.certificate import certify
from sally.analysis.pairs.learners import attack_pairs
from sally.analysis.pairs.positions import AskedPosition, open_position, right_answers
from sally.core.errors import BadInput
from sally.core.registry.recipes import recipes_of
from sally.core.rules.chance import Stream
from sally.core.rules.pair import QUESTIONS, PairRecipe, QuestionKind, Rule, draw_pair
from sally.stats.intervals import Estimate
from sally.stats.pairs import PairOutcome, PairScore, outcome_of, score_pairs

FEWEST_PAIRS = 5


class AnswererScore(msgspec.Struct, frozen=True):
    """The score of one rule, reasoner or learner on the drawn pairs."""

    answerer: str
    question: QuestionKind
    j: Estimate
    d: Estimate

    @property
    def is_away_from_zero(self) -> bool:
        """Whether the interval of J or of D excludes 0."""
        return any(
            estimate.low is not None
            and estimate.high is not None
            and not estimate.low <= 0 <= estimate.high
            for estimate in (self.j, self.d)
        )


class PairAudit(msgspec.Struct, frozen=True):
    """The audit of one recipe and order."""

    recipe: str
    title: str
    order: int
    pairs: int
    certified: int
    same_words: int  # pairs whose pages consist of the same words
    problems: dict[str, int]  # broken clauses with their number of pairs
    rules: tuple[AnswererScore, ...]  # mindless: 0 is wanted
    reasoners: tuple[AnswererScore, ...]  # below the order 0, at the order 1
    learners: tuple[AnswererScore, ...]  # empty: not trained


def audit_pairs(
    game: str,
    pairs: int = 100,
    seed: int = 1,
    learner_pairs: int = 0,
    watch: Callable[[str], None] | None = None,
) -> list[PairAudit]:
    """Return the audit of every recipe and order of a game.

    Args:
        game: A game or family with recipes of pairs.
        pairs: How many pairs are drawn of each recipe and order.
        seed: Seed of the pairs.
        learner_pairs: How many pairs learners learn from and answer; 0: no learner is trained.
        watch: Called with the name of each recipe and order before it is audited.

    Raises:
        BadInput: If the game has no recipe, or too few pairs are asked for.
    """
    recipes = recipes_of(game)
    if not recipes:
        raise BadInput(f"{game} declares no recipe of pairs (PAIRS in pairs.py).")
    if pairs < FEWEST_PAIRS:
        raise BadInput(f"An audit of pairs needs at least {FEWEST_PAIRS} pairs, not {pairs}.")
    audits = []
    for recipe in recipes:
        for order in recipe.orders:
            if watch is not None:
                watch(f"{recipe.title}, order {order}")
            audits.append(_audit(recipe, order, pairs, seed, learner_pairs))
    return audits


def _audit(recipe: PairRecipe, order: int, count: int, seed: int, learner_pairs: int) -> PairAudit:
    pairs = [draw_pair(recipe, order, seed, number) for number in range(count)]
    certificates = [certify(pair) for pair in pairs]
    positions = [(open_position(recipe, pair, 0), open_position(recipe, pair, 1)) for pair in pairs]
    problems: dict[str, int] = {}
    for certificate in certificates:
        for problem in certificate.problems:
            problems[problem] = problems.get(problem, 0) + 1
    learners = (
        attack_pairs(recipe, order, learner_pairs, learner_pairs, seed) if learner_pairs else ()
    )
    return PairAudit(
        recipe.name,
        recipe.title,
        order,
        count,
        sum(certificate.holds for certificate in certificates),
        sum(certificate.has_same_words for certificate in certificates),
        problems,
        tuple(_score_rules(recipe, order, positions)),
        tuple(_score_reasoners(recipe, order, positions)),
        tuple(_row(score.learner, score.question, score.score) for score in learners),
    )


Positions = Sequence[tuple[AskedPosition, AskedPosition]]
Answerer = Callable[[AskedPosition, QuestionKind, Stream], Any]


def _score_rules(recipe: PairRecipe, order: int, positions: Positions) -> Iterator[AnswererScore]:
    for name, rule in recipe.rules(order).items():
        for question in QUESTIONS:
            yield _score(recipe, name, question, positions, partial(_follow, rule))
    for question in QUESTIONS:
        yield _score(recipe, "random", question, positions, _draw_option)


def _follow(rule: Rule, position: AskedPosition, question: QuestionKind, chance: Stream) -> Any:
    return rule(position.game, position.view, question)


def _draw_option(position: AskedPosition, question: QuestionKind, chance: Stream) -> Any:
    turn = position.asks[question]
    choices = turn.options if turn.question is None else turn.question.choices
    return chance.pick(tuple(choices))


def _score_reasoners(
    recipe: PairRecipe, order: int, positions: Positions
) -> Iterator[AnswererScore]:
    for depth in range(order + 1):

        def reason(
            position: AskedPosition, question: QuestionKind, chance: Stream, depth: int = depth
        ) -> Any:
            predicted = recipe.reason(position.game, position.view, depth)
            if question == "know":
                return predicted
            moves = recipe.best_moves(position.game, position.view, predicted)
            return moves[0] if moves else None

        for question in QUESTIONS:
            yield _score(recipe, f"reasoner of order {depth}", question, positions, reason)


def _score(
    recipe: PairRecipe,
    name: str,
    question: QuestionKind,
    positions: Positions,
    answer: Answerer,
) -> AnswererScore:
    outcomes: list[PairOutcome] = []
    for number, members in enumerate(positions):
        first, second = (
            answer(position, question, Stream(name, question, number, member))
            for member, position in enumerate(members)
        )
        right = [right_answers(recipe, position)[question] for position in members]
        outcomes.append(outcome_of((first, second), (right[0], right[1])))
    return _row(name, question, score_pairs(outcomes))


def _row(name: str, question: QuestionKind, score: PairScore) -> AnswererScore:
    return AnswererScore(name, question, score.j, score.d)
