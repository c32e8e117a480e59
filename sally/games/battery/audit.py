"""Audit of a file of items: mindless rules, classifiers with and without the story, and wrong keys.

The rules were written after looking at the published items and are scored on the same items; on
small sets the best of a dozen rules also scores too high by luck. None of the rules models a mind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from sally.core.errors import BadInput, needs_extra
from sally.games.battery import hitom_beliefs
from sally.games.battery.hitom_beliefs import place_believed
from sally.games.battery.items import Item, by_pair, differs, read_items
from sally.games.battery.mindless import (
    NEGATION,
    SURFACE,
    Rule,
    chance,
    last_sentence,
    most_words,
    share,
    words_of,
)
from sally.games.battery.scores import STRICT_CELLS, strict_groups, strict_share

FOLDS = 5
LEAST = 20  # items of a group that gets a row


class Line(msgspec.Struct, frozen=True):
    """The scores of one group of items: chance, the best mindless rule, and both learners."""

    group: str
    items: int
    chance: float
    rule: str
    best: float
    blind: float | None
    page: float | None
    rules: dict[str, float]


class Audit(msgspec.Struct, frozen=True):
    """The findings of an audit."""

    items: int
    stories: int
    not_scored: int
    flags: dict[str, int]
    differ: int  # keys that differ from a published one
    lines: tuple[Line, ...]
    strict: dict[str, float]  # best strict score of a rule, by group of the criterion
    notes: tuple[str, ...]


def audit_items(items: Sequence[Item], learn: bool = True) -> Audit:
    """Return the audit of items; with `learn`, also train the two classifiers.

    Rules are scored on all items as published; strict scores leave out flagged items.
    """
    scored = [item for item in items if item.sound]
    if not scored:
        raise BadInput("No item is scored: all of them are flagged.")
    blind = learner_hits(items, blind_features) if learn else {}
    page = learner_hits(items, page_features) if learn else {}
    flags = Counter(re.sub(r" as \S+$", "", flag) for item in items for flag in item.flags)
    lines = [_line("all", items, blind, page)]
    lines += [
        _line(name, group, blind, page) for name, group in _groups(items) if len(group) >= LEAST
    ]
    return Audit(
        items=len(items),
        stories=len(by_pair(items)),
        not_scored=len(items) - len(scored),
        flags=dict(flags),
        differ=sum(map(differs, items)),
        lines=tuple(lines),
        strict=dict(_strict(scored)),
        notes=tuple(_notes(items)),
    )


def audit_file(file: Path) -> Audit:
    """Return the audit of a file of items."""
    return audit_items(read_items(file))


ITEM_AUDIT = audit_file


def _groups(items: Sequence[Item]) -> Iterator[tuple[str, list[Item]]]:
    """Yield named groups of items: by condition and order if there is only one task, otherwise by
    task and, for BigToM, also by task and condition."""
    groups: dict[str, list[Item]] = {}
    is_single_task = len({item.task for item in items}) == 1
    for item in items:
        if is_single_task and item.order is not None:
            names = [f"{item.condition}, order {item.order}" if item.condition else item.order]
        else:
            names = [item.task or "no task"]
            if item.condition and item.task and item.task.startswith(("forward", "backward")):
                names.append(f"{item.task}, {item.condition}")
        for name in names:
            groups.setdefault(str(name), []).append(item)
    yield from groups.items()


def rules_of(item: Item) -> Mapping[str, Rule]:
    """Return the mindless rules that apply to the battery of this item."""
    if item.task == "hitom":
        return {**SURFACE, **HITOM}
    if item.belief_stated is not None:  # its options are listed aware first, never as printed
        surface_rules = {name: rule for name, rule in SURFACE.items() if "as_printed" not in name}
        return {**surface_rules, "negation_second_on_ties": negation_second_on_ties}
    if item.task == "False Belief Task":
        return {**SURFACE, "named_first_unless_seen": named_first_unless_seen}
    return SURFACE


def _line(
    name: str, items: Sequence[Item], blind: Mapping[str, float], page: Mapping[str, float]
) -> Line:
    rules_by_name = dict(rules_of(items[0]))
    for item in items:  # a rule of one task is scored where all items have it
        rules_by_name = {
            name: rule for name, rule in rules_by_name.items() if name in rules_of(item)
        }
    rules = {rule: share(rule_function, items) for rule, rule_function in rules_by_name.items()}
    rule = max(rules, key=rules.__getitem__)
    return Line(
        name,
        len(items),
        chance(items),
        rule,
        rules[rule],
        _mean_hits(items, blind),
        _mean_hits(items, page),
        rules,
    )


def _mean_hits(items: Sequence[Item], hits: Mapping[str, float]) -> float | None:
    item_hits = [hits[item.id] for item in items if item.id in hits]
    return 100 * sum(item_hits) / len(item_hits) if item_hits else None


# --- rules of single batteries --------------------------------------------------------------------


PlaceOf = Callable[[Sequence[hitom_beliefs.WitnessedEvent], str, Sequence[str]], str]


def _place_rule(place_of: PlaceOf) -> Rule:
    """Return the rule for Hi-ToM that chooses the place which `place_of` returns for the events of
    the story, the place where the thing really is, and the people that the question names."""

    def rule(item: Item) -> tuple[int, ...]:
        thing, chain = hitom_beliefs.people_asked(item.question)
        place = place_of(*hitom_beliefs.events_about(item.story, thing), chain)
        if place in item.options:
            return (item.options.index(place),)
        return tuple(range(len(item.options)))

    return rule


HITOM: Mapping[str, Rule] = {
    "first_place": _place_rule(lambda events, real, chain: events[0].place),
    "where_it_is": _place_rule(lambda events, real, chain: real),
    "said_or_put_last": _place_rule(lambda events, real, chain: events[-1].place),
    "first_mind": _place_rule(lambda events, real, chain: place_believed(events, real, chain[:1])),
    "last_mind": _place_rule(lambda events, real, chain: place_believed(events, real, chain[-1:])),
    "talk_ignored": _place_rule(
        lambda events, real, chain: place_believed(events, real, chain, talk=False)
    ),
}


def negation_second_on_ties(item: Item) -> tuple[int, ...]:
    """Choose the option that describes the initial state of the story if the last sentence has a
    negation, else the other option.

    For belief questions, the initial state is taken to be the option whose distinctive words come
    earlier in the question on average; for questions about actions, the choice of `most_words`. On
    a tie, it is the option listed second, which in BigToM describes a person unaware of the change.
    """
    if item.task is not None and "action" in item.task:
        old = most_words(item)[-1]
    else:
        old = 0 if _first_asked(item, 0) > _first_asked(item, 1) else 1
    return (old,) if NEGATION.search(last_sentence(item.story)) else (1 - old,)


def _first_asked(item: Item, option: int) -> float:
    own_words, other_words = (item.options[n].lower().split() for n in (option, 1 - option))
    question_words = item.question.lower().split()
    places = [
        question_words.index(word)
        for word in own_words
        if word not in other_words and word in question_words
    ]
    return -sum(places) / len(places) if places else float("-inf")


def _named_places(item: Item) -> list[tuple[int, int]]:
    """Return (position in the story, option) for each option that the story names, in order."""
    story = " ".join(words_of(item.story))
    positions = [
        (story.find(" ".join(words_of(option))), n) for n, option in enumerate(item.options)
    ]
    return sorted(place for place in positions if place[0] >= 0)


def named_first_unless_seen(item: Item) -> tuple[int, ...]:
    """Choose the option that the story names first, except for reality and true-belief questions.

    For reality and true-belief questions, it chooses among the other options the one that the story
    names last. The rule is told the type of each question.
    """
    named_options = _named_places(item)
    if not named_options:
        return tuple(range(len(item.options)))
    old = named_options[0][1]
    if item.condition not in ("reality", "true_belief"):
        return (old,)
    story = " ".join(words_of(item.story))
    last = [
        (story.rfind(" ".join(words_of(item.options[n]))), n) for _, n in named_options if n != old
    ]
    return (max(last)[1],) if last else (old,)


# --- strict scores --------------------------------------------------------------------------------


def _strict(items: Sequence[Item]) -> Iterator[tuple[str, float]]:
    """Yield, for each kind of item group, the mindless rule that answers the most groups entirely
    correctly, and its percentage.

    For BigToM, also yield the best rule by the published criterion. It requires right answers only
    in the true-belief and the false-belief version of a story, not in the control version
    (`true_control`).
    """
    groups = strict_groups(items)
    named_rules = {rule for item in items for rule in rules_of(item).items()}
    right = {
        name: {item.id for item in items if rule(item) == (item.answer,)}
        for name, rule in named_rules
    }
    kinds = dict.fromkeys(key[:-1] for key in groups)
    for kind in kinds:
        kind_groups = {key: ids for key, ids in groups.items() if key[:-1] == kind}
        label = ", ".join(kind) or "all questions of a story"
        scores = {name: strict_share(kind_groups, ids) or 0.0 for name, ids in right.items()}
        best = max(scores, key=scores.__getitem__)
        yield f"{label}: {best}", scores[best]
        groups_without_control = {key: _without_control(ids) for key, ids in kind_groups.items()}
        if kind and kind[0].startswith(("forward", "backward")):
            pairs = {
                name: strict_share(groups_without_control, ids) or 0.0
                for name, ids in right.items()
            }
            best = max(pairs, key=pairs.__getitem__)
            yield f"{label}, published criterion (without the true control): {best}", pairs[best]


def _without_control(ids: Sequence[str]) -> list[str]:
    return [id for id in ids if not id.endswith(STRICT_CELLS[-1])]


def _notes(items: Sequence[Item]) -> Iterator[str]:
    """Yield notes on properties of particular batteries, with counts."""
    nested = [item for item in items if item.published_vp is not None]
    if nested:
        differing = [i for i in nested if i.published_vp != i.published_cotp]
        orders = sorted({i.order or 0 for i in differing})
        counts_text = ", ".join(f"{k}: {sum(i.order == k for i in differing)}" for k in orders)
        copies = f"{len(differing)} of {len(nested)} (order {counts_text})"
        yield f"published copies with different keys: {copies}"
        rule = {i.id: i.answer if i.sound else i.by_rule for i in nested}
        for copy in ("published_cotp", "published_vp"):
            fits = sum(getattr(i, copy) == rule[i.id] for i in nested)
            shares = []
            for k in range(5):
                order_items = [i for i in nested if i.order == k]
                if order_items:
                    wrong = sum(getattr(i, copy) != rule[i.id] for i in order_items)
                    shares.append(f"{k}: {100 * wrong / len(order_items):.0f}%")
            agreement_text = f"{copy} agrees with the belief rule in {fits} of {len(nested)}"
            yield f"{agreement_text} (wrong at order {', '.join(shares)})"
    for cell in ("true_belief", "false_belief"):
        cell_items = [
            i for i in items if i.condition == cell and (i.task or "").startswith("forward")
        ]
        if cell_items:
            denied = sum(bool(NEGATION.search(last_sentence(i.story))) for i in cell_items)
            share_denied = 100 * denied / len(cell_items)
            yield f"{cell}: the last sentence has a negation in {share_denied:.0f}%"


# --- learners -------------------------------------------------------------------------------------

Features = Callable[[Item, int], dict[str, float]]


def learner_hits(items: Sequence[Item], features: Features) -> dict[str, float]:
    """Return the hits of a logistic model on each item, cross-validated over stories.

    The model uses C = 0.3 and five folds, both untuned; a tie among k options counts as 1/k of a
    hit.
    """
    with needs_extra("adversary"):
        from sklearn.feature_extraction import FeatureHasher  # type: ignore[import-untyped]
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    stories = list(by_pair(items))
    draws = np.random.default_rng(0)
    fold_of = dict(zip(draws.permutation(stories).tolist(), range(len(stories)), strict=True))
    rows, right, owner = list[dict[str, float]](), list[float](), list[int]()
    for number, item in enumerate(items):
        for option in range(len(item.options)):
            rows.append(features(item, option))
            right.append(float(option == item.answer))
            owner.append(number)
    table = FeatureHasher(2**16).transform(rows)
    truth, owners = np.asarray(right), np.asarray(owner)
    folds = np.asarray([fold_of[items[n].pair or items[n].id] % FOLDS for n in owner])
    scores = np.zeros(len(rows))
    for fold in range(min(FOLDS, len(stories))):
        out = folds == fold
        if out.all() or not out.any():
            continue
        model = LogisticRegression(C=0.3, max_iter=300).fit(table[~out], truth[~out])
        scores[out] = model.decision_function(table[out])
    hits_by_item = {}
    starts = np.searchsorted(owners, np.arange(len(items) + 1))
    for number, item in enumerate(items):
        item_scores = scores[starts[number] : starts[number + 1]]
        best = np.flatnonzero(item_scores >= item_scores.max() - 1e-12)
        hits_by_item[item.id] = float(item.answer in best) / len(best)
    return hits_by_item


def blind_features(item: Item, option: int) -> dict[str, float]:
    """Return the features of an option that can be computed without the story: the option's words,
    pairs of a question word and an option word, and lengths."""
    option_words, question_words = words_of(item.options[option]), words_of(item.question)
    features = {f"o:{word}": 1.0 for word in option_words}
    features |= {f"q:{a}|{b}": 1.0 for a in set(question_words) for b in set(option_words)}
    lengths = [len(text) for text in item.options]
    features["length"] = len(item.options[option]) / 100
    features["longest"] = float(lengths[option] == max(lengths))
    features["shortest"] = float(lengths[option] == min(lengths))
    return features


def page_features(item: Item, option: int) -> dict[str, float]:
    """Return the features of an option that a classifier reads from the whole item.

    These are the features that need no story (see `blind_features`); how often and where the story
    names the option; the words near its first and last mention; and the option's rank among all
    options by order of mention, alone and combined with each word of the question and of the
    story's last sentence.
    """
    features = blind_features(item, option)
    option_words = [frozenset(words_of(text)) for text in item.options]
    shared = frozenset.intersection(*option_words)
    story, question_words = words_of(item.story), words_of(item.question)
    places_by_option = [
        [n for n, word in enumerate(story) if word in words - shared] for words in option_words
    ]
    own_places = places_by_option[option]
    ranks = {
        "story": sum(
            min(places, default=10**6) < min(own_places, default=10**6)
            for places in places_by_option
        ),
        "end": sum(
            max(places, default=-1) > max(own_places, default=-1) for places in places_by_option
        ),
    }
    first = [
        min((n for n, word in enumerate(question_words) if word in words - shared), default=10**6)
        for words in option_words
    ]
    ranks["question"] = sum(place < first[option] for place in first)
    features["times"] = len(own_places) / 5
    features["share"] = len(option_words[option] & set(story)) / max(1, len(option_words[option]))
    last = words_of(last_sentence(item.story))
    for name, rank in ranks.items():
        features[f"{name} {rank}"] = 1.0
        features |= {f"{name} {rank}|q:{word}": 1.0 for word in question_words}
        features |= {f"{name} {rank}|s:{word}": 1.0 for word in last}
    if own_places:
        features |= {
            f"first|{word}": 1.0 for word in story[max(0, own_places[0] - 4) : own_places[0] + 4]
        }
        features |= {
            f"last|{word}": 1.0 for word in story[max(0, own_places[-1] - 4) : own_places[-1] + 4]
        }
        features["first at"], features["last at"] = (
            own_places[0] / len(story),
            own_places[-1] / len(story),
        )
    return features
