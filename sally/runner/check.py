"""Replay stored episodes: check that events and prompts are reproduced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import msgspec

from sally import store
from sally.core.errors import BadInput, PromptDiffers, join_names
from sally.core.log.events import Call, Episode, PlayerSpec, Reported
from sally.core.match.drive import Again
from sally.core.match.playback import mismatch, replay_episode, require_version
from sally.core.match.player import Player, Turn, send_ask
from sally.core.prompt.model import Context
from sally.core.registry import registry
from sally.core.registry.validation import log_problem, setup_problem
from sally.core.reply.reader import CANNOT_CHECK, reads_to
from sally.core.rules.chance import Stream
from sally.core.rules.game import NATURE, GameSpec, Seat
from sally.core.rules.replay import AskId
from sally.models.stub import always, even
from sally.parts.importers import RECORDED
from sally.players.calls import Request, answer_from_log
from sally.players.language import patient, strategy_named, uses_model
from sally.runner.local import is_bot, orders
from sally.runner.reread import as_plain, decision_in, read_as_installed, stored_answer
from sally.runner.seating import kinds, seat_player, versions_of
from sally.store.lines import CHANGED, INCOMPLETE

PERSON = "person"  # player name of people in logs
PROVES = (
    "A replay proves that the moves follow from the stored replies, the bots and the seeds, by the "
    "rules of the game and the rule for reading replies, and the figures from the moves; it cannot "
    "prove who or what wrote the replies, what was shown to it, or how many attempts were dropped."
)


@dataclass
class ReplayCheck:
    """The result of replaying stored episodes."""

    episodes: int = 0
    replayed: int = 0
    mismatches: list[tuple[str, str]] = field(default_factory=list)
    unchecked: list[tuple[str, str]] = field(default_factory=list)
    readers: Counter[int] = field(default_factory=Counter)  # episodes by version of the reply rule
    planned: int | None = None  # episodes that the studies of the store plan; None: unknown
    missing: int = 0  # planned episodes that were not among those replayed
    doubled: int = 0  # lines that repeat an episode
    unreadable: list[store.BadLine] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether every line was read and replayed; an incomplete line is that of a crashed run."""
        return not self.mismatches and all(line.why == INCOMPLETE for line in self.unreadable)

    def __repr__(self) -> str:
        replayed_text = f"{self.replayed} of {self.episodes} episodes replayed"
        counts = f"{len(self.mismatches)} mismatches, {len(self.unchecked)} not checked"
        return f"<{replayed_text}, {counts}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"

    def as_json(self) -> dict[str, Any]:
        return {
            "episodes": self.episodes,
            "replayed": self.replayed,
            "mismatches": [{"episode": id, "why": reason} for id, reason in self.mismatches],
            "unchecked": [{"episode": id, "why": reason} for id, reason in self.unchecked],
            "readers": {str(version): count for version, count in sorted(self.readers.items())},
            "planned": self.planned,
            "missing": self.missing,
            "doubled": self.doubled,
            "unreadable": [str(line) for line in self.unreadable],
        }


