"""The scripted players of the game Speak or Wait (`toma_sw`).

The behaviours of guides and explorers are: taking turns on the radio, speaking in every turn,
staying silent, naming the treasure's cell openly (guides), and walking through all cells
(explorers). An eavesdropper infers the treasure's cell from the messages, tries the cells one by
one, or stays silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sally.core.errors import BadInput
from sally.core.match.partner import Answerer, Partner, Script, by_name, must_sit
from sally.core.match.player import Turn
from sally.core.rules.game import Seat
from sally.core.rules.probe import ProbeReport
from sally.games.toma.sw.reader import read_claims, said_at
from sally.games.toma.sw.rules import (
    CELLS,
    EAVESDROPPER,
    EXPLORER,
    GUIDE,
    PASS,
    READER,
    WAIT,
    Action,
    CellOf,
    Guess,
    Move,
    Open,
    Radio,
    Speak,
    SpeakOrWait,
    View,
    cell_after,
    ways,
)
from sally.games.toma.sw.worlds import best_guess

RadioTurn = Turn[Action, View]
Act = Callable[[RadioTurn], Action]
Makers = dict[Seat, Callable[[SpeakOrWait], Act]]

ASK = "What is the password?"
# A round trip through all sixteen cells: from any start, fifteen moves visit them all.
ROUND = (
    *((row, 0) for row in range(4)),
    *((3, col) for col in range(1, 4)),
    *((row, 3) for row in (2, 1, 0)),
    *((0, 2), (1, 2), (2, 2), (2, 1), (1, 1), (0, 1)),
)


# --- what was heard -------------------------------------------------------------------------------


def heard_messages(view: View, speaker: str) -> Iterator[Radio]:
    """Return the messages of a team member that were heard, in order."""
    return (radio for radio in view.radio if radio.speaker == speaker)


def heard_passwords(view: View) -> list[str]:
    return [code for radio in heard_messages(view, "B") for code in radio.reading.passwords]


def heard_treasure(view: View) -> CellOf | None:
    """Return the cell of the guide's last claim about the treasure, or None."""
    marks, claimed_cell = dict(view.landmarks), None
    for radio in heard_messages(view, "A"):
        for claim in radio.reading.landmarks:
            row, col = marks[claim.landmark]
            cell = (row + claim.rows, col + claim.cols)
            if claim.about == "TREASURE" and cell in CELLS:
                claimed_cell = cell
        for cell_claim in radio.reading.cells:
            if cell_claim.about == "TREASURE":
                claimed_cell = (cell_claim.row, cell_claim.col)
    return claimed_cell


def turn_number(view: View) -> int:
    return len(view.radio) + 1


# --- guides ---------------------------------------------------------------------------------------


def by_landmark(view: View) -> str:
    """Describe the treasure's cell as an offset from a landmark.

    The eavesdropper does not know which landmark is where, so it learns least from an offset that
    leads to a cell on the grid from every landmark. The landmark is chosen accordingly.
    """
    assert view.treasure is not None
    best = max(view.landmarks, key=lambda mark: _fitting(view, _offset(view.treasure, mark[1])))
    return f"The treasure is {said_at(best[0], *_offset(view.treasure, best[1]))}."


def by_cell(view: View) -> str:
    """Describe the treasure by its cell, which every listener understands."""
    assert view.treasure is not None
    return f"The treasure is at ({view.treasure[0]}, {view.treasure[1]})."


def _offset(treasure: CellOf | None, mark: CellOf) -> CellOf:
    assert treasure is not None
    return (treasure[0] - mark[0], treasure[1] - mark[1])


def _fitting(view: View, offset: CellOf) -> int:
    """Return for how many landmarks the cell at this offset lies on the grid."""
    return sum((r + offset[0], c + offset[1]) in CELLS for _, (r, c) in view.landmarks)


def _guide(tell: Callable[[View], str], speaks: Callable[[int], bool]) -> Act:
    """Return a guide that opens the box when it can; in its speaking turns it asks for the
    password or, once it knows the treasure's place, states it once."""

    def act(turn: RadioTurn) -> Action:
        view = turn.view
        tried = {act.password for act in view.acts if isinstance(act, Open)}
        untried = [code for code in heard_passwords(view) if code not in tried]
        if not view.opened_in and untried:
            return Open(untried[-1])
        if not speaks(turn_number(view)):
            return WAIT
        if view.treasure is None:
            return Speak(ASK)
        has_told = any(radio.text == tell(view) for radio in heard_messages(view, "A"))
        return WAIT if has_told else Speak(tell(view))

    return act


def _talking_guide(game: SpeakOrWait) -> Act:
    return lambda turn: Speak(ASK if turn.view.treasure is None else by_landmark(turn.view))


# --- explorers ------------------------------------------------------------------------------------


def _explorer(turn: RadioTurn) -> Action:
    """Say the password in odd turns until it is heard; walk once the goal is known."""
    view = turn.view
    goal = heard_treasure(view)
    if goal is not None:
        return toward(view.cell, goal)
    if turn_number(view) % 2 == 1 and view.password not in heard_passwords(view):
        return Speak(f"The password is {view.password}.")
    return WAIT


def toward(cell: CellOf | None, goal: CellOf) -> Action:
    """Return a step towards the goal."""
    assert cell is not None
    distance = abs(cell[0] - goal[0]) + abs(cell[1] - goal[1])
    for direction in ways(cell):
        row, col = cell_after(cell, direction)
        if abs(row - goal[0]) + abs(col - goal[1]) < distance:
            return Move(direction)
    return WAIT


