"""`sally export --out hf:FOLDER`: what the Hub and Croissant's readers find there."""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import sally
from sally.cli import cli
from sally.core.errors import BadInput


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    run = CliRunner()
    asked = ["play", "rps", "--seat", "partner=tit_for_tat", "--set", "rounds=2"]
    played = run.invoke(cli, [*asked, "--out", str(tmp_path / "store")], input="1\n1\n")
    assert played.exit_code == 0, played.output
    expected = ["export", str(tmp_path / "store"), "--out", f"hf:{tmp_path / 'set'}"]
    assert run.invoke(cli, expected, catch_exceptions=False).exit_code == 0
    return tmp_path / "set"


def test_card_names_existing_files_and_their_rows(dataset: Path) -> None:
    _, header, text = (dataset / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    files = {item["config_name"]: item["data_files"] for item in yaml.safe_load(header)["configs"]}
    assert set(files) == {"episodes", "decisions"}
    for file in files.values():
        rows = list(csv.DictReader((dataset / file).open(encoding="utf-8")))
        assert rows and f"| `{file}` | {len(rows)} |" in text


def test_croissant_describes_every_column_and_file_hash(dataset: Path) -> None:
    said = json.loads((dataset / "croissant.json").read_text(encoding="utf-8"))
    for file in said["distribution"]:
        data = (dataset / file["contentUrl"]).read_bytes()
        assert file["sha256"] == sha256(data).hexdigest()
    for records in said["recordSet"]:
        with (dataset / f"data/{records['name']}.csv").open(encoding="utf-8") as table:
            assert [field["name"] for field in records["field"]] == next(csv.reader(table))


def test_non_empty_folder_is_refused(dataset: Path) -> None:
    store = dataset.parent / "store"
    second_run = CliRunner().invoke(cli, ["export", str(store), "--out", f"hf:{dataset}"])
    assert isinstance(second_run.exception, BadInput) and "not empty" in str(second_run.exception)
    assert sally.load(store)
