"""Audit of a file of items: mindless rules, a learner that never reads the story, wrong keys.

The rules were written after looking at the published items and are scored on the same items; the
best of a dozen is too high by luck on small sets. None of them has a model of a mind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from sally.core.errors import BadInput
from sally.games.battery import hitom_beliefs
from sally.games.battery.items import Item, by_pair, differs
from sally.games.battery.mindless import NEGATION, SURFACE, Rule, chance, share, words_of
from sally.games.battery.scores import STRICT_CELLS, strict_groups, strict_share

FOLDS = 5
LEAST = 20  # items of a group that gets a row


class Line(msgspec.Struct, frozen=True):
    """One group of items: chance, the best mindless rule, and the learner without the story."""

    group: str
    items: int
    chance: float
    rule: str
    best: float
    blind: float | None
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


def audited(items: Sequence[Item], learn: bool = True) -> Audit:
    """Return the audit of some items; `learn` trains the learner that never reads the story.

    Rules are scored on every item, as published; strict scores leave flagged items out.
    """
    scored = [item for item in items if item.sound]
    if not scored:
        raise BadInput("No item is scored: all of them are flagged.")
    blind = blind_hits(items) if learn else {}
    flags: dict[str, int] = {}
    for item in items:
        for flag in item.flags:
            name = re.sub(r" as \S+$", "", flag)
            flags[name] = flags.get(name, 0) + 1
    lines = [_line("all", items, blind)]
    lines += [_line(name, some, blind) for name, some in _groups(items) if len(some) >= LEAST]
    return Audit(
        items=len(items),
        stories=len(by_pair(items)),
        not_scored=len(items) - len(scored),
        flags=flags,
        differ=sum(map(differs, items)),
        lines=tuple(lines),
        strict=dict(_strict(scored)),
        notes=tuple(_notes(items)),
    )


def _groups(items: Sequence[Item]) -> Iterator[tuple[str, list[Item]]]:
    """Yield the items by task and condition, or by condition and order where there is one task."""
    found: dict[str, list[Item]] = {}
    one = len({item.task for item in items}) == 1
    for item in items:
        if one and item.order is not None:
            names = [f"{item.condition}, order {item.order}" if item.condition else item.order]
        else:
            names = [item.task or "no task"]
            if item.condition and item.task and item.task.startswith(("forward", "backward")):
                names.append(f"{item.task}, {item.condition}")
        for name in names:
            found.setdefault(str(name), []).append(item)
    yield from found.items()


def rules_of(item: Item) -> Mapping[str, Rule]:
    """Return the rules that fit an item's battery."""
    if item.task == "hitom":
        return {**SURFACE, **HITOM}
    if item.belief_stated is not None:  # its options are listed aware first, never as printed
        return {name: rule for name, rule in SURFACE.items() if "as_printed" not in name}
    if item.task == "False Belief Task":
        return {**SURFACE, "named_first_unless_seen": named_first_unless_seen}
    return SURFACE


def _line(name: str, items: Sequence[Item], blind: Mapping[str, float]) -> Line:
    known = dict(rules_of(items[0]))
    for item in items:  # a rule of one task is scored where all items have it
        known = {name: rule for name, rule in known.items() if name in rules_of(item)}
    rules = {rule: share(made, items) for rule, made in known.items()}
    rule = max(rules, key=rules.__getitem__)
    hits = [blind[item.id] for item in items if item.id in blind]
    learner = 100 * sum(hits) / len(hits) if hits else None
    return Line(name, len(items), chance(items), rule, rules[rule], learner, rules)


# --- rules of single batteries --------------------------------------------------------------------


def _chain(item: Item) -> tuple[list[hitom_beliefs.Seen], str, tuple[str, ...]]:
    thing, chain = hitom_beliefs.asked(item.question)
    seen, place = hitom_beliefs.happened(item.story, thing)
    return seen, place, chain


def _container(item: Item, place: str) -> tuple[int, ...]:
    return (
        (item.options.index(place),) if place in item.options else tuple(range(len(item.options)))
    )


def _first_place(item: Item) -> tuple[int, ...]:
    """Return where the thing was at first."""
    return _container(item, _chain(item)[0][0].place)


def _where_it_is(item: Item) -> tuple[int, ...]:
    """Return where the thing is."""
    return _container(item, _chain(item)[1])


def _last_said(item: Item) -> tuple[int, ...]:
    """Return where the thing was last put or said to be."""
    return _container(item, _chain(item)[0][-1].place)


def _first_mind(item: Item) -> tuple[int, ...]:
    """Return what the first person named believes."""
    seen, place, chain = _chain(item)
    return _container(item, hitom_beliefs.believed(seen, place, chain[:1]))


def _last_mind(item: Item) -> tuple[int, ...]:
    """Return what the last person named believes."""
    seen, place, chain = _chain(item)
    return _container(item, hitom_beliefs.believed(seen, place, chain[-1:]))


def _talk_ignored(item: Item) -> tuple[int, ...]:
    """Apply the belief rule without talk."""
    seen, place, chain = _chain(item)
    return _container(item, hitom_beliefs.believed(seen, place, chain, talk=False))


HITOM: Mapping[str, Rule] = {
    "first_place": _first_place,
    "where_it_is": _where_it_is,
    "said_or_put_last": _last_said,
    "first_mind": _first_mind,
    "last_mind": _last_mind,
    "talk_ignored": _talk_ignored,
}


