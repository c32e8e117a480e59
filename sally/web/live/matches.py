"""All live matches: opening, finding by token, rebuilding after a restart, storing."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from sally import store
from sally.core.errors import BadInput, NotAsked
from sally.core.log.events import Episode, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.players.language import uses_model
from sally.runner.budget import Meter, Metered
from sally.runner.local import is_bot, with_models
from sally.runner.seating import players_of, resolve_setup
from sally.web.database import Database, StorageFull, StorageLost, Transaction
from sally.web.live.answers import answers_job
from sally.web.live.match import LiveMatch, MatchDiscarded
from sally.web.live.screen_text import Labels

LOG = logging.getLogger("sally.web")
MANIFEST = "play in the browser"  # study name in the store's manifest
PAUSE = 1.0  # seconds between writes, so that matches share a file of the store
RETRY = 5.0  # seconds before a failed write to the store is repeated
IDLE = 600.0  # seconds after which a finished match is dropped from memory
COLUMNS = "setup, people, patience, mirrored, owner, cell"
OPEN = "SELECT id FROM matches WHERE ended = 0"
T = TypeVar("T")
# called with a match's id and record at its end
Watcher = Callable[[str, Episode], Awaitable[None]]


PERSON = "person"  # player name of people in the log
STAND_IN = PlayerSpec("random")  # takes a person's place while a setup is checked


class NoSuchSeat(Exception):
    """The token does not open any seat."""


class OpenedMatch(msgspec.Struct, frozen=True):
    """A new match and the seat tokens of people; tokens are returned only here and stored as
    hashes."""

    match: str
    tokens: dict[str, str]


@lru_cache(10_000)  # needed several times per move
def hash_token(secret: str) -> str:
    """Return the hash of a token for the database; 256 random bits need no salt and no slow
    hash."""
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def invitation(secret: str) -> str:
    """Return the database key of an invitation. An invitation gives no access to a seat; a client
    uses it once to take the seat with a token of its own."""
    return f"invitation {hash_token(secret)}"


def resolve_seated_setup(setup: Setup, people: Sequence[str]) -> Setup:
    """Return the setup with versions filled in; raises BadInput if a name is unknown."""
    seated = {s: STAND_IN if s in people else player for s, player in setup.lineup.items()}
    checked = resolve_setup(msgspec.structs.replace(setup, lineup=seated))
    lineup = {
        s: setup.lineup.get(s, PlayerSpec(PERSON)) if s in people else player
        for s, player in checked.lineup.items()
    }
    return msgspec.structs.replace(checked, lineup=lineup)


def _seats(written: str) -> tuple[str, ...]:
    return msgspec.json.decode(written, type=tuple[str, ...])


class LiveMatches:
    """All matches in which people play."""

    def __init__(
        self,
        database: Database,
        out: Path | None,
        patience: float = 900.0,
        meter: Meter | None = None,
    ) -> None:
        self.database, self.out, self.patience = database, out, patience
        self.meter = meter or Meter()
        self.watchers: list[Watcher] = []
        self.labels: dict[str, Labels] = {}  # by owner, or by owner and cell as "OWNER/CELL"
        self.delays: dict[str, tuple[float, float]] = {}  # by owner: seconds before models answer
        self.timeouts: dict[str, str] = {}  # by owner: what a late answer costs, round or match
        self._by_id: dict[str, LiveMatch] = {}
        self._seats: dict[str, tuple[str, str]] = {}  # hashed token -> match, seat
        self._touched: dict[str, float] = {}
        self._loading: dict[str, asyncio.Lock] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._ended = asyncio.Event()
        # whether the store may hold episodes that the database marks as unstored
        self._in_doubt = True

    # --- starting and stopping ------------------------------------------------------------------

    def open_store(self) -> None:
        """Claim the store's folder; raises BadInput if it belongs to another study."""
        if self.out is not None:
            store.claim(self.out, store.Manifest(MANIFEST, ""))

    async def start(self) -> None:
        """Open the store and resume all open matches in the background."""
        self.open_store()
        self._ended.set()
        self._tasks = [asyncio.create_task(work) for work in (self._sweep(), self._keep())]

    def stop_waiting(self) -> None:
        """Make all long polls return, before the server shuts down."""
        for live in self._by_id.values():
            live.stop_waiting()

    async def close(self) -> None:
        """Store finished matches and discard all others from memory; the database keeps them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(Exception):  # the next start tries again
            await self._keep_ended()
        for live in self._by_id.values():
            live.discard()

    # --- opening and finding --------------------------------------------------------------------

    async def open(
        self,
        setup: Setup,
        people: Sequence[str],
        *,
        keys: Mapping[str, str] | None = None,
        cell: str = "",
        owner: str = "",
        patience: float | None = None,
        mirrored: Sequence[str] = (),
        invited: Sequence[str] = (),
        also: Callable[[Transaction, str], None] | None = None,
    ) -> OpenedMatch:
        """Open a match and return its id and the new seat tokens.

        Args:
            keys: Hashed tokens by seat, for people who have a token already.
            owner: Matches with an owner are not stored by this object; the owner exports them.
            mirrored: Seats that see their options in reverse order.
            invited: Seats whose tokens are invitations, to be exchanged by `take`.
            also: Function that writes further rows in the same transaction, called with the match's
                id.
        """
        setup = resolve_seated_setup(setup, people)
        id = secrets.token_hex(16)
        keys = dict(keys or {})
        tokens = {seat: secrets.token_urlsafe(32) for seat in people if seat not in keys}
        keys |= {
            seat: invitation(token) if seat in invited else hash_token(token)
            for seat, token in tokens.items()
        }
        waits = self.patience if patience is None else patience
        live = self._build_match(id, setup, people, waits, mirrored, owner, cell)
        rows = live.let_bots_answer()
        answered = answers_job(id, 0, rows, live.match.over)

        def begin(tx: Transaction) -> None:
            tx.execute(
                "INSERT INTO matches (id, setup, people, cell, owner, patience, mirrored, made) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                id,
                msgspec.json.encode(setup).decode(),
                msgspec.json.encode(tuple(people)).decode(),
                cell,
                owner,
                live.patience,
                msgspec.json.encode(tuple(mirrored)).decode(),
                time.time(),
            )
            for seat, key in keys.items():
                tx.execute("INSERT INTO seats (token, match, seat) VALUES (?, ?, ?)", key, id, seat)
            answered(tx)
            if also is not None:
                also(tx, id)

        await self.database.run(begin)
        live.count(rows)
        self._enter(live)
        return OpenedMatch(id, tokens)

    async def seat(self, token: str) -> tuple[LiveMatch, str]:
        """Return the live match and seat that a token opens."""
        id, seat = await self.resolve_token(token)
        return await self.find(id), seat

    async def resolve_token(self, token: str) -> tuple[str, str]:
        """Return the match id and seat that a token opens; raises NoSuchSeat."""
        key = hash_token(token)
        if key not in self._seats:
            seat_row = await self.database.run(
                Transaction.first, "SELECT match, seat FROM seats WHERE token = ?", key
            )
            if seat_row is None:
                raise NoSuchSeat
            self._seats[key] = (seat_row[0], seat_row[1])
        return self._seats[key]

    async def take(self, token: str, client_token: str) -> None:
        """Replace a seat's token with one that the client generated; a repeated request changes
        nothing."""
        old, new, invited = hash_token(token), hash_token(client_token), invitation(token)

        def change(tx: Transaction) -> bool:
            by = "UPDATE seats SET token = ? WHERE token IN (?, ?)"
            changed = tx.execute(by, new, old, invited)
            return bool(changed) or tx.first("SELECT 1 FROM seats WHERE token = ?", new) is not None

        if not await self.database.run(change):
            raise NoSuchSeat
        self._seats.pop(old, None)

    async def find(self, id: str) -> LiveMatch:
        """Return a live match, rebuilt from the database if it is not in memory."""
        self._touched[id] = time.monotonic()
        live = self._by_id.get(id)
        if live is not None and not live.discarded:
            return live
        async with self._loading.setdefault(id, asyncio.Lock()):
            live = self._by_id.get(id)
            if live is None or live.discarded:
                live = await self._rebuilt(id)
        self._loading.pop(id, None)
        return live

    async def act_on(self, token: str, act: Callable[[LiveMatch, str], Awaitable[T]]) -> T:
        """Return the result of `act`, called with a token's match and seat; a discarded match is
        rebuilt once."""
        live, seat = await self.seat(token)
        try:
            return await act(live, seat)
        except MatchDiscarded:
            live, seat = await self.seat(token)
            return await act(live, seat)

    async def forget(self, id: str, also: Callable[[Transaction], None] | None = None) -> None:
        """Delete a match and its answers, for a participant who withdraws."""

        def delete(tx: Transaction) -> None:
            for table in ("answers", "seats", "tickets"):
                tx.execute(f"DELETE FROM {table} WHERE match = ?", id)
            tx.execute("DELETE FROM matches WHERE id = ?", id)
            if also is not None:
                also(tx)

        live = self._by_id.get(id)
        if live is None:
            await self.database.run(delete)
        else:
            async with live.lock:
                live.discard()
                await self.database.run(delete)
        if (rebuilt := self._by_id.pop(id, None)) is not None:
            rebuilt.discard()  # also one rebuilt by a concurrent request
        self._seats = {key: place for key, place in self._seats.items() if place[0] != id}

    async def episode(self, id: str, cell: str | None = None) -> Episode | None:
        """Return the record of a match, or None while it is in progress."""
        if cell is None:
            by = "SELECT cell FROM matches WHERE id = ?"
            cell_row = await self.database.run(Transaction.first, by, id)
            cell = cell_row[0] if cell_row else ""
        live = await self.find(id)
        async with live.lock:
            return live.match.episode(cell, live.used) if live.match.over else None

    def in_progress(self) -> list[LiveMatch]:
        """Return the unfinished matches in memory."""
        return [live for live in self._by_id.values() if not live.match.over]

    # --- making matches -------------------------------------------------------------------------

    def _build_match(
        self,
        id: str,
        setup: Setup,
        people: Sequence[str],
        patience: float,
        mirrored: Sequence[str],
        owner: str,
        cell: str,
    ) -> LiveMatch:
        labels = self.labels.get(f"{owner}/{cell}", self.labels.get(owner, Labels()))
        spec = registry.game(setup.instance.game)
        words = dict.fromkeys(people, labels.words.get(spec.name, spec.people.texts))
        match: Match = Match(spec, setup, texts=words)
        inside = {seat: player for seat, player in setup.lineup.items() if seat not in people}
        if any(map(uses_model, inside.values())):
            meter = self.meter.of_episode()
            inside = with_models(
                inside, lambda seat, name: Metered(registry.model(name), meter, name)
            )
        players = players_of(match, inside)
        bots = [seat for seat, player in players.items() if is_bot(player)]
        return LiveMatch(
            id,
            match,
            people,
            players,
            bots,
            self.database,
            patience=patience,
            model_seconds=self.meter.config.limits.call_seconds,
            mirrored=mirrored,
            labels=labels,
            forfeits_late=self.timeouts.get(owner) == "round",
            delay=self.delays.get(owner, (0.0, 0.0)),
            ended=self._ended.set,
        )

    async def _rebuilt(self, id: str) -> LiveMatch:
        """Rebuild a match from the database."""

        def find(tx: Transaction) -> tuple[Any, list[Any]]:
            row = tx.first(f"SELECT {COLUMNS} FROM matches WHERE id = ?", id)
            answers = tx.all(
                "SELECT seat, entry, client_key FROM answers WHERE match = ? ORDER BY n", id
            )
            return row, answers

        row, answers = await self.database.run(find)
        if row is None:
            raise NoSuchSeat
        setup = msgspec.json.decode(row[0], type=Setup)
        try:
            live = self._build_match(
                id, setup, _seats(row[1]), row[2], _seats(row[3]), owner=row[4], cell=row[5]
            )
            changed = live.rebuild(answers)
        except BadInput as error:  # rules or players changed since it began
            raise NotAsked(f"This game cannot be continued: {str(error).rstrip('.')}.") from None
        self._enter(live)
        if changed is not None and not live.match.over:
            player_name = setup.lineup[changed].player
            await live.stop(
                "fault", f"{player_name} plays differently than before the restart", changed
            )
        return live

    def _enter(self, live: LiveMatch) -> None:
        self._by_id[live.id] = live
        self._touched[live.id] = time.monotonic()
        live.publish()

    # --- in the background ----------------------------------------------------------------------

    async def _revive(self) -> bool:
        """Load every open match, so that models continue and time limits apply."""
        try:
            rows = await self.database.run(Transaction.all, OPEN)
        except (StorageFull, StorageLost):
            return False
        for (id,) in rows:
            try:
                await self.find(id)
            except Exception as error:
                LOG.error("match %s: %s", id, error)
            await asyncio.sleep(0)
        return True

    async def _sweep(self) -> None:
        """Stop overdue matches and drop finished ones from memory."""
        while not await self._revive():
            await asyncio.sleep(RETRY)
        while True:
            await asyncio.sleep(min(1.0, self.patience / 4))
            now = time.monotonic()
            for id, live in list(self._by_id.items()):
                try:
                    if live.discarded:
                        await self.find(id)
                    else:
                        await live.stop_if_overdue(now)
                except Exception as error:  # one match must not stop the others
                    LOG.error("match %s: %s", id, error)
                if live.match.over and now - self._touched.get(id, 0) > IDLE:
                    self._by_id.pop(id, None)
                    self._touched.pop(id, None)

    async def _keep(self) -> None:
        """Store finished matches as they appear."""
        while True:
            await self._ended.wait()
            self._ended.clear()
            try:
                await self._keep_ended()
                await asyncio.sleep(PAUSE)
            except Exception as error:
                LOG.error("episodes could not be stored; retrying: %s", error)
                await asyncio.sleep(RETRY)
                self._ended.set()

    async def _episode_or_none(self, id: str, cell: str) -> Episode | None:
        """Return the record of a match, or None if it cannot be replayed any more."""
        try:
            return await self.episode(id, cell)
        except (BadInput, NoSuchSeat) as error:
            LOG.error("match %s is not stored: %s", id, error)
            return None

    async def _keep_ended(self) -> None:
        """Store every finished match once, and call the registered callbacks with its record."""
        rows = await self.database.run(
            Transaction.all,
            "SELECT id, owner, cell FROM matches WHERE ended = 1 AND stored = 0 ORDER BY made",
        )
        done = []
        for id, owner, cell in rows:
            if (episode := await self._episode_or_none(id, cell)) is not None:
                done.append((id, owner, episode))
            await asyncio.sleep(0)  # let requests run while a hundred records are made
        await asyncio.to_thread(self._store, [e for _, owner, e in done if not owner])
        for id, _, episode in done:
            for watcher in self.watchers:
                await watcher(id, episode)

        def mark(tx: Transaction) -> None:
            for id, _, _ in done:
                tx.execute("UPDATE matches SET stored = 1 WHERE id = ?", id)

        await self.database.run(mark)
        self._in_doubt = False

    def _store(self, episodes: Sequence[Episode]) -> None:
        """Write the episodes that the store does not have yet.

        After a crash or a full disk the store may already hold episodes that the database marks as
        unstored.
        """
        if self.out is None or not episodes:
            return
        stored_ids = set(store.load(self.out).episodes) if self._in_doubt else set()
        self._in_doubt = True  # until the database is updated
        with store.Writer(self.out) as writer:  # on disk under its final name when closed
            for episode in episodes:
                if episode.id not in stored_ids:
                    writer.add(episode)
