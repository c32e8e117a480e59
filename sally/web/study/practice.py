"""Feedback on practice games: what the participant and the others did, turn by turn."""

from __future__ import annotations

from typing import Any

import msgspec

from sally.core.display.reveal import ending_of
from sally.core.log.events import Censored, Episode, Moved, Reported
from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Note, Table
from sally.frames.replays import replay_for_measures
from sally.web.live.screen_text import plain_board
from sally.web.study.definition import HumanStudy
from sally.web.study.tables import move_label, probe_row, turn_points
from sally.web.texts import ENGLISH


class PracticeTurn(msgspec.Struct, frozen=True):
    """Feedback on one turn of a practice game."""

    number: int  # from 1; turns of nature are not counted
    own: str  # the participant's choice; empty if there was none
    others: tuple[tuple[str, str], ...]  # role and choice of the other seats
    points: float | None
    predictions: tuple[tuple[str, str, bool | None], ...]  # answer, truth, whether it was right


class PracticeFeedback(msgspec.Struct, frozen=True):
    """Feedback on a practice game."""

    turns: tuple[PracticeTurn, ...]
    payoff: float | None
    why: str = ""  # one sentence; empty if the game stopped early or is not told in this language
    hidden: tuple[Note, ...] = ()
    tables: tuple[Table, ...] = ()  # of the board with everything open

    @property
    def has_predictions(self) -> bool:
        return any(turn.predictions for turn in self.turns)

    @property
    def with_points(self) -> bool:
        return any(turn.points is not None for turn in self.turns)


def feedback(study: HumanStudy, episode: Episode, seat: str) -> PracticeFeedback:
    """Return what a participant and the others did in a practice game, turn by turn."""
    played_episode, spoken = (
        replay_for_measures(episode),
        study.people_texts.get(episode.setup.instance.game),
    )
    seats, seed = played_episode.replay.game.seats, episode.setup.seed
    contexts = {
        str(game_seat): SeatContext(
            played_episode.spec, played_episode.replay.game, game_seat, seed, spoken
        )
        for game_seat in seats
    }
    context, labels = contexts[seat], study.labels
    plainly = labels.plainly(context)
    moved = [e for e in episode.events if isinstance(e, Moved) and e.seat in seats]
    reports = [e for e in episode.events if isinstance(e, Reported) and e.source == "probe"]
    own_reports = [e for e in reports if e.seat == seat]
    turns: list[PracticeTurn] = []
    for turn in sorted({event.turn for event in (*moved, *own_reports)}):
        # a move is named by its mover: "tell Bob" is said by another than Bob
        moves = {
            e.seat: plainly(move_label(played_episode, contexts[e.seat], e))
            for e in moved
            if e.turn == turn
        }
        answers = [e for e in own_reports if e.turn == turn]
        turns.append(
            PracticeTurn(
                len(turns) + 1,
                moves.get(seat, ""),
                tuple((labels.role(context, s), m) for s, m in moves.items() if s != seat),
                turn_points(played_episode, turn, seat) if seat in moves else None,
                tuple(_prediction(probe_row(played_episode, context, e)) for e in answers),
            )
        )
    end = episode.end
    payoff = None if isinstance(end, Censored) else end.payoffs.get(seat)
    if payoff is None or study.language != ENGLISH:  # games tell the end in English
        return PracticeFeedback(tuple(turns), payoff)
    ending = ending_of(context, played_episode.replay)
    board = plain_board(ending.board, plainly)
    return PracticeFeedback(
        tuple(turns),
        payoff,
        plainly(ending.why),
        tuple(Note(plainly(note.label), plainly(note.text), note.mark) for note in ending.hidden),
        tuple(part for part in (board.parts if board else ()) if isinstance(part, Table)),
    )


def _prediction(row: dict[str, Any]) -> tuple[str, str, bool | None]:
    """Return an answer to a probe, the truth, and whether the answer was right."""
    answer, truth = (row["label"], row["answer"]), (row["truth_label"], row["truth"])
    return _label_or_value(*answer), _label_or_value(*truth), row["correct"]


def _label_or_value(label: str | None, value: Any) -> str:
    """Return the label or, without a label, the value as text."""
    if label is not None or value is None:
        return label or "–"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {element}" for key, element in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
