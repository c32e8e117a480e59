"""One seat of one episode, measured for its profile: what it knew, did, and lost where.

Everything is read off one replay in one pass, so that a profile of thousands of episodes keeps a
few numbers of each and no episode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from sally.analysis.losses import terms
from sally.core import shelf
from sally.core.game import GameSpec, Seat
from sally.core.log import Censored, Episode, Forfeited, Moved, Setup
from sally.core.metric import Judged, Metric, Played, Terms
from sally.core.playback import replayed
from sally.core.records import RECORDED
from sally.metrics.answers import scored

BINS = 10  # of equal width, in a calibration curve
Scored = tuple[Judged, Mapping[str, float]]


class Knowing(msgspec.Struct, frozen=True):
    """Sums over the reports of one seat on other minds; unread ones are in no score."""

    asked: int = 0
    unread: int = 0
    scored: int = 0  # choices and odds with a truth
    right: float = 0.0
    guess: float = 0.0  # what an even guess would have right
    with_odds: int = 0
    brier: float = 0.0
    even_brier: float = 0.0  # what even odds would score
    valued: int = 0  # value reports with a truth
    value_error: float = 0.0
    # by bin of the odds of the likeliest choice: how many, sum of odds, sum of right ones
    bins: tuple[tuple[int, float, float], ...] = ()


class Measured(msgspec.Struct, frozen=True):
    """One seat of one episode in numbers; None where a number has no meaning."""

    episode: str
    cell: str
    family: str
    setup: Setup
    seat: str
    setting: str  # the same for every player who met the same problem, chance and company
    metric: str  # what `doing` is
    doing: float | None
    optimum: float | None  # exact, of this episode; None where it is not known
    knowing: Knowing
    terms: Terms
    moves: int
    forfeits: int
    censored: str  # why there is no result; empty if there is one

    @property
    def game(self) -> str:
        return self.setup.instance.game


Role = Literal["mindless", "reference"]


class Baseline(msgspec.Struct, frozen=True):
    """What a mindless player or the reference did where others were studied."""

    role: Role
    stored: bool  # found among the episodes, or played for the comparison
    measured: Measured


def measured(episode: Episode, seats: Sequence[str] = ()) -> list[Measured]:
    """The seats of an episode, measured; all of them unless some are named."""
    spec = shelf.game(episode.setup.instance.game)
    played = Played(spec, episode, replayed(spec, episode))
    return [measure(played, s) for s in played.replay.game.seats if not seats or s in seats]


MINDS = ("language", "person", RECORDED)  # who is studied wherever it sits: models and people


def in_question(setup: Setup) -> tuple[str, ...]:
    """The seats that were asked aside, or taken by a model or a person; none where nobody was."""
    asked = [seat for seat, probes in setup.arms.items() if probes]
    minds = [seat for seat, who in setup.lineup.items() if who.player in MINDS]
    return tuple(dict.fromkeys([*asked, *minds]))


def measure(played: Played, seat: Seat) -> Measured:
    """One seat of an episode."""
    spec, episode = played.spec, played.episode
    family, end = spec.family or spec.name, episode.end
    metric = doing_metric(spec, seat)
    scores = on_minds(spec, scored(played, seat))
    doing = metric.measure(played, seat)
    mine = [e for e in episode.events if e.seat == seat]
    return Measured(
        episode=episode.id,
        cell=episode.cell,
        family=family,
        setup=episode.setup,
        seat=seat,
        setting=setting(episode.setup, seat),
        metric=metric.name,
        doing=doing,
        optimum=_optimum(played, seat, doing),
        knowing=knowing(scores),
        terms=terms(played, seat, [answer for answer, _ in scores]),
        moves=sum(isinstance(e, Moved) for e in mine),
        forfeits=sum(isinstance(e, Forfeited) for e in mine),
        censored=end.cause if isinstance(end, Censored) else "",
    )


def doing_metric(spec: GameSpec[Any, Any, Any], seat: str) -> Metric:
    """The metric that says how well a seat of a game did."""
    known = shelf.metrics(spec.family or spec.name)
    found: Metric = shelf.pick(f"metric of {spec.name}", spec.doing.of(seat), known)
    return found


def setting(setup: Setup, seat: str) -> str:
    """All that a seat met and did not bring: problem, chance, company."""
    others = {s: (who.player, who.params) for s, who in setup.lineup.items() if s != seat}
    met = (setup.instance, setup.seed, setup.repeat, seat, others)
    return blake2b(msgspec.json.encode(met, order="sorted"), digest_size=12).hexdigest()


def on_minds(spec: GameSpec[Any, Any, Any], answers: Sequence[Scored]) -> list[Scored]:
    """The answers that are about somebody else's mind."""
    return [a for a in answers if spec.probe(a[0].question.probe).of_mind]


def _optimum(played: Played, seat: Seat, doing: float | None) -> float | None:
    regret = played.spec.doing.regret
    if not regret or doing is None:
        return None
    lost = shelf.metrics(played.spec.family or played.spec.name)[regret].measure(played, seat)
    return None if lost is None else doing + lost


def knowing(answers: Sequence[Scored]) -> Knowing:
    """The sums of some answers."""
    picked = [(a, s) for a, s in answers if "right" in s]
    sure = [(a, s) for a, s in picked if a.report.odds is not None]
    valued = [s["absolute_error"] for _, s in answers if "absolute_error" in s]
    return Knowing(
        asked=len(answers),
        unread=sum(a.report.value is None for a, _ in answers),
        scored=len(picked),
        right=sum(s["right"] for _, s in picked),
        guess=sum(1 / len(a.question.choices) for a, _ in picked),
        with_odds=len(sure),
        brier=sum(s["brier"] for _, s in sure),
        even_brier=sum(1 - 1 / len(a.question.choices) for a, _ in sure),
        valued=len(valued),
        value_error=sum(valued),
        bins=binned([a for a, _ in sure]),
    )


def binned(answers: Sequence[Judged]) -> tuple[tuple[int, float, float], ...]:
    """The odds of the likeliest choice and whether it was true, by bin; ties share the point."""
    if not answers:
        return ()
    found = [(0, 0.0, 0.0)] * BINS
    for answer in answers:
        odds = answer.report.odds or ()
        sure = max(odds)
        top = [c for c, p in zip(answer.question.choices, odds, strict=True) if p >= sure - 1e-9]
        place = min(int(sure * BINS + 1e-9), BINS - 1)  # the last bin includes 1
        n, forecasts, came_true = found[place]
        right = 1 / len(top) if answer.truth in top else 0.0
        found[place] = (n + 1, forecasts + sure, came_true + right)
    return tuple(found)