def _named_places(item: Item) -> list[tuple[int, int]]:
    """Return (position in the story, option) for each option that the story names, in order."""
    story = " ".join(words_of(item.story))
    at = [(story.find(" ".join(words_of(option))), n) for n, option in enumerate(item.options)]
    return sorted(found for found in at if found[0] >= 0)


def named_first_unless_seen(item: Item) -> tuple[int, ...]:
    """Return the option named first in a false-belief story, except for questions about reality.

    The rule is given the type of the question; for reality and true-belief questions it returns the
    other option that is named last.
    """
    named = _named_places(item)
    if not named:
        return tuple(range(len(item.options)))
    old = named[0][1]
    if item.condition not in ("reality", "true_belief"):
        return (old,)
    story = " ".join(words_of(item.story))
    last = [(story.rfind(" ".join(words_of(item.options[n]))), n) for _, n in named if n != old]
    return (max(last)[1],) if last else (old,)


# --- strict scores --------------------------------------------------------------------------------


def _strict(items: Sequence[Item]) -> Iterator[tuple[str, float]]:
    """Yield the best strict score of a rule; for BigToM also the published criterion."""
    groups = strict_groups(items)
    known = {rule for item in items for rule in rules_of(item).items()}
    right = {
        name: {item.id for item in items if rule(item) == (item.answer,)} for name, rule in known
    }
    kinds = dict.fromkeys(key[:-1] for key in groups)
    for kind in kinds:
        some = {key: ids for key, ids in groups.items() if key[:-1] == kind}
        label = ", ".join(kind) or "all questions of a story"
        scores = {name: strict_share(some, ids) or 0.0 for name, ids in right.items()}
        best = max(scores, key=scores.__getitem__)
        yield f"{label}: {best}", scores[best]
        both = {key: _without_control(ids) for key, ids in some.items()}
        if kind and kind[0].startswith(("forward", "backward")):
            pairs = {name: strict_share(both, ids) or 0.0 for name, ids in right.items()}
            best = max(pairs, key=pairs.__getitem__)
            yield f"{label}, published criterion (without the true control): {best}", pairs[best]


def _without_control(ids: Sequence[str]) -> list[str]:
    return [id for id in ids if not id.endswith(STRICT_CELLS[-1])]


def _notes(items: Sequence[Item]) -> Iterator[str]:
    """Yield counts that concern single batteries."""
    nested = [item for item in items if item.published_vp is not None]
    if nested:
        apart = [i for i in nested if i.published_vp != i.published_cotp]
        orders = sorted({i.order or 0 for i in apart})
        many = ", ".join(f"{k}: {sum(i.order == k for i in apart)}" for k in orders)
        yield f"published copies with different keys: {len(apart)} of {len(nested)} (order {many})"
        rule = {i.id: i.answer if i.sound else i.by_rule for i in nested}
        for copy in ("published_cotp", "published_vp"):
            fits = sum(getattr(i, copy) == rule[i.id] for i in nested)
            shares = []
            for k in range(5):
                some = [i for i in nested if i.order == k]
                if some:
                    wrong = sum(getattr(i, copy) != rule[i.id] for i in some)
                    shares.append(f"{k}: {100 * wrong / len(some):.0f}%")
            said = f"{copy} agrees with the belief rule in {fits} of {len(nested)}"
            yield f"{said} (wrong at order {', '.join(shares)})"
    for cell in ("true_belief", "false_belief"):
        there = [i for i in items if i.condition == cell and (i.task or "").startswith("forward")]
        if there:
            last = [re.split(r"(?<=[.!?])\s+", i.story.strip())[-1] for i in there]
            denied = sum(bool(NEGATION.search(sentence)) for sentence in last)
            yield f"{cell}: the last sentence has a negation in {100 * denied / len(there):.0f}%"


# --- a learner without the story ------------------------------------------------------------------


def blind_hits(items: Sequence[Item]) -> dict[str, float]:
    """Return how far a logistic model that never reads the story is right on each item.

    Its features are the words of question and option and their lengths; C = 0.3, five folds by
    story, not tuned.
    """
    try:
        from sklearn.feature_extraction import FeatureHasher  # type: ignore[import-untyped]
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    except ImportError:
        raise BadInput(
            "scikit-learn is not installed; `pip install 'sally-lab[adversary]'` installs it."
        ) from None
    stories = list(by_pair(items))
    draws = np.random.default_rng(0)
    fold_of = dict(zip(draws.permutation(stories).tolist(), range(len(stories)), strict=True))
    rows, right, owner = list[dict[str, float]](), list[float](), list[int]()
    for number, item in enumerate(items):
        for option in range(len(item.options)):
            rows.append(_blind_features(item, option))
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
    found = {}
    starts = np.searchsorted(owners, np.arange(len(items) + 1))
    for number, item in enumerate(items):
        mine = scores[starts[number] : starts[number + 1]]
        best = np.flatnonzero(mine >= mine.max() - 1e-12)
        found[item.id] = float(item.answer in best) / len(best)
    return found


def _blind_features(item: Item, option: int) -> dict[str, float]:
    own, asked = words_of(item.options[option]), words_of(item.question)
    found = {f"o:{word}": 1.0 for word in own}
    found |= {f"q:{a}|{b}": 1.0 for a in set(asked) for b in set(own)}
    lengths = [len(text) for text in item.options]
    found["length"] = len(item.options[option]) / 100
    found["longest"] = float(lengths[option] == max(lengths))
    found["shortest"] = float(lengths[option] == min(lengths))
    return found
