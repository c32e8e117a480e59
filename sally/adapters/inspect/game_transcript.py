"""An episode in Inspect's transcript, as a game: a text per turn, and a table at its end.

Inspect's viewer shows a text in an info event as Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from inspect_ai.log import transcript

from sally.analysis.decisions.costs import costs_by_turn
from sally.core.display.board import board_of
from sally.core.display.board_text import board_lines
from sally.core.display.scenes import Scene, ending, judge_scene
from sally.core.log.events import (
    Censored,
    Ended,
    Episode,
    Forfeited,
    Moved,
    Reported,
    Skipped,
    Told,
    label,
)
from sally.core.match.engine import Match
from sally.core.rules.game import NATURE, Seat

SHOWN = 120  # characters of a text in the transcript
COLUMNS = ("turn", "seat", "prediction", "truth", "move", "payoff", "cost")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~$])")


class GameTranscript:
    """Writes the turns of a match to Inspect's transcript when they are finished."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._logged = len(match.events)  # a position begins with a past
        self._scenes: list[Scene] = []

    def write_turns(self, *_: Any) -> None:
        """Write the turns that have been finished since the last call."""
        events = self._match.events[self._logged :]
        self._logged = len(self._match.events)
        for number, turn_events in groupby(events, lambda event: event.turn):
            scenes = [
                judge_scene(self._match, Scene(number, event.seat, event=event))
                for event in turn_events
                if not isinstance(event, Ended | Censored)
            ]
            self._scenes += scenes
            if scenes:
                lines = [*map(scene_line, scenes), *self._payoff_line(number)]
                turn_text = "\n".join(f"- {line}" for line in lines)
                transcript().info(turn_text, source=f"turn {number + 1}")

    def write_end(self, episode: Episode) -> None:
        """Write the whole game as a table, with the last position and the result."""
        self.write_turns()
        transcript().info("\n\n".join(self._sections(episode)), source="the game")

    def _sections(self, episode: Episode) -> Iterator[str]:
        setup = episode.setup
        players = ", ".join(
            f"**{seat}** is {as_plain(label(player))}" for seat, player in setup.lineup.items()
        )
        yield f"{as_plain(setup.instance.game)}: {players}"
        costs = {place: cost.loss for place, cost in costs_by_turn(episode).items()}
        yield markdown_table(COLUMNS, self._rows(costs))
        if drawing := self._last_position():
            yield f"```text\n{drawing}\n```"
        yield f"**{as_plain(ending(episode.end))}**"

    def _rows(self, costs: Mapping[tuple[int, str], float]) -> Iterator[list[str]]:
        for (turn, seat), scenes in _by_seat(self._scenes):
            reports = [scene for scene in scenes if isinstance(scene.event, Reported)]
            moves = [scene for scene in scenes if isinstance(scene.event, Moved | Forfeited)]
            cost = costs.get((turn, seat))
            yield [
                str(turn + 1),
                seat,
                "; ".join(f"{scene.probe}: {scene.answer}" for scene in reports),
                "; ".join(map(_truth_text, reports)),
                "; ".join(map(_move_text, moves)),
                _format_gain(self._gains(turn).get(seat)) if moves else "",
                "" if cost is None else f"{cost:g}",
            ]

    def _gains(self, turn: int) -> dict[str, float]:
        """Return what each seat gained in a turn; nothing if the game pays at its end."""
        game, replay = self._match.game, self._match.replay
        if not game.pays_as_it_goes or turn + 1 >= len(replay.states):
            return {}
        payoffs_before, payoffs_after = (game.payoffs(replay.states[n]) for n in (turn, turn + 1))
        return {
            str(seat): payoffs_after[seat] - payoffs_before.get(seat, 0.0) for seat in payoffs_after
        }

    def _payoff_line(self, turn: int) -> list[str]:
        gains = self._gains(turn)
        if not gains:
            return []
        totals = self._match.game.payoffs(self._match.replay.states[turn + 1])
        parts = (
            f"{as_plain(seat)} {_format_gain(gains[str(seat)])} ({totals[seat]:g} in all)"
            for seat in totals
        )
        return ["payoffs: " + ", ".join(parts)]

    def _last_position(self) -> str:
        """Return the last position as a drawing in text, as the first seat sees it."""
        match = self._match
        seat = Seat(match.game.seats[0])
        context, view = match.context(seat), match.game.observe(match.state, seat)
        if drawing := context.words.drawn(view):
            return drawing.replace("```", "'''")
        board = board_of(context, view)
        return "" if board is None else "\n".join(board_lines(board)).replace("```", "'''")


def scene_line(scene: Scene) -> str:
    """Return one event of a game as a line of Markdown."""
    seat = f"**{as_plain(scene.seat)}**"
    answer, probe = as_plain(scene.answer), as_plain(scene.probe)
    match scene.event:
        case Moved() if scene.seat == NATURE:
            return f"chance: {answer}"
        case Moved():
            return f"{seat} plays **{answer}**"
        case Forfeited():
            return f"{seat} forfeits: {answer}"
        case Skipped():
            return f"{seat} is not asked {probe}: {answer}"
        case Told():
            return f"{seat} is told {probe}: {answer}"
    truth = as_plain(_truth_text(scene))
    return f"{seat} predicts {probe}: **{answer}**" + (f", {truth}" if truth else "")


def _truth_text(scene: Scene) -> str:
    if scene.truth is None:
        return "not scored"
    return f"right ({scene.truth})" if scene.right else f"it was {scene.truth}"


def _move_text(scene: Scene) -> str:
    is_forfeit = isinstance(scene.event, Forfeited)
    return f"forfeit: {scene.answer}" if is_forfeit else scene.answer


def _format_gain(amount: float | None) -> str:
    return "" if amount is None else "0" if amount == 0 else f"{amount:+g}"


def _by_seat(scenes: Sequence[Scene]) -> Iterator[tuple[tuple[int, str], list[Scene]]]:
    """Yield the scenes of each turn and seat, in the order in which they first occur."""
    groups: dict[tuple[int, str], list[Scene]] = {}
    for scene in scenes:
        groups.setdefault((scene.turn, scene.seat), []).append(scene)
    yield from groups.items()


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown without the columns that are empty in every row.

    >>> print(markdown_table(("turn", "cost"), [("1", ""), ("2", "")]))
    | turn |
    |---|
    | 1 |
    | 2 |
    """
    cells = [[as_plain(cell) for cell in row] for row in rows]
    filled_columns = [n for n in range(len(columns)) if any(row[n] for row in cells)] or [0]
    lines = [
        [columns[n] for n in filled_columns],
        *([row[n] for n in filled_columns] for row in cells),
    ]
    texts = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([texts[0], "|" + "---|" * len(filled_columns), *texts[1:]])


def as_plain(text: str) -> str:
    r"""Return a text on one line, shortened, with the characters escaped that mean something in
    Markdown.

    >>> as_plain("[x](y)\n| *z*")
    '\\[x\\]\\(y\\) \\| \\*z\\*'
    """
    flat = " ".join(text.split())
    short_text = flat if len(flat) <= SHOWN else f"{flat[: SHOWN - 3]}..."
    return _MARKUP.sub(r"\\\1", short_text)
