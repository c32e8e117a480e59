"""`inspect eval sally/pairs`: the numbers of `sally evaluate`, per-seat scores and reasons, epochs,
limits and retries."""

from __future__ import annotations

import math
import re
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai import eval_retry
from inspect_ai._util.entrypoints import ensure_entry_points
from inspect_ai._util.error import PrerequisiteError
from inspect_ai._util.registry import registry_lookup
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

import sally
from sally.adapters.inspect.import_logs import import_episodes
from sally.adapters.inspect.pairs import PAIRS, records_of_scores, suite_values
from sally.adapters.inspect.run import play_orders
from sally.adapters.inspect.tasks import study_task
from sally.analysis.pairs.evaluation import PairEvaluation
from sally.api.pair_evaluation import PairRows
from sally.core.prompt.model import Fault, Settings
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, player_spec
from sally.models.stub import Scripted
from sally.studies import sally_2
from tests.adapters.inspect.tables import mock, stored, tiny, wanted


def choose(messages: Any, settings: Settings) -> str:
    """Pick one of the two options by a hash of the prompt; one prompt in twenty gets no answer."""
    text = "\n".join(str(message.text) for message in messages)
    number = blake2b(text.encode(), digest_size=2).digest()
    if number[1] % 20 == 0:
        return "I cannot say."
    options = list(dict.fromkeys(re.findall(r"Option ([A-Z])\b", text)))
    return f"Option: {options[number[0] % 2]}"


registry.add("models", "hashing", lambda name: Scripted(choose))
GAMES = ("ibs", "stag_hunt")


def evaluate(out: Path, model: Any, **options: Any) -> EvalLog:
    arguments = {"games": ",".join(GAMES), "out": str(out), **options.pop("task_args", {})}
    (log,) = inspect_eval(
        PAIRS,
        task_args=arguments,
        log_dir=str(out.parent / "logs"),
        display="none",
        model=model,
        **options,
    )
    return log


def metrics_of(log: EvalLog) -> dict[str, float]:
    assert log.status == "success" and log.results is not None, log.error
    (scores,) = log.results.scores
    return {name: metric.value for name, metric in scores.metrics.items()}


def means_of(evaluation: PairEvaluation) -> dict[str, float]:
    """The numbers of `sally evaluate` under the names of the metrics."""
    values: dict[str, float] = {}
    for name in ("knowing", "doing", "acting", "gap", "d_knowing", "d_doing"):
        estimate = getattr(evaluation, name)
        values[name] = math.nan if estimate is None else estimate.value
        values[f"{name}_lower"] = math.nan if estimate is None else estimate.low
        values[f"{name}_upper"] = math.nan if estimate is None else estimate.high
    for game in evaluation.games:
        for question in ("knowing", "doing"):
            score = getattr(game, question)
            values[f"{game.game}.{question}"] = score.j.value
            values[f"{game.game}.d_{question}"] = score.d.value
        values[f"{game.game}.gap"] = game.gap.value if game.gap else math.nan
    return values


def test_inspect_and_sally_evaluate_give_the_same_numbers(tmp_path: Path) -> None:
    rows = sally.evaluate("hashing", games=GAMES, out=tmp_path / "sally")
    assert isinstance(rows, PairRows)
    log = evaluate(tmp_path / "out", "sally/hashing")
    assert not [sample for sample in log.samples or () if sample.error]
    assert len(log.samples or ()) == sum(sally_2.row_named(game).count("S") for game in GAMES)
    assert metrics_of(log) == pytest.approx(means_of(rows.evaluation), rel=0, abs=0, nan_ok=True)
    assert rows.evaluation.knowing is not None and rows.evaluation.knowing.value != 0
    repeated_value = sally.evaluate("sally/hashing", games=GAMES, out=tmp_path / "out", play=False)
    assert isinstance(repeated_value, PairRows)
    assert means_of(repeated_value.evaluation) == means_of(rows.evaluation)


def test_a_sample_scores_the_seats_that_it_has(tmp_path: Path) -> None:
    """Seats differ between the games of a suite: `agent`, `buyer`, `seeker`."""
    first, second = (sally_2.suite("S", (game,)) for game in ("ibs", "bargaining"))
    cells = (*_shortened(first), *_shortened(second))
    study = msgspec.structs.replace(first, cells=cells)
    play_orders("mixed", wanted(study, "sally/hashing", tmp_path), tmp_path, display="none")
    (info,) = list_eval_logs(str(tmp_path / "inspect"))
    samples = read_eval_log(info).samples or []
    assert len(samples) == 4 and not [sample for sample in samples if sample.error]
    for sample in samples:
        assert sample.scores and isinstance(sample.scores["forfeits"].value, int | float)


