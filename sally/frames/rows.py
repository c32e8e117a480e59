"""Rows of tables as plain mappings, computed from one replayed episode.

The fields are declared in `sally.frames.schema`. Every function takes a replayed episode, so that
an episode is replayed once however many tables are built from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import isfinite
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import (
    Call,
    Censored,
    Episode,
    Event,
    Forfeited,
    Moved,
    PlayerSpec,
    Reported,
    Setup,
    label,
    model_and_strategy,
    to_line,
)
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.core.rules.metric import JudgedReport, Played, judge_report
from sally.frames import Row
from sally.frames.measured_seat import (
    measure,
    person_of,
    seats_under_study,
    setting,
)
from sally.players.language import uses_model
from sally.store.reader import reason, to_run_again

Measure = Callable[[Played, Seat], float | None]
REMEMBERED = 4096  # setups and lineups whose encodings are cached
DIGEST_BYTES = 16


def as_json(value: Any) -> str:
    """Return a value as canonical JSON."""
    return msgspec.json.encode(value, order="sorted").decode()


# --- episodes -------------------------------------------------------------------------------------


def episode_row(episode: Episode) -> Row:
    """Return the row of an episode, without the position of its line."""
    setup, end = episode.setup, episode.end
    moves = reports = unread = 0
    forfeits: dict[str, int] = {}
    for event in episode.events:
        if type(event) is Moved:
            moves += event.seat in setup.lineup
        elif isinstance(event, Forfeited):
            forfeits[event.reason] = forfeits.get(event.reason, 0) + 1
        elif isinstance(event, Reported):
            reports += 1
            unread += event.value is None
    usage = usage_of(episode)
    return {
        "episode": episode.id,
        "seed": str(setup.seed),
        "usage": msgspec.json.encode(usage).decode() if usage else None,
        "cell": episode.cell,
        "game": setup.instance.game,
        "instance": setup.instance.id,
        "setup": _setup_text(setup),
        "used": as_json(episode.used) if episode.used else "",
        "end": end.cause if isinstance(end, Censored) else "over",
        "why": reason(episode),
        "bad": "",
        "unplayed": "",
        "forfeit_reasons": as_json(forfeits) if forfeits else "",
        "repeat": setup.repeat,
        "all_moves": moves,
        "reports": reports,
        "unread": unread,
        "cut": to_run_again(episode),
        "digest": blake2b(to_line(episode), digest_size=DIGEST_BYTES).digest(),
        "trial": trial_key(setup),
    }


def _setup_text(setup: Setup) -> str:
    return msgspec.json.encode(msgspec.structs.replace(setup, seed=0, repeat=0)).decode()


@lru_cache(maxsize=REMEMBERED)
def setup_of(text: str) -> Setup:
    """Return the setup of a row of episodes; its seed and repeat are 0."""
    return msgspec.json.decode(text, type=Setup)


SUMMED = ("calls", "failed", "input", "output", "seconds", "cost", "unpriced", "uncounted",
          "unusable")  # fmt: skip


class ModelUsage(msgspec.Struct, omit_defaults=True):
    """The calls of one model; calls without a price are counted separately."""

    calls: int = 0
    failed: int = 0
    input: int = 0
    output: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    unpriced: int = 0  # calls with unknown cost
    uncounted: int = 0  # calls with a reply and without a count of tokens
    unusable: int = 0  # calls whose reply could not be read
    settings: set[str] = msgspec.field(default_factory=set)  # as JSON
    used: set[str] = msgspec.field(default_factory=set)  # as JSON: weights, versions, addresses

    def add(self, call: Call) -> None:
        """Add one call."""
        self.calls += 1
        self.failed += bool(call.failure)
        self.input += call.usage.get("input", 0)
        self.output += call.usage.get("output", 0)
        self.seconds += call.usage.get("seconds", 0.0)
        cost = call.usage.get("cost")
        self.cost += cost or 0.0
        self.unpriced += cost is None and not call.failure  # a failed call costs nothing
        self.uncounted += not call.failure and not call.usage.get("input")
        settings = {
            k: v for k, v in call.settings.items() if k != "seed" and v not in (None, [], ())
        }
        self.settings.add(as_json(settings))

    def join(self, usage: ModelUsage) -> None:
        """Add the calls of the same model in another episode."""
        for name in SUMMED:
            setattr(self, name, getattr(self, name) + getattr(usage, name))
        self.settings |= usage.settings
        self.used |= usage.used


def usage_of(episode: Episode) -> dict[str, ModelUsage]:
    """Return the calls of an episode by model."""
    lineup, models = episode.setup.lineup, dict[str, ModelUsage]()
    for event in episode.events:
        if event.calls:
            usage = models.setdefault(model_of(lineup.get(event.seat)), ModelUsage())
            for call in event.calls:
                usage.add(call)
            usage.unusable += _unusable_replies(event)
    for seat, used in episode.used.items():
        if seat in lineup:  # entries of people are not models
            models.setdefault(model_of(lineup.get(seat)), ModelUsage()).used.add(as_json(used))
    return models


def _unusable_replies(event: Event) -> int:
    """Return how many replies to one ask could not be read; of a readable answer only the last
    try was."""
    replies = sum(not call.failure for call in event.calls)
    is_unread = isinstance(event, Forfeited) or (
        isinstance(event, Reported) and event.value is None
    )
    return min(event.tries if is_unread else event.tries - 1, replies)


def model_of(spec: PlayerSpec | None) -> str:
    """Return the name of the model in a seat."""
    return str(spec.params.get("model", "embedded")) if spec is not None else "?"


def trial_key(setup: Setup) -> int:
    """Return a 64-bit key of a trial, the same whether it was played or only planned.

    The key ignores versions and the default players of seats that the trial does not fill, because
    both are filled in during play.
    """
    shared = (setup.instance.game, setup.lineup, setup.arms, setup.injections, setup.retries)
    company = _company(msgspec.msgpack.encode(shared))
    text = f"[{as_json(setup.instance.id)},{setup.seed},{setup.repeat},{company}]"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=REMEMBERED)  # many trials differ only in instance, seed and repeat
def _company(shared: bytes) -> str:
    game, lineup, arms, injections, retries = msgspec.msgpack.decode(shared)
    try:
        helpers: Mapping[Any, str] = registry.game(game).occupants
    except BadInput:  # the game is not installed
        helpers = {}
    players = {
        seat: (
            spec["player"],
            {k: v for k, v in spec.get("params", {}).items() if k != "pack"},
        )
        for seat, spec in lineup.items()
        if helpers.get(seat) != spec["player"]
    }
    return as_json((players, (arms, injections, retries)))


# --- seats ----------------------------------------------------------------------------------------


def seat_rows(played: Played) -> Iterator[Row]:
    """Yield one row for each seat of an episode, without metrics."""
    episode, setup = played.episode, played.episode.setup
    end, seats = episode.end, played.replay.game.seats
    studied = seats_under_study(setup)
    names = _names(msgspec.msgpack.encode(setup.lineup), tuple(seats))
    for seat in seats:
        yield {
            "seat": str(seat),
            **names[seat],
            "person": person_of(setup, seat) or None,
            "censored": end.cause if isinstance(end, Censored) else None,
            "studied": seat in studied,
            "setting": bytes.fromhex(setting(setup, seat)),
            "turns": len(played.replay),
            **effort(episode, seat),
            "payoff": None if episode.payoffs is None else episode.payoffs.get(seat),
        }


@lru_cache(maxsize=REMEMBERED)
def _names(lineup: bytes, seats: tuple[str, ...]) -> dict[str, Row]:
    players = _LINEUP.decode(lineup)
    return {
        seat: {
            **_player(players[seat]),
            "others": ", ".join(label(players[s]) for s in seats if s != seat),
        }
        for seat in seats
    }


_LINEUP = msgspec.msgpack.Decoder(dict[str, PlayerSpec])


def _player(spec: PlayerSpec) -> Row:
    """Return the columns of a player: its label, and its model, strategy and settings if any."""
    has_model = uses_model(spec)
    settings = spec.params.get("settings") or {}
    name, strategy = model_and_strategy(spec)
    participant = spec.params.get("participant")
    return {
        "player": label(spec),
        "name": name,
        "model": str(spec.params.get("model", "embedded")) if has_model else None,
        "strategy": strategy if has_model else None,
        "settings": ", ".join(f"{k}={v}" for k, v in sorted(settings.items())) or None,
        "participant": None if participant is None else str(participant),  # a salted hash
    }


def effort(episode: Episode, seat: Seat) -> Row:
    """Count the forfeits, retries, calls and tokens of one seat."""
    events = [e for e in episode.events if e.seat == seat]
    since = episode.setup.fork.turn if episode.setup.fork else 0
    calls = [  # calls before a fork belong to another episode
        call for event in events if event.turn >= since for call in event.calls
    ]
    return {
        "moves": sum(isinstance(e, Moved) for e in events),
        "forfeited": sum(isinstance(e, Forfeited) for e in events),
        "retried": sum(e.tries - 1 for e in events),
        "calls": len(calls),
        "input_tokens": tokens(calls, "input"),
        "output_tokens": tokens(calls, "output"),
        "seconds": float(sum(c.usage.get("seconds", 0.0) for c in calls)),
    }


def tokens(calls: Sequence[Call], kind: str) -> int | None:
    """Return the number of tokens of a kind; None if an answered call has no token count."""
    answered = [call.usage for call in calls if not call.failure]
    if any("input" not in usage for usage in answered):  # no prompt is empty
        return None
    return sum(int(usage.get(kind, 0)) for usage in answered)


def metric_values(played: Played, names: Collection[str]) -> list[list[float | None]]:
    """Return the values of metrics, one list per seat, in the order of the names.

    Raises:
        BadInput: If a value is not finite.
    """
    measures = _measures(played.spec.family or played.spec.name)
    rows = []
    for seat in played.replay.game.seats:
        row = [measures[name](played, seat) if name in measures else None for name in names]
        for name, value in zip(names, row, strict=True):
            if isinstance(value, str) or (value is not None and not isfinite(value)):
                raise BadInput(
                    f"Episode {played.episode.id}: {name} is {value!r}; a metric must be a "
                    "finite number or None."
                )
        rows.append(row)
    return rows


def _measures(family: str) -> dict[str, Measure]:
    return {name: metric.measure for name, metric in registry.metrics(family).items()}


# --- decisions and calls --------------------------------------------------------------------------


def decision_rows(played: Played) -> Iterator[Row]:
    """Yield one row for each move, forfeit and report, with the truth where it is known."""
    setup = played.episode.setup
    contexts = {
        seat: SeatContext(played.spec, played.replay.game, seat, 0)
        for seat in played.replay.game.seats
    }
    players = {
        seat: {"player": label(spec), "participant": spec.params.get("participant")}
        for seat, spec in setup.lineup.items()
    }
    for event in played.episode.events:
        if event.seat not in players:
            continue
        context = contexts.get(Seat(event.seat))
        match event:
            case Moved():
                row = _decision(event, "move", _flat(event.action))
                row["label"] = _option(context, played, event)
            case Forfeited():
                row = _decision(event, "forfeit", event.reason)
            case Reported():
                row = _decision(event, "report", _flat(event.value))
                row |= _report(played, event, context)
            case _:
                continue
        yield players[event.seat] | row


def _decision(event: Moved | Forfeited | Reported, kind: str, value: Any) -> Row:
    seconds = sum(c.usage.get("seconds", 0.0) for c in event.calls) if event.calls else None
    return {
        "turn": event.turn,
        "seat": event.seat,
        "what": kind,
        "value": value,
        "tries": event.tries,
        "seconds": seconds,
    }


def _option(context: SeatContext | None, played: Played, event: Moved) -> str | None:
    """Return the name of a move in the seat's wording; None for free text."""
    if context is None or not isinstance(event.action, int | str):
        return None
    action = played.replay.move(event.turn, Seat(event.seat))
    return None if action is None else context.words.name(action)


