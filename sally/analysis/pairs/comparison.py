"""Compare two players on the pairs that both answered, pair by pair, on the suite's own scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

import msgspec

from sally.analysis.pairs.evaluation import ALPHA, MOST_UNREADABLE
from sally.analysis.pairs.score import AnsweredPair, join_pairs, read_position
from sally.core.errors import BadInput
from sally.core.log.events import Episode
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate
from sally.stats.multiple_tests import holm_where_known
from sally.stats.paired_differences import sign_flip_test
from sally.stats.pairs import BOUNDS, PairOutcome, mean_of_games

QUESTIONS = ("knowing", "doing")
SEED = 1


class QuestionDifference(msgspec.Struct, frozen=True):
    """The difference of two players in J of one question of one game, over pairs."""

    first: float
    second: float
    difference: Estimate  # second minus first
    p: float | None  # sign flips over pairs, adjusted over games and questions by Holm's method

    @property
    def is_decided(self) -> bool:
        """Whether the difference is beyond chance, at the adjusted level."""
        return self.p is not None and self.p < ALPHA and bool(self.difference.value)


class GameDifference(msgspec.Struct, frozen=True):
    """Two players on the pairs of one game."""

    game: str
    pairs: int
    knowing: QuestionDifference | None  # None: a player's answers could not be read
    doing: QuestionDifference | None


class PairComparison(msgspec.Struct, frozen=True):
    """Two players on the pairs of a suite that both answered."""

    first: str
    second: str
    games: tuple[GameDifference, ...]
    knowing: Estimate | None  # mean difference over games
    doing: Estimate | None
    sentences: tuple[str, ...]


def compare_pairs(
    first: Iterable[Episode],
    second: Iterable[Episode],
    names: tuple[str, str],
    game_of: Callable[[str, str], str | None],
    games: Sequence[str],
) -> PairComparison:
    """Return the differences of two players, on the pairs that both answered.

    Args:
        first: Positions of the first player.
        second: Positions of the second player.
        names: The names of both players.
        game_of: The suite's name of a game and recipe; None if they are not of the suite.
        games: The order of the games.

    Raises:
        BadInput: If there is no such pair.
    """
    sides = _read_pairs(first), _read_pairs(second)
    shared = [id for id in sides[0] if id in sides[1]]
    by_game: dict[str, list[str]] = {game: [] for game in games}
    for id in shared:
        game = game_of(sides[0][id].game, sides[0][id].recipe)
        if game is not None:
            by_game.setdefault(game, []).append(id)
    if not any(by_game.values()):
        raise BadInput("The two evaluations have no pair in common; both need the same suite.")
    differences = [
        GameDifference(
            game, len(ids), _difference(sides, ids, "knowing"), _difference(sides, ids, "doing")
        )
        for game, ids in by_game.items()
        if ids
    ]
    adjusted = _adjust(differences)
    comparison = PairComparison(
        *names, tuple(adjusted), _mean(adjusted, "knowing"), _mean(adjusted, "doing"), ()
    )
    return msgspec.structs.replace(comparison, sentences=tuple(_sentences(comparison)))


def _read_pairs(episodes: Iterable[Episode]) -> dict[str, AnsweredPair]:
    """Return the answered pairs by id; only the arm in which both questions are asked, in the
    game's own words and without injections."""
    positions = []
    for episode in episodes:
        place = episode.setup.instance.position
        if not place or episode.setup.injections:
            continue
        if not episode.setup.lineup[place.seat].params.get("pack"):
            position = read_position(episode)
            if position is not None:
                positions.append(msgspec.structs.replace(position, player=""))
    return {pair.pair: pair for pair in join_pairs(positions)}


def _difference(
    sides: tuple[Mapping[str, AnsweredPair], Mapping[str, AnsweredPair]],
    ids: Sequence[str],
    question: str,
) -> QuestionDifference | None:
    outcomes: list[tuple[PairOutcome, PairOutcome]] = []
    units = []
    for id in ids:
        outcome = getattr(sides[0][id], question)
        other_outcome = getattr(sides[1][id], question)
        if outcome is not None and other_outcome is not None:
            outcomes.append((outcome, other_outcome))
            units.append(sides[0][id].cluster or id)
    for side in (0, 1):
        forfeits = sum(pair[side].forfeits for pair in outcomes)
        if not outcomes or forfeits > MOST_UNREADABLE * 2 * len(outcomes):
            return None
    first_mean, second_mean = (fmean(pair[side].j for pair in outcomes) for side in (0, 1))
    changes = [second.j - first.j for first, second in outcomes]
    bounds = (2 * BOUNDS[0], 2 * BOUNDS[1])
    p = sign_flip_test(changes, seed=SEED, clusters=units)
    return QuestionDifference(first_mean, second_mean, mean_by_rule(changes, units, bounds), p)


def _adjust(games: Sequence[GameDifference]) -> list[GameDifference]:
    """Return the differences with p values adjusted over games and questions."""
    differences = [getattr(game, question) for game in games for question in QUESTIONS]
    p_values = holm_where_known([None if d is None else d.p for d in differences])
    adjusted = iter(
        None if d is None else msgspec.structs.replace(d, p=p)
        for d, p in zip(differences, p_values, strict=True)
    )
    return [
        msgspec.structs.replace(game, knowing=next(adjusted), doing=next(adjusted))
        for game in games
    ]


def _mean(games: Sequence[GameDifference], question: str) -> Estimate | None:
    return mean_of_games([d.difference for d in _differences(games, question)])


def _differences(games: Iterable[GameDifference], question: str) -> list[QuestionDifference]:
    """Return the differences in one question, of the games that have one."""
    return [d for game in games if (d := getattr(game, question)) is not None]


def _sentences(comparison: PairComparison) -> list[str]:
    """Return one sentence on predictions and one on moves."""
    verbs = {"knowing": "predicts", "doing": "moves"}
    sentences = []
    for question, verb in verbs.items():
        differences = _differences(comparison.games, question)
        values = [d.difference.value or 0.0 for d in differences if d.is_decided]
        better, worse = sum(value > 0 for value in values), sum(value < 0 for value in values)
        mean: Estimate | None = getattr(comparison, question)
        text = "blank"
        if mean is not None and mean.value is not None:
            text = f"{mean.value:+.2f}"
            if mean.low is not None and mean.high is not None:
                text += f" [{mean.low:.2f}, {mean.high:.2f}]"
        sentences.append(
            f"{comparison.second} {verb} better than {comparison.first} in {better} of "
            f"{len(differences)} games and worse in {worse} (mean difference {text})."
        )
    return sentences