def check(
    episodes: Iterable[Episode],
    cells: Mapping[str, Collection[str]] | None = None,
    dropped: store.Contents | None = None,
) -> ReplayCheck:
    """Replay every log through a match; episodes of other rules versions are listed as unchecked.

    Bots are asked again, and models' prompts are rendered again. `cells` maps the id of each
    episode to its cells in the study; `dropped` is filled while the episodes are read, with the ids
    of episodes whose line has a wrong checksum, unreadable lines and the number of duplicates.
    """
    result, dropped = ReplayCheck(), dropped or store.Contents()
    ids = set[str]()
    for episode in episodes:
        result.episodes += 1
        ids.add(episode.id)
        lineup = episode.setup.lineup
        result.readers.update(
            {player.versions["reader"] for player in lineup.values() if "reader" in player.versions}
        )
        try:
            spec = registry.game(episode.setup.instance.game)
            require_version(spec, episode)
        except BadInput as error:
            result.unchecked.append((episode.id, str(error)))
            continue
        version_difference = other_versions(spec, episode)
        # a reader of another version may well have read the replies of this episode alike
        alike = version_difference is None or other_versions(spec, episode, but="reader") is None
        unread: list[AskId] = []
        models = (
            _asked_again(episode, unread=unread if version_difference else None) if alike else None
        )
        differs = mismatch(spec, episode, _asked_players_again(spec, episode, models))
        if alike:
            number = f"{len(unread)} answers" if len(unread) > 1 else "one answer"
            version_difference = (
                f"{version_difference}, and {number} cannot be read by it" if unread else None
            )
        # if every player was asked again and agreed, the log has been replayed
        wrong = setup_problem(episode) if differs is None else log_problem(episode)
        wrong = wrong or _other_cell(episode, cells or {}) or differs or _other_draw(spec, episode)
        if wrong is None and episode.id in dropped.changed:
            wrong = CHANGED
        if wrong is not None:
            result.mismatches.append((episode.id, wrong))
            continue
        result.replayed += 1
        if version_difference:
            result.unchecked.append(
                (episode.id, f"moves replay, answers were not checked: {version_difference}")
            )
        elif elsewhere := _recorded_elsewhere(spec, episode):
            reason = f"moves replay; {elsewhere} played elsewhere, and no prompts are on record"
            result.unchecked.append((episode.id, reason))
        elif _played_elsewhere(episode):
            reason = "moves replay; another program played it, so bots and chance were not checked"
            result.unchecked.append((episode.id, reason))
        elif episode.setup.fork and not all(map(uses_model, lineup.values())):
            reason = "moves replay; bots are not asked again in a fork"
            result.unchecked.append((episode.id, reason))
        elif missing := _list_unregistered(spec, episode):
            reason = f"moves replay; players not registered here, so not asked again: {missing}"
            result.unchecked.append((episode.id, reason))
    result.doubled, result.unreadable = dropped.doubled, dropped.bad
    if cells and not ids.isdisjoint(cells):
        result.planned, result.missing = len(cells), len(cells.keys() - ids)
    return result


def other_versions(spec: GameSpec, episode: Episode, but: str = "") -> str | None:
    """Return why players of an episode cannot be asked again, or None: a part of a bot or of a
    language player has another version than the installed one.

    `but` names a component of players, such as the reply reader, whose version is allowed to
    differ.
    """
    if _played_elsewhere(episode):
        return None
    for seat, player in episode.setup.lineup.items():
        try:
            now = versions_of(spec, player)
        except BadInput as error:
            if uses_model(player):
                return str(error)
            continue  # a person, or an unregistered player
        changed = [
            f"{part} version {player.versions.get(part, 'none')} then, {now.get(part, 'none')} now"
            for part in {**player.versions, **now}
            if part != but and player.versions.get(part) != now.get(part)
        ]
        if changed:
            return f"{seat} has {join_names(changed)}"
    return None


SOURCE = "source"  # in `used` of an episode that another program played


def _played_elsewhere(episode: Episode) -> bool:
    """Return whether an episode was imported: its players and its chance were other programs."""
    lineup = episode.setup.lineup.values()
    return SOURCE in episode.used or any(player.player == RECORDED for player in lineup)


def _other_draw(spec: GameSpec, episode: Episode) -> str | None:
    """Return which move of nature is not the one that the seed draws, or None."""
    if _played_elsewhere(episode):
        return None
    setup, trajectory = episode.setup, replay_episode(spec, episode)
    for step in trajectory.steps():
        if NATURE not in step.moves:
            continue
        fork = setup.fork
        seed = fork.seed if fork is not None and step.turn < fork.turn else setup.seed
        stream = Stream(seed, NATURE, step.turn, "move")
        drawn_move, logged = stream.draw(trajectory.game.odds(step.before)), step.moves[NATURE]
        if drawn_move != logged:
            return (
                f"nature's move of turn {step.turn} is {logged!r}, while seed {seed} draws "
                f"{drawn_move!r}"
            )
    return None


