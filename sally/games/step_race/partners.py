"""Scripted players of the step race: those of the protocol, the fixed habits that the card tests,
and a listener."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sally.core.errors import BadInput
from sally.core.match.partner import Answerer, Partner, Script, by_name
from sally.core.match.player import NoAnswer, Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
from sally.games.step_race import solver
from sally.games.step_race.rules import (
    MOVES,
    SEATS,
    STAYS,
    Action,
    Done,
    Say,
    StepRace,
    View,
    others_of,
    triple,
)
from sally.games.step_race.solver import MINDS, Mind, Odds, best, weigh_moves
from sally.games.step_race.spec import PAIRS, joint_odds, missing_of
from sally.games.step_race.talk import Announced, last_announcements

if TYPE_CHECKING:
    from sally.games.step_race.ideal import Belief, RacePool

SOURCE = "protocol of the step game, section 8"
CARD = "protocol of the step game, section 4"
ANNOUNCES = "I will move {move} this turn."
PLANNED = ({"player": "always", "params": {"move": 5}}, {"player": "blocker", "params": {}})
Thinks = Callable[[View, Announced], Odds]  # odds of the seat's own move, after the messages


def _script(odds: Thinks) -> Script:
    """Return a script that sends no messages and draws its moves from these probabilities."""

    def script(turn: Turn[Action, View]) -> Action:
        view = turn.view
        if view.speaks:
            return Done("")
        return _draw_move(turn, odds(view, last_announcements(view.talk, view.turn)))

    return script


def _draw_move(turn: Turn[Action, View], odds: Odds) -> int:
    chances = {move: p for move, p in zip(MOVES, odds, strict=True) if p > 0}
    return next(iter(chances)) if len(chances) == 1 else turn.draws.draw(chances)


def _of_mind(name: str) -> Callable[..., Script]:
    """Return the script of the mind with this name; a mind that announces a move announces the same
    move in every message of a turn."""

    def make_script(game: StepRace, seat: Seat, **settings: Any) -> Script:
        mind: Mind = MINDS[name](**settings)

        def odds(view: View, announcements: Announced) -> Odds:
            return mind.moves(
                missing_of(game, view.positions), view.number, view.turn, announcements
            )

        def script(turn: Turn[Action, View]) -> Action:
            if turn.view.speaks and mind.announces[0][0] is not None:
                return _announce(turn, dict(mind.announces))
            action: Action = quiet(turn)
            return action

        quiet = _script(odds)
        return script

    return make_script


def _announce(turn: Turn[Action, View], lottery: dict[int | None, float]) -> Action:
    """Repeat the seat's announcement of this turn or, if it has made none, draw a number and
    announce it."""
    view = turn.view
    earlier = last_announcements(view.talk, view.turn)[view.number]
    move = earlier if earlier is not None else turn.draws.draw(lottery)
    return (
        Say(ANNOUNCES.format(move=move)) if earlier is None else Done(ANNOUNCES.format(move=move))
    )


# --- habits: what the mindless players of the card do ---------------------------------------------


def free_of_last(view: View) -> int:
    """Return the largest number that neither opponent played in the last turn; 5 in the first
    turn."""
    last = view.past.last
    taken_moves = (
        {last.moves[opponent] for opponent in others_of(view.number)} if last is not None else ()
    )
    return max(move for move in MOVES if move not in taken_moves)


def repeat_own_last(view: View) -> int:
    """Return the seat's own last move, or 5 if it made none."""
    last = view.past.last
    return 5 if last is None else last.moves[view.number] or 5


