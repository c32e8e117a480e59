"""Payoffs of a round: one small struct per game, whose fields are the game's parameters.

A move in a number game is the number itself; boxes and sides are counted from 0.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

import msgspec

from sally.core.errors import BadInput
from sally.core.reply.plain_text import plain

MOST_SEATS = 20  # maximum number of seats
MOST_NUMBERS = 1001  # moves on one menu


class _Pays(
    msgspec.Struct, frozen=True, tag_field="kind", tag=str.lower, forbid_unknown_fields=True
):
    """Base class of payoff rules, with the number of seats, each seat's menu, and the payoffs of a
    round."""

    @property
    def seats(self) -> int:
        return 2


class Request(_Pays, frozen=True):
    """The request game: each player gets the number requested, and a bonus for requesting exactly
    `gap` less than the other.

    Arad and Rubinstein, American Economic Review 102 (2012), 3561-3573: 11 to 20, bonus 20, gap 1.
    """

    low: int = 11
    high: int = 20
    bonus: float = 20
    gap: int = 1

    def __post_init__(self) -> None:
        _check_range(self.low, self.high)
        if not 0 < self.gap <= self.high - self.low:
            raise BadInput(f"gap must be from 1 to {self.high - self.low}, not {self.gap}")
        if not self.bonus > 0:
            raise BadInput(f"bonus must be above 0, not {self.bonus}")

    def menu(self, seat: int) -> tuple[int, ...]:
        return tuple(range(self.low, self.high + 1))

    def pay(self, moves: tuple[int, ...]) -> tuple[float, ...]:
        a, b = moves
        won = (a == b - self.gap, b == a - self.gap)
        return tuple(x + self.bonus * w for x, w in zip(moves, won, strict=True))


class Contest(_Pays, frozen=True):
    """The contest: the number nearest to `share` times the mean of all numbers wins; ties divide
    the prize.

    Nagel, American Economic Review 85 (1995), 1313-1326. With two players and a share below 1 the
    lower number always wins, so there is no need to predict the opponent.
    """

    players: int = 3
    low: int = 0
    high: int = 100
    share: str = "2/3"  # a fraction as text, exact
    prize: float = 20

    def __post_init__(self) -> None:
        _check_range(self.low, self.high)
        if not 2 <= self.players <= MOST_SEATS:
            raise BadInput(f"players must be from 2 to {MOST_SEATS}, not {self.players}")
        if not re.fullmatch(r"[0-9]{1,4}(/[0-9]{1,4})?", self.share) or not _fraction(self.share):
            raise BadInput(f'share must be a fraction above 0 such as "2/3", not {self.share!r}')
        if not self.prize > 0:
            raise BadInput(f"prize must be above 0, not {self.prize}")

    @property
    def seats(self) -> int:
        return self.players

    @property
    def fraction(self) -> Fraction:
        """The parameter `share` as an exact fraction."""
        return _exact(self.share)

    def menu(self, seat: int) -> tuple[int, ...]:
        return tuple(range(self.low, self.high + 1))

    def pay(self, moves: tuple[int, ...]) -> tuple[float, ...]:
        """Return the payoffs; distances are compared as whole numbers, so ties are exact."""
        numerator, denominator = self.fraction.as_integer_ratio()
        goal = numerator * sum(moves)
        distances = [abs(x * denominator * len(moves) - goal) for x in moves]
        nearest = min(distances)
        share = self.prize / distances.count(nearest)
        return tuple(share if distance == nearest else 0.0 for distance in distances)


class Boxes(_Pays, frozen=True):
    """Hide and seek: the first player hides in a box and the second opens one; the seeker wins if
    the boxes match, otherwise the hider wins.

    Rubinstein and Tversky; Crawford and Iriberri, American Economic Review 97 (2007), 1731-1750.
    """

    labels: tuple[str, ...] = ("A", "B", "A", "A")
    prize: float = 1
    # the box that stands out, which a level-0 player chooses; players are not told
    salient: int = 2

    def __post_init__(self) -> None:
        if not 2 <= len(self.labels) <= 12:
            raise BadInput(f"labels must name 2 to 12 boxes, not {len(self.labels)}")
        if any(not plain(label) or re.search(r"[\r\n:]", label) for label in self.labels):
            raise BadInput("labels must not be empty or contain a colon or a line break")
        if not 0 <= self.salient < len(self.labels):
            raise BadInput(f"salient must be a box from 0 to {len(self.labels) - 1}")
        if not self.prize > 0:
            raise BadInput(f"prize must be above 0, not {self.prize}")

    def menu(self, seat: int) -> tuple[int, ...]:
        return tuple(range(len(self.labels)))

    def pay(self, moves: tuple[int, ...]) -> tuple[float, ...]:
        is_found = moves[0] == moves[1]
        return (0.0, self.prize) if is_found else (self.prize, 0.0)


class Pennies(_Pays, frozen=True):
    """Matching pennies: the first player wins if the two sides of the coin differ, the second if
    they match."""

    names: tuple[str, str] = ("Heads", "Tails")
    stake: float = 1

    def __post_init__(self) -> None:
        if len({plain(name) for name in self.names} - {""}) < 2:
            raise BadInput("names must be two different names")
        if any(re.search(r"[\r\n:]", name) for name in self.names):
            raise BadInput("names must not contain a colon or a line break")
        if not self.stake > 0:
            raise BadInput(f"stake must be above 0, not {self.stake}")

    def menu(self, seat: int) -> tuple[int, ...]:
        return (0, 1)

    def pay(self, moves: tuple[int, ...]) -> tuple[float, ...]:
        gain = -self.stake if moves[0] == moves[1] else self.stake
        return (gain, -gain)


Pays = Request | Contest | Boxes | Pennies
Numeric = (Request, Contest)  # where a move is a number, and not the place of a name


def _check_range(low: int, high: int) -> None:
    if not 0 <= low < high or high - low >= MOST_NUMBERS:
        raise BadInput(
            f"low and high must satisfy 0 <= low < high <= low + {MOST_NUMBERS - 1}, "
            f"not {low} and {high}"
        )


@cache
def _exact(share: str) -> Fraction:
    return Fraction(share)


def _fraction(text: str) -> bool:
    """Return whether a text is a fraction above 0."""
    numerator, _, denominator = text.partition("/")
    return int(numerator) > 0 and (not denominator or int(denominator) > 0)
