"""Dots of the atlas figure for recorded repeated games: the decisions of recorded players against
partners with a known rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sally.core.log.events import PlayerSpec
from sally.core.rules.game import Seat
from sally.core.rules.metric import Played
from sally.games.repeated_games.regret import DecisionRegret, decisions_lost
from sally.games.repeated_games.rules import AGENT, PARTNER, RepeatedGame, other_seat
from sally.parts.atlas import AtlasColumn, AtlasDot, AtlasKind, estimate_dots
from sally.parts.importers import HUMAN, RECORDED
from sally.stats.cluster_interval import ratio_by_rule

TITLES = {
    "ipd": "prisoner's dilemma, repeated",
    "ibs": "battle of the sexes, repeated",
    "rps": "rock, paper, scissors, repeated",
}
LEAST = 5  # decisions


def decision_dots(
    games: Sequence[Played], source: str, years: Mapping[str, int], people: int | None = None
) -> list[AtlasDot]:
    """Return the dots of the atlas figure for recorded players against scripted partners that are
    finite automata.

    A dot is one player with one partner, because records rarely pair every player with every
    partner. Clusters are people or, if no person played, games.

    Args:
        games: Imported episodes of a record.
        source: The record.
        years: The year of each recorded model.
        people: The year shown for human players.
    """
    regrets_by_dot: dict[tuple[AtlasColumn, str, str], list[tuple[DecisionRegret, str, str]]] = {}
    for played in games:
        setup, game = played.episode.setup, played.replay.game
        if setup.instance.game not in TITLES or not isinstance(game, RepeatedGame):
            continue
        for seat in (AGENT, PARTNER):
            player = setup.lineup[str(seat)]
            if player.player != RECORDED or (regret := _regret_of(played, seat)) is None:
                continue
            column, partner = (
                _column(setup.instance.game, game),
                setup.lineup[str(other_seat(seat))],
            )
            cluster = str(player.params.get("participant") or played.episode.id)
            name = str(player.params["name"])
            key = column, name, _partner_name(partner)
            regrets_by_dot.setdefault(key, []).append((regret, cluster, played.episode.id))
    dots: list[AtlasDot] = []
    for (column, name, partner_name), rows in regrets_by_dot.items():
        n = sum(regret.decisions for regret, _, _ in rows)
        clusters = [cluster for _, cluster, _ in rows]
        value = ratio_by_rule(
            [regret.at_random - regret.loss for regret, _, _ in rows],
            [regret.at_random for regret, _, _ in rows],
            clusters,
        )
        if n < LEAST:
            continue
        kind: AtlasKind = "people" if name == HUMAN else "model"
        year = people if name == HUMAN else years.get(name)
        label = f"{'people' if name == HUMAN else name}, {partner_name}"
        facts = (n, "decisions", len(set(clusters)), source, [id for _, _, id in rows])
        dots += estimate_dots(column, label, kind, year, value, *facts)
    return dots


def _regret_of(played: Played, seat: Seat) -> DecisionRegret | None:
    regret = decisions_lost(played, seat)
    return regret if regret is not None and regret.decisions and regret.at_random > 0 else None


def _partner_name(partner: PlayerSpec) -> str:
    params = [str(v) for k, v in partner.params.items() if k != "name"]
    return " ".join([partner.player.replace("_", " "), *params])


def _column(name: str, game: RepeatedGame) -> AtlasColumn:
    return AtlasColumn(
        TITLES[name],
        f"{game.rounds} rounds, by declared bot",
        "doing of single decisions",
        "even odds at the same states",
        "optimal play",
    )