def _reacting(game: StepRace, seat: Seat, first: int = 5, **params: Any) -> Script:
    """Return a script whose move depends on its own last move and that of the player before it.

    The player before the first seat is the last one. `replies` has a row for each move of that
    player and in it a column for each own move, in the order 1, 3, 5.
    """
    replies = params.get("replies") or REPLIES
    rows = [row for row in replies if isinstance(row, list | tuple) and len(row) == len(MOVES)]
    moves = {first, *(move for row in rows for move in row)}
    if len(rows) != len(MOVES) or len(replies) != len(MOVES) or moves - set(MOVES):
        raise BadInput(
            f"reacting: first and replies must be moves, in 3 rows of 3, not {replies!r}"
        )
    previous_seat = (SEATS.index(seat) - 1) % len(SEATS)

    def habit(view: View) -> int:
        played = [turn.moves for turn in view.past if STAYS not in turn.moves]
        if not played:
            return first
        other_move, own_move = played[-1][previous_seat], played[-1][view.number]
        return int(rows[MOVES.index(other_move)][MOVES.index(own_move)])

    return _script(lambda view, announcements: solver.sure(habit(view)))


REPLIES = ((1, 3, 5), (1, 3, 5), (1, 3, 5))  # its own last move again


def _by_habit(habit: Callable[[View], int]) -> Callable[[StepRace, Seat], Script]:
    return lambda game, seat: _script(lambda view, announcements: solver.sure(habit(view)))


def _but(thinks: Callable[[StepRace, Seat], Script]) -> Callable[..., Script]:
    """Return the inverse of a rule that sends no messages: it makes one of the two moves that the
    rule would not make, with equal probability."""

    def make_script(game: StepRace, seat: Seat) -> Script:
        script = thinks(game, seat)

        def play_other_move(turn: Turn[Action, View]) -> Action:
            action: Action = script(turn)
            if not isinstance(action, int):
                return action
            return turn.draws.pick([move for move in MOVES if move != action])

        return play_other_move

    return make_script


def _not_always(game: StepRace, seat: Seat, move: int = 5) -> Script:
    """Return a script that plays any move except `move`."""
    if move not in MOVES:
        raise BadInput(f"never: move must be 1, 3 or 5, not {move}")
    odds = triple(0.0 if option == move else 0.5 for option in MOVES)
    return _script(lambda view, announcements: odds)


def _hits_announced(game: StepRace, seat: Seat) -> Script:
    """Return a script that plays the largest number that another seat announced, or any number
    if none was announced."""

    def odds(view: View, announcements: Announced) -> Odds:
        others_said = [announcements[opponent] for opponent in others_of(view.number)]
        announced_moves = [move for move in others_said if move is not None]
        return solver.sure(max(announced_moves)) if announced_moves else solver.EVEN

    return _script(odds)


def _expects(view: View, opponent: int, trust: float) -> dict[int, float]:
    """Return the move probabilities that a listener expects of a seat: `trust` for the announced
    move or, without an announcement, the seat's habit.

    A habit is the relative frequency of each move, with the equilibrium of a turn counted as one
    extra turn.
    """
    announcement = last_announcements(view.talk, view.turn)[opponent]
    if announcement is not None:
        return {move: trust if move == announcement else (1 - trust) / 2 for move in MOVES}
    prior, _ = solver.stage_equilibrium()
    past_moves = [turn.moves[opponent] for turn in view.past]
    actual_moves = [move for move in past_moves if move != STAYS]
    return {
        move: (p + actual_moves.count(move)) / (1 + len(actual_moves))
        for move, p in zip(MOVES, prior, strict=True)
    }


def _check_trust(trust: float) -> float:
    if not 0 <= trust <= 1:
        raise BadInput(f"listener: trust must be from 0 to 1, not {trust}")
    return trust


def _listener(game: StepRace, seat: Seat, trust: float = 0.8) -> Script:
    """Return a player that plays the best reply to announcements, or to the habits of silent seats.

    The value of a position is computed as if all seats moved uniformly at random from then on. The
    player announces its plan whenever the plan changes, and chooses its move after all messages.
    """
    _check_trust(trust)

    def reply(view: View) -> int:
        first_odds, two = (_expects(view, opponent, trust) for opponent in others_of(view.number))
        values = weigh_moves(
            missing_of(game, view.positions), view.number, joint_odds(first_odds, two)
        )
        return max(best(values))

    def script(turn: Turn[Action, View]) -> Action:
        view = turn.view
        if not view.speaks:
            return reply(view)
        own_announcement = last_announcements(view.talk, view.turn)[view.number]
        move = reply(view)
        return Done("") if own_announcement == move else Say(ANNOUNCES.format(move=move))

    return script


