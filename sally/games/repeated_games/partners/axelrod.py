"""Any strategy of the Axelrod library, in games of two moves each; needs `sally-lab[axelrod]`."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from sally.core.chance import derived_seed
from sally.core.errors import BadInput, unknown
from sally.core.game import Seat
from sally.core.partner import Line, Partner, Script
from sally.games.repeated_games.partners.basis import RoundTurn
from sally.games.repeated_games.rules import Joint, RepeatedGame, other

NAME = "axelrod"


def library() -> Any:
    """The Axelrod library, or one sentence that says how to get it."""
    try:
        if NAME in sys.modules:  # or about to be: then this waits for it
            return import_module(NAME)
        with sources_read_once(), strategies_made_once():
            return import_module(NAME)
    except ImportError:
        raise BadInput(
            "The Axelrod library is not installed; `pip install 'sally-lab[axelrod]'` brings it."
        ) from None


@contextmanager
def sources_read_once() -> Iterator[None]:
    """While it loads, the library reads sources up to a hundred times each."""
    plain = inspect.getsource
    read = functools.cache(plain)

    def getsource(object: Any) -> str:
        return read(getattr(object, "__func__", object))

    inspect.getsource = getsource
    try:
        yield
    finally:
        inspect.getsource = plain


@contextmanager
def strategies_made_once() -> Iterator[None]:
    """While it loads, the library makes thirty thousand players to see what its classes are like.

    They are thrown away; one of each class says the same.
    """
    caught = _Strategies()
    sys.meta_path.insert(0, caught)
    try:
        yield
    finally:
        sys.meta_path.remove(caught)
        caught.let_go()


class _Strategies:
    """Finds no module, but hears when the library is about to load its strategies."""

    def __init__(self) -> None:
        self._made: dict[type, Any] = {}
        self._caller: Any = None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Have each class called once from here on, where it is called without arguments."""
        if name != f"{NAME}.strategies" or self._caller is not None:
            return
        made, self._caller = self._made, sys.modules[f"{NAME}.player"].PostInitCaller
        self._call = call = self._caller.__call__

        def once(cls: type, *args: Any, **kwargs: Any) -> Any:
            if args or kwargs:
                return call(cls, *args, **kwargs)
            if cls not in made:
                made[cls] = call(cls)
            return made[cls]

        self._caller.__call__ = once

    def let_go(self) -> None:
        """Let the library make its players as it does."""
        if self._caller is not None:
            self._caller.__call__ = self._call


def strategy_class(strategy: str) -> Any:
    """The library's strategy of that name, such as `Tit For Tat` or `TitForTat`."""
    known = {}
    for found in library().all_strategies:
        known[found.name] = known[found.__name__] = found
    if strategy not in known:
        raise unknown("Axelrod strategy", strategy, known)
    found = known[strategy]
    if found.classifier["inspects_source"] or found.classifier["manipulates_source"]:
        raise BadInput(
            f"{found.name} looks into its opponent's code or state; a partner sees moves only"
        )
    return found


class Seated:
    """A strategy of the library at one point of one game; it has to be fed every round."""

    def __init__(self, made: Any, seed: int, game: RepeatedGame, seat: Seat) -> None:
        axl = library()
        self._actions = (axl.Action.C, axl.Action.D)
        self._player, self._opponent = made, axl.MockPlayer()
        if axl.Classifiers["stochastic"](made):
            made.set_seed(seed % 2**32)  # the library's seeds have 32 bits
        made.set_match_attributes(
            length=-1 if game.stop_chance else game.rounds, game=_payoffs(game, seat)
        )
        self.played: list[Joint] = []
        self.next = self._chosen()

    def feed(self, joint: Joint) -> None:
        """One more round, as (mine, theirs)."""
        mine, theirs = self._actions[joint[0]], self._actions[joint[1]]
        self._player.update_history(mine, theirs)
        self._opponent.update_history(theirs, mine)
        self.played.append(joint)
        self.next = self._chosen()

    def _chosen(self) -> int:
        return self._actions.index(self._player.strategy(self._opponent))


def _payoffs(game: RepeatedGame, seat: Seat) -> Any:
    r, s, t, p = (game.pay(seat, m, o) for m, o in ((0, 0), (0, 1), (1, 0), (1, 1)))
    return library().Game(r=r, s=s, t=t, p=p)


def _script(
    game: RepeatedGame,
    seat: Seat,
    strategy: str = "Tit For Tat",
    settings: Mapping[str, Any] | None = None,
) -> Script:
    if len(game.moves_of(seat)) != 2 or len(game.moves_of(other(seat))) != 2:
        raise BadInput("axelrod plays games of two moves each; move 0 is cooperation")
    make, given = strategy_class(strategy), dict(settings or {})
    try:
        Seated(make(**given), 0, game, seat)
    except (ValueError, TypeError) as why:  # some strategies need payoffs of a certain kind
        reason = f": {why}" if str(why) else "; it needs payoffs of another kind"
        raise BadInput(
            f"{make.name} cannot play this game with settings {given!r}{reason}"
        ) from None
    reached: dict[int, Seated] = {}  # the game that it is in, so that it need not start again

    def axelrod(turn: RoundTurn) -> int:
        """A function of the seed and the rounds; a strategy's own draws belong to the episode."""
        seed, rounds = derived_seed(turn.desk.seed, seat, "axelrod"), turn.view.played()
        sits = reached.get(seed)
        if sits is None or rounds[: len(sits.played)] != sits.played:
            sits = Seated(make(**given), seed, game, seat)
        for joint in rounds[len(sits.played) :]:
            sits.feed(joint)
        reached.clear()
        reached[seed] = sits
        return sits.next

    return axelrod


PARTNERS = {
    "axelrod": Partner(
        name="axelrod",
        about="a strategy of the Axelrod library (`strategy`, with its own `settings`)",
        source="Knight et al. 2016, An open framework for the reproducible study of the "
        "iterated prisoner's dilemma",
        make=_script,
        memory=None,
        params={"strategy": "Tit For Tat", "settings": None},
        lines=(
            Line("JFJFF", "JJFJF", "ipd"),
            Line("JJFJJ", "JJJFF", "ipd", {"strategy": "Grudger"}),
        ),
    )
}
