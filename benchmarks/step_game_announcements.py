"""How `promise_kept` of the published step games depends on the reader of announcements.

    python -m benchmarks.step_game_announcements STORE [--every 4]

A second reader, written from the definition alone (the last statement of a seat's own move in this
turn, without a condition), reads the same messages as the reader of the game. For each model the
share of kept announcements is counted with both. The lines of a store of `sally import step_game`
are read as JSON.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from scipy.stats import spearmanr

from sally.games.step_race.talk import announcement

SEATS = ("player_1", "player_2", "player_3")
FEWEST = 100  # announcements of a model that is compared
FAR = 0.02  # difference of shares that is counted
SENTENCES = re.compile(r"[.!;\n\u2014]|(?<=\?)")
NOT_NOW = re.compile(
    r"\?|\b(?:if|unless|would|could|should|might|maybe|propose|suggest|next|later|not|never|or)\b"
)
STATED = re.compile(
    r"\bi(?:'ll|'m| will| am)?\b[^0-9]{0,40}?"
    r"\b(?:tak|pick|choos|play|go|mov|stick|lock|commit|stay)\w*[^0-9]{0,25}\b([135])\b(?![0-9])"
)


def second_announcement(text: str) -> int | None:
    """Return the move that a message announces, by a rule of a few words."""
    move = None
    for sentence in SENTENCES.split(text.lower().replace("\u2019", "'")):
        if NOT_NOW.search(sentence):
            continue
        for match in STATED.finditer(sentence):
            move = int(match[1])
    return move


def seat_turns(events: list[dict[str, Any]]) -> Iterator[tuple[int, int, list[str], int]]:
    """Yield the number of the turn, the seat, its messages and its move."""
    messages: dict[str, list[str]] = defaultdict(list)
    moved: dict[str, int] = {}
    turn = 1
    for event in events:
        if event["kind"] != "moved" or event["seat"] not in SEATS:
            continue
        if isinstance(event["action"], int):
            moved[event["seat"]] = event["action"]
        else:
            messages[event["seat"]].append(event["action"].get("text", ""))
        if len(moved) == len(SEATS):
            for number, seat in enumerate(SEATS):
                yield turn, number, messages[seat], moved[seat]
            messages.clear()
            moved.clear()
            turn += 1


def count_promises(folder: Path, stride: int) -> tuple[dict[str, Counter[str]], Counter[str]]:
    """Return, by model, announcements and those kept by each reader, and how the readers agree."""
    models: dict[str, Counter[str]] = defaultdict(Counter)
    agreement: Counter[str] = Counter()
    lines = (line for file in sorted(folder.glob("*.jsonl")) for line in file.open("rb"))
    for index, line in enumerate(lines):
        if index % stride:
            continue
        episode = msgspec.json.decode(line)
        names = [episode["setup"]["lineup"][seat]["params"].get("name", "") for seat in SEATS]
        for turn, seat, messages, move in seat_turns(episode["events"]):
            readings = {
                "first": [announcement(text, seat, turn) for text in messages],
                "second": [second_announcement(text) for text in messages],
            }
            last = {
                reader: next((n for n in reversed(numbers) if n is not None), None)
                for reader, numbers in readings.items()
            }
            for reader, number in last.items():
                if number is not None:
                    models[names[seat]][reader] += 1
                    models[names[seat]][f"{reader} kept"] += number == move
            first, second = last["first"], last["second"]
            agreement[
                "same" if first == second
                else "only by the first" if second is None
                else "only by the second" if first is None
                else "different numbers"
            ] += 1  # fmt: skip
            if first is not None and second is None:
                agreement["only by the first, kept"] += first == move
            if first is None and second is not None:
                agreement["only by the second, kept"] += second == move
            if first is not None and first == second:
                agreement["same number"] += 1
                agreement["same number, kept"] += first == move
    return dict(models), agreement


def summarize(models: dict[str, Counter[str]], agreement: Counter[str]) -> dict[str, Any]:
    """Return the shares of all models, the largest differences and the agreement of the orders."""
    total: Counter[str] = sum(models.values(), Counter())
    shares = {
        name: tuple(counts[f"{r} kept"] / counts[r] for r in ("first", "second"))
        for name, counts in models.items()
        if min(counts["first"], counts["second"]) >= FEWEST
    }
    differences = {name: second - first for name, (first, second) in shares.items()}
    first, second = zip(*shares.values(), strict=True)
    return {
        "seat-turns": sum(agreement[k] for k in agreement if "," not in k and k != "same number"),
        "kept": {r: round(total[f"{r} kept"] / total[r], 3) for r in ("first", "second")},
        "announced": {r: total[r] for r in ("first", "second")},
        "models": len(shares),
        f"differ by more than {FAR}": sum(abs(d) > FAR for d in differences.values()),
        "largest difference": round(max(map(abs, differences.values())), 3),
        "rank correlation": round(float(spearmanr(first, second).statistic), 3),
        "readings": dict(agreement),
    }


def main() -> None:
    """Print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("--every", type=int, default=1, help="read every so many games")
    options = parser.parse_args()
    print(json.dumps(summarize(*count_promises(options.store, options.every)), indent=1))


if __name__ == "__main__":
    main()
