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
from sally.core.rules.words import Words
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

TEXTS: Mapping[str, str] = {
    "rules.place": "You manage a warehouse. In Room 1 stands a closed locker with {users} boxes: "
    "{boxes}. Each of {users} users, User 0 to User {last_user}, has put one item into it. You sit "
    "in Room 2 before a monitor that shows you at all times whose item is in which box; the users "
    "know only what they have seen themselves.",
    "rules.resets": "The locker is faulty. Now and then it resets itself: the content of every "
    "box, even of an empty one, goes to another box.",
    "rules.task": "A user who comes to collect its item opens the box in which it believes the "
    "item to be. Each time you say beforehand which box that will be, and the locker swaps the "
    "item into the box that the user opens.",
    "rules.belief.zero": "Users notice nothing of resets. A user believes that its item is where "
    "it saw it last. That is where it stored the item, until it comes to Room 2 and looks at the "
    "monitor; then it is where the monitor shows the item at that moment.",
    "rules.belief.finite": "Users notice nothing of resets. A user believes that its item is where "
    "it saw it last. That is where it stored the item, until it goes to Room 3, where a screen "
    "shows a snapshot of the monitor: all boxes as they were at some moment between the storing "
    "and now. The storing made the first state of the monitor; every reset and every collected "
    "item makes a new one. You are told only how far back the snapshot lies: `last` is the state "
    "that the monitor shows at that moment, `2nd-to-last` the state before it, and so on.",
    "rules.belief.infinite": "Users hear each reset but do not see what it does. A user does not "
    "think that its item stays in place: it has a rule of its own that says by how many boxes to "
    "the right each reset carries the item, and after the highest number the boxes begin again "
    "at 0. It starts from the box in which it saw the item last, and counts the resets since then. "
    "That is the box in which it stored the item, until it comes to Room 2 and looks at the "
    "monitor; the look starts the count anew. Collected items do not count. What really happens "
    "to the item has nothing to do with the rule. A user's rule is of one of these kinds, "
    "with whole numbers that you have to find out: {families}.",
    "rules.rehearsals": "Before the first reset each user rehearses a few times: it is told in "
    "which box it saw an item and how many resets followed, and says which box it would open. Its "
    "rehearsals leave no doubt which box it would open after any number of resets.",
    "family.shift": "the same step at every reset (a, a, a, ...; a is not 0)",
    "family.alternate": "a step at the first reset, back at the second, and so on (a, -a, a, -a, "
    "...; a is not 0)",
    "family.affine": "the same step at every reset and one jump more at the first (a + c, a, a, "
    "...; neither a nor c is 0)",
    "family.two_stride": "two steps that take turns (a, b, a, b, ...)",
    "family.growing": "steps that grow by the same amount each time (a, a + d, a + 2d, ...; d is "
    "not 0)",
    "family.compounding": "steps of which each is the sum of the two before it (a, b, a + b, "
    "a + 2b, ...; a and b are not both 0)",
    "rules.score": "If you name the box that the user opens, you score one point. If you name "
    "another, you score none, and an administrator sees to it that the user gets its item. In "
    "both cases the swap is made, the user leaves with its item, the box it opened is left empty, "
    "and you see the new state of the locker.",
    "rules.end": "The game ends when the locker is empty. Score as many points as you can.",
    "box.page": "box {number}",
    "box.published": "position {ordinal}",
    "box.option": "{number}",
    "holds": "{box} holds the item of User {user}",
    "empty": "{box} is empty",
    "past.stored": "The users have stored their items and left. {locker}",
    "locker": "Now {boxes}.",
    "past.rehearsal": "Rehearsal: User {user} saw an item in {seen}, {resets} followed, and it "
    "would open {named}.",
    "resets.one": "one reset",
    "resets.many": "{count} resets",
    "past.reset": "The locker resets itself. {locker}",
    "past.visit": "User {user} comes to Room 2, looks at the monitor and leaves.",
    "past.snapshot": "User {user} goes to Room 3, sees a snapshot of the {back} state of the "
    "monitor and leaves.",
    "past.collection": "User {user} comes to Room 1 to collect its item.",
    "past.right": "You named {answered}, and User {user} opened it: one point. {swap} {locker}",
    "past.wrong": "You named {answered}, but User {user} opened {believed}: no point. {swap} "
    "{locker}",
    "past.forfeit": "You named no box, and User {user} opened {believed}: no point. {swap} "
    "{locker}",
    "swap.made": "The item was swapped into it from {true} and User {user} has left with it.",
    "swap.idle": "The item was in it and User {user} has left with it.",
    "now": "{left} of {users} items are in the locker. Points so far: {points}.",
    "question.page": "Which box will User {user} open?",
    "question.published": "To which position will User {user} go for its item?",
    "format.option": "Answer with one line of the form `Answer: <choice>`, where <choice> is "
    "{names}.",
    "format.published": "Answer with the number alone: 0 for the position 0th, 1 for the position "
    "1st, and so on up to {highest}.",
    "aside.state_last_seen": "Which state of the monitor did User {user} see last? Count back "
    "from the present state, which is called `last`. The storing made the first state, and every "
    "reset and every collected item has made a new one.",
    "aside.true_box": "In which box is the item of User {user} at this moment?",
    "stem.move": "User {user} opens box ",
    "stem.state_last_seen": "The state of the monitor that User {user} saw last is the ",
    "stem.true_box": "The item of User {user} is in box ",
    "told.truth.state_last_seen": "You are told, reliably or not, that User {user} saw the {value} "
    "state of the monitor last.",
    "told.own.state_last_seen": "You have said that User {user} saw the {value} state of the "
    "monitor last.",
    "told.truth.true_box": "You are told, reliably or not, that the item of User {user} is in box "
    "{value}.",
    "told.own.true_box": "You have said that the item of User {user} is in box {value}.",
}


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
