"""A language model that writes its trading policy once, as thresholds for offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.words import Words, as_tuples
from sally.games.tradecraft.actions import Action
from sally.games.tradecraft.rules import TradeCraft, View
from sally.games.tradecraft.speech import item_said
from sally.games.tradecraft.thresholds import Thresholds, follow_policy, read_thresholds
from sally.players.policy_writer import writer


class Offers(msgspec.Struct, frozen=True):
    """The policy format of TradeCraft for a model that writes its policy."""

    game: TradeCraft
    seat: Seat

    def ask_policy(self, words: Words, view: View) -> tuple[str, ...]:
        names = ", ".join(map(item_said, view.items))
        return words.say("policy.ask"), words.say("policy.form", names=names)

    def read(self, reply: str, words: Words, view: View) -> Thresholds:
        return read_thresholds(reply, view.items)

    def example(self, words: Words, view: View) -> str:
        return msgspec.json.encode(Thresholds(worth={}, accept=1, offer=1)).decode()

    def read_notes(self, plain: Mapping[str, Any]) -> Thresholds:
        return msgspec.convert(as_tuples(dict(plain)), Thresholds)

    def prescribe_move(self, policy: Thresholds, view: View) -> Action:
        return follow_policy(policy, view)


PLAYERS = {"policy_writer": writer("what goods are worth and thresholds for offers", Offers)}