def _report(played: Played, event: Reported, context: SeatContext | None) -> Row:
    report = judge_report(played.spec, played.replay, event)
    scores = report.scores if report else {}
    stated = scores if event.odds is not None else {}  # a bare choice has no odds to score
    return {
        "probe": event.probe,
        "about": event.about,
        "source": event.source,
        "label": _answer(played, event, report, context),
        "odds": None if event.odds is None else [float(p) for p in event.odds],
        "truth": _flat(report.truth if report else None),
        "right": scores.get("right"),
        "brier": stated.get("brier"),
        "log": stated.get("log"),
        "absolute_error": scores.get("absolute_error"),
    }


def _answer(
    played: Played, event: Reported, report: JudgedReport | None, context: SeatContext | None
) -> str | None:
    """Return the name of a chosen answer in the seat's wording."""
    if report is None or not isinstance(event.value, int | str):
        return None
    context = context or SeatContext(played.spec, played.replay.game, Seat(event.seat), 0)
    return context.words.of(report.question).choice_name(report.question, event.value)


def _flat(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else str(value)


def call_rows(played: Played) -> Iterator[Row]:
    """Yield one row for each model call."""
    lineup = played.episode.setup.lineup
    for event in played.episode.events:
        for call in event.calls:
            yield {
                "seat": event.seat,
                "model": model_of(lineup.get(event.seat)),
                "purpose": call.purpose,
                "finish": call.finish,
                "failure": call.failure,
                "prompt": call.prompt,
                "turn": event.turn,
                "input_tokens": call.usage.get("input"),
                "output_tokens": call.usage.get("output"),
                "seconds": call.usage.get("seconds"),
                "cost": call.usage.get("cost"),
            }


# --- profiles -------------------------------------------------------------------------------------


def profile_rows(played: Played, seats: Collection[str] = ()) -> Iterator[Row]:
    """Yield the sums from which profiles are computed, one row per seat.

    Without `seats`, the studied seats are measured; all seats if none is studied.
    """
    chosen = seats or seats_under_study(played.episode.setup)
    for seat in played.replay.game.seats:
        if not chosen or seat in chosen:
            yield measure(played, seat).row()
