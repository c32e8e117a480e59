"""The suite Sally-2: certified pairs of positions in many games, frozen, in three nested sizes.

Both members of a pair look alike to a player that does not use the fact in which they differ; its
score is 0 in every game. In the arm `asked` every position asks a prediction and a move, in
separate conversations. From size M on, the first pairs of every game are also played in four other
arms: together (the own prediction is shown before the move), told (a prediction that is true or
false by a coin is stated before the move), reworded, and twin (a mechanism in place of a mind).

The pairs are stored in `records/sally_2`, written by `benchmarks/sally_2.py freeze`; a change to
any of them makes another suite. Their seed is used nowhere else: `practice_pairs` draws others.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Literal, get_args

import msgspec

from sally.core.errors import BadInput, unknown
from sally.core.log.events import Injection, PlayerSpec
from sally.core.registry.recipes import find_recipe
from sally.core.registry.study import Cell, Study, player_spec
from sally.core.rules.game import Seat
from sally.core.rules.pair import Pair, draw_pair
from sally.frames.labels import tags_of
from sally.players.language import LANGUAGE, OPEN
from sally.players.pair_reasoner import REASONER

VERSION = 1
NAME = "sally_2"
SEED = 1  # of the study: chance of bots and of told predictions
PAIR_SEED, PRACTICE_SEED = 20_262, 10_262  # of the recipes
SETTINGS = {"temperature": 0.0, "max_tokens": 1024}
Size = Literal["S", "M", "L"]
SIZE_NAMES: tuple[Size, ...] = get_args(Size)
ASKED, TOGETHER, TOLD, REWORDED, TWIN = "asked", "together", "told", "reworded", "twin"
ARMS = (ASKED, TOGETHER, TOLD, REWORDED, TWIN)
PAIRS_OF_ARM: Mapping[Size, int] = {"S": 0, "M": 20, "L": 100}  # per game, in each other arm
QUESTIONS_ASKED = 2  # in each position: a prediction and a move


class Row(msgspec.Struct, frozen=True):
    """One game of the suite: the kinds of its pairs, which take turns, and how many there are."""

    name: str
    game: str
    kinds: tuple[tuple[str, int], ...]  # recipe and order
    small: int = 24  # pairs at size S
    skins: tuple[str, ...] = ("formal",)  # of the reworded arm, in turn

    def count(self, size: Size) -> int:
        """Return the number of pairs at a size."""
        return {"S": self.small, "M": 100, "L": 400}[size]


# A game with two options needs more pairs to find a player that knows 2 of 5 of them.
ROWS: tuple[Row, ...] = (
    Row("rps", "rps", (("rps", 1), ("rps", 2))),
    Row("ibs", "ibs", (("ibs", 1), ("ibs", 2)), 28),
    Row("stag_hunt", "repeated_games", (("stag_hunt", 1), ("stag_hunt", 2)), 28),
    Row("eleven_twenty", "eleven_twenty", (("notes", 1), ("notes", 2))),
    Row("battery", "battery", tuple(("watched", order) for order in range(1, 5))),
    Row("toma_po", "toma_po", tuple(("tasks", order) for order in (1, 2, 3))),
    Row("toma_mg", "toma_mg", (("places", 2), ("places", 3))),
    Row("mindgames", "mindgames", (("knows", 1), ("likes", 1))),
    Row("bargaining", "bargaining", (("haggler", 1), ("haggler", 2))),
    Row("pick_the_right_stuff", "pick_the_right_stuff", (("zero", 1), ("finite", 1))),
)
GAMES = tuple(row.name for row in ROWS)
TABLES = "sally_2_tables.json"  # written by benchmarks/dull_players.py
SHORT_RULES = "sally_2_rules.json"  # written by benchmarks/pair_rules.py


def row_named(name: str) -> Row:
    """Return a game of the suite.

    Raises:
        BadInput: If there is none of that name.
    """
    for row in ROWS:
        if row.name == name:
            return row
    raise unknown(f"game of {NAME}", name, GAMES)


def row_of(game: str, recipe: str) -> Row | None:
    """Return the game of the suite to which a recipe belongs."""
    for row in ROWS:
        if row.game == game and any(recipe == kind for kind, _ in row.kinds):
            return row
    return None


def game_of(game: str, recipe: str) -> str | None:
    """Return the suite's name of a game and recipe; None if they are not of the suite."""
    row = row_of(game, recipe)
    return row.name if row else None


class TableScore(msgspec.Struct, frozen=True):
    """The score of the best table of what followed, or short rule, on the pairs of a game."""

    table: str
    j: float  # of its predictions
    low: float
    high: float
    pairs: int


