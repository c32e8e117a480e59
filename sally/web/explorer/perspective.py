"""A stored episode turn by turn, from one seat's or the referee's perspective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from sally.analysis.decisions.costs import DecisionCost, costs_by_turn
from sally.analysis.decisions.rollouts import at_turn
from sally.core.display.board import board_of
from sally.core.display.scenes import PERSON, REFEREE, Scene, Story, ending, texts_read_by
from sally.core.errors import BadInput, PromptDiffers, unknown
from sally.core.log.events import (
    Censored,
    Ended,
    Episode,
    Event,
    Forfeited,
    Moved,
    Reported,
    Skipped,
    Told,
    label,
)
from sally.core.match.answers import ask_of
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.player import Turn
from sally.core.match.seat_context import SeatContext
from sally.core.prompt.model import Context
from sally.core.registry import registry
from sally.core.rules.board import Board
from sally.core.rules.game import Seat
from sally.core.rules.replay import AskId
from sally.frames.replays import replay_for_measures
from sally.players.calls import Request
from sally.runner.check import answered_again


class LabelledText(msgspec.Struct, frozen=True):
    """A text with its label."""

    who: str
    text: str


class ShownPrompts(msgspec.Struct, frozen=True):
    """The prompts of a model, call by call, or why they cannot be reproduced."""

    prompts: tuple[tuple[LabelledText, ...], ...] = ()
    why_not: str = ""


class AskRecord(msgspec.Struct, frozen=True):
    """An ask and its answer."""

    scene: Scene
    answer: str | None  # None if never answered
    reply: str = ""
    tries: int = 1
    looked: tuple[LabelledText, ...] = ()  # tool calls and results
    shown: ShownPrompts = ShownPrompts()  # prompts, if the player is a model


class TurnOfSeat(msgspec.Struct, frozen=True):
    """A turn as a seat saw it: its rules and history, and everything that it was asked."""

    turn: int
    seat: str
    rules: str
    lines: tuple[str, ...]
    new: int  # number of lines added since the seat's previous turn
    now: str
    board: Board | None  # as drawn for people
    told: tuple[str, ...]
    asked: tuple[AskRecord, ...]
    now_tells_board: bool = False  # `now` is the board in words, as the page of a person drew it


class LedgerEntry(msgspec.Struct, frozen=True):
    """An event as the referee sees it."""

    seat: str
    what: str  # moved, reported, skipped, told, forfeited, censored, ended
    text: str
    truth: str | None = None  # None if not scored
    right: bool | None = None
    reply: str = ""
    cost: str = ""  # loss of the decision and the best options; empty if unknown


class Ledger(msgspec.Struct, frozen=True):
    """A turn as the referee sees it."""

    turn: int
    state: str  # the full state as JSON
    notes: tuple[LedgerEntry, ...]


class EpisodeEnd(msgspec.Struct, frozen=True):
    """The end of an episode, as shown to one seat or to the referee."""

    lines: tuple[str, ...]
    text: str


def perspectives_of(story: Story) -> tuple[str, ...]:
    """Return the names of the perspectives: the referee, and each seat whose texts can be shown."""
    return (REFEREE, *story.rules)


def turns_of(story: Story, eyes: str) -> list[int]:
    """Return the turns with content for a perspective; raises BadInput if it is unknown."""
    if eyes not in perspectives_of(story):
        raise unknown("seat", eyes, perspectives_of(story))
    if eyes == REFEREE:
        return sorted({scene.turn for scene in story.scenes if scene.event})
    return sorted({scene.turn for scene in story.seen_by(eyes) if _is_ask(scene)})


def _is_ask(scene: Scene) -> bool:
    return scene.view is not None


# --- a seat's perspective -----------------------------------------------------------------------


def turn_of_seat(story: Story, seat: str, turn: int) -> TurnOfSeat:
    """Return what `seat` saw and did in one turn."""
    seen_scenes = [scene for scene in story.seen_by(seat) if scene.turn <= turn]
    turn_scenes = [scene for scene in seen_scenes if scene.turn == turn]
    ask_scenes = [scene for scene in turn_scenes if _is_ask(scene)]
    if not ask_scenes:
        raise BadInput(f"{seat} was asked nothing in turn {turn}.")
    prompts = prompts_in(story.episode, seat, turn)
    board = board_of(_seat_context(story.episode, seat), ask_scenes[-1].view)
    player = story.episode.setup.lineup.get(seat)
    is_person = player is not None and player.player == PERSON
    return TurnOfSeat(
        turn,
        seat,
        story.rules[seat],
        tuple(line for scene in seen_scenes for line in scene.new),
        sum(len(scene.new) for scene in turn_scenes),
        ask_scenes[-1].now,
        board,
        tuple(sentence_told for scene in ask_scenes for sentence_told in scene.told),
        tuple(_ask_record(scene, prompts) for scene in ask_scenes),
        is_person and board is not None,
    )


def _ask_record(scene: Scene, prompts: dict[Any, ShownPrompts]) -> AskRecord:
    event = scene.event
    if event is None:
        return AskRecord(scene, None)
    looked = tuple(
        LabelledText(f"{look.tool} {_json(look.given)}", _json(look.found)) for look in event.looked
    )
    ask_prompts = prompts.get(ask_of(event), ShownPrompts())
    return AskRecord(scene, _answer(scene, event), event.reply, event.tries, looked, ask_prompts)


def _answer(scene: Scene, event: Event) -> str:
    if isinstance(event, Forfeited):
        return f"(forfeited: {scene.answer})"
    return f"(not asked: {scene.answer})" if isinstance(event, Skipped) else scene.answer


def _seat_context(episode: Episode, seat: str) -> SeatContext:
    """Return the seat's context with the words that it was shown."""
    setup = episode.setup
    spec = registry.game(setup.instance.game)
    game, texts = spec.build(setup.instance.params), texts_read_by(episode, seat)
    return SeatContext(spec, game, Seat(seat), setup.seed, texts)


