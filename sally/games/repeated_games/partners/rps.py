"""The bots of Brockbank and Vul (2024) for rock, paper, scissors.

Seven stable bots follow one rule in most rounds and move uniformly at random in the others. Eight
adaptive bots count the opponent's moves by context and play the move that beats the most frequent
one. Human win rates against each are in table `brockbank_vul` of the reference data of riemer2025,
under the names used here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.match.partner import Automaton, Line, Partner, Script, by_name
from sally.core.rules.game import Seat
from sally.core.rules.history import Follower
from sally.games.repeated_games.partners.basis import (
    UNSEEN,
    Drawn,
    Odds,
    check_chance,
    check_move,
    evenly,
    finite,
    latest,
    mostly,
    recalling,
    surely,
    with_void,
)
from sally.games.repeated_games.rules import Joint, RepeatedGame, View

SOURCE = "Brockbank and Vul, Cognitive Psychology 151 (2024)"
MOVES = (0, 1, 2)  # each is beaten by the next
UP, SAME, DOWN = 1, 0, -1  # to the move that beats it, to itself, to the one that loses to it


def shift_move(move: int, transition: int) -> int:
    """Return the move that a transition leads to from `move`."""
    return (move + transition) % 3


def transition(earlier: int, later: int) -> int:
    """Return the transition from an earlier to a later move: UP, SAME or DOWN."""
    return (later - earlier + 1) % 3 - 1


def outcome(own_move: int, other_move: int) -> int:
    """Return 1 for a win, 0 for a tie, -1 for a loss."""
    return transition(other_move, own_move)


VOIDS = ("skip", "published")  # how a bot of theirs treats a round in which the other did not move


def check_void(void: str) -> None:
    """Raise BadInput unless `void` is a known treatment of void rounds.

    `skip` ignores void rounds, so that the rounds on either side are adjacent; `published` follows
    the authors' bots, which remember their own move in a void round, count no transition into or
    out of it, and draw uniformly if they would need the missing move.
    """
    if void not in VOIDS:
        raise unknown("treatment of void rounds", void, VOIDS)


def check_rps(game: RepeatedGame) -> None:
    """Raise BadInput unless the game has three moves, each of which loses to the next."""
    circle = len(game.matrix) == 3 == len(game.matrix[0]) and all(
        game.best_replies(seat, move) == (shift_move(move, UP),)
        for seat in game.seats
        for move in MOVES
    )
    if not circle:
        raise BadInput(
            "the bots of Brockbank and Vul play rock, paper, scissors only: three moves, where "
            "move 1 beats 0, 2 beats 1 and 0 beats 2"
        )


def check_opening(game: RepeatedGame, seat: Seat, opening: Sequence[int], limit: int) -> None:
    """Raise BadInput unless these opening moves exist and there are at most `limit` of them."""
    for move in opening:
        check_move(game, seat, "opening", move)
    if len(opening) > limit:
        raise BadInput(f"opening has {len(opening)} moves; at most {limit} are allowed")


# --- stable bots: one rule, followed in most rounds ----------------------------------------------

Rule = Callable[[Sequence[Joint]], int]  # the rounds it needs, newest last -> its move, or UNSEEN
Seen = tuple[Joint, ...]

WIN, TIE, LOSS = 1, 0, -1


def _shift_own(shift: int) -> Rule:
    return lambda rounds_seen: shift_move(rounds_seen[-1][0], shift)


def _others(shift: int) -> Rule:
    return lambda rounds_seen: (
        UNSEEN if rounds_seen[-1][1] == UNSEEN else shift_move(rounds_seen[-1][1], shift)
    )


def _by_outcome(win: int, loss: int, tie: int) -> Rule:
    shift = {WIN: win, LOSS: loss, TIE: tie}
    return lambda rounds_seen: shift_move(rounds_seen[-1][0], shift[_outcome(*rounds_seen[-1])])


def _outcome(own_move: int, other_move: int) -> int:
    # a player that does not move has lost
    return WIN if other_move == UNSEEN else outcome(own_move, other_move)


DUAL = {  # its last outcome, its last transition -> its next transition
    WIN: {UP: DOWN, SAME: UP, DOWN: SAME},
    LOSS: {UP: SAME, SAME: DOWN, DOWN: UP},
    TIE: {UP: UP, SAME: SAME, DOWN: DOWN},
}


def _dual(rounds_seen: Sequence[Joint]) -> int:
    (move_before, _), (own_move, other_move) = rounds_seen[-2:]
    return shift_move(
        own_move, DUAL[_outcome(own_move, other_move)][transition(move_before, own_move)]
    )


# --- from a rule to a partner ---------------------------------------------------------------------


def _odds(rule: Rule, needs: int, rounds_seen: Sequence[Joint], follow: float) -> Odds:
    if len(rounds_seen) < needs or rule(rounds_seen) == UNSEEN:
        return evenly(MOVES)
    return mostly(rule(rounds_seen), follow, MOVES)


def _automaton(rule: Rule, needs: int) -> Callable[..., Automaton[Seen]]:
    def make(
        game: RepeatedGame,
        seat: Seat,
        follow: float = 0.9,
        opening: Sequence[int] = (),
        void: str = "skip",
    ) -> Automaton[Seen]:
        """Return the automaton; its state is the recent rounds that the rule uses."""
        check_rps(game)
        check_void(void)
        check_chance("follow", follow)
        check_opening(game, seat, opening, needs)

        def odds(rounds_seen: Seen) -> Odds:
            if len(rounds_seen) < len(opening):
                return surely(opening[len(rounds_seen)])
            return _odds(rule, needs, rounds_seen, follow)

        return Automaton(
            (),
            odds,
            lambda rounds_seen, own_move, their: (*rounds_seen, (own_move, their))[-needs:],
        )

    return make


def _bot(name: str, about: str, rule: Rule, line: Line, needs: int = 1) -> Partner:
    automaton = _automaton(rule, needs)
    skipping = finite(
        automaton=automaton,
        memory=needs,
        name=name,
        about=f"{about}, with chance `follow`; otherwise one of the two others",
        source=SOURCE,
        params={"follow": 0.9, "opening": (), "void": "skip"},
        lines=(line, Line("RPSRP", "?????", "rps")),
    )

    def make(game: RepeatedGame, seat: Seat, **params: Any) -> Script:
        if params.get("void") == "published":
            return recalling(automaton(game, seat, **params), needs, _rounds_moved)
        return skipping.make(game, seat, **params)

    return replace(skipping, make=make)


def _rounds_moved(view: View, limit: int) -> list[Joint]:
    """Return at most `limit` of the last rounds in which the bot moved."""
    return list(with_void(view))[-limit:]


def _line(against: str, plays: str, *opening: int) -> Line:
    return Line(against, plays, "rps", {"follow": 1.0, "opening": opening})


STABLE = by_name(
    _bot(
        "previous_move_plus",
        "plays what beats its own last move",
        _shift_own(UP),
        _line("RRRRR", "RPSRP", 0),
    ),
    _bot(
        "previous_move_minus",
        "plays what loses to its own last move",
        _shift_own(DOWN),
        _line("RRRRR", "RSPRS", 0),
    ),
    _bot(
        "opponent_previous_plus",
        "plays what beats the other's last move",
        _others(UP),
        _line("RPSSR", "RPSRR", 0),
    ),
    _bot(
        "opponent_previous_nil",
        "copies the other's last move",
        _others(SAME),
        _line("PPSSR", "RPPSS", 0),
    ),
    _bot(
        "win_nil_lose_plus",
        "after a win repeats its move, after a loss plays what beats it, after a tie what "
        "loses to it",
        _by_outcome(win=SAME, loss=UP, tie=DOWN),
        _line("SPPSR", "RRPRR", 0),
    ),
    _bot(
        "win_plus_lose_minus",
        "after a win plays what beats its move, after a loss what loses to it, after a tie "
        "the same",
        _by_outcome(win=UP, loss=DOWN, tie=SAME),
        _line("SSSRR", "RPRPS", 0),
    ),
    _bot(
        "outcome_transition_dual",
        "chooses its next transition by its last outcome and its last transition",
        _dual,
        _line("RRRRRR", "RPRSRP", 0, 1),
        needs=2,
    ),
)


# --- adaptive bots: counts of the opponent's steps by context ------------------------------------

Rounds = Sequence[Joint]  # the one or two last, as (bot's move, opponent's), newest last


def _anything(rounds_before: Rounds) -> int:
    return 0


@dataclass(frozen=True)
class Habit:
    """The statistic that a bot counts: the context, and the reference move from which the
    opponent's steps are measured."""

    needs: int  # number of earlier rounds needed
    sees: int  # number of the latest rounds in which the opponent must have moved
    context: Callable[[Rounds], Hashable]
    origin: Callable[[Rounds], int] = _anything  # one fixed move: then steps are moves

    def applies(self, rounds_before: Rounds) -> bool:
        """Return whether the rounds so far are sufficient for this statistic."""
        return len(rounds_before) >= self.needs and all(
            rounds_before[-n][1] != UNSEEN for n in range(1, self.sees + 1)
        )


