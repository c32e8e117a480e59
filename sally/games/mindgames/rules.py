"""The rules of MindGames: eight messages, each read and answered, then a choice (moore2025).

The persuader is the only player. A reader extracts the claims of a message, and the target answers.
The target is computed exactly: it always has a single legal answer, which follows from its
knowledge. The moves of reader and target are logged, so a replay needs neither a model nor the
reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.rules.game import Game, Seat
from sally.core.rules.menu import Act, Form, Options, Text
from sally.games.mindgames import frozen
from sally.games.mindgames.claims import (
    EFFECTS,
    Claims,
    Disclosure,
    Names,
    claims,
    claims_form,
    disclosed_cells,
    falsehoods,
    samples,
)
from sally.games.mindgames.puzzles import Cell, Puzzle
from sally.games.mindgames.replies import (
    Answer,
    BadMessage,
    answer,
    in_sentences,
    parse_discrete,
)
from sally.games.mindgames.stories import Story, stories, story
from sally.games.mindgames.target import (
    Memory,
    Mind,
    choice_of,
    first_mind,
    learn_cells,
    ranking,
    remember_choice,
    values,
)

PERSUADER, READER, TARGET = Seat("persuader"), Seat("reader"), Seat("target")
Variant = Literal["plain", "non_mental", "add_hint", "perfect_game", "discrete_game"]
MESSAGES, LIMIT = 8, 300  # moore2025, Figure 14
LONGEST = 20_000  # of a message with the thoughts before it
NON_MENTAL = "metals"
NOTE_LETTERS = "PQRSTUVW"


class Say(Act, frozen=True):
    """The persuader's text: a message, or thoughts, a line `---` and a message."""

    text: str


class Tell(Act, frozen=True):
    """The persuader's choice of a note, in a game with notes."""

    note: int  # its index


class Reply(Act, frozen=True):
    """The target's answer, and the proposal that it would choose now."""

    answer: Answer
    chosen: int


Action = Say | Tell | Claims | Reply


Beliefs = tuple[tuple[Cell, int], ...]  # cells and what they are taken to do


class Exchange(msgspec.Struct, frozen=True):
    """One text of the persuader, and its outcome.

    If `answer` is None, the text was rejected (`false` or `problem` gives the reason) or never
    written.
    """

    text: str = ""
    claims: Claims = Claims()
    answer: Answer | None = None
    chosen: int = -1  # by the target, after its answer
    false: tuple[Disclosure, ...] = ()
    problem: str = ""


class State(msgspec.Struct, frozen=True):
    """The full state: the target's mind, the conversation, and the message in progress."""

    mind: Mind
    story: tuple[Exchange, ...] = ()
    draft: str | None = None  # written, and not yet answered
    claims: Claims | None = None  # found in the draft
    sent: int = 0  # messages that counted
    refused: int = 0  # consecutive
    believed: Beliefs = ()  # false statements that the target believes


class Seen(msgspec.Struct, frozen=True):
    """One message and its answer, as far as a seat knows them."""

    text: str
    answer: Answer | None
    false: tuple[Disclosure, ...] = ()
    problem: str = ""
    chosen: int = -1  # known to a target that chooses freely


class Brief(msgspec.Struct, frozen=True):
    """A seat's initial information; fields that the seat does not know are None."""

    utilities: tuple[tuple[int | None, ...], ...]
    goal: int | None = None
    likes: tuple[int, ...] | None = None  # of the target
    known: tuple[Cell, ...] | None = None  # to the target


class View(msgspec.Struct, frozen=True):
    """The information of one seat."""

    seat: Seat
    brief: Brief
    story: tuple[Seen, ...] = ()
    sent: int = 0
    draft: str = ""
    claims: Claims | None = None  # the target: what it has just been told and asked
    chosen: int | None = None  # by the target, once the game is over
    tied: bool = False  # whether several were best then


def split_message(text: str) -> tuple[str, str]:
    """Split a text into thoughts and message at its first line `---`."""
    parts = re.split(r"^[ \t]*-{3,}[ \t]*$", text, maxsplit=1, flags=re.MULTILINE)
    return (parts[0].strip(), parts[1].strip()) if len(parts) == 2 else ("", text.strip())


