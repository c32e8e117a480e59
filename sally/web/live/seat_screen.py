"""The screen of one person in a live match, made only from that seat's asks, views and words."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from sally.core.display.board import board_of
from sally.core.display.reveal import ending_of
from sally.core.display.scenes import moment, outlook
from sally.core.log.events import Censored, Ended, Moved
from sally.core.match.engine import Match
from sally.core.match.player import Turn
from sally.core.rules.board import Note
from sally.core.rules.game import Seat
from sally.core.rules.replay import AskId
from sally.web.live.screen import Rejection, Screen, ask_of, menu_of, over_of
from sally.web.live.screen_text import Labels, plain_board, reverse_options
from sally.web.texts import ENGLISH


class SeatScreen:
    """What a person sees of a match: the history so far and the current asks."""

    def __init__(self, id: str, match: Match, seat: str, labels: Labels, is_mirrored: bool) -> None:
        self._id, self._match, self._seat, self._labels = id, match, Seat(seat), labels
        self._context = match.context(self._seat)
        self.plainly = labels.plainly(self._context)
        self._rules = self.plainly(self._context.words.rules(self._seat))
        self._brief = labels.brief(self._context, self._rules)
        self._example = plain_board(labels.example(self._context), self.plainly)
        self._lines: list[str] = []
        self._is_mirrored = is_mirrored
        self._menu: list[str] = []  # option labels in the game's order, if it is mirrored
        self._screen: Screen | None = None
        self.is_stale = True
        self.refused: dict[AskId, tuple[int, str]] = {}  # tries and why the last was refused

    def update_screen(self, turns: Sequence[Turn]) -> Screen:
        """Return the screen with these asks; its version increases only when its content changes.

        A version that counts all answers would reveal actions of others that the seat cannot see.
        """
        old = self._screen
        if old is None or self.is_stale:
            new = self._build_screen(turns)
            if old is None or msgspec.structs.replace(new, version=old.version) != old:
                last = 0 if old is None else old.version
                version = max(last + 1, int(1e5 * time.time()))  # increases across restarts, too
                old = self._screen = msgspec.structs.replace(new, version=version)
            self.is_stale = False
        return old

    def _build_screen(self, turns: Sequence[Turn]) -> Screen:
        match, context, labels, plainly = self._match, self._context, self._labels, self.plainly
        view = turns[0].view if turns else match.game.observe(match.state, self._seat)
        self._lines += map(plainly, context.reader.news(view))
        scenes = [moment(turn) for turn in turns] or [outlook(context, match.turn, view)]
        end = match.events[-1] if match.over else None
        rejection = None if match.over else self._rejection()
        # Which of the others must still act may be hidden, so always list all of them.
        others = () if turns or match.over else [s for s in match.game.seats if s != self._seat]
        screen = Screen(
            version=0,
            title=labels.title(context),
            seat=self._seat,
            role=labels.role(context, self._seat),
            rules=self._rules,
            brief=self._brief,
            example=self._example,
            lines_from=0,
            lines=tuple(self._lines),
            now="" if match.over else plainly(scenes[0].now),
            board=plain_board(board_of(context, scenes[0].view), plainly),
            asks=tuple(
                ask_of(
                    self._id,
                    turn,
                    scene,
                    self.refused.get(turn.id, (0, None))[1],
                    plainly,
                    rejection,
                )
                for turn, scene in zip(turns, scenes, strict=False)
            ),
            told=tuple(plainly(line) for scene in scenes for line in scene.told),
            waiting_for=tuple(labels.role(context, seat) for seat in others),
            sent="" if turns or match.over else self._sent_move(),
            over=over_of(self._seat, end, labels.texts)
            if isinstance(end, Ended | Censored)
            else None,
        )
        if isinstance(end, Ended) and end.payoffs and labels.reveals:
            screen = self._reveal(screen)
        if not self._is_mirrored:
            return screen
        if self._seat in match.game.to_move(match.state):  # also while it is being probed
            menu = menu_of(context, match.game.options(match.state, self._seat))
            self._menu = [plainly(label) for label in menu]
        return reverse_options(screen, self._menu)

    def _reveal(self, screen: Screen) -> Screen:
        """Return the last screen with everything open: scores, what was hidden, and why."""
        ending, labels, plainly = (
            ending_of(self._context, self._match.replay),
            self._labels,
            self.plainly,
        )
        assert screen.over is not None
        scores = tuple(labels.score(self._context, self._seat, score) for score in ending.scores)
        hidden = tuple(
            Note(plainly(note.label), plainly(note.text), note.mark) for note in ending.hidden
        )
        ending_shown = msgspec.structs.replace(screen.over, scores=scores)
        if labels.language != ENGLISH:  # games tell the end in English
            return msgspec.structs.replace(screen, over=ending_shown)
        ending_shown = msgspec.structs.replace(ending_shown, why=plainly(ending.why), hidden=hidden)
        board = plain_board(ending.board, plainly)
        return msgspec.structs.replace(screen, over=ending_shown, board=board)

    def _sent_move(self) -> str:
        move = self._match.pending_move(self._seat)
        return "" if move is None else self.plainly(self._context.words.name(move))

    def _rejection(self) -> Rejection | None:
        """Return the seat's last move if the rules refused it and the seat may try again."""
        match = self._match
        count = match.game.rejections(match.state, self._seat)
        if not count:
            return None
        moves = (e for e in reversed(match.events) if isinstance(e, Moved) and e.seat == self._seat)
        move = msgspec.to_builtins(next(moves).action)
        return Rejection(self._lines[-1], move, match.setup.retries + 1 - count)
