"""Compare moves and predictions of stored players with rules that need no model of the other.

    python simple_rules.py STORE...

Rock paper scissors alone. A rule predicts the other's last move, its most frequent move so far, or
what followed the last earlier round with the same two moves; a move fits a rule if it beats the
prediction. Rounds in which a rule says nothing (ties, no such round) do not count for it.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Sequence

import sally
from sally.core.log.events import Episode, Moved, Reported

Rounds = Sequence[tuple[int, int]]  # own move, the other's move


def last(past: Rounds) -> int | None:
    """Predict the other's last move."""
    return past[-1][1] if past else None


def most_frequent(past: Rounds) -> int | None:
    """Predict the other's most frequent move; None at a tie."""
    first = Counter(other_move for _, other_move in past).most_common(2)
    tied = len(first) == 2 and first[0][1] == first[1][1]
    return None if tied or not first else first[0][0]


def as_before(past: Rounds) -> int | None:
    """Predict what followed the latest earlier round with the moves of the last round."""
    for n in range(len(past) - 2, -1, -1):
        if past[n] == past[-1]:
            return past[n + 1][1]
    return None


RULES = (last, most_frequent, as_before)


def rounds(episode: Episode) -> tuple[list[tuple[int, int]], dict[int, int]]:
    """Return the moves of all rounds and, by round, the agent's prediction."""
    moves, predicted = defaultdict[int, dict[str, int]](dict), dict[int, int]()
    for event in episode.events:
        if isinstance(event, Moved):
            moves[event.turn][event.seat] = event.action
        elif isinstance(event, Reported) and event.value is not None:
            predicted[event.turn] = event.value
    return [
        (round_moves["agent"], round_moves["partner"]) for _, round_moves in sorted(moves.items())
    ], predicted


def main() -> None:
    for place in sys.argv[1:]:
        counts = defaultdict[tuple[str, str], list[bool]](list)
        for episode in sally.load(place):
            if episode.setup.instance.game != "rps":
                continue
            played, predicted = rounds(episode)
            for n, (own_move, other_move) in enumerate(played):
                key = episode.cell
                if n in predicted:
                    counts[key, "prediction right"].append(predicted[n] == other_move)
                    counts[key, "move beats own prediction"].append(
                        (own_move - predicted[n]) % 3 == 1
                    )
                counts[key, "move beats the other's"].append((own_move - other_move) % 3 == 1)
                for rule in RULES:
                    if (guess := rule(played[:n])) is None:
                        continue
                    name = rule.__name__.replace("_", " ")
                    counts[key, f"rule '{name}' right"].append(guess == other_move)
                    counts[key, f"move beats '{name}'"].append((own_move - guess) % 3 == 1)
                    if n in predicted:
                        counts[key, f"prediction is '{name}'"].append(predicted[n] == guess)
        print(place)
        for (cell, name), fits in sorted(counts.items()):
            print(f"  {cell:32} {name:34} {sum(fits) / len(fits):.3f} of {len(fits):,}")


if __name__ == "__main__":
    main()