def _bot_last(rounds_before: Rounds) -> int:
    return rounds_before[-1][0]


def _opponent_last(rounds_before: Rounds) -> int:
    return rounds_before[-1][1]


def _opponent_last_two(rounds_before: Rounds) -> Hashable:
    return rounds_before[-2][1], rounds_before[-1][1]


def _opponent_outcome(rounds_before: Rounds) -> int:
    bot, opponent = rounds_before[-1]
    return outcome(opponent, bot)


def _opponent_outcome_and_transition(rounds_before: Rounds) -> Hashable:
    return _opponent_outcome(rounds_before), transition(rounds_before[-2][1], rounds_before[-1][1])


# --- counting -------------------------------------------------------------------------------------


class TransitionCounts(msgspec.Struct, frozen=True):
    """The last two rounds, and how often the opponent made each transition in each context."""

    recent: tuple[Joint, ...] = ()
    counts: Mapping[tuple[Hashable, int], int] = {}


def count_transition(
    habit: Habit, so_far: TransitionCounts, bot: int, opponent: int
) -> TransitionCounts:
    """Return the counts after one more round."""
    rounds_before, counts = so_far.recent, so_far.counts
    if opponent != UNSEEN and habit.applies(rounds_before):
        key = habit.context(rounds_before), transition(habit.origin(rounds_before), opponent)
        counts = {**counts, key: counts.get(key, 0) + 1}
    return TransitionCounts((*rounds_before, (bot, opponent))[-2:], counts)


