"""A language model at the TradeCraft table: tools, dialogue, reports, and the paper's engine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from sally.core.log.events import Forfeited, Moved, PlayerSpec, Reported, Setup, from_line, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.prompt.model import Message, Reply, Settings, ToolCall, ToolResult
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.games.tradecraft.problems import problems
from sally.games.tradecraft.spec import GROUPS
from sally.models.stub import Scripted
from sally.papers.tradecraft2026.study import own_reports
from sally.papers.tradecraft2026.tables import ENGINE
from sally.players.language import PLAYERS

MODEL = "gpt-4o"  # only a name here: a script answers
SEEN: list[list[str]] = []


def value_of(item: str) -> int:
    return sum(map(ord, item)) % 11


def script(messages: Sequence[Message], settings: Settings) -> str | Reply:
    """Looks an item up before it proposes, trades one for one, takes what is worth more."""
    SEEN.append([message.text for message in messages])
    asked_text = next(
        m.text for m in reversed(messages) if not isinstance(m, ToolResult) and m.text
    )
    if "Answer with one line `<item>: <number>`" in asked_text:
        listed = re.search(r"for each of (.*), each number", asked_text)
        assert listed is not None
        items = re.split(r", | and ", listed[1])
        return "\n".join(f"{item}: {value_of(item)}" for item in items)
    if '"kind": "propose"' in asked_text:
        if not isinstance(messages[-1], ToolResult):
            return Reply("", (ToolCall("1", "item_info", '{"item": "stick"}'),))
        own_match, their_match = (
            re.findall(rf"{player_name} \d+ ([\w ]+?)(?:,| and|\.)", asked_text)
            for player_name in ("You hold", "holds")
        )
        to = re.search(r'"to": "(p\d)"', asked_text)
        assert to is not None
        give, get = own_match[0], their_match[0]
        return (
            f'{{"kind": "propose", "to": "{to[1]}", "offer": {{"{give}": 1}}, '
            f'"request": {{"{get}": 1}}, "message": "One for one."}}'
        )
    if '"kind": "answer"' in asked_text:
        get, give = re.findall(r"you get 1 ([\w ]+), you give 1 ([\w ]+)\.", asked_text)[-1]
        text = "ACCEPT" if value_of(get) > value_of(give) else "Reject"
        return f'I think so. {{"kind": "answer", "answer": "{text}"}}'
    return '{"kind": "done"}'


def game(arm: str, n: int = 0, answers: Any = script) -> Match:
    SEEN.clear()
    problem = problems("minecraft_core_2p_2", n + 1)[n]
    player_spec = PlayerSpec("language", {"model": MODEL, "strategy": "chat"})
    arms = {"p1": GROUPS[arm], "p2": GROUPS["v0"]}
    injections = own_reports("p1", GROUPS[arm]) + own_reports("p2", GROUPS["v0"])
    setup = Setup(
        problem,
        n,
        {"p1": player_spec, "p2": player_spec},
        arms=arms,
        injections=injections,
        retries=1,
    )
    match = Match(registry.game("tradecraft"), setup)
    model = Scripted(answers, name=MODEL)
    players: Any = {
        seat: PLAYERS["language"].make(match.spec, match.game, seat, model=model, strategy="chat")
        for seat in ("p1", "p2")
    }
    Driver(match, players).run()
    return match


def play_and_replay(match: Match) -> Played:
    episode = from_line(to_line(match.episode()))
    return Played(match.spec, episode, replay_episode(match.spec, episode))


def test_model_uses_tools_proposes_and_answers() -> None:
    match = game("v0")
    assert not [event for event in match.events if isinstance(event, Forfeited)]
    moves = [event for event in match.events if isinstance(event, Moved)]
    proposed = [m for m in moves if type(m.action).__name__ == "Propose"]
    assert proposed
    assert all(m.looked and m.looked[0].tool == "item_info" for m in proposed)
    assert {type(m.action).__name__ for m in moves} == {"Propose", "Answer", "Done"}


def test_own_reports_are_in_the_dialogue_without_probe_names() -> None:
    game("v0+v1")
    last = max((talk for talk in SEEN if "p1" in talk[0][:12]), key=len)
    assert any(text.startswith("Turn 1. You rated how useful the items are for") for text in last)
    assert any(text.startswith("Turn 2. You rated how useful, as you believe,") for text in last)
    assert not any("v0" in text or "v1" in text for text in last)  # our names for the probes
    partner = max((talk for talk in SEEN if "p2" in talk[0][:12]), key=len)
    assert any("You rated how useful the items" in text for text in partner)
    assert not any("as you believe" in text for text in partner)


def test_model_with_unreadable_replies_passes_rejects_and_stops() -> None:
    match = game("v0", answers=lambda messages, settings: "Who knows?")
    lost_events = [event for event in match.events if isinstance(event, Forfeited)]
    assert lost_events
    assert {event.reason for event in lost_events} == {"unreadable"}
    refused = [event for event in match.events if isinstance(event, Reported)]
    assert refused
    assert all(event.value is None for event in refused)
    assert match.over


def test_engine_recognizes_and_fits_episodes_of_the_paper() -> None:
    known_rows = []
    for arm in GROUPS:
        for n in range(6):
            match = play_and_replay(game(arm, n))
            facts = ENGINE.facts(match)
            assert facts == {"model": MODEL, "arm": arm}
            known_rows.append((facts, match))
    assert ENGINE.tabulates is not None
    for arm in ("v0", "v0+v1"):
        row = {"model": MODEL, "arm": arm}
        fit = ENGINE.tabulates(row, "macro_f1", known_rows, None)
        assert fit is not None
        assert fit.value is not None
        assert fit.value > 0.6  # decisions follow the reported values
    trend = ENGINE.tabulates({"model": "all"}, "kl_over_turns", known_rows, None)
    assert trend is not None
    assert ENGINE.tabulates({"model": "o3", "arm": "v0"}, "macro_f1", known_rows, None) is None
    stands_in = ENGINE.tabulates({"model": "o3", "arm": "v0"}, "macro_f1", known_rows, MODEL)
    assert stands_in is not None
    slope = ENGINE.tabulates({"model": MODEL}, "slope_over_order", known_rows, None)
    assert slope is None or slope.value in (-1, 0, 1)


def test_bot_in_a_seat_is_not_the_papers_condition() -> None:
    match = game("v0")
    lineup = {**match.setup.lineup, "p1": PlayerSpec("random")}
    setup = msgspec.structs.replace(match.setup, lineup=lineup)
    episode = msgspec.structs.replace(match.episode(), setup=setup)
    assert ENGINE.facts(Played(match.spec, episode, match.replay)) is None