# --- the planner ----------------------------------------------------------------------------------

Others = Sequence[Mapping[str, Any]]  # player and params of the two others, in seat order


def _read_minds(others: Others) -> tuple[Mind, Mind]:
    minds = [
        solver.mind_of(str(player.get("player")), player.get("params") or {})
        for player in others
        if isinstance(player, Mapping)
    ]
    usable = [mind for mind in minds if mind is not None and not mind.hears]
    if len(others) != 2 or len(usable) != 2:
        raise BadInput(
            "planner: others must be two players for which best replies can be computed, each "
            "given as (player, params)"
        )
    return usable[0], usable[1]


def _planner(game: StepRace, seat: Seat, others: Others = PLANNED) -> Script:
    """Return a script that plays optimally, without messages, against the two players given in
    `others`."""
    minds = _read_minds(others)
    opponents = [(str(player["player"]), dict(player.get("params") or {})) for player in others]
    plan = solver.solved_against(game.target, SEATS.index(seat), opponents, game.talks > 0)
    assert plan is not None and len(minds) == 2  # refused above

    def odds(view: View, announcements: Announced) -> Odds:
        worths = plan.worths(missing_of(game, view.positions), view.turn, announcements)
        return solver.sure(max(best(worths)))

    return _script(odds)


def _planner_answers(game: StepRace, seat: Seat, others: Others = PLANNED) -> Answerer:
    minds = dict(zip(others_of(SEATS.index(seat)), _read_minds(others), strict=True))

    def expects(view: View, opponent: int) -> Odds:
        announcements, missing = (
            last_announcements(view.talk, view.turn),
            missing_of(game, view.positions),
        )
        return minds[opponent].moves(missing, opponent, view.turn, announcements)

    return _answers(expects)


# --- the Bayes-adaptive player --------------------------------------------------------------------


def _adaptive(game: StepRace, seat: Seat) -> Callable[[View], tuple[RacePool, Belief]]:
    """Return a function that maps a seat's view to the pool of possible opponents and the seat's
    belief about them."""
    from sally.games.step_race.ideal import ideal_of  # imports the metrics

    number = SEATS.index(seat)

    def pool_and_belief(view: View) -> tuple[RacePool, Belief]:
        pool = ideal_of(missing_of(game, game.positions), number)
        belief, missing = pool.start(), missing_of(game, game.positions)
        for turn in view.past:
            own_move, *other_moves = (turn.moves[n] for n in (number, *others_of(number)))
            if 0 not in turn.moves:
                pair = PAIRS.index("-".join(map(str, other_moves)))
                belief = pool.update_belief(belief, MOVES.index(own_move), pair)
            missing = missing_of(game, turn.positions)
            # a seat that gave no move stayed where it was
            belief = belief._replace(missing=missing)
        return pool, belief

    return pool_and_belief


def _bayes_adaptive(game: StepRace, seat: Seat) -> Script:
    read_belief = _adaptive(game, seat)

    def odds(view: View, announcements: Announced) -> Odds:
        pool, belief = read_belief(view)
        return solver.sure(MOVES[pool.best(belief)])

    return _script(odds)


def _observer(game: StepRace, seat: Seat) -> Answerer:
    """Return a function that answers probes with the ideal observer's forecast of each opponent's
    move."""
    read_belief = _adaptive(game, seat)

    def expects(view: View, opponent: int) -> Odds:
        pool, belief = read_belief(view)
        return triple(pool.expects(belief)[pool.others.index(opponent)].values())

    return _answers(expects)


# --- answers to probes ----------------------------------------------------------------------------


def _answers(expects: Callable[[View, int], Odds]) -> Answerer:
    """Return a function that answers probes with the expected odds of the moves of a seat, given by
    its number."""

    def answer(turn: Turn[Action, View]) -> ProbeReport | NoAnswer:
        question = turn.question
        assert question is not None
        if question.probe not in ("their_move", "their_pick", "next_pick"):
            return NoAnswer("this mind has no such thought")
        odds = expects(turn.view, SEATS.index(Seat(question.about)))
        likeliest = max(range(len(odds)), key=odds.__getitem__)
        return ProbeReport(question.choices[likeliest], odds if question.kind == "odds" else None)

    return answer


