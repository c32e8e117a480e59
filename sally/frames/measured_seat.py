"""One seat of one episode, measured for its profile: what it knew, how it played and what it lost.

Everything is computed from one replay in one pass, so that a profile of thousands of episodes keeps
only a few numbers of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec.structs import asdict

from sally.core.log.events import (
    Censored,
    Episode,
    Forfeited,
    Instance,
    Moved,
    PlayerSpec,
    Setup,
)
from sally.core.registry import registry
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.metric import Metric, Played, Terms
from sally.frames.intention_to_treat import Range, score_intention_to_treat, span_of
from sally.frames.knowing import AGAIN, MIRROR, Knowing, Scored, knowing
from sally.frames.losses import terms
from sally.frames.replays import replay_for_measures as replay_of
from sally.metrics.answers import score_reports
from sally.metrics.consistency import contrast_of, forecast_fits, list_decision_fits
from sally.metrics.habits import Habits, habits, key_presses
from sally.metrics.retest import Retest, retest
from sally.parts.importers import RECORDED
from sally.players.language import uses_model
from sally.store.reader import void_seats


class Acting(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Sums over the decisions that one seat made after it had stated a prediction."""

    n: int = 0
    fits: int = 0  # best replies to the prediction
    weighed: int = 0  # decisions in which a random pick has a known chance to be a best reply
    weighed_fits: int = 0
    chance: float = 0.0  # expected best replies of random picks among these
    forecasts: int = 0  # decisions with best replies to the player's forecast of the next round
    copied: int = 0  # of these, with copying the forecast as the only best reply
    contrasted: int = 0  # of these, after a forecast that calls for other moves than another one
    contrast: float = 0.0  # best replies among these, less those of moves after the other forecasts


class SeatKind(msgspec.Struct, frozen=True):
    """What measured seats that differ only in seed and repeat have in common."""

    cell: str
    family: str
    seat: str
    metric: str
    alike: str  # hash of the problem and the other players
    span: tuple[float, float] | None
    setup: Setup  # its seed and repeat are 0

    @property
    def game(self) -> str:
        return self.setup.instance.game

    @property
    def player_spec(self) -> PlayerSpec:
        return self.setup.lineup[self.seat]


class MeasuredSeat(msgspec.Struct, frozen=True, gc=False):
    """One seat of one episode in numbers; a number that is not defined is None."""

    episode: str
    cell: str
    family: str
    setup: Setup
    seat: str
    setting: str  # hash of problem, seed and other players: all that a player met
    alike: str  # hash of the setting without its seed
    metric: str  # the metric of `doing`
    doing: float | None  # over the decisions that were made
    least: float | None  # forfeited and cut-off decisions counted as the rules say
    most: float | None  # the same decisions at the best they could have earned
    span: tuple[float, float] | None  # the bounds of doing in this game
    optimum: float | None  # exact, of this episode; None if not known
    knowing: Knowing
    acting: Acting
    habits: Habits
    retest: Retest
    terms: Terms
    moves: int
    forfeits: int
    censored: str  # why there is no result; empty if there is one

    @property
    def game(self) -> str:
        return self.setup.instance.game

    @property
    def kind(self) -> SeatKind:
        """What the seat shares with others that differ only in seed and repeat."""
        setup = msgspec.structs.replace(self.setup, seed=0, repeat=0)
        shared = (self.cell, self.family, self.seat, self.metric, self.alike, self.span)
        return SeatKind(*shared, setup)

    def row(self) -> dict[str, Any]:
        """Return the seat as a row of the table of profiles."""
        knowing, habits = asdict(self.knowing), asdict(self.habits)
        nested = {name: knowing.pop(name) for name in NESTED}
        nested |= {name: habits.pop(name) for name in ("keys", "followed")}
        mindless = knowing.pop("mindless")
        return {
            "kind": msgspec.json.encode(self.kind).decode(),
            "censored": self.censored,
            "person": person_of(self.setup, self.seat) or None,
            **{
                name: msgspec.json.encode(value, order="sorted").decode() if value else ""
                for name, value in nested.items()
            },
            "setting": bytes.fromhex(self.setting),
            **knowing,
            "as_last_time": mindless.get(AGAIN, self.knowing.guess),
            "as_own_move": mindless.get(MIRROR, self.knowing.guess),
            **asdict(self.acting),
            **asdict(self.retest),
            **habits,
            "moves": self.moves,
            "forfeits": self.forfeits,
            "doing": self.doing,
            "least": self.least,
            "most": self.most,
            "optimum": self.optimum,
            **asdict(self.terms),
        }


NESTED = ("truths", "sure_truths", "bins", "probes", "rules")  # of `Knowing`, kept as JSON
KNOWN = 4096  # setups whose encoded settings are cached


def person_of(setup: Setup, seat: str) -> str:
    """Return the participant who played a seat, or "" if no person did."""
    spec = setup.lineup[seat]
    if spec.player == RECORDED:  # an imported instance is named by file, line and position
        if spec.params.get("name") != "human":
            return ""
        participant = str(spec.params.get("participant", ""))
        return participant or setup.instance.id.rpartition(":")[0]
    return str(spec.params.get("participant", ""))


def measure_episode(episode: Episode, seats: Sequence[str] = ()) -> list[MeasuredSeat]:
    """Return the measured seats of an episode; by default, all seats."""
    return measured_seats(replay_of(episode), seats)


def measured_seats(played: Played, seats: Sequence[str] = ()) -> list[MeasuredSeat]:
    """Return the measured seats of an episode that has been replayed."""
    return [measure(played, s) for s in played.replay.game.seats if not seats or s in seats]


def is_mind(player: PlayerSpec) -> bool:
    """Return whether a player is a model or a person; such players are studied in any seat."""
    return uses_model(player) or player.player in ("person", RECORDED)


