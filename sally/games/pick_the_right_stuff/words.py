"""Pick the Right Stuff in language: sentences of our own, in the order of the announcements of
tang2024."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from sally.core.errors import Unreadable, join_names
from sally.core.log.events import Told
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.probe import Question
from sally.core.rules.words import Words, read_texts
from sally.games.pick_the_right_stuff.locker import (
    Collection,
    Contents,
    Event,
    Rehearsal,
    Reset,
    Retrieval,
    Snapshot,
    View,
    Visit,
)
from sally.games.pick_the_right_stuff.rules import Action, LockerGame

TEXTS: Mapping[str, str] = read_texts(__package__)


# People read names instead of numbers; the sentences are the same.
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gia", "Hugo")
PEOPLE: Mapping[str, str] = {
    **{
        key: text.replace("User {user}", "{name}")
        for key, text in TEXTS.items()
        if "User {user}" in text
    },
    "rules.place": TEXTS["rules.place"].replace("User 0 to User {last_user}", "{first} to {last}"),
    "rules.belief.infinite": TEXTS["rules.belief.infinite"].replace(
        "after the highest number the boxes begin again at 0",
        "after the last box the boxes begin again at the first",
    ),
    "rules.task": "Whoever comes to collect their item opens the box in which they believe the "
    "item to "
    "be. Each time you say beforehand which box that will be, and the locker swaps the item into "
    "the box that is opened.",
    "holds": "{name}'s item is in {box}",
    "past.stored": "Everybody has put their item into the locker and left. {locker}",
    "past.reset": "The locker resets itself: the items move to other boxes. {locker}",
    "past.visit": "{name} comes to you, looks at the monitor and leaves.",
    "past.collection": "{name} comes to the locker to collect their item.",
    "box.page": "box {letter}",
    "box.option": "Box {letter}",
}


class LockerWords(Words[Action, View]):
    label: ClassVar[str] = "Answer"

    def __init__(self, game: LockerGame, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        problem = game.instance
        self.mode, self.users, self.families = problem.mode, problem.users, problem.families
        self.wording = game.wording

    def say(self, key: str, **slots: Any) -> str:
        """Return a text; the version for people uses users' names and box letters."""
        if "user" in slots and slots["user"] is not None:
            slots["name"] = self.person(int(slots["user"]))
        if "number" in slots:
            slots["letter"] = chr(ord("A") + int(slots["number"]))
        return super().say(key, **slots)

    @staticmethod
    def person(user: int) -> str:
        """Return the name that people are shown for a user."""
        return NAMES[user] if user < len(NAMES) else f"User {user}"

    def name(self, action: Any) -> str:
        return self.say("box.option", number=action)

    # --- the page -------------------------------------------------------------------------------

    def rules(self, seat: Seat) -> str:
        boxes = join_names(self.listing(self.box(number) for number in range(self.users)))
        families = "; ".join(self.say(f"family.{family}") for family in self.families)
        parts = [
            self.say(
                "rules.place",
                users=self.users,
                boxes=boxes,
                last_user=self.users - 1,
                first=self.person(0),
                last=self.person(self.users - 1),
            ),
            self.say("rules.resets"),
            self.say("rules.task"),
            self.say(f"rules.belief.{self.mode}", families=families),
            *([self.say("rules.rehearsals")] if self.mode == "infinite" else []),
            self.say("rules.score"),
            self.say("rules.end"),
        ]
        return "\n".join(parts)

    def lines(self, view: View, since: int, form: str) -> Iterable[str]:
        """Return the initial placement, then one line per announcement."""
        if since == 0:
            yield self.say("past.stored", locker=self._locker(view.states[0]))
        state = sum(isinstance(e, Reset | Retrieval) for e in view.story[: max(since - 1, 0)])
        for event in view.story[max(since - 1, 0) :]:
            state += isinstance(event, Reset | Retrieval)
            yield self._line(event, view.states[state])

    def now(self, view: View) -> str:
        if self.wording == "published":
            return ""  # the authors' harness sends nothing between the announcements
        items_left = self.users - view.states[-1].count(None)
        return self.say("now", left=items_left, users=self.users, points=view.correct)

    def question(self, view: View, options: Options[Action]) -> str:
        return self.say(f"question.{self.wording}", user=view.asked)

    def format(self, view: View, options: Options[Action]) -> str:
        if self.wording == "published":
            return self.say("format.published", highest=self.users - 1)
        return super().format(view, options)

    def stem(self, view: View, options: Options[Action]) -> str:
        return self.say("stem.move", user=view.asked)

    def read(self, reply: str, view: View, options: Options[Action]) -> Action:
        if self.wording == "published":
            return published_answer(reply, self.users)
        return super().read(reply, view, options)

    def drawn(self, view: View) -> str:
        """Return the locker as a row of boxes."""
        labels = ["" if user is None else f"User {user}" for user in view.states[-1]]
        names = [self.box(number) for number in range(self.users)]
        width = 2 + max(map(len, (*labels, *names)))
        edge = "+".join(["", *["-" * width] * self.users, ""])
        inside = "|".join(["", *(text.center(width) for text in labels), ""])
        below = " ".join(["", *(name.center(width) for name in names)])
        return "\n".join([edge, inside, edge, below.rstrip()])

    # --- probes ---------------------------------------------------------------------------------

    def aside(self, question: Question, view: View, pending: Action | None = None) -> str:
        return self.say(f"aside.{question.probe}", user=question.about)

    def aside_stem(self, question: Question, view: View, pending: Action | None = None) -> str:
        return self.say(f"stem.{question.probe}", user=question.about)

    def choice_name(self, question: Question, choice: int | str) -> str:
        if question.probe == "true_box":
            return self.name(choice)
        return _answer_name(question.probe, choice)

    def told(self, injected: Told, question: Question | None = None) -> str:
        assert isinstance(injected.value, int)
        value = _answer_name(injected.probe, injected.value)
        return self.say(
            f"told.{injected.source}.{injected.probe}", user=injected.about, value=value
        )

    # --- pieces ---------------------------------------------------------------------------------

    def box(self, number: int) -> str:
        """Return the name of a box within a sentence."""
        return self.say(f"box.{self.wording}", number=number, ordinal=ordinal(number))

    def _locker(self, contents: Contents) -> str:
        boxes = [
            self.say("empty" if user is None else "holds", box=self.box(number), user=user)
            for number, user in enumerate(contents)
        ]
        return self.say("locker", boxes=join_names(self.listing(boxes)))

    def _line(self, event: Event, contents_after: Contents) -> str:
        match event:
            case Reset():
                return self.say("past.reset", locker=self._locker(contents_after))
            case Visit(user):
                return self.say("past.visit", user=user)
            case Snapshot(user, back):
                return self.say("past.snapshot", user=user, back=to_last(back))
            case Rehearsal(user, box_seen, resets, box_named):
                count = self.say("resets.one" if resets == 1 else "resets.many", count=resets)
                boxes = {"seen": self.box(box_seen), "named": self.box(box_named)}
                return self.say("past.rehearsal", user=user, resets=count, **boxes)
            case Collection(user):
                return self.say("past.collection", user=user)
            case Retrieval():
                return self._retrieval(event, contents_after)

    def _retrieval(self, event: Retrieval, contents_after: Contents) -> str:
        facts: dict[str, Any] = {"user": event.user, "believed": self.box(event.believed)}
        idle = event.believed == event.true
        swap = self.say("swap.idle" if idle else "swap.made", true=self.box(event.true), **facts)
        facts |= {"swap": swap, "locker": self._locker(contents_after)}
        if event.answered is None:
            return self.say("past.forfeit", **facts)
        outcome = "past.right" if event.answered == event.believed else "past.wrong"
        return self.say(outcome, answered=self.box(event.answered), **facts)


def published_answer(reply: str, boxes: int) -> int:
    """Return the answer as the authors' harness reads it: a reply that is an integer, or the
    integer after "position"."""
    bare = re.fullmatch(r"[+-]?\d+", reply.strip())
    position_match = re.search(r"position\D{0,3}(\d+)", reply, re.IGNORECASE)
    answer = int(bare.group()) if bare else int(position_match.group(1)) if position_match else None
    if answer is None or not 0 <= answer < boxes:
        raise Unreadable(f"Answer with one number from 0 to {boxes - 1} and nothing else.")
    return answer


def ordinal(number: int) -> str:
    """Return an ordinal: 0th, 1st, 2nd, 3rd, 4th ... 11th ... 21st."""
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def to_last(back: int) -> str:
    """Return how far back a state is: last, 2nd-to-last, 3rd-to-last ..."""
    return "last" if back == 1 else f"{ordinal(back)}-to-last"


def _answer_name(probe: str, value: int | str) -> str:
    return to_last(int(value)) if probe == "state_last_seen" else str(value)
