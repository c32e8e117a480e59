"""Games of TextArena as games of Sally; the real package where it is installed."""

from __future__ import annotations

import random
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import sally
from sally.adapters.textarena import MOVES, study_of
from sally.adapters.textarena.environment import Position, _environments, position_after
from sally.adapters.textarena.partners import nim_move
from sally.core.errors import BadInput
from sally.core.log.events import Ended, Forfeited, Moved
from sally.core.prompt.model import Reply
from sally.core.rules.game import NATURE
from sally.runner.check import check

installed = pytest.mark.skipif(find_spec("textarena") is None, reason="needs textarena")
NEWER_PYTHON = {"Chess", "ReverseTicTacToe"}  # of TextArena 0.7.4; they do not load under 3.11


class Stub:
    """A model that answers each page with a function of its text."""

    name, can_score = "stub", False

    def __init__(self, answer: Any) -> None:
        self.answer, self.pages = answer, list[str]()

    async def complete(self, messages: Any, settings: Any = None, tools: Any = ()) -> Reply:
        self.pages.append("\n".join(message.text for message in messages))
        return Reply(self.answer(self.pages[-1]))


def take_one(page: str) -> str:
    piles = re.findall(r"pile (\d): ([1-9])", page.rpartition("Current Pile:")[2])
    return f"<think>[9 9]</think>[{piles[0][0]} 1]" if piles else "Which piles?"


def play_randomly(name: str, deal: int) -> tuple[tuple[str, ...], Position]:
    draws, texts = random.Random(deal), ()
    position = position_after(name, deal, texts)
    while position.rewards is None:
        texts = (*texts, draws.choice(position.moves))
        position = position_after(name, deal, texts)
        assert not position.rejections, texts
    return texts, position


@installed
@pytest.mark.parametrize("game", sorted({*MOVES} - NEWER_PYTHON))
def test_listed_moves_are_accepted_and_positions_are_reached_again(game: str) -> None:
    outside = random.getstate()
    for deal in range(2):
        texts, position = play_randomly(f"{game}-v0", deal)
        _environments.clear()
        random.seed(deal + 7)  # noqa: TID251 - other users of the global numbers change nothing
        assert position_after(f"{game}-v0", deal, texts) == position
    random.setstate(outside)


@installed
def test_playing_leaves_the_global_random_numbers_alone() -> None:
    state_before = random.getstate()
    play_randomly("PigDice-v0", 3)
    assert random.getstate() == state_before


@installed
def test_model_plays_both_seats_with_the_same_deals_resumes_and_replays(tmp_path: Path) -> None:
    model = Stub(take_one)
    name = "textarena:Nim-v0,KuhnPoker-v0"
    sally.run(name, tmp_path, model=model, limit=1)
    calls = len(model.pages)
    episodes = list(sally.run(name, tmp_path, model=model, limit=2))
    assert len(episodes) == 8 and len(model.pages) > calls
    pages = len(model.pages)
    sally.run(name, tmp_path, model=model, limit=2)
    assert len(model.pages) == pages  # nothing is played twice
    checked = check(episodes)
    assert checked.replayed == 8 and not checked.mismatches and not checked.unchecked
    deals: dict[str, list[Any]] = {}
    for episode in episodes:
        dealt = next(e for e in episode.events if isinstance(e, Moved) and e.seat == NATURE)
        key = f"{episode.setup.instance.game}, repeat {episode.setup.repeat}"
        deals.setdefault(key, []).append(dealt.action)
    assert all(len(pair) == 2 and len(set(pair)) == 1 for pair in deals.values()), deals
    for episode in episodes:  # the stub knows Nim, and forfeits Kuhn poker
        is_nim = "Nim" in episode.setup.instance.game
        forfeits = [event for event in episode.events if isinstance(event, Forfeited)]
        assert bool(forfeits) != is_nim and isinstance(episode.events[-1], Ended)
        for forfeit in forfeits:
            assert episode.events[-1].payoffs[forfeit.seat] == -1.0
            assert forfeit.reason == "rejected"


