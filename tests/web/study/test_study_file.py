"""Study files: lines of faults, the template with every part, and the example of blocks."""

from __future__ import annotations

import asyncio
import re

import pytest
from click.testing import CliRunner
from msgspec import inspect

from sally.cli import cli
from sally.core.errors import BadInput
from sally.web.rehearsal import rehearse
from sally.web.study.definition import TEMPLATES, HumanStudy, read_human_studies, read_human_study
from sally.web.study.file_check import line_of, statements

NOT_IN_FILES = {"room", "session", "versions", "position"}  # set by Sally, not by study files


def test_lines_of_keys_in_tables_arrays_and_long_strings():
    text = "\n".join(
        [
            'a = """',  # 1
            "b = 1",
            '"""',
            "[[t]]",  # 4
            "x = [",
            '  "# no comment",',
            "  { y = 1 },",  # 7
            "]",
            "[[t.u]]",
            "z.w = { k = 1 }",  # 10
            "[[t]]",
            "x = 'q'  # y = 2",
        ]
    )
    assert [s.line for s in statements(text)] == [1, 4, 5, 9, 10, 11, 12]
    assert line_of(text, ("b",)) is None
    assert line_of(text, ("t", 0, "x", 1, "y")) == 7
    assert line_of(text, ("t", 0, "u", 0, "z", "w", "k")) == 10
    assert line_of(text, ("t", 1, "x")) == 12 and line_of(text, ("t", 1, "missing")) == 11


def test_all_unknown_keys_are_named_with_their_lines_also_in_sessions(tmp_path):
    file = tmp_path / "study.toml"
    text = TEMPLATES["blocks"].read_text()
    text = text.replace('instructions = ["Part 1', 'instuctions = ["Part 1', 1)
    text += '[[sessions]]\nname = "monday"\nparticipents = 4\n'
    file.write_text(text)
    lines = text.splitlines()
    with pytest.raises(BadInput) as error:
        read_human_studies(file)
    message = str(error.value)
    first = next(n for n, line in enumerate(lines, 1) if line.startswith("instuctions"))
    assert f"line {first}: unknown key `instuctions`, did you mean `instructions`?" in message
    assert f"Line {len(lines)}: unknown key `participents`, did you mean `participants`?" in message
    assert "\n" not in message


def test_fault_of_a_session_has_the_line_of_the_session(tmp_path):
    file = tmp_path / "study.toml"
    text = TEMPLATES["blocks"].read_text() + '[[sessions]]\nname = "a"\nparticipants = "four"\n'
    file.write_text(text)
    with pytest.raises(
        BadInput, match=f"line {len(text.splitlines())}: participants must be a whole"
    ):
        read_human_studies(file)


def schema_keys(kind: inspect.Type, seen: dict[type, set[str]]) -> dict[type, set[str]]:
    """Collect the keys of all tables of the schema."""
    if isinstance(kind, inspect.StructType) and kind.cls not in seen:
        seen[kind.cls] = {field.encode_name for field in kind.fields}
        for field in kind.fields:
            if field.encode_name not in NOT_IN_FILES:
                schema_keys(field.type, seen)
    for part in getattr(kind, "types", ()):
        schema_keys(part, seen)
    for name in ("item_type", "value_type"):
        if hasattr(kind, name):
            schema_keys(getattr(kind, name), seen)
    return seen


def test_full_template_has_every_key_of_the_schema_and_is_valid():
    text = TEMPLATES["full"].read_text()
    tables = schema_keys(inspect.type_info(HumanStudy), {})
    keys = set.union(*tables.values()) - NOT_IN_FILES
    assert len(tables) > 20 and len(keys) > 60
    header = re.compile(r"^(?:# )?\[+([\w.]+)\]+", re.M)
    headers = {part for name in header.findall(text) for part in name.split(".")}
    missing = {key for key in keys if not re.search(rf"\b{key}\b\s*=", text)} - headers
    assert missing == set()
    study = read_human_study(TEMPLATES["full"])
    assert study.pay_rules(study.conditions[0])["model"].base == 1.5
    kinds = {item.__struct_config__.tag for item in study.survey_items.values()}
    assert kinds == {"choice", "likert", "scale", "slider", "matrix", "text"}


@pytest.mark.parametrize("name", ["blocks", "full"])
def test_template_is_checked_and_played_to_the_end(name, tmp_path):
    printed = CliRunner().invoke(cli, ["people", "template", name]).output
    file = tmp_path / "study.toml"
    file.write_text(printed)
    checked = CliRunner().invoke(cli, ["people", "check", str(file)])
    assert checked.exit_code == 0 and "is valid" in checked.output
    study = read_human_study(file)
    summary = asyncio.run(rehearse(file, study, people=4, seed=3))
    assert summary.faults == () and set(summary.states) <= {"done", "failed"}
    done = summary.states["done"]
    assert done >= 2 and summary.episodes == done * (3 if name == "blocks" else 2)
    surveys = {"blocks": 3 * done, "full": 8 * done}[name]
    assert summary.rows["survey"] >= surveys


def test_unknown_template_is_named():
    answer = CliRunner().invoke(cli, ["people", "template", "blokcs"])
    assert "did you mean blocks" in str(answer.exception)
