"""Stored decisions as prompts: rendered again, checked against the log, and labelled.

A decision is a move, or an answer to a probe, of a language player. Its label is computed from the
replay: the truth of a probe (what the other is about to do), the player's own move, or its own
forecast. Values are canonical: an action has the same value whatever its name in the prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from sally.analysis.compare.contrast import TWIN, wording
from sally.analysis.decisions.costs import costs_of
from sally.core.display.scenes import texts_of
from sally.core.errors import BadInput, unknown
from sally.core.log.events import Episode, label
from sally.core.match.seat_context import SeatContext
from sally.core.prompt.model import Context
from sally.core.registry import registry
from sally.core.rules.game import GameSpec, Seat
from sally.core.rules.metric import Played
from sally.core.rules.probe import At, Probe, Question
from sally.frames.replays import replay_for_measures
from sally.players.calls import Request
from sally.players.language import uses_model
from sally.runner.check import requests_of

Place = Literal["move", "probe"]
OWN_MOVE, OWN_FORECAST = "own_move", "own_forecast"
Value = int | str


class Decision(msgspec.Struct, frozen=True, gc=False):
    """One stored decision: its prompt, its episode and turn, its label and its conditions."""

    prompt: Context
    candidates: tuple[str, ...]  # scored as continuations; empty if a reply was requested
    hash: str  # of the prompt, as in the log
    episode: str
    cell: str
    game: str
    instance: str
    player: str  # label, without a words pack that makes it a twin
    partner: str  # labels of the other seats
    seat: str
    turn: int
    about: str  # seat or agent that the probe is about; empty: the only one
    twin: bool  # whether the page describes the other as a mechanism
    choices: tuple[Value, ...]  # possible values of the label
    names: tuple[str, ...]  # the same choices as the page names them
    value: Value  # the label
    true: Value | None = None  # what the other did, if known
    forecast: Value | None = None  # the player's own forecast of it, if asked
    did: Any = None  # the player's move; None if forfeited
    best: tuple[Any, ...] | None = None  # its optimal moves; None if not known
    loss: float | None = None  # what the move gave up against optimal play
    options: int = 0  # number of moves to choose from
    # the label's values in the rounds before, and the player's own moves, oldest first
    past: tuple[Value | None, ...] = ()
    own_moves: tuple[Any, ...] = ()

    @property
    def letters(self) -> str:
        """The names of the options in the prompt, sorted, so that they do not depend on the actions
        they stand for."""
        return " ".join(sorted(self.names))


def decisions(
    episodes: Iterable[Episode], about: str = "", place: Place = "move"
) -> Iterator[Decision]:
    """Yield the decisions of all language players, in the order of the episodes.

    Args:
        episodes: Stored episodes.
        about: A probe whose truth is the label, `own_move` or `own_forecast`; by default, the probe
            about other minds on which the game's best replies depend.
        place: Whether the prompt of the move or of the probe is taken. A prediction inside a
        decision
            counts as a probe.

    Raises:
        BadInput: A rendered prompt does not have the hash in the log, or no game has such a probe.
    """
    for episode in episodes:
        spec = registry.game(episode.setup.instance.game)
        seats = [s for s, player in episode.setup.lineup.items() if uses_model(player)]
        if not seats:
            continue
        played_episode = replay_for_measures(episode)
        probe = probe_named(spec, about)
        requests = requests_of(episode)
        for name in seats:
            seat = Seat(name)
            if not probe.seats or seat in probe.seats:
                yield from _of_seat(played_episode, seat, probe, about, place, requests)


def probe_named(spec: GameSpec, about: str) -> Probe:
    """Return the probe called `about`; for `own_move` and `own_forecast`, the main probe."""
    choices = [p for p in spec.probes if p.kind != "values"]
    if about and about not in (OWN_MOVE, OWN_FORECAST):
        for probe in choices:
            if probe.name == about:
                return probe
        names = [*(probe.name for probe in choices), OWN_MOVE, OWN_FORECAST]
        raise unknown(f"label of {spec.name}", about, names)
    acted = [p for p in choices if p.of_mind and p.name in (spec.measured.acts_on or (p.name,))]
    if not acted:
        raise BadInput(
            f"{spec.name} has no probe that asks what another player thinks or will do and lists "
            "the possible answers."
        )
    return acted[0]


def _of_seat(
    played_episode: Played,
    seat: Seat,
    probe: Probe,
    about: str,
    place: Place,
    requests: dict[Any, list[Request]],
) -> Iterator[Decision]:
    episode, replay, spec = played_episode.episode, played_episode.replay, played_episode.spec
    player = episode.setup.lineup[seat]
    twin = (wording(episode.setup, seat) or "").endswith(TWIN)
    own_words = {key: value for key, value in player.params.items() if key != "pack"}
    plain = msgspec.structs.replace(player, params=own_words)
    others = [episode.setup.lineup[s] for s in replay.game.seats if s != seat]
    words = SeatContext(spec, replay.game, seat, 0, texts_of(player)).words
    costs = {cost.turn: cost for cost in costs_of(played_episode, seat)}
    past: dict[str, list[Value | None]] = {}
    own_moves: list[Any] = []
    for turn in range(len(replay)):
        did, cost = replay.move(turn, seat), costs.get(turn)
        for question in probe.asks(replay.game, replay.view(turn, seat), seat):
            asked_place = At(turn, seat, probe.name, question.about)
            true: Any = probe.truth(replay, asked_place)
            report = replay.report(turn, seat, probe.name, question.about)
            forecast: Any = None if report is None else report.value
            value: Any = {OWN_MOVE: did, OWN_FORECAST: forecast}.get(about, true)
            past_values = tuple(past.setdefault(question.about, []))
            past[question.about].append(value if isinstance(value, int | str) else None)
            request = _request(requests, turn, seat, question, place)
            choices = _choices(replay, turn, seat, question, about)
            if request is None or value not in choices:
                continue
            yield Decision(
                prompt=request.messages,
                candidates=request.candidates,
                hash=request.hash,
                episode=episode.id,
                cell=episode.cell,
                game=spec.name,
                instance=episode.setup.instance.id,
                player=label(plain if twin else player),
                partner=", ".join(label(other_player) for other_player in others),
                seat=str(seat),
                turn=turn,
                about=question.about,
                twin=twin,
                choices=choices,
                names=tuple(
                    words.name(choice)
                    if about == OWN_MOVE
                    else words.of(question).choice_name(question, choice)
                    for choice in choices
                ),
                value=value,
                true=true,
                forecast=forecast,
                did=did,
                best=(cost.best or None) if cost else None,
                loss=cost.loss if cost else None,
                options=_width(replay.game.options(replay.states[turn], seat)),
                past=past_values,
                own_moves=tuple(own_moves),
            )
        own_moves.append(did)


def _choices(
    replay: Any, turn: int, seat: Seat, question: Question, about: str
) -> tuple[Value, ...]:
    """Return the possible values of a label, in the order of the game."""
    if about != OWN_MOVE:
        return tuple(question.choices)
    options = replay.game.options(replay.states[turn], seat)
    return tuple(option for option in options if isinstance(option, int | str))


def _width(options: Any) -> int:
    """Return the number of options; 0 if they cannot be listed."""
    return len(options) if isinstance(options, tuple | list | range) else 0


def _request(
    requests: dict[Any, list[Request]], turn: int, seat: Seat, question: Question, place: Place
) -> Request | None:
    """Return the request behind an answer: a move, a probe, or a prediction inside a decision."""
    moving = requests.get((turn, str(seat), "", ""), [])
    if place == "move":
        return _last(moving, "move")
    if probe_requests := requests.get((turn, str(seat), question.probe, question.about)):
        return _last(probe_requests, "probe")
    inside = [request for request in moving if request.purpose == "predict"]
    return inside[0] if len(inside) == 1 else None


def _last(requests: Sequence[Request], purpose: str) -> Request | None:
    """Return the last request with this purpose, or else the last whose purpose is not `prior`."""
    fitting = [r for r in requests if r.purpose == purpose] or [
        r for r in requests if r.purpose != "prior"
    ]
    return fitting[-1] if fitting else None


def sample_decisions(
    decisions: Iterable[Decision], limit: int | None, seed: int = 0
) -> list[Decision]:
    """Return at most `limit` decisions, drawn by a hash of seed, episode, turn and subject.

    The draw depends neither on the order of the episodes nor on their answers.
    """
    all_decisions = list(decisions)
    if limit is None or len(all_decisions) <= limit:
        return all_decisions

    def order_key(decision: Decision) -> bytes:
        name = f"{seed}/{decision.episode}/{decision.turn}/{decision.seat}/{decision.about}"
        return blake2b(name.encode(), digest_size=16).digest()

    kept_ids = {id(decision) for decision in sorted(all_decisions, key=order_key)[:limit]}
    return [decision for decision in all_decisions if id(decision) in kept_ids]


def require_decisions(decisions: Sequence[Decision], about: str, place: Place) -> None:
    """Raise BadInput if no decision is left."""
    if not decisions:
        other_place = "move" if place == "probe" else "probe"
        raise BadInput(
            f"No {place} prompt of a language model in the store has a label for "
            f"{about or 'what the others will do'}; try the store's {other_place} prompts."
        )
