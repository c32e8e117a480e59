"""Where managers of the locker go wrong: scores by belief, looks, gap and rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sally.analysis.rows import Row, played
from sally.core.errors import unknown
from sally.core.log import Episode, label
from sally.core.metric import Played
from sally.games.pick_the_right_stuff.picks import FAMILY, Pick, picks
from sally.games.pick_the_right_stuff.rules import MANAGER, LockerGame
from sally.stats.intervals import Estimate, clustered_mean_interval, share_interval


def pick_rows(episodes: Iterable[Episode]) -> list[Row]:
    """One row a question: who was asked, what was named, believed and true."""
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
    """Zero, finite or infinite."""
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


def breakdown(rows: Sequence[Row], by: Sequence[str], seed: int = 1) -> list[Row]:
    """The score in each group of questions with its 95% interval, forfeits counted apart."""
    for column in by:
        if rows and column not in rows[0]:
            raise unknown("column of questions", column, rows[0])
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in by), []).append(row)
    found: list[Row] = []
    for key in sorted(groups, key=lambda key: tuple((str(type(k)), k) for k in key)):
        given = [row for row in groups[key] if row["right"] is not None]
        share = _share(given, seed)
        found.append(
            dict(zip(by, key, strict=True))
            | {"score": share.value, "interval": share.interval}
            | {"questions": len(given), "forfeits": len(groups[key]) - len(given)}
        )
    return found


def _share(given: Sequence[Row], seed: int) -> Estimate:
    """The share of right answers in percent.

    Questions of one game hang together, so whole games are drawn anew; where all answers are
    alike such draws know no spread, and the interval is Wilson's with a trial a game.
    """
    right, played = [100.0 * row["right"] for row in given], [row["episode"] for row in given]
    if len(set(right)) > 1:
        return clustered_mean_interval(right, played, seed=seed, method="expanded")
    games = len(set(played))
    share = share_interval(games if any(right) else 0, games)
    value, low, high = (
        None if x is None else 100 * x for x in (share.value, share.low, share.high)
    )
    return Estimate(value, low, high, len(given), share.method)
