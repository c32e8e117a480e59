"""The command line as a user meets it: output, JSON, exit codes, one sentence for bad input."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from sally.analysis.score import Scores
from sally.cli import main
from sally.cli.doctor import PARTS
from sally.cli.score import say, without_common_settings
from sally.output.tables.console import fold_text

TINY = """
name = "tiny"
about = "two short games"

[[cells]]
name = "ipd"
repeats = 2
instances = [{ id = "ipd-4", game = "ipd", params = { rounds = 4 } }]
lineups = [{ agent = { player = "random" }, partner = { player = "tit_for_tat" } }]
[cells.arms]
agent = ["their_move"]
"""


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def sally(*args: str, cwd: Path, typed: str = "") -> Done:
    """Run a command in this process, as `main` does for a user."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.chdir(cwd)
        patch.setattr(sys, "argv", ["sally", *args])
        patch.setattr(sys, "stdin", io.StringIO(typed))
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def test_python_dash_m_runs_the_command():
    done = subprocess.run([sys.executable, "-m", "sally", "--version"], capture_output=True)
    assert done.returncode == 0


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "tiny.toml").write_text(TINY)
    return tmp_path


@pytest.fixture
def played(study: Path) -> Path:
    done = sally("run", "tiny.toml", "--out", "store", "--json", cwd=study)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["episodes"] == 2
    return study


def test_run_score_replay_and_show_work_in_sequence(played):
    scores = json.loads(sally("score", "store", "--json", cwd=played).stdout)
    assert {row["metric"] for row in scores} >= {"payoff", "tom_percent", "functional_regret"}
    repeated_run = sally("replay", "store", "--json", cwd=played)
    assert repeated_run.returncode == 0
    assert json.loads(repeated_run.stdout) == {
        "episodes": 2,
        "replayed": 2,
        "mismatches": [],
        "unchecked": [],
        "readers": {},
        "planned": 2,
        "missing": 0,
        "doubled": 0,
        "unreadable": [],
    }
    data = json.loads(sally("show", "store", "--eyes", "agent", "--json", cwd=played).stdout)
    assert any("Round 1:" in line for line in data["lines"])


def test_second_run_plays_nothing_twice(played):
    done = sally("run", "tiny.toml", "--out", "store", "--json", cwd=played)
    data = json.loads(done.stdout)
    assert (data["episodes"], data["doubled"], data["not_run"]) == (2, 0, 0)


def test_changed_move_is_a_mismatch_and_exit_code_1(played):
    (file,) = (played / "store").glob("*.jsonl")
    first, other_part = file.read_text().split("\n", 1)
    record = json.loads(first)
    record["events"][-1]["payoffs"]["agent"] += 1
    file.write_text(f"{json.dumps(record)}\n{other_part}")
    repeated_run = sally("replay", "store", "--json", cwd=played)
    assert repeated_run.returncode == 1
    assert [m["episode"] for m in json.loads(repeated_run.stdout)["mismatches"]] == [record["id"]]


def test_parameter_can_be_set_for_all_instances(study):
    sally("run", "tiny.toml", "--set", "rounds=2", "--limit", "1", "--out", "s", cwd=study)
    rows = json.loads(sally("score", "s", "--rows", "--json", cwd=study).stdout)
    assert {row["turns"] for row in rows} == {2}
    assert {row["instance"] for row in rows} == {"ipd-4[rounds=2]"}


def test_episodes_of_changed_instance_are_not_pooled_silently(played):
    (played / "tiny.toml").write_text(TINY.replace("rounds = 4", "rounds = 3"))
    sally("run", "tiny.toml", "--out", "other", "--json", cwd=played)
    (file,) = (played / "other").glob("*.jsonl")
    file.rename(played / "store" / file.name)  # somebody merges two stores by hand
    done = sally("score", "store", cwd=played)
    assert "mixed: instance 'ipd-4'" in done.stderr


