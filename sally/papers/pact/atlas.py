"""Dots of the atlas figure for the published PACT games: how much the models' recorded quotes
gained, from 0 (uniformly random quotes) to 1 (the best quotes in hindsight), and how much the
quotes of simple rules would have gained instead. Each era of the games has its own column."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.rules.metric import Played
from sally.games.bargaining.metrics import table
from sally.games.bargaining.rules import SEATS, other_seat
from sally.papers.pact import findings
from sally.papers.pact.reader import model_name
from sally.parts.atlas import AtlasColumn, AtlasDot, AtlasKind, AtlasSource, estimate_dots

SOURCE = "pact"
LEAST = 5  # seat-games


def seat_games(games: Sequence[Played]) -> list[findings.SeatGame]:
    """Return both seats of every imported game."""
    seats = []
    for played in games:
        episode = played.episode
        names = {seat: str(episode.setup.lineup[seat].params["name"]) for seat in SEATS}
        for seat in SEATS:
            if (seat_episode := table(played, seat)) is None:
                continue
            era = str(episode.used["era"])
            seats.append(
                findings.SeatGame(
                    episode.id, seat, names[seat], names[other_seat(seat)], era, seat_episode
                )
            )
    return seats


def dots_of(games: Sequence[Played]) -> list[AtlasDot]:
    """Return a dot of the atlas figure for each model with enough recorded games (counted by seat),
    and for simple rules applied to the same quotes.

    Eras, which differ in the kind of talk, are separate columns, because models of different eras
    hardly met.
    """
    return seat_dots(seat_games(games))


def seat_dots(seats: Sequence[findings.SeatGame]) -> list[AtlasDot]:
    """Return the dots of seats."""
    dots: list[AtlasDot] = []
    for era in sorted({seat.era for seat in seats}):
        column = AtlasColumn(
            "bargaining",
            f"twenty rounds, {era} talk, published games of models",
            "doing in hindsight",
            "uniform quotes",
            "best quotes in hindsight",
        )
        era_seats = [seat for seat in seats if seat.era == era]
        for raw in sorted({seat.model for seat in era_seats}):
            model_seats = [seat for seat in era_seats if seat.model == raw]
            if len(model_seats) >= LEAST:
                name = model_name(raw)
                label = f"{name.model} ({name.effort})" if name.effort else name.model
                dots += _dot(column, label, model_seats, None, name.provider)
        for habit in findings.HABITS:
            dots += _dot(column, habit, era_seats, habit)
    return dots


def _dot(
    column: AtlasColumn,
    label: str,
    seats: Sequence[findings.SeatGame],
    habit: str | None,
    family: str = "",
) -> list[AtlasDot]:
    """Return the dot of the atlas figure for the recorded quotes or, given a habit (a fixed rule),
    for the quotes that the habit would have made instead."""
    pair = findings.doing if habit is None else findings.mindless(findings.HABITS[habit])
    value = findings.estimate(seats, pair)
    ids = tuple(dict.fromkeys(seat.game for seat in seats))
    kind: AtlasKind = "model" if habit is None else "rule"
    facts = (sum(len(seat.seat_episode.rounds) for seat in seats), "rounds", len(ids), SOURCE, ids)
    # no year: the record spans two years, and few names have one
    return estimate_dots(column, label, kind, None, value, *facts, family=family)


ATLAS = AtlasSource("pact", dots_of)