def likeliest(habit: Habit, so_far: TransitionCounts) -> set[int]:
    """Return the opponent's most frequent moves in the current context; empty if the context is
    new."""
    rounds_before = so_far.recent
    if not habit.applies(rounds_before):
        return set()
    context, start = habit.context(rounds_before), habit.origin(rounds_before)
    counts = {step: so_far.counts.get((context, step), 0) for step in (UP, SAME, DOWN)}
    largest = max(counts.values())
    return {shift_move(start, step) for step, n in counts.items() if n == largest > 0}


def _counting_script(habit: Habit) -> Callable[..., Script]:
    def make(
        game: RepeatedGame, seat: Seat, opening: Sequence[int] = (), void: str = "skip"
    ) -> Script:
        check_rps(game)
        check_opening(game, seat, opening, game.rounds)
        check_void(void)
        rounds = with_void if void == "published" else View.rounds
        follower = Follower(TransitionCounts(), partial(count_transition, habit), rounds)

        def odds(view: View) -> Odds:
            begun = len(latest(view, len(opening)))
            if begun < len(opening):
                return surely(opening[begun])
            beating = {shift_move(move, UP) for move in likeliest(habit, follower.state(view))}
            return evenly(beating or MOVES)

        return Drawn(odds)

    return make


def _adaptive_bot(name: str, about: str, habit: Habit, *lines: Line) -> Partner:
    return Partner(
        name=f"adaptive_{name}",
        about=f"counts {about}, and plays what beats the most frequent",
        source=SOURCE,
        make=_counting_script(habit),
        memory=None,
        params={"opening": (), "void": "skip"},
        lines=lines,
    )


def _adaptive_line(against: str, plays: str, *opening: int) -> Line:
    return Line(against, plays, "rps", {"opening": opening})


ADAPTIVE = by_name(
    _adaptive_bot(
        "opponent_previous",
        "the opponent's moves after each of its own moves",
        Habit(1, 1, _opponent_last),
        _adaptive_line("RPRPRP", "RRRSPS", 0, 0, 0),
    ),
    _adaptive_bot(
        "bot_previous",
        "the opponent's moves after each of the bot's moves",
        Habit(1, 0, _bot_last),
        _adaptive_line("RSPSR", "PPPPR", 1, 1, 1, 1),
    ),
    _adaptive_bot(
        "both_previous",
        "the opponent's moves after each pair of last moves",
        Habit(1, 1, lambda moves: moves[-1]),
        _adaptive_line("RSRRP", "RRPRR", 0, 0, 1, 0),
    ),
    _adaptive_bot(
        "opponent_previous_two",
        "the opponent's moves after each two of its own moves",
        Habit(2, 2, _opponent_last_two),
        _adaptive_line("RRRRPP", "RRRPP?", 0, 0, 0),
    ),
    _adaptive_bot(
        "transition",
        "the opponent's transitions from its own last move",
        Habit(1, 1, _anything, _opponent_last),
        _adaptive_line("RPSRPS", "RRRPSR", 0, 0),
    ),
    _adaptive_bot(
        "transition_from_bot",
        "the opponent's transitions from the bot's last move",
        Habit(1, 0, _anything, _bot_last),
        _adaptive_line("RPPRR", "RRSPR", 0, 0),
    ),
    _adaptive_bot(
        "transition_by_outcome",
        "the opponent's transitions after each of its outcomes",
        Habit(1, 1, _opponent_outcome, _opponent_last),
        _adaptive_line("RPSRSP", "RPSPRS", 0, 1, 2, 1, 0),
    ),
    _adaptive_bot(
        "transition_by_outcome_and_transition",
        "the opponent's transitions after each of its outcomes and last transitions",
        Habit(2, 2, _opponent_outcome_and_transition, _opponent_last),
        _adaptive_line("RPSRP", "RPSP?", 0, 1, 2),
    ),
)


PARTNERS = {**STABLE, **ADAPTIVE}
