"""A reply of any bytes ends as a move, a retry or a forfeit, soon, and never ends a run."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from benchmarks.hostile.long_replies import seconds
from benchmarks.hostile.replies import campaign, readers
from sally.core.errors import TooLong, Unreadable
from sally.core.log.calls import BROKE_READER
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Forfeit
from sally.core.registry import registry
from sally.core.reply.plain_text import MOST_READ, plain, without_thoughts
from sally.core.rules.words import Words
from sally.models.stub import Scripted
from sally.runner.seating import seat_player


def test_reader_survives_a_thousand_hostile_replies() -> None:
    outcome = campaign(1000, seed=18)
    assert outcome["broken"] == {} and outcome["refused"] > 500 and outcome["readers"] > 20


@pytest.mark.parametrize("piece", ["x", "1.", "[", "a\u0301\u0316", "\n", " ", "{", '"'])
def test_megabyte_reply_is_refused_by_length_before_reading(piece: str) -> None:
    with pytest.raises(TooLong):
        without_thoughts(piece * (1_000_000 // len(piece)))


@pytest.mark.parametrize("shape", ["9", "\n"])
def test_readers_take_linear_time(shape: str) -> None:
    long = shape * (MOST_READ // 2)
    for name, read in dict(readers()).items():
        assert seconds(read, long) < 1, name  # what was quadratic here took five and more


def test_number_of_thousands_of_digits_is_unreadable() -> None:
    turn = first_turn("level_k")
    with pytest.raises(Unreadable):
        turn.context.words.read(f"Number: {'9' * 5000}", turn.view, turn.options)


def test_tagged_reasoning_does_not_count_towards_reply_length() -> None:
    assert plain(f"<think>{'so ' * MOST_READ}</think>\nOption: J") == "option: j"


def test_combining_marks_do_not_take_quadratic_time() -> None:
    began = time.thread_time()
    plain("a" + "\u0316\u0301" * (MOST_READ // 2 - 1))
    assert time.thread_time() - began < 0.5  # seconds where every mark is sorted among all others


def first_turn(game: str) -> Any:
    spec: Any = registry.game(game)
    lineup = {seat: PlayerSpec("random") for seat in spec.build().seats}
    return Match(spec, Setup(Instance(game, game, {}), 1, lineup)).asks()[0]


def test_lone_surrogate_in_json_key_is_unreadable() -> None:
    turn = first_turn("tradecraft")
    with pytest.raises(Unreadable):
        turn.context.words.read('{"kind": "pass", "\ud800": 1}', turn.view, turn.options)


def test_exception_in_reader_is_a_logged_forfeit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: Any, reply: str, view: Any, options: Any) -> Any:
        raise ZeroDivisionError("in a reader")

    monkeypatch.setattr(Words, "read", broken)
    turn = first_turn("ipd")
    spec = PlayerSpec("language", {"model": Scripted(lambda messages, settings: "Option: J")})
    player: Any = seat_player(turn.context.spec, turn.context.game, turn.seat, spec)
    answer = asyncio.run(player.decide(turn))
    assert isinstance(answer, Forfeit) and answer.tries == turn.context.retries + 1
    assert answer.reason.startswith("the reader broke down: ZeroDivisionError in broken")
    assert "ZeroDivisionError: in a reader" in caplog.text  # with its trace
    assert all(call.detail.startswith(BROKE_READER) for call in answer.calls)  # which a run counts


def test_too_long_reply_is_logged_as_too_long() -> None:
    turn = first_turn("ipd")
    spec = PlayerSpec(
        "language", {"model": Scripted(lambda messages, settings: "x" * (MOST_READ + 1))}
    )
    player: Any = seat_player(turn.context.spec, turn.context.game, turn.seat, spec)
    answer = asyncio.run(player.decide(turn))
    assert isinstance(answer, Forfeit) and answer.reason == "too long"
    assert "not read: more than 50000 characters" in answer.calls[-1].detail


def test_name_in_only_part_of_the_value_is_refused() -> None:
    marks = "\u0301\u0316"
    reply = f"Option: Guess: no because \t {{{{ <think> İ {marks} more Option: \x1b[2J 2 {marks}   "
    with pytest.raises(Unreadable):
        dict(readers())["taboo giver will_find"](f"{reply}river Clue: or \x00")
