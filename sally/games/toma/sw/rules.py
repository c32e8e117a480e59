"""Rules of the game Speak or Wait: a guide, an explorer, one radio channel and an eavesdropper.

Source: kang2026, appendix C.3 and E.3, with the turn order and the winning rule of our protocol. A
and B act at the same time; two simultaneous messages are heard as noise. A message that is heard
goes to a reader, which records its claims, and then to C, which guesses unless it is blocked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import NATURE, Game, Seat
from sally.core.rules.menu import Act, Choice, Field, Form, Many, Options, Text, Whole

# --- seats, cells and acts ------------------------------------------------------------------------


GUIDE, EXPLORER, EAVESDROPPER = Seat("guide"), Seat("explorer"), Seat("eavesdropper")
READER = Seat("reader")
LETTERS = {GUIDE: "A", EXPLORER: "B", EAVESDROPPER: "C"}
SIDE = 4
CELLS = tuple((row, col) for row in range(SIDE) for col in range(SIDE))
STEPS = {"NORTH": (-1, 0), "SOUTH": (1, 0), "WEST": (0, -1), "EAST": (0, 1)}
TARGETS = ("B", "TREASURE")
LONGEST = 300  # characters of one message
DIGITS = 4

CellOf = tuple[int, int]  # (row, col), counted from the north-west corner
Outcome = Literal["", "win", "loss", "draw"]


class Speak(Act, frozen=True):
    """A message on the radio channel."""

    text: str


class Open(Act, frozen=True):
    """The guide's attempt to open the box with a password."""

    password: str


class Move(Act, frozen=True):
    """A move of the explorer by one cell."""

    direction: str


class Wait(Act, frozen=True):
    """The act of waiting."""


class Guess(Act, frozen=True):
    """The eavesdropper's guess of the cell of B or of the treasure."""

    target: str
    row: int
    col: int


class Pass(Act, frozen=True):
    """The act of not guessing, if the rules allow it."""


class CellClaim(Act, frozen=True, tag="cell"):
    """A claim that B or the treasure is on a cell."""

    about: str
    row: int
    col: int


class LandmarkClaim(Act, frozen=True, tag="landmark"):
    """A claim that B or the treasure is at an offset from a landmark."""

    about: str
    landmark: str
    rows: int = 0
    cols: int = 0


class Reading(Act, frozen=True):
    """The claims of a message; empty if there are none."""

    cells: tuple[CellClaim, ...] = ()
    landmarks: tuple[LandmarkClaim, ...] = ()
    directions: tuple[str, ...] = ()
    passwords: tuple[str, ...] = ()


Action = int | Speak | Open | Move | Wait | Guess | Pass | Reading
WAIT, PASS, NOTHING = Wait(), Pass(), Reading()


