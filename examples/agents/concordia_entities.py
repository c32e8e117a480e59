"""Concordia: Sally's partners as Concordia entities, and Concordia entities as players in Sally.

partner = PartnerEntity("Bob", "Alice", "tit_for_tat", options=["J", "F"], rounds=10)
sally.play("ipd", {"agent": EntityPlayer(lambda: alice), "partner": "tit_for_tat"})
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from concordia.typing import entity as entities
from mirrored_seat import MirroredSeat

from sally.core.errors import BadInput
from sally.core.match.player import Decision, Forfeit, NoAnswer, Turn
from sally.core.match.seat_context import Past, SeatContext
from sally.core.match.strategy import PromptContext, StrategyResult
from sally.core.registry.objects import PlayerLike
from sally.games.repeated_games.rules import PARTNER


class PartnerEntity(entities.Entity):  # type: ignore[misc]
    """A player or partner from Sally as a Concordia entity in a repeated two-player game.

    Both entities choose before either learns what the other chose. Then an observation must name
    the other entity and its option on one line, as in `Alice: J` or `Alice chose J`.

    Args:
        name: this entity's name.
        opponent: the other entity's name.
        player: the player, given as in `sally.play`.
        options: the options in the order of the matrix's moves.
        seed: seed of the player's own randomness.
        **params: further parameters of `repeated_games`, such as `matrix` and `rounds`.
    """

    name: str = ""  # Concordia declares a property

    def __init__(
        self,
        name: str,
        opponent: str,
        player: PlayerLike,
        options: Sequence[str],
        seed: int = 1,
        **params: Any,
    ) -> None:
        self.name, self._opponent, self._options = name, opponent, tuple(options)
        self._seat = MirroredSeat({**params, "names": self._options}, PARTNER, player, seed)
        either_option = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
        others = rf"\b{re.escape(opponent)}\b(?:(?!\b{re.escape(name)}\b)[^\n])*?"
        self._told = re.compile(rf"{others}(?<!\w)({either_option})(?!\w)")
        self._mine: list[int] = []
        self._theirs: list[int] = []

    def observe(self, observation: str) -> None:
        """Record the other player's move in the last round; other observations are ignored."""
        match = self._told.search(observation)
        if match is not None and len(self._theirs) < len(self._mine):
            self._theirs.append(self._options.index(match[1]))

    def act(self, action_spec: entities.ActionSpec = entities.DEFAULT_ACTION_SPEC) -> str:
        """Return the option that the player takes now.

        Raises:
            BadInput: the action is not a choice among this game's options, or the other player's
                last move was not observed.
        """
        offered = {str(option).strip(): str(option) for option in action_spec.options}
        if set(offered) != set(self._options):
            raise BadInput(
                f"{self.name} must be offered {', '.join(self._options)}; the options offered are "
                f"{', '.join(offered) or 'none'}."
            )
        if len(self._theirs) < len(self._mine):
            raise BadInput(
                f"No observation of {self.name} named the move of {self._opponent} in round "
                f"{len(self._mine)}, as in '{self._opponent}: {self._options[0]}'."
            )
        self._mine.append(self._seat.move(list(zip(self._mine, self._theirs, strict=True))))
        return offered[self._options[self._mine[-1]]]


class EntityPlayer:
    """A Concordia entity as a player of any game with a finite menu.

    Each match has its own entity. The entity observes the rules and then every line of its seat's
    history once, and chooses among the names of the options; probes are put to it in the same way.
    """

    def __init__(self, make: Callable[[], entities.Entity]) -> None:
        self._make = make
        self._playing: WeakKeyDictionary[SeatContext, tuple[entities.Entity, Past]]
        self._playing = WeakKeyDictionary()

    def decide(self, turn: Turn) -> Decision[Any] | Forfeit:
        """Return the entity's move; a reply that is not an option is a forfeit."""
        prompt = PromptContext(turn)
        if not prompt.names:
            raise BadInput(
                f"An entity can only choose among listed options; seat {turn.seat!r} has to fill "
                "in a form in this turn."
            )
        reply = self._ask_entity(turn, prompt)
        if reply not in prompt.names:
            return Forfeit("unreadable", reply)
        return Decision(prompt.read(_place(prompt, reply)), reply=reply)

    def report(self, turn: Turn) -> Any:
        """Return the entity's answer to a probe that asks for one of several choices."""
        prompt = PromptContext(turn)
        if turn.question is None or turn.question.kind != "choice":
            return NoAnswer("an entity of Concordia answers choices only")
        reply = self._ask_entity(turn, prompt)
        if reply not in prompt.names:
            return NoAnswer(f"the reply {reply!r} is not one of the choices")
        return prompt.read(_place(prompt, reply))

    def _ask_entity(self, turn: Turn, prompt: PromptContext) -> str:
        if turn.context not in self._playing:
            entity = self._make()
            entity.observe(str(turn.context.rules()).strip())
            self._playing[turn.context] = entity, Past(turn.context)
        entity, past = self._playing[turn.context]
        for line in (*past.news(turn.view), *prompt.told_text().splitlines()):
            entity.observe(line)
        question = "\n".join(filter(None, (prompt.now, prompt.question)))
        call_to_action = question.replace("{", "{{").replace("}", "}}")  # Concordia fills in {name}
        spec = entities.choice_action_spec(call_to_action=call_to_action, options=prompt.names)
        return str(entity.act(spec))


def _place(prompt: PromptContext, reply: str) -> StrategyResult:
    return StrategyResult(reply, prompt.names.index(reply))
