"""Evaluate one player on a suite: what it knew, whether it acted on that, how it played, by game.

A suite names its cells `GAME: ARM, PART`. The headline is computed from the arms in which the
player is probed, in the game's own words and reworded; episodes of the other arms are compared with
their paired episodes. No mean over games is computed, because the scales of different games measure
different quantities.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from sally.analysis.columns.measured import (
    MeasuredSeat,
    is_mind,
    measured_seats,
    seats_under_study,
)
from sally.analysis.columns.rows import played
from sally.analysis.compare.compare import Comparison
from sally.analysis.compare.contrast import Of, contrast, said_of
from sally.analysis.design.claims import ACTS_ON, KNOWS, THEORY, Verdict, verdicts
from sally.analysis.profile.baselines import Baseline, baselines
from sally.analysis.profile.depth_curve import DepthPoint, depth_curve
from sally.analysis.profile.profile import ProfileRow, profile_of
from sally.core.errors import BadInput, listed
from sally.core.grouping import grouped
from sally.core.log.events import Censored, Episode, Setup, episode_id, label
from sally.core.prompt.model import Usage
from sally.core.rules.game import Seat
from sally.metrics.play import error_survival
from sally.stats.cluster_interval import mean_by_rule
from sally.stats.intervals import FEW, Estimate
from sally.stats.multiple import holm_where_known
from sally.stats.paired import sign_flip_test

ASKED, REWORDED, NOT_ASKED, TWIN = "asked", "reworded", "not asked", "twin"
HEADLINE = (ASKED, REWORDED)
CONTRASTS: Mapping[str, tuple[Of, str]] = {  # arm -> kind of contrast, what it asks
    REWORDED: ("packs", "does another wording or order change it?"),
    NOT_ASKED: ("asked", "does asking change play?"),
    TWIN: ("twin", "is it about minds, or would a mechanism do?"),
}


def arm_of(cell: str) -> str:
    """Return the condition (arm) that is part of a cell's name, as in `rps: reworded, test`."""
    return cell.partition(": ")[2].partition(",")[0]


def part_of(cell: str) -> str:
    """Return the part (practice or test) that the name of a suite's cell contains."""
    return cell.partition(", ")[2]


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
    knowing_beyond: Estimate  # 0: the best mindless rule
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
    rule: str  # the best mindless predictor
    rule_knowing: float | None  # its accuracy, with an even guess at 0
    top: str  # what 1 of doing is
    lines: tuple[Line, ...]  # learners and bots on the same problems
    refused: dict[str, tuple[str, ...]]  # word -> why the episodes do not support it
    why: dict[str, str]  # by field, why it has no value
    halves: dict[str, Halves] = {}  # by field: on odd and on even problems
    reliability: dict[str, Reliability] = {}  # by field: of bots of graded skill in this size


class Control(msgspec.Struct, frozen=True):
    """A paired comparison of one arm with the probed arm, by one metric of one game."""

    arm: str
    game: str
    metric: str
    difference: Estimate  # this arm minus the asked arm
    verdict: str
    pairs: int


class CallTotals(msgspec.Struct, frozen=True):
    """The calls of the evaluated player: their number, tokens, seconds and cost."""

    calls: int = 0
    lost: int = 0  # calls without a usable reply
    input: int = 0
    output: int = 0
    seconds: float = 0.0  # summed over calls, which may overlap
    cost: float | None = None
    uncounted: int = 0  # calls with a reply and without a count of tokens


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
    def complete(self) -> bool:
        return self.wanted == 0 or self.episodes >= self.wanted


