"""The project's furniture says what the project is: files that nothing here executes are read."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from sally.cli import cli

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
YAML = [*(ROOT / ".github").rglob("*.yml"), ROOT / "compose.yaml", ROOT / "CITATION.cff"]


@pytest.mark.parametrize("file", YAML, ids=lambda f: f.name)
def test_every_settings_file_can_be_parsed(file: Path) -> None:
    assert isinstance(yaml.safe_load(file.read_text(encoding="utf-8")), dict)


def test_ci_matrix_includes_the_minimum_python_version() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]
    least = PROJECT["requires-python"].removeprefix(">=")
    assert least in jobs["test"]["strategy"]["matrix"]["python"]
    assert {step.get("run") for step in jobs["test"]["steps"]} >= {".ci/run"}


def test_only_the_publishing_job_has_id_token_permission() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "permissions" not in jobs["build"]


def test_container_runs_unprivileged_and_installs_existing_extras() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "--uid 10001 sally" in text
    assert text.index("USER 10001") < text.index("ENTRYPOINT")
    assert "--require-hashes -r requirements.lock" in text and "--no-deps" in text
    for copied in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.M):
        assert all((ROOT / name).exists() for name in copied.split())


def test_container_installs_the_constrained_versions_with_hashes() -> None:
    (extras,) = re.findall(r'"\.\[([a-z,]+)\]"', (ROOT / ".ci/lock").read_text())
    expected_dependencies = [*PROJECT["dependencies"]]
    for extra in extras.split(","):
        expected_dependencies += PROJECT["optional-dependencies"][extra]
    lock = (ROOT / "requirements.lock").read_text()
    pins = re.findall(r"^([\w.-]+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}", lock, re.M)
    assert len(pins) == lock.count("==")
    tied = dict(line.split("==") for line in _folded("constraints.txt") if "==" in line)
    assert {(name, tied.get(name, version)) for name, version in pins} == set(pins)
    names = {
        re.split(r"[\[<>=~!; ]", expected_dependency)[0].lower().replace("_", "-")
        for expected_dependency in expected_dependencies
    }
    assert names <= {name.replace("_", "-") for name, _ in pins}


def _folded(name: str) -> list[str]:
    return (ROOT / name).read_text().lower().splitlines()


def test_container_options_are_options_of_serve() -> None:
    asked_command = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["sally"][
        "command"
    ]
    text = " ".join([*asked_command, (ROOT / "Dockerfile").read_text().partition("FROM")[0]])
    output = CliRunner().invoke(cli, ["serve", "--help"]).output
    ours = set(re.findall(r"(?<!\S)--[a-z]+", text)) - {"--rm"}
    assert ours >= {"--host", "--database"}
    assert {option for option in ours if option not in output} == set()
    assert "--bots" in CliRunner().invoke(cli, ["evaluate", "--demo", "--help"]).output


def test_every_paper_has_a_page_that_names_its_tables() -> None:
    for file in (ROOT / "sally/papers").glob("*/published.json"):
        page = ROOT / f"docs/papers/{file.parent.name}.md"
        text = page.read_text(encoding="utf-8")
        tables = json.loads(file.read_text(encoding="utf-8"))["tables"]
        assert [name for name in tables if f"| `{name}` |" not in text] == []
