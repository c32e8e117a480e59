"""How `doing_win` of the published step games depends on the target, which the logs do not record.

    python -m benchmarks.step_game_targets STORE

A second implementation of the rules and of the value of a position, written from the definition of
the measure, reads the lines of a store of `sally import step_game` as JSON; it uses no rules,
values or metrics of the package. The importer takes the middle of the possible targets, rounded
down.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

STEPS = (1, 3, 5)
FAR = 0.005  # difference of a model's measure that is counted
SEATS = ("player_1", "player_2", "player_3")
Triple = tuple[int, ...]
Points = tuple[float, ...]


def gains(moves: Triple) -> Triple:
    """Return the steps that each seat gains: those of numbers that one seat alone has chosen."""
    return tuple(move if moves.count(move) == 1 else 0 for move in moves)


def points_after(missing: Triple, moves: Triple) -> Points:
    """Return the points to be expected after a turn if everybody then moves at random."""
    if len(set(moves)) == 1:
        return random_points(missing)
    still_missing = tuple(steps - gain for steps, gain in zip(missing, gains(moves), strict=True))
    if min(still_missing) > 0:
        return random_points(still_missing)
    winners = still_missing.count(min(still_missing))
    return tuple(float(steps == min(still_missing)) / winners for steps in still_missing)


@cache
def random_points(missing: Triple) -> Points:
    """Return the points to be expected if everybody moves at random; equal moves of all three
    change nothing and are left out."""
    turns = [moves for moves in product(STEPS, repeat=3) if len(set(moves)) > 1]
    points = [points_after(missing, moves) for moves in turns]
    totals = [sum(column) for column in zip(*points, strict=True)]
    return tuple(total / len(turns) for total in totals)


def turns_of(events: list[dict[str, Any]]) -> Iterator[Triple]:
    """Yield the three moves of every turn."""
    turn: dict[str, int] = {}
    for event in events:
        if event["kind"] == "moved" and isinstance(event["action"], int) and event["seat"] in SEATS:
            turn[event["seat"]] = event["action"]
        if len(turn) == len(SEATS):
            yield tuple(turn[seat] for seat in SEATS)
            turn = {}


def targets_of(lowest: int, highest: int) -> dict[str, int]:
    """Return the target of a game by each convention."""
    middle = (lowest + highest) // 2
    return {
        "lowest": lowest,
        "middle, rounded down": middle,
        "middle, rounded up": lowest + highest - middle,
        "highest": highest,
    }


def main(folder: Path) -> None:
    """Print the measure of all recorded moves and of always taking 5, and how far the measures of
    models differ between conventions."""
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    by_model: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            episode = msgspec.json.decode(line)
            params = episode["setup"]["instance"]["params"]
            positions = tuple(params["positions"])
            lineup = episode["setup"]["lineup"]
            models = [str(lineup[seat]["params"].get("name")) for seat in SEATS]
            for moves in turns_of(episode["events"]):
                for convention, target in targets_of(*params["target_range"]).items():
                    missing = tuple(target - position for position in positions)
                    for seat in range(len(SEATS)):
                        others = [
                            (*moves[:seat], own_step, *moves[seat + 1 :]) for own_step in STEPS
                        ]
                        move_points = [points_after(missing, turn)[seat] for turn in others]
                        mean = sum(move_points) / len(move_points)
                        for player, move in (("recorded", moves[seat]), ("always 5", 5)):
                            pair = sums[convention, player]
                            pair[0] += move_points[STEPS.index(move)] - mean
                            pair[1] += max(move_points) - mean
                        model = by_model[models[seat], convention]
                        model[0] += move_points[STEPS.index(moves[seat])] - mean
                        model[1] += max(move_points) - mean
                positions = tuple(p + g for p, g in zip(positions, gains(moves), strict=True))
    for (convention, player), (gained, possible) in sums.items():
        print(f"{convention}: {player} {gained / possible:.4f}")
    doing = {key: gained / possible for key, (gained, possible) in by_model.items()}
    for convention in ("lowest", "middle, rounded up", "highest"):
        away = [
            abs(doing[model, convention] - value)
            for (model, other_convention), value in doing.items()
            if other_convention == "middle, rounded down"
        ]
        n_far = sum(difference > FAR for difference in away)
        print(f"{convention}: {n_far} of {len(away)} models differ by more than {FAR} from the "
              f"middle, rounded down; at most {max(away):.3f}")  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