def evaluate(
    episodes: Iterable[Episode],
    *,
    player: str,
    suite: str,
    wanted: int = 0,
    references: Mapping[str, Sequence[Episode]] | None = None,
    reliability: Mapping[str, Mapping[str, Reliability]] | None = None,
    recorded: Sequence[Recorded] = (),
    missing: Sequence[Planned] = (),
) -> Evaluation:
    """Return the evaluation of the player that played these episodes of a suite.

    `references` are episodes of other players on the same problems, by name; `reliability` is the
    reliability of the suite at this size, by game and field; `recorded` are figures from other
    problems; `missing` are episodes that were planned and not played.

    Raises:
        BadInput: If there is no episode of the suite's arms.
    """
    every = list(episodes)
    kept = [e for e in every if arm_of(e.cell) in HEADLINE]
    if not kept:
        raise BadInput(f"{suite} has no episode with a probed player, so nothing can be evaluated.")
    seats = measured_of(kept)
    ends = baselines(seats, False)
    rows = {
        game: msgspec.structs.replace(row, arms=_arms(every, row))
        for game, row in _rows(seats, ends, player).items()
    }
    parts = {
        part: _doing([m for m in seats if part_of(m.cell) == part], ends)
        for part in ("practice", "test")
    }
    lines = _reference_lines(references or {}, ends)
    said = {verdict.game: verdict for verdict in verdicts(list(rows.values()))}
    survived = _survived(kept)
    halves = _halves(seats, ends)
    known = reliability or {}
    games = tuple(
        msgspec.structs.replace(
            _result(row, said[game], {p: found.get(game) for p, found in parts.items()},
                    lines.get(game, ()), survived[game]),
            halves=halves.get(game, {}), reliability=dict(known.get(game, {})))
        for game, row in rows.items()
    )  # fmt: skip
    return Evaluation(
        player=player,
        suite=suite,
        settings=_settings(kept[0]),
        episodes=len(every),
        wanted=wanted,
        games=games,
        controls=tuple(_controls(every)),
        depths=tuple(
            msgspec.structs.replace(point, player=player)
            for point in depth_curve(map(_as_one, kept))
            if point.player == "evaluated"
        ),
        bill=_bill(every),
        sentences=tuple(sentences(games, player)),
        recorded=tuple(one for one in recorded if one.game in rows),
        doing_intention_to_treat=_doing_intention_to_treat(kept, missing),
    )


def _doing_intention_to_treat(
    played_episodes: Sequence[Episode], missing: Sequence[Planned]
) -> dict[str, Estimate]:
    """Return doing by game, where a missing episode counts as one that stopped at its start: its
    moves are all forfeited, as the rules say. Games without an episode are left out."""
    games = {episode.setup.instance.game for episode in played_episodes}
    failed = [
        each.as_missing()
        for each in missing
        if arm_of(each.cell) in HEADLINE and each.setup.instance.game in games
    ]
    seats = measured_of([*played_episodes, *failed])
    return _doing(seats, baselines(seats, False))


def _rows(
    seats: Sequence[MeasuredSeat], ends: Sequence[Baseline], player: str
) -> dict[str, ProfileRow]:
    """Return one profile row per game. The figures about gains (doing, regret and the baseline
    players) use only the episodes whose optimum or reference score is known; all others use every
    episode."""
    scaled: dict[str, ProfileRow] = {}
    for row in profile_of(seats, ends, named=lambda who: player):
        scaled.setdefault(row.game, row)  # the part with a known optimum comes first
    whole = {row.game: row for row in profile_of(seats, named=lambda who: player)}
    found = {}
    for game, row in scaled.items():
        every = whole[game]
        why = {k: v for k, v in every.why.items() if k not in DOING}
        why |= {k: v for k, v in row.why.items() if k in DOING}
        ends_of_row = {name: getattr(row, name) for name in DOING}
        found[game] = msgspec.structs.replace(every, **ends_of_row, part=row.part, why=why)
    return found


DOING = ("doing", "doing_most", "regret", "room", "random", "mindless", "reference")


def evaluated_seats(episodes: Iterable[Episode]) -> dict[str, str]:
    """Return, for each game, the seat that a suite evaluates, which is the probed seat."""
    return {
        e.setup.instance.game: seat
        for e in episodes
        if arm_of(e.cell) in HEADLINE
        for seat in seats_under_study(e.setup)[:1]
    }


def measured_of(episodes: Iterable[Episode]) -> list[MeasuredSeat]:
    """Return the measurements of the evaluated seat of each episode."""
    every = list(episodes)
    seats = evaluated_seats(every)
    found = []
    for e in every:
        if (seat := seats.get(e.setup.instance.game)) is not None:
            found += measured_seats(played(e), (seat,))
    return found


def _as_one(episode: Episode) -> Episode:
    """Return the episode with the evaluated player under one name, regardless of its words pack."""
    setup = episode.setup
    mine = set(seats_under_study(setup))
    lineup = {
        seat: msgspec.structs.replace(who, player="evaluated", params={}) if seat in mine else who
        for seat, who in setup.lineup.items()
    }
    return msgspec.structs.replace(episode, setup=msgspec.structs.replace(setup, lineup=lineup))


def _settings(episode: Episode) -> dict[str, Any]:
    (seat, *_) = seats_under_study(episode.setup)
    params = episode.setup.lineup[seat].params
    return {key: params[key] for key in ("strategy", "settings") if key in params}


def _arms(episodes: Sequence[Episode], row: ProfileRow) -> tuple[str, ...]:
    """Return the arms of a game's episodes for the checklist of claims.

    The arm `labels` is included if the labels or the wording were varied.
    """
    here = {arm_of(e.cell) for e in episodes if e.setup.instance.game == row.game}
    varied = "labels" in row.arms or REWORDED in here
    return tuple(sorted(here | ({"labels"} if varied else set())))


