"""What we rely on in Inspect, and what Inspect's users get from us."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from pathlib import Path
from pkgutil import iter_modules
from subprocess import run
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import eval as inspect_eval
from inspect_ai import eval_retry
from inspect_ai._cli.main import inspect as inspect_command
from inspect_ai._util.entrypoints import ensure_entry_points
from inspect_ai._util.registry import registry_lookup
from inspect_ai.log import (
    EvalLog,
    list_eval_logs,
    read_eval_log,
    resolve_sample_attachments,
)
from inspect_ai.model import get_model

from sally import studies
from sally.adapters.inspect.model import InspectModel
from sally.adapters.inspect.run import play_orders
from sally.adapters.inspect.scorers import metrics_by_seat
from sally.adapters.inspect.tasks import game_study, game_task, study_task
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Episode, Moved, Reported, from_line
from sally.core.prompt.model import Fault, ModelFailure, Settings, User
from sally.core.registry import registry
from sally.core.registry.study import player_spec
from sally.models.stub import Scripted, always
from sally.runner.check import check
from sally.runner.local import orders
from tests.adapters.inspect.tables import PICK, mock, stored, tiny, wanted

registry.add("studies", "tiny", tiny())
registry.add("studies", "tiny_pair", tiny(partner=player_spec("language", strategy="qa")))


def evaluate(study: str, out: Path, **arguments: Any) -> EvalLog:
    """What `inspect eval sally/STUDY` does, in this process."""
    (log,) = inspect_eval(
        study_task(study),
        task_args={"out": str(out)},
        log_dir=str(out.parent / "logs"),
        display="none",
        **arguments,
    )
    return log


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> tuple[EvalLog, Path]:
    out = tmp_path_factory.mktemp("eval") / "out"
    return evaluate("tiny", out, model=mock(PICK)), out


def test_study_becomes_task_with_one_sample_per_episode(log: tuple[EvalLog, Path]) -> None:
    eval_log, out = log
    assert eval_log.status == "success"
    episodes = stored(out)
    assert len(episodes) == 2
    assert {s.id for s in eval_log.samples or ()} == {e.id for e in episodes}
    for episode in episodes:
        assert episode.setup.lineup["agent"].params["model"] == "mockllm/model"
        assert [e.action for e in episode.events if isinstance(e, Moved)] == [0] * 4


def test_prompts_replay_from_the_record(log: tuple[EvalLog, Path]) -> None:
    replay_check = check(stored(log[1]))
    assert (replay_check.replayed, replay_check.mismatches, replay_check.unchecked) == (2, [], [])


def test_scores_are_our_metrics(log: tuple[EvalLog, Path]) -> None:
    eval_log, out = log
    for episode in stored(out):
        (sample,) = (s for s in eval_log.samples or () if s.id == episode.id)
        assert sample.scores
        values = sample.scores["all_metrics"].value
        assert values == {"completed": 1.0, **metrics_by_seat(episode)}
        assert isinstance(values, dict)
        assert values["agent.tom_percent"] == 100.0


def test_record_names_answering_model_and_inspect_version(log: tuple[EvalLog, Path]) -> None:
    for episode in stored(log[1]):
        assert episode.used["agent"]["answered_as"] == ["mockllm/model"]
        assert episode.used["agent"]["inspect_ai"]


def test_log_folder_can_be_viewed(log: tuple[EvalLog, Path]) -> None:
    (info,) = list_eval_logs(str(log[1].parent / "logs"))
    repeated_eval_log = read_eval_log(info)
    assert {s.id for s in repeated_eval_log.samples or ()} == {e.id for e in stored(log[1])}


@pytest.mark.parametrize("limit", [{"token_limit": 25}, {"time_limit": 1}])
def test_episode_cut_by_limit_is_censored_despite_inspect_success(
    limit: dict[str, int], tmp_path: Path
) -> None:
    def slow(shown: list[Any]) -> str:
        time.sleep(0.4 if "time_limit" in limit else 0)
        return PICK

    actual_log = evaluate("tiny", tmp_path / "out", model=mock(slow), **limit)
    assert actual_log.status == "success"
    for episode in stored(tmp_path / "out"):
        assert isinstance(episode.end, Censored)
        assert (episode.end.cause, episode.payoffs) == ("limit", None)
        (sample,) = (s for s in actual_log.samples or () if s.id == episode.id)
        assert sample.scores
        values = sample.scores["all_metrics"].value
        assert isinstance(values, dict) and values.pop("completed") == 0.0
        assert values and all(value != value for value in values.values())  # NaN: not scored


def test_each_seat_may_have_the_model_of_its_role(tmp_path: Path) -> None:
    roles = {"agent": mock("Option: J"), "partner": mock("Option: F")}
    evaluate("tiny_pair", tmp_path / "out", model_roles=roles, model=mock("nobody asked me"))
    for episode in stored(tmp_path / "out"):
        moves = {(e.seat, e.action) for e in episode.events if isinstance(e, Moved)}
        assert moves == {("agent", 0), ("partner", 1)}


def test_inspect_finds_our_tasks_and_our_provider_by_name() -> None:
    ensure_entry_points("sally")
    # what the package ships: other tests put studies of their own on the shelf of this process
    folder = {
        module_info.name for module_info in iter_modules(studies.__path__) if not module_info.ispkg
    }
    papers = {
        s.name for p in registry.entries("papers") for s in registry.paper_part(p, "study") or ()
    }
    shipped = papers | (folder & set(registry.entries("studies")))
    assert {"quickstart", "kang2026"} <= shipped
    for study in shipped:
        assert registry_lookup("task", f"sally/{study}") is not None, study
    registry.add("models", "stubby", lambda name: always(PICK))
    assert str(get_model("sally/stubby")) == "sally/stubby"


# --- the cache ----------------------------------------------------------------------------------


@pytest.fixture()
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_cached_replies_are_per_call_and_reused_by_second_run(cache: Path) -> None:
    numbers = iter(range(100))
    provider = mock(lambda shown: str(next(numbers)))

    def said(times: int, **scope: str) -> list[str]:
        model = InspectModel(provider, scope=scope)
        asked = [model.complete([User("a draw")], Settings(seed=1)) for _ in range(times)]

        async def each() -> list[str]:
            return [(await reply).text for reply in asked]

        return asyncio.run(each())

    assert said(2, episode="one", seat="agent") == ["0", "1"]  # the same prompt, two draws
    assert said(1, episode="two", seat="agent") == ["2"]
    assert said(1, episode="one", seat="partner") == ["3"]
    assert said(3, episode="one", seat="agent") == ["0", "1", "4"]  # two served, one new


def test_repeated_study_is_served_from_cache(cache: Path, tmp_path: Path) -> None:
    counts = [0]

    def script(messages: Any, settings: Settings) -> str:
        counts[0] += 1
        return PICK

    registry.add("models", "counted", lambda name: Scripted(script))
    for out in (tmp_path / "first", tmp_path / "second"):
        play_orders("tiny", wanted(tiny(), "sally/counted", out), out, cache=True, display="none")
        assert counts == [2 * 2 * 2]  # episodes, rounds, and a probe beside each move
    first, second = (stored(tmp_path / name) for name in ("first", "second"))
    assert [_said(e) for e in first] == [_said(e) for e in second]


def _said(episode: Episode) -> list[Any]:
    return [getattr(event, "reply", None) for event in episode.events]


# --- scoring ------------------------------------------------------------------------------------


def test_candidates_are_scored_through_a_provider_that_can(tmp_path: Path) -> None:
    likely = always("", scorer=lambda context, name: -1.0 if "F" in name else -2.0)
    registry.add("models", "scorer", lambda name: likely)
    out = tmp_path / "out"
    play_orders("tiny", wanted(tiny(strategy="lm"), "sally/scorer", out), out, display="none")
    for episode in stored(out):
        assert episode.payoffs is not None
        moves = [e for e in episode.events if isinstance(e, Moved) and e.seat == "agent"]
        assert {move.action for move in moves} == {1}
        assert all(sorted(move.calls[0].scores) == [-2.0, -1.0] for move in moves)
        assert {e.value for e in episode.events if isinstance(e, Reported)} == {1}


@pytest.mark.parametrize("logprobs", [[-1.0], [-1.0, float("nan")], [-1.0, 7.0], ["a", "b"], None])
def test_scores_of_wrong_shape_fail_with_a_kind(logprobs: Any) -> None:
    provider = mock("")

    class Odd(InspectModel):
        can_score = True

        async def _generate(self, *arguments: Any) -> Any:
            output = await super()._generate(*arguments)
            output.metadata = {"logprobs": logprobs}
            return output

    with pytest.raises(ModelFailure) as error:
        asyncio.run(Odd(provider).score("It is", (" J", " F")))
    assert error.value.kind == "bad_reply"


def test_game_is_a_task_with_scorers_by_name(tmp_path: Path) -> None:
    (log,) = inspect_eval(
        game_task("rps", "rps"),
        task_args={"out": str(tmp_path / "out"), "partner": "tit_for_tat", "episodes": 2,
                   "rounds": 2},
        log_dir=str(tmp_path / "logs"),
        display="none",
        model=mock("Option: R"),
    )  # fmt: skip
    assert log.status == "success", log.error
    assert len(stored(tmp_path / "out")) == 2
    for sample in log.samples or ():
        scores = sample.scores or {}
        assert {"knowing", "acting", "doing", "regret", "forfeits"} <= scores.keys()
        assert scores["forfeits"].value == 0.0
        assert scores["regret"].as_float() >= 0
        percent: Any = scores["all_metrics"].value
        assert scores["knowing"].as_float() == percent["agent.tom_percent"] / 100
        events = resolve_sample_attachments(sample, "full").events
        texts = {e.source: str(e.data) for e in events if e.event == "info"}
        assert [*texts] == ["turn 1", "turn 2", "the game"]  # after the calls of each turn
        assert "- **agent** plays **R**" in texts["turn 1"] and "payoffs: " in texts["turn 1"]
        assert re.search(
            r"\*\*agent\*\* predicts their\\_move about partner: \*\*R\*\*, ", texts["turn 2"]
        )
        header, rule, *rows = texts["the game"].split("\n\n")[1].split("\n")
        assert header == "| turn | seat | prediction | truth | move | payoff | cost |"
        assert rule == "|---|---|---|---|---|---|---|" and len(rows) == 4  # two seats, two turns
        gains = [float(row.split(" | ")[-2]) for row in rows if "agent" in row]
        episode = from_line(sample.store["episode"])
        assert sum(gains) == (episode.payoffs or {})["agent"]


def test_retry_plays_only_episodes_that_failed_and_checkpoints_change_nothing(
    tmp_path: Path,
) -> None:
    calls = [0]

    def fail_once(messages: Any, settings: Settings) -> str | Fault:
        calls[0] += 1
        is_failing = calls[0] == 4
        return Fault("bad_request", "The server refused the call.") if is_failing else "Option: R"

    registry.add("models", "stumbling_player", lambda name: Scripted(fail_once))
    (log,) = inspect_eval(
        "sally/rps",
        task_args={"out": str(tmp_path / "out"), "partner": "tit_for_tat", "episodes": 3,
                   "rounds": 2, "probes": "none"},
        log_dir=str(tmp_path / "logs"),
        display="none",
        model="sally/stumbling_player",
        max_samples=1,
        checkpoint=True,  # inside a sample, it would need a program from the network
    )  # fmt: skip
    failed = [sample.id for sample in log.samples or () if sample.error]
    assert len(failed) == 1 and len(stored(tmp_path / "out")) == 3
    calls[0] = 100
    (again,) = eval_retry(log, log_dir=str(tmp_path / "again"), display="none")
    assert [sample.error for sample in again.samples or ()] == [None] * 3
    assert calls[0] == 102  # two rounds of one episode
    episodes = stored(tmp_path / "out")
    assert len(episodes) == 3 and not any(isinstance(e.end, Censored) for e in episodes)


def test_scores_of_several_models_are_keyed_by_seat(tmp_path: Path) -> None:
    (log,) = inspect_eval(
        game_task("rps", "rps"),
        task_args={"out": str(tmp_path / "out"), "seats": "agent,partner", "episodes": 1,
                   "rounds": 1, "probes": "none"},
        log_dir=str(tmp_path / "logs"),
        display="none",
        model=mock("Option: R"),
    )  # fmt: skip
    (sample,) = log.samples or ()
    scores = sample.scores or {}
    assert scores["forfeits"].value == {"agent.forfeits": 0.0, "partner.forfeits": 0.0}
    assert log.results is not None
    (actual_scores,) = [score for score in log.results.scores if score.name == "forfeits"]
    assert {name: m.value for name, m in actual_scores.metrics.items()} == scores["forfeits"].value


def test_log_can_be_scored_again_and_by_a_scorers_name(tmp_path: Path) -> None:
    (log,) = inspect_eval(
        game_task("rps", "rps"),
        task_args={
            "out": str(tmp_path / "out"),
            "seats": "agent,partner",
            "episodes": 2,
            "rounds": 2,
        },
        log_dir=str(tmp_path / "logs"),
        display="none",
        model=mock("Option: R"),
    )  # fmt: skip
    for chosen in ((), ("--scorer", "sally/regret")):
        repeated_file = tmp_path / f"again{len(chosen)}.eval"
        arguments = ["score", log.location, "--output-file", str(repeated_file)]
        arguments += ["--action", "overwrite", *chosen]
        if chosen:  # a new process finds the scorer by its name
            command = [sys.executable, "-m", "inspect_ai", *arguments]
            done = run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        else:
            CliRunner().invoke(inspect_command, arguments, catch_exceptions=False)
        scored = read_eval_log(str(repeated_file)).samples or []
        for previous, following in zip(log.samples or [], scored, strict=True):
            assert following.scores and previous.scores
            assert set(following.scores) == ({"regret"} if chosen else set(previous.scores))
            assert following.scores["regret"].value == previous.scores["regret"].value


def test_wrong_game_task_arguments_are_refused_with_one_message() -> None:
    for fields, says in (
        ({"seats": "agnt"}, "agent"),
        ({"episodes": 0}, "at least 1"),
        ({"probes": "their_moove"}, "their_move"),
        ({"partner": "tit_for_tatt"}, "tit_for_tat"),
    ):
        options = {"partner": "", "seats": "", "strategy": "qa", "probes": "", "episodes": 1}
        with pytest.raises(BadInput, match=says):
            orders(game_study("rps", **{**options, **fields}, seed=1, params={}))  # type: ignore[arg-type]


def test_every_game_can_be_made_into_a_task() -> None:
    for game in registry.games():
        study = game_study(game, "", "", "qa", "", 1, 1, {})
        assert study.cells[0].lineups[0]
