"""Evaluate one player on a suite of certified pairs: what it knew, what it did, and the verdict.

All games share one scale: 0 for every player whose answers do not depend on the fact in which the
members of a pair differ, 1 for a perfect one. So there is a mean over games, with equal weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean

import msgspec

from sally.analysis.call_totals import CallTotals, total_calls
from sally.analysis.pairs.score import (
    AnsweredPair,
    PositionAnswer,
    join_pairs,
    read_position,
    score_player,
)
from sally.analysis.unreadable_answers import UnreadableAnswers, count_unreadable
from sally.core.log.events import Episode, Event, Told
from sally.frames.measured_seat import person_of
from sally.frames.rows import usage_of
from sally.stats.cluster_interval import gap_by_rule, mean_by_rule
from sally.stats.intervals import Estimate
from sally.stats.multiple_tests import holm_where_known
from sally.stats.paired_differences import sign_flip_test
from sally.stats.pairs import BOUNDS, PairOutcome, PairScore, mean_of_games

ALPHA = 0.05
MOST_UNREADABLE = 0.5  # share of answers that cannot be read, above which a score is blank
ASKED, TOGETHER = "asked", "together"


class GamePairs(msgspec.Struct, frozen=True):
    """The results of one game of the suite."""

    game: str
    pairs: int
    knowing: PairScore | None  # None: too few answers could be read
    doing: PairScore | None
    acting: PairScore | None
    knowing_p: float | None  # J above 0 by sign flips over pairs, adjusted by Holm's method
    doing_p: float | None
    known: int | None  # pairs predicted rightly in both members
    known_not_done: int | None
    done_not_known: int | None
    order: int | None  # the highest order reached by predictions, with all lower ones
    orders: dict[int, Estimate]  # J of predictions by order
    answers: int
    unreadable: int
    gap: Estimate | None = None  # knowing less doing, over pairs that have both

    @property
    def tells_apart(self) -> bool:
        """Whether its predictions use the difference: J above 0, at the adjusted level."""
        return _is_found(self.knowing, self.knowing_p)

    @property
    def acts_apart(self) -> bool:
        """Whether its moves use the difference."""
        return _is_found(self.doing, self.doing_p)


class ArmEffect(msgspec.Struct, frozen=True):
    """The mean difference that an arm makes over games, on the pairs that were played in both."""

    arm: str
    measure: str
    difference: Estimate | None
    pairs: int


class PersonScore(msgspec.Struct, frozen=True):
    """The scores of one participant: means of J over games with equal weights."""

    participant: str
    pairs: int
    knowing: float | None
    doing: float | None
    same_twice: float | None  # share of pairs with the same move in both positions


class PairEvaluation(msgspec.Struct, frozen=True):
    """All results of one player on a suite of pairs."""

    player: str
    suite: str
    size: str
    episodes: int
    planned: int
    games: tuple[GamePairs, ...]
    knowing: Estimate | None  # means over games
    doing: Estimate | None
    acting: Estimate | None
    arms: tuple[ArmEffect, ...]
    calls: CallTotals
    unreadable: UnreadableAnswers
    sentences: tuple[str, ...]
    people: tuple[PersonScore, ...] = ()  # empty: the player is a model or a bot
    gap: Estimate | None = None  # the mean over games of knowing less doing
    d_knowing: Estimate | None = None  # means over games of D, the strict form of J
    d_doing: Estimate | None = None
    # means over all planned pairs; a missing pair counts as answered crosswise, the least there is
    knowing_all_planned: float | None = None
    doing_all_planned: float | None = None
    answered_as: tuple[str, ...] = ()  # other names of the model in the server's replies

    @property
    def is_complete(self) -> bool:
        return self.episodes >= self.planned

    @property
    def is_readable(self) -> bool:
        """Whether at least one game has a score."""
        return any(game.knowing or game.doing for game in self.games)


def _is_found(score: PairScore | None, p: float | None) -> bool:
    return bool(score and score.j.value and score.j.value > 0 and p is not None and p < ALPHA)


def evaluate_pairs(
    episodes: Iterable[Episode],
    *,
    player: str,
    suite: str,
    size: str,
    planned: int,
    game_of: Callable[[str, str], str | None],
    arms: Mapping[str, str],
    games: Sequence[str],
    planned_pairs: Mapping[str, int] | None = None,
) -> PairEvaluation:
    """Return the evaluation of the player of these episodes.

    People count as one player. With several of them, they are the units of all intervals and
    tests, because each of them answers many pairs.

    Args:
        episodes: Positions of the suite.
        player: The name that is shown.
        suite: Name and version of the suite.
        size: Size of the suite.
        planned: How many episodes the size has.
        game_of: The suite's name of a game and recipe; None if they are not of the suite.
        arms: The arm of each cell, by the cell's name.
        games: The order of the games.
        planned_pairs: Pairs of each game in the arm `asked`; None: unknown.
    """
    every_episode = list(episodes)
    is_several = len({participant_of(episode) for episode in every_episode}) > 1
    records = pair_records(every_episode, player=player, game_of=game_of, arms=arms)
    finished = (episode for episode in every_episode if episode.payoffs is not None)
    probed = (episode for episode in finished if arms[episode.cell] == ASKED)
    summary = summarize_records(records, games)
    means = summary.means
    people = _score_people(_by_game(records, games))
    if is_several:
        means = dict.fromkeys(means)
        means |= {name: _mean_of_people(people, name) for name in ("knowing", "doing")}
    evaluation = PairEvaluation(
        player,
        suite,
        size,
        len(every_episode),
        planned,
        summary.games,
        means["knowing"],
        means["doing"],
        means["acting"],
        summary.arms,
        total_calls(usage for episode in every_episode for usage in usage_of(episode).values()),
        count_unreadable(_answers(probed)),
        (),
        people,
        means["gap"],
        means["d_knowing"],
        means["d_doing"],
        _mean_of_all_planned(_by_game(records, games), planned_pairs, "knowing"),
        _mean_of_all_planned(_by_game(records, games), planned_pairs, "doing"),
    )
    return msgspec.structs.replace(evaluation, sentences=tuple(verdict(evaluation)))


# --- from episodes to records ---------------------------------------------------------------------


class StatedMove(msgspec.Struct, frozen=True):
    """A move after a stated prediction: whether the statement was true, and the move right."""

    pair: str
    is_true: bool
    is_right: bool


class PairRecord(msgspec.Struct, frozen=True):
    """What a player answered on one pair in one arm, as plain data."""

    arm: str
    game: str  # the suite's name of the game
    positions: int  # members that were answered
    pair: AnsweredPair | None  # None: a member is missing
    stated: tuple[StatedMove, ...] = ()
    moves: tuple[tuple[int, str], ...] = ()  # member and move as JSON; without forfeits


class RecordSummary(msgspec.Struct, frozen=True):
    """The results that records determine."""

    games: tuple[GamePairs, ...]
    means: dict[str, Estimate | None]  # over games, with `gap` and `d_...`
    arms: tuple[ArmEffect, ...]


def pair_records(
    episodes: Iterable[Episode],
    *,
    player: str,
    game_of: Callable[[str, str], str | None],
    arms: Mapping[str, str],
) -> list[PairRecord]:
    """Return a record for every arm and pair of these episodes, in order of arm and pair.

    The order makes results independent of the order in which positions were finished.
    """
    every_episode = list(episodes)
    is_several = len({participant_of(episode) for episode in every_episode}) > 1
    members: dict[tuple[str, str], list[tuple[Episode, PositionAnswer]]] = {}
    names: dict[str, str] = {}
    for episode in every_episode:
        position = read_position(episode)
        if position is None or (game := game_of(position.game, position.recipe)) is None:
            continue
        position = msgspec.structs.replace(position, player=player)
        if participant := participant_of(episode):
            position = _of_participant(position, participant, is_several)
        names[position.pair] = game
        key = arms[episode.cell], position.pair
        members.setdefault(key, []).append((episode, position))
    records = []
    for (arm, id), answered in sorted(members.items(), key=lambda item: item[0]):
        pairs = join_pairs(position for _, position in answered)
        stated = tuple(
            StatedMove(
                id,
                value in position.right["know"],
                position.answers["do"] in position.right["do"],
            )
            for episode, position in answered
            if (value := _told_value(episode)) is not None and "do" in position.answers
        )
        records.append(
            PairRecord(
                arm, names[id], len(answered), pairs[0] if pairs else None, stated, _moves(answered)
            )
        )
    return records


def _moves(answered: Iterable[tuple[Episode, PositionAnswer]]) -> tuple[tuple[int, str], ...]:
    return tuple(
        (position.member, msgspec.json.encode(move).decode())
        for _, position in answered
        if (move := position.answers.get("do")) is not None
    )


def summarize_records(records: Sequence[PairRecord], games: Sequence[str]) -> RecordSummary:
    """Return the results of the records of one player; `games` is the order of the games."""
    by_game = _by_game(records, games)
    results = _adjust([_result(game, group) for game, group in by_game.items() if group])
    means = {question: _mean(results, question) for question in ("knowing", "doing", "acting")}
    means["gap"] = mean_of_games([result.gap for result in results if result.gap is not None])
    for question in ("knowing", "doing"):
        scores = [score for result in results if (score := getattr(result, question)) is not None]
        means[f"d_{question}"] = mean_of_games([score.d for score in scores])
    return RecordSummary(tuple(results), means, tuple(_arm_effects(records)))


def _by_game(records: Sequence[PairRecord], games: Sequence[str]) -> dict[str, list[AnsweredPair]]:
    """Return the pairs of the arm `asked`, by game."""
    by_game: dict[str, list[AnsweredPair]] = {game: [] for game in games}
    for record in records:
        if record.arm == ASKED and record.pair is not None:
            by_game.setdefault(record.game, []).append(record.pair)
    return by_game


def _result(game: str, pairs: Sequence[AnsweredPair]) -> GamePairs:
    score = score_player(pairs)
    orders = {
        order: _predictions([pair for pair in pairs if pair.order == order])
        for order in sorted({pair.order for pair in pairs})
    }
    unreadable = sum(
        question.forfeits
        for pair in pairs
        for question in (pair.knowing, pair.doing)
        if question is not None
    )
    is_known = [pair for pair in pairs if pair.knowing is not None and pair.knowing.d == 1]
    return GamePairs(
        game,
        len(pairs),
        _readable(score.knowing),
        _readable(score.doing),
        _readable(score.acting),
        _j_test(pairs, "knowing"),
        _j_test(pairs, "doing"),
        len(is_known) if _readable(score.knowing) else None,
        score.known_not_done,
        score.done_not_known,
        _order_reached(pairs),
        {order: score.j for order, score in orders.items() if score is not None},
        2 * sum((pair.knowing is not None) + (pair.doing is not None) for pair in pairs),
        unreadable,
        score.gap if _readable(score.knowing) and _readable(score.doing) else None,
    )


def _readable(score: PairScore | None) -> PairScore | None:
    """Return the score, or None if too few of its answers could be read."""
    if score is None or score.forfeits > MOST_UNREADABLE * 2 * score.pairs:
        return None
    return score


def _predictions(pairs: Sequence[AnsweredPair]) -> PairScore | None:
    return _readable(score_player(pairs).knowing)


def _order_reached(pairs: Sequence[AnsweredPair]) -> int | None:
    """Return the highest order whose J of predictions is above 0, as in all lower orders."""
    reached = None
    for order in sorted({pair.order for pair in pairs}):
        p = _j_test([pair for pair in pairs if pair.order == order], "knowing")
        if p is None or p >= ALPHA:
            break
        reached = order
    return reached


def _j_test(pairs: Sequence[AnsweredPair], question: str) -> float | None:
    """Return the one-sided p value of J above 0, by sign flips over pairs or clusters."""
    scored: list[tuple[PairOutcome, str]] = []
    for pair in pairs:
        outcome: PairOutcome | None = getattr(pair, question)
        if outcome is not None:
            scored.append((outcome, pair.cluster or pair.pair))
    if not scored:
        return None
    values = [outcome.j for outcome, _ in scored]
    two_sided = sign_flip_test(values, seed=1, clusters=[unit for _, unit in scored])
    if two_sided is None:
        return None
    return two_sided / 2 if sum(values) > 0 else 1 - two_sided / 2


def _adjust(results: list[GamePairs]) -> list[GamePairs]:
    """Return the results with p values adjusted over games by Holm's method."""
    knowing = holm_where_known([result.knowing_p if result.knowing else None for result in results])
    doing = holm_where_known([result.doing_p if result.doing else None for result in results])
    return [
        msgspec.structs.replace(result, knowing_p=knowing[index], doing_p=doing[index])
        for index, result in enumerate(results)
    ]


