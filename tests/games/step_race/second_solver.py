"""Best replies in the step race once more: a recursion over plain dictionaries.

Nothing of `sally.games.step_race` is imported; the rules are those of `second_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from tests.games.step_race.second_rules import Moves, play

NUMBERS = (1, 3, 5)
Partner = tuple[str, Mapping[str, object]]
Heard = tuple[int | None, int | None]  # what the two others announced, in the order of their seats
FAR = 1000  # a target that no start in the tests reaches in one turn


def words_of(partner: Partner) -> dict[int | None, float]:
    """What a partner announces: a keeper any number, the others nothing."""
    return dict.fromkeys(NUMBERS, 1 / 3) if partner[0] == "keeper" else {None: 1.0}


def least_to_arrive(steps: int) -> int:
    """The smallest number that covers the steps, or 0."""
    return min([number for number in NUMBERS if number >= steps], default=0)


def odds_of(
    partner: Partner, seat: int, missing: Moves, turn: int, said: int | None
) -> dict[int, float]:
    """How a partner moves, by its description."""
    name, params = partner
    even = dict.fromkeys(NUMBERS, 1 / 3)
    if name == "always":
        return {int(str(params["move"])): 1.0}
    if name == "uniform":
        return even
    if name == "keeper":
        kept_value = float(str(params["p"]))
        return {n: kept_value if n == said else (1 - kept_value) / 2 for n in NUMBERS}
    if name == "rotator":
        return {NUMBERS[(turn - 1 + seat + int(str(params.get("offset", 0)))) % 3]: 1.0}
    if name == "finisher":
        return {least_to_arrive(missing[seat]) or 5: 1.0}
    if name == "blocker":
        leader = min((steps, index) for index, steps in enumerate(missing) if index != seat)
        number = least_to_arrive(leader[0])
        return {number: 1.0} if number else even
    assert name == "stage_equilibrium"
    # m (1 - p)^2 is the same for every number m, and the three p add up to 1
    level = (2 / sum(n**-0.5 for n in NUMBERS)) ** 2
    return {n: 1 - (level / n) ** 0.5 for n in NUMBERS}


class BestReply:
    """The values of one seat that replies best to two partners."""

    def __init__(self, seat: int, others: Sequence[Partner]) -> None:
        self.seat, self.others = seat, list(others)
        self.places = [n for n in range(3) if n != seat]
        self.period = 3 if any(name == "rotator" for name, _ in others) else 1
        self.known: dict[Moves, list[float]] = {}

    def heard(self) -> list[tuple[Heard, float]]:
        first, second = (words_of(other_item) for other_item in self.others)
        return [((a, b), first[a] * second[b]) for a, b in product(first, second)]

    def value(self, missing: Moves) -> list[float]:
        """The points to be expected, by the phase of the turn."""
        if missing in self.known:
            return self.known[missing]
        if min(missing) <= 0:
            first = [n for n in range(3) if missing[n] == min(missing)]
            self.known[missing] = [(self.seat in first) / len(first)] * self.period
            return self.known[missing]
        cases = [
            [(chance, self.choices(missing, phase + 1, said)) for said, chance in self.heard()]
            for phase in range(self.period)
        ]
        values = [0.0] * self.period
        for _ in range(100_000):  # turns in which all three collide repeat the position
            values_before = list(values)
            for phase in reversed(range(self.period)):
                later = values[(phase + 1) % self.period]
                values[phase] = sum(
                    chance * max(actual_value + stays * later for actual_value, stays in listed)
                    for chance, listed in cases[phase]
                )
            if max(abs(a - b) for a, b in zip(values, values_before, strict=True)) < 1e-14:
                break
        else:
            raise AssertionError("the values do not settle")
        self.known[missing] = values
        return values

    def choices(self, missing: Moves, turn: int, said: Heard) -> list[tuple[float, float]]:
        """For each number: the value of turns that change the position, and the other chance."""
        first, two = (
            odds_of(counterpart, place, missing, turn, word)
            for counterpart, place, word in zip(self.others, self.places, said, strict=True)
        )
        results = []
        for own_number in NUMBERS:
            value = stays = 0.0
            for a, b in product(first, two):
                moves = [a, b]
                moves.insert(self.seat, own_number)
                chosen = (moves[0], moves[1], moves[2])
                start = (FAR - missing[0], FAR - missing[1], FAR - missing[2])
                (after,), _ = play([chosen], 10 * FAR, start)
                left = (FAR - after[0], FAR - after[1], FAR - after[2])
                if left == missing:
                    stays += first[a] * two[b]
                else:
                    value += first[a] * two[b] * self.value(left)[turn % self.period]
            results.append((value, stays))
        return results

    def best(self, missing: Moves, turn: int, said: Heard) -> set[int]:
        """The numbers that are best after these announcements.

        A number that would keep the position for ever is worth nothing, unless what the others
        announce or play changes from turn to turn.
        """
        later = self.value(missing)[turn % self.period]
        fixed = self.period == 1 and len(self.heard()) == 1
        worths = [
            0.0 if fixed and stays == 1 else actual_value + stays * later
            for actual_value, stays in self.choices(missing, turn, said)
        ]
        return {n for n, w in zip(NUMBERS, worths, strict=True) if w >= max(worths) - 1e-9}