# --- prompts of models --------------------------------------------------------------------------


def prompts_in(episode: Episode, seat: str, turn: int) -> dict[AskId | None, ShownPrompts]:
    """Return a model's prompts in one turn, by ask, reproduced by running its strategy on the
    log."""
    prompts_by_ask: dict[AskId | None, ShownPrompts] = {}
    if not any(e.seat == seat and e.turn == turn and e.calls for e in episode.events):
        return prompts_by_ask
    spec = registry.game(episode.setup.instance.game)
    match: Match = Match(spec, episode.setup, ask_nature=True)

    def show(replayed_turn: Turn, event: Event) -> None:
        if event.calls and (replayed_turn.seat, replayed_turn.number) == (seat, turn):
            prompts_by_ask[replayed_turn.id] = _shown_prompts(episode, replayed_turn, event)

    Driver(match).replay(episode, ask_again=show)
    return prompts_by_ask


def _shown_prompts(episode: Episode, turn: Turn, event: Event) -> ShownPrompts:
    requests: list[Request] = []
    try:
        answered_again(turn, episode.setup.lineup[turn.seat], event.calls, requests)
    except (PromptDiffers, BadInput) as error:
        return ShownPrompts(why_not=str(error))
    finally:
        turn.looked = ()
    return ShownPrompts(
        tuple(_as_lines(request.messages, request.candidates) for request in requests)
    )


def _as_lines(context: Context, candidates: tuple[str, ...]) -> tuple[LabelledText, ...]:
    among = (LabelledText("candidates", "\n".join(candidates)),) if candidates else ()
    if isinstance(context, str):
        return (LabelledText("text", context), *among)
    messages = (
        LabelledText(type(message).__name__.lower(), str(message.text)) for message in context
    )
    return (*messages, *among)


# --- the referee's perspective ------------------------------------------------------------------


REPEATS = 5  # rollouts per option; few, since the page waits for them


def ledger(story: Story, turn: int, play_on: bool = False) -> Ledger:
    """Return all events of a turn and the state before it.

    Losses of decisions are shown where the game defines them; with `play_on`, other losses are
    estimated by rollouts.
    """
    turn_events = [(s, s.event) for s in story.scenes if s.event and s.turn == turn]
    costs = costs_by_turn(story.episode)
    for seat in [s.seat for s, event in turn_events if isinstance(event, Moved)] if play_on else ():
        cost = at_turn(story.episode, seat, turn, REPEATS) if seat in story.rules else None
        if cost is not None and (turn, seat) not in costs:
            costs[turn, seat] = cost
    notes = tuple(_ledger_entry(s, event, costs.get((turn, s.seat))) for s, event in turn_events)
    if not notes:
        raise BadInput(f"Nothing happened in turn {turn}.")
    states = replay_for_measures(story.episode).replay.states
    return Ledger(turn, _json(states[turn]) if turn < len(states) else "", notes)


def ledgers(story: Story, turns: Sequence[int]) -> list[Ledger]:
    """Return the ledgers of several turns without the states, for a page of the whole episode."""
    costs = costs_by_turn(story.episode)
    events = [(scene, scene.event) for scene in story.scenes if scene.event]
    return [
        Ledger(
            turn,
            "",
            tuple(
                _ledger_entry(scene, event, costs.get((turn, scene.seat)))
                for scene, event in events
                if scene.turn == turn
            ),
        )
        for turn in turns
    ]


def _ledger_entry(scene: Scene, event: Event, cost: DecisionCost | None = None) -> LedgerEntry:
    kind, text = type(event).__name__.lower(), scene.answer
    if isinstance(event, Ended | Censored):
        text = ending(event)
    elif isinstance(event, Reported | Told):
        source = f" ({event.source})" if event.source != "probe" else ""
        text = f"{scene.probe}: {text}{source}"
    elif isinstance(event, Skipped):
        text = f"{scene.probe}: {text}"
    paid = _cost(cost) if cost is not None and isinstance(event, Moved | Forfeited) else ""
    return LedgerEntry(scene.seat, kind, text, scene.truth, scene.right, event.reply, paid)


def _cost(cost: DecisionCost) -> str:
    best = f" (best: {' or '.join(cost.best)})" if cost.best and cost.loss else ""
    sure = f" [{cost.interval[0]:.3g}, {cost.interval[1]:.3g}]" if cost.interval else ""
    loss_text = f"{cost.loss:.4g}{sure}{best}" if cost.loss else "nothing"
    return f"{loss_text}; by {cost.how}" if "continuations" in cost.how else loss_text


# --- the end ------------------------------------------------------------------------------------


def close(story: Story, eyes: str) -> EpisodeEnd:
    """Return the end of the episode, with the history that the perspective sees."""
    text = sentence(ending(story.episode.end, eyes))
    if eyes == REFEREE:
        return EpisodeEnd((), text)
    past = tuple(line for scene in story.seen_by(eyes) for line in scene.new)
    return EpisodeEnd((*past, *story.after[eyes]), text)


def sentence(line: str) -> str:
    """Capitalise a transcript line and add a full stop."""
    return f"{line[0].upper()}{line[1:]}."


def seats_of(episode: Episode) -> list[LabelledText]:
    """Return the players by seat."""
    return [LabelledText(seat, label(player)) for seat, player in episode.setup.lineup.items()]


def _json(value: Any) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
    except (TypeError, ValueError):
        return repr(value)  # a type that JSON cannot encode
