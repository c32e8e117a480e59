"""Tables of appendix_a: baselines are computed here; figures of models come from episodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sally.analysis.episodes.paper_store import Conditions, Known, same_model
from sally.core.log.events import Instance, Setup
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.frames.replays import replay_for_measures as replay
from sally.output.tables.layout import Column, Layout, Stub
from sally.output.tables.reproduce import Effort, Engine
from sally.papers.appendix_a.study import GIVERS, partners_of, players_of
from sally.runner.local import play
from sally.runner.seating import resolve_setup
from sally.stats.cluster_interval import lone_by_rule
from sally.stats.intervals import Estimate

MEASURES = ("points", "regret", "regret_first", "regret_last")
MOST_ROWS = 10  # rows of a frozen set in a cell; each is ten rounds, or three boards


@lru_cache(maxsize=64)
def episodes(game: str, partner: str, giver: str, rows: int, seed: int) -> tuple[Played, ...]:
    """Return the episodes of bots on the first `rows` problems of a game's stored set."""
    lineup = {GIVERS[game]: players_of(game)[giver], "guesser": partners_of(game)[partner]}
    games = []
    for number in range(rows):
        instance = Instance(f"{game} {number:03d}", game, {"number": number})
        games.append(replay(play(resolve_setup(Setup(instance, seed, lineup)))))
    return tuple(games)


def _mean(game: str, metric: str, played: Sequence[Played]) -> Estimate | None:
    measured = registry.metrics(game)[f"{game}_{metric}"]
    values = [measured.measure(game_played, Seat(GIVERS[game])) for game_played in played]
    known_values = [value for value in values if value is not None]
    return lone_by_rule(known_values, measured.ends) if known_values else None


def computes(row: Conditions, metric: str, effort: Effort) -> Estimate | None:
    """Return a table value that needs no language model; None for all other values."""
    game, giver = str(row.get("game")), str(row.get("model"))
    if game not in GIVERS or giver not in players_of(game):
        return None
    rows = min(effort.repeats, MOST_ROWS)
    played = episodes(game, str(row["partner"]), giver, rows, effort.seed)
    return _mean(game, metric, played)


def facts(played: Played) -> Conditions | None:
    """Return the conditions of an episode in which a model gives clues to one of the tables'
    partners; None for any other episode."""
    game, lineup = played.episode.setup.instance.game, played.episode.setup.lineup
    if game not in GIVERS or lineup[GIVERS[game]].player != "language":
        return None
    across = lineup["guesser"]
    for name, partner in partners_of(game).items():
        params = dict(resolved_params(game, partner.player), **partner.params)
        if (across.player, resolved_params(game, across.player) | across.params) == (
            partner.player,
            params,
        ):
            model = str(lineup[GIVERS[game]].params.get("model"))
            return {"game": game, "partner": name, "model": model}
    return None


def resolved_params(game: str, player: str) -> dict[str, object]:
    """Return a partner's parameters with its defaults filled in."""
    partner = registry.partners(game).get(player)
    return dict(partner.params) if partner else {}


def tabulates(row: Conditions, metric: str, games: Known, model: str | None) -> Estimate | None:
    """Return the mean of a model's episodes with one partner."""
    model_name = model or str(row.get("model"))
    game = str(row.get("game"))
    fitting = [
        played
        for fact, played in games
        if (fact["game"], fact["partner"]) == (game, row.get("partner"))
        and same_model(str(fact["model"]), model_name)
    ]
    return _mean(game, metric, fitting) if fitting and metric in MEASURES else None


def cannot(row: Conditions, metric: str) -> str | None:
    """Return why a published value cannot be compared with ours (the rules of its game differ);
    None if it can."""
    return "its rules differ from ours" if "work" in row else None


def _lines(game: str) -> Sequence[tuple[Conditions, str]]:
    return [
        ({"game": game, "partner": partner, "model": giver}, metric)
        for partner in partners_of(game)
        for giver in players_of(game)
        for metric in MEASURES
    ]


LAYOUT = Layout(
    ("partner", "model"),
    (
        Stub("Partner", lambda row: str(row["partner"])),
        Stub("Clues by", lambda row: str(row["model"])),
    ),
    tuple(Column(metric.replace("_", ", "), metric, {}, places=2) for metric in MEASURES),
)

ENGINE = Engine(
    computes,
    {},
    Seat("giver"),
    facts,
    of_setup=True,
    tabulates=tabulates,
    cannot=cannot,
    layouts=dict.fromkeys(GIVERS, LAYOUT),
    beside={game: _lines(game) for game in GIVERS},
)
