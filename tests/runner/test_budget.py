"""Language episodes in one process: side by side, within a budget, and on from where it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Censored, Episode
from sally.core.prompt.model import AS_THE_PROVIDER_DOES, Message, ModelKind, Reply, Settings, Usage
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, instance, player_spec
from sally.models.stub import Scripted
from sally.runner.budget import Budget, Meter
from sally.runner.config import (
    Config,
    Limits,
    ModelEntry,
    Price,
    Prices,
    declared_at_once,
)
from sally.runner.run import run_study

ROUNDS, EPISODES = 5, 6
PER_CALL = 10  # tokens
WHOLE = ROUNDS * PER_CALL


class Timed(Scripted):
    """A stub that takes a while, and remembers how many asked at once."""

    slots = 3

    def __init__(self) -> None:
        self.used = {"weights": "none"}
        super().__init__(lambda messages, settings: "Option: J")
        self.now = self.most = self.calls = 0

    async def complete(
        self, messages: Any, settings: Settings = AS_THE_PROVIDER_DOES, tools: Any = ()
    ) -> Reply:
        self.now, self.calls = self.now + 1, self.calls + 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        return Reply("Option: J", usage=Usage(input=PER_CALL - 1, output=1))


def study(model: str) -> Study:
    agent = player_spec("language", model=model, strategy="qa")
    lineup = {"agent": agent, "partner": player_spec("tit_for_tat")}
    bots = {"agent": player_spec("random"), "partner": player_spec("tit_for_tat")}
    ipd = (instance("ipd", rounds=ROUNDS),)
    return Study("s", "", (Cell("ipd", ipd, (lineup, bots), repeats=EPISODES),))


def on_shelf(name: str, make: Callable[[], Any] = Timed) -> Any:
    model = make()
    registry.add("models", name, lambda asked: model)
    return model


def of_models(episodes: Any) -> list[Episode]:
    return [e for e in episodes if e.setup.lineup["agent"].player == "language"]


def test_language_episodes_run_concurrently_up_to_the_model_slots(
    tmp_path: Path,
) -> None:
    model = on_shelf("timed_a")
    numbers: list[int] = []
    contents = run_study(study("timed_a"), tmp_path / "o", watch=lambda p: numbers.append(p.done))
    assert len(contents.finished_ids) == 2 * EPISODES
    assert model.most == 3
    assert sorted(set(numbers) - {0}) == list(range(1, 2 * EPISODES + 1)) and numbers == sorted(
        numbers
    )


class Plain(Timed):
    """A stub that does not say how many calls it takes."""

    slots = None  # type: ignore[assignment]


def test_model_kind_declares_its_concurrent_calls(tmp_path: Path) -> None:
    model = Plain()
    registry.add("models", "kind_a", ModelKind("kind_a", "a stub", lambda name: model, at_once=5))
    run_study(study("kind_a"), tmp_path / "o")
    assert model.most == 5


def test_config_overrides_concurrency_of_model_and_kind(tmp_path: Path) -> None:
    model = on_shelf("timed_f")
    config = Config(models={"mine": ModelEntry("timed_f", at_once=2)})
    run_study(study("timed_f"), tmp_path / "o", meter=Meter(config=config))
    assert model.most == 2


def test_model_kind_with_zero_calls_is_refused_with_one_message() -> None:
    registry.add("models", "kind_b", ModelKind("kind_b", "a stub", lambda name: Plain(), lambda: 0))
    with pytest.raises(BadInput, match="at least one concurrent call"):
        declared_at_once("kind_b", Config())


def test_record_states_what_answered_and_is_empty_for_bots(tmp_path: Path) -> None:
    on_shelf("timed_b")
    episodes = run_study(study("timed_b"), tmp_path / "o").episodes.values()
    for episode in episodes:
        expected = {"agent": {"weights": "none"}} if episode in of_models(episodes) else {}
        assert episode.used == expected


def test_concurrent_play_equals_sequential_play(tmp_path: Path) -> None:
    def narrow() -> Timed:
        model = Timed()
        model.slots = 1
        return model

    on_shelf("timed_c", narrow)
    contents = run_study(study("timed_c"), tmp_path / "one")
    on_shelf("timed_c")
    many = run_study(study("timed_c"), tmp_path / "many")
    assert contents.episodes.keys() == many.episodes.keys()
    for id, episode in contents.episodes.items():
        assert episode.events == many.episodes[id].events


def test_spent_budget_starts_no_episode_and_censors_those_in_progress(tmp_path: Path) -> None:
    model = on_shelf("timed_d")
    meter = Meter(Budget(tokens=2 * WHOLE))
    contents = run_study(study("timed_d"), tmp_path / "o", meter=meter)
    played = of_models(contents.episodes.values())
    cut = [e for e in played if isinstance(e.end, Censored)]
    assert {e.end.cause for e in cut if isinstance(e.end, Censored)} == {"budget"}
    assert all(e.payoffs is None for e in cut)
    assert len(played) < EPISODES  # the rest left nothing in the store
    assert 2 * WHOLE <= meter.tokens <= 2 * WHOLE + 3 * PER_CALL  # three were on their way
    assert model.calls == meter.calls


def test_calls_that_begin_together_stay_within_the_budget(tmp_path: Path) -> None:
    sizes: list[int] = []

    class Counted(Timed):
        slots = EPISODES

        async def complete(
            self, messages: Any, settings: Settings = AS_THE_PROVIDER_DOES, tools: Any = ()
        ) -> Reply:
            await super().complete(messages, settings, tools)
            sizes.append(sum(len(message.text) for message in messages) // 4)
            return Reply("Option: J", usage=Usage(input=sizes[-1], output=1))

    model = on_shelf("timed_together", Counted)
    budget = 500  # one call of each episode needs more
    meter = Meter(Budget(tokens=budget))
    run_study(study("timed_together"), tmp_path / "o", meter=meter)
    assert EPISODES * min(sizes) > budget + max(sizes)
    assert budget <= meter.tokens <= budget + max(sizes)
    assert model.most > 1  # it still answers several calls at a time


def test_resume_continues_where_the_budget_ended(tmp_path: Path) -> None:
    model = on_shelf("timed_e")
    run_study(study("timed_e"), tmp_path / "o", meter=Meter(Budget(tokens=2 * WHOLE)))
    calls_before = model.calls
    contents = run_study(study("timed_e"), tmp_path / "o")
    assert len(contents.finished_ids) == 2 * EPISODES
    assert ROUNDS <= model.calls - calls_before <= EPISODES * ROUNDS


def test_zero_budget_plays_only_bots(tmp_path: Path) -> None:
    model = on_shelf("timed_f")
    contents = run_study(study("timed_f"), tmp_path / "o", meter=Meter(Budget(tokens=0)))
    assert len(contents.episodes) == EPISODES
    assert model.calls == 0


def test_limit_on_each_episode_censors_it_as_a_limit(tmp_path: Path) -> None:
    on_shelf("timed_g")
    config = Config(limits=Limits(episode_tokens=2 * PER_CALL))
    contents = run_study(study("timed_g"), tmp_path / "o", meter=Meter(config=config))
    for episode in of_models(contents.episodes.values()):
        assert isinstance(episode.end, Censored)
        assert (episode.end.cause, episode.end.turn) == ("limit", 2)


def test_episode_over_the_time_limit_is_censored_as_limit(tmp_path: Path) -> None:
    on_shelf("timed_h")
    config = Config(limits=Limits(episode_seconds=0.002))
    contents = run_study(study("timed_h"), tmp_path / "o", meter=Meter(config=config))
    for episode in of_models(contents.episodes.values()):
        assert isinstance(episode.end, Censored)
        assert episode.end.cause == "limit"
        assert "time limit" in episode.end.detail


def test_cost_is_computed_from_the_price_table_and_logged(tmp_path: Path) -> None:
    table = Prices(date(2026, 11, 1), {"lab/x": Price(1e6, 2e6)})
    meter = Meter(Budget(money=25.0), Config(prices=table))
    usage = meter.charge("lab/x", Usage(input=9, output=3))
    assert usage.cost == pytest.approx(15.0)
    assert not meter.spent
    meter.charge("lab/x", Usage(input=10, output=0))
    assert meter.spent
    meter.charge("lab/unheard", Usage(input=10))
    assert meter.unpriced == 1
    assert meter.money == pytest.approx(25.0)


def test_budget_in_money_needs_every_price() -> None:
    meter = Meter(Budget(money=1.0))
    with pytest.raises(BadInput, match="The price of lab/x is unknown"):
        meter.refuse_unpriced(["embedded", "lab/x"])
    Meter(Budget(tokens=1)).refuse_unpriced(["lab/x"])
    with pytest.raises(BadInput, match="at least 0"):
        Budget(money=-1.0)


def test_unexpected_exception_is_raised(tmp_path: Path) -> None:
    def script(messages: list[Message], settings: Settings) -> Any:
        raise RuntimeError("a bug")

    on_shelf("broken", lambda: Scripted(script))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="a bug"):
        run_study(study("broken"), tmp_path / "o")


def test_uncounted_tokens_are_estimated_for_budget_and_unknown_in_record():
    table = Prices(date(2026, 1, 1), {"lab/x": Price(1e6, 0.0)})
    meter = Meter(Budget(tokens=20), Config(prices=table))
    recorded = meter.charge("lab/x", Usage(seconds=1.0), characters=40)
    assert recorded == Usage(seconds=1.0)
    assert (meter.tokens, meter.guessed) == (10, 1)
    assert meter.money == 10.0
    assert "estimated" in meter.usage_text
    meter.charge("lab/x", Usage(), characters=40)
    assert meter.spent


def test_shares_of_a_budget_never_exceed_the_budget() -> None:
    meter = Meter(Budget(money=8.0, tokens=100))
    out = [meter.share(2, [])]
    out.append(meter.share(2, out))  # type: ignore[arg-type]
    assert out == [Budget(4.0, 50), Budget(4.0, 50)]
    assert meter.share(2, out) is None  # type: ignore[arg-type]  # a third has to wait
    meter.add(1, 0, 20, 1.0, 0, 0)  # one of the two came back, having used so much
    assert meter.share(2, out[:1]) == Budget(3.0, 30)  # type: ignore[arg-type]
    assert Meter(Budget(tokens=1)).share(2) == Budget(tokens=1)  # or a run would wait for ever
    assert Meter().share(3, [Budget()] * 9) == Budget()