def _shortened(study: Study) -> tuple[Cell, ...]:
    """Only the first pair of each cell."""
    return tuple(
        msgspec.structs.replace(cell, instances=cell.instances[:2], lineups=cell.lineups[:2])
        for cell in study.cells
    )


@pytest.mark.parametrize(
    ("reply", "reason"), [("", "no_response"), ("Hm, hard.", "invalid_response_format")]
)
def test_forfeits_have_inspects_reasons_by_seat(reply: str, reason: str, tmp_path: Path) -> None:
    study = tiny(rounds=1, repeats=1, partner=player_spec("language", strategy="qa"))
    registry.add("studies", "two_seats", study)
    (log,) = inspect_eval(
        study_task("two_seats"),
        task_args={"out": str(tmp_path / "out")},
        log_dir=str(tmp_path / "logs"),
        display="none",
        model_roles={"agent": mock("Option: J"), "partner": mock(reply)},
    )
    (sample,) = log.samples or ()
    assert sample.scores
    forfeits = sample.scores["forfeits"]
    assert forfeits.value == {"agent.forfeits": 0.0, "partner.forfeits": 1.0}
    assert forfeits.reason == reason
    assert forfeits.metadata == {"unusable_answers": {"partner": {reason: 1}}}


def test_only_open_seats_need_a_model(tmp_path: Path) -> None:
    registry.add("studies", "one_seat", tiny(rounds=1, repeats=1))
    options = {"log_dir": str(tmp_path / "logs"), "display": "none"}
    arguments = {"out": str(tmp_path / "out")}
    task = study_task("one_seat")
    (log,) = inspect_eval(
        task, task_args=arguments, model_roles={"agent": mock("Option: J")}, **options
    )
    assert log.status == "success"
    with pytest.raises(PrerequisiteError, match="needs a model for agent"):
        inspect_eval(task, task_args=arguments, **options)


def test_every_epoch_is_an_episode_of_its_own_and_a_cluster_of_its_pair(tmp_path: Path) -> None:
    options = {"games": "ibs", "limit": 6}
    log = evaluate(tmp_path / "out", "sally/hashing", epochs=2, task_args=options)
    episodes = stored(tmp_path / "out")  # fails if an id is stored twice
    assert sorted(episode.setup.repeat for episode in episodes) == [0] * 12 + [1] * 12
    scores = [(sample.scores or {})["pair_scores"] for sample in log.samples or ()]
    records = records_of_scores(scores)
    assert len(records) == 12
    assert len({record.pair.cluster for record in records if record.pair}) == 6
    assert metrics_of(log) == pytest.approx(suite_values(records), rel=0, abs=0, nan_ok=True)


def test_retry_plays_only_pairs_that_failed(tmp_path: Path) -> None:
    calls = [0]

    def fail_once(messages: Any, settings: Settings) -> str | Fault:
        calls[0] += 1
        return (
            Fault("bad_request", "The server refused the call.")
            if calls[0] == 5
            else choose(messages, settings)
        )

    registry.add("models", "stumbling", lambda name: Scripted(fail_once))
    options = {"games": "ibs", "limit": 5}
    log = evaluate(tmp_path / "out", "sally/stumbling", task_args=options, max_samples=1)
    failed = [sample.id for sample in log.samples or () if sample.error]
    assert len(failed) == 1
    calls[0] = 100
    (second_run,) = eval_retry(log, log_dir=str(tmp_path / "again"), display="none")
    assert len(second_run.samples or ()) == 5
    assert not [sample for sample in second_run.samples or () if sample.error]
    assert calls[0] - 100 <= 2 * 2 * 3  # one pair: two questions in two positions, with retries


def test_position_cut_by_a_limit_has_no_score(tmp_path: Path) -> None:
    options = {"games": "ibs", "limit": 1}
    log = evaluate(tmp_path / "out", mock("Option: L"), task_args=options, token_limit=5)
    (sample,) = log.samples or ()
    assert sample.limit is not None and sample.limit.type == "token"
    assert sample.scores and all(
        math.isnan(value) for value in sample.scores["pair_scores"].as_dict().values()
    )
    assert {type(episode.end).__name__ for episode in stored(tmp_path / "out")} == {"Censored"}


def test_import_reads_both_positions_of_a_sample(tmp_path: Path) -> None:
    evaluate(tmp_path / "out", "sally/hashing", task_args={"games": "ibs", "limit": 2})
    result = import_episodes(tmp_path / "logs")
    assert {episode.id for episode in result.episodes} == {
        episode.id for episode in stored(tmp_path / "out")
    }


def test_task_is_registered_under_its_name() -> None:
    ensure_entry_points("sally")
    assert registry_lookup("task", "sally/pairs") is not None
