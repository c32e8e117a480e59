"""Rules of a repeated matrix game: any payoffs and names, a horizon, and a chance to stop."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import isfinite

import msgspec

from sally.core.errors import BadInput
from sally.core.reply.plain_text import plain
from sally.core.rules.game import NATURE, Game, Seat, check_rounds
from sally.core.rules.history import History

AGENT, PARTNER = Seat("agent"), Seat("partner")
GO_ON, STOP = 0, 1  # nature's moves, where the end is a matter of chance

Pay = tuple[float, float]  # the agent's, the partner's
Joint = tuple[int, int]  # (the agent's move, the partner's); in a view (mine, theirs)


class State(msgspec.Struct, frozen=True, gc=False):
    """The full state: the rounds so far; both seats' views share one history without copying."""

    past: History[Joint | None]  # None: the round was void
    round: int = 1  # the number of the round to come
    last: Joint | None = None  # the last round that was played
    agent_total: float = 0.0
    partner_total: float = 0.0
    void_in_a_row: int = 0
    to_stop: bool = False  # nature decides now whether there is another round
    stopped: bool = False
    void: tuple[tuple[int, int | None, int | None], ...] = ()
    """By index of a void round: the moves of the agent and the partner, if any."""


class View(msgspec.Struct, frozen=True, gc=False):
    """The information of a seat: every played round, and which rounds were void."""

    seat: Seat
    past: History[Joint | None]  # (agent, partner) for either seat
    round: int
    last: Joint | None  # (mine, theirs) in the last round that was played
    void: tuple[tuple[int, int], ...] = ()  # (index, my own move) of void rounds in which I moved

    def rounds(self, since: int = 0) -> Iterator[Joint | None]:
        """Yield the rounds from index `since` on, as (own move, other's move); None for a void
        round."""
        if self.seat == AGENT:
            return self.past.since(since)
        return (joint and (joint[1], joint[0]) for joint in self.past.since(since))

    def played(self) -> list[Joint]:
        """Return the played rounds, as (own move, other's move)."""
        return [joint for joint in self.rounds() if joint is not None]


@dataclass(frozen=True)
class RepeatedGame(Game[State, int, View]):
    """A matrix game; `matrix[mine][theirs]` is the (agent's, partner's) payoff."""

    matrix: tuple[tuple[Pay, ...], ...] = (((8, 8), (0, 10)), ((10, 0), (5, 5)))
    rounds: int = 100
    names: tuple[str, ...] = ()  # of the moves; empty: J, F, B ... (J, F for two)
    partner_names: tuple[str, ...] = ()  # if the partner's moves differ from the agent's
    order: tuple[int, ...] = ()  # in which a page lists the moves; empty: 0, 1, 2 ...
    stop_chance: float = 0.0  # after each round; `rounds` is then the longest possible game
    void_limit: int = 3  # consecutive forfeited rounds that end the episode without a result
    signed: bool = False  # whether payoffs are shown as a signed score instead of points won

    seats = (AGENT, PARTNER)
    helpers = (NATURE,)

    def __post_init__(self) -> None:
        check(self)

    def __hash__(self) -> int:
        return self._hash  # needed often, wherever something is cached by game

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in fields(self)))

    # --- the rules ------------------------------------------------------------------------------

    def start(self) -> State:
        return State(History())

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if state.to_stop:
            return self.helpers
        return self.seats if state.round <= self.rounds and not state.stopped else ()

    def options(self, state: State, seat: Seat) -> tuple[int, ...]:
        if seat == NATURE:
            return (GO_ON, STOP)
        return self._menus[seat]

    def odds(self, state: State) -> Mapping[int, float]:
        return {GO_ON: 1 - self.stop_chance, STOP: self.stop_chance}

    def step(self, state: State, moves: Mapping[Seat, int]) -> State:
        if state.to_stop:
            return msgspec.structs.replace(state, to_stop=False, stopped=moves[NATURE] == STOP)
        joint = own_move, other_move = moves[AGENT], moves[PARTNER]
        pay, number = self.matrix[own_move][other_move], state.round
        return State(
            state.past.append(joint),
            number + 1,
            joint,
            state.agent_total + pay[0],
            state.partner_total + pay[1],
            0,
            self.stop_chance > 0 and number < self.rounds,
            False,
            state.void,
        )

    def forfeit(
        self, state: State, moves: Mapping[Seat, int], forfeited: tuple[Seat, ...]
    ) -> State:
        """Make the round void: it counts, pays nothing, and reveals no move to the other seat."""
        void_round = (len(state.past), moves.get(AGENT), moves.get(PARTNER))
        return msgspec.structs.replace(
            state,
            past=state.past.append(None),
            round=state.round + 1,
            void_in_a_row=state.void_in_a_row + 1,
            void=(*state.void, void_round),
            to_stop=self.stop_chance > 0 and state.round < self.rounds,
        )

    def censored(self, state: State) -> str | None:
        if state.void_in_a_row < self.void_limit:
            return None
        return f"{state.void_in_a_row} rounds in a row were void"

    def observe(self, state: State, seat: Seat) -> View:
        last = state.last
        if last is not None and seat == PARTNER:
            last = (last[1], last[0])
        if state.void:
            return View(seat, state.past, state.round, last, _own_void(state.void, seat))
        return View(seat, state.past, state.round, last)

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        return {AGENT: state.agent_total, PARTNER: state.partner_total}

    pays_as_it_goes = True
    same_menus = True
    censors_forfeits = True

    def widest_menu(self) -> int:
        return self._widest_menu

    # --- what partners and measures ask of the matrix ---------------------------------------------

    def pay(self, seat: Seat, own_move: int, other_move: int) -> float:
        """Return a seat's payoff in one round."""
        if seat == AGENT:
            return self.matrix[own_move][other_move][0]
        return self.matrix[other_move][own_move][1]

    def best_replies(self, seat: Seat, other_move: int) -> tuple[int, ...]:
        """Return the moves that pay most in one round against a move of the other seat."""
        return self._replies[seat][other_move]

    def moves_of(self, seat: Seat) -> tuple[int, ...]:
        """Return a seat's moves, the same in every round."""
        return self._menus[seat]

    @cached_property
    def is_zero_sum(self) -> bool:
        """Whether one seat's gain is always the other's loss."""
        return all(abs(a + b) < 1e-9 for row in self.matrix for a, b in row)

    @cached_property
    def _widest_menu(self) -> int:
        return max(len(menu) for menu in self._menus.values())

    @cached_property
    def _menus(self) -> Mapping[Seat, tuple[int, ...]]:
        return {
            AGENT: tuple(range(len(self.matrix))),
            PARTNER: tuple(range(len(self.matrix[0]))),
        }

    @cached_property
    def _replies(self) -> Mapping[Seat, tuple[tuple[int, ...], ...]]:
        return {
            seat: tuple(self._best(seat, t) for t in self._menus[other_seat(seat)])
            for seat in self.seats
        }

    def _best(self, seat: Seat, other_move: int) -> tuple[int, ...]:
        pays = [self.pay(seat, own_move, other_move) for own_move in self._menus[seat]]
        return tuple(own_move for own_move in self._menus[seat] if pays[own_move] == max(pays))

    def names_of(self, seat: Seat) -> tuple[str, ...]:
        """Return the names of a seat's moves."""
        n = len(self._menus[seat])
        own_names = self.partner_names if seat == PARTNER and self.partner_names else self.names
        return own_names or DEFAULT_NAMES[:n]


