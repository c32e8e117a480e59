"""Any two Inspect logs are compared over pairs of samples, missing ones by intention to treat."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, accuracy, match, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

import sally
from sally.adapters.inspect.compare_logs import (
    LogScores,
    _compare_pair,
    compare_logs,
    log_scores,
    power_of_logs,
)
from sally.cli import cli
from sally.core.errors import BadInput


@scorer(metrics={"length": [mean()], "right": [mean()]})
def parts() -> Scorer:
    """A score with two values, one of which is a truth value."""

    async def score(state: TaskState, target: Target) -> Score:
        completion = state.output.completion
        return Score(value={"length": float(len(completion)), "right": completion == target.text})

    return score


@scorer(metrics=[accuracy()])
def letter() -> Scorer:
    """Inspect's letters."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value="C" if state.output.completion == target.text else "I")

    return score


@solver
def says(replies: Sequence[str], broken: Sequence[int]) -> Solver:
    """A solver that gives one reply per sample and fails on some samples."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id in broken:
            raise RuntimeError("the server is gone")
        state.output = ModelOutput.from_content("mockllm/model", replies[int(state.sample_id)])
        return state

    return solve


def evaluate(folder: Path, replies: Sequence[str], broken: Sequence[int] = ()) -> EvalLog:
    """A log that Inspect wrote of a model that gives these replies, one per sample."""
    samples = [
        Sample(id=n, input=f"Sample {n}", target="yes", metadata={"story": n // 3})
        for n in range(len(replies))
    ]
    task = Task(
        dataset=samples,
        solver=says(replies, broken),
        scorer=[match(), parts(), letter()],
        name="yes_or_no",
    )
    options: Any = {"display": "none", "fail_on_error": False}
    return inspect_eval(task, model="mockllm/model", log_dir=str(folder), **options)[0]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """A real log with one right, one wrong and one broken sample, from which others are made."""
    folder = tmp_path_factory.mktemp("template")
    return read_eval_log(evaluate(folder, ["yes", "no", "yes"], broken=[2]).location)


class Logs:
    """Maker of logs whose samples are copies of the template's."""

    def __init__(self, template: EvalLog, folder: Path) -> None:
        self.template, self.folder, self.made = template, folder, 0

    def __call__(
        self,
        replies: Sequence[str],
        broken: Sequence[int] = (),
        question: str = "Sample",
        epochs: int = 1,
    ) -> Path:
        assert self.template.samples is not None
        right, wrong, gone = self.template.samples
        samples = [
            (gone if n in broken else right if reply == "yes" else wrong).model_copy(
                update={
                    "id": n,
                    "epoch": epoch,
                    "input": f"{question} {n}",
                    "metadata": {"story": n // 3},
                    "uuid": f"{n}-{epoch}",
                }
            )
            for epoch in range(1, epochs + 1)
            for n, reply in enumerate(replies)
        ]
        log = self.template.model_copy(deep=True, update={"samples": samples})
        log.eval.dataset.sample_ids = list(range(len(replies)))
        log.eval.config.epochs = epochs
        self.made += 1
        path = self.folder / f"log{self.made}.eval"
        write_eval_log(log, path)
        return path


@pytest.fixture(scope="module")
def logged(template: EvalLog, tmp_path_factory: pytest.TempPathFactory) -> Logs:
    return Logs(template, tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="module")
def two(logged: Logs) -> tuple[Path, Path]:
    return logged(["yes"] * 30), logged(["no" if n % 2 else "yes" for n in range(30)])


def test_scorers_of_every_kind_are_paired_by_sample(two: tuple[Path, Path]) -> None:
    comparisons = {c.scorer: c for c in compare_logs(two)}
    assert set(comparisons) == {"match", "parts.length", "parts.right", "letter"}
    for name in ("match", "parts.right", "letter"):
        assert (comparisons[name].first_mean, comparisons[name].second_mean) == (1.0, 0.5)
        assert (
            comparisons[name].verdict == "higher"
            and comparisons[name].pairs == comparisons[name].units == 30
        )
    # "yes" is one letter longer than "no"
    assert comparisons["parts.length"].difference.value == 0.5


def test_two_directions_mirror_each_other(two: tuple[Path, Path]) -> None:
    log_comparisons, other_log_comparisons = (
        compare_logs(two, scorers=["match"]),
        compare_logs(two[::-1], scorers=["match"]),
    )
    assert log_comparisons[0].difference.value == -(other_log_comparisons[0].difference.value or 0)
    assert (log_comparisons[0].verdict, other_log_comparisons[0].verdict) == ("higher", "lower")
    assert log_comparisons[0].p == other_log_comparisons[0].p


def test_clusters_come_from_metadata_column_or_function(two: tuple[Path, Path]) -> None:
    column = compare_logs(two, scorers=["match"], cluster="story")[0]
    function = compare_logs(two, scorers=["match"], cluster=lambda s: s.metadata["story"])[0]
    assert column.units == function.units == 10
    assert (column.clusters, function.clusters) == ("story", "clusters")
    assert column.difference.interval == function.difference.interval
    with pytest.raises(BadInput, match="no metadata column 'author'; it has story"):
        compare_logs(two, cluster="author")


def test_inspect_log_is_read_with_scores_and_failed_samples(template: EvalLog) -> None:
    actual_log_scores = log_scores(Path(template.location))
    assert actual_log_scores.values["match"] == {("0", 1): 1.0, ("1", 1): 0.0}
    assert actual_log_scores.failed == {("2", 1)} and len(actual_log_scores.planned) == 3


def test_failed_samples_count_as_lowest_score(two: tuple[Path, Path], logged: Logs) -> None:
    broken = logged(["yes"] * 30, broken=[0, 1, 2])
    log_comparisons = compare_logs([two[0], broken], scorers=["match", "parts.length"])
    right, length = log_comparisons
    assert right.missing == (0, 3)
    assert right.second_mean == pytest.approx(0.9)
    assert right.complete is not None and right.complete.value == 0.0
    assert length.second_mean == 3.0  # the lowest length that either log has


def test_epochs_of_one_sample_form_a_cluster(logged: Logs) -> None:
    logs = logged(["yes"] * 8, epochs=3)
    two = logged(["yes", "no"] * 4, epochs=3)
    log_comparison = compare_logs([logs, two], scorers=["letter"])[0]
    assert (log_comparison.pairs, log_comparison.units) == (24, 8)


def test_different_inputs_under_same_ids_are_refused(two: tuple[Path, Path], logged: Logs) -> None:
    other_logs = logged(["yes"] * 30, question="Another sample")
    with pytest.raises(BadInput, match="different inputs"):
        compare_logs([two[0], other_logs])
    assert compare_logs([two[0], other_logs], ids_only=True)


def test_three_logs_are_one_family(two: tuple[Path, Path], logged: Logs) -> None:
    third = logged(["yes"] * 30)
    log_comparisons = compare_logs([*two, third], scorers=["match"])
    assert len(log_comparisons) == 3 and len({(c.first, c.second) for c in log_comparisons}) == 3
    assert all(c.p_holm >= c.p for c in log_comparisons if c.p is not None and c.p_holm is not None)


def test_wrong_arguments_are_refused_with_one_message(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    text = tmp_path / "no.eval"
    text.write_text("not a log")
    for logs, says in (
        ([two[0], tmp_path / "gone.eval"], "There is no log at"),
        ([two[0], text], "is not an Inspect log"),
        ([two[0], two[0]], "cannot be compared with itself"),
    ):
        with pytest.raises(BadInput, match=says):
            compare_logs(logs)
    with pytest.raises(BadInput, match=r"[Uu]nknown scorer|no scorer"):
        compare_logs(two, scorers=["mach"])


def test_power_gives_number_of_samples_for_a_difference(two: tuple[Path, Path]) -> None:
    planned = power_of_logs(two, detect=0.25, scorers=["match"])[0]
    assert planned.paired and planned.units == 30
    values = log_scores(two[1]).values["match"]
    assert planned.deviation == pytest.approx(np.std(list(values.values()), ddof=1))
    assert planned.needs is not None and 30 < planned.needs < 60
    alone = power_of_logs([two[1]], detect=0.25, scorers=["match"])[0]
    assert not alone.paired and (alone.needs or 0) > planned.needs


def test_commands_print_one_screen_json_and_a_page(two: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ["compare", *map(str, two), "--out", str(page)]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    assert len(result.output.splitlines()) <= 40 and "higher" in result.output
    assert "first minus second" in page.read_text() and "<svg" in page.read_text()
    data = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).stdout)
    assert {c["verdict"] for c in data["comparisons"]} == {"higher"}
    power = CliRunner().invoke(
        cli, ["compare", "--power", str(two[0]), str(two[1]), "--detect", ".2"]
    )
    assert power.exit_code == 0 and "samples to detect 0.2" in power.output


def test_notebook_gets_rows(two: tuple[Path, Path]) -> None:
    comparisons = sally.compare_logs(*two, scorers=["match"])
    assert [row["verdict"] for row in comparisons] == ["higher"]


def test_detectable_difference_agrees_with_the_interval_for_clusters_of_unequal_size() -> None:
    """A cluster of many samples weighs as much in `detects` as in the interval."""
    rng = np.random.default_rng(1)
    sizes = [200, 150, 120, 100, 2, 2, 1, 1]
    stories = np.repeat(np.arange(8), sizes)
    units = [(str(n), 1) for n in range(stories.size)]
    favoured = np.array([0.2, 0.25, 0.3, 0.22, 2.0, -1.5, 3.0, -2.0])[stories]
    scores = {"first": favoured + rng.normal(0, 0.1, stories.size), "second": favoured * 0}
    logs = [
        LogScores(
            label=name,
            task="",
            planned=tuple(units),
            values={"score": dict(zip(units, column.tolist(), strict=True))},
            graded=frozenset(),
            clusters={id: int(stories[n]) for n, (id, _) in enumerate(units)},
            inputs={},
            failed=frozenset(),
        )
        for name, column in scores.items()
    ]
    comparison = _compare_pair(logs[0], logs[1], "score", "story", None, 1)
    low, high = comparison.difference.low, comparison.difference.high
    assert low is not None and high is not None and comparison.detects is not None
    assert 0.7 < comparison.detects / ((high - low) / 2) < 2


def test_samples_numbered_in_another_order_are_paired_by_input(logged: Logs) -> None:
    replies = ["yes" if n % 3 else "no" for n in range(12)]
    first, second = logged(replies), logged(["yes"] * 12)
    log = read_eval_log(second)
    assert log.samples is not None
    for number, sample in enumerate(reversed(log.samples)):
        sample.id = number
    write_eval_log(log, second)
    comparison = compare_logs([first, second], scorers=["letter"])[0]
    assert (comparison.pairs, comparison.difference.value) == (12, pytest.approx(-4 / 12))


def test_json_log_without_sample_ids_is_paired_by_input(logged: Logs, tmp_path: Path) -> None:
    paths = []
    for name, replies in (("a", ["yes"] * 12), ("b", ["no", "yes"] * 6)):
        log = read_eval_log(logged(replies))
        path = tmp_path / f"{name}.json"
        write_eval_log(log, path)
        plain = json.loads(path.read_text())
        plain["eval"]["dataset"]["sample_ids"] = None
        for sample in plain["samples"]:
            del sample["id"]
        path.write_text(json.dumps(plain))
        paths.append(path)
    comparison = compare_logs(paths, scorers=["letter"])[0]
    assert (comparison.pairs, comparison.difference.value) == (12, 0.5)


def test_several_runs_of_one_model_count_as_one_log(logged: Logs, tmp_path: Path) -> None:
    full_logs = logged(["yes", "no"] * 6)
    parts = []
    for name, numbers in (("first", range(6)), ("second", range(6, 12))):
        log = read_eval_log(logged(["yes"] * 12))
        log.eval.model = "mockllm/other"
        assert log.samples is not None
        log.samples = [sample for sample in log.samples if sample.id in numbers]
        log.eval.dataset.sample_ids = list(numbers)
        path = tmp_path / f"{name}.eval"
        write_eval_log(log, path)
        parts.append(path)
    (comparison,) = compare_logs([*parts, full_logs], scorers=["letter"])
    assert (comparison.first, comparison.pairs, comparison.missing) == ("mockllm/other", 12, (0, 0))
    assert comparison.difference.value == 0.5
