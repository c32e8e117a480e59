"""Training tasks and depths of reasoning of Pick the Right Stuff."""

from __future__ import annotations

from collections.abc import Iterator

from sally.core.rules.depth import DepthDecision, Depths, Reasoned
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.pick_the_right_stuff.frozen import COLLECTIONS, frozen_games
from sally.games.pick_the_right_stuff.locker import occupied_in, questions
from sally.games.pick_the_right_stuff.picks import picks
from sally.games.pick_the_right_stuff.rules import LockerGame
from sally.parts.training import Split, Training, by_problem

USERS = 5


def _training_tasks(game: str) -> Split:
    """Return the balanced stored games with five users, split into training, validation and
    held-out games."""
    numbers = range(len(frozen_games("balanced_zero", USERS)))
    problems = {f"balanced_zero_{n}": {"number": n, "users": USERS} for n in numbers}
    return by_problem(game, "manager", problems, {})


TRAINING = Training(_training_tasks)

ABOUT = (
    "depth 0 names the box where the item is; depth 1 names the box where the user believes it to "
    "be, from what the user has seen and, in the infinite mode, from its own rule; users do not "
    "reason about anybody, so no question is deeper"
)
NOTES = (
    "Published games: users mostly believe what is true, or what was true at the start, so depth 0 "
    "is far above chance; only the balanced and the even infinite sets have blocks. The first "
    "balanced sets of the mode zero leak with three users.",
    "The last question of a balanced game has one box left and is left out.",
)
IN_BLOCKS = (
    "balanced_zero",
    "balanced_finite",
    "balanced_2_zero",
    "balanced_2_finite",
    "infinite_2",
)


def _reason_about(name: str, believed: int, true: int, items: int, users: int) -> Reasoned:
    """Return one question with the answers of reasoners of every depth; the chance level is that
    of a guess over the occupied boxes or, in the infinite mode, over all boxes."""
    among = users if name.startswith("infinite") else items
    block = 1 if name in IN_BLOCKS else None
    return Reasoned(((true,), (believed,)), (believed,), 1 / among, block, f"{name}, {among} boxes")


def _questions() -> Iterator[Reasoned]:
    for name in COLLECTIONS:
        for problem in frozen_games(name, USERS):
            for view, believed in questions(problem):
                now = view.states[-1]
                items = len(occupied_in(now))
                if items > 1:
                    yield _reason_about(name, believed, now.index(view.asked), items, USERS)


def _judge_picks(played: Played, seat: Seat) -> Iterator[DepthDecision]:
    game = played.replay.rules(LockerGame)
    kind = "infinite_2" if game.mode == "infinite" else f"{game.generator}_{game.mode}"
    if game.problem is not None:
        kind = "other"
    for pick in picks(played, seat):
        if pick.items > 1:
            question = _reason_about(
                kind, pick.believed, pick.true, pick.items, game.instance.users
            )
            yield DepthDecision(question, pick.is_right)


DEPTHS = Depths(ABOUT, _questions, _judge_picks, NOTES)
