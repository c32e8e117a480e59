"""The walk of a colleague: `sally evaluate` against a server in each of eleven modes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from benchmarks.fault_modes import FaultRow, config_for
from sally import store
from sally.cli import main
from sally.core.log.events import Ended
from sally.runner import gates
from sally.runner.config import use_config
from sally.runner.progress import look
from sally.store.lines import append_checksum
from sally.studies import sally_2
from tests.adapters.inspect.server import MODES, quota, serving

TESTING = Path(__file__).parents[2] / "docs" / "discussion" / "testing.md"
PAIRS = 3  # of one game; the page has the whole suite
MOST_LINES = 30


def evaluate(
    mode: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *options: str,
) -> FaultRow:
    """Run the command in this process, on a few pairs of one game."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LAB_KEY", "k")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sally_2.Row, "count", lambda self, size: PAIRS)
    arguments = ["evaluate", "--model", "faulty", "--game", "ibs", "--out", "out/faulty", *options]
    monkeypatch.setattr(sys, "argv", ["sally", *arguments])
    code = 0
    with serving(always=quota(4) if mode == "quota" else MODES[mode]) as server:
        # so few episodes would all end before a run of the whole suite does
        patient = "[limits]\ncall_retries = 8"
        config = config_for(server, "server").replace("[limits]", patient)
        Path("sally.toml").write_text(config.replace("at_once = 8", "at_once = 1"))
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            use_config(None)
        captured = capsys.readouterr()
        errors = captured.err.replace(server.address, "http://localhost:8000/v1")
        return FaultRow(mode, code, captured.out, errors, server.calls)


def publish() -> dict[str, tuple[str, str]]:
    """Exit code and first sentence of each mode in the table of the page on testing."""
    table = TESTING.read_text("utf-8").partition("| mode | exit code |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: (row[1], row[4]) for row in rows[2:]}


def without_numbers(text: str) -> str:
    return re.sub(r"\d[\d,.]*", "N", text)


@pytest.mark.parametrize("mode", MODES)
def test_mode_ends_with_the_published_exit_code_and_sentence(
    mode: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = evaluate(mode, tmp_path, monkeypatch, capsys)
    code, sentence = publish()[mode]
    assert str(row.exit_code) == code, row.errors
    assert row.lines <= MOST_LINES
    if mode != "plain":  # its figures depend on the pairs
        assert without_numbers(row.first_sentence) == without_numbers(sentence)
    assert "Traceback" not in row.errors and "holds no finished" not in row.errors
    answers = 4 * PAIRS
    if mode in ("empty", "null", "tool call", "cut-off thought", "optionless"):
        assert f"No result: {answers} of {answers} answers could not be read" in row.output
        assert row.calls == 3 * answers and f"({row.calls} without a usable reply)" in row.output
        assert re.search(r"^ ibs +- +- ", row.output, re.MULTILINE), "a score instead of a blank"


def test_evaluation_of_unreadable_model_stops_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gates, "MOST_UNREADABLE", 4)
    row = evaluate("tool call", tmp_path, monkeypatch, capsys)
    assert (row.exit_code, row.calls) == (3, 3 * 4)
    assert row.first_sentence.startswith("No result: 4 of 4 answers could not be read")


def test_used_up_quota_ends_the_run_with_known_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = evaluate("quota", tmp_path, monkeypatch, capsys)
    assert row.calls < 40  # three refusals, and the calls that were under way
    assert "stopped answering after 4 calls" in row.errors
    used = look("out/faulty").used
    assert (used.calls - used.failed_calls, used.unpriced, used.refusal != "") == (4, 0, True)
    assert used.money == pytest.approx(4 * (50 * 1.0 + 5 * 4.0) / 1e6)
    # the same command continues
    repeated_fault_row = evaluate("plain", tmp_path, monkeypatch, capsys)
    assert repeated_fault_row.exit_code == 0 and "cost 0.0008 USD" in repeated_fault_row.output, (
        repeated_fault_row.output
    )
    ends = [episode.end for episode in store.load("out/faulty").episodes.values()]
    assert len(ends) == 2 * PAIRS and all(isinstance(end, Ended) for end in ends)


def test_model_that_answers_under_another_name_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("plain", tmp_path, monkeypatch, capsys).exit_code == 0
    for file in Path("out/faulty").glob("*.jsonl"):
        lines = file.read_bytes().splitlines(keepends=True)
        bodies = [line[: line.rindex(b',"sum"')] for line in lines]
        renamed = [
            re.sub(rb'"answered_as":\[[^]]*]', b'"answered_as":["other-9"]', body)
            for body in bodies
        ]
        file.write_bytes(b"".join(append_checksum(body + b"}\n") for body in renamed))
    row = evaluate("plain", tmp_path, monkeypatch, capsys, "--no-play")
    assert row.exit_code == 0 and "The server named its model other-9." in row.output


def test_evaluation_without_a_finished_episode_is_named_when_it_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("500", tmp_path, monkeypatch, capsys).exit_code == 3
    monkeypatch.setattr(sys, "argv", ["sally", "compare", "out/faulty", "out/faulty"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "out/faulty holds no finished episode" in capsys.readouterr().err


def test_failing_calls_are_in_the_progress_line_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sally.cli.run import progress_watcher
    from sally.runner.config import Config
    from sally.runner.run import Progress
    from sally.runner.shards import EpisodeCounts

    with progress_watcher("sally_2", Config()) as watch:
        watch(Progress(0, 10, 0, 0, EpisodeCounts(calls=2, tokens=10), 1.0))
        failing = EpisodeCounts(calls=5, tokens=10, failed_calls=3, refusal="[/] slow down.")
        watch(Progress(0, 10, 0, 0, failing, 2.0))
    assert "3 of the calls failed ([/] slow down)" in capsys.readouterr().err
