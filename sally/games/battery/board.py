"""What is shown beside a question of the game `battery`, which asks about people in stories: the
story."""

from __future__ import annotations

from itertools import accumulate

from sally.core.errors import join_names
from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Note, Notes, Part, Reveal, Row, Table
from sally.core.rules.replay import Trajectory
from sally.games.battery.rules import Battery, State, View

MOST_STORIES = 3  # at the end; the first that were answered wrongly


def BOARD(context: SeatContext, view: View) -> Board:
    """Return the story as paragraphs; nothing is highlighted, because that would hint at an
    answer."""
    parts: list[Part] = []
    if view.asked is not None:
        lines = [line for line in view.asked.story.split("\n") if line.strip()]
        parts.append(Notes("The story", tuple(Note("", line) for line in lines)))
    return Board(tuple(parts))


def REVEAL(context: SeatContext, replay: Trajectory[State, int, View]) -> Reveal:
    """Return every question with the answer given and the right one."""
    game, answers = replay.rules(Battery), replay.present.answers
    numbers = list(accumulate(not turn.practice for turn in game.schedule))
    rows = tuple(
        Row(
            f"Practice: {turn.item.question}" if turn.practice else f"{n}. {turn.item.question}",
            (
                Cell(
                    "–" if answer is None else turn.item.options[answer],
                    "good" if answer == turn.item.answer else "bad",
                ),
                Cell(turn.item.options[turn.item.answer]),
            ),
        )
        for n, turn, answer in zip(numbers, game.schedule, answers, strict=False)
    )
    scored = [
        answer == turn.item.answer
        for turn, answer in zip(game.schedule, answers, strict=False)
        if not turn.practice
    ]
    missed_questions: dict[
        str, list[str]
    ] = {}  # by story: the numbers of its questions answered wrongly
    for n, turn, answer in zip(numbers, game.schedule, answers, strict=False):
        if not turn.practice and answer != turn.item.answer:
            missed_questions.setdefault(turn.item.story, []).append(str(n))
    parts: list[Part] = [Table("Your answers", ("you said", "right"), rows, "question")]
    for story, questions in list(missed_questions.items())[:MOST_STORIES]:
        lines = [line for line in story.split("\n") if line.strip()]
        noun = "question" if len(questions) == 1 else "questions"
        caption = f"The story of {noun} {join_names(questions, 'and')}, answered wrongly"
        parts.append(Notes(caption, tuple(Note("", line) for line in lines)))
    exclusion = " (the practice does not count)" if len(scored) < len(rows) else ""
    explanation = (
        f"{sum(scored)} of {len(scored)} answers were right{exclusion}. Keep in mind that people "
        "act on what they saw or were told."
    )
    return Reveal(explanation, parts=tuple(parts))


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: a story with its question and answer."""
    story = ("Ann puts the ball into the box and leaves.", "Ben moves the ball to the basket.")
    question = Note("", "Where does Ann look for the ball first? Right answer: in the box.")
    return (
        Notes("Example", tuple(Note("", line) for line in story)),
        Notes("The question about it", (question,)),
    )
