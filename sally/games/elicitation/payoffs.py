"""Payoff functions of single decisions: what each action is expected to pay, given beliefs.

A belief is a vector of numbers per question: probabilities over its options, counts over its
options, or a single number. What the others really did is written in the same form, so one function
gives both the expected and the true value of an action.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from math import comb, floor, isfinite

import msgspec

from sally.core.errors import BadInput, join_names

Vectors = Mapping[str, Sequence[float]]  # by question: one number per option, or one number
REPLY = "reply_to_"  # with the name of an action: the question for the reply to it


class _Pays(
    msgspec.Struct,
    frozen=True,
    tag_field="kind",
    tag=lambda name: "".join(f"_{c.lower()}" if c.isupper() else c for c in name)[1:],
    forbid_unknown_fields=True,
):
    """Base class of payoff functions; the fields are the numbers that the players were told."""

    @abstractmethod
    def needs(self, menu: tuple[str, ...]) -> Mapping[str, tuple[str, ...] | None]:
        """Return the questions on which the values depend, each with the options that it must have;
        None for a question that asks for a number."""

    @abstractmethod
    def values(self, menu: tuple[str, ...], beliefs: Vectors) -> tuple[float, ...] | None:
        """Return the expected payoff of each action; None if the beliefs do not determine it."""

    @abstractmethod
    def check(self, menu: tuple[str, ...]) -> None:
        """Raise BadInput if the function is not defined for this menu."""


class SequentialTransfer(_Pays, frozen=True):
    """A transfer that the other player answers with a transfer; both are multiplied.

    An action that sends s pays `endowment - s + factor * reply`. The belief is the probability of
    each reply to each action.
    """

    endowment: float
    factor: float
    steps: tuple[float, ...]  # what each action of the menu sends

    def __post_init__(self) -> None:
        _check_finite(self.endowment, self.factor, *self.steps)

    def check(self, menu: tuple[str, ...]) -> None:
        if len(menu) != len(self.steps):
            raise BadInput(f"steps has {len(self.steps)} numbers, but the menu {len(menu)} actions")

    def needs(self, menu: tuple[str, ...]) -> Mapping[str, tuple[str, ...] | None]:
        return {f"{REPLY}{action}": menu for action in menu}

    def values(self, menu: tuple[str, ...], beliefs: Vectors) -> tuple[float, ...]:
        replies = [
            sum(p * step for p, step in zip(beliefs[f"{REPLY}{action}"], self.steps, strict=True))
            for action in menu
        ]
        return tuple(
            self.endowment - step + self.factor * reply
            for step, reply in zip(self.steps, replies, strict=True)
        )


class ThresholdOfFive(_Pays, frozen=True):
    """A group of five in which giving pays if at least `threshold` members give.

    C (give) pays 30 if the threshold is reached and otherwise 0, D (do not give) pays 40 or 10, and
    L (stay out) pays 20. The belief is a count of others by action. The four other members are
    drawn without replacement from those who choose C or D and from a share `loners_in` of those who
    choose L; the latter give nothing.
    """

    threshold: int
    loners_in: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.threshold <= GROUP:
            raise BadInput(f"threshold must be from 1 to {GROUP}, not {self.threshold}")
        if not 0 <= self.loners_in <= 1:
            raise BadInput(f"loners_in must be from 0 to 1, not {self.loners_in}")

    def check(self, menu: tuple[str, ...]) -> None:
        if menu not in (("C", "D"), ("C", "D", "L")):
            raise BadInput(f"the menu must be C, D or C, D, L, not {join_names(menu)}")

    def needs(self, menu: tuple[str, ...]) -> Mapping[str, tuple[str, ...] | None]:
        return {"same_move": menu}

    def values(self, menu: tuple[str, ...], beliefs: Vectors) -> tuple[float, ...] | None:
        counts = dict(zip(menu, beliefs["same_move"], strict=True))
        givers, keepers = (floor(counts[action] + WHOLE) for action in "CD")
        pool = givers + keepers + floor(self.loners_in * counts.get("L", 0) + WHOLE)
        if pool < GROUP - 1:
            return None
        with_own = _at_least(self.threshold - 1, givers, pool)
        without_own = _at_least(self.threshold, givers, pool)
        pays = {"C": SHARED * with_own, "D": KEPT + SHARED * without_own, "L": ALONE}
        return tuple(pays[action] for action in menu)


GROUP = 5
SHARED, KEPT, ALONE = 30.0, 10.0, 20.0
WHOLE = 1e-9  # added before rounding down, because counts are stored as decimals


def _at_least(number: int, givers: int, pool: int) -> float:
    """Return the chance that at least `number` of four others, drawn without replacement, give."""
    others = GROUP - 1
    counts = range(max(0, number), others + 1)
    ways = sum(comb(givers, n) * comb(pool - givers, others - n) for n in counts)
    return ways / comb(pool, others)


class Inspection(_Pays, frozen=True):
    """An inspection of another person, who works or shirks.

    Inspecting costs `cost`. A person who works is worth `works`, and one who shirks `caught` if
    inspected and 0 if not. The belief is the probability of work and of shirk.
    """

    cost: float
    works: float
    caught: float

    def __post_init__(self) -> None:
        _check_finite(self.cost, self.works, self.caught)

    def check(self, menu: tuple[str, ...]) -> None:
        if menu != ("inspect", "not inspect"):
            raise BadInput(f"the menu must be inspect, not inspect, not {join_names(menu)}")

    def needs(self, menu: tuple[str, ...]) -> Mapping[str, tuple[str, ...] | None]:
        return {"works": ("work", "shirk")}

    def values(self, menu: tuple[str, ...], beliefs: Vectors) -> tuple[float, ...]:
        work, shirk = beliefs["works"]
        return (work * self.works + shirk * self.caught - self.cost, work * self.works)


class LinearPublicGood(_Pays, frozen=True):
    """A public good: each token given returns `back` to each of `players` members.

    The belief is the others' mean contribution, a number. If `back` is below 1, giving nothing is
    best whatever is believed.
    """

    tokens: int
    players: int
    back: float

    def __post_init__(self) -> None:
        _check_finite(self.back)
        if not 1 <= self.tokens <= MOST_TOKENS:
            raise BadInput(f"tokens must be from 1 to {MOST_TOKENS}, not {self.tokens}")
        if self.players < 2:
            raise BadInput(f"players must be at least 2, not {self.players}")

    def check(self, menu: tuple[str, ...]) -> None:
        if menu != tuple(map(str, range(self.tokens + 1))):
            raise BadInput(f"the menu must be the whole numbers from 0 to {self.tokens}")

    def needs(self, menu: tuple[str, ...]) -> Mapping[str, tuple[str, ...] | None]:
        return {"others_mean": None}

    def values(self, menu: tuple[str, ...], beliefs: Vectors) -> tuple[float, ...]:
        (others,) = beliefs["others_mean"]
        pot = self.back * others * (self.players - 1)
        return tuple(
            self.tokens - contribution + self.back * contribution + pot
            for contribution in map(int, menu)
        )


MOST_TOKENS = 1000
Pays = SequentialTransfer | ThresholdOfFive | Inspection | LinearPublicGood
FUNCTIONS = {
    str(kind.__struct_config__.tag): kind
    for kind in (SequentialTransfer, ThresholdOfFive, Inspection, LinearPublicGood)
}
TIE = 1e-7  # payoffs that differ by less are equal


def best_of(values: Sequence[float]) -> tuple[int, ...]:
    """Return the indices of the largest values; values within 1e-7 of the largest count as equal.

    >>> best_of([20.0, 35.0, 35.0])
    (1, 2)
    """
    threshold = max(values) - TIE
    return tuple(n for n, value in enumerate(values) if value >= threshold)


def _check_finite(*numbers: float) -> None:
    for number in numbers:
        if not isfinite(number):
            raise BadInput(f"the numbers of a payoff function must be finite, not {number}")
