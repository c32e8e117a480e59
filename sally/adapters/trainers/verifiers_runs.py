"""Replay and score again the stored runs of verifiers in which several agents play a game.

    python -m sally.adapters.trainers.verifiers_runs RUN --out DIR

`vf-replay` refuses runs of several agents. In runs of Sally's games, each trace holds the record of
its episode: the moves are replayed from it, without a model, the rewards of each seat computed
again and compared with the stored ones, and advantages that depend on the role are written on the
sampled tokens. Reads and writes `traces.jsonl` of verifiers 0.4.0, which need not be installed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import msgspec

from sally.adapters.trainers.text.columns import Columns, Ledger, Row, worths_at
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Event, from_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Turn
from sally.core.registry import registry
from sally.players.language import LANGUAGE
from sally.runner.check import check

TRACES = "traces.jsonl"
RECORD, TURNS, ADVANTAGES = "sally_episode", "sally_turns", "sally_advantages"  # in a trace's info
Baseline = Literal["role", "group"]
SAME = 1e-6  # difference of a stored and a computed reward that counts as none


class SeatTrace(msgspec.Struct):
    """One agent's trace: its role, its rewards as computed again, and its advantages."""

    trace: dict[str, Any]
    episode: str
    role: str
    group: str
    reward: float
    turn_rewards: list[float]
    advantage: float = 0.0
    turn_advantages: list[float] = []


class RunReplay(msgspec.Struct):
    """The result of replaying a run."""

    rows: list[dict[str, Any]]  # the rollouts of the run, as they were stored
    seats: list[SeatTrace]
    problems: list[str]  # what differs from the stored run
    left_out: int = 0  # traces without a record of a game, such as those of failed rollouts


def replay_run(run: Path, baseline: Baseline = "role") -> RunReplay:
    """Replay the rollouts of a stored run, compute the rewards of each seat again, and estimate
    advantages.

    Args:
        run: Folder of the run, with `traces.jsonl`.
        baseline: What a reward is compared with: the mean reward of the same role in the whole
            run, or only in rollouts of the same group (or task, if the run has no groups).

    Raises:
        BadInput: There is no such run, or a line of it cannot be read.
    """
    rows = list(_read_rows(run / TRACES))
    replay = RunReplay(rows, [], [])
    for number, row in enumerate(rows):
        for trace in row["traces"]:
            line = (trace.get("info") or {}).get(RECORD)
            if line is None:
                replay.left_out += 1
                continue
            episode = from_line(line.encode())
            seat = _replay_trace(trace, episode, _group_of(row, number), replay.problems)
            replay.seats.append(seat)
        replay.problems += _mismatches(row)
    _estimate_advantages(replay.seats, baseline)
    return replay


def write_run(replay: RunReplay, out: Path, *, per_turn: bool = False) -> None:
    """Write the run with its rewards computed again and advantages on the sampled tokens.

    A trace's `nodes` get `advantages` in the layout of `logprobs`: one value per sampled token,
    that of the trace or, with `per_turn`, that of the turn to which the message belongs. Runs
    without tokens, such as evaluations, have the advantages only in the trace's `info`.
    """
    for seat in replay.seats:
        trace = seat.trace
        turns = trace["info"].get(TURNS, [])
        trace["info"][ADVANTAGES] = {
            "role": seat.role,
            "group": seat.group,
            "reward": seat.reward,
            "advantage": seat.advantage,
            "turns": seat.turn_advantages,
        }
        of_turn = {
            place: advantage
            for turn, advantage in zip(turns, seat.turn_advantages, strict=False)
            for place in turn["nodes"]
        }
        for place, node in enumerate(trace.get("nodes", ())):
            if node.get("sampled") and (not per_turn or place in of_turn):
                advantage = of_turn[place] if per_turn else seat.advantage
                node["advantages"] = [advantage] * sum(node.get("mask", ()))
    out.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, separators=(",", ":")) for row in replay.rows)
    (out / TRACES).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def seat_rows(episode: Episode, seat: str) -> list[Row]:
    """Return the decisions of a seat in a stored episode, with the rewards of each."""
    spec = registry.game(episode.setup.instance.game)
    match: Match[Any, Any, Any] = Match(spec, episode.setup, ask_nature=True)
    ledger = Ledger(match, seat, worths_at(match, seat))

    def begin_row(turn: Turn[Any, Any], event: Event) -> None:
        ledger.settle()
        if turn.seat == seat:
            ledger.begin(SimpleNamespace(ask=turn))  # type: ignore[arg-type]

    Driver(match).replay(episode, ask_again=begin_row)
    ledger.settle()
    return ledger.rows


# --- reading --------------------------------------------------------------------------------------


def _read_rows(file: Path) -> Iterator[dict[str, Any]]:
    if not file.is_file():
        raise BadInput(f"There is no {TRACES} in {file.parent}; name the folder of a run.")
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            traces = row["traces"]
        except (ValueError, KeyError, TypeError):
            raise BadInput(f"{file}, line {number}: this is not a rollout of verifiers.") from None
        if not isinstance(traces, list):
            raise BadInput(f"{file}, line {number}: traces must be a list.")
        yield row


