"""Does a stated forecast of the other's move cause a player's own move?

An informant says what the other player will pick, and the page says how often the informant is
right; a coin makes the statement true that often. In each position both statements are made, in
separate episodes: the other player picks each of its options once, and the coin is the same. The
page tells nothing else about the pick: each result has occurred once in the rounds before, and the
other player does not react. After the statement a prediction is asked, in a conversation of its
own.

Each game exists with the best reply under the same label as the forecast and under the other one,
so that a player that repeats the label it has read follows the forecast in half of the positions
and does the opposite in the others. Controls: the same sentence about a game between other people,
and a mechanism in place of the other player.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal

from sally.core.log.events import Injection, Instance, PlayerSpec, Position
from sally.core.registry.study import Cell, Study, grid, player_spec
from sally.core.rules.chance import Stream
from sally.core.rules.game import Seat
from sally.players.language import LANGUAGE, OPEN

SEED = 59
POSITIONS = 96  # of each cell; the first ones are balanced over games and labels
RELIABILITIES = (0.2, 0.5, 0.8)
CONTROL = 0.8  # the reliability in the control arms
TOLD, IRRELEVANT, TWIN = "told", "irrelevant", "twin"
STRATEGIES = ("lm", "qa")
SETTINGS = {"temperature": 0.0, "max_tokens": 256}
AGENT, PARTNER, PROBE = Seat("agent"), Seat("partner"), "their_move"
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"

Matrix = Sequence[Sequence[Sequence[float]]]
GAMES: Mapping[str, Matrix] = {  # the best reply has the label of the forecast
    "ibs": [[[10, 7], [0, 0]], [[0, 0], [7, 10]]],
    "stag_hunt": [[[9, 9], [2, 6]], [[6, 2], [6, 6]]],
    "matching_pennies": [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]],
}


def exchange_labels(matrix: Matrix) -> Matrix:
    """Return the same game with the other player's labels exchanged."""
    return [list(reversed(row)) for row in matrix]


def _positions(count: int) -> Iterator[Instance]:
    """Yield positions, games and labels in turn; labels, their order and the rounds are drawn."""
    kinds = [
        (name, is_same, matrix if is_same else exchange_labels(matrix))
        for name, matrix in GAMES.items()
        for is_same in (True, False)
    ]
    for number in range(count):
        name, is_same, matrix = kinds[number % len(kinds)]
        chance = Stream(SEED, "causal_acting", number)
        past = chance.shuffled(list(product((0, 1), repeat=2)))
        params = {
            "matrix": matrix,
            "rounds": len(past) + 1,
            "names": chance.shuffled(LETTERS)[:2],
            "order": chance.shuffled(range(2)),
            "signed": name == "matching_pennies",
        }
        label = "same" if is_same else "other"
        yield Instance(
            f"{name}-{label}-{number:03d}",
            "repeated_games",
            params,
            Position(
                AGENT,
                tuple({AGENT: own_move, PARTNER: other_move} for own_move, other_move in past),
            ),
        )


def cells(players: Sequence[PlayerSpec], count: int = POSITIONS) -> tuple[Cell, ...]:
    """Return the cells with these players; the arm `twin` gives its wording to language players.

    The other player picks each option in an episode of its own.
    """
    positions = tuple(_positions(count))
    others = tuple(player_spec("single_action", action=action) for action in (0, 1))
    conditions = [(TOLD, reliability) for reliability in RELIABILITIES]
    conditions += [(IRRELEVANT, CONTROL), (TWIN, CONTROL)]
    study_cells = []
    for arm, reliability in conditions:
        source: Literal["informant", "informant_elsewhere"] = (
            "informant_elsewhere" if arm == IRRELEVANT else "informant"
        )
        seated = tuple(map(_in_twin, players)) if arm == TWIN else tuple(players)
        study_cells.append(
            Cell(
                f"{arm}, right in {round(10 * reliability)} of 10",
                positions,
                grid(agent=seated, partner=others),
                {AGENT: (PROBE,)},
                (Injection(AGENT, PROBE, source, error=round(1 - reliability, 9)),),
                factors={"arm": arm, "reliability": f"{reliability:g}"},
            )
        )
    return tuple(study_cells)


def _in_twin(player: PlayerSpec) -> PlayerSpec:
    if player.player != LANGUAGE:
        return player
    return player_spec(player.player, **player.params, pack="repeated_games_twin")


STUDY = Study(
    name="causal_acting",
    about="whether a stated forecast of the other's move changes one's own move, by the stated "
    "reliability of the informant",
    cells=cells(
        [
            player_spec(LANGUAGE, model=OPEN, strategy=strategy, settings=SETTINGS)
            for strategy in STRATEGIES
        ]
    ),
    seed=SEED,
)
