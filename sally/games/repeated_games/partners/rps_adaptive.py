"""The eight adaptive bots of Brockbank and Vul for rock, paper, scissors.

Each counts what the opponent did in a context, and plays what beats the most frequent of it.
Outcomes here are the opponent's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.partner import Line, Partner, Script
from sally.games.repeated_games.partners.basis import (
    UNSEEN,
    Drawn,
    Follower,
    Odds,
    evenly,
    latest,
    surely,
    with_void,
)
from sally.games.repeated_games.partners.rps import (
    DOWN,
    MOVES,
    SAME,
    SOURCE,
    UP,
    check_opening,
    check_rps,
    check_void,
    outcome,
    shifted,
    transition,
)
from sally.games.repeated_games.rules import Joint, RepeatedGame, View

Rounds = Sequence[Joint]  # the one or two last, as (bot's move, opponent's), newest last


def _anything(before: Rounds) -> int:
    return 0


@dataclass(frozen=True)
class Habit:
    """What a bot looks for: in which context, and from where the opponent's step is measured."""

    needs: int  # so many rounds must lie behind
    sees: int  # in so many of the last of them the opponent must have moved
    context: Callable[[Rounds], Hashable]
    origin: Callable[[Rounds], int] = _anything  # one fixed move: then steps are moves

    def applies(self, before: Rounds) -> bool:
        """Whether these rounds show what the bot looks for."""
        return len(before) >= self.needs and all(
            before[-n][1] != UNSEEN for n in range(1, self.sees + 1)
        )


def _bot_last(before: Rounds) -> int:
    return before[-1][0]


def _opponent_last(before: Rounds) -> int:
    return before[-1][1]


def _opponent_last_two(before: Rounds) -> Hashable:
    return before[-2][1], before[-1][1]


def _opponent_outcome(before: Rounds) -> int:
    bot, opponent = before[-1]
    return outcome(opponent, bot)


def _opponent_outcome_and_transition(before: Rounds) -> Hashable:
    return _opponent_outcome(before), transition(before[-2][1], before[-1][1])


# --- counting -------------------------------------------------------------------------------------


class Counted(msgspec.Struct, frozen=True):
    """The last two rounds, and how often the opponent made each step in each context."""

    recent: tuple[Joint, ...] = ()
    counts: Mapping[tuple[Hashable, int], int] = {}


def counted(habit: Habit, so_far: Counted, bot: int, opponent: int) -> Counted:
    """One more round."""
    before, counts = so_far.recent, so_far.counts
    if opponent != UNSEEN and habit.applies(before):
        key = habit.context(before), transition(habit.origin(before), opponent)
        counts = {**counts, key: counts.get(key, 0) + 1}
    return Counted((*before, (bot, opponent))[-2:], counts)


def likeliest(habit: Habit, so_far: Counted) -> set[int]:
    """The opponent's moves that came most often in this context; none where none has come."""
    before = so_far.recent
    if not habit.applies(before):
        return set()
    here, start = habit.context(before), habit.origin(before)
    counts = {step: so_far.counts.get((here, step), 0) for step in (UP, SAME, DOWN)}
    most = max(counts.values())
    return {shifted(start, step) for step, n in counts.items() if n == most > 0}


def _script(habit: Habit) -> Callable[..., Script]:
    def make(
        game: RepeatedGame, seat: Seat, opening: Sequence[int] = (), void: str = "skip"
    ) -> Script:
        check_rps(game)
        check_opening(game, seat, opening, game.rounds)
        check_void(void)
        rounds = with_void if void == "published" else View.played
        follower = Follower(Counted(), partial(counted, habit), rounds)

        def odds(view: View) -> Odds:
            begun = len(latest(view, len(opening)))
            if begun < len(opening):
                return surely(opening[begun])
            beating = {shifted(move, UP) for move in likeliest(habit, follower.state(view))}
            return evenly(beating or MOVES)

        return Drawn(odds)

    return make


def _bot(name: str, about: str, habit: Habit, *lines: Line) -> Partner:
    return Partner(
        name=f"adaptive_{name}",
        about=f"counts {about}, and plays what beats the most frequent",
        source=SOURCE,
        make=_script(habit),
        memory=None,
        params={"opening": (), "void": "skip"},
        lines=lines,
    )


def _line(against: str, plays: str, *opening: int) -> Line:
    return Line(against, plays, "rps", {"opening": opening})


PARTNERS = {
    bot.name: bot
    for bot in (
        _bot(
            "opponent_previous",
            "the opponent's moves after each of its own moves",
            Habit(1, 1, _opponent_last),
            _line("RPRPRP", "RRRSPS", 0, 0, 0),
        ),
        _bot(
            "bot_previous",
            "the opponent's moves after each of the bot's moves",
            Habit(1, 0, _bot_last),
            _line("RSPSR", "PPPPR", 1, 1, 1, 1),
        ),
        _bot(
            "both_previous",
            "the opponent's moves after each pair of last moves",
            Habit(1, 1, lambda before: before[-1]),
            _line("RSRRP", "RRPRR", 0, 0, 1, 0),
        ),
        _bot(
            "opponent_previous_two",
            "the opponent's moves after each two of its own moves",
            Habit(2, 2, _opponent_last_two),
            _line("RRRRPP", "RRRPP?", 0, 0, 0),
        ),
        _bot(
            "transition",
            "the opponent's transitions from its own last move",
            Habit(1, 1, _anything, _opponent_last),
            _line("RPSRPS", "RRRPSR", 0, 0),
        ),
        _bot(
            "transition_from_bot",
            "the opponent's transitions from the bot's last move",
            Habit(1, 0, _anything, _bot_last),
            _line("RPPRR", "RRSPR", 0, 0),
        ),
        _bot(
            "transition_by_outcome",
            "the opponent's transitions after each of its outcomes",
            Habit(1, 1, _opponent_outcome, _opponent_last),
            _line("RPSRSP", "RPSPRS", 0, 1, 2, 1, 0),
        ),
        _bot(
            "transition_by_outcome_and_transition",
            "the opponent's transitions after each of its outcomes and last transitions",
            Habit(2, 2, _opponent_outcome_and_transition, _opponent_last),
            _line("RPSRP", "RPSP?", 0, 1, 2),
        ),
    )
}
