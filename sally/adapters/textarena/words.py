"""Prompts of TextArena's games: the texts of the game itself, as its own wrapper shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from sally.adapters.textarena.submission import LONGEST, Submission, View
from sally.core.errors import Unreadable
from sally.core.reply.plain_text import without_thoughts
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, kind_of
from sally.core.rules.words import Words, objects_in, read_form

TEXTS: Mapping[str, str] = {
    "rules": "You are {player} in {env}, a game for two players. What follows are the rules and "
    "messages of the game; messages begin with the name of the sender in brackets.",
    "message": "[{sender}] {text}",
    "question": "It is your turn. What do you send?",
    "format.text": "Answer with the text that you send, in the form that the rules ask for and "
    "with nothing else in brackets.",
    "empty": "The text is empty; answer with the text that you send.",
    "long": "The text has {length} characters; at most {limit} are allowed.",
}


class TextArenaWords(Words[Any, View]):
    """Texts of a TextArena game; each player is shown only the messages for that player."""

    label = "Text"

    def __init__(self, game: Any, texts: Mapping[str, str]) -> None:
        super().__init__(game, {**TEXTS, **texts})

    def rules(self, seat: Seat) -> str:
        player = seat.replace("_", " ").capitalize()
        return self.say("rules", player=player, env=self.game.env)

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        for message in islice(view.messages, since, None):
            yield self.say("message", sender=message.sender, text=message.text)

    def question(self, view: View, options: Options[Any]) -> str:
        return self.say("question")

    def format(self, view: View, options: Options[Any]) -> str:
        return self.say("format.text")

    def name(self, action: Any) -> str:
        return action.text if isinstance(action, Submission) else str(action)

    def read(self, reply: str, view: View, options: Options[Any]) -> Submission:
        if any(fields.get("kind") == kind_of(Submission) for fields in objects_in(reply)):
            filled: Submission = read_form(reply, options)
            return filled
        text = without_thoughts(reply).strip()
        if not text:
            raise Unreadable(self.say("empty"))
        if len(text) > LONGEST:
            raise Unreadable(self.say("long", length=len(text), limit=LONGEST))
        return Submission(text)
