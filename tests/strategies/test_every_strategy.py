"""Every strategy in every game: it is refused with a sentence, or it speaks and is understood."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import msgspec
import pytest

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.match.player import Decision, Forfeit, Turn
from sally.core.match.strategy import PromptContext
from sally.core.registry import registry
from sally.core.rules.chance import Stream
from sally.core.rules.menu import example, is_finite
from sally.core.rules.probe import ProbeReport
from sally.models.stub import always
from sally.players.language import LanguagePlayer
from sally.runner.requirements import refuse_what_lacks
from tests.table import asked_in_turn, every, match_of, spec_of, table

FULL = "Thoughts: a.\nReasoning: b.\nPlan: c.\nPlans: d.\nInsights: e.\n"


def reply_to(turn: Turn) -> str:
    """A good answer to whatever is asked."""
    words, question, prompt = turn.context.words, turn.question, PromptContext(turn)
    guesses = [prompt.choice_names(q)[0] for q in prompt.foresee]
    numbers = [f" {n}" for n in range(1, len(guesses) + 1)] if len(guesses) > 1 else [""]
    predicted = [
        f"{prompt.foreseen_label}{n}: {g}\n" for n, g in zip(numbers, guesses, strict=False)
    ]
    before = FULL + "".join(predicted)
    if question is None and is_finite(turn.options):
        return f"{before}{words.label}: {words.menu(turn.options)[0]}"
    if question is None:
        return f"{before}\n{json.dumps(msgspec.to_builtins(example(turn.options, Stream(1))))}"
    names = [words.choice_name(question, c) for c in question.choices]
    share = 100 / len(names)
    return {
        "choice": f"{FULL}{words.label}: {names[0]}",
        "odds": "Odds: " + ", ".join(f"{name} {share:.4f}%" for name in names),
        "values": "\n".join(f"{name}: {question.high:g}" for name in names),
    }[question.kind]


set_up = cache(table)  # the same names for all strategies
Asked = tuple[str, Any, Any]  # a game, an ask of its match and a question that is put instead
SAID: dict[Asked, str] = {}


def reply_in(name: str, turn: Turn) -> str:
    """The good answer; every strategy is asked the same in the same match of a game."""
    asked = (name, turn.id, turn.question)
    if asked not in SAID:
        SAID[asked] = reply_to(turn)
    return SAID[asked]


@pytest.fixture(scope="module")
def awaited() -> Iterator[Callable[[Any], Any]]:
    """What a coroutine comes to; one loop serves all, as making one takes longer than a page."""
    with asyncio.Runner() as loop:
        yield loop.get_loop().run_until_complete


@pytest.mark.parametrize("name", every())
@pytest.mark.parametrize("strategy", sorted(registry.entries("strategies")))
def test_strategy_fits_a_game_or_is_refused_with_the_reason(
    name: str, strategy: str, awaited: Callable[[Any], Any]
) -> None:
    awaited(fits_or_says_why_not(name, strategy))


async def fits_or_says_why_not(name: str, strategy: str) -> None:
    """Whatever is asked in the first moves of a game, put to the strategy."""
    chosen, spec = registry.entries("strategies")[strategy], spec_of(name)
    match = match_of(set_up(name))
    act, answer = chosen.make()
    for turn, _ in islice(asked_in_turn(match), 12):
        if turn.seat in match.game.helpers:
            continue
        lineup = {turn.seat: PlayerSpec("language", {"strategy": strategy})}
        try:
            refuse_what_lacks(spec, match.game, msgspec.structs.replace(match.setup, lineup=lineup))
        except BadInput as why:
            if "told" not in chosen.needs:
                assert spec.name in str(why)
                continue
        model = always(reply_in(name, turn), lambda context, candidate: -1.0)
        player = LanguagePlayer(model, act, answer, texts=chosen.texts)
        actual_answer = await player.decide(turn)
        assert isinstance(actual_answer, Decision | Forfeit), actual_answer
        if strategy != "social_qa":  # it wants another reply first
            assert isinstance(actual_answer, Decision), actual_answer
            assert all(f.value is not None for f in actual_answer.foreseen)
            assert strategy[:4] != "tom_" or len(actual_answer.foreseen) == len(
                PromptContext(turn).foresee
            )
        for question in (
            q
            for p in spec.probes
            if turn.seat in p.seats
            for q in p.asks(match.game, turn.view, turn.seat)
        ):
            if "scoring" in chosen.needs and question.kind == "values":
                continue
            asked_turn = msgspec.structs.replace(turn, question=question)
            model = always(reply_in(name, asked_turn), lambda context, candidate: -1.0)
            player = LanguagePlayer(model, act, answer, texts=chosen.texts)
            report = await player.report(asked_turn)
            assert isinstance(report, ProbeReport) and report.value is not None, report
