"""Errors of locker managers: scores by belief, looks, gap and rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sally.analysis.columns.rows import Row, played
from sally.core.errors import unknown
from sally.core.log.events import Episode, label
from sally.core.rules.metric import Played
from sally.games.pick_the_right_stuff.picks import FAMILY, Pick, picks
from sally.games.pick_the_right_stuff.rules import MANAGER, LockerGame
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate


def pick_rows(episodes: Iterable[Episode]) -> list[Row]:
    """Return one row per question: the player, the answer, what was believed and what is true."""
    rows: list[Row] = []
    for episode in episodes:
        whole = played(episode)
        if (whole.spec.family or whole.spec.name) != FAMILY:
            continue
        head = {
            "episode": episode.id,
            "cell": episode.cell,
            "instance": episode.setup.instance.id,
            "mode": mode_of(whole),
            "player": label(episode.setup.lineup[MANAGER]),
        }
        rows += [head | _columns(pick) for pick in picks(whole, MANAGER)]
    return rows


def mode_of(whole: Played) -> str:
    """Return the belief history of a game: zero, finite or infinite."""
    game = whole.replay.game
    assert isinstance(game, LockerGame)  # the family has one kind of rules
    return game.instance.mode


def _columns(pick: Pick) -> Row:
    return {
        "turn": pick.turn,
        "user": pick.user,
        "answered": pick.answered,
        "believed": pick.believed,
        "true": pick.true,
        "belief": "false" if pick.is_false_belief else "true",
        "observations": pick.observations,
        "gap": pick.gap,
        "items": pick.items,
        "rule": pick.rule,
        "tries": pick.tries,
        "right": None if pick.answered is None else pick.is_right,
    }


def breakdown(rows: Sequence[Row], by: Sequence[str]) -> list[Row]:
    """Return the score of each group of questions with its 95% interval; forfeits have columns."""
    for column in by:
        if rows and column not in rows[0]:
            raise unknown("column of questions", column, rows[0])
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in by), []).append(row)
    found: list[Row] = []
    for key in sorted(groups, key=lambda key: tuple((str(type(k)), k) for k in key)):
        given = [row for row in groups[key] if row["right"] is not None]
        share = _share(given)
        found.append(
            dict(zip(by, key, strict=True))
            | {"score": share.value, "interval": share.interval}
            | {"questions": len(given), "forfeits": len(groups[key]) - len(given)}
        )
    return found


def _share(given: Sequence[Row]) -> Estimate:
    """Return the share of right answers in percent, clustered by game."""
    right, played = [100.0 * row["right"] for row in given], [row["episode"] for row in given]
    return mean_by_rule(right, played, (0, 100))
