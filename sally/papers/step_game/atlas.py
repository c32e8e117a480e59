"""Dots of the atlas figure for the published games of the step race (Mazur 2025), in which three
players talk and then race to a target. Language models and simple rules are scored from 0 (random
moves) to 1 (the best moves in hindsight)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sally.core.rules.metric import Played
from sally.papers.step_game import figures
from sally.papers.step_game.names import model_name
from sally.parts.atlas import FEW_IDS, AtlasColumn, AtlasDot, AtlasSource, estimate_dots

SOURCE, YEAR = "step_game", 2025
LEAST = 5  # games
COLUMNS = {
    "doing_win": AtlasColumn(
        "step race",
        "three seats with talk, published games of models",
        "doing in hindsight, points",
        "random moves",
        "best move in hindsight",
    ),
    "doing_steps": AtlasColumn(
        "step race",
        "three seats with talk, published games of models",
        "doing in hindsight, steps of the turn",
        "random moves",
        "best move in hindsight",
    ),
}


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return a dot of the atlas figure for each model with enough games and for each mindless rule.

    Rules are scored on the turns of all seats.
    """
    seats, ids = list[figures.SeatGame](), dict[str, str]()
    for played in games:
        seats += figures.seat_games([played])
        ids[played.episode.setup.instance.id] = played.episode.id
    return seat_dots(seats, ids)


def seat_dots(seats: Sequence[figures.SeatGame], ids: Mapping[str, str]) -> list[AtlasDot]:
    """Return the dots of seats.

    Args:
        seats: All seats of the imported games.
        ids: Ids of the episodes, by the id of their instance.
    """
    dots: list[AtlasDot] = []
    for metric, column in COLUMNS.items():
        for raw, model_seats in figures.models(seats).items():
            if len(model_seats) < LEAST:
                continue
            name = model_name(raw)
            value = figures.measure(model_seats, metric)
            games = [seat.game for seat in model_seats]
            facts = (sum(len(seat.turns) for seat in model_seats), "turns", len(set(games)), SOURCE)
            shown_ids = [ids[game] for game in games[:FEW_IDS]]
            dots += estimate_dots(
                column, name.label, "model", YEAR, value, *facts, shown_ids, family=name.provider
            )
        turns = sum(len(seat.turns) for seat in seats)
        for rule_name, rule in figures.rules().items():
            value = figures.mindless(seats, rule, metric)
            if value is not None and rule_name != "uniform":  # 0 by definition
                facts = (turns, "turns", value.n, SOURCE)
                shown_ids = list(ids.values())
                dots += estimate_dots(column, rule_name, "rule", None, value, *facts, shown_ids)
    return dots


ATLAS = AtlasSource("step_game", dots_of)