@cache
def table_scores() -> Mapping[str, TableScore]:
    """Return how well tables of what followed each move, pair of moves or case predict, by game;
    games in which nothing was played before are left out."""
    file = files("sally.studies.records") / TABLES
    return msgspec.json.decode(file.read_bytes(), type=dict[str, TableScore])


def solved_by_tables() -> tuple[str, ...]:
    """Return the games whose pairs tell nothing about minds, because a table predicts in them."""
    return tuple(game for game, score in table_scores().items() if score.low > 0)


@cache
def rule_scores() -> Mapping[str, Mapping[int, TableScore]]:
    """Return how well the best short rule predicts, by game and order; games that tables solve, and
    orders that certify nothing, were not searched."""
    file = files("sally.studies.records") / SHORT_RULES
    return msgspec.json.decode(file.read_bytes(), type=dict[str, dict[int, TableScore]])


def certifying_orders(lowest_order: int) -> Mapping[str, tuple[int, ...]]:
    """Return, by game, the orders from `lowest_order` on whose pairs no table and no short rule
    solves; games without such an order are left out."""
    orders = {
        row.name: tuple(
            order for _, order in row.kinds if order >= lowest_order and _certifies(row, order)
        )
        for row in ROWS
    }
    return {game: game_orders for game, game_orders in orders.items() if game_orders}


def _certifies(row: Row, order: int) -> bool:
    score = rule_scores().get(row.name, {}).get(order)
    return row.name not in solved_by_tables() and score is not None and score.low <= 0


# --- pairs ----------------------------------------------------------------------------------------


def drawn_pairs(row: Row, seed: int) -> Iterator[Pair]:
    """Yield pairs of a game without end, its kinds in turn."""
    number = 0
    while True:
        for recipe, order in row.kinds:
            yield draw_pair(find_recipe(row.game, recipe), order, seed, number)
        number += 1


def practice_pairs(game: str, count: int) -> list[Pair]:
    """Return pairs of a game that are not in the suite, for training and trials."""
    return list(islice(drawn_pairs(row_named(game), PRACTICE_SEED), count))


@cache
def frozen_pairs(game: str) -> tuple[Pair, ...]:
    """Return all pairs of a game of the suite; a smaller size uses the first ones."""
    return msgspec.json.decode(_frozen_text(game), type=tuple[Pair, ...])


def _frozen_text(game: str) -> bytes:
    """Return the pairs of a game as JSON."""
    file = files("sally.studies.records") / NAME / f"{row_named(game).name}.json.gz"
    return gzip.decompress(file.read_bytes())


# --- the study ------------------------------------------------------------------------------------


def suite(size: Size = "S", games: Sequence[str] = GAMES) -> Study:
    """Return the suite in one size, with its seats open for a model.

    Raises:
        BadInput: If the size or a game is unknown.
    """
    if size not in SIZE_NAMES:
        raise BadInput(f"The sizes of {NAME} are S, M and L, not {size!r}.")
    cells = [cell for game in games for cell in _cells(row_named(game), size)]
    about = f"the suite Sally-2, size {size}: certified pairs in {len(games)} games"
    tags = {"suite": NAME, "size": size}
    return Study(name=NAME, about=about, cells=tuple(cells), seed=SEED, tags=tags)


def size_of(study: Study) -> Size | None:
    """Return the suite size of a study; None if the study is not a size of the suite."""
    tags = tags_of(study)
    is_suite = study.name == tags.get("suite") == NAME
    return next((size for size in SIZE_NAMES if is_suite and size == tags.get("size")), None)