def _mean(results: Sequence[GamePairs], question: str) -> Estimate | None:
    scores = [score for result in results if (score := getattr(result, question)) is not None]
    return mean_of_games([score.j for score in scores])


def _mean_of_all_planned(
    by_game: Mapping[str, Sequence[AnsweredPair]],
    planned_pairs: Mapping[str, int] | None,
    question: str,
) -> float | None:
    """Return the mean over games of J, where each planned pair that is missing counts as -1.

    Crosswise pairs lower J, so a player cannot gain by leaving pairs out.
    """
    if not planned_pairs:
        return None
    means = []
    for game, planned in planned_pairs.items():
        pairs = by_game.get(game, ())
        answered = [outcome.j for pair in pairs if (outcome := getattr(pair, question)) is not None]
        means.append((sum(answered) - (planned - len(answered))) / planned)
    return fmean(means)


# --- people ---------------------------------------------------------------------------------------


def participant_of(episode: Episode) -> str:
    """Return the participant in the seat that is asked; "" for a model or a bot."""
    position = episode.setup.instance.position
    return person_of(episode.setup, position.seat) if position else ""


def _of_participant(position: PositionAnswer, participant: str, is_several: bool) -> PositionAnswer:
    """Return a position as that of one participant, so that pairs of others do not mix with it."""
    cluster = participant if is_several else position.cluster
    return msgspec.structs.replace(position, pair=f"{participant} {position.pair}", cluster=cluster)


