"""The seven stable bots of Brockbank and Vul for rock, paper, scissors.

Each follows one rule in most rounds and errs evenly in the others. How often people win against
them is known: table `brockbank_vul` of the reference data of riemer2025 has each bot under the
name it has here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from sally.core.rules.game import Seat
from sally.core.rules.partner import Automaton, Line, Partner, Script
from sally.games.repeated_games.partners.basis import (
    UNSEEN,
    Drawn,
    Odds,
    check_chance,
    evenly,
    latest,
    mostly,
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

Rule = Callable[[Sequence[Joint]], int]  # the rounds it needs, newest last -> its move, or UNSEEN
Seen = tuple[Joint, ...]

WIN, TIE, LOSS = 1, 0, -1


def _own(shift: int) -> Rule:
    return lambda seen: shifted(seen[-1][0], shift)


def _others(shift: int) -> Rule:
    return lambda seen: UNSEEN if seen[-1][1] == UNSEEN else shifted(seen[-1][1], shift)


def _by_outcome(win: int, loss: int, tie: int) -> Rule:
    shift = {WIN: win, LOSS: loss, TIE: tie}
    return lambda seen: shifted(seen[-1][0], shift[_outcome(*seen[-1])])


def _outcome(mine: int, theirs: int) -> int:
    return WIN if theirs == UNSEEN else outcome(mine, theirs)  # who does not move has lost


DUAL = {  # its last outcome, its last transition -> its next transition
    WIN: {UP: DOWN, SAME: UP, DOWN: SAME},
    LOSS: {UP: SAME, SAME: DOWN, DOWN: UP},
    TIE: {UP: UP, SAME: SAME, DOWN: DOWN},
}


def _dual(seen: Sequence[Joint]) -> int:
    (before, _), (mine, theirs) = seen[-2:]
    return shifted(mine, DUAL[_outcome(mine, theirs)][transition(before, mine)])


# --- from a rule to a partner ---------------------------------------------------------------------


def _odds(rule: Rule, needs: int, seen: Sequence[Joint], follow: float) -> Odds:
    if len(seen) < needs or rule(seen) == UNSEEN:
        return evenly(MOVES)
    return mostly(rule(seen), follow, MOVES)


def _script(rule: Rule, needs: int) -> Callable[..., Script]:
    def make(
        game: RepeatedGame,
        seat: Seat,
        follow: float = 0.9,
        opening: Sequence[int] = (),
        void: str = "skip",
    ) -> Script:
        check_rps(game)
        check_void(void)
        check_chance("follow", follow)
        check_opening(game, seat, opening, needs)

        @cache  # so few rounds are looked at that all odds are soon known
        def after(*seen: Joint) -> Odds:
            if len(seen) < len(opening):
                return surely(opening[len(seen)])
            return _odds(rule, needs, seen, follow)

        def odds(view: View) -> Odds:
            return after(*(with_void(view)[-needs:] if published else latest(view, needs)))

        published = void == "published"
        return Drawn(odds)

    return make


def _automaton(rule: Rule, needs: int) -> Callable[..., Automaton[Seen]]:
    def make(
        game: RepeatedGame,
        seat: Seat,
        follow: float = 0.9,
        opening: Sequence[int] = (),
        void: str = "skip",
    ) -> Automaton[Seen]:
        """The state is the last rounds that the rule looks at; a machine knows no void round."""
        check_rps(game)
        check_void(void)

        def odds(seen: Seen) -> Odds:
            if len(seen) < len(opening):
                return surely(opening[len(seen)])
            return _odds(rule, needs, seen, follow)

        return Automaton((), odds, lambda seen, own, their: (*seen, (own, their))[-needs:])

    return make


def _bot(name: str, about: str, rule: Rule, line: Line, needs: int = 1) -> Partner:
    return Partner(
        name=name,
        about=f"{about}, with chance `follow`; otherwise one of the two others",
        source=SOURCE,
        make=_script(rule, needs),
        automaton=_automaton(rule, needs),
        memory=needs,
        params={"follow": 0.9, "opening": (), "void": "skip"},
        lines=(line, Line("RPSRP", "?????", "rps")),
    )


def _line(against: str, plays: str, *opening: int) -> Line:
    return Line(against, plays, "rps", {"follow": 1.0, "opening": opening})


PARTNERS = {
    bot.name: bot
    for bot in (
        _bot(
            "previous_move_plus",
            "plays what beats its own last move",
            _own(UP),
            _line("RRRRR", "RPSRP", 0),
        ),
        _bot(
            "previous_move_minus",
            "plays what loses to its own last move",
            _own(DOWN),
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
}
