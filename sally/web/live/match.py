"""One live match: people answer over HTTP, bots at once, models in tasks.

A match takes an answer, lets the bots answer after it, and writes all of that down in one
transaction. Only then is it seen. If it cannot be written the live is given up, and the next
one who comes finds it rebuilt from the database, as it was before.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from sally.core.errors import BadInput, IllegalMove, NotAsked
from sally.core.log.events import Censored, Ended
from sally.core.log.scenes import Scene, moment, outlook
from sally.core.match.engine import Match
from sally.core.match.player import AskId, Decision, Fault, Forfeit, Given, Player, Turn, put
from sally.core.rules.game import Seat
from sally.runner.local import used_by
from sally.web.database import Database, DuplicateRow, Row
from sally.web.live.answers import (
    Looks,
    Stops,
    StoredAnswer,
    Written,
    consulted,
    from_text,
    given_by,
    stored_answer,
    written,
)
from sally.web.live.plain import Labels, for_people, turned
from sally.web.live.screen import (
    Ask,
    Screen,
    ask_name,
    ask_of,
    decided,
    menu_of,
    mirrored,
    over_of,
    reported,
    screen_of,
)

LOG = logging.getLogger("sally.web")
MOST_LOOKS = 50  # in one decision; more is no search any more


class GivenUp(Exception):
    """This match is gone; the database knows the match, and it has to be rebuilt."""


class LiveMatch:
    """A match, the players at this server, and the seats that are left to people."""

    def __init__(
        self,
        id: str,
        match: Match[Any, Any, Any],
        people: Sequence[str],
        players: Mapping[str, Player[Any, Any]],
        bots: Sequence[str],
        database: Database,
        *,
        patience: float,  # seconds in which a person has to answer
        model_seconds: float | None = None,  # in which a model has to
        mirrored: Sequence[str] = (),  # seats that see menus from last to first
        labels: Labels | None = None,  # what a study calls the game and its seats
        ended: Callable[[], None],  # is told when the match is over
    ) -> None:
        self.id, self.match, self.people, self.patience = id, match, tuple(people), patience
        self.written = 0  # how many answers the database has
        self.lock = asyncio.Lock()
        self.given_up = False
        self.hushed = False  # nobody is kept waiting for news any more
        self._players, self._bots, self._database = players, frozenset(bots), database
        self._model_seconds, self._mirrored, self._ended = model_seconds, mirrored, ended
        self._keys: dict[tuple[str, str], str] = {}  # seat, client's key -> what it answered
        self._refused: dict[AskId, tuple[int, str]] = {}
        self._out: dict[AskId, asyncio.Task[None]] = {}
        self._lines: dict[str, list[str]] = {seat: [] for seat in people}
        self._labels = labels or Labels()
        self._menus: dict[str, list[str]] = {}  # options in the game's order, of mirrored seats
        self._plainly = {s: self._labels.plainly(match.context(Seat(s))) for s in people}
        self._rules = {  # nothing that happens changes them
            s: plainly(match.context(Seat(s)).words.rules(Seat(s)))
            for s, plainly in self._plainly.items()
        }
        self._screens: dict[str, Screen] = {}
        self._stale = set(people)  # whose screen may have changed
        self._changed = asyncio.Event()
        self._since: dict[AskId, float] = {}  # since when people have been asked

    # --- what a person does -----------------------------------------------------------------

    async def screen(self, seat: str) -> Screen:
        """What a seat's browser receives."""
        async with self.lock:
            self._check()
            return self._shown(seat)

    async def news(self, seat: str, since: int, seconds: float) -> Screen:
        """What a seat's browser receives once it is newer than a version, or after some seconds."""
        until = time.monotonic() + seconds
        while True:
            changed = self._changed
            seen = await self.screen(seat)
            left = until - time.monotonic()
            if seen.version > since or left <= 0 or self.hushed:
                return seen
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), left)

    async def answer(self, seat: str, ask: str, value: Any, key: str) -> Screen:
        """Take a person's answer; it is on disk when this returns, and a key counts once."""
        async with self.lock:
            self._check()
            if (seat, key) in self._keys:
                if self._keys[seat, key] != ask:
                    raise NotAsked("This key has been used for another answer.")
                return self._shown(seat)
            turn = self._asked(seat, ask)
            tries = 1 + self._refused.get(turn.id, (0, ""))[0]
            take = decided if turn.question is None else reported
            try:
                stored = self._take(turn, take(turn, value, tries))
            except IllegalMove as why:
                said = self._plainly[seat](str(why))
                self._refused[turn.id] = (tries, said)
                self._stale.add(seat)
                raise IllegalMove(said) from None
            await self._settle([(seat, stored, key)])
            return self._shown(seat)

    async def look(self, seat: str, ask: str, tool: str, given: Mapping[str, Any]) -> Any:
        """Look something up for a decision; what was asked is logged with it."""
        async with self.lock:
            self._check()
            turn = self._asked(seat, ask)
            if turn.question is not None:
                raise NotAsked("Nothing can be looked up for this question.")
            if len(turn.looked) >= MOST_LOOKS:
                raise IllegalMove(f"At most {MOST_LOOKS} things can be looked up for one move.")
            found = turn.use(tool, given)
            await self._settle([(seat, Looks(turn.id, tool, dict(given)), None)])
            return found

    async def leave(self, seat: str, detail: str) -> int:
        """A person goes, and the match stops without a result."""
        return await self.stop("left", detail, seat)

    async def stop(self, cause: str, detail: str, seat: str = "") -> int:
        """Stop without a result, unless there is one already."""
        async with self.lock:
            self._check()
            if not self.match.over:
                await self._censor(cause, detail, seat)
            return self._shown(seat).version if seat in self.people else self.written

    async def stop_if_overdue(self, now: float) -> None:
        """Stop when a person has been asked for longer than the others should have to wait."""
        if self.overdue(now) is None:
            return
        async with self.lock:
            self._check()
            if (seat := self.overdue(now)) is not None:  # nobody has answered while we waited
                await self._censor("left", f"no answer within {self.patience:g} s", seat)

    def overdue(self, now: float) -> str | None:
        """Who has been asked for longer than patience lasts."""
        late = (id[1] for id, since in self._since.items() if now - since > self.patience)
        return next(late, None)

    async def _censor(self, cause: str, detail: str, seat: str) -> None:
        self.match.censor(cause, detail, seat)
        await self._settle([(seat, Stops(cause, detail, seat), None)])

    # --- from one version to the next -------------------------------------------------------

    def _check(self) -> None:
        if self.given_up:
            raise GivenUp

    def _asked(self, seat: str, ask: str) -> Turn[Any, Any]:
        asked = {ask_name(self.id, turn.id): turn for turn in self.match.asks()}
        turn = asked.get(ask)
        if turn is not None and turn in self._open(seat):
            return turn
        if turn is not None and turn.seat == seat:
            raise NotAsked("Please answer the other question first.")
        if self.match.over:
            raise NotAsked("The game is over.")
        raise NotAsked("This is not asked now: it was answered already, or it is not your turn.")

    def _open(self, seat: str) -> list[Turn[Any, Any]]:
        """What a person is asked now: questions aside come before the move, as for all others."""
        turns = [turn for turn in self.match.asks() if turn.seat == seat]
        return [turn for turn in turns if turn.question is not None] or turns

    async def _settle(self, said: Sequence[Written]) -> None:
        """Let the bots answer, write all of it down, and show it."""
        try:
            rows = [*said, *self.let_bots_answer()]
            await self._database.run(written(self.id, self.written, rows, self.match.over))
        except DuplicateRow:  # written by a commit whose answer was lost; the database knows best
            self.give_up()
            raise GivenUp from None
        except BaseException:
            self.give_up()
            raise
        self.count(rows)
        self.publish()

    def let_bots_answer(self) -> list[Written]:
        """Everything that bots say before a person or a model is needed again."""
        said: list[Written] = []
        answered = True
        while answered and not self.match.over:  # an answer may open further asks
            answered = False
            for turn in self.match.asks():
                if turn.seat in self._bots and not self.match.over:
                    given = self._bot_says(turn)
                    said.append((turn.seat, self._take_or_fault(turn, given), None))
                    answered = True
        return said

    def _take(self, turn: Turn[Any, Any], given: Given) -> StoredAnswer:
        """Answer the match; an illegal answer leaves it as it was, and any other error nothing."""
        stored = stored_answer(turn, given)
        try:
            self.match.answer(turn.id, given)
        except BaseException as why:
            if not isinstance(why, IllegalMove) or turn not in self.match.asks():
                self.give_up()
            raise
        return stored

    def _take_or_fault(self, turn: Turn[Any, Any], given: Given) -> StoredAnswer:
        """What a player at this server says; an illegal move of its is a fault of ours."""
        try:
            return self._take(turn, given)
        except IllegalMove as why:
            return self._take(turn, Fault("fault", f"the player in seat {turn.seat!r}: {why}"))

    def _bot_says(self, turn: Turn[Any, Any]) -> Given:
        try:
            given = put(turn, self._players[turn.seat])
        except Exception as why:
            LOG.exception("the bot in seat %s of match %s broke down", turn.seat, self.id)
            return Fault("fault", f"the player in seat {turn.seat!r} broke down: {why!r}")
        return given  # type: ignore[no-any-return]

    def count(self, rows: Sequence[Written]) -> None:
        """Remember what the database has now."""
        self.written += len(rows)
        for seat, stored, key in rows:
            if key is not None and not isinstance(stored, Stops):
                self._keys[seat, key] = ask_name(self.id, stored.ask)

    def publish(self) -> None:
        """Show the present version to whoever waits, and put what is asked of models."""
        self._stale.update(self.people)
        open_now = {turn.id: turn for turn in self.match.asks()}
        self._refused = {id: why for id, why in self._refused.items() if id in open_now}
        now, before = time.monotonic(), self._since
        self._since = {id: before.get(id, now) for id in open_now if id[1] in self.people}
        for id, turn in open_now.items():
            if turn.seat not in self.people and id not in self._out:
                self._out[id] = asyncio.create_task(self._consult(turn))
        self._wake()
        if self.match.over:
            self._ended()

    def hush(self) -> None:
        """Let those who wait for news go with what there is."""
        self.hushed = True
        self._wake()

    def give_up(self) -> None:
        """Leave what is here; whoever comes next rebuilds it from the database."""
        self.given_up = True
        for task in self._out.values():
            if task is not asyncio.current_task():
                task.cancel()
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _consult(self, turn: Turn[Any, Any]) -> None:
        """Ask a model, and take what it says; a failed call is a fault, and censors."""
        given = await consulted(turn, self._players[turn.seat], self._model_seconds, self.id)
        async with self.lock:
            self._out.pop(turn.id, None)
            if self.given_up or self.match.over:
                return
            try:
                await self._settle([(turn.seat, self._take_or_fault(turn, given), None)])
            except Exception:  # the match is rebuilt, and asks again
                LOG.exception("a model's answer in match %s could not be written", self.id)

    # --- from the database ----------------------------------------------------------------------

    def rebuild(self, rows: Sequence[Row]) -> str | None:
        """Answer the match as it was answered; says which bot plays otherwise now, if one does."""
        changed = None
        for seat, text, key in rows:
            stored = from_text(text)
            changed = self._again(stored) or changed
            self.count([(seat, stored, key)])
        return changed

    def _again(self, stored: StoredAnswer) -> str | None:
        match, changed = self.match, None
        if isinstance(stored, Stops):
            match.censor(stored.cause, stored.detail, stored.seat)
            return None
        turn = next((t for t in match.asks() if t.id == stored.ask), None)
        if turn is None:
            raise BadInput("its answers do not fit the rules that are installed now")
        if isinstance(stored, Looks):
            turn.use(stored.tool, stored.given)
            return None
        given = given_by(match.spec, stored)
        if turn.seat in self._bots and isinstance(given, Decision):
            # Bots are asked again for their notes, which need not be plain data.
            fresh = self._bot_says(turn)
            if isinstance(fresh, Decision) and _plain(fresh.action) == _plain(given.action):
                given = fresh
            else:
                changed = turn.seat
        if isinstance(given, Decision | Forfeit):
            turn.looked[:] = stored.looked
        match.answer(turn.id, given)
        return changed

    @property
    def used(self) -> dict[str, Any]:
        """What answers for models, for the record."""
        return used_by(self._players)

    # --- what is seen -----------------------------------------------------------------------

    def _shown(self, seat: str) -> Screen:
        """What a seat sees; its version rises only when that changes.

        A count of answers would tell a seat how often others have acted where it cannot see.
        """
        if seat in self._stale:
            old, new = self._screens.get(seat), self._seen(seat)
            if old is None or msgspec.structs.replace(new, version=old.version) != old:
                last = 0 if old is None else old.version
                version = max(last + 1, int(1000 * time.time()))  # it rises over restarts too
                self._screens[seat] = msgspec.structs.replace(new, version=version)
            self._stale.discard(seat)
        return self._screens[seat]

    def _seen(self, seat: str) -> Screen:
        match, context = self.match, self.match.context(Seat(seat))
        turns = self._open(seat)
        view = turns[0].view if turns else match.game.observe(match.state, Seat(seat))
        self._lines[seat] += map(self._plainly[seat], context.reader.news(view))
        scenes = [moment(turn) for turn in turns]
        end = match.events[-1] if match.over else None
        # Which of the others has still to act may be hidden, so it is always all of them.
        others = () if turns or match.over else [s for s in match.game.seats if s != seat]
        raw = screen_of(
            context,
            self._rules[seat],
            scenes or [outlook(context, match.turn, view)],
            self._lines[seat],
            [self._ask(turn, scene) for turn, scene in zip(turns, scenes, strict=True)],
            others,
            over_of(seat, end, self._labels.texts) if isinstance(end, Ended | Censored) else None,
        )
        screen = for_people(raw, context, self._labels, self._plainly[seat])
        if seat not in self._mirrored:
            return screen
        if seat in match.game.to_move(match.state):  # also while it is asked something aside
            menu = menu_of(context, match.game.options(match.state, Seat(seat)))
            self._menus[seat] = [self._plainly[seat](label) for label in menu]
        return turned(screen, self._menus[seat]) if seat in self._menus else screen

    def _ask(self, turn: Turn[Any, Any], scene: Scene) -> Ask:
        why = self._refused.get(turn.id, (0, None))[1]
        ask = ask_of(self.id, turn, scene, why)
        return mirrored(ask) if turn.seat in self._mirrored else ask


def _plain(action: Any) -> Any:
    return msgspec.json.encode(action)
