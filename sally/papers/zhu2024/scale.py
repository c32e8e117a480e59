"""Scores for doing (gains) and knowing (predictions) against the crowd in one-shot 2x2 games, on
one scale for people and models.

The crowd of a game consists of all recorded people who played its other role. Doing is 0 for a
random choice and 1 for the best reply to the crowd. Knowing is 0 for a random guess and 1 for
always naming the column that most of the crowd chose. Both use the crowd's shares rather than one
draw from them. Rules of thumb are scored on the same games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from sally.core.log.events import Forfeited, Reported
from sally.core.rules.metric import Played
from sally.games.repeated_games.rules import AGENT, PARTNER
from sally.papers.zhu2024 import figures
from sally.papers.zhu2024.reader import KINDS, Floats, Role, canonical, kind_of
from sally.stats.cluster_interval import ratio_by_rule
from sally.stats.intervals import Estimate

ID = "zhu2024"
PEOPLE = "human"  # the player of imported choices
PROBE = "their_move"
ENOUGH = 10**6  # a study leaves out games with a small crowd when it is written


class Scaled(msgspec.Struct, frozen=True):
    """The scores of one player: doing, knowing, and the counts behind them."""

    doing: Estimate
    choices: int
    forfeits: int  # moves that could not be read: in no figure
    clusters: int  # people, or games of a model
    first_row: float  # share of choices of the upper row; people and models saw both orders
    knowing: Estimate | None  # None: the player was not asked
    answers: int
    unread: int  # answers that could not be read: in no figure
    acts_on_it: float | None  # share of choices that are best replies to the predicted column
    table: figures.ChoiceTable
    episodes: tuple[str, ...]


class _Screen(msgspec.Struct, frozen=True):
    """One game as a player saw it: payoffs, the odds of the people in the other role, and what the
    player did and predicted."""

    episode: str
    cluster: str
    role: Role
    own_payoffs: Floats
    other_payoffs: Floats
    odds: Floats
    across: int
    row: int | None
    predicted: int | None
    is_asked: bool


def _screen(played: Played) -> _Screen | None:
    """Return the game of an episode as its player saw it; None if the episode is not a one-shot
    game against recorded people, or if a fault or a limit ended it before the move."""
    setup, replay = played.episode.setup, played.replay
    crowd_player = setup.lineup.get(str(PARTNER))
    params = setup.instance.params
    if crowd_player is None or crowd_player.player != "mixed" or params.get("rounds") != 1:
        return None
    pay = np.array(params["matrix"], float)
    own_pays, other_pays = pay[..., 0], pay[..., 1]
    values = [tuple(int(v) for v in of.reshape(-1)) for of in (own_pays, other_pays)]
    reports = [r for r in played.episode.events if isinstance(r, Reported) and r.probe == PROBE]
    prediction = reports[0].value if reports else None
    is_forfeited = any(isinstance(e, Forfeited) and e.seat == AGENT for e in played.episode.events)
    moved = bool(replay.moves) and AGENT in replay.moves[0]
    if not moved and not is_forfeited:
        return None
    return _Screen(
        played.episode.id,
        setup.instance.id.rpartition(":")[0] or setup.instance.id,
        canonical(values[0], values[1])[0],
        own_pays,
        other_pays,
        np.array(crowd_player.params["odds"], float),
        int(played.episode.used.get("people across", ENOUGH)),
        replay.moves[0][AGENT] if moved and not is_forfeited else None,
        int(prediction) if isinstance(prediction, int) else None,
        bool(reports),
    )


def table_of(screens: Sequence[_Screen]) -> figures.ChoiceTable:
    """Return games as a table of choices, in the form that the functions of `figures` take."""
    own_pays = np.array([s.own_payoffs for s in screens])
    odds = np.array([s.odds for s in screens])
    _, clusters = np.unique([s.cluster for s in screens], return_inverse=True)
    return figures.ChoiceTable(
        clusters,
        np.array([KINDS.index(kind_of(s.role)) for s in screens]),
        np.array([s.row for s in screens]),
        own_pays,
        np.array([s.other_payoffs for s in screens]),
        np.array([s.across for s in screens]),
        np.einsum("nrc,nc->nr", own_pays, odds),
    )


def scale_players(games: Sequence[Played], smallest_crowd: int = 1) -> dict[str, Scaled]:
    """Return the doing and knowing scores of every player of one-shot games against recorded
    people.

    Args:
        games: Imported choices of people, or episodes of a study that
            `sally paper zhu2024 study` wrote.
        smallest_crowd: Games with fewer recorded opponents are left out.
    """
    by_player: dict[str, list[_Screen]] = {}
    for played in games:
        screen = _screen(played)
        if screen is None or screen.across < smallest_crowd:
            continue
        player = played.episode.setup.lineup[str(AGENT)]
        name = str(player.params.get("name") or player.params.get("model") or player.player)
        by_player.setdefault(name, []).append(screen)
    scaled_by_name = {name: _scale_screens(screens) for name, screens in sorted(by_player.items())}
    return {
        name: scaled_player
        for name, scaled_player in scaled_by_name.items()
        if scaled_player is not None
    }


def roles_of(games: Sequence[Played]) -> set[Role]:
    """Return the games that were played, each identified together with the player's role."""
    return {screen.role for played in games if (screen := _screen(played)) is not None}


def _scale_screens(screens: Sequence[_Screen]) -> Scaled | None:
    moved = [s for s in screens if s.row is not None]
    if not moved:
        return None
    table = table_of(moved)
    with_prediction = [s for s in screens if s.predicted is not None]
    with_both = [s for s in moved if s.predicted is not None]
    acted = [
        s.own_payoffs[s.row, s.predicted] >= s.own_payoffs[:, s.predicted].max() for s in with_both
    ]
    n_asked = sum(s.is_asked for s in screens)
    return Scaled(
        figures.doing(table),
        len(moved),
        len(screens) - len(moved),
        len({s.cluster for s in moved}),
        float(np.mean(table.row == 0)),
        knowing(with_prediction) if n_asked else None,
        len(with_prediction),
        n_asked - len(with_prediction),
        float(np.mean(acted)) if acted else None,
        table,
        tuple(s.episode for s in moved),
    )


def knowing(screens: Sequence[_Screen]) -> Estimate | None:
    """Return the score for predictions (knowing): 0 for random guesses, 1 for always predicting the
    choice of the majority in the other role."""
    if not screens:
        return None
    gains = [float(s.odds[s.predicted]) - 0.5 for s in screens]
    best_gains = [float(s.odds.max()) - 0.5 for s in screens]
    return ratio_by_rule(gains, best_gains, [s.cluster for s in screens])


def rules(table: figures.ChoiceTable) -> Mapping[str, Estimate]:
    """Return how much each rule of thumb gains in the games of the table, from 0 (random choice) to
    1 (best choice)."""
    return {name: figures.doing(table, rule) for name, rule in figures.rules(table).items()}