def _doing(seats: Sequence[MeasuredSeat], ends: Sequence[Baseline]) -> dict[str, Estimate]:
    if not seats:
        return {}
    found: dict[str, Estimate] = {}
    for row in profile_of(seats, ends, named=lambda who: ""):
        found.setdefault(row.game, row.doing)
    return found


HALVED = {"knowing": "skill", "acting": "acting", "doing": "doing"}  # field -> of a profile


def _halves(
    seats: Sequence[MeasuredSeat], ends: Sequence[Baseline]
) -> dict[str, dict[str, Halves]]:
    """Return, for each game, the headline measures on the first, third, ... problem and on the
    second, fourth, ... problem."""
    places: dict[tuple[str, str], int] = {}
    counts: dict[str, int] = {}
    for m in seats:
        key = (m.game, m.setup.instance.id)
        if key not in places:
            places[key] = counts[m.game] = counts.get(m.game, -1) + 1
    sides: list[dict[str, ProfileRow]] = []
    for side in (0, 1):
        mine = [m for m in seats if places[m.game, m.setup.instance.id] % 2 == side]
        sides.append(_rows(mine, ends, "") if mine else {})
    return {
        game: {
            field: (getattr(sides[0][game], name).value, getattr(sides[1][game], name).value)
            for field, name in HALVED.items()
        }
        for game in sides[0].keys() & sides[1].keys()
    }


def _reference_lines(
    references: Mapping[str, Sequence[Episode]], ends: Sequence[Baseline]
) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for name, episodes in references.items():
        seats = measured_of(e for e in episodes if arm_of(e.cell) == ASKED)
        for row in _rows(seats, ends, name).values() if seats else ():
            line = Line(name, row.skill.value, row.acting.value, row.doing.value)
            found.setdefault(row.game, []).append(line)
    return found


def _survived(episodes: Sequence[Episode]) -> dict[str, Estimate]:
    """Return, for each game, the mean payoff of the evaluated seat that may be due to forfeits of
    other seats (no value for one-player games)."""
    seats, found = evaluated_seats(episodes), dict[str, Estimate]()
    for game, mine in grouped(episodes, lambda e: e.setup.instance.game).items():
        survived = [
            (error_survival(played(e), Seat(seats[game])), e.setup.instance.id) for e in mine
        ]
        known = [(value, problem) for value, problem in survived if value is not None]
        found[game] = mean_by_rule([value for value, _ in known], [where for _, where in known])
    return found


def _result(
    row: ProfileRow,
    verdict: Verdict,
    parts: Mapping[str, Estimate | None],
    lines: Sequence[Line],
    survived: Estimate,
) -> GameResult:
    none = Estimate(None, None, None, 0, "no episode")
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
        practice=parts["practice"] or none,
        test=parts["test"] or none,
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
        why={
            new: row.why[old]
            for old, new in (("skill", "knowing"), ("beyond", "knowing_beyond"),
                             ("acting", "acting"), ("acting_beyond", "acting_beyond"),
                             ("doing", "doing"), ("pooled_position_bias", "pooled_position_bias"),
                             ("pooled_label_bias", "pooled_label_bias"))
            if old in row.why
        },
    )  # fmt: skip


def _controls(episodes: Sequence[Episode]) -> list[Control]:
    """Return paired comparisons of the other arms with the probed arm, where there are pairs."""
    found = []
    for arm, (kind, _) in CONTRASTS.items():
        mine = [e for e in episodes if arm_of(e.cell) in (ASKED, arm)]
        try:
            made = contrast(mine, kind)
        except BadInput:
            continue  # a bot reads no words, and an evaluation may have stopped early
        found += [_control(arm, one.comparison) for one in made]
    return found


def _control(arm: str, made: Comparison) -> Control:
    value = made.difference
    if arm == NOT_ASKED and value.value is not None:  # the contrast is asked minus not asked
        low, high = value.interval or (None, None)
        value = msgspec.structs.replace(
            value,
            value=-value.value,
            low=None if high is None else -high,
            high=None if low is None else -low,
        )
    return Control(arm, made.game, made.metric, value, said_of(made), made.pairs)


def _bill(episodes: Iterable[Episode]) -> CallTotals:
    """Return the sums over all calls; the cost is None if the cost of a call is unknown."""
    calls = lost = uncounted = 0
    used = Usage(cost=0.0)
    for episode in episodes:
        for event in episode.events:
            for call in event.calls:
                calls += 1
                lost += bool(call.failure)
                uncounted += not call.failure and not call.usage.get("input")
                used += msgspec.convert({"cost": None, **call.usage}, Usage, strict=False)
    cost = used.cost if calls else None
    return CallTotals(calls, lost, used.input, used.output, used.seconds, cost, uncounted)


