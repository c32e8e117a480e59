"""A language model that writes its policy once, as a table over the last moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sally.core.prompt.words import Words
from sally.core.rules.game import Seat
from sally.games.repeated_games.policies import Policy, checked_policy, prescribed, read_policy
from sally.games.repeated_games.rules import RepeatedGame, View
from sally.games.repeated_games.words import RepeatedWords
from sally.players.writing import writer


class Tables(msgspec.Struct, frozen=True):
    """What a repeated game knows of policies."""

    game: RepeatedGame
    seat: Seat

    def asked(self, words: Words[Any, Any], view: View) -> tuple[str, ...]:
        assert isinstance(words, RepeatedWords)
        names = ", ".join(words.called()[self.seat])
        return words.say("policy.ask"), words.say("policy.form", names=names)

    def read(self, reply: str, words: Words[Any, Any], view: View) -> Policy:
        assert isinstance(words, RepeatedWords)
        return read_policy(reply, self.game, self.seat, words.called())

    def kept(self, plain: Mapping[str, Any]) -> Policy:
        return checked_policy(plain, self.game, self.seat)

    def prescribed(self, policy: Policy, view: View) -> int:
        return prescribed(policy, self.game, self.seat, view.played())


PLAYERS = {"policy_writer": writer("a table over the last moves", Tables)}
