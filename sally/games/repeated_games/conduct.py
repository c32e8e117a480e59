"""How somebody plays, whatever it pays: wins, moves, and what follows upon what.

A conditional measure counts the rounds in which its condition held (`of`) and those in which it
was met (`times`); without such a round it has no value. A condition looks at the round before,
so it holds only where that round was played and not void.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from sally.core.game import Seat
from sally.core.metric import Metric, Played
from sally.games.repeated_games.rounds import Round, finished, rounds, rules
from sally.games.repeated_games.rules import RepeatedGame, other

KIND, HARSH = 0, 1  # in a dilemma: to cooperate, to defect


class Rate(msgspec.Struct, frozen=True):
    """How often something was done, of the rounds in which it could be."""

    times: int
    of: int

    @property
    def share(self) -> float | None:
        return self.times / self.of if self.of else None


Counted = Callable[[Played, Seat], Rate | None]


def is_dilemma(game: RepeatedGame) -> bool:
    """Whether both seats face a prisoner's dilemma in which move 0 is cooperation."""
    if any(len(game.moves_of(seat)) != 2 for seat in game.seats):
        return False
    pays = [[game.pay(s, m, t) for m, t in ((1, 0), (0, 0), (1, 1), (0, 1))] for s in game.seats]
    return all(tempted > both > neither > alone for tempted, both, neither, alone in pays)


def is_coordination(game: RepeatedGame) -> bool:
    """Whether two moves each can meet in two places, and both would rather meet than not."""
    if any(len(game.moves_of(seat)) != 2 for seat in game.seats):
        return False
    return all(
        game.pay(seat, m, m) > game.pay(seat, 1 - m, m) for seat in game.seats for m in (0, 1)
    )


def after(played: Played, seat: Seat) -> Iterator[tuple[list[Round], Round, Round]]:
    """Each round that follows a played one: all before it, the last, and the round itself."""
    everything = rounds(played, seat)
    for at in range(1, len(everything)):
        if everything[at].played and everything[at - 1].played:
            yield everything[:at], everything[at - 1], everything[at]


def _in_dilemmas(
    holds: Callable[[list[Round], Round], bool], move: int
) -> Callable[[Played, Seat], Rate | None]:
    def rate(played: Played, seat: Seat) -> Rate | None:
        if not finished(played) or not is_dilemma(rules(played)):
            return None
        met = [now.mine == move for past, last, now in after(played, seat) if holds(past, last)]
        return Rate(sum(met), len(met))

    return rate


def _provoked(past: list[Round], last: Round) -> bool:
    return last.theirs == HARSH


def _made_up(past: list[Round], last: Round) -> bool:
    return last.theirs == KIND and any(r.theirs == HARSH for r in past)


def _got_away(past: list[Round], last: Round) -> bool:
    return (last.mine, last.theirs) == (HARSH, KIND)


retaliation: Counted = _in_dilemmas(_provoked, HARSH)
forgiveness: Counted = _in_dilemmas(_made_up, KIND)
exploitation: Counted = _in_dilemmas(_got_away, HARSH)


def alternation(played: Played, seat: Seat) -> Rate | None:
    """Where two meet in two places: how often a meeting is followed by one at the other place."""
    if not finished(played) or not is_coordination(rules(played)):
        return None
    turns = [
        now.mine == now.theirs != last.mine
        for _, last, now in after(played, seat)
        if last.mine == last.theirs
    ]
    return Rate(sum(turns), len(turns))


# --- plain shares ---------------------------------------------------------------------------------


def win_rate(played: Played, seat: Seat) -> float | None:
    """Rounds in which the seat got more than the other, of all rounds, void ones included."""
    if not finished(played):
        return None
    game, everything = rules(played), rounds(played, seat)
    won = [
        game.pay(seat, r.mine, r.theirs) > game.pay(other(seat), r.theirs, r.mine)
        for r in everything
        if r.mine is not None and r.theirs is not None
    ]
    return sum(won) / len(everything) if everything else None


def move_share(move: int) -> Callable[[Played, Seat], float | None]:
    """How often a seat made this move, of the rounds that were played."""

    def share(played: Played, seat: Seat) -> float | None:
        made = [r.mine for r in rounds(played, seat) if r.played]
        if not made or not finished(played) or move not in rules(played).moves_of(seat):
            return None
        return made.count(move) / len(made)

    return share


def joint_move_share(mine: int, theirs: int) -> Callable[[Played, Seat], float | None]:
    """How often this cell of the matrix came about, of the rounds that were played."""

    def share(played: Played, seat: Seat) -> float | None:
        game = rules(played)
        there = mine in game.moves_of(seat) and theirs in game.moves_of(other(seat))
        made = [(r.mine, r.theirs) for r in rounds(played, seat) if r.played]
        if not made or not finished(played) or not there:
            return None
        return made.count((mine, theirs)) / len(made)

    return share


def same_move_share(played: Played, seat: Seat) -> float | None:
    """How often both made the move of the same number: they met, or agreed."""
    made = [r.mine == r.theirs for r in rounds(played, seat) if r.played]
    return sum(made) / len(made) if made and finished(played) else None


# --- as metrics -----------------------------------------------------------------------------------


def _conditional(name: str, about: str, rate: Counted) -> Metric:
    def measure(played: Played, seat: Seat) -> float | None:
        found = rate(played, seat)
        return None if found is None else found.share

    return Metric(name, about, measure, unit="share")


CONDITIONAL = {
    "retaliation": retaliation,
    "forgiveness": forgiveness,
    "exploitation": exploitation,
    "alternation": alternation,
}
METRICS = (
    _conditional(
        "retaliation", "in a dilemma: defects right after the other defected", retaliation
    ),
    _conditional(
        "forgiveness",
        "in a dilemma: cooperates once the other, which had defected, has cooperated again",
        forgiveness,
    ),
    _conditional(
        "exploitation",
        "in a dilemma: defects again after a defection that the other met with cooperation",
        exploitation,
    ),
    _conditional(
        "alternation",
        "where two can meet in two places: a meeting is followed by one at the other place",
        alternation,
    ),
    Metric(
        "win_rate",
        "rounds in which the seat got more than the other, of all rounds, void ones included",
        win_rate,
        unit="share",
    ),
    Metric(
        "same_move_share",
        "rounds in which both made the same move, of those played",
        same_move_share,
        unit="share",
    ),
    *(
        Metric(f"move_share_{m}", f"how often it made move {m}", move_share(m), unit="share")
        for m in range(3)
    ),
    *(
        Metric(
            f"joint_move_share_{m}{t}",
            f"how often it made move {m} and the other move {t}",
            joint_move_share(m, t),
            unit="share",
        )
        for m in range(3)
        for t in range(3)
    ),
)