def _score_people(by_game: Mapping[str, Sequence[AnsweredPair]]) -> tuple[PersonScore, ...]:
    by_person: dict[str, dict[str, list[AnsweredPair]]] = {}
    for game, pairs in by_game.items():
        for pair in pairs:
            participant, separator, _ = pair.pair.partition(" ")
            if separator:
                by_person.setdefault(participant, {}).setdefault(game, []).append(pair)
    games = sum(bool(pairs) for pairs in by_game.values())
    return tuple(
        PersonScore(
            participant,
            sum(map(len, groups.values())),
            _person_mean(groups, "knowing", games),
            _person_mean(groups, "doing", games),
            _same_moves([pair for group in groups.values() for pair in group]),
        )
        for participant, groups in by_person.items()
    )


def _person_mean(
    groups: Mapping[str, Sequence[AnsweredPair]], question: str, games: int
) -> float | None:
    """Return the mean of J over games; None if the person did not answer a pair of each game."""
    means = []
    for pairs in groups.values():
        outcomes = [outcome for pair in pairs if (outcome := getattr(pair, question)) is not None]
        if outcomes:
            means.append(fmean(outcome.j for outcome in outcomes))
    return fmean(means) if len(means) == games else None


def _same_moves(pairs: Sequence[AnsweredPair]) -> float | None:
    moves = [pair.doing for pair in pairs if pair.doing is not None]
    return fmean(outcome.is_same for outcome in moves) if moves else None


