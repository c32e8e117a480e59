"""Attack the generators of the battery: `python -m benchmarks.battery [ITEMS [SEED [GENERATOR]]]`.

Three attackers on fresh items, each of another story, learning on one half and answering the other:
a logistic model on the words of question and options that never reads the story; a logistic model
and boosted trees on the words of the whole page with their positions, and on where and how often
each option is named. All rules of the audit and the readings that skip a step are scored as well.
Chance is the best constant answer; figures within .03 of it pass.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier

from sally.games.battery.card import features, fresh_items
from sally.games.battery.items import Item
from sally.games.battery.mindless import SURFACE, chance, inverse_share, share, words_of
from sally.games.battery.rules import Generator

GENERATORS: tuple[Generator, ...] = ("nested", "belief_action", "applied")
WIDTH, SEED, MARGIN = 2**14, 77, 3.0
SCALE = (1, 10, 5, 1, 1, 1, 1, 200, 10)  # of the surface features, to about 1
Features = list[dict[str, float]]


def blind(item: Item, option: int) -> dict[str, float]:
    """Words of the question and the option, alone and together, and lengths."""
    option_words = words_of(item.options[option])
    question_words = words_of(item.question)
    weights = {f"o:{word}": 1.0 for word in option_words} | {f"n:{option}": 1.0}
    weights |= {f"q:{a}|o:{b}": 1.0 for a in question_words for b in option_words}
    weights["length"] = len(item.options[option]) / 50
    return weights


def rank(item: Item, option: int) -> int:
    """Return the option's place in the order in which the story first names the options."""
    story = item.story.casefold()
    names = [" ".join(words_of(o)[-2:]).split()[0 if "in the" in o else -1] for o in item.options]
    positions = [story.find(name) % 10**6 for name in names]
    return sorted(range(len(positions)), key=positions.__getitem__).index(option)


def page_features(item: Item, option: int) -> dict[str, float]:
    """Words of the page by line and as pairs, each with the option's place among the named ones."""
    place = rank(item, option)
    weights = {f"{place}|{option}": 1.0}
    lines = item.story.split("\n")
    for number, line in enumerate(lines):
        words = words_of(line)
        for word in words:
            weights[f"{place}|{word}"] = 1.0
            weights[f"{place}|{number}|{word}"] = 1.0
        for pair in pairwise(words):
            weights[f"{place}|{' '.join(pair)}"] = 1.0
    option_words = set(words_of(item.options[option]))
    for number, line in enumerate(lines):
        words = words_of(line)
        for word in option_words & set(words):
            weights[f"own in line {number}"] = 1.0
            weights[f"own at {words.index(word)}"] = 1.0
    weights |= {f"f{n}": v / SCALE[n] for n, v in enumerate(features(item, option)) if v == v}
    return weights


def table(items: Sequence[Item], make: object) -> tuple[sparse.csr_matrix, np.ndarray, list[int]]:
    rows: Features = []
    right: list[float] = []
    for item in items:
        for option in range(len(item.options)):
            rows.append(make(item, option))  # type: ignore[operator]
            right.append(float(option == item.answer))
    sizes = [len(item.options) for item in items]
    return FeatureHasher(WIDTH).transform(rows), np.asarray(right), sizes


def hits(scores: np.ndarray, right: np.ndarray, sizes: Sequence[int]) -> float:
    """Return how often the highest score is the right option's, in percent; ties are split."""
    n_right, start = 0.0, 0
    for size in sizes:
        option_scores, truth = scores[start : start + size], right[start : start + size]
        best = option_scores >= option_scores.max() - 1e-12
        n_right += float(truth[best].sum()) / float(best.sum())
        start += size
    return 100 * n_right / len(sizes)


def attack(items: Sequence[Item]) -> Iterator[tuple[str, float]]:
    half = len(items) // 2
    for name, make in (("blind, logistic", blind), ("page, logistic", page_features)):
        x, y, sizes = table(items, make)
        cut = sum(sizes[:half])
        model = SGDClassifier(loss="log_loss", alpha=1e-4, random_state=0).fit(x[:cut], y[:cut])
        yield name, hits(model.decision_function(x[cut:]), y[cut:], sizes[half:])
    x, y, sizes = table(items, page_features)
    cut = sum(sizes[:half])
    counts = np.asarray(x[:cut].astype(bool).sum(axis=0)).ravel()
    frequent = np.argsort(-counts)[:200]  # the most frequent columns, dense
    dense = x[:, frequent].toarray()
    trees = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(dense[:cut], y[:cut])
    yield "page, trees", hits(trees.predict_proba(dense[cut:])[:, 1], y[cut:], sizes[half:])


def apply_rules(items: Sequence[Item]) -> Iterator[tuple[str, float]]:
    for name, rule in SURFACE.items():
        yield name, share(rule, items)
        yield f"but {name}", inverse_share(rule, items)
    for name in sorted({name for item in items for name in item.mindless}):
        covered = [item for item in items if name in item.mindless]
        yield name, 100 * sum(i.mindless[name] == i.answer for i in covered) / len(covered)
    yield "a mind short", 100 * sum(i.by_depth[-2] == i.answer for i in items) / len(items)
    yield "all minds", 100 * sum(i.by_depth[-1] == i.answer for i in items) / len(items)


def main(count: str = "5000", seed: str = str(SEED), *only: str) -> None:
    for generator in GENERATORS:
        if only and generator not in only:
            continue
        items = fresh_items(generator, int(count), int(seed))
        even = chance(items)
        print(f"{generator}: {count} items, seed {seed}, chance {even:.1f}", flush=True)
        for name, value in chain(apply_rules(items), attack(items)):
            mark = "" if abs(value - even) <= MARGIN or name == "all minds" else "  <- off"
            print(f"  {name:28} {value:5.1f}{mark}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
