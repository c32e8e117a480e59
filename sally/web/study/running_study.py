"""A running study: the participants' progress through its steps and matches."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput, NotAsked
from sally.core.log.events import Censored, Episode, Instance
from sally.core.rules.game import Seat
from sally.frames.replays import replay_for_measures
from sally.web.database import Database, Transaction
from sally.web.live.matches import LiveMatches, NoSuchSeat, hash_token
from sally.web.live.screen import REMOVED as REMOVED_FROM_MATCH
from sally.web.study import participants
from sally.web.study.definition import SKIP, Condition, HumanStudy, Layout, practice_of
from sally.web.study.items import read_survey
from sally.web.study.participants import (
    ACTIVE,
    DONE,
    INCOMPLETE,
    ChatView,
    Person,
    Secrets,
    practice_round,
)
from sally.web.study.practice import PracticeFeedback, feedback
from sally.web.study.steps import (
    ADVANCED,
    END,
    FAILED,
    FALLBACK,
    MODEL,
    PLATFORM,
    READY,
    REMOVED,
    SURVEY,
    CheckAttempt,
    RoundOutcome,
    attention_counts,
    current,
    judge_check,
    pay_of,
    rounds_in,
    survey_items,
)

LOG = logging.getLogger("sally.web")
FAREWELL = 2.0  # seconds for a partner's browser to learn that the match stopped
PLAYED = ("ended", "forfeits")  # outcomes of rounds that were played to the end
LEFT = ("left", "partner left")  # outcomes after which the remaining rounds are skipped


class AlreadyWithdrawn(Exception):
    """Raised if the person has withdrawn in the meantime, in another tab."""


class Position(msgspec.Struct, frozen=True):
    """A participant's current step."""

    person: Person
    condition: Condition
    step: str
    given: Mapping[str, Any]
    token: str = ""  # seat token during a game
    has_begun: bool = False  # the person has answered in this game
    waiting: bool = False  # waiting for a partner
    waited: float = 0.0  # seconds
    feedback: PracticeFeedback | None = None  # on a practice game that is over

    @property
    def number(self) -> int:
        """The index of a repeated step, from 0."""
        return int(self.step.rpartition("-")[2])


