"""A line that parses and is wrong is set aside and counted, wherever stores are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.log.events import Episode, PlayerSpec, Setup, episode_id, from_line, to_line
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.runner.check import cells_of, check
from sally.runner.run import run_study
from sally.store.lines import append_checksum
from sally.web.explorer.episode_list import EpisodeList

Plain = dict[str, Any]


def study() -> Study:
    minds = player_spec("random"), player_spec("constant")
    players = grid(agent=minds, partner=player_spec("tit_for_tat"))
    arms: dict[str, tuple[str, ...]] = {"agent": ("their_move",)}
    game = instance("ipd", rounds=5)
    return Study("wrong", "for tests", (Cell("only", (game,), players, arms, repeats=2),))


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    out = tmp_path_factory.mktemp("wrong") / "out"
    return [to_line(e) for e in run_study(study(), out).episodes.values()]


def first(plain: Plain, kind: str) -> Plain:
    result: Plain = next(e for e in plain["events"] if e["kind"] == kind)
    return result


def named_anew(plain: Plain) -> None:
    """The id that goes with what is now asked for: a forger knows how to hash."""
    plain["id"] = episode_id(msgspec.convert(plain["setup"], Setup))


def an_action_that_is_none(plain: Plain) -> None:
    first(plain, "moved")["action"] = 99


def an_action_of_another_type(plain: Plain) -> None:
    first(plain, "moved")["action"] = {"kind": "buy", "what": []}


def a_report_of_turn_500(plain: Plain) -> None:
    first(plain, "reported")["turn"] = 500


def a_report_that_is_no_choice(plain: Plain) -> None:
    first(plain, "reported")["value"] = "the moon"


def no_payoff(plain: Plain) -> None:
    del first(plain, "ended")["payoffs"]["agent"]


def a_payoff_of_999(plain: Plain) -> None:
    first(plain, "ended")["payoffs"]["agent"] = 999.0


def a_move_less(plain: Plain) -> None:
    plain["events"].remove(first(plain, "moved"))


def nobody_in_a_seat(plain: Plain) -> None:
    del plain["setup"]["lineup"]["partner"]
    named_anew(plain)


def settings_that_are_none(plain: Plain) -> None:
    plain["setup"]["lineup"]["agent"] = {"player": "language", "params": {"settings": 5}}
    named_anew(plain)


def parameters_that_cannot_be(plain: Plain) -> None:
    plain["setup"]["instance"]["params"] = {"rounds": -3}
    named_anew(plain)


def tokens_that_are_words(plain: Plain) -> None:
    first(plain, "moved")["calls"] = [{"purpose": "move", "prompt": "", "usage": {"input": "all"}}]


def no_tries(plain: Plain) -> None:
    first(plain, "moved")["tries"] = -5


WRONG: tuple[Callable[[Plain], None], ...] = (
    an_action_that_is_none,
    an_action_of_another_type,
    a_report_of_turn_500,
    a_report_that_is_no_choice,
    no_payoff,
    a_payoff_of_999,
    a_move_less,
    nobody_in_a_seat,
    settings_that_are_none,
    parameters_that_cannot_be,
    tokens_that_are_words,
    no_tries,
)


def edited(line: bytes, *edits: Callable[[Plain], None]) -> bytes:
    plain = json.loads(line)
    for edit in edits:
        edit(plain)
    return msgspec.json.encode(plain) + b"\n"


def a_store(folder: Path, lines: list[bytes]) -> Path:
    store.claim(folder, store.Manifest("wrong", "hash"), study())
    (folder / "1-a.jsonl").write_bytes(b"".join(lines))
    return folder


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_wrong_line_is_quarantined_even_with_a_valid_checksum(
    wrong: Callable[[Plain], None], lines: list[bytes], tmp_path: Path
) -> None:
    bad = append_checksum(edited(lines[0], wrong))
    assert isinstance(store.read_line(bad), Episode), "it parses: that is the point"
    contents = store.load(a_store(tmp_path / "out", [bad, *lines[1:]]))
    assert len(contents.episodes) == len(lines) - 1
    assert [line.line for line in contents.bad] == [1] and "wrong" in contents.bad[0].why
    assert (tmp_path / "out" / "quarantine" / "1-a.jsonl").read_bytes() == bad


def test_played_episodes_are_valid(lines: list[bytes], tmp_path: Path) -> None:
    contents = store.load(a_store(tmp_path / "out", lines))
    assert (len(contents.episodes), contents.bad) == (len(lines), [])


@pytest.fixture
def attacked(lines: list[bytes], tmp_path: Path) -> Path:
    bad = [edited(lines[0], wrong) for wrong in WRONG]
    return a_store(tmp_path / "out", [*bad, *lines[1:]])


@pytest.mark.parametrize(
    "command",
    [
        ("score", "STORE"),
        ("score", "STORE", "--rows", "--json"),
        ("show", "STORE"),
        ("profile", "STORE"),
        ("compare", "STORE", "random", "constant"),
        ("score", "--crossplay", "STORE"),
        ("watch", "STORE", "--once"),
        ("replay", "STORE"),
        ("pack", "STORE", "--out", "OUT/a.zip"),
        ("report", "STORE", "--out", "OUT/a.html"),
        ("export", "STORE", "--out", "OUT/a.csv"),
        ("export", "STORE", "--out", "OUT/b.csv", "--what", "decisions"),
    ],
    ids=" ".join,
)
def test_commands_do_not_crash_on_wrong_lines(
    command: tuple[str, ...], attacked: Path, tmp_path: Path
) -> None:
    parts = [part.replace("STORE", str(attacked)).replace("OUT", str(tmp_path)) for part in command]
    result = CliRunner().invoke(cli, parts)
    assert result.exit_code == (1 if command[0] == "replay" else 0), (
        result.exc_info,
        result.output,
    )


def test_forged_payoff_does_not_change_the_means(
    lines: list[bytes], attacked: Path, tmp_path: Path
) -> None:
    clean = a_store(tmp_path / "clean", lines[1:])
    first, second = (
        CliRunner().invoke(cli, ["score", str(at), "--json"]).stdout for at in (clean, attacked)
    )
    assert json.loads(first) == json.loads(second) and "999" not in second


def test_explorer_omits_and_counts_wrong_lines(attacked: Path, lines: list[bytes]) -> None:
    episode_list = EpisodeList([attacked])
    episode_list.refresh()
    assert set(episode_list.episodes()["id"]) == {from_line(line).id for line in lines[1:]}
    assert episode_list.bad >= 1


# --- sums -----------------------------------------------------------------------------------------


def test_any_changed_byte_of_a_stored_line_is_detected(lines: list[bytes]) -> None:
    line = append_checksum(lines[0])
    full_episode = store.read_line(line)
    for index in range(len(line)):
        flipped = line[:index] + bytes([line[index] ^ 1]) + line[index + 1 :]
        episode = store.read_line(flipped)
        assert isinstance(episode, str) or episode == full_episode, flipped[index - 20 : index + 20]


def test_line_without_checksum_is_read_as_older_format(lines: list[bytes]) -> None:
    assert isinstance(store.read_line(lines[0]), Episode)


@pytest.mark.parametrize("key", ["cell", "used"])
def test_edited_cell_or_machine_is_detected_by_the_checksum(key: str, lines: list[bytes]) -> None:
    plain = json.loads(append_checksum(lines[0]))
    plain[key] = {"cell": "other", "used": {"agent": {"weights": "better"}}}[key]
    episode = store.read_line(msgspec.json.encode(plain) + b"\n")
    assert isinstance(episode, str) and "changed after it was written" in episode


# --- replay ---------------------------------------------------------------------------------------


def a_bot_under_another_name(plain: Plain) -> None:
    plain["setup"]["lineup"]["partner"]["player"] = "suspicious_tit_for_tat"
    named_anew(plain)


def another_report_of_a_bot(plain: Plain) -> None:
    report = first(plain, "reported")
    report["value"] = 1 - report["value"]


def another_cell(plain: Plain) -> None:
    plain["cell"] = "elsewhere"


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (another_report_of_a_bot, "replays as"),
        (another_cell, "its study has it in only"),
        (a_payoff_of_999, "replays as"),
    ],
)
def test_replay_detects_edits_in_lines_without_checksum(
    edit: Callable[[Plain], None], why: str, lines: list[bytes], tmp_path: Path
) -> None:
    out = a_store(tmp_path / "out", [edited(lines[0], edit), *lines[1:]])
    replay_check = check(store.load(out, check=False).episodes.values(), cells_of(out))
    assert replay_check.replayed == len(lines) - 1
    ((_, said),) = replay_check.mismatches
    assert why in said


def test_replay_detects_a_bot_under_another_name(lines: list[bytes]) -> None:
    forged = [from_line(edited(line, a_bot_under_another_name)) for line in lines]
    assert len(check(forged).mismatches) == len(lines)
    assert check(map(from_line, lines)).mismatches == []


def test_replay_reports_unregistered_players(lines: list[bytes]) -> None:
    def renamed(plain: Plain) -> None:
        plain["setup"]["lineup"]["partner"]["player"] = "nobody_we_know"
        named_anew(plain)

    ((_, reason),) = check([from_line(edited(lines[0], renamed))]).unchecked
    assert "players not registered here, so not asked again: nobody_we_know" in reason


def test_replay_does_not_ask_bots_again_beside_recorded_players(lines: list[bytes]) -> None:
    plain = json.loads(edited(lines[0], another_report_of_a_bot))
    plain["setup"]["lineup"]["partner"] = msgspec.to_builtins(PlayerSpec("recorded"))
    named_anew(plain)
    assert check([msgspec.convert(plain, Episode)]).mismatches == []


@pytest.mark.parametrize(
    ("change", "code", "sentence"),
    [
        (lambda lines: lines[1:], 0, "1 of the 4 episodes that the store's study plans is not in"),
        (lambda lines: lines[2:], 0, "2 of the 4 episodes that the store's study plans are not in"),
        (lambda lines: [*lines, lines[0]], 0, "1 line repeats an episode"),
        (lambda lines: [b"\x00\xff\n", *lines[1:]], 1, "line 1: the line is corrupt"),
        (lambda lines: [*lines[1:], lines[0][:-90]], 0, "the line is incomplete"),  # of a crash
    ],
)
def test_replay_reports_missing_doubled_and_corrupt_lines(
    lines: list[bytes],
    tmp_path: Path,
    change: Callable[[list[bytes]], list[bytes]],
    code: int,
    sentence: str,
) -> None:
    out = a_store(tmp_path / "out", change(lines))
    result = CliRunner().invoke(cli, ["replay", str(out)])
    assert (result.exit_code, sentence in result.output) == (code, True), result.output
    shape = json.loads(CliRunner().invoke(cli, ["replay", str(out), "--json"]).stdout)
    planned, held = len(lines), shape["episodes"]
    assert (shape["planned"], shape["missing"]) == (planned, planned - held)
    assert ("repeats" in sentence) == bool(shape["doubled"])
    assert ("the line is" in sentence) == bool(shape["unreadable"])


def test_replay_of_a_complete_store_says_nothing_of_missing_lines(
    lines: list[bytes], tmp_path: Path
) -> None:
    out = a_store(tmp_path / "out", lines)
    output = CliRunner().invoke(cli, ["replay", str(out)]).output
    assert "not in it" not in output and "repeats" not in output