def sentences(games: Sequence[GameResult], player: str) -> list[str]:
    """Return, for each claim about a player (such as "shows theory of mind"), a sentence that names
    the games in which the evidence does not rule the claim out. Claims with the same games share a
    sentence."""
    claims = {KNOWS: "knows what others will do", ACTS_ON: "acts on what it knows",
              THEORY: "shows theory of mind"}  # fmt: skip
    places = defaultdict[tuple[str, ...], list[str]](list)
    for word, verb in claims.items():
        places[tuple(one.game for one in games if not one.refused[word])].append(verb)
    found = []
    for open_, verbs in places.items():
        said = "The claim that" if len(verbs) == 1 else "Each of the claims that"
        claimed = f"{said} {player} {listed(verbs)}"
        if open_:
            share = f"{len(open_)} of {len(games)}"
            found.append(f"{claimed} is not refused in {listed(open_)} ({share}).")
        elif len(games) == 1:
            found.append(f"{claimed} is refused in {games[0].game}.")
        else:
            found.append(f"{claimed} is refused in every one of the {len(games)} games.")
    return found


# --- who is evaluated -----------------------------------------------------------------------------


def name_of(episodes: Sequence[Episode]) -> str:
    """Return the name of the player whose evaluation a store holds: model and settings, or bot.

    Raises:
        BadInput: If the store holds several players.
    """
    names, minds = dict[str, None](), set[str]()
    for episode in episodes:
        for seat in seats_under_study(episode.setup):
            who = episode.setup.lineup[seat]
            params = {k: v for k, v in who.params.items() if k != "pack"}
            name = label(msgspec.structs.replace(who, params=params))
            names[name] = None
            if is_mind(who):
                minds.add(name)
    if len(minds) > 1:
        raise BadInput(
            f"The store holds episodes of {listed(sorted(minds))}; evaluate one player at a time."
        )
    return minds.pop() if minds else " / ".join(names)


# --- drift ----------------------------------------------------------------------------------------

Scores = dict[tuple[str, str], dict[str, tuple[str, float]]]  # (cell, measure) -> setting -> ...
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


def per_problem(episodes: Iterable[Episode]) -> Scores:
    """Return the scores of the evaluated seat: (cell, measure) -> setting -> (problem, value)."""
    found: Scores = {}
    for m in measured_of(episodes):
        scores = {"doing": m.least, "forfeits": float(m.forfeits)}
        if m.knowing.scored:
            scores["knowing"] = m.knowing.right / m.knowing.scored
        if m.acting.n:
            scores["acting on it"] = m.acting.fits / m.acting.n
        for measure, value in scores.items():
            if value is not None and np.isfinite(value):
                found.setdefault((m.cell, measure), {})[m.setting] = (m.setup.instance.id, value)
    return found


def drift(old: Iterable[Episode], new: Iterable[Episode]) -> list[Change]:
    """Compare two evaluations cell by cell, on the problems that occur in both.

    The p value of a cell comes from exchanging old and new results of whole problems.

    Raises:
        BadInput: If the two evaluations have no problem in common.
    """
    before, after = per_problem(old), per_problem(new)
    raw: list[tuple[tuple[str, str], list[str], list[float], list[float]]] = []
    for key in sorted(before.keys() & after.keys()):
        both = sorted(before[key].keys() & after[key].keys())
        if both:
            raw.append((key, [before[key][s][0] for s in both],
                        [before[key][s][1] for s in both],
                        [after[key][s][1] for s in both]))  # fmt: skip
    if not raw:
        raise BadInput("The two evaluations have no problem in common; both need the same suite.")
    adjusted = holm_where_known([_p_of(problems, was, now) for _, problems, was, now in raw])
    found = []
    for ((cell, measure), problems, was, now), p in zip(raw, adjusted, strict=True):
        moved = np.subtract(now, was)
        same = not moved.any()
        verdict = (
            "identical" if same else "moved" if p is not None and p < ALPHA else "within chance"
        )
        if p is None and not same:
            verdict = "too few problems"
        found.append(Change(cell, measure, float(np.mean(was)), float(np.mean(now)),
                           mean_by_rule(moved, problems), p, verdict, len(was)))  # fmt: skip
    return found


def _p_of(problems: Sequence[str], was: Sequence[float], now: Sequence[float]) -> float | None:
    """Return the p value of a change by sign flips of whole problems; None below five problems."""
    if len(set(problems)) < FEW:
        return None
    return sign_flip_test(np.subtract(now, was), clusters=problems, seed=SEED)
