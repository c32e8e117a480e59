"""Fork a stored episode at a turn: earlier turns stay the same, later turns follow a change.

Answers before the turn come from the log. Bots are asked again to restore their memory; the fork
fails if a bot would now move differently. From the turn on, chance comes from the same seed, so two
branches differ only by the change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sally.core.errors import BadInput, IllegalMove, join_names
from sally.core.log.events import Episode, Event, Fork, Injection, PlayerSpec, Setup, ToolUse
from sally.core.match.answers import action_of, answers_of
from sally.core.match.drive import Again, Driver
from sally.core.match.engine import Match
from sally.core.match.playback import require_version
from sally.core.match.player import Decision, Given, Player, Turn, send_ask
from sally.core.registry import registry
from sally.core.rules.chance import derived_seed
from sally.core.rules.game import Seat
from sally.core.rules.menu import admit
from sally.core.rules.replay import AskId
from sally.parts.importers import RECORDED
from sally.players.language import LANGUAGE
from sally.runner.budget import Meter, Metered
from sally.runner.local import play_within, used_by, with_models
from sally.runner.seating import players_of, resolve_setup, seat_player

CANNOT_GO_ON = ("person", RECORDED)
Answers = dict[AskId, tuple[Given, tuple[ToolUse, ...]]]


class Change(msgspec.Struct, frozen=True):
    """The changes that a fork makes from its turn on; everything else stays the same."""

    lineup: dict[str, PlayerSpec] = msgspec.field(default_factory=dict)
    arms: dict[str, tuple[str, ...]] | None = None
    injections: tuple[Injection, ...] | None = None
    # forced moves of that turn, by seat
    moves: dict[str, Any] = msgspec.field(default_factory=dict)


def fork(episode: Episode, turn: int, change: Change, repeat: int = 0) -> Episode:
    """Return the episode forked at `turn`; repeat 0 uses the random draws of the log."""
    spec = registry.game(episode.setup.instance.game)
    require_version(spec, episode)
    setup = forked_setup(episode, turn, change, repeat)
    match: Match = Match(spec, setup, ask_nature=True)
    _answer_from(match, _past(episode, turn, setup), turn, episode)
    players = _going_on(match, turn, change.moves)
    limits = Meter().config.limits
    Driver(match, players).run(lambda play: play_within(match, play, limits))
    return match.episode(f"fork of {episode.id[:8]} at step {turn}", used_by(players))


def forked_setup(episode: Episode, turn: int, change: Change, repeat: int = 0) -> Setup:
    """Return the checked setup of a fork."""
    was = episode.setup
    _refuse(episode, turn, change)
    arms = was.arms if change.arms is None else change.arms
    injections = was.injections if change.injections is None else change.injections
    plain_moves = {seat: msgspec.to_builtins(action) for seat, action in change.moves.items()}
    fork = Fork(episode.id, turn, was.seed, was.arms, was.injections, plain_moves)
    return resolve_setup(
        msgspec.structs.replace(
            was,
            seed=derived_seed(was.seed, "fork", repeat) if repeat else was.seed,
            lineup={**was.lineup, **change.lineup},
            arms=arms,
            injections=injections,
            repeat=repeat,
            fork=fork,
        )
    )


def can_go_on(episode: Episode, seats: Sequence[str] = ()) -> bool:
    """Return whether the players outside `seats` can continue beyond the log."""
    return not _gone(episode, seats)


def _gone(episode: Episode, replaced: Sequence[str]) -> list[str]:
    return [
        seat
        for seat, player in episode.setup.lineup.items()
        if seat not in replaced
        and (player.player in CANNOT_GO_ON or player.player.startswith("own:"))
    ]


def _refuse(episode: Episode, turn: int, change: Change) -> None:
    was = episode.setup
    last = max((event.turn for event in episode.events), default=0)
    if not 0 <= turn < last:
        raise BadInput(f"Episode {episode.id} has steps 0 to {last - 1}, not {turn}.")
    if gone := _gone(episode, list(change.lineup)):
        raise BadInput(
            f"{join_names(gone)} of episode {episode.id} cannot continue, because it was played by "
            "a person, imported from a record, or played by an object that was passed to another "
            "call; name a player to take over the seat."
        )
    first = was.fork
    if first and (first.arms, first.injections) != (was.arms, was.injections):
        raise BadInput(
            f"Episode {episode.id} is a fork with other probes or injections; fork the episode it "
            f"came from, {first.episode}."
        )


# --- the past -----------------------------------------------------------------------------------


def _past(episode: Episode, turn: int, setup: Setup) -> Answers:
    """Return every answer before the turn, with the memory of the players that continue."""
    spec = registry.game(episode.setup.instance.game)
    match: Match = Match(spec, episode.setup, ask_nature=True)
    logged = answers_of(spec, episode)
    stays = {s: player for s, player in setup.lineup.items() if _keeps_notes(episode, s, player)}
    players = players_of(
        match, {s: player for s, player in stays.items() if player.player != LANGUAGE}
    )
    answers: Answers = {}

    def remember(ask: Turn, event: Event) -> Given:
        _, answer = logged[ask.id]
        if ask.seat in players and ask.question is None and not event.calls:
            answer = _with_notes(ask, answer, players[ask.seat], episode.id)
        if ask.seat not in stays and isinstance(answer, Decision):
            # memory belongs to the replaced player
            answer = msgspec.structs.replace(answer, memory=None)
        ask.looked = event.looked
        answers[ask.id] = answer, event.looked
        return answer

    _replay(match, episode, turn, remember)
    return answers


def _replay(match: Match, episode: Episode, turn: int, ask_again: Again) -> None:
    """Answer the asks before a turn; raises BadInput if the log lacks an answer."""
    try:
        Driver(match).replay(episode, turn, ask_again)
    except LookupError:
        raise BadInput(f"Episode {episode.id} cannot be replayed up to step {turn}.") from None


def _keeps_notes(episode: Episode, seat: str, player: PlayerSpec) -> bool:
    """Return whether the same player continues: same strategy, or same bot and parameters."""
    was = episode.setup.lineup.get(seat)
    if was is None or was.player != player.player:
        return False
    if player.player == LANGUAGE:
        return was.params.get("strategy") == player.params.get("strategy")
    return was.params == player.params


def _with_notes(ask: Turn, logged: Given, player: Player, episode: str) -> Given:
    """Return the logged move with the memory that the bot returns when it is asked again."""
    answer = send_ask(ask, player)
    if not isinstance(answer, Decision) or not isinstance(logged, Decision):
        return logged
    spec = ask.context.spec
    if action_of(spec, msgspec.to_builtins(answer.action)) != logged.action:
        raise BadInput(
            f"In step {ask.number} of episode {episode}, {ask.seat} played "
            f"{logged.action!r} but would now play {answer.action!r}, so the fork fails."
        )
    return msgspec.structs.replace(logged, memory=answer.memory)


def _answer_from(match: Match, past: Answers, turn: int, episode: Episode) -> None:
    """Advance a fresh match to a turn with the answers of the past, which include memory."""

    def recall_answer(ask: Turn, event: Event) -> Given:
        answer, ask.looked = past[ask.id]
        return answer

    _replay(match, episode, turn, recall_answer)


def would_do(episode: Episode, turn: int, seat: str) -> dict[str, Any]:
    """Return the move each of the game's bots would make in a seat at that turn."""
    spec = registry.game(episode.setup.instance.game)
    require_version(spec, episode)
    setup = msgspec.structs.replace(episode.setup, arms={}, injections=())
    match: Match = Match(spec, setup, ask_nature=True)
    _answer_from(match, _past(episode, turn, episode.setup), turn, episode)
    ask = match.ask_for(seat)
    if ask is None:
        raise BadInput(f"{seat} does not move in step {turn} of episode {episode.id}.")
    moves_by_bot = {}
    for name, kind in registry.partners(spec.family or spec.name).items():
        if kind.helps:
            continue
        try:
            answer = send_ask(ask, seat_player(spec, match.game, Seat(seat), PlayerSpec(name)))
            if isinstance(answer, Decision):
                moves_by_bot[name] = admit(ask.options, answer.action)
        except (BadInput, IllegalMove):  # cannot take that seat, or chose an illegal move
            continue
    return moves_by_bot


# --- from there on ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ForcedMovePlayer:
    """A player whose move in one turn is forced."""

    player: Player
    turn: int
    action: Any

    @property
    def model(self) -> Any:
        return getattr(self.player, "model", None)

    def decide(self, turn: Turn) -> Any:
        if turn.number == self.turn:
            return Decision(self.action, turn.memory)
        return self.player.decide(turn)

    def report(self, turn: Turn) -> Any:
        return send_ask(turn, self.player)


def _going_on(match: Match, turn: int, moves: Mapping[str, Any]) -> dict[str, Player]:
    """Return the players that continue the match from a turn on; in that turn, the seats in `moves`
    make the given moves."""
    meter = Meter().of_episode()
    lineup = with_models(
        match.setup.lineup, lambda _, name: Metered(registry.model(name), meter, name)
    )
    players = players_of(match, lineup)
    for seat, action in moves.items():
        if seat not in match.game.to_move(match.state):
            raise BadInput(f"{seat} does not move in step {turn}, so its move cannot be forced.")
        legal = admit(match.game.options(match.state, Seat(seat)), action)
        players[seat] = ForcedMovePlayer(players[seat], turn, legal)
    return players
