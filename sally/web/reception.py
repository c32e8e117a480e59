"""Where each participant is, and how they get on: the way through a study, with its tables."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from sally.core.errors import BadInput, NotAsked
from sally.core.log import Censored, Episode, Instance
from sally.web import roster
from sally.web.balance import order
from sally.web.book import Book, Hand
from sally.web.catalogue import Entry, entry_of
from sally.web.house import House, NoSuchSeat, hashed
from sally.web.roster import ACTIVE, DONE, INCOMPLETE, Person, Secrets
from sally.web.studies import Condition, HumanStudy
from sally.web.way import (
    END,
    FAILED,
    Round,
    current,
    judged,
    read_survey,
    rounds_in,
)

LOG = logging.getLogger("sally.web")
AT_ONCE = 100  # matches that a list reads from the book; the next look reads on
FAREWELL = 2.0  # seconds in which a partner's browser hears that the match was stopped
PLAYED = ("ended", "forfeits")  # rounds that ran as the rules have it


class Withdrawn(Exception):
    """Somebody who was here a moment ago has withdrawn, in another tab."""


class Place(msgspec.Struct, frozen=True):
    """Where somebody is now."""

    person: Person
    condition: Condition
    step: str
    given: Mapping[str, Any]
    token: str = ""  # what opens their seat, while they play
    waiting: bool = False  # for a partner

    @property
    def number(self) -> int:
        """The number of a step that comes several times, from 0."""
        return int(self.step.rpartition("-")[2])


class Reception:
    """One study at this server."""

    def __init__(self, study: HumanStudy, kept: Secrets, book: Book, house: House) -> None:
        self.study, self.secrets, self.book, self.house = study, kept, book, house
        self._known: dict[str, Entry] = {}  # matches that are over, by their ids
        self._unreadable: set[str] = set()  # matches of rules that are not installed
        self._opening = asyncio.Lock()  # one server a database, so this is enough
        self.erasing = asyncio.Lock()  # is held by whoever deletes people, or exports them

    @property
    def owner(self) -> str:
        """Under which name the book has the matches of this study."""
        return f"study:{self.study.name}"

    # --- coming in --------------------------------------------------------------------------

    async def who(self, cookie: str) -> Person | None:
        """The participant with this cookie; one who was away for too long has lapsed."""

        def find(hand: Hand) -> Person | None:
            roster.lapse(hand, self.study)
            return roster.by_cookie(hand, self.study.name, hashed(cookie))

        return await self.book.run(find)

    async def known(self, given: str) -> Person | None:
        """The participant whom the platform calls so."""
        return await self.book.run(lambda hand: roster.by_given(hand, self.study.name, given))

    async def full(self) -> bool:
        def look(hand: Hand) -> bool:
            roster.lapse(hand, self.study)
            return roster.is_full(self.study, roster.everybody(hand, self.study.name))

        return await self.book.run(look)

    async def join(self, cookie: str, given: str) -> Person | None:
        """Take somebody in who has agreed; None when there is no place, or they are in already."""
        return await self.book.run(
            lambda hand: roster.join(hand, self.study, hashed(cookie), given)
        )

    async def decline(self) -> None:
        """Count somebody who did not agree; nothing is kept of them."""
        await self.book.run(lambda hand: roster.count(hand, self.study.name, roster.DECLINED))

    async def hand_over(self, person: Person, cookie: str) -> None:
        """Let somebody go on in this browser."""
        await self.book.run(lambda hand: roster.give_cookie(hand, person.id, hashed(cookie)))

    # --- the way through --------------------------------------------------------------------

    async def place(self, person: Person) -> Place:
        """Where somebody is; what has to happen on the way there has happened when this returns."""
        condition = self.study.condition(person.condition)
        while True:
            given = await self.book.run(lambda hand: self._seen(hand, person))
            step = current(self.study, condition, given)
            here = Place(person, condition, step, given)
            if step in (END, FAILED):
                return msgspec.structs.replace(here, person=await self._ended(here))
            if not step.startswith("round-"):
                return here
            at_table = await self._at_table(here)
            if at_table is not None:
                return at_table

    def _seen(self, hand: Hand, person: Person) -> dict[str, Any]:
        if roster.by_id(hand, person.id) is None:
            raise Withdrawn
        if person.state == ACTIVE:
            roster.see(hand, person.id)
        return roster.given_by(hand, person.id)

    async def _at_table(self, here: Place) -> Place | None:
        """Somebody at a table or waiting for one; None when that round is over by now."""
        person, k = here.person, here.number
        found = await self.book.run(lambda hand: roster.table_of(hand, person.id, k))
        if found is None:
            return await self._seated(here)
        match, seat = found
        try:
            episode = await self.house.episode(match)
        except NoSuchSeat:  # the other one withdrew, and the match with them
            await self._skip_from(here, "partner left")
            return None
        if episode is None:
            token = self.secrets.seat_token(person.id, k)
            return msgspec.structs.replace(here, token=token)
        await self._note_round(here, outcome(episode, seat))
        return None

    async def _note_round(self, here: Place, came: Round) -> None:
        """Keep what came of a round; after somebody left, the rounds behind it fall away."""
        if came.how in ("left", "partner left"):
            await self._skip_from(here, came.how)
        else:
            await self.book.run(
                lambda hand: roster.note(hand, here.person.id, here.step, msgspec.to_builtins(came))
            )

    async def _skip_from(self, here: Place, how: str) -> None:
        rounds = range(here.number, self.study.rounds_of(here.condition))

        def skip(hand: Hand) -> None:
            for k in rounds:
                roster.note(hand, here.person.id, f"round-{k}", msgspec.to_builtins(Round(how)))

        await self.book.run(skip)

    # --- tables -----------------------------------------------------------------------------

    async def _seated(self, here: Place) -> Place | None:
        """Open the next table, or wait for a partner; None when something has changed."""
        async with self._opening:
            if await self.book.run(lambda hand: roster.table_of(hand, here.person.id, here.number)):
                return None  # opened by the partner, or in another tab
            company = await self._company(here)
            if company is not None and len(company) == len(here.condition.people):
                await self._open(here, company)
                return None
        if company is not None:  # somebody of the pair is gone
            await self._skip_from(here, "partner left")
            return None
        since = await self.book.run(lambda hand: roster.by_id(hand, here.person.id))
        waited = time.time() - ((since.waits if since else None) or time.time())
        if waited > 60 * self.study.limits.pair_minutes:
            await self._skip_from(here, "no partner")
            return None
        return msgspec.structs.replace(here, waiting=True)

    async def _company(self, here: Place) -> dict[str, Person] | None:
        """Who plays this round, by seat; None while somebody is missing who may come."""
        seats = here.condition.people

        def find(hand: Hand) -> dict[str, Person] | None:
            person = roster.by_id(hand, here.person.id)
            if person is None:
                return {}
            if len(seats) == 1:
                return {seats[0]: person}
            company = roster.find_pair(hand, self.study, person, seats)
            if not company:
                return None
            members = {seat: roster.by_id(hand, id) for seat, id in company.items()}
            return {s: p for s, p in members.items() if p is not None and p.state == ACTIVE}

        return await self.book.run(find)

    async def _open(self, here: Place, company: Mapping[str, Person]) -> None:
        study, k = self.study, here.number
        names = {seat: self.secrets.exported(person) for seat, person in company.items()}
        first = next(iter(company.values()))
        instance = self.instances(here.condition, first.row)[k]
        await self.house.open(
            study.setup(here.condition, instance, names),
            list(company),
            keys={s: hashed(self.secrets.seat_token(p.id, k)) for s, p in company.items()},
            cell=here.condition.name,
            owner=self.owner,
            patience=study.limits.answer_seconds,
            mirrored=[seat for seat, person in company.items() if person.reverse],
            also=lambda hand, match: roster.sit_down(
                hand, match, k, {seat: person.id for seat, person in company.items()}
            ),
        )

    def instances(self, condition: Condition, row: int) -> list[Instance]:
        """The rounds of a row of the design, in order."""
        problems = self.study.problems(condition)
        chosen = order(len(problems), row)[: self.study.rounds_of(condition)]
        return [problems[i] for i in chosen]

    async def match_over(self, match: str, episode: Episode) -> None:
        """Keep what came of a match for everybody who sat at it, whether they come back or not."""

        def keep(hand: Hand) -> None:
            for person, k, seat in roster.at_match(hand, match):
                came = outcome(episode, seat)
                if came.how not in (
                    "left",
                    "partner left",
                ):  # those change the way; see _note_round
                    roster.note_quietly(hand, person, f"round-{k}", msgspec.to_builtins(came))

        await self.book.run(keep)

    # --- answers ----------------------------------------------------------------------------

    async def answer(
        self, here: Place, step: str, sent: Mapping[str, str]
    ) -> tuple[bool, dict[str, str]]:
        """Take what somebody sent for a step: whether it counted, and what is wrong with it.

        A step that is not theirs now (the back button, a second tab, a double click) changes
        nothing.
        """
        if step != here.step or here.person.state != ACTIVE:
            return False, {}
        value: Any = True
        wrong: dict[str, str] = {}
        if step.startswith("check-") and self.study.check is not None:
            questions = self.study.check.questions
            answers = [sent.get(f"q-{i}", "") for i, _ in enumerate(questions)]
            if not all(a in q.options for a, q in zip(answers, questions, strict=True)):
                return False, {"check": "Please answer every question."}
            value = msgspec.to_builtins(judged(self.study.check, answers))
        elif step == "survey":
            value, wrong = read_survey(self.study.survey, sent)
        elif not step.startswith("instructions-"):
            return False, {}
        if wrong:
            return False, wrong
        kept = await self.book.run(lambda hand: roster.note(hand, here.person.id, step, value))
        return kept, {}

    async def _ended(self, here: Place) -> Person:
        """The end, written down once: state, bonus, code."""
        person, study = here.person, self.study
        if person.state == ACTIVE:
            if here.step == FAILED:
                state, bonus, code = roster.FAILED, "", study.completion.screened_out
            else:
                rounds = rounds_in(study, here.condition, here.given)
                whole = all(came.how in PLAYED for came in rounds)
                state = DONE if whole else INCOMPLETE
                bonus = str(study.bonus.of([came.payoff for came in rounds]))
                code = study.completion.code or secrets.token_hex(4).upper()
            await self.book.run(lambda hand: roster.finish(hand, person.id, state, bonus, code))
        found = await self.book.run(lambda hand: roster.by_id(hand, person.id))
        return found or person

    # --- for the explorer -------------------------------------------------------------------

    async def played(self) -> list[Entry]:
        """Every match that is over, in short; who withdraws takes theirs along."""
        rows = await self.book.run(
            lambda hand: hand.all(
                "SELECT id FROM matches WHERE owner = ? AND ended = 1 ORDER BY made", self.owner
            )
        )
        ids = [row[0] for row in rows]
        self._known = {id: self._known[id] for id in ids if id in self._known}
        new = [id for id in ids if id not in self._known and id not in self._unreadable]
        for id in new[:AT_ONCE]:
            try:
                episode = await self.house.episode(id)
            except NotAsked as why:
                self._unreadable.add(id)
                LOG.error("match %s is not shown: %s", id, why)
                continue
            if episode is not None:
                self._known[id] = entry_of(episode, self.owner, self.study.name, file=id)
        return list(self._known.values())

    async def episode(self, id: str) -> Episode:
        """A match that is over, by its episode's id."""
        for entry in await self.played():
            if entry.id == id and (found := await self.house.episode(entry.file)) is not None:
                return found
        raise BadInput(f"The study has no episode {id!r} any more.")

    # --- going ------------------------------------------------------------------------------

    async def withdraw(self, person: Person) -> None:
        """Delete all that is known of somebody; others at their tables keep what they earned."""
        for _, match, seat in await self.book.run(lambda hand: roster.tables(hand, person.id)):
            await self._say_farewell(match, seat)
        async with self.erasing, self._opening:
            mine = await self.book.run(lambda hand: roster.tables(hand, person.id))
            for _, match, _ in mine:
                await self.house.forget(
                    match,
                    lambda hand, match=match: roster.part(hand, match, person.id),  # type: ignore[misc]
                )
            await self.book.run(lambda hand: roster.erase(hand, self.study.name, person.id))
        await asyncio.to_thread(roster.wipe, self.book)

    async def _say_farewell(self, match: str, seat: str) -> None:
        """Stop a match that is going on, and let the others at it hear that before it is gone."""
        try:
            room = await self.house.room(match)
        except (NoSuchSeat, NotAsked):  # deleted with the other one, or of rules of another time
            return
        if not room.match.over:
            await room.leave(seat, "the person withdrew")
            if len(room.people) > 1:
                await asyncio.sleep(FAREWELL)


def outcome(episode: Episode, seat: str) -> Round:
    """What came of a match for one seat."""
    end = episode.end
    if isinstance(end, Censored):
        left = "left" if end.seat == seat else "partner left"
        return Round(left if end.cause == "left" else end.cause)
    return Round("ended", end.payoffs.get(seat))