@installed
def test_pages_hold_the_own_messages_only() -> None:
    model = Stub(lambda page: "[check]" if "'[check]'" in page.rpartition("Your avail")[2] else "")
    sally.run("textarena:KuhnPoker-v0", model=model, limit=1)
    for page in model.pages:
        player = page.partition("You are Player ")[2][0]
        assert "Your card is" in page and f"You are Player {1 - int(player)}" not in page


@installed
def test_scripted_opponents() -> None:
    study = study_of("textarena:Nim-v0", "nim_sum")
    episodes = list(sally.run(study, model=Stub(take_one), limit=1))
    won = [e.events[-1].payoffs[seat] for e in episodes for seat in nim_seats(e)]
    assert won[-1] == 1.0  # moves first in the second cell, and [3, 4, 5] is won for it
    moves = iter(("[Defect]", "[Cooperate]") * 20)
    talks = "Conversation finished"
    model = Stub(lambda page: next(moves) if talks in page.rpartition("--- St")[2] else "Hello.")
    study = study_of("textarena:IteratedPrisonersDilemma-v0", "tit_for_tat")
    episode = next(iter(sally.run(study, model=model, limit=1)))
    sent = {seat: [e.action["text"] for e in episode.events
                   if isinstance(e, Moved) and e.seat == seat and "[" in e.action["text"]]
            for seat in ("player_0", "player_1")}  # fmt: skip
    assert sent["player_1"] == ["[Cooperate]", *sent["player_0"][:-1]]
    with pytest.raises(BadInput, match="nim_sum plays Nim, not TicTacToe-v0"):
        sally.run(study_of("textarena:TicTacToe-v0", "nim_sum"), model=Stub(take_one), limit=1)


def nim_seats(episode: Any) -> list[str]:
    return [seat for seat, spec in episode.setup.lineup.items() if spec.player == "nim_sum"]


@installed
def test_text_without_a_move_is_no_cooperation() -> None:
    name, talk = "IteratedPrisonersDilemma-v0", ("Hello.", "Hello.")
    position = position_after(name, 1, (*talk, "I cannot decide."))
    assert (position.mover, position.rejections) == (0, 1)
    assert "names none of [Cooperate], [Defect]" in position.messages[0][-1].text
    assert position_after(name, 1, (*talk, "I [cooperate].")).mover == 1


@installed
def test_game_meets_the_checks_of_every_game() -> None:
    from sally.testing import results

    failed = {r.check: r.why for r in results("textarena:TicTacToe-v0", seeds=1) if r.why}
    # the game refuses an unclear text, the reader does not
    assert set(failed) <= {"words refuse what is unclear"}, failed


@installed
def test_names_that_textarena_does_not_have_are_refused() -> None:
    with pytest.raises(BadInput, match="did you mean Nim-v0"):
        study_of("textarena:Nim")
    with pytest.raises(BadInput, match=r"legal moves of Debate-v0.*another opponent"):
        study_of("textarena:Debate-v0")
    assert study_of("textarena:Debate-v0", "openai/gpt-4o").cells[0].lineups[0]["player_1"].params[
        "model"
    ] == "openai/gpt-4o"  # fmt: skip


def test_missing_textarena_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textarena", None)
    with pytest.raises(BadInput, match=r"TextArena is not installed.*textarena"):
        study_of("textarena:Nim-v0")


def test_opponent_is_refused_for_a_study_of_its_own() -> None:
    from sally.api.studies import find_study

    with pytest.raises(BadInput, match="only a game of another program"):
        find_study("riemer2025", "random")


def test_nim_sum_is_left_zero() -> None:
    for piles in ([3, 4, 5], [4, 2, 3, 7], [5, 7, 9, 11, 2]):
        number, taken = nim_move(piles)
        remaining = [pile - taken * (n == number) for n, pile in enumerate(piles)]
        total = 0
        for pile in remaining:
            total ^= pile
        assert total == 0 and min(remaining) >= 0
