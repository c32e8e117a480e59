"""The spec of the level-k games: rules, words, probes, and four games by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sally.core.rules.game import (
    Doing,
    GameSpec,
    LearnerSpec,
    MeasureSpec,
    PeopleSpec,
    Seat,
    over_all_rounds,
)
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.core.rules.simultaneous import State, mean_of
from sally.games.level_k import solvers
from sally.games.level_k.minds import Mind, mind_of
from sally.games.level_k.rules import SEATS, LevelGame, View
from sally.games.level_k.words import DEPTHS, TEXTS, words_of

Past = Trajectory[State, int, View]
OTHERS = "others"  # whom a question is about where there are several

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "eleven_twenty": {"pays": {"kind": "request"}},
    "beauty_contest": {"pays": {"kind": "contest"}},
    "hide_and_seek": {"pays": {"kind": "boxes"}},
    "matching_pennies": {"pays": {"kind": "pennies"}, "rounds": 60},
}


def _about(game: LevelGame, seat: Seat) -> str:
    """Return the name of the only other seat, or OTHERS if there are several."""
    others = game.others(seat)
    return str(others[0]) if len(others) == 1 else OTHERS


def _move_of_others(game: LevelGame, view: View, seat: Seat) -> tuple[Question, ...]:
    about = _about(game, seat)
    choices = game.menu(game.others(seat)[0])
    return (Question("their_move", "choice", choices, about, numeric=game.numeric),)


def _own_move(game: LevelGame, view: View, seat: Seat) -> tuple[Question, ...]:
    about, choices = _about(game, seat), game.menu(seat)
    return (Question("their_guess_of_me", "choice", choices, about, numeric=game.numeric),)


def _depth(game: LevelGame, view: View, seat: Seat) -> tuple[Question, ...]:
    return (Question("their_depth", "odds", tuple(range(len(DEPTHS))), _about(game, seat)),)


# --- what was true --------------------------------------------------------------------------------


def game_of(replay: Past) -> LevelGame:
    assert isinstance(replay.game, LevelGame)
    return replay.game


def minds_of_others(replay: Past, seat: Seat) -> list[Mind | None]:
    """Return the declared minds of the other seats; None for a player that declares none."""
    game = game_of(replay)
    return [
        mind_of(game, other_seat, replay.lineup.get(other_seat)) for other_seat in game.others(seat)
    ]


def their_move(replay: Past, place: At) -> int | None:
    """Return the other's move in the same round, or the mean move of several others; None if the
    round was void."""
    if replay.forfeited.get(place.turn):
        return None
    moves = [
        replay.move(place.turn, other_seat) for other_seat in game_of(replay).others(place.seat)
    ]
    played_moves = tuple(move for move in moves if move is not None)
    return mean_of(played_moves) if len(played_moves) == len(moves) else None


def their_guess_of_me(replay: Past, place: At) -> int | None:
    """Return the move that the others expect of this seat, from their declared minds or their
    reports.

    None if one of the others gives no answer or considers two moves equally likely.
    """
    game = game_of(replay)
    guesses: list[int] = []
    for other_seat, mind in zip(
        game.others(place.seat), minds_of_others(replay, place.seat), strict=True
    ):
        if mind is not None and mind.expects is not None:
            guess = _likeliest(mind.expects(replay.view(place.turn, other_seat)))
        else:
            report = replay.report(place.turn, other_seat, "their_move", _about(game, other_seat))
            guess = report.value if report is not None and isinstance(report.value, int) else None
        if guess is None:
            return None
        guesses.append(guess)
    return mean_of(tuple(guesses))


def _likeliest(odds: Mapping[int, float]) -> int | None:
    top = max(odds.values())
    best = [move for move, p in odds.items() if p >= top - 1e-9]
    return best[0] if len(best) == 1 else None


def their_depth(replay: Past, place: At) -> int | None:
    """Return the depth that the others declare, capped at 3; None unless all declare the same
    depth."""
    depths = {None if m is None else m.depth for m in minds_of_others(replay, place.seat)}
    depth = depths.pop() if len(depths) == 1 else None
    return None if depth is None else min(depth, len(DEPTHS) - 1)


PROBES = (
    Probe(
        "their_move",
        "what the other will pick; of several others, the mean of their numbers",
        "before",
        "choice",
        SEATS,
        _move_of_others,
        their_move,
    ),
    Probe(
        "their_guess_of_me",
        "what the other expects one to pick: its declared expectation, or its own report",
        "before",
        "choice",
        SEATS,
        _own_move,
        their_guess_of_me,
    ),
    Probe(
        "their_depth",
        "how many steps ahead the other thinks, asked after one's own move, because it primes",
        "after",
        "odds",
        SEATS,
        _depth,
        their_depth,
    ),
)


def a_round(game: LevelGame, seat: Seat) -> tuple[float, float]:
    """Return the minimum and maximum payoff of one round."""
    place = game.seats.index(seat)
    if len(game.seats) > 2:
        actions = [tuple(game.menu(one_seat)[0] for one_seat in game.seats)]
        return 0.0, sum(game.pays.pay(actions[0]))
    own_menu, other_menu = (game.menu(one_seat) for one_seat in game.seats)
    pays = [float(game.pays.pay((m, t))[place]) for m in own_menu for t in other_menu]
    return min(pays), max(pays)


def best_replies(
    game: LevelGame, view: View, belief: int | Sequence[float] | Mapping[str, Any]
) -> tuple[int, ...] | None:
    """Return the moves that pay most in this round if the others move as believed.

    With several others, the belief is one number, which all of them are taken to name.
    """
    if isinstance(belief, Mapping) and not belief:
        return None
    others = game.others(view.seat)
    move_belief: Any = belief[_about(game, view.seat)] if isinstance(belief, Mapping) else belief
    if isinstance(move_belief, int):
        return solvers.best_replies(game, view.seat, [{move_belief: 1.0}] * len(others))
    odds = {m: p for m, p in zip(game.menu(others[0]), move_belief, strict=True) if p > 0}
    return solvers.best_replies(game, view.seat, [odds] * len(others))


def numbers(game: LevelGame, view: View) -> tuple[float, ...]:
    """Return four numbers that describe a view: whether a round has been played, this seat's and
    the other's last move (each scaled to 0..1), and the share of rounds left."""
    share_left = 1 - (view.round - 1) / game.rounds
    played = view.played()
    if not played:
        return (0.0, 0.0, 0.0, share_left)
    menu = game.menu(view.seat)
    own_move, other_move = ((move - menu[0]) / (menu[-1] - menu[0]) for move in played[-1])
    return (1.0, own_move, other_move, share_left)


GAME: GameSpec[State, int, View] = GameSpec(
    name="level_k",
    about="games that show how many steps ahead a player thinks; four of them by name",
    game=LevelGame,
    words=words_of,
    texts=TEXTS,
    probes=PROBES,
    presets=PRESETS,
    abouts={
        "eleven_twenty": "ask for 11 to 20, with a bonus for one less than the other "
        "(Arad and Rubinstein 2012)",
        "beauty_contest": "name the number nearest to two thirds of the mean (Nagel 1995)",
        "hide_and_seek": "four boxes labelled A B A A: hide in one, or open one "
        "(Rubinstein and Tversky; Crawford and Iriberri 2007)",
        "matching_pennies": "match the other's coin, or fail to, for 60 rounds",
    },
    usual="level",
    people=PeopleSpec.read(__package__, settings={"rounds": (1, 100)}),
    measured=MeasureSpec(
        best_replies=best_replies,
        acts_on=("their_move",),
        doing=Doing("won_per_round", regret="depth_regret", range=a_round),
        pays=over_all_rounds(a_round),
    ),
    learners=LearnerSpec(numbers=numbers),
)