def _group_of(row: Mapping[str, Any], number: int) -> str:
    """Return the group of a rollout: its own, or its task."""
    group = row.get("group") or {}
    task = row.get("task") or {}
    name = (task.get("data") or {}).get("name")
    return str(group.get("id") or task.get("key") or name or number)


# --- scoring --------------------------------------------------------------------------------------


def _replay_trace(
    trace: dict[str, Any], episode: Episode, group: str, problems: list[str]
) -> SeatTrace:
    """Return a trace with its rewards computed again; differences are added to `problems`."""
    role = str((trace.get("agent") or {}).get("name", ""))
    # in an environment of one player the role is not a seat: the learner is the language player
    learners = [seat for seat, player in episode.setup.lineup.items() if player.player == LANGUAGE]
    if role not in episode.setup.lineup and len(learners) != 1:
        raise BadInput(f"Episode {episode.id} has no seat for the role {role!r}.")
    rows = seat_rows(episode, role if role in episode.setup.lineup else learners[0])
    moves = [row for row in rows if row.kind == "move"]
    weights: dict[str, float] = {}
    for name, reward in (trace.get("rewards") or {}).items():
        if reward is None or name not in Columns.__struct_fields__:
            continue
        weights[name] = float(reward.get("weight", 1.0))
        computed = sum(v for row in rows if (v := getattr(row.columns, name)) is not None)
        if abs(reward["score"] - computed) > SAME:
            problems.append(
                f"episode {episode.id}, {role}: {name} is {computed:g} by the replay and "
                f"{reward['score']:g} in the run"
            )
        reward["score"] = computed
    turn_rewards = [row.columns.reward(weights) for row in moves]
    stored_turns = [float(turn["reward"]) for turn in trace["info"].get(TURNS, [])]
    if len(stored_turns) != len(turn_rewards) or any(
        abs(stored - computed) > SAME
        for stored, computed in zip(stored_turns, turn_rewards, strict=True)
    ):
        problems.append(
            f"episode {episode.id}, {role}: the turns are worth {turn_rewards} by the replay and "
            f"{stored_turns} in the run"
        )
    total = sum(weights[name] * trace["rewards"][name]["score"] for name in weights)
    return SeatTrace(trace, episode.id, role, group, total, turn_rewards)


def _mismatches(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the replay of a rollout finds, and traces that hold different records."""
    records = {
        trace["info"][RECORD] for trace in row["traces"] if RECORD in (trace.get("info") or {})
    }
    if len(records) > 1:
        yield f"rollout {row.get('id', '')}: its traces hold different episodes"
    for record in sorted(records):
        for id, problem in check([from_line(record.encode())]).mismatches:
            yield f"episode {id}: {problem}"


def _estimate_advantages(seats: Sequence[SeatTrace], baseline: Baseline) -> None:
    """Set the advantages: the reward less the mean of the same role, and for each turn the rewards
    from it on less their mean over the same turn of the same role."""
    peers: dict[tuple[str, str], list[SeatTrace]] = {}
    for seat in seats:
        key = (seat.role, seat.group if baseline == "group" else "")
        peers.setdefault(key, []).append(seat)
    for group in peers.values():
        mean = sum(seat.reward for seat in group) / len(group)
        later = [_rewards_to_go(seat.turn_rewards) for seat in group]
        for seat, to_go in zip(group, later, strict=True):
            seat.advantage = seat.reward - mean
            seat.turn_advantages = [
                value
                - _mean(
                    [rewards_to_go[turn] for rewards_to_go in later if turn < len(rewards_to_go)]
                )
                for turn, value in enumerate(to_go)
            ]


def _rewards_to_go(rewards: Sequence[float]) -> list[float]:
    total, sums = 0.0, list[float]()
    for reward in reversed(rewards):
        total += reward
        sums.append(total)
    return sums[::-1]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def main(arguments: Sequence[str] | None = None) -> None:
    """Replay a run from the command line; exits with 1 if something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="folder of the run, with traces.jsonl")
    parser.add_argument("--out", type=Path, help="folder for the run with advantages")
    parser.add_argument("--baseline", choices=("role", "group"), default="role")
    parser.add_argument("--per-turn", action="store_true", help="advantages of turns, not traces")
    options = parser.parse_args(arguments)
    try:
        replay = replay_run(options.run, options.baseline)
    except BadInput as error:
        sys.exit(str(error))
    if options.out is not None:
        write_run(replay, options.out, per_turn=options.per_turn)
    print(
        f"{len(replay.rows)} rollouts, {len(replay.seats)} traces replayed, "
        f"{replay.left_out} without a record, {len(replay.problems)} differences"
    )
    for problem in replay.problems:
        print(problem)
    sys.exit(1 if replay.problems else 0)


if __name__ == "__main__":
    main()
