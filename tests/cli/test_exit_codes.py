"""Exit codes: 0 done, 1 a failure, 2 wrong input, 3 something is missing, 130 stopped."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import sally
from sally import store
from sally.cli import main
from sally.core.prompt.model import Fault, ModelKind, Reply, Usage
from sally.core.registry import registry
from sally.models.stub import Scripted, always
from sally.output.progress import progress_note
from sally.runner import gates, shards
from sally.runner.progress import look
from sally.runner.run import Progress
from sally.store import writer
from sally.store.lines import append_checksum

STUDY = """
name = "tiny"
about = "a tiny study"
retries = 0
[[cells]]
name = "ipd"
instances = [{id = "ipd", game = "ipd", params = {rounds = 2}}]
repeats = 4
lineups = [
    {agent = {player = "language", params = {}}, partner = {player = "random"}}
]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(STUDY)


def run(monkeypatch: pytest.MonkeyPatch, say: Any, *options: str) -> int:
    """The exit code of a run whose model says this."""
    registry.add("models", "said", ModelKind("said", "", lambda name: say, at_once=1))
    arguments = ["run", "tiny.toml", "--model", "said", "--out", "out", *options]
    monkeypatch.setattr(sys, "argv", ["sally", *arguments])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def vary(*replies: Any) -> Scripted:
    remaining_replies = iter(replies)
    return Scripted(lambda messages, settings: next(remaining_replies, replies[-1]))


def test_completed_study_exits_with_0_and_counts_void_episodes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, vary("", "", "Option: J"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["void"] == 1
    assert run(monkeypatch, always("Option: J")) == 0  # nothing is missing
    output = capsys.readouterr().out
    assert "1 without a result (void: agent forfeited every decision)" in output
    row = next(line.split() for line in output.splitlines() if "said" in line)
    assert row[-2:] == ["3", "1"]  # n and missing


def test_void_episodes_are_counted_as_missing_by_every_analysis(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bot = "lineups = [\n    {agent = {player = 'copy_last'}, partner = {player = 'random'}},"
    Path("tiny.toml").write_text(STUDY.replace("lineups = [", bot))
    assert run(monkeypatch, vary("", "", "Option: J")) == 0
    capsys.readouterr()
    (comparisons,) = sally.compare("out", "said qa", "copy_last", metrics=["reward"])
    assert comparisons.missing == (1, 0) and comparisons.pairs == 3
    sally.report("out", "page.html")
    page = Path("page.html").read_text()
    assert "<th scope=col class=number>missing" in page.replace('"', "")
    for command in (["compare", "out", "said qa", "copy_last"], ["profile", "out", "--all"]):
        monkeypatch.setattr(sys, "argv", ["sally", *command])
        with contextlib.suppress(SystemExit):
            main()
        output = capsys.readouterr().out
        assert "missing" in output, output
    rows = [line.split()[2:4] for line in output.splitlines() if line.startswith(" said qa")]
    assert rows and all(row == ["3", "1"] for row in rows), output  # n and missing


def test_study_without_any_result_exits_with_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, always("")) == 3
    assert "No episode has a result." in capsys.readouterr().out
    refusal = Scripted(lambda messages, settings: Reply("I cannot.", finish="refusal"))
    assert run(monkeypatch, refusal, "--seed", "2") == 3


def test_fault_or_spent_budget_exits_with_3_until_study_is_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dead = vary("Option: J", "Option: J", Fault("auth", "The key was refused."))
    assert run(monkeypatch, dead) == 3
    counted = Scripted(lambda messages, settings: Reply("Option: J", usage=Usage(100, 1)))
    assert run(monkeypatch, counted, "--budget-tokens", "150") == 3
    assert run(monkeypatch, always("Option: J")) == 0
    assert len(store.survey("out").finished) == 4


def test_model_of_which_no_answer_can_be_read_ends_the_run_early(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gates, "MOST_UNREADABLE", 3)
    assert run(monkeypatch, always("I cannot decide.")) == 3
    assert "None of the 4 answers of said could be read; `sally show`" in capsys.readouterr().err
    assert len(store.survey("out").finished) == 2  # of four
    # a model that is read once goes on
    assert run(monkeypatch, vary("Option: J", "I cannot decide.")) == 0
    assert len(store.survey("out").finished) == 4


def test_wrong_input_exits_with_2(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, always("Option: J"), "--set", "temprature=1") == 2
    assert run(monkeypatch, always("Option: J"), "--limit", "0") == 2
    assert not Path("out").exists()


def test_full_disk_exits_with_1_and_keeps_stored_episodes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, always("Option: J"), "--limit", "1") == 0
    add_before = writer.AppendSink.add

    def full(self: Any, line: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writer.AppendSink, "add", full)
    assert run(monkeypatch, always("Option: J")) == 1
    errors = capsys.readouterr().err
    assert "No space left on device" in errors and "Traceback" not in errors
    monkeypatch.setattr(writer.AppendSink, "add", add_before)
    assert len(store.survey("out").finished) == 1
    assert run(monkeypatch, always("Option: J")) == 0


