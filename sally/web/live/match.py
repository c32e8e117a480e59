"""One live match: people answer over HTTP, bots immediately, models in background tasks.

An answer and the bots' answers that follow it are written in one transaction, and only then
shown. If the write fails, the live match is discarded; the next request rebuilds it from the
database, in the state before the answer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from sally.core.display.scenes import PEOPLE_READ
from sally.core.errors import BadInput, IllegalMove, NotAsked
from sally.core.log.events import Forfeited, Moved
from sally.core.match.answers import as_answer
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import WAIT, Decision, Fault, Forfeit, NoAnswer, Player, Turn, send_ask
from sally.core.rules.chance import Stream
from sally.core.rules.replay import AskId
from sally.runner.local import used_by
from sally.web.database import Database, DuplicateRow, Row
from sally.web.live.answers import (
    AnswerRow,
    GivenAnswer,
    LookUp,
    Stop,
    answers_job,
    ask_player,
    from_text,
    given_by,
    stored_answer,
)
from sally.web.live.screen import Screen, ask_name, read_move, read_report, refusal_of
from sally.web.live.screen_text import Labels, shorten
from sally.web.live.seat_screen import SeatScreen

LOG = logging.getLogger("sally.web")
MOST_LOOKS = 50  # tool calls per decision
MOST_TIMEOUTS = 3  # late answers in a row after which a person counts as having left
LATE = "no answer within"


class MatchDiscarded(Exception):
    """The live match was discarded and must be rebuilt from the database."""


class LiveMatch:
    """A match in memory with its bots and models; the other seats belong to people."""

    def __init__(
        self,
        id: str,
        match: Match,
        people: Sequence[str],
        players: Mapping[str, Player],
        bots: Sequence[str],
        database: Database,
        *,
        patience: float,  # seconds that a person has for an answer
        model_seconds: float | None = None,  # seconds that a model call may take
        mirrored: Sequence[str] = (),  # seats that see their options in reverse order
        labels: Labels | None = None,  # titles, roles and words of a study
        forfeits_late: bool = False,  # whether a late answer costs the turn, not the match
        delay: tuple[float, float] = (0.0, 0.0),  # shortest and longest time of a model's answer
        ended: Callable[[], None],  # called when the match is over
    ) -> None:
        self.id, self.match, self.people, self.patience = id, match, tuple(people), patience
        self.written = 0  # number of answers in the database
        self.lock = asyncio.Lock()
        self.discarded = False
        self.stopping = False  # the server is shutting down; long polls return
        self._players, self._bots, self._database = players, frozenset(bots), database
        self._rows: list[AnswerRow] = []  # answers that are not in the database yet
        self._driver = Driver(match, dict.fromkeys(bots, self._ask_bot), "fault", self._add_row)
        self._model_seconds, self._ended, self._delay = model_seconds, ended, delay
        self._keys: dict[tuple[str, str], str] = {}  # (seat, client's key) -> ask that it answered
        self._out: dict[AskId, asyncio.Task[None]] = {}
        self._forfeits_late = forfeits_late
        self._labels = labels or Labels()
        self._screens = {
            seat: SeatScreen(id, match, seat, self._labels, seat in mirrored) for seat in people
        }
        self._changed = asyncio.Event()
        self._since: dict[AskId, float] = {}  # when each open ask was put to a person
        self._due: dict[AskId, float] = {}  # Unix time until which its answer is awaited

    # --- actions of people ----------------------------------------------------------------------

    async def screen(self, seat: str) -> Screen:
        """Return the current screen of a seat."""
        async with self.lock:
            self._check()
            return self._screen_with_deadline(seat)

    async def news(self, seat: str, since: int, seconds: float) -> Screen:
        """Return a seat's screen once it is newer than version `since`, or after `seconds`."""
        until = time.monotonic() + seconds
        while True:
            changed = self._changed
            screen = await self.screen(seat)
            seconds_left = until - time.monotonic()
            if screen.version > since or seconds_left <= 0 or self.stopping:
                return screen
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), seconds_left)

    async def answer(
        self, seat: str, ask: str, value: Any, key: str, shown_seconds: float | None = None
    ) -> Screen:
        """Accept a person's answer and return the new screen once the answer is on disk.

        `shown_seconds` is the time from display to answer that the browser measured. Sending the
        same key again changes nothing.

        Raises:
            NotAsked: The ask is not open, or the key was used for another ask.
            IllegalMove: The value is not a legal answer; it counts as a try.
        """
        async with self.lock:
            self._check()
            if (seat, key) in self._keys:
                if self._keys[seat, key] != ask:
                    raise NotAsked("This key was already used for another answer.")
                return self._screen_with_deadline(seat)
            turn = self._turn_of_ask(seat, ask)
            screen = self._screens[seat]
            tries = 1 + screen.refused.get(turn.id, (0, ""))[0]
            read = read_move if turn.question is None else read_report
            try:
                answer = read(turn, value, tries)
                await self._settle(lambda: self._take(turn, answer, key, shown_seconds))
            except IllegalMove as error:
                sentence = shorten(screen.plainly(str(error)))
                screen.refused[turn.id] = (tries, sentence)
                screen.is_stale = True
                raise IllegalMove(sentence) from None
            return self._screen_with_deadline(seat)

    async def check(self, seat: str, ask: str, value: Any) -> str:
        """Return why the rules would refuse this move; "" if they would not, or if this move is not
        asked for any more. Nothing is logged, and it is no try."""
        async with self.lock:
            self._check()
            open_now = {ask_name(self.id, turn.id): turn for turn in self._open(seat)}
            turn = open_now.get(ask)  # the move may have been sent while it was typed
            if turn is None or turn.question is not None:
                return ""
            return shorten(self._screens[seat].plainly(refusal_of(turn, value)))

    async def look(self, seat: str, ask: str, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool for a decision and return its result; the call is logged."""
        async with self.lock:
            self._check()
            turn = self._turn_of_ask(seat, ask)
            if turn.question is not None:
                raise NotAsked("There are no tools for this question.")
            if len(turn.looked) >= MOST_LOOKS:
                raise IllegalMove(f"At most {MOST_LOOKS} look-ups are allowed for one move.")
            result = turn.use(tool, arguments)
            row = (seat, LookUp(turn.id, tool, dict(arguments)), None)
            await self._settle(lambda: self._rows.append(row))
            return result

    async def leave(self, seat: str, detail: str) -> int:
        """Stop the match without a result because a person left."""
        return await self.stop("left", detail, seat)

    async def stop(self, cause: str, detail: str, seat: str = "") -> int:
        """Stop without a result, unless the match is over already."""
        async with self.lock:
            self._check()
            if not self.match.over:
                await self._censor(cause, detail, seat)
            return self._screen_with_deadline(seat).version if seat in self.people else self.written

    async def stop_if_overdue(self, now: float) -> None:
        """Forfeit the turn of a person who is late, or stop the match.

        The match stops if the game does not allow late forfeits, or at the third late answer in a
        row.
        """
        if self.overdue(now) is None:
            return
        async with self.lock:
            self._check()
            if (seat := self.overdue(now)) is None:  # answered while this waited for the lock
                return
            detail = f"{LATE} {self.patience:g} s"
            if not self._forfeits_late or self._late_in_a_row(seat) + 1 >= MOST_TIMEOUTS:
                await self._censor("left", detail, seat)
            else:
                await self._settle(lambda: self._forfeit_turn(seat, detail))

    def _take(self, turn: Turn, answer: Any, key: str, seconds: float | None) -> None:
        """Pass a person's answer to the match; raises IllegalMove as the match does."""
        self.match.answer(turn.id, answer)
        self._add_row(turn, answer, key, seconds)

    def _late_in_a_row(self, seat: str) -> int:
        """Return how many of a seat's latest moves were forfeited for being late."""
        late = 0
        for event in reversed(self.match.events):
            if isinstance(event, Forfeited) and event.seat == seat and LATE in event.reason:
                late += 1
            elif isinstance(event, Moved) and event.seat == seat:
                break
        return late

    def _forfeit_turn(self, seat: str, detail: str) -> None:
        """Answer everything that a seat is asked in this turn with a forfeit."""
        now = self.match.turn
        while not self.match.over and self.match.turn == now and (open_turns := self._open(seat)):
            nothing = Forfeit(detail) if open_turns[0].question is None else NoAnswer(detail)
            self._driver.answer(open_turns[0].id, nothing)

    def overdue(self, now: float) -> str | None:
        """Return a seat whose answer is overdue, or None."""
        late = (id[1] for id, since in self._since.items() if now - since > self.patience)
        return next(late, None)

    async def _censor(self, cause: str, detail: str, seat: str) -> None:
        def stop() -> None:
            self.match.censor(cause, detail, seat)
            self._rows.append((seat, Stop(cause, detail, seat), None))

        await self._settle(stop)

    # --- advancing the match --------------------------------------------------------------------

    def _check(self) -> None:
        if self.discarded:
            raise MatchDiscarded

    def _turn_of_ask(self, seat: str, ask: str) -> Turn:
        turns_by_name = {ask_name(self.id, turn.id): turn for turn in self.match.asks()}
        turn = turns_by_name.get(ask)
        if turn is not None and turn in self._open(seat):
            return turn
        if turn is not None and turn.seat == seat:
            raise NotAsked("Please answer the other question first.")
        if self.match.over:
            raise NotAsked("The game is over.")
        raise NotAsked("This is not asked now: it was answered already, or it is not your turn.")

    def _open(self, seat: str) -> list[Turn]:
        """Return a person's open asks: probes first, then the move, as for other players."""
        turns = [turn for turn in self.match.asks() if turn.seat == seat]
        return [turn for turn in turns if turn.question is not None] or turns

    async def _settle(self, act: Callable[[], None]) -> None:
        """Change the match, let the bots answer, write all answers, and publish the new state."""
        try:
            act()
            rows = self.let_bots_answer()
            await self._database.run(answers_job(self.id, self.written, rows, self.match.over))
        except IllegalMove:  # of a person: the match is unchanged
            raise
        except DuplicateRow:  # committed, but the confirmation was lost: reload
            self.discard()
            raise MatchDiscarded from None
        except BaseException:
            self.discard()
            raise
        self.count(rows)
        self.publish()

    def let_bots_answer(self) -> list[AnswerRow]:
        """Let the bots play until a person or a model must answer; return all unwritten answers."""
        self._driver.advance()
        rows, self._rows = self._rows, []
        return rows

    def _add_row(
        self,
        turn: Turn,
        answer: Any,
        key: str | None = None,
        shown_seconds: float | None = None,
    ) -> None:
        stored = stored_answer(turn, as_answer(turn, answer), shown_seconds)
        self._rows.append((turn.seat, stored, key))

    def _ask_bot(self, turn: Turn) -> Any:
        try:
            return send_ask(turn, self._players[turn.seat])
        except Exception as error:
            LOG.exception("the bot in seat %s of match %s raised an exception", turn.seat, self.id)
            return Fault("fault", f"the player in seat {turn.seat!r} raised {error!r}")

    def count(self, rows: Sequence[AnswerRow]) -> None:
        """Record that these rows are in the database."""
        self.written += len(rows)
        for seat, stored, key in rows:
            if key is not None and not isinstance(stored, Stop):
                self._keys[seat, key] = ask_name(self.id, stored.ask)

    def publish(self) -> None:
        """Wake waiting clients and start the tasks of models that are asked now."""
        open_now = {turn.id: turn for turn in self.match.asks()}
        for screen in self._screens.values():
            screen.is_stale = True
        now, since_before = time.monotonic(), self._since
        self._since = {id: since_before.get(id, now) for id in open_now if id[1] in self.people}
        due = round(time.time() + self.patience, 1)
        self._due = {id: self._due.get(id, due) for id in self._since}
        for id, turn in open_now.items():
            if turn.seat not in self.people and id not in self._out:
                self._out[id] = asyncio.create_task(self._consult(turn))
        self._wake()
        if self.match.over:
            self._ended()

    def stop_waiting(self) -> None:
        """Make all long polls return immediately."""
        self.stopping = True
        self._wake()

    def discard(self) -> None:
        """Mark this object as invalid; the next request rebuilds the match."""
        self.discarded = True
        for task in self._out.values():
            if task is not asyncio.current_task():
                task.cancel()
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _consult(self, turn: Turn) -> None:
        """Ask a model and pass on its answer, not before the delay of the study has passed; a
        failed call becomes a Fault, which censors the match."""
        # drawn per match and question, so that a restart draws the same delay
        shortest, longest = self._delay
        wait = shortest + (longest - shortest) * Stream(self.id, "delay", *map(str, turn.id))()
        shown_at = time.monotonic() + wait
        answer = await ask_player(turn, self._players[turn.seat], self._model_seconds, self.id)
        await asyncio.sleep(max(0.0, shown_at - time.monotonic()))
        async with self.lock:
            self._out.pop(turn.id, None)
            if self.discarded or self.match.over:
                return
            try:
                await self._settle(lambda: self._driver.answer(turn.id, answer))
            except Exception:  # the match is rebuilt and asks the model again
                LOG.exception("a model's answer in match %s could not be written", self.id)

    # --- from the database ----------------------------------------------------------------------

    def rebuild(self, rows: Sequence[Row]) -> str | None:
        """Replay stored answers; return the seat of a bot that now plays differently, or None.

        Raises:
            BadInput: The stored answers do not fit the installed rules.
        """
        records = [(seat, from_text(text), key) for seat, text, key in rows]
        answers = {
            stored.ask: stored for _, stored, _ in records if isinstance(stored, GivenAnswer)
        }
        changed: list[str] = []

        def answer_again(turn: Turn) -> Any:
            stored = answers.get(turn.id)
            if stored is None or isinstance(stored.given, Fault):  # a fault ends the match
                return WAIT
            del answers[turn.id]
            answer = given_by(self.match.spec, stored)
            if turn.seat in self._bots and isinstance(answer, Decision):
                # Bots are asked again for their memory, which need not be serialisable.
                fresh = as_answer(turn, self._ask_bot(turn))
                if isinstance(fresh, Decision) and _plain(fresh.action) == _plain(answer.action):
                    answer = fresh
                else:
                    changed.append(turn.seat)
            if isinstance(answer, Decision | Forfeit):
                turn.looked = stored.looked
            return answer

        everyone = (*self.match.game.seats, *self.match.game.helpers)
        Driver(self.match, dict.fromkeys(map(str, everyone), answer_again)).advance()
        open_now = {turn.id: turn for turn in self.match.asks()}
        for _, record, _ in records:
            if isinstance(record, LookUp) and record.ask in open_now:
                open_now[record.ask].use(record.tool, record.given)
            elif isinstance(record, Stop):
                self.match.censor(record.cause, record.detail, record.seat)
        for ask, stored in answers.items():
            if ask not in open_now:
                raise BadInput("its answers do not fit the installed version of the rules")
            self.match.answer(ask, stored.given)
        self.count(records)
        return changed[-1] if changed else None

    @property
    def used(self) -> dict[str, Any]:
        """Return the `used` field of the record: what each model reports about itself, and the
        words pack that people read."""
        pack = self._labels.packs.get(self.match.spec.name, "")
        return {**used_by(self._players), **({PEOPLE_READ: pack} if pack else {})}

    # --- screens --------------------------------------------------------------------------------

    def _screen_with_deadline(self, seat: str) -> Screen:
        """Return a seat's screen with the deadline of its answer."""
        screen = self._screens[seat].update_screen(self._open(seat))
        due = [deadline for id, deadline in self._due.items() if id[1] == seat]
        return msgspec.structs.replace(screen, due=min(due)) if due else screen


def _plain(action: Any) -> Any:
    return msgspec.json.encode(action)