class RunningStudy:
    """A study that this server runs."""

    def __init__(
        self,
        study: HumanStudy,
        study_secrets: Secrets,
        database: Database,
        live_matches: LiveMatches,
        folder: Path = Path(),  # of the study file, with its pictures
    ) -> None:
        self.folder = folder
        self.study, self.secrets = study, study_secrets
        self.database, self.live_matches = database, live_matches
        self.texts = study.page_texts
        labels = study.labels
        live_matches.labels[self.owner] = labels
        live_matches.labels[self.practice_owner] = msgspec.structs.replace(labels, reveals=True)
        for condition in study.conditions:
            paid = msgspec.structs.replace(labels, per_point=study.point_value(condition))
            live_matches.labels[f"{self.owner}/{condition.name}"] = paid
        live_matches.delays[self.owner] = study.limits.model_seconds
        for owner in (self.owner, self.practice_owner):
            live_matches.timeouts[owner] = study.limits.timeout
        self.finished: dict[str, Episode] = {}  # finished matches by id
        self.unreadable: set[str] = set()  # matches whose rules are not installed
        self._opening = asyncio.Lock()  # sufficient, since a database has one server
        self.erasing = asyncio.Lock()  # held while deleting or exporting people

    @property
    def owner(self) -> str:
        """The owner of this study's matches in the database."""
        return f"study:{self.study.name}"

    @property
    def practice_owner(self) -> str:
        """The owner of practice matches, which are neither exported nor paid."""
        return f"practice:{self.study.name}"

    # --- joining --------------------------------------------------------------------------------

    async def person_of_cookie(self, cookie: str) -> Person | None:
        """Return the participant with this cookie, after marking inactive participants as
        lapsed."""

        def find(tx: Transaction) -> Person | None:
            participants.lapse(tx, self.study)
            return participants.by_cookie(tx, self.study.name, hash_token(cookie))

        return await self.database.run(find)

    async def person_of_platform(self, platform_id: str) -> Person | None:
        """Return the participant with this platform id."""
        return await self.database.run(participants.by_given, self.study.name, platform_id)

    async def withdrawn(self, platform_id: str) -> bool:
        """Return whether a person with this platform id has withdrawn."""
        mark = self.secrets.withdrawn_mark(platform_id)
        return await self.database.run(participants.is_withdrawn, self.study.name, mark)

    async def full(self) -> bool:
        def look(tx: Transaction) -> bool:
            participants.lapse(tx, self.study)
            people = participants.everybody(tx, self.study.name)
            return participants.is_full(tx, self.study, people)

        return await self.database.run(look)

    async def join(
        self, cookie: str, platform_id: str, platform_params: Mapping[str, str] | None = None
    ) -> Person | None:
        """Add a person who consented; return None if the study is full or the person joined
        before."""

        def add(tx: Transaction) -> Person | None:
            person = participants.join(tx, self.study, hash_token(cookie), platform_id)
            if person is not None and platform_params:
                participants.note_quietly(tx, person.id, PLATFORM, dict(platform_params))
            return person

        return await self.database.run(add)

    async def decline(self) -> None:
        """Count a person who declined; nothing else is stored."""
        await self.database.run(participants.count, self.study.name, participants.DECLINED)

    async def resume_link(self, person: Person) -> str:
        """Return the path of a link by which an active person continues in another browser.

        It works once: whoever uses it holds the participation afterwards.
        """
        token = await self.database.run(participants.resume_token, self.secrets, person.id)
        return f"/study/{self.study.name}/resume?key={person.id}.{token}"

    async def resumed_by(self, key: str) -> Person | None:
        """Return the active person whom the key of a resume link belongs to, or None."""
        id, _, token = key.partition(".")

        def find(tx: Transaction) -> Person | None:
            participants.lapse(tx, self.study)
            person = participants.by_id(tx, id)
            if person is None or person.state != ACTIVE:
                return None
            expected = participants.resume_token(tx, self.secrets, id)
            is_right = secrets.compare_digest(token.encode(), expected.encode())
            return person if is_right else None

        return await self.database.run(find)

    async def hand_over(self, person: Person, cookie: str) -> None:
        """Move a participant to this browser."""
        await self.database.run(participants.give_cookie, person.id, hash_token(cookie))

    # --- steps ----------------------------------------------------------------------------------

    async def place(self, person: Person) -> Position:
        """Return the current step, after opening matches and storing outcomes as needed."""
        while True:
            person, answers = await self.database.run(self._refresh_person, person)
            condition = self.study.condition(person.condition)  # may change until the first game
            step = current(self.study, condition, answers)
            position = Position(person, condition, step, answers)
            if step in (END, FAILED):
                return msgspec.structs.replace(position, person=await self._finish(position))
            if step.startswith("practice-"):
                return await self._practising(position)
            if step.startswith("chat-") and await self._chatting(position):
                return position
            if not step.startswith(("round-", "chat-")):
                return position
            if step.startswith("chat-"):
                continue
            at_table = await self._at_table(position)
            if at_table is not None:
                return at_table

    def _refresh_person(self, tx: Transaction, person: Person) -> tuple[Person, dict[str, Any]]:
        if (stored_person := participants.by_id(tx, person.id)) is None:
            raise AlreadyWithdrawn
        if person.state == ACTIVE:
            participants.see(tx, person.id)
        return stored_person, participants.given_by(tx, person.id)

    async def _at_table(self, position: Position) -> Position | None:
        """Return the current step of a person who is in a match or waits for one; None if the round
        is over."""
        person, k = position.person, position.number
        seat_row = await self.database.run(participants.table_of, person.id, k)
        if seat_row is None:
            return await self._seat_or_wait(position)
        match, seat = seat_row
        try:
            episode = await self.live_matches.episode(match)
        except NoSuchSeat:  # the partner withdrew, which deleted the match
            await self._skip_from(position, RoundOutcome("partner left"))
            return None
        if episode is None:
            token = self.secrets.seat_token(person.id, k)
            has_begun = await self.database.run(participants.has_answered, match, seat)
            return msgspec.structs.replace(position, token=token, has_begun=has_begun)
        await self._note_round(position, outcome(episode, seat))
        return None

    async def _practising(self, position: Position) -> Position:
        """Return the position in or after a practice game, opening the game if needed."""
        person, k = position.person, practice_round(position.number)
        seat_row = await self.database.run(participants.table_of, person.id, k)
        if seat_row is None:
            planned = practice_of(self.study, position.condition)[position.number]
            (seat,) = planned.layout.people
            async with self._opening:
                seat_row = await self.database.run(participants.table_of, person.id, k)
                if seat_row is None:  # not opened in another tab
                    layout, instance, owner = planned.layout, planned.instance, self.practice_owner
                    match = await self._open_match(layout, instance, {seat: person}, k, owner)
                    seat_row = match, seat
        match, seat = seat_row
        episode = await self.live_matches.episode(match)
        if episode is None:
            return msgspec.structs.replace(position, token=self.secrets.seat_token(person.id, k))
        return msgspec.structs.replace(position, feedback=feedback(self.study, episode, seat))

    # --- chat -----------------------------------------------------------------------------------

    async def _chatting(self, position: Position) -> bool:
        """Return whether a group's chat is still open; a chat ends for all members at the same
        time."""
        seconds, most_wait = position.condition.chat_seconds, self.study.limits.answer_seconds
        return await self.database.run(
            participants.chat_goes_on, position.person, position.number, seconds, most_wait
        )

    async def chat(self, position: Position) -> ChatView:
        """Return a chat as one member of the group sees it."""
        seconds = position.condition.chat_seconds
        return await self.database.run(
            participants.chat_view, position.person, position.number, seconds
        )

    async def say(self, position: Position, text: str) -> str:
        """Add a message to the chat; return why it was refused, or an empty string."""
        text = " ".join(text.split())
        if not text:
            return self.texts("chat.empty")
        if len(text) > participants.MOST_CHARACTERS:
            return self.texts("chat.long", limit=participants.MOST_CHARACTERS)
        is_stored = await self.database.run(
            participants.say, position.person, position.number, text
        )
        return "" if is_stored else self.texts("chat.over")

    async def _note_round(self, position: Position, came: RoundOutcome) -> None:
        """Store the outcome of a round; after a person left, the remaining rounds are skipped."""
        if came.how in LEFT:
            await self._skip_from(position, came)
        else:
            await self.database.run(
                participants.note, position.person.id, position.step, msgspec.to_builtins(came)
            )

    async def _skip_from(self, position: Position, came: RoundOutcome) -> None:
        """Store the outcome of the current round, and skip all later rounds for the same reason;
        with `rematch`, a person whose partner left goes on with another one."""
        rounds = range(position.number + 1, self.study.rounds_of(position.condition))
        if position.condition.rematch and came.how == "partner left":
            rounds = range(0)
        skipped = msgspec.to_builtins(RoundOutcome(came.how))

        def skip(tx: Transaction) -> None:
            participants.note(tx, position.person.id, position.step, msgspec.to_builtins(came))
            for k in rounds:
                participants.note(tx, position.person.id, f"round-{k}", skipped)

        await self.database.run(skip)

    # --- matches --------------------------------------------------------------------------------

    async def _seat_or_wait(self, position: Position) -> Position | None:
        """Open the next match or wait for a partner; return None if the participant's position has
        changed in the meantime."""
        async with self._opening:
            if await self.database.run(participants.table_of, position.person.id, position.number):
                return None  # opened by the partner or in another tab
            if self.study.models and await self._joined_by_model(position):
                return None
            company = await self._company(position)
            if company is not None and len(company) == self._size(position):
                await self._open(position, company)
                return None
        if company is not None:  # a member of the group is gone
            await self._skip_from(position, RoundOutcome("partner left"))
            return None
        since = await self.database.run(participants.by_id, position.person.id)
        waited = time.time() - ((since.waits if since else None) or time.time())
        if waited > 60 * self.study.limits.pair_minutes:
            await self._stop_waiting(position)
            return None
        return msgspec.structs.replace(position, waiting=True, waited=waited)

    def _size(self, position: Position) -> int:
        """Return how many people play together in each round of a participant."""
        alone = FALLBACK in position.given or MODEL in position.given
        return 1 if alone else len(position.condition.people)

    async def _joined_by_model(self, position: Position) -> bool:
        """Draw whether a model joins a person who begins to wait; return whether one did."""

        def draw(tx: Transaction) -> bool:
            person = participants.by_id(tx, position.person.id)
            if person is None or person.pair or person.waits is not None:
                return False  # withdrew, has a group, or was drawn already
            return participants.join_model(tx, self.study, person)

        return await self.database.run(draw)

    async def _stop_waiting(self, position: Position) -> None:
        """Let a person who waited in vain for a partner play with bots, or skip the games."""
        fallback = self.study.limits.fallback
        if fallback == SKIP:
            await self._skip_from(position, RoundOutcome("no partner"))
            return

        def alone(tx: Transaction) -> None:
            person = participants.by_id(tx, position.person.id)
            if person is None or person.pair:
                return  # withdrew, or was grouped after all
            participants.form_group(tx, self.study, [person])
            participants.note(tx, person.id, FALLBACK, fallback)

        await self.database.run(alone)

    async def _company(self, position: Position) -> dict[str, Person] | None:
        """Return the players of this round by seat; None while the group is incomplete."""
        seats = position.condition.people

        def find(tx: Transaction) -> dict[str, Person] | None:
            person = participants.by_id(tx, position.person.id)
            if person is None:
                return {}
            if len(seats) == 1:
                return {seats[0]: person}
            company = participants.find_group(tx, self.study, person, position.number)
            if not company:
                return None
            members = {seat: participants.by_id(tx, id) for seat, id in company.items()}
            return {s: p for s, p in members.items() if p is not None and p.state == ACTIVE}

        return await self.database.run(find)

    async def _open(self, position: Position, company: Mapping[str, Person]) -> None:
        study, k = self.study, position.number
        first = next(iter(company.values()))
        condition = study.condition(first.condition)  # a group is assigned when it is formed
        planned = study.plan(condition, first.row)[k]
        seats = dict(zip(condition.people, planned.layout.people, strict=True))
        company = {seats[seat]: person for seat, person in company.items()}
        layout, empty = planned.layout, [s for s in planned.layout.people if s not in company]
        if empty:
            model = next((m for m in study.models if m.model == position.given.get(MODEL)), None)
            bots = {
                s: model.player if model else study.stand_in(layout, planned.instance, s)
                for s in empty
            }
            layout = msgspec.structs.replace(layout, others={**layout.others, **bots})
        instance, cell = planned.instance, condition.name
        await self._open_match(layout, instance, company, k, self.owner, cell)

    async def _open_match(
        self,
        layout: Layout,
        instance: Instance,
        company: Mapping[str, Person],
        k: int,
        owner: str,
        cell: str = "",
    ) -> str:
        """Open the match of round `k` for these people by seat, and return its id."""
        names = {seat: self.secrets.export_id(person) for seat, person in company.items()}
        opened = await self.live_matches.open(
            self.study.setup(layout, instance, names),
            list(company),
            keys={s: hash_token(self.secrets.seat_token(p.id, k)) for s, p in company.items()},
            cell=cell,
            owner=owner,
            patience=self.study.limits.answer_seconds,
            mirrored=[seat for seat, person in company.items() if person.reverse],
            also=lambda tx, match: participants.sit_down(
                tx, match, k, {seat: person.id for seat, person in company.items()}
            ),
        )
        return opened.match

    async def match_over(self, match: str, episode: Episode) -> None:
        """Store the outcome for all people in a match, even those who do not come back."""

        def keep(tx: Transaction) -> None:
            for person, k, seat in participants.at_match(tx, match):
                if k < 0:
                    continue  # practice
                came = outcome(episode, seat)
                if came.how not in LEFT:  # handled by _note_round
                    participants.note_quietly(tx, person, f"round-{k}", msgspec.to_builtins(came))

        await self.database.run(keep)

    # --- answers --------------------------------------------------------------------------------

    async def answer(
        self, position: Position, step: str, sent: Mapping[str, str]
    ) -> tuple[bool, dict[str, str]]:
        """Accept the answer to a step; return whether it was stored, and error messages by field.

        An answer to another step (back button, second tab, double click) changes nothing.
        """
        if step != position.step or position.person.state != ACTIVE:
            return False, {}
        value: Any = True
        wrong: dict[str, str] = {}
        if step.startswith("check-") and self.study.check is not None:
            questions = self.study.check.questions
            answers = [sent.get(f"q-{i}", "") for i, _ in enumerate(questions)]
            if not all(a in q.options for a, q in zip(answers, questions, strict=True)):
                return False, {"check": self.texts("check.answer_all")}
            value = msgspec.to_builtins(judge_check(self.study.check, answers))
        elif step == SURVEY or step.startswith(f"{SURVEY}-"):
            items = survey_items(self.study, position.condition, step, position.given)
            value, wrong = read_survey(items, sent, self.texts)
        elif step.startswith("practice-") and position.feedback is None:
            return False, {}  # it is not over
        elif step.startswith("chat-"):
            step = f"{READY}{position.number}"
        elif not step.startswith(("instructions-", "block-", "practice-")):
            return False, {}
        if wrong:
            return False, wrong
        is_stored = await self.database.run(participants.note, position.person.id, step, value)
        return is_stored, {}

    async def _finish(self, position: Position) -> Person:
        """Store the final state, bonus and code once, and return the person."""
        person, study = position.person, self.study
        if person.state == ACTIVE:
            if position.step == FAILED:
                state, bonus, code = participants.FAILED, "", study.completion.screened_out
            else:
                rounds = rounds_in(study, position.condition, position.given)
                is_complete = all(came.how in PLAYED for came in rounds)
                state = DONE if is_complete else INCOMPLETE
                if self._inattentive(position):
                    state = participants.EXCLUDED
                alone = any(came.how in ("partner left", "no partner") for came in rounds)
                bonus = pay_of(
                    study, position.condition, position.given, person.number, rounds, alone
                )
                code = study.completion.code or secrets.token_hex(4).upper()
            await self.database.run(participants.finish, person.id, state, bonus, code)
        stored_person = await self.database.run(participants.by_id, person.id)
        return stored_person or person

    async def rounds_played(self, person: Person) -> list[RoundOutcome]:
        """Return the outcomes of a person's finished rounds, also of those that ended after the
        person had left."""
        answers = await self.database.run(participants.given_by, person.id)
        condition = self.study.condition(person.condition)
        rounds, paid = rounds_in(self.study, condition, answers), self.study.rounds_of(condition)
        for k, match, seat in await self.database.run(participants.tables, person.id):
            if f"round-{k}" not in answers and 0 <= k < paid:  # not a practice game
                with suppress(NoSuchSeat):  # the partner withdrew, which deleted the match
                    if (episode := await self.live_matches.episode(match)) is not None:
                        rounds.append(outcome(episode, seat))
        return rounds

    def _inattentive(self, position: Position) -> bool:
        """Return whether the study excludes the person for failed attention checks."""
        passed, checks = attention_counts(self.study, position.condition, position.given)
        return self.study.quality.attention == "exclude" and passed < checks

    # --- for the explorer -----------------------------------------------------------------------

    # --- actions of the experimenter ------------------------------------------------------------

    async def find(self, text: str) -> Person:
        """Return the participant with this platform id or code; raises BadInput."""

        def look(tx: Transaction) -> Person:
            person = participants.find_one(tx, self.study.name, self.secrets, text)
            people = participants.everybody_now(tx, self.study, self.database.read_only)
            return next(now for now in people if now.id == person.id)

        return await self.database.run(look)

    async def advance(self, person: Person) -> str:
        """Move a stuck participant past the current step, and return that step.

        A game in progress stops for all of its players, who keep their points and continue with
        the next round. The exported row lists the steps under `advanced`.
        """
        position = await self.place(person)
        if position.person.state != ACTIVE:
            raise BadInput("The participant has finished; there is no step to skip.")
        skipped: Any = True
        if position.step.startswith("check-"):
            skipped = msgspec.to_builtins(CheckAttempt((), True))
        elif position.step.startswith(SURVEY):
            skipped = {}
        elif position.step.startswith("round-"):
            return await self._advance_round(position)
        await self._note_advanced(position, skipped)
        return position.step

    async def _advance_round(self, position: Position) -> str:
        seat_row = await self.database.run(
            participants.table_of, position.person.id, position.number
        )
        if seat_row is None:  # still waiting for a partner
            await self._skip_from(position, RoundOutcome("no partner"))
        else:
            live = await self.live_matches.find(seat_row[0])
            await live.stop("stopped", "by the experimenter")
        await self._note_advanced(position, None)
        return position.step

    async def _note_advanced(self, position: Position, value: Any) -> None:
        def skip(tx: Transaction) -> None:
            participants.note_quietly(tx, position.person.id, f"{ADVANCED}{position.step}", True)
            if value is not None:
                participants.note(tx, position.person.id, position.step, value)

        await self.database.run(skip)

    async def remove(self, person: Person) -> None:
        """End the participation of a stuck participant, who is paid for the rounds played."""
        if person.state != ACTIVE:
            raise BadInput("The participant has finished already.")
        for _, match, seat in await self.database.run(participants.tables, person.id):
            live = await self.live_matches.find(match)
            if not live.match.over:
                await live.leave(seat, REMOVED_FROM_MATCH)
        position = await self.place(person)
        rounds = rounds_in(self.study, position.condition, position.given)
        bonus = pay_of(self.study, position.condition, position.given, person.number, rounds)
        code = self.study.completion.code or secrets.token_hex(4).upper()

        def end(tx: Transaction) -> None:
            participants.note_quietly(tx, person.id, REMOVED, position.step)
            participants.finish(tx, person.id, INCOMPLETE, bonus, code)

        await self.database.run(end)

    async def exclude(self, person: Person, reason: str) -> None:
        """Exclude a participant from the design; the pay for what was played stays."""
        if person.state not in (ACTIVE, DONE, INCOMPLETE):
            raise BadInput(f"The participant is {person.state} and fills no place.")
        if person.state == ACTIVE:
            await self.remove(person)
        await self.database.run(participants.exclude, person.id, reason)

    async def readmit(self, person: Person) -> None:
        """Let a lapsed participant go on at the step where they stopped."""
        if person.state != participants.LAPSED:
            raise BadInput(
                f"The participant is {person.state}; only lapsed ones can be readmitted."
            )
        await self.database.run(participants.readmit, person.id)

    # --- withdrawal -----------------------------------------------------------------------------

    async def withdraw(self, person: Person) -> None:
        """Delete all data of a person; partners keep their points."""
        for _, match, seat in await self.database.run(participants.tables, person.id):
            await self._say_farewell(match, seat)
        async with self.erasing, self._opening:
            tables = await self.database.run(participants.tables, person.id)
            for _, match, _ in tables:
                came = await self._outcomes(match)
                await self.live_matches.forget(
                    match,
                    lambda tx, match=match, came=came: participants.part(  # type: ignore[misc]
                        tx, match, person.id, came
                    ),
                )
            code = self.secrets.export_id(person)
            mark = self.secrets.withdrawn_mark(person.given)
            await self.database.run(participants.erase, self.study.name, person, code, mark)
        await asyncio.to_thread(participants.wipe, self.database)

    async def _outcomes(self, match: str) -> dict[str, RoundOutcome]:
        """Return the outcome of a match by seat; empty if it cannot be replayed any more."""
        try:
            episode = await self.live_matches.episode(match)
        except (NoSuchSeat, NotAsked):
            return {}
        return {} if episode is None else {s: outcome(episode, s) for s in episode.setup.lineup}

    async def _say_farewell(self, match: str, seat: str) -> None:
        """Stop a match in progress, and give the partners' browsers time to show that it has
        ended."""
        try:
            live = await self.live_matches.find(match)
        except (NoSuchSeat, NotAsked):  # deleted already, or of rules that are not installed
            return
        if not live.match.over:
            await live.leave(seat, "the person withdrew")
            if len(live.people) > 1:
                await asyncio.sleep(FAREWELL)


def outcome(episode: Episode, seat: str) -> RoundOutcome:
    """Return the outcome of a match for one seat; an interrupted match pays the points so far.

    It has no payoff, and is not drawn for payment, if the game has no points before its end
    (`pays_as_it_goes` is False), or if no player had moved yet. The seat that stopped the match
    before that has 0 points, so that leaving a game cannot decide which game is drawn.
    """
    end = episode.end
    if not isinstance(end, Censored):
        return RoundOutcome("ended", end.payoffs.get(seat))
    leaver = "left" if end.seat == seat else "partner left"
    replay = replay_for_measures(episode).replay
    has_begun = any(not moves.keys().isdisjoint(replay.game.seats) for moves in replay.moves)
    has_points = replay.game.pays_as_it_goes and (has_begun or end.seat == seat)
    so_far = replay.game.payoffs(replay.states[-1]) if has_points else {}
    return RoundOutcome(leaver if end.cause == "left" else end.cause, so_far.get(Seat(seat)))
