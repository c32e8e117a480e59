"""Learners that read the pages of pairs without reasoning about the other mind (clause C5).

A learner sees, for every option of a question, the page with this option's name replaced by THIS
and the other options' names by OTHER. Its features are n-grams of words, the lines on which THIS
stands, and the order in which THIS and OTHER are mentioned. It learns on some pairs which option is
right and answers others with the likeliest option. If D of its answers differs from 0, the pages
tell the members apart by their surface. Of a long menu, such as prices, it sees the right options
of both members and some others, in both members the same ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

from sally.analysis.pairs.positions import open_position, page_of, right_answers
from sally.core.errors import BadInput, needs_extra
from sally.core.match.player import Turn
from sally.core.rules.chance import Stream
from sally.core.rules.pair import QUESTIONS, Pair, PairRecipe, QuestionKind, draw_pair
from sally.stats.one_thread import one_thread
from sally.stats.pairs import PairScore, outcome_of, score_pairs

MOST_MENTIONS = 12  # mentions of options that are features, from the end of a page
MOST_LINES = 40  # lines that are features, from either end of a page
NGRAM = 3
DENSE_FEATURES = 150  # that boosted trees see: those that vary most between options
FEWEST = 20  # pairs to learn from
MOST_OPTIONS = 12  # of a menu
WORD = re.compile(r"\w+|[^\w\s]")

Features = Counter[str]
Plant = Callable[[str, bool], str]  # (page, whether the option is right) -> the page a learner sees


class OptionPages(msgspec.Struct, frozen=True):
    """One question of one position: the features of every option, and which options are right."""

    options: tuple[Features, ...]
    is_right: tuple[bool, ...]


class LearnerScore(msgspec.Struct, frozen=True):
    """The score of one learner on held-out pairs."""

    learner: str
    question: QuestionKind
    score: PairScore
    trained_on: int


def option_names(question: QuestionKind, turn: Turn, choices: Sequence[Any]) -> list[str]:
    """Return the names of some options as the page writes them."""
    words = turn.context.words
    if question == "do":
        return [str(name) for name in words.menu(tuple(choices))]
    probe_question = turn.question
    assert probe_question is not None
    asker = words.of(probe_question)
    return [str(asker.choice_name(probe_question, choice)) for choice in choices]


def describe_option(page: str, names: Sequence[str], index: int) -> Features:
    """Return the features of one option on a page."""
    patterns = []
    for name in sorted(names, key=lambda name: -len(name)):
        initial, remainder = name[:1], re.escape(name[1:])
        patterns.append(
            (f"[{initial}{initial.upper()}]" if initial.islower() else re.escape(initial))
            + remainder
        )

    def label(match: re.Match[str]) -> str:
        text = match[0]
        is_this = names[index] in (text, text[:1].lower() + text[1:])
        return "THIS" if is_this else "OTHER"

    text = re.sub(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", label, page)
    features: Features = Counter()
    lines = text.split("\n")
    for number, line in enumerate(lines):
        tokens = WORD.findall(line)
        for size in range(1, NGRAM + 1):
            for start in range(len(tokens) - size + 1):
                gram = tokens[start : start + size]
                if "THIS" in gram:
                    features[" ".join(gram)] += 1
        count = tokens.count("THIS")
        if count:
            if number < MOST_LINES:
                features[f"line {number} from the top"] += count
            if len(lines) - number <= MOST_LINES:
                features[f"line {len(lines) - number} from the end"] += count
    mentions = re.findall(r"\b(?:THIS|OTHER)\b", text)
    for place, mention in enumerate(reversed(mentions[-MOST_MENTIONS:])):
        features[f"mention {place + 1} from the end is {mention}"] = 1
    for first, second in pairwise(mentions):
        features[f"{first} then {second}"] += 1
    features["place on the menu"] = index
    return features


def describe_pairs(
    recipe: PairRecipe, order: int, count: int, seed: int, plant: Plant | None = None
) -> Mapping[QuestionKind, list[tuple[OptionPages, OptionPages]]]:
    """Return the features of freshly drawn pairs; `plant` may put the answer on the page."""
    described: dict[QuestionKind, list[tuple[OptionPages, OptionPages]]] = {"know": [], "do": []}
    for number in range(count):
        pair = draw_pair(recipe, order, seed, number)
        for question, members in _describe_pair(recipe, pair, plant):
            described[question].append(members)
    return described


def _describe_pair(
    recipe: PairRecipe, pair: Pair, plant: Plant | None
) -> Iterator[tuple[QuestionKind, tuple[OptionPages, OptionPages]]]:
    positions = [open_position(recipe, pair, member) for member in (0, 1)]
    for question in QUESTIONS:
        turns = [position.asks[question] for position in positions]
        right = [right_answers(recipe, position)[question] for position in positions]
        choices = _shown_choices(turns[0], {*right[0], *right[1]}, Stream(pair.id, question))
        first, second = (
            _describe_position(turn, question, choices, set(member_right), plant)
            for turn, member_right in zip(turns, right, strict=True)
        )
        yield question, (first, second)


def _shown_choices(turn: Turn, right: set[Any], chance: Stream) -> list[Any]:
    """Return the options that a learner sees, in the order of the menu."""
    menu = tuple(turn.options if turn.question is None else turn.question.choices)
    if len(menu) <= MOST_OPTIONS:
        return list(menu)
    others = chance.shuffled([choice for choice in menu if choice not in right])
    selected = {*right, *others[: max(0, MOST_OPTIONS - len(right))]}
    return [choice for choice in menu if choice in selected]


def _describe_position(
    turn: Turn,
    question: QuestionKind,
    choices: Sequence[Any],
    right: set[Any],
    plant: Plant | None,
) -> OptionPages:
    page, names = page_of(turn), option_names(question, turn, choices)
    is_right = tuple(choice in right for choice in choices)
    options = tuple(
        describe_option(plant(page, is_right[index]) if plant else page, names, index)
        for index in range(len(names))
    )
    return OptionPages(options, is_right)


def attack_pairs(
    recipe: PairRecipe,
    order: int,
    train: int = 1000,
    test: int = 1000,
    seed: int = 1,
    plant: Plant | None = None,
) -> list[LearnerScore]:
    """Return the score of each learner on held-out pairs of a recipe.

    Raises:
        BadInput: If there are too few pairs, or scikit-learn is not installed.
    """
    if min(train, test) < FEWEST:
        raise BadInput(f"Learners need at least {FEWEST} pairs to learn from and to answer.")
    known_pairs = describe_pairs(recipe, order, train, seed, plant)
    held_out = describe_pairs(recipe, order, test, seed + 1, plant)
    with one_thread("adversary"):
        return [
            LearnerScore(
                name, question, _answer(fit, known_pairs[question], held_out[question]), train
            )
            for question in QUESTIONS
            for name, fit in LEARNERS.items()
        ]


Fit = Callable[[Sequence[Features], Sequence[bool]], Callable[[Sequence[Features]], Any]]
Described = Sequence[tuple[OptionPages, OptionPages]]


def _answer(fit: Fit, known_pairs: Described, held_out: Described) -> PairScore:
    positions = [member for pair in known_pairs for member in pair]
    rate = fit(
        [option for position in positions for option in position.options],
        [is_right for position in positions for is_right in position.is_right],
    )
    outcomes = []
    for number, pair in enumerate(held_out):
        answers = tuple(
            _likeliest(rate(position.options), Stream("learner", number, member))
            for member, position in enumerate(pair)
        )
        right = tuple(
            {index for index, is_right in enumerate(position.is_right) if is_right}
            for position in pair
        )
        outcomes.append(outcome_of((answers[0], answers[1]), (right[0], right[1])))
    return score_pairs(outcomes)


def _likeliest(ratings: Sequence[float], chance: Stream) -> int:
    """Return the option with the highest rating; equal ones are drawn from."""
    highest = max(ratings)
    return chance.pick([n for n, rating in enumerate(ratings) if rating >= highest - 1e-9])


def _fit_logistic(options: Sequence[Features], is_right: Sequence[bool]) -> Any:
    with needs_extra("adversary"):
        from sklearn.feature_extraction import DictVectorizer  # type: ignore[import-untyped]
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
        from sklearn.preprocessing import MaxAbsScaler  # type: ignore[import-untyped]

    vectors, scale = DictVectorizer(), MaxAbsScaler()
    model = LogisticRegression(max_iter=300, C=0.3)
    model.fit(scale.fit_transform(vectors.fit_transform(options)), np.array(is_right))
    return lambda features: model.decision_function(scale.transform(vectors.transform(features)))


def _fit_trees(options: Sequence[Features], is_right: Sequence[bool]) -> Any:
    with needs_extra("adversary"):
        from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]

    names = _most_varied(options)
    model = HistGradientBoostingClassifier(max_iter=120, random_state=1)
    model.fit(_dense(options, names), np.array(is_right))
    return lambda features: model.decision_function(_dense(features, names))


def _dense(options: Sequence[Features], names: Sequence[str]) -> Any:
    return np.array([[option.get(name, 0) for name in names] for option in options], dtype=float)


def _most_varied(options: Sequence[Features]) -> list[str]:
    frequency: Counter[str] = Counter(name for option in options for name in option)
    half = len(options) / 2
    return sorted(frequency, key=lambda name: (abs(frequency[name] - half), name))[:DENSE_FEATURES]


LEARNERS: Mapping[str, Fit] = {
    "logistic regression": _fit_logistic,
    "boosted trees": _fit_trees,
}