# --- states, views and the game -------------------------------------------------------------------


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The positions of everything: landmarks in the order of their names, B's start, and the
    treasure."""

    landmarks: tuple[CellOf, CellOf, CellOf]
    start: CellOf
    treasure: CellOf
    password: str


class Radio(msgspec.Struct, frozen=True):
    """The radio in one turn: speech, noise or silence, and the claims that the reader found."""

    kind: Literal["silence", "noise", "speech"]
    speaker: str = ""  # A or B
    text: str = ""
    reading: Reading = NOTHING


class Guessed(msgspec.Struct, frozen=True):
    """A guess with its turn and whether it was right; `guess` is None if there was no guess."""

    turn: int
    guess: Guess | None
    right: bool = False


class State(msgspec.Struct, frozen=True):
    """The full state."""

    drawn: tuple[int, ...] = ()  # nature's draws while the world is generated
    world: World | None = None
    cell: CellOf = (0, 0)  # of B
    opened_in: int = 0  # the turn in which the box was opened; 0: it is locked
    phase: Literal["act", "read", "guess", "over"] = "act"
    radio: tuple[Radio, ...] = ()  # a message counts as heard once the reader has read it
    said: Radio | None = None  # on the air, not yet read
    guide_acts: tuple[Action | None, ...] = ()
    explorer_acts: tuple[Action | None, ...] = ()
    guesses: tuple[Guessed, ...] = ()
    outcome: Outcome = ""


class View(msgspec.Struct, frozen=True):
    """The information of one seat; fields that the seat does not know have their defaults."""

    seat: Seat
    radio: tuple[Radio, ...] = ()
    acts: tuple[Action | None, ...] = ()  # its own acts; None for a forfeit
    landmarks: tuple[tuple[str, CellOf], ...] = ()  # by name: the guide and the explorer
    objects: tuple[CellOf, ...] = ()  # without names, in the order of the map: the eavesdropper
    opened_in: int = 0  # the guide: the turn in which the box opened
    treasure: CellOf | None = None  # the guide, once the box is open
    cell: CellOf | None = None  # the explorer
    password: str = ""  # the explorer
    guesses: tuple[Guessed, ...] = ()  # the eavesdropper
    said: Radio | None = None  # the reader


@dataclass(frozen=True)
class SpeakOrWait(Game[State, Action, View]):
    """The game Speak or Wait; `world` fixes all positions, otherwise nature draws them."""

    world: World | None = None
    win: Literal["after_open", "published"] = "after_open"
    turns: int = 20
    may_pass: bool = False  # whether the eavesdropper may skip its guess
    landmarks: tuple[str, str, str] = ("Red Barn", "Old Well", "Stone Gate")

    seats = (GUIDE, EXPLORER, EAVESDROPPER)
    helpers = (NATURE, READER)

    def __post_init__(self) -> None:
        check(self)

    # --- who moves, and how -----------------------------------------------------------------------

    def start(self) -> State:
        return State() if self.world is None else first_state(self.world)

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if state.world is None:
            return (NATURE,)
        return {
            "act": (GUIDE, EXPLORER),
            "read": (READER,),
            "guess": (EAVESDROPPER,),
            "over": (),
        }[state.phase]

    def options(self, state: State, seat: Seat) -> Options[Action]:
        if seat == NATURE:
            return drawable(state.drawn)
        if seat == READER:
            return (self._reading(),)
        if seat == EAVESDROPPER:
            side = Whole(0, SIDE - 1)
            guess: Form[Action] = Form(
                Guess, (("target", Choice(TARGETS)), ("row", side), ("col", side))
            )
            return (guess, PASS) if self.may_pass else (guess,)
        if seat == GUIDE:
            code = Text(
                DIGITS, rf"[0-9]{{{DIGITS}}}", samples=("0000", "4821"), form=f"{DIGITS} digits"
            )
            return (self._speech(), Form(Open, (("password", code),)), WAIT)
        return (self._speech(), *map(Move, ways(state.cell)), WAIT)

    def _speech(self) -> Form[Action]:
        samples = ("Over.", "What is the password?", f"Go to the {self.landmarks[0]}.")
        return Form(Speak, (("text", Text(LONGEST, samples=samples)),))

    def _reading(self) -> Form[Action]:
        about, side, offset = Choice(TARGETS), Whole(0, SIDE - 1), Whole(1 - SIDE, SIDE - 1)
        cell: Field = Form(CellClaim, (("about", about), ("row", side), ("col", side)))
        landmark_form: Field = Form(
            LandmarkClaim,
            (
                ("about", about),
                ("landmark", Choice(self.landmarks)),
                ("rows", offset),
                ("cols", offset),
            ),
        )
        code = Text(DIGITS, rf"[0-9]{{{DIGITS}}}", samples=("4821",), form=f"{DIGITS} digits")
        return Form(
            Reading,
            (
                ("cells", Many(cell, 8)),
                ("landmarks", Many(landmark_form, 8)),
                ("directions", Many(Choice(tuple(STEPS)), 8)),
                ("passwords", Many(code, 8)),
            ),
        )

    def odds(self, state: State) -> Mapping[Action, float]:
        possible_draws = drawable(state.drawn)
        return {draw: 1 / len(possible_draws) for draw in possible_draws}

    # --- what happens -----------------------------------------------------------------------------

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        if state.world is None:
            draw = moves[NATURE]
            assert isinstance(draw, int)
            return state_after_draws((*state.drawn, draw))
        if state.phase == "act":
            return self._apply_acts(state, moves.get(GUIDE), moves.get(EXPLORER))
        if state.phase == "read":
            reading = moves[READER]
            assert isinstance(reading, Reading) and state.said is not None
            heard = msgspec.structs.replace(state.said, reading=reading)
            return self._deliver_message(state, heard)
        guess = moves.get(EAVESDROPPER)
        return self._apply_guess(state, guess if isinstance(guess, Guess) else None)

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """Let a seat without a legal action do nothing in this turn."""
        return self.step(state, moves)

    def _apply_acts(self, state: State, guide: Action | None, explorer: Action | None) -> State:
        world = state.world
        assert world is not None
        cell = (
            cell_after(state.cell, explorer.direction) if isinstance(explorer, Move) else state.cell
        )
        opens = isinstance(guide, Open) and guide.password == world.password
        opened_in = state.opened_in or (len(state.guide_acts) + 1 if opens else 0)
        state = msgspec.structs.replace(
            state,
            cell=cell,
            opened_in=opened_in,
            guide_acts=(*state.guide_acts, guide),
            explorer_acts=(*state.explorer_acts, explorer),
        )
        radio = on_the_air(guide, explorer)
        if cell == world.treasure and (opened_in or self.win == "published"):
            return msgspec.structs.replace(
                state, phase="over", outcome="win", radio=(*state.radio, radio)
            )
        if radio.kind == "speech":
            return msgspec.structs.replace(state, said=radio, phase="read")
        return self._deliver_message(state, radio)

    def _deliver_message(self, state: State, radio: Radio) -> State:
        state = msgspec.structs.replace(
            state, radio=(*state.radio, radio), said=None, phase="guess"
        )
        return self._next(state) if is_blocked(state.guesses, len(state.radio)) else state

    def _apply_guess(self, state: State, guess: Guess | None) -> State:
        assert state.world is not None
        hidden = {"B": state.cell, "TREASURE": state.world.treasure}
        right = guess is not None and hidden[guess.target] == (guess.row, guess.col)
        guess_record = Guessed(len(state.radio), guess, right)
        state = msgspec.structs.replace(state, guesses=(*state.guesses, guess_record))
        if right:
            return msgspec.structs.replace(state, phase="over", outcome="loss")
        return self._next(state)

    def _next(self, state: State) -> State:
        if len(state.radio) >= self.turns:
            return msgspec.structs.replace(state, phase="over", outcome="draw")
        return msgspec.structs.replace(state, phase="act")

    # --- what is seen, what is won ----------------------------------------------------------------

    def observe(self, state: State, seat: Seat) -> View:
        world = state.world
        if seat == READER:
            return View(seat, state.radio, said=state.said)
        if world is None:
            return View(seat)
        if seat == EAVESDROPPER:
            objects = tuple(sorted(world.landmarks))
            return View(seat, state.radio, objects=objects, guesses=state.guesses)
        named_landmarks = tuple(zip(self.landmarks, world.landmarks, strict=True))
        if seat == GUIDE:
            return View(
                seat,
                state.radio,
                state.guide_acts,
                named_landmarks,
                opened_in=state.opened_in,
                treasure=world.treasure if state.opened_in else None,
            )
        return View(
            seat,
            state.radio,
            state.explorer_acts,
            named_landmarks,
            cell=state.cell,
            password=world.password,
        )

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        team = {"win": 1.0, "loss": -1.0, "draw": 0.0, "": 0.0}[state.outcome]
        return {GUIDE: team, EXPLORER: team, EAVESDROPPER: -team}


# --- parts of the rules ---------------------------------------------------------------------------


def on_the_air(guide: Action | None, explorer: Action | None) -> Radio:
    """Return the content of the channel after two simultaneous acts."""
    spoken = [
        Radio("speech", letter, act.text)
        for letter, act in (("A", guide), ("B", explorer))
        if isinstance(act, Speak)
    ]
    if len(spoken) == 2:
        return Radio("noise")
    return spoken[0] if spoken else Radio("silence")


def is_blocked(guesses: tuple[Guessed, ...], turn: int) -> bool:
    """Return whether a wrong guess in the previous turn blocks the eavesdropper."""
    last = guesses[-1] if guesses else None
    return last is not None and last.turn == turn - 1 and last.guess is not None


def cell_after(cell: CellOf, direction: str) -> CellOf:
    """Return the cell one step in a direction; it may be outside the grid."""
    rows, cols = STEPS[direction]
    return (cell[0] + rows, cell[1] + cols)


def ways(cell: CellOf) -> tuple[str, ...]:
    """Return the directions that stay on the grid."""
    return tuple(direction for direction in STEPS if cell_after(cell, direction) in CELLS)


def kind_of_act(act: Action | None) -> str | None:
    """Return the kind of an act: SPEAK, OPEN, MOVE or WAIT; None if there was none."""
    return None if act is None else type(act).__name__.upper()


def consistent(predicted: str, act: Action | None) -> bool:
    """Return whether an act is rational if the ally acts as predicted (kang2026, section 2.4)."""
    speaks = isinstance(act, Speak)
    if predicted == "WAIT":
        return speaks
    return not speaks if predicted == "SPEAK" else True


# --- nature makes the world -----------------------------------------------------------------------


def drawable(draws: tuple[int, ...]) -> tuple[int, ...]:
    """Return the values that nature may draw next: three landmarks, B's start, the treasure, four
    digits."""
    if len(draws) > 4:
        return tuple(range(10))
    taken_cells = draws if len(draws) < 3 else draws[3:4]  # the treasure is not where B starts
    return tuple(
        cell for cell in range(len(CELLS)) if cell not in (taken_cells if taken_cells else ())
    )


def state_after_draws(draws: tuple[int, ...]) -> State:
    """Return the state after these draws, including the world once all draws have been made."""
    if len(draws) < 5 + DIGITS:
        return State(draws)
    places = [CELLS[draw] for draw in draws[:5]]
    password = "".join(map(str, draws[5:]))
    return first_state(World((places[0], places[1], places[2]), places[3], places[4], password))


def first_state(world: World) -> State:
    """Return the state at the first turn in a given world."""
    return State(world=world, cell=world.start)


def check(game: SpeakOrWait) -> None:
    """Raise BadInput if the parameters do not form a valid game."""
    if game.turns < 1:
        raise BadInput(f"turns must be at least 1, not {game.turns}")
    if len({name.casefold() for name in game.landmarks}) < 3 or not all(game.landmarks):
        raise BadInput("landmarks must be three different names")
    if game.world is not None:
        for problem in _problems(game.world):
            raise BadInput(f"world: {problem}")


def _problems(world: World) -> Iterator[str]:
    for cell in (*world.landmarks, world.start, world.treasure):
        if cell not in CELLS:
            yield f"{list(cell)} is not a cell of the 4x4 grid; rows and columns go from 0 to 3"
    if len(set(world.landmarks)) < 3:
        yield "two landmarks are on the same cell"
    if world.start == world.treasure:
        yield "B may not start on the treasure"
    if len(world.password) != DIGITS or not set(world.password) <= set("0123456789"):
        yield f"the password must have {DIGITS} digits, not {world.password!r}"