def test_person_plays_in_the_terminal(study):
    done = sally(
        "play", "ipd", "--seat", "partner=tit_for_tat", "--set", "rounds=3", "--out", "mine",
        typed="1\nnonsense\nF\n2\n", cwd=study,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Try again" in done.stdout
    assert "over: agent 23, partner 13" in done.stdout
    assert sally("replay", "mine", cwd=study).returncode == 0


def test_end_of_input_censors_the_episode_as_left(study):
    done = sally(
        "play", "ipd", "--set", "rounds=3", "--probe", "their_move", "--out", "mine",
        typed="1\n1\n", cwd=study,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    stopped = "stopped without a result (left at agent): the person left the table\n"
    assert done.stdout.endswith(stopped)
    (row, _) = json.loads(sally("score", "mine", "--rows", "--json", cwd=study).stdout)
    assert (row["censored"], row["payoff"], row["moves"]) == ("left", None, 1)


def test_person_may_take_any_seat_or_all_of_them(study):
    second = sally("play", "ipd", "--as", "partner", "--set", "rounds=1", typed="1\n", cwd=study)
    assert second.returncode == 0, second.stderr
    assert "over: agent" in second.stdout
    process = sally(
        "play", "ipd", "--seat", "partner=person", "--set", "rounds=1", typed="J\nF\n", cwd=study
    )
    assert "over: agent 0, partner 10\n" in process.stdout


def test_unusable_folder_is_refused_before_play(played):
    done = sally("play", "ipd", "--out", "store", typed="1\n", cwd=played)
    assert done.returncode == 2
    assert done.stdout == ""


def test_smaller_n_is_shown_beside_its_value(capsys):
    common = dict.fromkeys(("cell", "seat", "player", "others"), "x")
    common |= {"game": "ipd", "interval": None, "results": 10, "missing": 0, "method": "t"}
    rows = [
        {**common, "metric": "reward", "value": 1.0, "episodes": 3},
        {**common, "metric": "payoff", "value": 1.0, "episodes": 10},
    ]
    say(Scores(rows, ("game", "seat", "player"), [], []))
    output = capsys.readouterr().out
    assert "1.00 (n 3)" in output
    assert "(n 10)" not in output


def test_scores_of_each_game_have_a_table_with_its_metrics(capsys):
    common = {"cell": "x", "seat": "agent", "others": "", "interval": None, "missing": 0}
    common |= {"results": 4, "episodes": 4, "method": "t"}
    rows = []
    for game, own_text in (("ipd", "regret"), ("toma_mg", "task_success")):
        for player in ("a qa T=0.7", "b qa T=0.7"):
            for metric in ("payoff", own_text):
                who = {"game": game, "player": player, "metric": metric, "value": 1.0}
                rows.append({**common, **who})
    say(Scores(rows, ("game", "seat", "player"), [], []))
    output = capsys.readouterr().out
    first, second = output.split("toma_mg", 1)
    assert first.lstrip().startswith("ipd") and "task_success" not in first
    assert second.index("task_success") < second.index("payoff") and "regret" not in second
    cut, settings = without_common_settings(rows)
    assert settings == "T=0.7" and {row["player"] for row in cut} == {"a qa", "b qa"}


def test_long_transcript_shows_its_beginning_and_its_end(study):
    (study / "long.toml").write_text(TINY.replace("rounds = 4", "rounds = 60"))
    assert sally("run", "long.toml", "--out", "long", cwd=study).returncode == 0
    short, full_line = (sally("show", "long", *more, cwd=study).stdout.splitlines()
                    for more in ((), ("--all",)))  # fmt: skip
    assert len(short) <= 46 < len(full_line)
    assert short[0] == full_line[0] and short[-1] == full_line[-1]
    assert any("--all prints them" in line for line in short)


def test_pack_for_paper_wording_is_created_checked_and_compared(study):
    done = sally("paper", "packs", "riemer2025", cwd=study)
    assert done.returncode == 0 and "riemer2025_repeated_games.toml" in done.stdout
    file = study / "riemer2025_repeated_games.toml"
    assert '# "intro.same" = ""' in file.read_text()
    checked = sally("check", file.name, cwd=study).stdout
    assert "0 sentences" in checked and "not verbatim" in checked
    repeated_run = sally("paper", "packs", "riemer2025", cwd=study)
    assert repeated_run.returncode == 2 and "exists already" in repeated_run.stderr
    file.write_text(file.read_text().replace('# "intro.same" = ""', '"intro.same" = "{nobody}"'))
    wrong = sally("check", file.name, cwd=study)
    assert wrong.returncode == 2 and "{nobody} is not a placeholder" in wrong.stderr


@pytest.mark.parametrize("kind", ["games", "partners", "players", "metrics", "studies", "models"])
def test_list_command_names_registry_entries(kind, study):
    done = sally("list", kind, "--json", cwd=study)
    assert done.returncode == 0
    assert all(row["name"] for row in json.loads(done.stdout))


def test_list_command_without_a_name_counts_the_lists(study):
    rows = json.loads(sally("list", "--json", cwd=study).stdout)
    entries = {row["list"]: row["entries"] for row in rows}
    assert entries["games"] == len(json.loads(sally("list", "games", "--json", cwd=study).stdout))
    assert min(entries.values()) > 0
    wrong = sally("list", "--game", "rps", cwd=study)
    assert wrong.returncode == 2 and "`sally list metrics --game rps`" in wrong.stderr


def test_long_lines_are_folded_between_words_on_a_terminal_only(monkeypatch):
    long = "  " + "word " * 30 + "end"
    assert fold_text(long) == long
    screen = Console(force_terminal=True, width=40)
    monkeypatch.setattr("sally.output.tables.console.console", lambda: screen)
    lines = fold_text(long).split("\n")
    assert max(map(len, lines)) <= 40
    assert all(line.startswith("  word") or line == "  end" for line in lines)
    assert fold_text("short") == "short"


def test_doctor_lists_installed_packages(study):
    facts = json.loads(sally("doctor", "--json", cwd=study).stdout)
    assert {"msgspec", "polars"} <= {part["part"] for part in facts["parts"]}
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    names = {
        extra: {re.split(r"[\[<>=;]", line)[0] for line in lines} for extra, lines in extras.items()
    }
    assert all(part in names[extra] for part, (extra, _) in PARTS.items())
    assert names[""] <= PARTS.keys()


BAD = {
    "a command": (["pley", "rps"], "did you mean play"),
    "a game": (["play", "rsp"], "did you mean rps"),
    "a study": (["run", "quickstrat"], "did you mean quickstart"),
    "a shelf": (["list", "gams"], "did you mean games"),
    "a metric": (["score", "store", "--metric", "payof"], "did you mean payoff"),
    "a partner": (["play", "rps", "--seat", "partner=tit_for_tatt"], "did you mean tit_for_tat"),
    "a seat": (["play", "rps", "--seat", "partnr=tit_for_tat"], "did you mean partner"),
    "a parameter": (["play", "rps", "--set", "roundz=3"], "did you mean rounds"),
    "one of a few names": (
        ["play", "pick_the_right_stuff", "--set", "mode=infinit"],
        "did you mean infinite",
    ),
    "no rounds": (["play", "rps", "--set", "rounds=0"], "from 1 to 1,000,000"),
    "a ragged matrix": (
        ["play", "repeated_games", "--set", "matrix=[[[1,1],[0,0]],[[0,0]]]"],
        "two moves",
    ),
    "names that clash": (["play", "ipd", "--set", 'names=["J","j"]'], "distinct"),
    "a payoff that is no number": (
        ["play", "repeated_games", "--set", "matrix=[[[1e999,1],[0,0]],[[0,0],[1,1]]]"],
        "finite",
    ),
    "a study file with an error": (["run", "bad.toml"], "bad.toml"),
    "a study file that is not there": (["run", "none.toml"], "none.toml"),
    "a store that is not there": (["score", "nowhere"], "nowhere"),
    "a folder that is no store": (["score", "."], "no store at ."),
    "a file without episodes": (["replay", "tiny.toml"], "No line of tiny.toml"),
    "an empty file of episodes": (
        ["replay", "sub/none.jsonl"],
        "sub/none.jsonl holds no episodes.",
    ),
    "an empty study file": (["run", "nothing.toml"], "nothing.toml: the key `name` is missing."),
    "a folder that is a file": (
        ["paper", "packs", "riemer2025", "--out", "bad.toml"],
        "The folder bad.toml cannot be created",
    ),
    "a record without games": (
        ["import", "pact", "sub/none.jsonl", "--out", "games"],
        "sub/none.jsonl holds no game",
    ),
    "a file that is no Inspect log": (
        ["compare", "--power", "sub/none.jsonl"],
        "is not an Inspect log (.eval or .json)",
    ),
    "a probability of drop-outs above 1": (
        ["people", "rehearse", "pairs", "--drop-out", "7"],
        "7.0 is not in the range 0<=x<=1.",
    ),
    "a width that is not a number": (
        ["evaluate", "--bot", "random", "--until", "nan"],
        "the number must be finite, not nan.",
    ),
    "no episode": (["show", "nowhere"], "neither a store nor STORE/ID"),
    "a seat that nobody took": (["score", "store", "--seat", "agnet"], "did you mean agent"),
    "another study's folder": (["run", "quickstart", "--out", "store"], "belongs to study 'tiny'"),
    "an instance that changed under its id": (
        ["run", "changed.toml", "--out", "store"],
        "other parameters",
    ),
    "a cell that cannot be played": (["run", "empty.toml"], "cell 'ipd'"),
    "a strategy": (["run", "tiny.toml", "--without", "lmm"], "did you mean lm"),
    "no episodes wanted": (["run", "tiny.toml", "--limit", "0"], "at least 1"),
    "a paper": (["reproduce", "riemer2052"], "did you mean riemer2025"),
    "a language player without a model": (
        ["play", "rps", "--seat", "partner=language"],
        "add --set partner.model=embedded",
    ),
    "an audit": (["audit", "rpss"], "did you mean rps"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_gives_one_message_and_exit_code_2(what, played):
    args, says = BAD[what]
    (played / "bad.toml").write_text(TINY.replace("repeats = 2", "repeats = 0"))
    (played / "changed.toml").write_text(TINY.replace("rounds = 4", "rounds = 5"))
    (played / "empty.toml").write_text(TINY.replace(', partner = { player = "tit_for_tat" }', ""))
    (played / "sub").mkdir(exist_ok=True)
    (played / "sub" / "none.jsonl").write_text("")
    (played / "nothing.toml").write_text("")
    files_before = sorted(p for p in played.rglob("*"))
    done = sally(*args, cwd=played)
    assert done.returncode == 2, done.stdout + done.stderr
    assert says in done.stderr
    assert done.stderr.startswith("sally: ")
    assert done.stderr.count("\n") == 1  # one sentence, one line
    assert "Traceback" not in done.stderr
    assert sorted(p for p in played.rglob("*")) == files_before  # nothing was written


def test_person_can_use_a_tool_while_deciding(study):
    typed = "?item_info item=torch\n?item_infos\n?item_info torch\n"
    done = sally(
        "play", "tradecraft", "--set", "max_turns=1", "--out", "mine", typed=typed, cwd=study
    )
    assert '"item":"torch","made_by"' in done.stdout
    assert "did you mean item_info" in done.stdout
    assert done.stdout.count("Try again") == 2