@pytest.mark.parametrize(
    "command",
    ["report out --out full.html", "pack out --out full.zip", "export out --out full.csv",
     "export out --out full.tex", "export out --out full.parquet"],
)  # fmt: skip
def test_full_disk_exits_with_1_when_a_file_is_written(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    assert run(monkeypatch, always("Option: J")) == 0
    Path(command.split()[-1]).symlink_to("/dev/full")
    monkeypatch.setattr(sys, "argv", ["sally", *command.split()])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert "No space left on device" in capsys.readouterr().err


def test_full_disk_exits_with_1_when_a_table_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(text: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sys, "argv", ["sally", "list", "models"])
    monkeypatch.setattr(sys.stdout, "write", full)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    errors = capsys.readouterr().err
    assert errors == "sally: The output cannot be written: No space left on device.\n"


def test_ctrl_c_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(messages: object, settings: object) -> Reply:
        raise KeyboardInterrupt

    assert run(monkeypatch, Scripted(stop)) == 130
    assert run(monkeypatch, always("Option: J")) == 0


def test_stopped_run_says_and_stores_what_it_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter(["Option: J"] * 5)  # two episodes of two rounds, and half of the third

    def stop(messages: object, settings: object) -> Reply:
        if (answer := next(answers, None)) is None:
            raise KeyboardInterrupt
        return Reply(answer, usage=Usage(input=10, output=2))

    assert run(monkeypatch, Scripted(stop)) == 130
    assert "Used: 5 calls, 60 tokens, with those of unfinished episodes." in capsys.readouterr().err
    stopped = look("out")
    assert (stopped.done, stopped.used.calls, stopped.used.tokens) == (2, 5, 60)
    assert [(shown.state, shown.played) for shown in stopped.runs] == [("stopped", 2)]


def test_progress_says_that_a_slow_model_has_not_answered_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer_late(messages: object, settings: object) -> Reply:
        time.sleep(0.3)
        return Reply("Option: J")

    notes: list[str] = []
    monkeypatch.setattr(shards, "TICK_SECONDS", 0.05)

    def note(now: Progress, currency: str) -> str:
        notes.append(progress_note(now, currency))
        return notes[-1]

    monkeypatch.setattr("sally.cli.run.progress_note", note)
    assert run(monkeypatch, Scripted(answer_late), "--limit", "1") == 0
    assert notes[0] == "no answer yet" and notes[-1].startswith("2 calls")


@pytest.mark.parametrize("command", ["score", "profile", "show", "report", "pack", "export"])
def test_store_of_another_version_is_refused_by_every_command(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, always("Option: J")) == 0
    for file in Path("out").glob("*.jsonl"):
        lines = file.read_bytes().splitlines(keepends=True)
        bodies = [
            line[: line.rindex(b',"sum"')].replace(b'"schema":1', b'"schema":9') for line in lines
        ]
        file.write_bytes(b"".join(append_checksum(body + b"}\n") for body in bodies))
    arguments = [command, "out", *(["--out", "rows.csv"] if command == "export" else [])]
    monkeypatch.setattr(sys, "argv", ["sally", *arguments])
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert not Path("rows.csv").exists()
    if command in ("score", "export"):
        assert "schema version 9 is unknown; this Sally reads version 1" in capsys.readouterr().err


def test_import_without_a_game_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("notes").write_text("no game")
    monkeypatch.setattr(sys, "argv", ["sally", "import", "tradecraft", "notes", "--out", "games"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "notes holds no game" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["people"], "Usage: "),
        (["people", "paymets"], "sally: There is no command of sally people named 'paymets'; did "),
        (["people", "watch"], "sally: There is no command of sally people named 'watch'; "),
    ],
)
def test_wrong_command_of_a_group_is_answered_with_its_commands(
    arguments: list[str],
    start: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["sally", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    errors = capsys.readouterr().err
    assert errors.startswith(start) and "payments" in errors


def test_failure_reasons_are_grouped_ignoring_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replies = iter(range(10**6))

    def fault(messages: object, settings: object) -> Fault:
        n = next(replies)
        where = "http://lab:8000/v1 of gpt-4"
        return Fault("auth", f"{where}: job {n} of -{n}, {n}.{n} s, {n:,} left, {n}% at {n}:0{n}")

    assert run(monkeypatch, Scripted(fault)) == 3
    (reason,) = store.survey("out").reasons
    assert "http://lab:8000/v1 of gpt-4: job N of N, N s, N left, N% at N" in reason