def _listens(trust: float) -> Answerer:
    """Return a function that answers probes with what a listener with this trust expects."""
    about_moves = _answers(lambda view, opponent: triple(_expects(view, opponent, trust).values()))

    def answer(turn: Turn[Action, View]) -> ProbeReport | NoAnswer:
        if turn.question is not None and turn.question.probe == "will_keep":
            return ProbeReport("yes" if trust >= 0.5 else "no")
        return about_moves(turn)

    return answer


def _listener_answers(game: StepRace, seat: Seat, trust: float = 0.8) -> Answerer:
    return _listens(_check_trust(trust))


def _mind(
    name: str, about: str, answers: Callable[..., Answerer] | None = None, **params: Any
) -> Partner:
    make = _of_mind(name)
    return Partner(name, about, SOURCE, make, answers=answers, memory=0, params=params)


PARTNERS = by_name(
    _mind("always", "the same `move` in every turn, without a word", move=5),
    _mind("uniform", "any move, without a word"),
    _mind(
        "stage_equilibrium",
        "draws from the symmetric mixed equilibrium of one turn, without a word",
    ),
    _mind("finisher", "the smallest move that arrives, else 5, without a word"),
    _mind(
        "blocker",
        "if the nearest other can arrive, its smallest arriving move; else any; no word",
    ),
    _mind(
        "rotator",
        "1, 3 and 5 in turn, each seat at another number, shifted by `offset`; no word",
        offset=0,
    ),
    _mind("keeper", "announces a number drawn evenly and keeps it with chance `p`", p=1.0),
    _mind(
        "follower",
        "the largest number that neither other announced, without a word",
        answers=lambda game, seat: _listens(1.0),
    ),
    Partner(
        "listener",
        "replies best to what the others announced, believed with chance `trust`, and to the "
        "habits of the silent; announces its own reply",
        "Sally",
        _listener,
        answers=_listener_answers,
        params={"trust": 0.8},
    ),
    Partner(
        "planner",
        "plays the exact optimum against the two declared players `others`, without a word",
        "Sally",
        _planner,
        answers=_planner_answers,
        params={"others": list(PLANNED)},
    ),
    Partner(
        "bayes_adaptive",
        "infers the minds of two opponents of the declared pool and maximises the expected "
        "points; its predictions are those of the ideal observer",
        "Duff 2002",
        _bayes_adaptive,
        answers=_observer,
    ),
    Partner(
        "reacting",
        "its move depends on the last moves of the player before it and of itself (`replies`, a "
        "row for each move of that player); `first` at first; without a word",
        "Sally",
        _reacting,
        memory=1,
        params={"first": 5, "replies": [list(row) for row in REPLIES]},
    ),
    Partner(
        "free_of_last",
        "the largest number that neither other played last turn, without a word",
        CARD,
        _by_habit(free_of_last),
        memory=1,
    ),
    Partner(
        "not_free_of_last",
        "anything but the largest number that neither other played last turn",
        "the inverse of free_of_last",
        _but(_by_habit(free_of_last)),
        memory=1,
    ),
    Partner(
        "repeat_own_last",
        "repeats its own last move, without a word",
        CARD,
        _by_habit(repeat_own_last),
        memory=1,
    ),
    Partner(
        "switch_own_last",
        "anything but its own last move",
        "the inverse of repeat_own_last",
        _but(_by_habit(repeat_own_last)),
        memory=1,
    ),
    Partner(
        "never",
        "any move but `move`, without a word",
        "the inverse of always",
        _not_always,
        memory=0,
        params={"move": 5},
    ),
    Partner(
        "hits_announced",
        "the largest number that another announced, to collide with it",
        "the inverse of follower",
        _hits_announced,
        memory=0,
    ),
)