def seats_under_study(setup: Setup) -> tuple[str, ...]:
    """Return the seats that were probed or that a model or a person played."""
    probed = [seat for seat, probes in setup.arms.items() if probes]
    minds = [seat for seat, player in setup.lineup.items() if is_mind(player)]
    return tuple(dict.fromkeys([*probed, *minds]))


def measure(played: Played, seat: Seat) -> MeasuredSeat:
    """Measure one seat of an episode."""
    spec, episode = played.spec, played.episode
    family, end = spec.family or spec.name, episode.end
    metric = doing_metric(spec, seat)
    scores = on_minds(spec, score_reports(played, seat))
    doing, span, (lowest, highest, optimum) = _doing_scores(played, seat, metric)
    event_types = [type(e) for e in episode.events if e.seat == seat]
    return MeasuredSeat(
        episode=episode.id,
        cell=episode.cell,
        family=family,
        setup=episode.setup,
        seat=seat,
        setting=setting(episode.setup, seat),
        alike=alike(episode.setup, seat),
        metric=metric.name,
        doing=doing,
        least=lowest,
        most=highest,
        span=span,
        optimum=optimum,
        knowing=knowing(played, seat, scores),
        acting=acting(played, seat),
        habits=habits(played, seat),
        retest=retest(played, seat, predicted_options(played, seat)),
        terms=terms(played, seat, [answer for answer, _ in scores]),
        moves=event_types.count(Moved),
        forfeits=event_types.count(Forfeited),
        censored=end.cause if isinstance(end, Censored) else "void" if void_seats(episode) else "",
    )


def least_score(played: Played, seat: Seat) -> float | None:
    """Return what `MeasuredSeat.least` is of a seat, without the other measures."""
    return _doing_scores(played, seat, doing_metric(played.spec, seat))[2][0]


def _doing_scores(
    played: Played, seat: Seat, metric: Metric
) -> tuple[float | None, Range | None, tuple[float | None, float | None, float | None]]:
    """Return the score of a seat, its range, and the lowest, highest and optimal score by intention
    to treat."""
    doing = metric.measure(played, seat)
    optimum, span = _optimum(played, seat, doing), span_of(played, seat, metric)
    return doing, span, score_intention_to_treat(played, seat, doing, optimum, span)


def acting(played: Played, seat: Seat) -> Acting:
    """Count how often a seat's move was a best reply to its own prediction."""
    if not (decision_fits := list_decision_fits(played, seat)):
        return Acting()
    weighed = [decision for decision in decision_fits if decision.chance is not None]
    forecasts = forecast_fits(played, seat, predicted_options(played, seat))
    contrasted, contrast = contrast_of(forecasts)
    return Acting(
        n=len(decision_fits),
        fits=sum(decision.fits for decision in decision_fits),
        weighed=len(weighed),
        weighed_fits=sum(decision.fits for decision in weighed),
        chance=sum(decision.chance or 0.0 for decision in weighed),
        forecasts=len(forecasts),
        copied=sum(fit.is_best_copied for fit in forecasts),
        contrasted=contrasted,
        contrast=contrast,
    )


def predicted_options(played: Played, seat: Seat) -> dict[int, int | None]:
    """Return the option with the label of the seat's own prediction, by turn."""
    return {press.turn: press.predicted for press in key_presses(played, seat)}


def doing_metric(spec: GameSpec, seat: str) -> Metric:
    """Return the metric that measures how much a seat of a game gained."""
    metrics = registry.metrics(spec.family or spec.name)
    metric: Metric = registry.pick(f"metric of {spec.name}", spec.measured.doing.of(seat), metrics)
    return metric


def setting(setup: Setup, seat: str) -> str:
    """Return a hash of everything that a seat faced: problem, seed, repeat and other players."""
    problem, company, _ = _encode_setting(setup, seat)
    text = b"[%b,%d,%d,%b]" % (problem, setup.seed, setup.repeat, company)
    return blake2b(text, digest_size=12).hexdigest()


def alike(setup: Setup, seat: str) -> str:
    """Return a hash of the problem and the other players, without seed and repeat."""
    return _encode_setting(setup, seat)[2]


def _encode_setting(setup: Setup, seat: str) -> tuple[bytes, bytes, str]:
    """Return the problem as JSON, the seat and the other players as JSON, and a hash of both."""
    return _encoded_key(msgspec.msgpack.encode((setup.instance, setup.lineup, seat)))


@lru_cache(maxsize=KNOWN)  # many setups differ only in their seed
def _encoded_key(key: bytes) -> tuple[bytes, bytes, str]:
    instance, lineup, seat = _DECODER.decode(key)
    others = {s: (player.player, player.params) for s, player in lineup.items() if s != seat}
    parts = (msgspec.json.encode(part, order="sorted") for part in (instance, seat, others))
    problem, own_seat, other_players = parts
    setting = b"[%b,%b,%b]" % (problem, own_seat, other_players)
    return (
        problem,
        b"%b,%b" % (own_seat, other_players),
        blake2b(setting, digest_size=12).hexdigest(),
    )


_DECODER = msgspec.msgpack.Decoder(tuple[Instance, dict[str, PlayerSpec], str])


def on_minds(spec: GameSpec, answers: Sequence[Scored]) -> list[Scored]:
    """Return the answers to probes about another player's mind."""
    return [a for a in answers if spec.probe(a[0].question.probe).of_mind]


def _optimum(played: Played, seat: Seat, doing: float | None) -> float | None:
    regret = played.spec.measured.doing.regret_of(played.replay.game)
    if not regret or doing is None:
        return None
    loss = registry.metrics(played.spec.family or played.spec.name)[regret].measure(played, seat)
    return None if loss is None else doing + loss