def _mean_of_people(people: Sequence[PersonScore], question: str) -> Estimate | None:
    scored = [person for person in people if getattr(person, question) is not None]
    if not scored:
        return None
    values = [getattr(person, question) for person in scored]
    return mean_by_rule(values, [person.participant for person in scored], BOUNDS)


# --- arms -----------------------------------------------------------------------------------------


def _arm_effects(records: Sequence[PairRecord]) -> Iterable[ArmEffect]:
    base = {r.pair.pair: r.pair for r in records if r.arm == ASKED and r.pair is not None}
    for arm in dict.fromkeys(record.arm for record in records if record.arm != ASKED):
        members = [record for record in records if record.arm == arm]
        if any(record.stated for record in members):
            yield _stated_effect(arm, members)
            continue
        if arm == TOGETHER:
            yield _changed_moves(arm, members, records)
        for question in ("knowing", "doing"):
            differences: dict[str, list[tuple[float, str]]] = {}
            for record in members:
                pair = record.pair
                if pair is None or pair.pair not in base:
                    continue
                outcome = getattr(pair, question)
                base_outcome = getattr(base[pair.pair], question)
                if outcome is not None and base_outcome is not None:
                    group = differences.setdefault(record.game, [])
                    group.append((outcome.j - base_outcome.j, pair.cluster or pair.pair))
            estimates = [
                mean_by_rule([value for value, _ in group], [unit for _, unit in group],
                             (2 * BOUNDS[0], 2 * BOUNDS[1]))
                for group in differences.values()
            ]  # fmt: skip
            yield ArmEffect(
                arm, question, mean_of_games(estimates), sum(map(len, differences.values()))
            )


