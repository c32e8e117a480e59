"""One loop asks every model until its reply can be read, and what it stores can be published."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sally
from benchmarks import asked_again
from sally import store
from sally.core import redaction
from sally.core.log.events import Episode, Forfeited, Moved, PlayerSpec, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import PlayerKind
from sally.core.prompt.model import (
    Assistant,
    Message,
    ModelFailure,
    Reply,
    ToolCall,
    ToolResult,
    User,
)
from sally.core.registry import registry
from sally.games.mindgames.rules import READER
from sally.models.stub import Scripted, even
from sally.runner.check import check
from sally.runner.seating import kinds, players_of, resolve_setup
from tests.table import bench

KEY = "sk-a-key-that-nobody-reads"
UNREADABLE = '{"unknown": "'  # even where any sentence is a message


def seats_of_model_players() -> Iterator[tuple[str, str, str]]:
    """Every game and seat with every kind of player that calls a model."""
    for game in registry.games():
        spec = registry.game(game)
        built = bench(game).game
        for name, kind in kinds(spec).items():
            if not isinstance(kind, PlayerKind) or "model" not in kind.params:
                continue
            for seat in (*built.seats, *built.helpers):
                is_reader = game == "mindgames" and seat == READER
                if (name == "model") == is_reader and (is_reader or seat in built.seats):
                    yield game, str(seat), name


SEATS = list(seats_of_model_players())


@pytest.fixture(autouse=True)
def known_key() -> Iterator[None]:
    redaction.remember(KEY)
    yield
    redaction._used_keys.discard(KEY)
    redaction.known_keys.cache_clear()


def play_with(model: Any, game: str, seat: str, kind: str) -> Episode:
    """Play a short match in which a model plays one seat and random bots play the others."""
    registry.add("models", "scripted", lambda name: model)
    registry._make_model.cache_clear()
    for seed in range(1, 9):  # random play may end a match before it is the model's turn
        lineup = {seat: PlayerSpec(kind, {"model": "scripted"})}
        if kind == "model":
            lineup["persuader"] = PlayerSpec("silent")  # writes in words, which are to be read
        setup = bench(game).table(seed)
        setup = msgspec.structs.replace(setup, lineup=setup.lineup | lineup)
        match: Match = Match(registry.game(game), resolve_setup(setup))
        Driver(match, players_of(match)).run()
        if any(event.seat == seat for event in match.events):
            break
    return match.episode()


def test_catalogue_has_three_kinds_of_players_with_models() -> None:
    assert {kind for _, _, kind in SEATS} == {"language", "policy_writer", "model"}
    assert {game for game, _, _ in SEATS} == set(registry.games())


@pytest.mark.parametrize(("game", "seat", "kind"), SEATS)
def test_key_in_a_fault_is_stored_by_no_player(game: str, seat: str, kind: str) -> None:
    def reject(messages: Any, settings: Any) -> Any:
        raise ModelFailure("auth", f"rejected key {KEY}")

    episode = play_with(Scripted(reject, even), game, seat, kind)
    line = to_line(episode)
    assert b"rejected key" in line
    assert KEY.encode() not in line


@pytest.mark.parametrize(("game", "seat", "kind"), SEATS)
def test_forfeit_stores_the_reply_of_the_model(game: str, seat: str, kind: str) -> None:
    replies = list[str]()

    def refuse(messages: Any, settings: Any) -> str:
        replies.append(f'{UNREADABLE}{"no " * len(replies)}"}}')
        return replies[-1]

    episode = play_with(Scripted(refuse, even), game, seat, kind)
    forfeits = [e for e in episode.events if isinstance(e, Forfeited) and e.seat == seat]
    lost_forfeit = forfeits[0] if forfeits else episode.events[-1]  # a helper's failure censors
    assert lost_forfeit.calls[-1].reply.startswith(UNREADABLE)
    if isinstance(lost_forfeit, Forfeited):
        assert lost_forfeit.reply == lost_forfeit.calls[-1].reply
        assert lost_forfeit.tries == len(lost_forfeit.calls) == episode.setup.retries + 1


def listen(*replies: str, strategy: str = "qa") -> list[list[Message]]:
    """Return the conversations of one move of a model that gives these replies."""
    heard, remaining_replies = list[list[Message]](), list(replies)

    def script(messages: Sequence[Message], settings: Any) -> Any:
        heard.append(list(messages))
        return remaining_replies.pop(0)

    registry.add("models", "scripted", lambda name: Scripted(script, even))
    registry._make_model.cache_clear()
    model = {"model": "scripted", "strategy": strategy}
    sally.play("ipd", {"agent": ("language", model), "partner": "tit_for_tat"}, rounds=1)
    return heard


def test_retry_continues_the_conversation_with_the_reply_and_the_format() -> None:
    first, second, third = listen("Hm.", "Well.", "Option: J")
    expected_text = (
        "Your last answer could not be used. Answer with `Option:` and exactly one of J or F."
    )
    assert len(first) == 1
    assert second == [*first, Assistant("Hm."), User(expected_text)]
    assert third == [*second, Assistant("Well."), User(expected_text)]


def test_script_counts_the_tries_of_a_run(tmp_path: Path) -> None:
    replies = ["Hm.", "Option: J", "Option: F", "Hm.", "Well.", "So."]
    registry.add("models", "scripted", lambda name: Scripted(lambda *_: replies.pop(0), even))
    registry._make_model.cache_clear()
    lineup = {"agent": ("language", {"model": "scripted"}), "partner": "tit_for_tat"}
    episode = sally.play("ipd", lineup, rounds=3)
    store.place(tmp_path).write("run.jsonl", to_line(episode))
    counts = {"answers": 3, "first": 1, "second": 1, "forfeited": 1}
    for by_rule in (False, True):
        assert asked_again.tally(tmp_path, by_rule) == ({"scripted": counts}, 0)


def test_blank_reply_is_not_quoted() -> None:
    first, second = listen(" \n", "Option: J")
    assert [type(message) for message in second] == [User, User]
    assert second[:1] == first


def test_only_the_end_of_a_long_reply_is_quoted() -> None:
    _, second = listen(f"{'x' * 30_000}end", "Option: J")
    assert second[1].text.endswith("xend") and len(second[1].text) == 4_000


def test_each_stage_of_a_strategy_is_repeated_in_its_own_conversation() -> None:
    predicted, repeated_row, moved, moved_again = listen(
        "Hm.", "Option: F", "Well.", "Option: J", strategy="social_qa"
    )
    assert repeated_row[:-2] == predicted and repeated_row[-2].text == "Hm."
    assert moved[0] != predicted[0]
    assert moved_again[:-2] == moved and moved_again[-2].text == "Well."


def test_repeated_call_after_a_tool_keeps_what_the_tool_found() -> None:
    heard, replies = list[list[Message]](), iter(["look", "Hm.", "still hm."])

    def script(messages: Sequence[Message], settings: Any) -> Any:
        heard.append(list(messages))
        reply = next(replies, "no")
        if reply != "look":
            return reply
        return Reply("", (ToolCall("1", "item_info", '{"item": "coal"}'),), finish="tool_calls")

    play_with(Scripted(script, even), "tradecraft", "p1", "language")
    assert isinstance(heard[1][-1], ToolResult)
    assert heard[2][: len(heard[1])] == heard[1]
    assert heard[2][-2].text == "Hm."


def test_tool_call_in_a_game_without_tools_is_the_answer() -> None:
    def script(messages: Any, settings: Any) -> Reply:
        call = ToolCall("1", "pick", '{"which": "F"}')
        return Reply("", (call,), finish="tool_calls")

    episode = play_with(Scripted(script, even), "ipd", "agent", "language")
    moves = [event for event in episode.events if isinstance(event, Moved) and event.calls]
    assert moves and all((move.action, move.tries) == (1, 1) for move in moves)
    assert check([episode]).unchecked == check([episode]).mismatches == []


# --- nothing else catches Unreadable ------------------------------------------------------------

CATCH = {
    # A person at the terminal types again; no model is asked.
    "sally/adapters/terminal.py": 3,
    # An agent's action as JSON; an agent is not asked again.
    "sally/adapters/rl/table.py": 1,
    # A sample that cannot be read casts no vote; if no sample can, the error is raised.
    "sally/strategies/self_consistency.py": 1,
    # Stored replies are read by other rules; no model is asked.
    "sally/runner/reread.py": 1,
    # Checks for authors of games: what must be refused, and what must be read.
    "sally/testing/words.py": 4,
    # A stored reply is checked; no model is asked.
    "sally/core/reply/reader.py": 1,
    # A field that is given twice is refused, while other invalid JSON is skipped.
    "sally/core/reply/plain_text.py": 1,
}


def test_nothing_else_catches_an_unreadable_reply() -> None:
    root = Path(sally.__file__).parent
    caught = re.compile(r"(?:except|suppress\()[^:\n]*\bUnreadable\b")
    fields = {}
    for path in sorted(root.rglob("*.py")):
        if count := len(caught.findall(path.read_text("utf-8"))):
            fields[path.relative_to(root.parent).as_posix()] = count
    assert fields == CATCH
