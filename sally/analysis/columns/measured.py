"""One seat of one episode, measured for its profile: what it knew, did, and lost where.

Everything is read off one replay in one pass, so that a profile of thousands of episodes keeps a
few numbers of each and no episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from sally.analysis.decisions.losses import terms
from sally.analysis.profile.intention_to_treat import intended, span_of
from sally.analysis.profile.knowing import Knowing, Scored, knowing
from sally.core.log.events import Censored, Episode, Forfeited, Moved, PlayerSpec, Setup
from sally.core.log.imported import RECORDED
from sally.core.match.playback import replayed
from sally.core.registry import registry
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.metric import Metric, Played, Terms
from sally.metrics.answers import scored
from sally.metrics.consistency import acted
from sally.players.language import uses_model


class Acting(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Sums over the decisions of one seat that followed a prediction of its own."""

    n: int = 0
    fits: int = 0  # best replies to the prediction
    weighed: int = 0  # those of them all where a blind pick has a known chance
    weighed_fits: int = 0
    chance: float = 0.0  # what blind picks would have hit among these


class Measured(msgspec.Struct, frozen=True, gc=False):
    """One seat of one episode in numbers; None where a number has no meaning."""

    episode: str
    cell: str
    family: str
    setup: Setup
    seat: str
    setting: str  # the same for every player who met the same problem, chance and company
    alike: str  # the same where the chance alone may differ
    metric: str  # what `doing` is
    doing: float | None  # over the decisions that were made
    least: float | None  # with forfeited and cut-off decisions at what the rules give
    most: float | None  # with these at the best that they could have earned
    span: tuple[float, float] | None  # the least and the most that doing can be in this game
    optimum: float | None  # exact, of this episode; None where it is not known
    knowing: Knowing
    acting: Acting
    terms: Terms
    moves: int
    forfeits: int
    censored: str  # why there is no result; empty if there is one

    @property
    def game(self) -> str:
        return self.setup.instance.game


KNOWN = 4096  # setups of which it is kept in which settings they put a seat
Role = Literal["random", "mindless", "reference"]


class Baseline(msgspec.Struct, frozen=True):
    """What chance, a mindless player or the reference did where others were studied."""

    role: Role
    stored: bool  # found among the episodes, or played for the comparison
    measured: Measured
    for_others: bool = False  # whether it stands for settings alike in which it was not played


def measured(episode: Episode, seats: Sequence[str] = ()) -> list[Measured]:
    """The seats of an episode, measured; all of them unless some are named."""
    spec = registry.game(episode.setup.instance.game)
    return measured_seats(Played(spec, episode, replayed(spec, episode)), seats)


def measured_seats(played: Played, seats: Sequence[str] = ()) -> list[Measured]:
    """The same of an episode that is laid open already."""
    return [measure(played, s) for s in played.replay.game.seats if not seats or s in seats]


def is_mind(who: PlayerSpec) -> bool:
    """Whether it is studied wherever it sits: a model or a person."""
    return uses_model(who) or who.player in ("person", RECORDED)


def in_question(setup: Setup) -> tuple[str, ...]:
    """The seats that were asked aside, or taken by a model or a person; none where nobody was."""
    asked = [seat for seat, probes in setup.arms.items() if probes]
    minds = [seat for seat, who in setup.lineup.items() if is_mind(who)]
    return tuple(dict.fromkeys([*asked, *minds]))


def measure(played: Played, seat: Seat) -> Measured:
    """One seat of an episode."""
    spec, episode = played.spec, played.episode
    family, end = spec.family or spec.name, episode.end
    metric = doing_metric(spec, seat)
    scores = on_minds(spec, scored(played, seat))
    doing = metric.measure(played, seat)
    optimum, span = _optimum(played, seat, doing), span_of(played, seat, metric)
    least, most, optimum = intended(played, seat, doing, optimum, span)
    mine = [type(e) for e in episode.events if e.seat == seat]
    return Measured(
        episode=episode.id,
        cell=episode.cell,
        family=family,
        setup=episode.setup,
        seat=seat,
        setting=setting(episode.setup, seat),
        alike=alike(episode.setup, seat),
        metric=metric.name,
        doing=doing,
        least=least,
        most=most,
        span=span,
        optimum=optimum,
        knowing=knowing(played, seat, scores),
        acting=acting(played, seat),
        terms=terms(played, seat, [answer for answer, _ in scores]),
        moves=mine.count(Moved),
        forfeits=mine.count(Forfeited),
        censored=end.cause if isinstance(end, Censored) else "",
    )


def acting(played: Played, seat: Seat) -> Acting:
    """How often the seat did what its own prediction asked for."""
    if not (found := acted(played, seat)):
        return Acting()
    weighed = [each for each in found if each.chance is not None]
    return Acting(
        n=len(found),
        fits=sum(each.fits for each in found),
        weighed=len(weighed),
        weighed_fits=sum(each.fits for each in weighed),
        chance=sum(each.chance or 0.0 for each in weighed),
    )


def doing_metric(spec: GameSpec[Any, Any, Any], seat: str) -> Metric:
    """The metric that says how well a seat of a game did."""
    known = registry.metrics(spec.family or spec.name)
    found: Metric = registry.pick(f"metric of {spec.name}", spec.doing.of(seat), known)
    return found


def setting(setup: Setup, seat: str) -> str:
    """All that a seat met and did not bring: problem, chance, company."""
    problem, company, _ = _met(setup, seat)
    said = b"[%b,%d,%d,%b]" % (problem, setup.seed, setup.repeat, company)
    return blake2b(said, digest_size=12).hexdigest()


def alike(setup: Setup, seat: str) -> str:
    """What a seat met besides chance: problem and company."""
    return _met(setup, seat)[2]


Met = tuple[bytes, bytes, str]
_known: dict[bytes, Met] = {}  # of the latest setups: many differ in chance alone


def _met(setup: Setup, seat: str) -> Met:
    """A problem as text, a seat and its company as text, and the hash of both."""
    key = msgspec.msgpack.encode((setup.instance, setup.lineup, seat))
    if (known := _known.get(key)) is not None:
        return known
    others = {s: (who.player, who.params) for s, who in setup.lineup.items() if s != seat}
    parts = (msgspec.json.encode(part, order="sorted") for part in (setup.instance, seat, others))
    problem, own, rest = parts
    found = b"[%b,%b,%b]" % (problem, own, rest)
    if len(_known) >= KNOWN:
        _known.clear()
    made = problem, b"%b,%b" % (own, rest), blake2b(found, digest_size=12).hexdigest()
    _known[key] = made
    return made


def on_minds(spec: GameSpec[Any, Any, Any], answers: Sequence[Scored]) -> list[Scored]:
    """The answers that are about somebody else's mind."""
    return [a for a in answers if spec.probe(a[0].question.probe).of_mind]


def _optimum(played: Played, seat: Seat, doing: float | None) -> float | None:
    regret = played.spec.doing.regret
    if not regret or doing is None:
        return None
    lost = registry.metrics(played.spec.family or played.spec.name)[regret].measure(played, seat)
    return None if lost is None else doing + lost