def _own_void(
    void: tuple[tuple[int, int | None, int | None], ...], seat: Seat
) -> tuple[tuple[int, int], ...]:
    """Return (index, own move) of the void rounds in which a seat moved."""
    seat_index = 1 if seat == AGENT else 2
    return tuple(
        (void_round[0], move) for void_round in void if (move := void_round[seat_index]) is not None
    )


DEFAULT_NAMES = ("J", "F", "B", "M", "Q", "T", "V", "X", "Z", "H", "K", "L")


def other_seat(seat: Seat) -> Seat:
    """Return the opposite seat."""
    return PARTNER if seat == AGENT else AGENT


def check(game: RepeatedGame) -> None:
    """Raise BadInput, naming the parameter, if the parameters do not define a game."""
    check_rounds(game.rounds, game.void_limit)
    if not 0 <= game.stop_chance < 1:
        raise BadInput(f"stop_chance must be at least 0 and below 1, not {game.stop_chance}")
    widths = {len(row) for row in game.matrix}
    if len(game.matrix) < 2 or widths == {0} or min(widths, default=0) < 2:
        raise BadInput("matrix must give each seat at least two moves")
    if len(widths) > 1:
        raise BadInput(f"matrix is ragged: its rows have {sorted(widths)} cells")
    if not all(isfinite(p) for row in game.matrix for cell in row for p in cell):
        raise BadInput("matrix contains a payoff that is not finite; every payoff must be a number")
    rows, columns = len(game.matrix), widths.pop()
    if game.order and (rows != columns or sorted(game.order) != list(range(rows))):
        raise BadInput(
            "order must list each move once, and both seats must have the same number of moves; "
            f"got {game.order}"
        )
    _check_names("names", game.names, rows)
    _check_names("partner_names", game.partner_names, columns)
    if rows != columns and game.names and not game.partner_names:
        raise BadInput(
            "partner_names must be given, because the seats have different numbers of moves"
        )
    if max(rows, columns) > len(DEFAULT_NAMES) and not game.names:
        raise BadInput(f"names must be given for more than {len(DEFAULT_NAMES)} moves")


def _check_names(parameter: str, names: tuple[str, ...], moves: int) -> None:
    if not names:
        return
    if len(names) != moves:
        raise BadInput(f"{parameter} has {len(names)} names for {moves} moves")
    folded = [plain(name).strip(" .!") for name in names]  # as a reader of replies sees them
    if not all(folded):
        raise BadInput(f"{parameter} contains an empty name")
    if any(re.search(r"[\r\n:]", name) for name in names):
        raise BadInput(f"{parameter} contains a colon or a line break, which no name may contain")
    clash = next((name for name in folded if folded.count(name) > 1), None)
    if clash is not None:
        raise BadInput(f"{parameter} must be distinct: {clash!r} names two moves")
