"""Evaluate one player on a suite: what it knew, whether it acted on that, how it played, by game.

The cells of a suite have the factors `arm` and `part`. The headline is computed from the arms in
which the player is probed, in the game's own words and reworded; episodes of the other arms are
compared with their paired episodes. No mean over games is computed, because the scales of
different games measure different quantities.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from sally.analysis.call_totals import CallTotals, total_calls
from sally.analysis.compare.contrast import Contrast, Of, contrast, said_of
from sally.analysis.design.claims import (
    ACTS_ON,
    KNOWS,
    THEORY,
    ArmResult,
    Verdict,
    arm_reasons,
    verdicts,
)
from sally.analysis.design.claims import Controls as GameControls
from sally.analysis.pairs.evaluation import PairEvaluation
from sally.analysis.profile.baselines import Baseline, baselines
from sally.analysis.profile.depth_curve import DepthPoint, depth_curve
from sally.analysis.profile.profile import ProfileRow, profile_of
from sally.analysis.unreadable_answers import count_unreadable
from sally.core.errors import BadInput, join_names
from sally.core.log.events import Censored, Episode, Forfeited, Setup, episode_id, label
from sally.frames.frame import Frame, as_frame
from sally.frames.measured_seat import is_mind, seats_under_study
from sally.frames.profiles import SeatSums
from sally.frames.rows import ModelUsage, setup_of
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import FEW, Estimate
from sally.stats.multiple_tests import holm_where_known
from sally.stats.paired_differences import sign_flip_test

SEVERAL = " / "  # between the players of a bot
SUITE_PREFIX = re.compile(r"^sally_\d+-")  # of the folder that `sally evaluate` writes
ASKED, REWORDED, NOT_ASKED, TWIN = "asked", "reworded", "not asked", "twin"
HEADLINE = (ASKED, REWORDED)
CONTRASTS: Mapping[str, tuple[Of, str]] = {  # arm -> kind of contrast, what it asks
    REWORDED: ("packs", "does another wording or order change it?"),
    NOT_ASKED: ("asked", "does asking change play?"),
    TWIN: ("twin", "is it about minds, or would a mechanism do?"),
}


def in_arms(frame: Frame, arms: Sequence[str]) -> Frame:
    """Return the frame of the episodes of some arms."""
    cells = [cell for cell in frame.episodes["cell"].unique() if _arm(frame, cell) in arms]
    return frame.filter(pl.col("cell").cast(pl.String).is_in(cells))


class Line(msgspec.Struct, frozen=True):
    """The results of a reference player on the problems of the evaluated player."""

    player: str
    knowing: float | None
    acting: float | None
    doing: float | None


class Recorded(msgspec.Struct, frozen=True):
    """A result of people or published models in a game of the suite, but on other problems."""

    game: str
    who: str
    kind: str  # people, model or rule
    measure: str
    value: float
    low: float | None
    high: float | None
    n: int | None
    unit: str  # what `n` counts
    source: str
    page: str  # of the documentation


class Reliability(msgspec.Struct, frozen=True):
    """The reliability of a measure over bots of graded skill, in one game at one suite size."""

    tau: float  # Kendall's, between skill and score; the lower one of two sessions
    retest: float | None  # correlation of two sessions
    split_half: float | None  # of odd and even problems, stepped up to full length


Halves = tuple[float | None, float | None]
NO_EPISODE = Estimate(None, None, None, 0, "no episode")


class GameResult(msgspec.Struct, frozen=True):
    """One player in one game of a suite; a figure that is not defined is None."""

    game: str
    seat: str
    episodes: int  # of the headline arms
    problems: int
    censored: int
    moves: int
    forfeits: int
    knowing: Estimate  # 0: an even guess, 1: every prediction right
    knowing_beyond: Estimate  # 0: the best of three fixed rules
    acting: Estimate  # best replies to own predictions; 0: a random choice
    acting_beyond: Estimate  # 0: the player's own habits
    doing: Estimate  # 0: a random player, 1: the exact optimum or the reference player
    practice: Estimate  # doing against opponents of the practice part
    test: Estimate  # doing against opponents held out
    pooled_position_bias: Estimate
    pooled_label_bias: Estimate
    error_survival: Estimate  # payoff that came from others' forfeits, at most
    mindless: float | None  # doing of the best mindless player
    mindless_name: str
    rule: str  # the simple rule that predicts best
    rule_knowing: float | None  # its accuracy, with an even guess at 0
    top: str  # what 1 of doing is
    lines: tuple[Line, ...]  # learners and bots on the same problems
    refused: dict[str, tuple[str, ...]]  # word -> why the episodes do not support it
    why: dict[str, str]  # by field, why it has no value
    halves: dict[str, Halves] = {}  # by field: on odd and on even problems
    reliability: dict[str, Reliability] = {}  # by field: of bots of graded skill in this size
    unshowable: tuple[str, ...] = ()  # words that nobody can show in this game
    knowing_beyond_learning: Estimate = NO_EPISODE  # 0: the best simple rule, learning ones too
    acting_contrast: Estimate = NO_EPISODE  # 0: moves do not depend on the player's forecasts
    predictions: int = 0  # that could be judged: knowing rests on these
    predictions_asked: int = 0  # the others were unreadable, or the round was void


class Control(msgspec.Struct, frozen=True):
    """A paired comparison of one arm with the probed arm, by one metric of one game."""

    arm: str
    game: str
    metric: str
    difference: Estimate  # this arm minus the asked arm
    verdict: str
    pairs: int
    condition: str = ""  # the words pack, or the probes


class Planned(msgspec.Struct, frozen=True):
    """An episode that a suite asks of a player."""

    cell: str
    setup: Setup

    def as_missing(self) -> Episode:
        """Return the episode as one that stopped before its first move."""
        return Episode(episode_id(self.setup), self.setup, [Censored(0, "limit")], self.cell)


class Evaluation(msgspec.Struct, frozen=True):
    """All results of one player on a suite."""

    player: str
    suite: str
    settings: dict[str, Any]
    episodes: int
    wanted: int  # episodes of the suite in this size; 0: not known
    games: tuple[GameResult, ...]
    controls: tuple[Control, ...]
    depths: tuple[DepthPoint, ...]
    bill: CallTotals
    sentences: tuple[str, ...]  # which words the episodes support
    recorded: tuple[Recorded, ...] = ()  # people and published models in other problems
    # by game: doing if the episodes that are missing had been played and failed
    doing_intention_to_treat: dict[str, Estimate] = {}

    @property
    def planned(self) -> int:
        """Episodes of the suite in this size, by the name that evaluations on pairs use."""
        return self.wanted

    @property
    def complete(self) -> bool:
        return self.wanted == 0 or self.episodes >= self.wanted


def evaluate(
    frame: Frame,
    *,
    player: str,
    suite: str,
    wanted: int = 0,
    references: Mapping[str, Frame] | None = None,
    reliability: Mapping[str, Mapping[str, Reliability]] | None = None,
    recorded: Sequence[Recorded] = (),
    missing: Sequence[Planned] = (),
    pairs: PairEvaluation | None = None,
    certifying_orders: Mapping[str, Collection[int]] | None = None,
) -> Evaluation:
    """Return the evaluation of the player that played these episodes of a suite.

    `references` are episodes of other players on the same problems, by name; `reliability` is the
    reliability of the suite at this size, by game and field; `recorded` are figures from other
    problems; `missing` are episodes that were planned and not played; `pairs` is the same player on
    certified pairs, and `certifying_orders` holds, by game, the orders that pairs can certify
    (None: all).

    Raises:
        BadInput: If there is no episode of the suite's arms.
    """
    headline = in_arms(frame, HEADLINE)
    if not len(headline):
        raise BadInput(f"{suite} has no episode with a probed player, so nothing can be evaluated.")
    seats = measured_of(headline)
    ends = baselines(seats, False)
    rows = {
        game: msgspec.structs.replace(row, arms=_arms(frame, row))
        for game, row in _rows(seats, ends, player).items()
    }
    parts = {part: _doing(_of_part(headline, seats, part), ends) for part in ("practice", "test")}
    lines = _reference_lines(references or {}, ends)
    controls = tuple(_controls(frame))
    best = in_arms((references or {}).get(BEST, frame.filter(pl.lit(False))), (ASKED,))
    all_verdicts = verdicts(
        list(rows.values()),
        controls={game: _game_controls(game, controls, pairs, certifying_orders) for game in rows},
        best=list(_rows(measured_of(best), ends, BEST).values()) if len(best) else (),
    )
    verdict_of = {verdict.game: verdict for verdict in all_verdicts}
    survived = _mean_error_survival(headline)
    halves = _halves(seats, ends)
    reliabilities = reliability or {}
    games = tuple(
        msgspec.structs.replace(
            _readable_result(
                _result(row, verdict_of[game], {p: doing.get(game) for p, doing in parts.items()},
                        lines.get(game, ()), survived[game])),
            halves=halves.get(game, {}), reliability=dict(reliabilities.get(game, {})))
        for game, row in rows.items()
    )  # fmt: skip
    return Evaluation(
        player=player,
        suite=suite,
        settings=_settings(headline),
        episodes=len(frame),
        wanted=wanted,
        games=games,
        controls=controls,
        depths=tuple(
            msgspec.structs.replace(point, player=player)
            for point in depth_curve(map(_as_one, headline))
            if point.player == "evaluated"
        ),
        bill=_bill(frame),
        sentences=tuple(_verdict(games, player, headline)),
        recorded=tuple(record for record in recorded if record.game in rows),
        doing_intention_to_treat=_doing_intention_to_treat(headline, missing),
    )


BEST = "best_bot"  # the reference whose refusals show what nobody can show


def _game_controls(
    game: str,
    controls: Sequence[Control],
    pairs: PairEvaluation | None,
    certifying_orders: Mapping[str, Collection[int]] | None,
) -> GameControls:
    results = [
        ArmResult(
            control.game, control.metric, control.arm == TWIN, control.difference, control.verdict
        )
        for control in controls
        if control.arm in (TWIN, REWORDED)
    ]
    orders = None if certifying_orders is None else certifying_orders.get(game, ())
    return GameControls(
        arm_reasons(results, game),
        certified_order(pairs, game, orders),
        orders is None or bool(orders),
    )


def certified_order(
    pairs: PairEvaluation | None, game: str, orders: Collection[int] | None
) -> int | None:
    """Return the highest of these orders that a player reached on the certified pairs of a game, if
    its moves depend on the difference between members as well; None for orders: any."""
    for result in pairs.games if pairs is not None else ():
        reached = result.order
        if result.game != game or reached is None:
            continue
        if result.tells_apart and result.acts_apart:
            certified = [reached] if orders is None else [o for o in orders if o <= reached]
            return max(certified, default=None)
    return None


def _doing_intention_to_treat(frame: Frame, missing: Sequence[Planned]) -> dict[str, Estimate]:
    """Return doing by game, where a missing episode counts as one that stopped at its start: its
    moves are all forfeited, as the rules say. Games without an episode are left out."""
    games = set(frame.episodes["game"].unique())
    failed = [
        episode.as_missing()
        for episode in missing
        if _arm(frame, episode.cell) in HEADLINE and episode.setup.instance.game in games
    ]
    parts = [frame, as_frame(failed)] if failed else [frame]
    seats = SeatSums.concat(map(measured_of, parts))
    return _doing(seats, baselines(seats, False))


def _rows(seats: SeatSums, ends: Sequence[Baseline], player: str) -> dict[str, ProfileRow]:
    """Return one profile row per game. The figures about gains (doing, regret and the baseline
    players) use only the episodes whose optimum or reference score is known; all others use every
    episode."""
    scaled: dict[str, ProfileRow] = {}
    for row in profile_of(seats, ends, name_of=lambda spec: player):
        scaled.setdefault(row.game, row)  # the part with a known optimum comes first
    unscaled = {row.game: row for row in profile_of(seats, name_of=lambda spec: player)}
    rows = {}
    for game, row in scaled.items():
        full_row = unscaled[game]
        reasons = {k: v for k, v in full_row.why.items() if k not in DOING}
        reasons |= {k: v for k, v in row.why.items() if k in DOING}
        facts = {name: getattr(row, name) for name in SCALE}
        estimates = full_row.estimates | {name: row.estimates[name] for name in DOING}
        rows[game] = msgspec.structs.replace(
            full_row, **facts, estimates=estimates, part=row.part, why=reasons
        )
    return rows


DOING = ("doing", "doing_most", "regret")  # columns that need a known optimum or reference
SCALE = ("room", "random", "mindless", "reference")  # the ends of their scale


def evaluated_seats(frame: Frame) -> dict[str, str]:
    """Return, for each game, the seat that a suite evaluates, which is the probed seat."""
    kinds = frame.episodes.select("cell", "game", "setup").unique(maintain_order=True)
    return {
        game: seat
        for cell, game, setup in kinds.rows()
        if _arm(frame, cell) in HEADLINE
        for seat in seats_under_study(setup_of(setup))[:1]
    }


def measured_of(frame: Frame) -> SeatSums:
    """Return the sums of the evaluated seat of each episode."""
    games: dict[str, list[str]] = {}
    for game, seat in evaluated_seats(frame).items():
        games.setdefault(seat, []).append(game)
    return SeatSums.concat(
        SeatSums(frame.filter(pl.col("game").cast(pl.String).is_in(names)).profiles(seat))
        for seat, names in games.items()
    )


def _as_one(episode: Episode) -> Episode:
    """Return the episode with the evaluated player under one name, regardless of its words pack."""
    setup = episode.setup
    studied = set(seats_under_study(setup))
    lineup = {
        seat: msgspec.structs.replace(player, player="evaluated", params={})
        if seat in studied
        else player
        for seat, player in setup.lineup.items()
    }
    return msgspec.structs.replace(episode, setup=msgspec.structs.replace(setup, lineup=lineup))


def _settings(frame: Frame) -> dict[str, Any]:
    setup = setup_of(frame.episodes["setup"][0])
    (seat, *_) = seats_under_study(setup)
    params = setup.lineup[seat].params
    return {key: params[key] for key in ("strategy", "settings") if key in params}


def _arms(frame: Frame, row: ProfileRow) -> tuple[str, ...]:
    """Return the arms of a game's episodes for the checklist of claims.

    The arm `labels` is included if the labels or the wording were varied.
    """
    cells = frame.episodes.filter(pl.col("game") == row.game)["cell"].unique()
    arms = {_arm(frame, cell) for cell in cells}
    varied = "labels" in row.arms or REWORDED in arms
    return tuple(sorted(arms | ({"labels"} if varied else set())))


def _arm(frame: Frame, cell: str) -> str:
    return frame.factors(cell).get("arm", "")


def _of_part(frame: Frame, seats: SeatSums, part: str) -> SeatSums:
    return seats.select_kinds(lambda kind: frame.factors(kind.cell).get("part") == part)


def _doing(seats: SeatSums, ends: Sequence[Baseline]) -> dict[str, Estimate]:
    if not len(seats):
        return {}
    doing: dict[str, Estimate] = {}
    for row in profile_of(seats, ends, name_of=lambda spec: ""):
        doing.setdefault(row.game, row.doing)
    return doing


HALVED = {"knowing": "skill", "acting": "acting", "doing": "doing"}  # field -> of a profile


def _halves(seats: SeatSums, ends: Sequence[Baseline]) -> dict[str, dict[str, Halves]]:
    """Return, for each game, the headline measures on the first, third, ... problem and on the
    second, fourth, ... problem."""
    places: dict[tuple[str, str], int] = {}
    counts: dict[str, int] = {}
    for code in seats.kinds():
        kind = seats.shared[code]
        key = (kind.game, kind.setup.instance.id)
        if key not in places:
            places[key] = counts[kind.game] = counts.get(kind.game, -1) + 1
    sides: list[dict[str, ProfileRow]] = []
    for side in (0, 1):
        side_of = np.array(
            [places.get((k.game, k.setup.instance.id), 0) % 2 for k in seats.shared], dtype=np.int64
        )
        half = seats.take(side_of[seats.kind] == side)
        sides.append(_rows(half, ends, "") if len(half) else {})
    return {
        game: {
            field: (getattr(sides[0][game], name).value, getattr(sides[1][game], name).value)
            for field, name in HALVED.items()
        }
        for game in sides[0].keys() & sides[1].keys()
    }


def _reference_lines(
    references: Mapping[str, Frame], ends: Sequence[Baseline]
) -> dict[str, list[Line]]:
    lines: dict[str, list[Line]] = {}
    for name, frame in references.items():
        probed = in_arms(frame, (ASKED,))
        for row in _rows(measured_of(probed), ends, name).values() if len(probed) else ():
            line = Line(name, row.skill.value, row.acting.value, row.doing.value)
            lines.setdefault(row.game, []).append(line)
    return lines


def _mean_error_survival(frame: Frame) -> dict[str, Estimate]:
    """Return, for each game, the mean payoff of the evaluated seat that may be due to forfeits of
    other seats (no value for one-player games)."""
    rows = frame.seats("game", "seat", "instance", "error_survival")
    means = {}
    for game, seat in evaluated_seats(frame).items():
        seat_rows = rows.filter((pl.col("game") == game) & (pl.col("seat") == seat)).drop_nulls()
        means[game] = mean_by_rule(
            seat_rows["error_survival"].to_numpy(), seat_rows["instance"].cast(pl.String).to_list()
        )
    return means


def _result(
    row: ProfileRow,
    verdict: Verdict,
    parts: Mapping[str, Estimate | None],
    lines: Sequence[Line],
    survived: Estimate,
) -> GameResult:
    rule = row.predictor
    guess = row.guess
    above = (
        None
        if rule is None or guess is None or guess >= 100
        else (rule.accuracy - guess) / (100 - guess)
    )
    return GameResult(
        game=row.game,
        seat=row.seat,
        episodes=row.episodes,
        problems=row.cluster_count,
        censored=row.censored,
        moves=row.moves,
        forfeits=row.forfeits,
        knowing=row.skill,
        knowing_beyond=row.beyond,
        acting=row.acting,
        acting_beyond=row.acting_beyond,
        doing=row.doing,
        practice=parts["practice"] or NO_EPISODE,
        test=parts["test"] or NO_EPISODE,
        pooled_position_bias=row.pooled_position_bias,
        pooled_label_bias=row.pooled_label_bias,
        error_survival=survived,
        mindless=row.mindless.doing if row.mindless else None,
        mindless_name=row.mindless.player if row.mindless else "",
        rule=rule.rule if rule else "",
        rule_knowing=above,
        top=row.reference.player if row.reference else "",
        lines=tuple(lines),
        refused=dict(verdict.refused),
        unshowable=verdict.unshowable,
        knowing_beyond_learning=row.beyond_learning,
        acting_contrast=row.acting_contrast,
        predictions=row.predictions,
        predictions_asked=row.predictions_asked,
        why={
            new: row.why[old]
            for old, new in (("skill", "knowing"), ("beyond", "knowing_beyond"),
                             ("acting", "acting"), ("acting_beyond", "acting_beyond"),
                             ("doing", "doing"), ("pooled_position_bias", "pooled_position_bias"),
                             ("pooled_label_bias", "pooled_label_bias"),
                             ("beyond_learning", "knowing_beyond_learning"),
                             ("acting_contrast", "acting_contrast"))
            if old in row.why
        },
    )  # fmt: skip


def _controls(frame: Frame) -> list[Control]:
    """Return paired comparisons of the other arms with the probed arm, where there are pairs."""
    controls = []
    for arm, (kind, _) in CONTRASTS.items():
        both_arms = in_arms(frame, (ASKED, arm))
        try:
            contrasts = contrast(both_arms, kind)
        except BadInput:
            continue  # a bot reads no words, and an evaluation may have stopped early
        controls += [_control(arm, compared) for compared in contrasts]
    return controls


def _control(arm: str, compared: Contrast) -> Control:
    comparison = compared.comparison
    value = comparison.difference
    if arm == NOT_ASKED and value.value is not None:  # the contrast is asked minus not asked
        low, high = value.interval or (None, None)
        value = msgspec.structs.replace(
            value,
            value=0.0 - value.value,  # not -0.0 if it is 0
            low=None if high is None else 0.0 - high,
            high=None if low is None else 0.0 - low,
        )
    return Control(
        arm,
        comparison.game,
        comparison.metric,
        value,
        said_of(comparison),
        comparison.pairs,
        compared.condition,
    )


def _bill(frame: Frame) -> CallTotals:
    """Return the sums over all calls; the cost is None if the cost of a call is unknown."""
    return total_calls(
        usage
        for text in frame.column("usage").drop_nulls()
        for usage in msgspec.json.decode(text, type=dict[str, ModelUsage]).values()
    )


NO_MOVE = "every move was forfeited"


def _readable_result(result: GameResult) -> GameResult:
    """Return the result; without a single move, what the player did is blank.

    What the rules pay for forfeits is no play: it may be what a random player scores.
    """
    if result.moves or not result.forfeits:
        return result
    blank = Estimate(None, None, None, 0, NO_MOVE)
    names = ("doing", "practice", "test", "error_survival")
    return msgspec.structs.replace(
        result, **dict.fromkeys(names, blank), why=result.why | {"doing": NO_MOVE}
    )


def _verdict(games: Sequence[GameResult], player: str, frame: Frame) -> list[str]:
    """Return the sentences of an evaluation: that nothing could be read, or the claims."""
    if any(game.moves for game in games):
        return sentences(games, player)
    forfeits = (
        event
        for episode in frame
        for event in episode.events
        if isinstance(event, Forfeited) and event.seat in seats_under_study(episode.setup)
    )
    return [count_unreadable(forfeits).sentence("moves were forfeited")]


def sentences(games: Sequence[GameResult], player: str) -> list[str]:
    """Return, for each claim about a player (such as "shows theory of mind"), a sentence that names
    the games in which the evidence does not rule the claim out. Claims with the same games share a
    sentence."""
    claims = {KNOWS: "knows what others will do", ACTS_ON: "acts on what it knows",
              THEORY: "shows theory of mind"}  # fmt: skip
    places = defaultdict[tuple[tuple[str, ...], tuple[str, ...]], list[str]](list)
    for word, verb in claims.items():
        open_games = tuple(result.game for result in games if not result.refused[word])
        unshowable = tuple(result.game for result in games if word in result.unshowable)
        places[open_games, unshowable].append(verb)
    claim_sentences = []
    for (open_games, unshowable), verbs in places.items():
        subject = "The claim that" if len(verbs) == 1 else "Each of the claims that"
        claimed = f"{subject} {player} {join_names(verbs)}"
        count = len(games) - len(unshowable)
        if open_games:
            verdict = f"is not refused in {join_names(open_games)} ({len(open_games)} of {count})"
        elif not count:
            verdict = ""
        elif len(games) == 1:
            verdict = f"is refused in {games[0].game}"
        elif not unshowable:
            verdict = f"is refused in every one of the {count} games"
        else:
            verdict = f"is refused in {count} of {len(games)} games"
        limit = f"cannot be shown in {join_names(unshowable)}, where the best bot is refused it too"
        parts = [part for part in (verdict, limit if unshowable else "") if part]
        claim_sentences.append(f"{claimed} {' and '.join(parts)}.")
    return claim_sentences


# --- who is evaluated -----------------------------------------------------------------------------


def compared_names(sides: Sequence[Frame]) -> list[str]:
    """Return the names of the players of two evaluations, with their stores if they are equal.

    A bot of a suite is another player in every game; it is named after its store or bundle, without
    the suite (`out/sally_2-knows_half` is `knows_half`).
    """
    sources = [next(iter(side.sources), "memory") for side in sides]
    names = [name_of(side.setups()) for side in sides]
    names = [
        SUITE_PREFIX.sub("", Path(str(source)).name.partition(".sally")[0])
        if SEVERAL in name
        else name
        for name, source in zip(names, sources, strict=True)
    ]
    if len(set(names)) < len(names):
        return [f"{name} ({source})" for name, source in zip(names, sources, strict=True)]
    return names


def name_of(setups: Iterable[Setup]) -> str:
    """Return the name of the evaluated player: model and settings, or bot.

    Raises:
        BadInput: If the store holds several players.
    """
    names, minds = dict[str, None](), set[str]()
    for setup in setups:
        for seat in seats_under_study(setup):
            spec = setup.lineup[seat]
            params = {k: v for k, v in spec.params.items() if k != "pack"}
            name = label(msgspec.structs.replace(spec, params=params))
            names[name] = None
            if is_mind(spec):
                minds.add(name)
    if len(minds) > 1:
        raise BadInput(
            f"An evaluation has the episodes of one player, and this store holds those of "
            f"{join_names(sorted(minds))}; `sally compare STORE A B` compares players of one store."
        )
    return minds.pop() if minds else SEVERAL.join(names)


# --- drift ----------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """One measure in one cell of a suite."""

    cell: str
    measure: str
    game: str
    metric: str  # of doing, in whose unit it is; empty for shares and counts


Scores = dict[Measured, dict[str, tuple[str, float]]]  # -> setting -> (problem, value)
ALPHA, SEED = 0.05, 1


class Change(msgspec.Struct, frozen=True):
    """The change of one measure in one cell between two evaluations of a player."""

    cell: str
    measure: str
    old: float
    new: float
    difference: Estimate
    p: float | None  # adjusted by Holm's method over all cells and measures
    verdict: str
    pairs: int
    metric: str = ""  # of doing, in whose unit it is


def per_problem(frame: Frame) -> Scores:
    """Return the scores of the evaluated seat, by cell and measure and then by setting."""
    scores: Scores = {}
    fields = ("setting", "least", "forfeits", "scored", "right", "n", "fits")
    sums = measured_of(frame)
    columns = {field: sums.of(field).tolist() for field in fields[1:]}
    for number, (kind, row) in enumerate(sums.rows_with_kinds("setting")):
        value = {field: column[number] for field, column in columns.items()}
        measures = {"doing": value["least"], "forfeits": value["forfeits"]}
        if value["scored"]:
            measures["knowing"] = value["right"] / value["scored"]
        if value["n"]:
            measures["acting on it"] = value["fits"] / value["n"]
        for measure, number_ in measures.items():
            if np.isfinite(number_):
                metric = kind.metric if measure == "doing" else ""
                place = scores.setdefault(Measured(kind.cell, measure, kind.game, metric), {})
                place[row["setting"].hex()] = (kind.setup.instance.id, number_)
    return scores


def drift(old: Frame, new: Frame) -> list[Change]:
    """Compare two evaluations cell by cell, on the problems that occur in both.

    The p value of a cell comes from exchanging old and new results of whole problems.

    Raises:
        BadInput: If the two evaluations have no problem in common.
    """
    old_scores, new_scores = per_problem(old), per_problem(new)
    raw: list[tuple[Measured, list[str], list[float], list[float]]] = []
    for key in sorted(old_scores.keys() & new_scores.keys()):
        shared_settings = sorted(old_scores[key].keys() & new_scores[key].keys())
        if shared_settings:
            raw.append((key, [old_scores[key][s][0] for s in shared_settings],
                        [old_scores[key][s][1] for s in shared_settings],
                        [new_scores[key][s][1] for s in shared_settings]))  # fmt: skip
    if not raw:
        raise BadInput("The two evaluations have no problem in common; both need the same suite.")
    adjusted = holm_where_known([_p_of(problems, was, now) for _, problems, was, now in raw])
    changes = []
    for (key, problems, was, now), p in zip(raw, adjusted, strict=True):
        moved = np.subtract(now, was)
        is_identical = not moved.any()
        verdict = (
            "identical"
            if is_identical
            else "moved"
            if p is not None and p < ALPHA
            else "within chance"
        )
        if p is None and not is_identical:
            verdict = "too few problems"
        changes.append(Change(key.cell, key.measure, float(np.mean(was)), float(np.mean(now)),
                           mean_by_rule(moved, problems), p, verdict, len(was),
                           key.metric))  # fmt: skip
    return changes


def _p_of(problems: Sequence[str], was: Sequence[float], now: Sequence[float]) -> float | None:
    """Return the p value of a change by sign flips of whole problems; None below five problems."""
    if len(set(problems)) < FEW:
        return None
    return sign_flip_test(np.subtract(now, was), clusters=problems, seed=SEED)
