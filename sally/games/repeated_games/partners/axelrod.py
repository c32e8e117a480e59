"""Partner that plays any strategy of the Axelrod library in two-move games; needs
`sally-lab[axelrod]`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import FunctionType
from typing import Any

from sally.core.errors import BadInput, install_command, unknown
from sally.core.match.partner import Line, Partner, Script
from sally.core.rules.chance import derived_seed
from sally.core.rules.game import Seat
from sally.games.repeated_games.partners.basis import RoundTurn
from sally.games.repeated_games.rules import Joint, RepeatedGame, other_seat


def library() -> Any:
    """Return the Axelrod library.

    Raises: BadInput, with the command that installs it, if it is missing.
    """
    try:
        with sources_read_once():
            return import_module("axelrod")
    except ImportError:
        raise BadInput(
            f"The Axelrod library is not installed; `{install_command('axelrod')}` installs it."
        ) from None


@contextmanager
def sources_read_once() -> Iterator[None]:
    """Cache sources and signatures, which the library reads up to 100 times each on import.

    The library has no setting that avoids this: `axelrod/makes_use_of.py` and `axelrod/player.py`
    (https://github.com/Axelrod-Python/Axelrod) call `inspect` for every strategy. Within the
    context, cached versions replace `inspect.getsource` and `inspect.signature`, which halves the
    import time; the original functions are restored afterwards.
    """
    plain, signed = inspect.getsource, inspect.signature
    read, sign = functools.cache(plain), functools.cache(signed)

    def getsource(object: Any) -> str:
        return read(getattr(object, "__func__", object))

    def signature(object: Any, **options: Any) -> inspect.Signature:
        return (
            sign(object)
            if type(object) is FunctionType and not options
            else signed(object, **options)
        )

    inspect.getsource, inspect.signature = getsource, signature  # type: ignore[assignment]
    try:
        yield
    finally:
        inspect.getsource, inspect.signature = plain, signed


def strategy_class(strategy: str) -> Any:
    """Return the library's strategy with this name, such as `Tit For Tat` or `TitForTat`."""
    classes = {}
    for library_class in library().all_strategies:
        classes[library_class.name] = classes[library_class.__name__] = library_class
    if strategy not in classes:
        raise unknown("Axelrod strategy", strategy, classes)
    library_class = classes[strategy]
    if (
        library_class.classifier["inspects_source"]
        or library_class.classifier["manipulates_source"]
    ):
        raise BadInput(
            f"{library_class.name} inspects its opponent's code or state, but a partner can see "
            f"only moves"
        )
    return library_class


class BoundStrategy:
    """A strategy of the library in one game; every round must be passed to `feed`."""

    def __init__(self, strategy: Any, seed: int, game: RepeatedGame, seat: Seat) -> None:
        axl = library()
        self._actions = (axl.Action.C, axl.Action.D)
        self._player, self._opponent = strategy, axl.MockPlayer()
        if axl.Classifiers["stochastic"](strategy):
            strategy.set_seed(seed % 2**32)  # the library's seeds have 32 bits
        strategy.set_match_attributes(
            length=-1 if game.stop_chance else game.rounds, game=_payoffs(game, seat)
        )
        self.played: list[Joint] = []
        self.next = self._choose()

    def feed(self, joint: Joint) -> None:
        """Add one round, as (own move, opponent's move)."""
        own_action, other_action = self._actions[joint[0]], self._actions[joint[1]]
        self._player.update_history(own_action, other_action)
        self._opponent.update_history(other_action, own_action)
        self.played.append(joint)
        self.next = self._choose()

    def _choose(self) -> int:
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
    if len(game.moves_of(seat)) != 2 or len(game.moves_of(other_seat(seat))) != 2:
        raise BadInput("axelrod plays games with two moves per seat; move 0 is cooperation")
    if not isinstance(settings or {}, Mapping):
        raise BadInput(f"settings must give the settings of the strategy by name, not {settings!r}")
    make, arguments = strategy_class(strategy), dict(settings or {})
    try:
        BoundStrategy(make(**arguments), 0, game, seat)
    except (ValueError, TypeError) as error:  # some strategies need payoffs of a certain kind
        reason = f": {error}" if str(error) else "; it needs payoffs of another kind"
        raise BadInput(
            f"{make.name} cannot play this game with settings {arguments!r}{reason}"
        ) from None
    # the game in progress, so that it is not replayed from the start
    reached: dict[int, BoundStrategy] = {}

    def axelrod(turn: RoundTurn) -> int:
        """Return the move after the rounds so far; it is determined by the seed and these rounds
        alone."""
        seed, rounds = derived_seed(turn.context.seed, seat, "axelrod"), turn.view.played()
        sits = reached.get(seed)
        if sits is None or rounds[: len(sits.played)] != sits.played:
            sits = BoundStrategy(make(**arguments), seed, game, seat)
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