def _changed_moves(
    arm: str, members: Sequence[PairRecord], records: Sequence[PairRecord]
) -> ArmEffect:
    """Return the share of moves that are others than in the arm `asked`, where the conversation of
    the move holds no question: how much asking before the move changes it."""
    base = {r.pair.pair: dict(r.moves) for r in records if r.arm == ASKED and r.pair is not None}
    by_game: dict[str, list[tuple[float, str]]] = {}
    pairs = 0
    for record in members:
        if record.pair is None or record.pair.pair not in base:
            continue
        asked_moves, pairs = base[record.pair.pair], pairs + 1
        unit = record.pair.cluster or record.pair.pair
        for member, move in record.moves:
            if member in asked_moves:
                is_changed = float(move != asked_moves[member])
                by_game.setdefault(record.game, []).append((is_changed, unit))
    estimates = [
        mean_by_rule([value for value, _ in group], [unit for _, unit in group], (0.0, 1.0))
        for group in by_game.values()
    ]
    return ArmEffect(arm, "changed moves", mean_of_games(estimates), pairs)


def _told_value(episode: Episode) -> object | None:
    for event in episode.events:
        if isinstance(event, Told) and event.source == "truth":
            return event.value
    return None


def _stated_effect(arm: str, members: Sequence[PairRecord]) -> ArmEffect:
    """Return how much more often the move is right where the stated prediction is true.

    Whether it is true is drawn, so the difference is caused by the statement.
    """
    pairs = sum(record.positions for record in members) // 2
    moves = [move for record in members for move in record.stated]
    right = {
        is_true: [move for move in moves if move.is_true == is_true] for is_true in (True, False)
    }
    if not right[True] or not right[False]:
        return ArmEffect(arm, "slope", None, pairs)
    first, second = ([move.is_right for move in right[is_true]] for is_true in (True, False))
    units = [move.pair for move in (*right[True], *right[False])]
    return ArmEffect(arm, "slope", gap_by_rule(first, second, units, BOUNDS), pairs)


# --- unreadable answers ---------------------------------------------------------------------------


def _answers(episodes: Iterable[Episode]) -> Iterator[Event]:
    """Yield the answers of the evaluated player: its moves, forfeits and predictions."""
    for episode in episodes:
        position = episode.setup.instance.position
        seat = position.seat if position else ""
        for event in episode.events:
            if event.seat == seat and not isinstance(event, Told):
                yield event


# --- the verdict ----------------------------------------------------------------------------------


def verdict(evaluation: PairEvaluation) -> list[str]:
    """Return the verdict in two or three sentences, with its numbers."""
    games = evaluation.games
    unreadable = evaluation.unreadable
    if not evaluation.is_readable and not unreadable.count:
        return ["No result: no pair has answers in both positions."]
    if not evaluation.is_readable:
        return [unreadable.sentence("answers could not be read")]
    told_apart = [game for game in games if game.tells_apart]
    acted_apart = [game for game in games if game.acts_apart]
    predicted = sum(game.known or 0 for game in games)
    not_done = sum(game.known_not_done or 0 for game in games)
    sentences = [
        f"Predicts by the difference that matters in {len(told_apart)} of {len(games)} games "
        f"(mean {_mean_in_words(evaluation, 'knowing')}); moves by it in {len(acted_apart)} "
        f"(mean {_mean_in_words(evaluation, 'doing')}).",
        f"Of {predicted} pairs that it predicted rightly it played {predicted - not_done} rightly."
        if predicted
        else "It predicted no pair rightly in both positions.",
    ]
    if unreadable.count:
        sentences.append(
            f"{unreadable.count:,} of {unreadable.answers:,} answers could not be read; they count "
            "as neither right nor crosswise."
        )
    return sentences


def _mean_in_words(evaluation: PairEvaluation, question: str) -> str:
    """Return the mean over games in words; they say over how many games if not every game has a
    score."""
    scored = sum(getattr(game, question) is not None for game in evaluation.games)
    value = _interval(getattr(evaluation, question))
    if not scored or scored == len(evaluation.games):
        return value
    return f"{value} of the {scored} with a score"


def _interval(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "blank"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:z.2f}"
    return f"{estimate.value:z.2f} [{estimate.low:z.2f}, {estimate.high:z.2f}]"