def cells_of(store_location: store.Where) -> dict[str, set[str]]:
    """Return, for each episode id, its cells in the studies that a store holds."""
    cells_by_id: dict[str, set[str]] = {}
    for study in store.studies(store_location).values():
        try:
            for id, cell, _ in orders(study, open_models=False):
                cells_by_id.setdefault(id, set()).add(cell)
        except BadInput:
            continue  # the study names something that is not installed
    return cells_by_id


def _other_cell(episode: Episode, cells: Mapping[str, Collection[str]]) -> str | None:
    """Return an error message if the episode names a cell that is not its cell in the study."""
    study_cells = cells.get(episode.id)
    if study_cells is None or episode.cell in study_cells:
        return None
    study_text = f"its study has it in {join_names(study_cells)}"
    return f"it says that it belongs to cell {episode.cell!r}; {study_text}"


def _list_unregistered(spec: GameSpec, episode: Episode) -> str:
    """Return the players of the lineup that are not registered; people are left out."""
    known_players = {*kinds(spec), PERSON}
    unregistered = sorted(
        {w.player for w in episode.setup.lineup.values() if w.player not in known_players}
    )
    return join_names(unregistered) if unregistered else ""


def _recorded_elsewhere(spec: GameSpec, episode: Episode) -> str:
    """Return the seats whose players were recorded elsewhere, without helper seats."""
    seats = spec.build(episode.setup.instance.params).seats
    lineup = episode.setup.lineup
    recorded_seats = [seat for seat in seats if seat in lineup and lineup[seat].player == RECORDED]
    return join_names(recorded_seats) if recorded_seats else ""


Prompts = dict[AskId, list[Context]]  # prompts of each ask, one per call
Requests = dict[AskId, list[Request]]  # requests of each ask, one per call


def prompts_of(episode: Episode) -> Prompts:
    """Render the prompts of an episode again and check them against the logged hashes.

    Raises:
        BadInput: If words or strategies have changed since, or the episode does not replay.
    """
    requests_by_ask = requests_of(episode)
    return {
        ask: [request.messages for request in requests] for ask, requests in requests_by_ask.items()
    }


def requests_of(episode: Episode) -> Requests:
    """Make the requests of an episode again and check their prompts against the logged hashes.

    If the replies were read by an older rule, requests that only follow from that rule are left
    out, such as those after a reply that it could not read.

    Raises:
        BadInput: If words or strategies have changed since, or the episode does not replay.
    """
    spec = registry.game(episode.setup.instance.game)
    require_version(spec, episode)
    if version_difference := other_versions(spec, episode, but="reader"):
        raise BadInput(
            f"The prompts of episode {episode.id} cannot be rendered again: {version_difference}."
        )
    requests_by_ask: Requests = {}
    is_older = other_versions(spec, episode) is not None
    wrong = mismatch(
        spec, episode, _asked_again(episode, requests_by_ask, [] if is_older else None)
    )
    if wrong is not None:
        raise BadInput(f"Episode {episode.id} does not replay: {wrong}")
    return requests_by_ask


def answered_again(
    turn: Turn, player_spec: PlayerSpec, calls: Sequence[Call], requests: list[Request]
) -> Any:
    """Return the strategy's answer given the logged replies; its requests are added to a list."""
    on_log = msgspec.structs.replace(
        player_spec, params={**player_spec.params, "model": always("", even)}
    )
    sits = seat_player(turn.context.spec, turn.context.game, Seat(turn.seat), on_log)
    player = patient(sits, len(calls))  # retries failed calls as often as the log did
    return answer_from_log(player, turn, calls, requests)


