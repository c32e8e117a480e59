"""Names, numbers and files that once led to a traceback, another folder or a full memory."""

from __future__ import annotations

import json
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Ended
from sally.core.registry import registry
from sally.core.registry.paper import Importer, ImportResult
from sally.core.registry.study import read_study
from sally.runner.local import orders
from sally.runner.run import run_study
from sally.store import bundles as bundle_reader
from sally.store.bundles import unpack
from sally.studies.quickstart import STUDY

CELL = """
[[cells]]
name = "{cell}"
instances = [{{id = "{id}", game = "ipd", params = {{rounds = {rounds}}}}}]
repeats = {repeats}
lineups = [{{agent = {{player = "random"}}, partner = {{player = "random"}}}}]
"""


def write_files(folder: Path, name: str = "tiny", *cells: dict[str, Any]) -> Path:
    file = folder / "tiny.toml"
    usual = {"cell": "one", "id": "a", "rounds": 2, "repeats": 1}
    text = "".join(CELL.format(**{**usual, **cell}) for cell in cells or ({},))
    file.write_text(f"name = {json.dumps(name)}\nabout = 'x'\n{text}")
    return file


@pytest.mark.parametrize(
    "name", ["../../evil", "/evil", "a\\b", "a\x00b", "..", "", "a\nb", "x" * 201]
)
def test_study_name_cannot_escape_the_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the name of a study") as error:
        read_study(write_files(tmp_path, name))
    assert "\n" not in str(error.value) and "\x00" not in str(error.value)


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ({"repeats": 10**20}, "repeats must be from 1 to 10,000,000"),
        (
            {"rounds": 10**20},
            "below 2 to the power of 63, not a number of about 20 digits",
        ),
        ({"rounds": 10**9}, "rounds must be from 1 to 1,000,000"),
    ],
)
def test_huge_number_is_refused_with_one_message(
    cell: dict[str, Any], why: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=why):
        orders(read_study(write_files(tmp_path, "tiny", cell)))


def test_two_cells_of_one_name_and_two_instances_of_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="two cells are named 'one'"):
        read_study(write_files(tmp_path, "tiny", {}, {}))
    with pytest.raises(BadInput, match="two instances have the id 'a'"):
        read_study(write_files(tmp_path, "tiny", {}, {"cell": "two", "rounds": 3}))
    same_study = read_study(write_files(tmp_path, "tiny", {}, {"cell": "two"}))
    assert len(same_study.cells) == 2  # one instance may be played in several cells


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("GAME = 'stall'", "GAME in mine.py must be a GameSpec, not 'stall'"),
        ("STUDY = {}", "STUDY in mine.py must be a Study, not {}"),
        ("METRICS = 3", "METRICS in mine.py must be a sequence of Metric, not 3"),
        ("PARTNERS = {'a': 1}", "PARTNERS in mine.py must be a mapping of Partner, not"),
        ("import sys; sys.exit(7)", "mine.py exits when it is run .code 7."),
        ("raise SystemExit", "mine.py exits when it is run"),
    ],
)
def test_file_that_defines_something_else_is_refused(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(BadInput, match=why):
        registry.add_file(file)


def test_import_stores_all_episodes_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_, last = run_study(STUDY, tmp_path / "o", limit=1).episodes.values()
    last.events[-1] = Ended(last.events[-1].turn, {"agent": float("inf")})
    read = Importer("mine", "recorded games", lambda path: ImportResult((first, last), {}))
    monkeypatch.setattr(registry, "importers", lambda: {"mine": read})
    monkeypatch.setattr(registry, "importer", lambda name: read)
    out = tmp_path / "out"
    done = CliRunner().invoke(cli, ["import", "mine", str(tmp_path), "--out", str(out)])
    assert isinstance(done.exception, BadInput) and "not a finite number" in str(done.exception)
    assert not out.exists() or not store.load(out).episodes


def test_bundle_of_blanks_is_refused_before_unpacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blanks = b" " * (80 << 20) + b"\n"
    monkeypatch.setattr(bundle_reader, "_unpack_file", lambda *given: pytest.fail("unpacked"))
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        files = {
            "study.json": b'{"study": "x", "asks": "", "schema": 1}\n',
            "episodes.jsonl": blanks,
        }
        fields = {
            "bundle": 1,
            "games": {},
            "packs": [],
            "left_out": {},
            "study": "x",
            "sally": "0",
            "episodes": 1,
            "files": {
                n: {"sha256": sha256(d).hexdigest(), "bytes": len(d)} for n, d in files.items()
            },
        }
        path = tmp_path / "blank.sally.zip"
        with zipfile.ZipFile(path, "w", method, compresslevel=1) as zipped:
            zipped.writestr("bundle.json", json.dumps(fields))
            for name, data in files.items():
                zipped.writestr(name, data)
        with pytest.raises(BadInput, match="nothing was unpacked"):
            unpack(path, tmp_path / "there")
