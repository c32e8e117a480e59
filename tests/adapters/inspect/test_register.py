"""Our entry for the register of Inspect Evals has what its model of an external eval asks for."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import sally
from sally.adapters.inspect import register
from sally.adapters.inspect import registry as inspect_registry
from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.runner.local import orders
from sally.runner.models import with_model
from sally.studies import arms

WHERE = ("https://example.org/lab/sally", "0123456789" * 4, ("somebody",))
NEEDED = {"full_title", "common_title", "description", "contributors", "tasks", "source"}
ALLOWED = NEEDED | {"title", "arxiv", "tags", "metadata", "paper_title", "evaluation_report"}


@pytest.mark.parametrize("name", ["quickstart_model", "tang2024", "akata2025"])
def test_entry_has_register_fields_and_one_existing_task(name: str) -> None:
    model_entry = register.entry(name, *WHERE)
    assert NEEDED <= set(model_entry) <= ALLOWED
    assert model_entry["full_title"] and "\n" not in model_entry["description"]
    (task,) = model_entry["tasks"]
    assert set(task) == {"name", "dataset_samples", "task_path"}
    assert task["name"] == name and name in inspect_registry.TASKS
    file = Path(sally.__file__).parents[1] / task["task_path"]
    assert file == Path(inspect_registry.__file__)
    assert [e.value for e in entry_points(group="inspect_ai", name="sally")] == [
        inspect_registry.__name__
    ]


def test_entry_sample_count_equals_planned_episodes() -> None:
    study = arms.without(registry.study("quickstart_model"), ("lm",))  # the mock model cannot score
    assert register.samples(study) == len(orders(with_model(study, "mockllm/model"))) == 6


def test_entry_is_printed_as_yaml_that_reads_back() -> None:
    arguments = ["tang2024", "--repository", WHERE[0], "--commit", WHERE[1], "--contributor", "a"]
    result = CliRunner().invoke(register.main, [*arguments, "--arxiv", "https://arxiv.org/abs/1"])
    assert yaml.safe_load(result.output)["source"]["repository_commit"] == WHERE[1]
    refused = CliRunner().invoke(register.main, [*arguments[:-2]])
    assert refused.exit_code and "at least one contributor" in refused.output


@pytest.mark.parametrize("at, wrong", [(0, "sally"), (1, "main"), (2, ())])
def test_entry_with_invalid_location_is_refused(at: int, wrong: object) -> None:
    where: list[object] = list(WHERE)
    where[at] = wrong
    with pytest.raises(BadInput):
        register.entry("tang2024", *where)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="tang2024"):
        register.entry("tang2025", *WHERE)
