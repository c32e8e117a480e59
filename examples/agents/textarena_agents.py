"""TextArena: Sally's partners as TextArena agents, and TextArena agents as players in Sally.

agents = {0: ta.agents.OpenRouterAgent("..."), 1: PartnerAgent("tit_for_tat")}
sally.play("ipd", {"agent": agent_player(agents[0]), "partner": "tit_for_tat"})
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence

from mirrored_seat import SEATS, MirroredSeat
from textarena.core import Agent

from sally.core.errors import BadInput
from sally.core.prompt.model import (
    AS_THE_PROVIDER_DOES,
    CannotScore,
    Context,
    Message,
    Reply,
    Scores,
    Settings,
    ToolSpec,
)
from sally.core.registry.objects import PlayerLike
from sally.games.repeated_games.importers.textarena import KINDS, Kind, dilemma
from sally.games.repeated_games.rules import Joint
from sally.players.language import LanguagePlayer, strategy_named

TITLES = {  # as the first prompt names the game
    "Iterated Prisoner's Dilemma": "IteratedPrisonersDilemma",
    "Rock-Paper-Scissors game": "IteratedRockPaperScissors",
    "Matching Pennies game": "IteratedMatchingPennies",
}
PAYOFFS = {
    "cooperate_reward": r"Both Cooperate: (-?\d+)",
    "mutual_defect_reward": r"Both Defect: (-?\d+)",
    "defect_reward": r"you Defect while the other Cooperates: (-?\d+)",
    "sucker_reward": r"you Cooperate while the other Defects: (-?\d+)",
}
# Messages of the game itself: TextArena removes `[GAME]` from what players say.
TALK_OVER, NEW_ROUND = "[GAME] Conversation finished", "[GAME] --- Starting Round"


class PartnerAgent(Agent):  # type: ignore[misc]
    """A player or partner from Sally as an agent in TextArena's matrix games.

    It reads the whole text of the game so far, as `LLMObservationWrapper` gives it (the default),
    and says nothing in the conversation before decisions.
    """

    def __init__(self, player: PlayerLike, seed: int = 1) -> None:
        super().__init__()
        self._player, self._seed = player, seed
        self._seats: dict[str, MirroredSeat] = {}  # by the first prompt

    def __call__(self, observation: str) -> str:
        """Return the reply to an observation: a move in brackets, or "" during conversation."""
        prompt = re.search(r"You are Player ([01])\b.*?(?=\n\[|\Z)", observation, re.DOTALL)
        title = next((title for title in TITLES if prompt and title in prompt[0]), None)
        if prompt is None or title is None:
            raise BadInput(
                "The text does not contain the first prompt of one of TextArena's matrix games."
            )
        kind, player = KINDS[TITLES[title]], int(prompt[1])
        if kind.unread and observation.rfind(TALK_OVER) <= observation.rfind(NEW_ROUND):
            return ""  # a talk
        if prompt[0] not in self._seats:
            self._seats[prompt[0]] = self._seat(prompt[0], kind, player)
        rounds = [
            (joint[player], joint[1 - player]) for joint in _rounds(kind, player, observation)
        ]
        return f"[{kind.names[self._seats[prompt[0]].move(rounds)]}]"

    def _seat(self, prompt: str, kind: Kind, player: int) -> MirroredSeat:
        number = re.search(r"spanning (\d+) rounds|a (\d+)-round", prompt)
        paid = {name: re.search(pattern, prompt) for name, pattern in PAYOFFS.items()}
        cells = kind.cells or dilemma({name: int(n[1]) for name, n in paid.items() if n})
        if number is None:
            raise BadInput("The prompt of the game does not give the number of rounds.")
        params = {"matrix": cells, "names": kind.names, "rounds": int(number[1] or number[2])}
        return MirroredSeat(params, SEATS[player], self._player, self._seed)


def _rounds(kind: Kind, player: int, text: str) -> Iterator[Joint]:
    """Yield the rounds that the game's messages report, as (player 0's move, player 1's)."""
    if kind is KINDS["IteratedMatchingPennies"]:
        for first, second in re.findall(
            r"\[GAME\] Player 0 picked (\w+); Player 1 picked (\w+)", text
        ):
            yield _move(kind, first), _move(kind, second)
    elif kind is KINDS["IteratedPrisonersDilemma"]:
        for line in re.findall(r"\[GAME\] Round \d+ results:\n(.*)", text):
            first, second = re.findall(r"cooperated|defected", line) * (2 if "Both" in line else 1)
            yield _move(kind, first[0]), _move(kind, second[0])
    else:
        own_names = re.findall(rf"Player {player} selects move (\w+)", text)
        results = re.findall(r"\[GAME\] Round result: (Draw|Player [01] wins)", text)
        for name, result in zip(own_names, results, strict=False):
            own_move = _move(kind, name)
            won = 0 if result == "Draw" else 1 if result == f"Player {player} wins" else -1
            other_move = (own_move - won) % 3  # each move beats the one before it
            yield (own_move, other_move) if player == 0 else (other_move, own_move)


def _move(kind: Kind, name: str) -> int:
    return next(n for n, option in enumerate(kind.names) if option.lower().startswith(name.lower()))


class AgentModel:
    """An agent, or any function from a text to a text, as a model that completes prompts."""

    can_score = False

    def __init__(self, agent: Callable[[str], str]) -> None:
        self._agent = agent
        self.name = f"textarena/{getattr(agent, 'model_name', type(agent).__name__)}"

    async def complete(
        self,
        messages: Sequence[Message],
        settings: Settings = AS_THE_PROVIDER_DOES,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        """Return the agent's reply to the text of the messages; `settings` are ignored."""
        text = "\n\n".join(message.text for message in messages)
        return Reply(await asyncio.to_thread(self._agent, text))

    async def score(
        self, context: Context, candidates: Sequence[str], settings: Settings = AS_THE_PROVIDER_DOES
    ) -> Scores:
        """Raise CannotScore, because an agent returns only text."""
        raise CannotScore(self.name)


def agent_player(agent: Callable[[str], str], strategy: str = "qa") -> LanguagePlayer:
    """Return an agent as a player of any game; it gets the prompt that a model would get."""
    chosen = strategy_named(strategy)
    act, answer = chosen.make()
    return LanguagePlayer(AgentModel(agent), act, answer, texts=chosen.texts)
