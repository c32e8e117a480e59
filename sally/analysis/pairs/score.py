"""What a player answered on pairs, and its score: knowing, doing, and acting on its predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from sally.core.log.events import Episode, Forfeited, Moved, Reported, label
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.registry.recipes import find_recipe
from sally.core.rules.game import Seat
from sally.core.rules.pair import PairRecipe, QuestionKind
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import Estimate
from sally.stats.paired_differences import sign_flip_test
from sally.stats.pairs import BOUNDS, PairOutcome, PairScore, outcome_of, score_pairs


class PositionAnswer(msgspec.Struct, frozen=True):
    """What a player answered in one position, with the right answers."""

    player: str
    game: str
    recipe: str
    order: int
    pair: str
    member: int
    cluster: str
    answers: dict[QuestionKind, Any]  # the questions asked; None: the answer was forfeited
    right: dict[QuestionKind, tuple[Any, ...]]
    called_for: tuple[Any, ...] | None  # best moves for the player's own prediction


class AnsweredPair(msgspec.Struct, frozen=True):
    """Both positions of a pair as one player answered them."""

    player: str
    game: str
    recipe: str
    order: int
    pair: str
    cluster: str
    knowing: PairOutcome | None  # None: not asked
    doing: PairOutcome | None
    acting: PairOutcome | None  # moves against own predictions; None if these allow the same move


def read_position(episode: Episode) -> PositionAnswer | None:
    """Return the answers of an episode that is a member of a pair; None if it is not one or has
    no result."""
    position = episode.setup.instance.position
    if not position or not position.pair or episode.payoffs is None:
        return None
    spec = registry.game(episode.setup.instance.game)
    recipe = find_recipe(spec.name, position.recipe)
    game = spec.build(episode.setup.instance.params)
    trajectory = replay_episode(spec, episode)
    turn = len(position.past)
    state = trajectory.states[turn]
    view = game.observe(state, Seat(position.seat))
    truth = recipe.truth(game, state, episode.setup.lineup)
    answers = _answers(recipe, episode)
    if answers.get("do") is not None and spec.action is not int:
        answers["do"] = msgspec.convert(answers["do"], spec.action)  # a log holds plain data
    predicted = answers.get("know")
    return PositionAnswer(
        label(episode.setup.lineup[position.seat]),
        spec.name,
        recipe.name,
        position.order,
        position.pair,
        position.member,
        position.cluster,
        answers,
        {"know": (truth,), "do": tuple(recipe.best_moves(game, view, truth))},
        None if predicted is None else tuple(recipe.best_moves(game, view, predicted)),
    )


def _answers(recipe: PairRecipe, episode: Episode) -> dict[QuestionKind, Any]:
    """Return the answer to each question that was asked; the latest prediction counts."""
    answers: dict[QuestionKind, Any] = {}
    for event in episode.events:
        if isinstance(event, Reported) and event.seat == recipe.seat:
            if recipe.asks_probe(event.probe, event.about):
                answers["know"] = event.value
        elif isinstance(event, Moved) and event.seat == recipe.seat:
            answers["do"] = event.action
        elif isinstance(event, Forfeited) and event.seat == recipe.seat:
            answers["do"] = None
    return answers


def join_pairs(positions: Iterable[PositionAnswer]) -> list[AnsweredPair]:
    """Return the pairs of which both members were answered, by player, in order of appearance."""
    members: dict[tuple[str, str], dict[int, PositionAnswer]] = {}
    for position in positions:
        pair = members.setdefault((position.player, position.pair), {})
        earlier = pair.get(position.member)
        pair[position.member] = position if earlier is None else _merge(earlier, position)
    return [_join(pair[0], pair[1]) for pair in members.values() if len(pair) == 2]


def _merge(earlier: PositionAnswer, later: PositionAnswer) -> PositionAnswer:
    """Return one position whose two questions were asked in separate episodes."""
    return msgspec.structs.replace(
        earlier,
        answers=earlier.answers | later.answers,
        called_for=later.called_for if "know" in later.answers else earlier.called_for,
    )


def _join(first: PositionAnswer, second: PositionAnswer) -> AnsweredPair:
    def outcome(question: QuestionKind) -> PairOutcome | None:
        if question not in first.answers or question not in second.answers:
            return None
        answers = first.answers[question], second.answers[question]
        return outcome_of(answers, (first.right[question], second.right[question]))

    acting = None
    calls = first.called_for, second.called_for
    is_asked = "do" in first.answers and "do" in second.answers
    if is_asked and calls[0] and calls[1] and not set(calls[0]) & set(calls[1]):
        acting = outcome_of((first.answers["do"], second.answers["do"]), (calls[0], calls[1]))
    return AnsweredPair(
        first.player,
        first.game,
        first.recipe,
        first.order,
        first.pair,
        first.cluster,
        outcome("know"),
        outcome("do"),
        acting,
    )


class PlayerScore(msgspec.Struct, frozen=True):
    """The score of one player on a set of pairs."""

    knowing: PairScore | None
    doing: PairScore | None
    acting: PairScore | None
    gap: Estimate | None  # knowing less doing, over pairs
    gap_p: float | None  # sign flips of pairs or clusters
    known_not_done: int | None  # pairs predicted rightly and not played rightly
    done_not_known: int | None
    pairs: int


def score_player(pairs: Sequence[AnsweredPair], seed: int = 1) -> PlayerScore:
    """Return the score of one player on these pairs."""
    outcomes = [(pair.knowing, pair.doing) for pair in pairs if pair.knowing and pair.doing]
    units = _clusters([pair for pair in pairs if pair.knowing and pair.doing])
    differences = [knowing.j - doing.j for knowing, doing in outcomes]
    return PlayerScore(
        _score(pairs, "knowing"),
        _score(pairs, "doing"),
        _score(pairs, "acting"),
        mean_by_rule(differences, units, (2 * BOUNDS[0], 2 * BOUNDS[1])) if outcomes else None,
        sign_flip_test(differences, seed=seed, clusters=units) if outcomes else None,
        _count_right_once(outcomes, 0),
        _count_right_once(outcomes, 1),
        len(pairs),
    )


def _count_right_once(
    outcomes: Sequence[tuple[PairOutcome, PairOutcome]], index: int
) -> int | None:
    """Return the number of pairs that are both right on one question and not on the other."""
    if not outcomes:
        return None
    return sum(pair[index].d == 1 and pair[1 - index].d != 1 for pair in outcomes)


def _score(pairs: Sequence[AnsweredPair], question: str) -> PairScore | None:
    scored = [pair for pair in pairs if getattr(pair, question) is not None]
    if not scored:
        return None
    is_shared = any(pair.cluster for pair in scored)
    outcomes = [getattr(pair, question) for pair in scored]
    return score_pairs(outcomes, _clusters(scored) if is_shared else None)


def _clusters(pairs: Sequence[AnsweredPair]) -> list[str]:
    return [pair.cluster or pair.pair for pair in pairs]