@dataclass(frozen=True)
class MindGame(Game[State, Action, View]):
    """The MindGames game: a puzzle under a cover story, by default from a stored set of puzzles."""

    collection: frozen.Collection = "standard"
    number: int = 0
    puzzle: Puzzle | None = None  # instead of a frozen one
    story: str = ""  # by name; empty: the first one, or the one without minds
    cover: Story | None = None  # instead of one of ours
    condition: Literal["hidden", "revealed"] = "hidden"
    variant: Variant = "plain"
    memory: Memory = "sequential"
    messages: int = MESSAGES
    limit: int = LIMIT
    example: Puzzle | None = None  # of the perfect game; empty: another of the same set
    lying: bool = False  # whether false statements are believed; else they are rejected
    target: Literal["exact", "free"] = "exact"  # whether its choice follows from its knowledge
    notes: tuple[tuple[Cell, ...], ...] = ()  # the cells of each note; empty: messages are texts

    @cached_property
    def seats(self) -> tuple[Seat, ...]:  # type: ignore[override]
        return (PERSUADER, TARGET) if self.target == "free" else (PERSUADER,)

    @cached_property
    def helpers(self) -> tuple[Seat, ...]:  # type: ignore[override]
        return (READER,) if self.target == "free" else (READER, TARGET)

    def __post_init__(self) -> None:
        if self.messages < 1 or self.limit < 1:
            raise BadInput("messages and limit must be at least 1")
        if (self.variant == "non_mental") == self.tale.mental:
            raise BadInput(f"variant {self.variant} does not fit the story {self.tale.name!r}")
        if len(self.tale.attribute) != len(self.problem.target_values):
            raise BadInput(
                f"the story {self.tale.name!r} has {len(self.tale.attribute)} attributes, but the "
                f"puzzle has {len(self.problem.target_values)}"
            )
        if any(cell not in self.problem.cells for note in self.notes for cell in note):
            raise BadInput("notes must list cells of the puzzle, as pairs of row and column")
        if self.notes and not 2 <= len(self.notes) <= len(NOTE_LETTERS):
            raise BadInput(f"a game with notes needs 2 to {len(NOTE_LETTERS)} of them")
        if self.notes and self.discrete:
            raise BadInput("notes are shown as sentences, so variant discrete_game has none")
        if self.variant == "perfect_game" and not self.example_puzzle.winning:
            raise BadInput(
                "variant perfect_game needs an example puzzle with a set of disclosures that wins"
            )

    # --- the problem ----------------------------------------------------------------------------

    @property
    def discrete(self) -> bool:
        """Whether messages are JSON, which the rules parse without a reader."""
        return self.variant == "discrete_game"

    @cached_property
    def problem(self) -> Puzzle:
        """The puzzle being played."""
        return self.puzzle or frozen.puzzle(self.collection, self.number)

    @cached_property
    def example_puzzle(self) -> Puzzle:
        """The puzzle used in the prompt's example of a perfect game; it is never the puzzle
        being played."""
        if self.example is not None:
            return self.example
        others = frozen.frozen("variants" if self.puzzle is None else "standard").puzzles
        ours = [p for p in others if p.utilities != self.problem.utilities]
        return ours[(self.number + 1) % len(ours)]

    @cached_property
    def tale(self) -> Story:
        """The cover story."""
        if self.cover is not None:
            return self.cover
        first = NON_MENTAL if self.variant == "non_mental" else stories()[0].name
        try:
            return story(self.story or first)
        except KeyError as error:
            raise BadInput(str(error.args[0])) from None

    @cached_property
    def names(self) -> Names:
        """The names of proposals and attributes."""
        return self.tale.names(self.problem.letters)

    def brief(self, seat: Seat) -> Brief:
        """Return a seat's initial information; the target gets only its visible cells."""
        puzzle = self.problem
        if seat == TARGET:
            visible_effects = tuple(
                tuple(u if (p, a) in puzzle.visible else None for a, u in enumerate(row))
                for p, row in enumerate(puzzle.utilities)
            )
            return Brief(visible_effects, likes=puzzle.target_values)
        if seat == READER:
            return Brief(puzzle.utilities)
        if self.condition == "hidden":
            return Brief(puzzle.utilities, puzzle.goal)
        known_cells = tuple(sorted(puzzle.visible))
        return Brief(puzzle.utilities, puzzle.goal, puzzle.target_values, known_cells)

    # --- who moves, and how ---------------------------------------------------------------------

    def start(self) -> State:
        return State(first_mind(self.problem))

    def to_move(self, state: State) -> tuple[Seat, ...]:
        if state.claims is not None:
            return (TARGET,)
        if state.draft is not None:
            return (READER,)
        return (PERSUADER,) if state.sent < self.messages else ()

    def options(self, state: State, seat: Seat) -> Options[Action]:
        if seat == TARGET and self.target == "free":  # it answers truthfully and chooses freely
            exact_answer = self.exact(state).answer
            return tuple(Reply(exact_answer, p) for p in range(len(self.problem.utilities)))
        if seat == TARGET:
            return (self.exact(state),)
        if seat == READER:
            return (self._claims,)
        if self.notes:
            return tuple(Tell(note) for note in range(len(self.notes)))
        return (Form(Say, (("text", Text(LONGEST, samples=self._samples)),)),)

    @cached_property
    def _claims(self) -> Form[Action]:
        return claims_form(self.names, len(self.problem.cells))

    @cached_property
    def _samples(self) -> tuple[str, ...]:
        return samples(self.names, self.problem, self.discrete)

    # --- what happens ---------------------------------------------------------------------------

    def step(self, state: State, moves: Mapping[Seat, Action]) -> State:
        (action,) = moves.values()
        match action:
            case Say(text):
                return self._send_message(state, text)
            case Tell(note):
                return self._read(
                    state, in_sentences(self.claims_of(note), self.names), self.claims_of(note)
                )
            case Claims():
                return self._read(state, state.draft or "", action)
            case Reply():
                return self._apply_reply(state, action)

    def forfeit(
        self, state: State, moves: Mapping[Seat, Action], forfeited: tuple[Seat, ...]
    ) -> State:
        """Count a missing message as one of the persuader's messages; if the target gives no
        answer, it keeps its choice."""
        if state.claims is not None:
            return self._apply_reply(
                state, Reply(self.exact(state).answer, self.current_choice(state))
            )
        return msgspec.structs.replace(
            state, sent=state.sent + 1, refused=0, story=(*state.story, Exchange())
        )

    def claims_of(self, note: int) -> Claims:
        """Return what a note discloses."""
        names = self.names
        return claims(
            Disclosure(names.proposals[row], names.attributes[column], self.problem.utility(cell))
            for cell in self.notes[note]
            for row, column in (cell,)
        )

    def rejections(self, state: State, seat: Seat) -> int:
        return state.refused if seat == PERSUADER else 0

    def message(self, text: str) -> str:
        """Return the part of a text that reaches the target: without thoughts, truncated at the
        limit."""
        message_text = split_message(text)[1]
        return message_text if self.discrete else message_text[: self.limit]

    def _send_message(self, state: State, text: str) -> State:
        message = self.message(text)
        if not message:
            return _turned_down(state, Exchange(text, problem="There is no message in it."))
        if not self.discrete:
            return msgspec.structs.replace(state, draft=text)
        try:
            return self._read(state, text, parse_discrete(message, self.names))
        except BadMessage as error:
            return _turned_down(state, Exchange(text, problem=str(error)))

    def _read(self, state: State, text: str, message_claims: Claims) -> State:
        """Accept a message, or reject all of it if it states any false effect; a rejection uses no
        turn.

        An ambiguous message is also rejected, with a request for clarification.
        """
        false = () if self.lying else falsehoods(message_claims, self.problem, self.names)
        if false:
            return _turned_down(state, Exchange(text, message_claims, false=false))
        if message_claims.unclear:
            return _turned_down(
                state, Exchange(text, message_claims, problem=self._two_ways(message_claims))
            )
        return msgspec.structs.replace(state, draft=text, claims=message_claims)

    def _two_ways(self, message_claims: Claims) -> str:
        """Return the request to clarify an ambiguous message."""
        first = message_claims.unclear[0]
        statement = f"{self.names.noun} {first.proposal} {EFFECTS[first.utility]} {first.attribute}"
        return (
            f"It can be read in two ways: does it say that {statement}? "
            f"Write again, and name each {self.names.noun} with what it does."
        )

    # --- the target -----------------------------------------------------------------------------

    def believed_falsehoods(self, state: State) -> Beliefs:
        """Return the falsehoods that the target believes, including those of the pending
        message."""
        beliefs = dict(state.believed)
        for told_of in state.claims.disclosures if state.claims is not None else ():
            cell = self.names.cell(told_of.proposal, told_of.attribute)
            beliefs.pop(cell, None)  # since told the truth, or something else
            if told_of.utility != self.problem.utility(cell):
                beliefs[cell] = told_of.utility
        return tuple(beliefs.items())

    def world(self, state: State) -> Puzzle:
        """Return the puzzle as the target sees it, with its beliefs in place of the facts."""
        if not (false := dict(self.believed_falsehoods(state))):
            return self.problem
        rows = tuple(
            tuple(false.get((p, a), u) for a, u in enumerate(row))
            for p, row in enumerate(self.problem.utilities)
        )
        return msgspec.structs.replace(self.problem, utilities=rows)

    def current_choice(self, state: State) -> int:
        """Return the target's current choice: for an exact target, the choice implied by its
        knowledge; for a target that chooses freely, its latest choice."""
        if self.target == "exact":
            return choice_of(self.world(state), state.mind)
        answered = [x.chosen for x in state.story if x.answer is not None]
        return answered[-1] if answered else self.problem.initial

    def _mind(self, state: State) -> Mind:
        """Return the target's mind after the pending message."""
        assert state.claims is not None
        cells, world = disclosed_cells(state.claims, self.names), self.world(state)
        mind = learn_cells(world, state.mind, cells, self.memory)
        if self.discrete and state.claims.inferential:
            return remember_choice(world, mind)
        return mind

    def exact(self, state: State) -> Reply:
        """Return the only answer that follows from the target's knowledge and likes."""
        assert state.claims is not None
        mind, world = self._mind(state), self.world(state)
        return Reply(answer(world, mind, state.claims, self.names), choice_of(world, mind))

    def _apply_reply(self, state: State, reply: Reply) -> State:
        assert state.claims is not None
        done = Exchange(state.draft or "", state.claims, reply.answer, reply.chosen)
        story, sent = (*state.story, done), state.sent + 1
        return State(self._mind(state), story, sent=sent, believed=self.believed_falsehoods(state))

    # --- what is seen, and what it pays ---------------------------------------------------------

    def observe(self, state: State, seat: Seat) -> View:
        is_persuader, free = seat == PERSUADER, self.target == "free"
        story = tuple(
            Seen(x.text, x.answer, x.false, x.problem)
            if is_persuader
            else Seen(self.message(x.text), x.answer, chosen=x.chosen if free else -1)
            for x in state.story
            if is_persuader or x.answer is not None
        )
        draft = state.draft or ""
        is_over = seat in self.seats and not self.to_move(state)
        best = (
            ranking(values(self.world(state), state.mind.known))[0] if is_over and not free else ()
        )
        return View(
            seat,
            self.brief(seat),
            story,
            state.sent,
            draft if is_persuader else self.message(draft),
            state.claims if seat == TARGET else None,
            self.current_choice(state) if is_over else None,
            len(best) > 1,
        )

    def payoffs(self, state: State) -> Mapping[Seat, float]:
        chosen = self.current_choice(state)
        paid = {PERSUADER: float(chosen == self.problem.goal)}
        if self.target == "exact":
            return paid
        true_values = values(self.problem, self.problem.cells)  # the true value of its choice to it
        return {**paid, TARGET: float(true_values[chosen])}


def _turned_down(state: State, tried: Exchange) -> State:
    return msgspec.structs.replace(
        state, draft=None, refused=state.refused + 1, story=(*state.story, tried)
    )