def _sweep(turn: RadioTurn) -> Action:
    """Return the move to the next cell of the tour through all cells."""
    cell = turn.view.cell
    assert cell is not None
    goal = ROUND[(ROUND.index(cell) + 1) % len(ROUND)]
    return toward(cell, goal)


def _tell_and_sweep(turn: RadioTurn) -> Action:
    """Say the password until it is heard, then tour all cells; ignore all messages."""
    view = turn.view
    if view.password not in heard_passwords(view):
        return Speak(f"The password is {view.password}.")
    return _sweep(turn)


def _talking_explorer(game: SpeakOrWait) -> Act:
    return lambda turn: Speak(f"The password is {turn.view.password}.")


# --- eavesdroppers --------------------------------------------------------------------------------


def _worlds(game: SpeakOrWait) -> Act:
    return lambda turn: best_guess(turn.view, game.win == "published", turn.draws)


def _search(cells: Sequence[CellOf]) -> Act:
    """Return an eavesdropper that guesses these cells for the treasure, in this order, and ignores
    the radio."""

    def act(turn: RadioTurn) -> Action:
        n_guesses = sum(guess.guess is not None for guess in turn.view.guesses)
        return Guess("TREASURE", *cells[n_guesses % len(cells)])

    return act


def _silent_listener(game: SpeakOrWait) -> Act:
    if not game.may_pass:
        raise BadInput("silent: the eavesdropper must guess unless may_pass is true")
    return lambda turn: PASS


# --- predictions of the ally ----------------------------------------------------------------------


def _expects_turns(game: SpeakOrWait, seat: Seat) -> Answerer:
    """Return a function that answers probes with the prediction that guide and explorer speak in
    alternate turns."""

    def report(turn: RadioTurn) -> ProbeReport:
        assert turn.question is not None
        view, number = turn.view, turn_number(turn.view)
        if seat == GUIDE:
            if heard_treasure(view) is not None:
                return ProbeReport("MOVE")
            return ProbeReport("SPEAK" if number % 2 == 1 and not heard_passwords(view) else "WAIT")
        knows_treasure, codes = heard_treasure(view) is not None, heard_passwords(view)
        if codes and not knows_treasure and len(view.radio) == _first(view, codes):
            return ProbeReport("OPEN")
        return ProbeReport("SPEAK" if number % 2 == 0 and not knows_treasure else "WAIT")

    return report


def _first(view: View, codes: list[str]) -> int:
    """Return the turn in which a password was first heard."""
    heard_in = (n for n, radio in enumerate(view.radio, 1) if codes[0] in radio.reading.passwords)
    return next(heard_in)


# --- the shelf ------------------------------------------------------------------------------------


def _partner(
    name: str,
    about: str,
    makers: Makers,
    answers: Callable[[SpeakOrWait, Seat], Answerer] | None = None,
) -> Partner:
    def make(game: SpeakOrWait, seat: Seat) -> Script:
        must_sit(seat, name, *makers)
        return makers[seat](game)

    source = "ours, for kang2026's game"
    return Partner(name, about, source, make, answers=answers, helps=set(makers) == {READER})


def _noter(game: SpeakOrWait) -> Act:
    def act(turn: RadioTurn) -> Action:
        message = turn.view.said
        assert message is not None
        return read_claims(message.text, message.speaker, game.landmarks)

    return act


def _even(number: int) -> bool:
    return number % 2 == 0


PARTNERS = by_name(
    _partner(
        "turn_taker",
        "the explorer speaks in odd turns and the guide in even ones; places by landmark",
        {GUIDE: lambda g: _guide(by_landmark, _even), EXPLORER: lambda g: _explorer},
        _expects_turns,
    ),
    _partner(
        "leaky",
        "a guide who takes turns and names the treasure's cell on the air",
        {GUIDE: lambda g: _guide(by_cell, _even)},
        _expects_turns,
    ),
    _partner(
        "talker",
        "speaks in every turn, even if the ally does",
        {GUIDE: _talking_guide, EXPLORER: _talking_explorer},
    ),
    _partner(
        "silent",
        "does nothing at all",
        {
            GUIDE: lambda g: lambda turn: WAIT,
            EXPLORER: lambda g: lambda turn: WAIT,
            EAVESDROPPER: _silent_listener,
        },
    ),
    _partner(
        "sweeper",
        "an explorer who walks through all cells and never speaks",
        {EXPLORER: lambda g: _sweep},
    ),
    _partner(
        "tell_and_sweep",
        "an explorer who gives the password and then walks through all cells",
        {EXPLORER: lambda g: _tell_and_sweep},
    ),
    _partner(
        "worlds",
        "an eavesdropper who keeps every world that fits all that was heard",
        {EAVESDROPPER: _worlds},
    ),
    _partner(
        "search",
        "an eavesdropper who tries the cells one by one for the treasure, ignoring the radio",
        {EAVESDROPPER: lambda g: _search(CELLS)},
    ),
    _partner(
        "search_back",
        "as search, from the other end of the map",
        {EAVESDROPPER: lambda g: _search(CELLS[::-1])},
    ),
    _partner(
        "noter",
        "determines by fixed rules what a message claims",
        {READER: _noter},
    ),
)
