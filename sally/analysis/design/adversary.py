"""Accuracy of shallow learners on surface features, without any model of another mind.

Every option of a question is described by some numbers. A learner sees these numbers, their ranks
among the options and their distances from the mean of the options. It learns on one half of fresh
questions which options are right and answers the other half with the likeliest option; the halves
are then swapped. Learners also find combinations of features that hand-written rules miss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sally.analysis.design import page_features
from sally.analysis.design.audit import card_of
from sally.core.errors import BadInput, needs_extra
from sally.core.registry import registry
from sally.core.rules.card import Attack, CardQuestion
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.one_thread import one_thread

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Model = Any  # a classifier of scikit-learn
QUESTIONS = 5000
MARGIN = 0.02  # accuracy above chance that no attacker should exceed
FEWEST = 20  # with fewer questions a learner learns nothing


class Finding(msgspec.Struct, frozen=True):
    """How often one attacker (a shallow learner, or a rule that uses one feature) finds the right
    answer, on newly generated questions or on a stored set of problems."""

    attack: str
    questions: str  # "fresh" or "frozen"
    attacker: str
    accuracy: float
    interval: list[float] | None
    chance: float
    n: int
    words: str  # for a single feature: its rule
    reasoning: str
    known: str

    @property
    def leaks(self) -> bool:
        """Whether accuracy exceeds chance by more than the margin and the whole interval is above
        chance."""
        sure = self.interval is None or self.interval[0] > self.chance
        return self.accuracy > self.chance + MARGIN and sure


class OptionTable(msgspec.Struct, frozen=True):
    """Questions as numbers: one row for each option, with the question it belongs to."""

    columns: Floats
    question: Ints
    right: npt.NDArray[np.bool_]
    chance: float

    @property
    def questions(self) -> int:
        """The number of questions."""
        return int(self.question[-1]) + 1


def run_attacks(game: str, questions: int = QUESTIONS, seed: int = 1) -> list[Finding]:
    """Run every attack by learners that a game's card declares.

    Raises:
        BadInput: If the card declares no attack.
    """
    card = card_of(game)
    if not card.attacks:
        reason = card.unattacked or "it does not say why."
        raise BadInput(f"The card of {game} declares no attacks by learners: {reason}")
    findings = [result for attack in card.attacks for result in attack_of(attack, questions, seed)]
    for attack in card.attacks:
        if attack.pages is not None:
            for joined in (False, True) if attack.joined else (False,):
                findings += attack_of(
                    page_attack(game, attack, questions, seed, joined), questions, seed
                )
    return findings


def page_attack(game: str, attack: Attack, questions: int, seed: int, joined: bool) -> Attack:
    """Return an attack by learners on the same problems as `attack`, with features that are
    generated from the prompts of these problems."""
    assert attack.pages is not None
    games = attack.pages(questions, seed)
    names, rows = page_features.pose_questions(registry.game(game), games, joined)
    kind = "generated features of the page" + (", relations joined" if joined else "")
    return Attack(
        f"{attack.name.partition(',')[0]}, {kind}",
        names,
        lambda count, other_seed: rows,
        chance=attack.chance,
        reasoning=attack.joined if joined else attack.page_reasoning,
    )


def attack_of(attack: Attack, questions: int, seed: int) -> list[Finding]:
    """Return how often shallow learners, and the best rule that uses a single feature, find the
    right answers without modelling the other player. Newly generated questions are tested and, if
    the game has a stored set, the questions of that set too."""
    if questions < FEWEST:
        raise BadInput(f"An attack by learners needs at least {FEWEST} questions, not {questions}.")
    table = tabulate(attack, attack.fresh(questions, seed))
    frozen = None if attack.frozen is None else tabulate(attack, attack.frozen())
    # a rule chosen among many looks better than it is on the questions it was chosen by
    half = table.questions // 2
    chosen_by, tried_on = _rows(table, 0, half), _rows(table, half, table.questions)
    findings = [_single(attack, "fresh", chosen_by, tried_on)]
    if frozen is not None:
        findings.append(_single(attack, "frozen", table, frozen))
    makers = learners()
    with one_thread("adversary"):
        for name, make in makers.items():
            findings.append(finding(attack, "fresh", name, table, cross_validate(make, table)))
            if frozen is not None:
                model = make().fit(table.columns, table.right)
                hits = _hits(_chances(model, frozen), frozen)
                findings.append(finding(attack, "frozen", name, frozen, hits))
    return findings


def cross_validate(make: Callable[[], Model], table: OptionTable) -> Floats:
    """Return, for each question, whether a learner trained on the other half is right."""
    half = table.questions // 2
    first_half, second_half = _rows(table, 0, half), _rows(table, half, table.questions)
    hits = [
        _hits(_chances(make().fit(learn.columns, learn.right), test), test)
        for learn, test in ((second_half, first_half), (first_half, second_half))
    ]
    return np.concatenate(hits)


def learners() -> Mapping[str, Callable[[], Model]]:
    """Return constructors of the learners, by name.

    Raises:
        BadInput: If scikit-learn is not installed.
    """
    with needs_extra("adversary"):
        from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]
        from sklearn.impute import SimpleImputer  # type: ignore[import-untyped]
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
        from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
        from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]
    return {
        "logistic": lambda: make_pipeline(
            SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True),
            StandardScaler(),
            LogisticRegression(C=0.3, max_iter=400),
        ),
        "boosted trees": lambda: HistGradientBoostingClassifier(
            max_iter=80, learning_rate=0.08, max_leaf_nodes=15, min_samples_leaf=25, random_state=0
        ),
    }


def tabulate(attack: Attack, posed: Sequence[CardQuestion]) -> OptionTable:
    """Return questions as numbers: each feature, its rank, and its distance from the mean."""
    blocks, numbers, right = [], [], []
    for n, question in enumerate(posed):
        raw = np.array(question.options, dtype=np.float64)
        if raw.shape[1] != len(attack.features):
            raise BadInput(
                f"The attack by learners {attack.name!r} declares {len(attack.features)} features, "
                f"but one of its questions has {raw.shape[1]}."
            )
        blocks.append(np.hstack([raw, _ranks(raw), raw - _means(raw)]))
        numbers.append(np.full(len(raw), n))
        right.append(np.arange(len(raw)) == question.right)
    even = float(np.mean([1 / len(question.options) for question in posed]))
    return OptionTable(
        np.vstack(blocks),
        np.concatenate(numbers),
        np.concatenate(right),
        even if attack.chance is None else attack.chance,
    )


def _means(raw: Floats) -> Floats:
    is_present = ~np.isnan(raw)
    total = np.where(is_present, raw, 0.0).sum(axis=0)
    means: Floats = np.asarray(total / np.maximum(is_present.sum(axis=0), 1))
    return means


def _ranks(raw: Floats) -> Floats:
    """Return the ranks of the options by each number; ties share the mean rank, NaN stays NaN."""
    smaller = (raw[None, :, :] < raw[:, None, :]).sum(axis=1)
    ties = (raw[None, :, :] == raw[:, None, :]).sum(axis=1)
    return np.where(np.isnan(raw), np.nan, smaller + (ties - 1) / 2)


def _rows(table: OptionTable, start: int, stop: int) -> OptionTable:
    is_inside = (table.question >= start) & (table.question < stop)
    return OptionTable(
        table.columns[is_inside],
        table.question[is_inside] - start,
        table.right[is_inside],
        table.chance,
    )


def _chances(model: Model, table: OptionTable) -> Floats:
    chances: Floats = model.predict_proba(table.columns)[:, 1]
    return chances


def _hits(scores: Floats, table: OptionTable) -> Floats:
    """Return, for each question, whether the highest-scoring option is right; ties are split."""
    best = np.full(table.questions, -np.inf)
    np.maximum.at(best, table.question, np.where(np.isnan(scores), -np.inf, scores))
    top = scores >= best[table.question] - 1e-12
    tied = np.bincount(table.question, weights=top, minlength=table.questions)
    won = np.bincount(table.question, weights=top & table.right, minlength=table.questions)
    return np.divide(won, tied, out=np.zeros(table.questions), where=tied > 0)


def _single(attack: Attack, questions: str, learn: OptionTable, test: OptionTable) -> Finding:
    """Find the best rule that picks the option with the lowest or highest value of one feature, and
    test it."""
    count = len(attack.features)
    rules = [(sign, column) for column in range(count) for sign in (-1.0, 1.0)]
    rates = [_hits(s * learn.columns[:, c], learn).mean() for s, c in rules]
    sign, column = rules[int(np.argmax(rates))]
    words = f"the {'greatest' if sign > 0 else 'least'} {attack.features[column]}"
    hits = _hits(sign * test.columns[:, column], test)
    return finding(attack, questions, "single feature", test, hits, words)


def finding(
    attack: Attack, questions: str, attacker: str, test: OptionTable, hits: Floats, words: str = ""
) -> Finding:
    share = lone_by_rule(hits, (0, 1))
    return Finding(
        attack=attack.name,
        questions=questions,
        attacker=attacker,
        accuracy=float(hits.mean()),
        interval=share.interval,
        chance=test.chance,
        n=len(hits),
        words=words,
        reasoning=attack.reasoning,
        known=attack.known,
    )
