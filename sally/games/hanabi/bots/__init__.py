"""Bots of Hanabi by name: each is a function from a view to move probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sally.games.hanabi.bots.holmes import holmes
from sally.games.hanabi.bots.info import info
from sally.games.hanabi.bots.rule_agents import RULES, blind, rule_agent
from sally.games.hanabi.bots.simple import simple
from sally.games.hanabi.bots.smart import smart
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import Policy

Make = Callable[[Hanabi], Policy]

BOTS: Mapping[str, Make] = {
    "blind": blind,
    "simple": simple,
    "holmes": holmes,
    "smart": smart,
    "info": info,
    **{name: rule_agent(name) for name in RULES},
}
