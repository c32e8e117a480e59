"""A language model as the reader of MindGames: two structured calls per message (moore2025).

The first call extracts the statements of a message, the second its questions; each sees the whole
conversation but not the true table. If the model supports JSON schemas, its replies are constrained
by a schema. Both calls are logged, so a replay needs no model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from sally.core.errors import BadInput, IllegalMove, Unreadable
from sally.core.match.player import Decision, Fault, Forfeit, PlayerKind, Turn
from sally.core.prompt.model import Model, Settings, User, can_constrain, read_settings
from sally.core.registry import registry
from sally.core.rules.game import Game, GameSpec, Seat
from sally.core.rules.menu import admit, closed_schema
from sally.core.rules.words import as_tuples, objects_in
from sally.games.mindgames.claims import Claims, Names, claims
from sally.games.mindgames.rules import READER, MindGame
from sally.players.calls import Answered, Caller, Exchanges, ask_until_readable
from sally.players.language import OPEN, ModelPlayer

CALLS = {  # the calls for a message, and the fields of the claims that each finds
    "disclosures": ("disclosures",),
    "appeals": ("motivational", "informational", "inferential"),
}


class ModelReader(ModelPlayer, frozen=True):
    """A reader that makes two calls to a model, with JSON output."""

    model: Model
    settings: Settings
    call_retries: int = 2

    async def answering(self, turn: Turn, exchanges: Exchanges) -> Decision[Any] | Forfeit | Fault:
        """Find the statements and questions of a message, yielding each request to the model."""
        caller = Caller(self.model, self.settings, turn, self.call_retries, exchanges)
        answers = list[Claims]()
        for part in CALLS:
            outcome = await self._ask_part(turn, caller, part)
            if not isinstance(outcome, Answered):
                return outcome
            answers.append(outcome.value)
        stated, questions = answers
        message_claims = claims(
            stated.disclosures,
            questions.motivational,
            questions.informational,
            questions.inferential,
        )
        return Decision(message_claims)

    async def _ask_part(self, turn: Turn, caller: Caller, part: str) -> Answered | Forfeit | Fault:
        """Return what the model finds in a message: its statements or its questions, depending on
        `part`."""
        words, context = turn.context.words, turn.context
        assert isinstance(context.game, MindGame)
        schema = schema_of(part, context.game.names) if can_constrain(self.model) else ""
        tail = (words.now(turn.view), words.say(f"reader.{part}"))
        page = context.opening(turn.view, words.forms[0]).plus("\n".join(filter(None, tail)))

        async def attempt() -> Claims:
            reply = await caller.say(part, [User(page)], schema=schema)
            return _read(reply.text, part, turn)

        return await ask_until_readable(
            caller, attempt, context.retries, lambda problem: words.say("retry", why=problem)
        )


def schema_of(part: str, names: Names) -> str:
    """Return, as JSON, the schema of the answer to one of the two calls."""
    proposal, attribute = {"enum": list(names.proposals)}, {"enum": list(names.attributes)}
    cells = len(names.proposals) * len(names.attributes)
    cell = {"proposal": proposal, "attribute": attribute}
    if part == "disclosures":
        utility = {"type": "integer", "minimum": -1, "maximum": 1}
        fields = {"disclosures": _list_of(closed_schema({**cell, "utility": utility}), cells)}
    else:
        fields = {
            "motivational": _list_of(attribute, len(names.attributes)),
            "informational": _list_of(closed_schema(cell), cells),
            "inferential": _list_of(proposal, len(names.proposals)),
        }
    return json.dumps(closed_schema(fields), separators=(",", ":"), ensure_ascii=False)


def _list_of(item: dict[str, Any], limit: int) -> dict[str, Any]:
    return {"type": "array", "items": item, "maxItems": limit}


def _read(reply: str, part: str, turn: Turn) -> Claims:
    """Return the claims in the reply to one call.

    Raises:
        Unreadable: The reply is not one JSON object with the fields of this call, or contains a
            name that is not in the game.
    """
    objects = list(objects_in(reply))
    if len(objects) != 1:
        raise Unreadable("Answer with exactly one JSON object.")
    (plain,) = objects
    if strange := [name for name in plain if name not in CALLS[part]]:
        raise Unreadable(f"Object contains unknown field `{strange[0]}`.")
    try:
        message_claims = msgspec.convert(as_tuples(plain), Claims)
        message_claims = claims(
            message_claims.disclosures,
            message_claims.motivational,
            message_claims.informational,
            message_claims.inferential,
        )
        admit(turn.options, message_claims)
    except msgspec.ValidationError as error:
        raise Unreadable(f"{error}.") from None
    except IllegalMove as error:
        raise Unreadable(str(error)) from None
    return message_claims


def _reader(
    spec: GameSpec,
    game: Game,
    seat: Seat,
    model: str | Model = "embedded",
    settings: Mapping[str, Any] | None = None,
) -> ModelReader:
    if not isinstance(game, MindGame) or seat != READER:
        raise BadInput("this player reads messages of mindgames and can play only in seat 'reader'")
    model_settings = read_settings(settings or {}, f"seat {seat!r}")
    if model == OPEN:
        raise BadInput("choose the model that reads messages, such as embedded")
    return ModelReader(registry.model(model) if isinstance(model, str) else model, model_settings)


PLAYERS = {
    "model": PlayerKind(
        "model",
        "a language model as the reader of mindgames, two structured calls per message",
        _reader,
        {"model": "embedded", "settings": None},
        # 1 saw the true table, and was not held to a schema; 2 did not see its unreadable replies
        version=3,
    )
}