def _asked_again(
    episode: Episode, requests_by_ask: Requests | None = None, unread: list[AskId] | None = None
) -> Again:
    """Return a function that asks every model of an episode again.

    With `unread`, the replies of the episode were read by an older rule: an answer that differs now
    is checked by its first prompt and its last reply, and added to this list if the installed rule
    does not read that reply.
    """
    foreseen = {
        (event.turn, event.seat, event.probe, event.about): event.value
        for event in episode.events
        if isinstance(event, Reported) and event.source == "decision"
    }

    def is_as_logged(answer: Any, turn: Turn, event: Any) -> bool:
        predictions = getattr(answer, "foreseen", ())
        values = [foreseen.get((*turn.id[:2], p.probe, p.about)) for p in predictions]
        return (
            len(answer.calls) == len(event.calls)
            and as_plain(decision_in(answer)) == as_plain(decision_in(event))
            and [prediction.value for prediction in predictions] == values
        )

    def ask_again(turn: Turn, event: Any) -> Any:
        player = episode.setup.lineup.get(turn.seat)
        if player is None or not uses_model(player):  # nature, a bot or a person
            return None
        requests = (
            list[Request]() if requests_by_ask is None else requests_by_ask.setdefault(turn.id, [])
        )
        try:
            answer = answered_again(turn, player, event.calls, requests)
            if unread is None:
                return answer
            if is_as_logged(answer, turn, event):  # though another reply may have been elected
                _require_call_of_reply(turn, event)
                logged_fields = {"calls": event.calls, "reply": event.reply, "tries": event.tries}
                return msgspec.structs.replace(answer, **logged_fields)
        except PromptDiffers:
            if unread is None or not event.calls or requests[0].hash != event.calls[0].prompt:
                raise
            requests.pop()
        assert unread is not None
        if not _reads_alike(turn, event, player):
            unread.append(turn.id)
        return None

    return ask_again


def _require_call_of_reply(turn: Turn, event: Any) -> None:
    if any(call.scores for call in event.calls) or not event.reply:
        return
    if event.reply not in {call.reply for call in event.calls}:
        raise PromptDiffers(f"the reply of {turn.seat} in turn {turn.number} is not in its calls")


def _reads_alike(turn: Turn, event: Any, player: PlayerSpec) -> bool:
    """Return whether the last reply of an answer of an older rule says what the log says; False if
    that cannot be known.

    Raises:
        PromptDiffers: The reply says something else.
    """
    stored = stored_answer(turn, event, player)
    _require_call_of_reply(turn, event)
    if stored is None or "probe" in strategy_named(player.params.get("strategy", "qa")).needs:
        return False  # scored, or with predictions in a reply of their own
    value = reads_to(
        player.versions["reader"],
        event.reply,
        lambda reply: read_as_installed(stored.prompt, turn, stored.result(reply, event.calls[-1])),
    )
    if stored.value is None:
        return value is CANNOT_CHECK  # no rule is known to read it
    if value is CANNOT_CHECK:
        return False
    if as_plain(value) != stored.value:
        raise PromptDiffers(
            f"the reply of {turn.seat} in turn {turn.number} says {as_plain(value)}, while the log "
            f"has {stored.value}"
        )
    return True


def _asked_players_again(spec: GameSpec, episode: Episode, models: Again | None) -> Again:
    """Return a function that asks bots again and, with `models`, also models; people are not
    asked."""
    bots = _bots(spec, episode)

    def ask_again(turn: Turn, event: Any) -> Any:
        if turn.seat in bots and not event.calls:
            return send_ask(turn, bots[turn.seat])
        return None if models is None else models(turn, event)

    return ask_again


def _bots(spec: GameSpec, episode: Episode) -> dict[str, Player]:
    """Return the bots of an episode that are installed in the version with which it was played.

    The result is empty if a seat was recorded elsewhere, because its bots were other programs, and
    for a fork, because another player may have shaped the bot's memory before the fork.
    """
    lineup, bots = episode.setup.lineup, dict[str, Player]()
    if _played_elsewhere(episode) or episode.setup.fork:
        return bots
    game = spec.build(episode.setup.instance.params)
    for seat, player_spec in lineup.items():
        try:
            if (
                not uses_model(player_spec)
                and versions_of(spec, player_spec) == player_spec.versions
            ):
                player = seat_player(spec, game, Seat(seat), player_spec)
                if is_bot(player):
                    bots[seat] = player
        except BadInput:
            continue  # a person, or an unregistered player
    return bots
