"""The people of Akata et al.: each played both games against a table of GPT-4's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, Setup
from sally.core.log.imported import NotPublished, Oddity
from sally.games.repeated_games.recorded import Made, Round, fed, person, player_spec
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.akata2025.reading import (
    PEOPLE,
    File,
    Line,
    Lookup,
    lines_of,
    lookups_in,
    whole,
)

ROUNDS = 10
GPT4 = "gpt-4 base or predict-first, by round"
PRESETS = {"PD": "ipd", "BoS": "ibs"}
CELL = "human_experiment"
THEIRS: Mapping[str, Mapping[tuple[int, int], int]] = {  # (action, score) -> GPT-4's move
    "PD": {(1, 8): 0, (1, 0): 1, (0, 10): 0, (0, 5): 1},
    "BoS": {(1, 7): 0, (1, 0): 1, (0, 0): 0, (0, 10): 1},
}
LABELS = ("Base", "Prompted")
NO_CELL = "not on record: action and score fit no cell"


def people_in(
    file: File, files: Sequence[File]
) -> tuple[list[Episode], list[Oddity], Counter[str]]:
    """The games of every person, what was odd, and what was counted."""
    lookups = lookups_in(files)
    episodes, odd = [], []
    counts: Counter[str] = Counter()
    by_game: dict[tuple[str, str], list[Line]] = {}
    for line, row in lines_of(file, PEOPLE):
        if row["game"] not in PRESETS or row["opponent"] not in LABELS:
            raise NotPublished(
                f"{file.path}, line {line}: game {row['game']!r} against {row['opponent']!r} is "
                "no condition of the experiment; there are PD and BoS, Base and Prompted."
            )
        by_game.setdefault((row["id"], row["game"]), []).append((line, row))
    if len(lookups) < len(PRESETS) * len(LABELS):
        why = "not all four tables of GPT-4's answers are there, so its moves are not compared"
        odd.append(Oddity(str(file.path), "no lookup tables", why))
        lookups = {}
    for (who, game), lines in by_game.items():
        episode, oddities = _played(file, who, game, lines, lookups)
        episodes.append(episode)
        odd += oddities
        counts["rounds of people"] += len(lines)
        counts.update(f"GPT-4's move fits {fit}" for fit in episode.used.get("fits", ()))
    counts["people"] = len({who for who, _ in by_game})
    if lookups:
        odd.append(_label_is_the_last(file, counts))
    return episodes, odd, counts


def _played(
    file: File,
    who: str,
    game: str,
    lines: Sequence[Line],
    lookups: Mapping[tuple[str, str], Lookup],
) -> tuple[Episode, list[Oddity]]:
    """One person's game; in bos people were paid as the partner is."""
    odd, rounds = [], []
    for number, (line, row) in enumerate(lines, 1):
        action, score = (whole(file, line, row, name) for name in ("action", "score"))
        if action not in (0, 1):
            raise BadInput(f"{file.path}, line {line}: action is {action}; it should be 0 or 1.")
        theirs: Made = THEIRS[game].get((action, score), NO_CELL)
        if theirs == NO_CELL:
            why = f"participant {who}, {game}, round {number}: action {action} never pays {score}"
            odd.append(Oddity(str(file.path), "no cell", why, line))
        mine = 1 - action  # 1 is J, which is move 0
        rounds.append(Round(mine, theirs) if game == "PD" else Round(theirs, mine))
    if len(lines) != ROUNDS:
        why = f"participant {who} has {len(lines)} rounds of {game}, not {ROUNDS}"
        odd.append(Oddity(str(file.path), "unfinished", why, lines[0][0]))
    seats = (AGENT, PARTNER) if game == "PD" else (PARTNER, AGENT)
    lineup = {str(seats[0]): person(), str(seats[1]): player_spec(GPT4)}
    setup = Setup(
        Instance(f"akata2025:{who}:{game}", PRESETS[game], {"rounds": max(ROUNDS, len(lines))}),
        0,
        {str(seat): lineup[seat] for seat in (AGENT, PARTNER)},
    )
    used = _used(file, game, lines, rounds, lookups)
    return fed(setup, rounds, {}, f"{CELL} {game}", used)[0], odd


def _used(
    file: File,
    game: str,
    lines: Sequence[Line],
    rounds: Sequence[Round],
    lookups: Mapping[tuple[str, str], Lookup],
) -> dict[str, Any]:
    """What the record says and no move does: the label, the guess, the scores, the tables."""
    last = lines[-1][1]
    used: dict[str, Any] = {
        "source": msgspec.to_builtins(file.source),
        "label": last["opponent"],  # it tells the last round only
        "guess": last["guess"],
        "scores": [whole(file, line, row, "score") for line, row in lines],
    }
    if lookups:
        used["fits"] = fits(game, rounds, lookups)
    return used


def fits(
    game: str, rounds: Sequence[Round], lookups: Mapping[tuple[str, str], Lookup]
) -> list[str]:
    """By round, whose table gives GPT-4's recorded move: both, one by its label, or neither."""
    found, before = [], ""
    for played in rounds:
        mine, theirs = (
            (played.agent, played.partner) if game == "PD" else (played.partner, played.agent)
        )
        shown = "JF"[theirs] if isinstance(theirs, int) else "?"
        agree = [label for label in LABELS if lookups[game, label].get(before) == shown]
        found.append("both" if len(agree) == 2 else agree[0] if agree else "neither")
        before += "JF"[mine] if isinstance(mine, int) else "?"
    return found


def _label_is_the_last(file: File, counts: Counter[str]) -> Oddity:
    apart = sum(counts[f"GPT-4's move fits {label}"] for label in LABELS)
    return Oddity(
        str(file.path),
        "label",
        f"`opponent` tells the variant of the last round only; in {apart} rounds the two tables "
        "of answers differ, and the variant was drawn anew in each",
    )