def pilot_suite(games: Sequence[str] = GAMES, pairs: int = 2) -> Study:
    """Return a few pairs of every arm, from which the calls of each size are estimated."""
    cells = []
    for row in map(row_named, games):
        texts = msgspec.json.decode(_frozen_text(row.name), type=tuple[msgspec.Raw, ...])
        sample = [
            msgspec.json.decode(text, type=Pair) for text in texts[:: len(texts) // pairs][:pairs]
        ]
        cells += [_cell(row, arm, sample) for arm in ARMS]
    return Study(name=NAME, about="pilot pairs of Sally-2", cells=tuple(cells), seed=SEED)


def count_positions(cell: Cell, size: Size) -> int:
    """Return how many positions a cell of `pilot_suite` has in the suite at a size."""
    game, _, arm = cell.name.partition(": ")
    pairs = row_named(game).count(size)
    return 2 * (pairs if arm == ASKED else min(pairs, PAIRS_OF_ARM[size]))


def _cells(row: Row, size: Size) -> Iterator[Cell]:
    pairs = frozen_pairs(row.name)[: row.count(size)]
    yield _cell(row, ASKED, pairs)
    in_arms = pairs[: PAIRS_OF_ARM[size]]
    if in_arms:
        for arm in ARMS[1:]:
            yield _cell(row, arm, in_arms)


def _cell(row: Row, arm: str, pairs: Sequence[Pair]) -> Cell:
    recipe = find_recipe(row.game, row.kinds[0][0])
    seat, probe = Seat(recipe.seat), recipe.probe
    instances, lineups = [], []
    for number, pair in enumerate(pairs):
        player = model_player(_pack(row, arm, number))
        for member in (0, 1):
            instances.append(pair.instance(member, "do" if arm == TOLD else "both"))
            lineups.append({seat: player, **pair.members[member].others})
    injections = {
        TOGETHER: (Injection(seat, probe, "own"),),
        TOLD: (Injection(seat, probe, "truth", error=0.5),),
    }
    return Cell(
        f"{row.name}: {arm}",
        tuple(instances),
        tuple(lineups),
        {} if arm == TOLD else {seat: (probe,)},
        injections.get(arm, ()),
        paired=True,
        factors={"arm": arm},
    )


def _pack(row: Row, arm: str, number: int) -> str:
    from sally.core.registry import registry

    if arm not in (REWORDED, TWIN):
        return ""
    family = registry.family(row.game).name
    return f"{family}_{'twin' if arm == TWIN else row.skins[number % len(row.skins)]}"


# words packs of the suite whose texts were changed after models had been evaluated with them; the
# hash in a reference stands for the text, which a bundle holds
EARLIER_PACKS = frozenset({"level_k_twin@9d5138c1a8b54d9d", "mindgames_twin@2dd08db3b6b30dd9"})


@cache
def current_pack(reference: str) -> str:
    """Return the reference of today's text for an earlier text of a pack; others unchanged."""
    from sally.core.registry import packs

    if reference not in EARLIER_PACKS:
        return reference
    return packs.reference(packs.find(packs.pack_name(reference)))


def model_player(pack: str = "") -> PlayerSpec:
    """Return the seat of a model, still open."""
    params = {"pack": pack} if pack else {}
    return player_spec(LANGUAGE, model=OPEN, strategy="qa", settings=SETTINGS, **params)


# --- bots -----------------------------------------------------------------------------------------


class Bot(msgspec.Struct, frozen=True):
    """A bot of the suite: a mindless player, or a reasoner that knows and acts so often."""

    about: str
    player: str = REASONER
    lower: int = 0  # orders below the one that a pair needs
    knows: float = 1.0
    acts: float = 1.0

    def player_for(self, pair: Pair) -> PlayerSpec:
        """Return the bot as a player of one pair."""
        if self.player != REASONER:
            return player_spec(self.player)
        order = max(pair.order - self.lower, 0)
        return player_spec(
            REASONER, recipe=pair.recipe, order=order, knows=self.knows, acts=self.acts
        )


BOTS: Mapping[str, Bot] = {
    "random": Bot("draws every answer", "random"),
    "constant": Bot("gives the first option of every menu", "constant"),
    "lower_order": Bot("reasons one order too low", lower=1),
    "knows_half": Bot("knows half of the positions, and acts on it", knows=0.5),
    "knows_only": Bot("knows, and moves at random", acts=0.0),
    "acts_half": Bot("knows, and acts on it in half of the positions", acts=0.5),
    "reasoner": Bot("knows, and acts on it"),
}


def bot_suite(name: str, size: Size = "S", games: Sequence[str] = GAMES) -> Study:
    """Return the suite with a bot in the seats of the model; only the arm `asked`, because a bot
    reads no words.

    Raises:
        BadInput: If the bot, the size or a game is unknown.
    """
    if name not in BOTS:
        raise unknown(f"bot of {NAME}", name, BOTS)
    cells = []
    for game in games:
        row = row_named(game)
        pairs = frozen_pairs(row.name)[: row.count(size)]
        cell = _cell(row, ASKED, pairs)
        seat = pairs[0].seat
        lineups = tuple(
            {**lineup, seat: BOTS[name].player_for(pair)}
            for lineup, pair in zip(
                cell.lineups, (pair for pair in pairs for _ in (0, 1)), strict=True
            )
        )
        cells.append(msgspec.structs.replace(cell, lineups=lineups))
    full_suite = suite(size, games)
    about, tags = f"{full_suite.about}; played by the bot {name}", {**full_suite.tags, "bot": name}
    return msgspec.structs.replace(full_suite, cells=tuple(cells), about=about, tags=tags)
