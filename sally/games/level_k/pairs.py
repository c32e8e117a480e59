"""Pairs of the request game: who read which note decides how much the other player asks for.

Two notes, P and Q, are read early and again late. In one member the other player reads Q early and
P late, in the other member P early and Q late; a rival reads what the other player leaves out. So
four lines differ, in which two names are exchanged. At order 2 the lines say who saw the asked
player read a note: the other player replies to what it takes the asked player to believe.
Further readings of shared notes come before, between and after these lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from sally.core.log.events import PlayerSpec
from sally.core.rules.chance import Stream
from sally.core.rules.pair import Member, PairRecipe, QuestionKind
from sally.core.rules.simultaneous import State
from sally.games.level_k.minds import level_odds, note_reader
from sally.games.level_k.notes import OTHER, Note, Notes, Reading
from sally.games.level_k.rules import SEATS, LevelGame, View
from sally.games.level_k.solvers import Odds, best_replies

NAMES = (
    "Amara", "Bruno", "Chiara", "Dilan", "Edith", "Farid", "Greta", "Hugo", "Imani", "Jonas",
    "Keiko", "Leila", "Marek", "Nadia", "Oscar", "Petra", "Rosa", "Sven", "Tariq", "Vera",
)  # fmt: skip
COLOURS = ("red", "blue", "green", "white", "black", "grey", "brown", "pink", "yellow", "orange")
PERSONS = 4
RIVAL = 1
FIRST, SECOND = 0, 1  # the notes between which the members differ
SHARED = (2, 3)  # notes about the same player, read alike in both members
UNTRUE = (4, 5)  # at order 2: notes about the asked player
LOWEST = 14  # amount on a note of which three steps down are still on the menu
FEWEST_APART = 3  # between the two notes, so a slip of one or two steps is not crosswise
MOST_FILLS = 2
FEWEST_LINES = 14
CONFIDENCES = (1.0, 0.9, 0.8, 0.7)
YOU, THEM = SEATS[:2]


# --- construction ---------------------------------------------------------------------------------


def _draw(chance: Stream, order: int) -> tuple[Member, Member]:
    first_lines, second_lines = _draw_lines(chance, order)
    people = tuple(chance.shuffled(NAMES)[:PERSONS])
    notes = _draw_notes(chance, order)
    places = chance.shuffled(range(len(notes)))  # the notes are listed in any order
    first, second = (
        Member(
            {
                "notes": msgspec.to_builtins(
                    Notes(
                        people,
                        tuple(notes[number] for number in places),
                        tuple(
                            Reading(line.person, places.index(line.note), line.sees_you)
                            for line in lines
                        ),
                    )
                )
            },
            (),
            {THEM: PlayerSpec("note_reader")},
        )
        for lines in (first_lines, second_lines)
    )
    return first, second


def _draw_notes(chance: Stream, order: int) -> list[Note]:
    """Return the notes with different amounts and colours."""
    count = len((FIRST, SECOND, *SHARED, *(UNTRUE if order == 2 else ())))
    colours = chance.shuffled(COLOURS)[:count]
    while True:
        amounts = chance.shuffled(range(LOWEST, 21))[:count]
        if abs(amounts[FIRST] - amounts[SECOND]) >= FEWEST_APART:
            break
    return [
        Note(colour, amount, "other" if order == 2 and number not in UNTRUE else "you")
        for number, (colour, amount) in enumerate(zip(colours, amounts, strict=True))
    ]


def _draw_lines(chance: Stream, order: int) -> tuple[list[Reading], list[Reading]]:
    """Return the readings of both members."""
    sees_you = order == 2
    outsiders = range(RIVAL + 1, PERSONS)

    def fill(notes: tuple[int, ...]) -> list[Reading]:
        """Return readings of people who do not matter, so no line is known by its number."""
        count = 1 + chance.below(MOST_FILLS)
        return [Reading(chance.pick(outsiders), chance.pick(notes), sees_you) for _ in range(count)]

    def share(person: int) -> Reading:
        return Reading(person, chance.pick(SHARED), sees_you)

    every_note = (FIRST, SECOND, *SHARED)
    lines = chance.shuffled([share(OTHER), share(RIVAL), *fill(every_note)])
    exchanged: list[int] = []
    for is_late in (False, True):
        for note in chance.shuffled((FIRST, SECOND)):
            exchanged.append(len(lines))
            lines.append(Reading(OTHER if (note == FIRST) == is_late else RIVAL, note, sees_you))
            lines += fill(every_note)
        if not is_late:
            lines += chance.shuffled([share(OTHER), share(RIVAL), *fill(every_note)])
    lines += chance.shuffled([share(RIVAL), *fill((FIRST,)), *fill((SECOND,))])
    lines += fill(every_note)
    names = {OTHER: RIVAL, RIVAL: OTHER}
    others = [
        msgspec.structs.replace(line, person=names[line.person]) if number in exchanged else line
        for number, line in enumerate(lines)
    ]
    return (lines, others) if order == 1 else _insert_untrue(chance, lines, others)


def _insert_untrue(
    chance: Stream, lines: list[Reading], others: list[Reading]
) -> tuple[list[Reading], list[Reading]]:
    """Return both members with readings of notes about the asked player at the same places."""
    members = list(lines), list(others)
    for person in chance.shuffled((OTHER, OTHER, RIVAL, *range(RIVAL + 1, PERSONS))):
        place, note = chance.below(len(members[0]) + 1), chance.pick(UNTRUE)
        for member in members:
            member.insert(place, Reading(person, note))
    return members


# --- answers --------------------------------------------------------------------------------------


def _notes(game: LevelGame) -> Notes:
    assert game.notes is not None
    return game.notes


def _reply(game: LevelGame, seat: Any, expected: Odds) -> int:
    replies = best_replies(game, seat, [expected])
    assert replies is not None
    return replies[0]


def _truth(game: LevelGame, state: State, others: Mapping[str, PlayerSpec]) -> int:
    return next(iter(note_reader(game, THEM).does(None)))  # type: ignore[arg-type]


def _best_moves(game: LevelGame, view: View, predicted: int) -> tuple[int, ...]:
    return best_replies(game, YOU, [{predicted: 1.0}]) or ()


def _minds(game: LevelGame, view: View, order: int) -> Iterator[int]:
    """Yield the requests of minds that believe a note, and one another's replies, with different
    confidence."""
    notes = _notes(game)
    for confidence in CONFIDENCES:
        expected = notes.amounts_read()[-1]
        for seat in (YOU, THEM)[2 - notes.depth :]:
            expected = _reply(game, seat, _unsure(game, expected, confidence))
        yield expected


def _unsure(game: LevelGame, amount: int, confidence: float) -> Odds:
    """Return odds of an amount, with the rest spread evenly over the menu."""
    menu = game.menu(YOU)
    return {
        number: (1 - confidence) / len(menu) + confidence * (number == amount) for number in menu
    }


def _reason(game: LevelGame, view: View, order: int) -> int:
    """Return the answer of a reasoner.

    Order 0 expects the highest request; order 1 expects the best reply to the last note that the
    other player read; order 2 goes by the last note that the other saw the asked player read.
    """
    notes = _notes(game)
    if order == 0:
        return max(game.menu(THEM))
    depth = min(order, notes.depth)
    amount = notes.amounts_read(depth)[-1]
    for seat in (YOU, THEM)[2 - depth :]:
        amount = _reply(game, seat, {amount: 1.0})
    return amount


# --- rules that do not ask who read what ----------------------------------------------------------

Choose = Callable[[Notes], int | None]  # the amount on the note that a rule goes by


def _choosers(order: int) -> Mapping[str, Choose]:
    """Return the notes that mindless rules go by, as amounts."""
    choosers: dict[str, Choose] = {}
    for number in range(FEWEST_LINES):
        choosers[f"line {number + 1}"] = partial(_line, number)
        choosers[f"line {number + 1} from the end"] = partial(_line, -1 - number)
    for number in range(4 if order == 1 else 6):
        choosers[f"note {number + 1} on the list"] = partial(_listed_note, number)
    choosers["highest note"] = lambda notes: max(note.amount for note in notes.notes)
    choosers["lowest note"] = lambda notes: min(note.amount for note in notes.notes)
    for sign, word in ((1, "most"), (-1, "least")):
        choosers[f"note read {word}"] = partial(_most_read, sign, None)
        for person in range(PERSONS):
            name = f"note read {word} by person {person + 1}"
            choosers[name] = partial(_most_read, sign, person)
    for person in range(PERSONS):
        choosers[f"first note of person {person + 1}"] = partial(_of_person, person, 0)
        if person != OTHER:
            choosers[f"last note of person {person + 1}"] = partial(_of_person, person, -1)
    choosers["note of the other player before its last"] = partial(_of_person, OTHER, -2)
    if order == 2:
        choosers["last note that the other player read"] = lambda notes: notes.amounts_read(1)[-1]
        choosers["first note that the other player read"] = lambda notes: notes.amounts_read(1)[0]
    return choosers


def _line(number: int, notes: Notes) -> int:
    return notes.notes[notes.readings[number].note].amount


def _listed_note(number: int, notes: Notes) -> int:
    return notes.notes[number].amount


def _of_person(person: int, number: int, notes: Notes) -> int | None:
    """Return the amount on a note that a person read, or at order 2 saw being read; None if there
    is no such note."""
    sees_you = notes.depth == 2
    readings = [r for r in notes.readings if r.person == person and r.sees_you == sees_you]
    return notes.notes[readings[number].note].amount if readings else None


def _most_read(sign: int, person: int | None, notes: Notes) -> int | None:
    """Return the amount on the note read most (or least) often; None if the person read none."""
    counts = Counter(
        reading.note for reading in notes.readings if person is None or reading.person == person
    )
    if not counts:
        return None
    return notes.notes[max(sorted(counts), key=lambda note: sign * counts[note])].amount


def _follow(
    choose: Choose, steps: int, game: LevelGame, view: View, question: QuestionKind
) -> int | None:
    """Return an amount some steps below that of the chosen note; for a move, one step more."""
    amount = choose(_notes(game))
    if amount is None:
        return None
    menu = game.menu(YOU)
    return max(menu[0], amount - steps - (question == "do"))


def _play_level(k: int, game: LevelGame, view: View, question: QuestionKind) -> int:
    return next(iter(level_odds(game, YOU, k + (question == "do"))))


def _rules(order: int) -> Mapping[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {
        f"{name}, less {steps}": partial(_follow, choose, steps)
        for name, choose in _choosers(order).items()
        for steps in range(3)
    }
    return rules | {f"level {k} without notes": partial(_play_level, k) for k in range(4)}


PAIRS = (
    PairRecipe(
        name="notes",
        title="request game with notes",
        game="eleven_twenty",
        about="the other player and a rival exchange the notes that they read, or that they see "
        "the asked player read",
        seat=YOU,
        probe="their_move",
        subject=THEM,
        orders=(1, 2),
        draw=_draw,
        truth=_truth,
        best_moves=_best_moves,
        minds=_minds,
        minds_about="players that believe the note in question with a probability of .7 to 1, "
        "expect anything else to be equally likely, and maximise expected money",
        rules=_rules,
        reason=_reason,
    ),
)
