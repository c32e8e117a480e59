"""Runs of verifiers with an agent in every seat: replayed, scored again, and given advantages.

The files are written here as verifiers 0.4.0 writes them; `test_verifiers.py` does the same with
files of verifiers itself, where it is installed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sally.adapters.trainers.text import TextSeats
from sally.adapters.trainers.verifiers_runs import main, replay_run, write_run
from sally.core.errors import BadInput
from sally.core.log.events import to_line
from sally.core.prompt.model import Reply

MOVES = ("00", "01", "11", "10")  # of agent and partner, in each rollout


def write_traces(folder: Path) -> list[dict[str, Any]]:
    """Play four rollouts of the prisoner's dilemma and write them as a run."""
    rows = []
    for number, choices in enumerate(MOVES):
        env = TextSeats("ipd")
        env.reset(3)
        while env.asked is not None:
            names = env.asked.ask.context.words.menu(env.asked.ask.options)
            is_unreadable = number == 3 and env.seat == "agent" and len(env.rows("agent")) < 2
            text = f"Option: {names[int(choices[env.seat == 'partner'])]}"
            env.step(Reply("no" if is_unreadable else text))
        record = to_line(env.episode()).decode()
        traces = []
        for seat in env.seats:
            decisions = env.rows(seat)
            turns, nodes = [], list[dict[str, Any]]()
            for row in decisions:
                places = []
                for _ in row.tries:
                    nodes += [{"mask": [False] * 3}, {"sampled": True, "mask": [False, True, True]}]
                    places.append(len(nodes) - 1)
                reward = row.columns.reward(env.weights)
                turns.append({"turn": row.turn, "nodes": places, "reward": reward})
            sums = {
                name: sum(getattr(row.columns, name) or 0.0 for row in decisions)
                for name in env.weights
            }
            rewards = {
                name: {"score": score, "weight": env.weights[name]} for name, score in sums.items()
            }
            traces.append(
                {"id": f"{number}{seat}", "agent": {"name": seat}, "nodes": nodes,
                 "rewards": rewards, "info": {"sally_episode": record, "sally_turns": turns}}
            )  # fmt: skip
        rows.append({"id": str(number), "task": {"key": f"task{number % 2}"}, "traces": traces})
    save(rows, folder)
    return rows


def save(rows: list[dict[str, Any]], folder: Path) -> None:
    (folder / "traces.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def run(tmp_path: Path) -> tuple[Path, list[dict[str, Any]]]:
    return tmp_path, write_traces(tmp_path)


def test_run_replays_and_advantages_depend_on_the_role(run: tuple[Path, Any]) -> None:
    folder, rows = run
    replay = replay_run(folder)
    assert replay.problems == [] and len(replay.seats) == 8 and replay.left_out == 0
    stored = {t["id"]: sum(r["score"] for r in t["rewards"].values())
              for row in rows for t in row["traces"]}  # fmt: skip
    for role in ("agent", "partner"):
        seats = [seat for seat in replay.seats if seat.role == role]
        mean = sum(stored[seat.trace["id"]] for seat in seats) / 4
        for seat in seats:
            assert seat.reward == pytest.approx(stored[seat.trace["id"]])
            assert seat.advantage == pytest.approx(seat.reward - mean)
            assert len(seat.turn_advantages) == len(seat.turn_rewards) == 10
        assert sum(seat.turn_advantages[0] for seat in seats) == pytest.approx(0)
        assert len({seat.advantage for seat in seats}) > 1
    grouped = replay_run(folder, "group").seats
    pairs = {(s.role, s.group): [o.advantage for o in grouped if (o.role, o.group) ==
             (s.role, s.group)] for s in grouped}  # fmt: skip
    assert len(pairs) == 4 and all(len(p) == 2 and sum(p) == pytest.approx(0) for p in
                                   pairs.values())  # fmt: skip


def test_written_run_has_one_advantage_per_sampled_token(run: tuple[Path, Any]) -> None:
    folder, _ = run
    replay = replay_run(folder)
    write_run(replay, folder / "out")
    second_run = replay_run(folder / "out")
    assert second_run.problems == []
    for seat in second_run.seats:
        details = seat.trace["info"]["sally_advantages"]
        assert (details["role"], details["advantage"]) == (seat.role, seat.advantage)
        for node in seat.trace["nodes"]:
            expected = [seat.advantage] * 2 if node.get("sampled") else None
            assert node.get("advantages") == expected
    write_run(replay, folder / "turns", per_turn=True)
    for seat in replay_run(folder / "turns").seats:
        for turn, advantage in zip(seat.trace["info"]["sally_turns"], seat.turn_advantages,
                                   strict=True):  # fmt: skip
            for place in turn["nodes"]:  # all tries of an unreadable move
                assert seat.trace["nodes"][place]["advantages"] == [advantage] * 2


def test_changed_rewards_turns_and_moves_are_reported(
    run: tuple[Path, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, rows = run
    rows[0]["traces"][0]["rewards"]["payoff"]["score"] += 1
    rows[1]["traces"][1]["info"]["sally_turns"][2]["reward"] += 1
    record = rows[2]["traces"][0]["info"]["sally_episode"]
    changed = record.replace('"action":1', '"action":0', 1)
    assert changed != record
    rows[2]["traces"][0]["info"]["sally_episode"] = changed
    rows[3]["traces"][0]["info"].pop("sally_episode")
    save(rows, folder)
    replay = replay_run(folder)
    assert replay.left_out == 1
    assert any("payoff is" in problem and "agent" in problem for problem in replay.problems)
    assert any("the turns are worth" in problem for problem in replay.problems)
    assert any("hold different episodes" in problem for problem in replay.problems)
    with pytest.raises(SystemExit) as exit_:
        main([str(folder), "--out", str(folder / "out")])
    assert exit_.value.code == 1 and "4 rollouts, 7 traces replayed" in capsys.readouterr().out


def test_wrong_folders_and_lines_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no traces\.jsonl"):
        replay_run(tmp_path)
    (tmp_path / "traces.jsonl").write_text('{"x": 1}\n')
    with pytest.raises(BadInput, match="line 1: this is not a rollout"):
        replay_run(tmp_path)
