"""Scenes of an episode: each moment as its seat saw it, with the outcome.

Terminal, transcript, report page, explorer and live browser all render these scenes, so people and
models read the same history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from sally.core.display.board import board_of
from sally.core.display.board_text import board_lines
from sally.core.errors import BadInput, IllegalMove, NotAsked, join_names
from sally.core.log.events import (
    Censored,
    Ended,
    Episode,
    Event,
    Forfeited,
    Moved,
    PlayerSpec,
    Reported,
    Skipped,
    Told,
)
from sally.core.match.answers import action_of, ask_of
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import require_version
from sally.core.match.player import Turn
from sally.core.match.seat_context import SeatContext
from sally.core.registry import packs, registry
from sally.core.rules.game import NATURE, Seat
from sally.core.rules.menu import Form
from sally.core.rules.metric import judge_report
from sally.core.rules.probe import Question
from sally.core.rules.replay import AskId
from sally.core.rules.words import Words

REFEREE = "referee"  # sees everything
PERSON = "person"  # the player that stands for a person at a browser
PEOPLE_READ = "people_read"  # in `used`: the words pack that people read
FOR_MODELS = "models"  # instead of a pack: people read the same words as models


class Scene(msgspec.Struct, frozen=True):
    """One moment at one seat: what the seat read, what it was asked, and the outcome."""

    turn: int
    seat: str  # empty: no seat, as at the end
    new: tuple[str, ...] = ()  # lines added to its page since its last scene
    now: str = ""
    # shown for this moment only; lasting information is a line of its page
    told: tuple[str, ...] = ()
    probe: str = ""  # the probe and its subject; empty: a move
    question: str = ""
    format: str = ""
    options: tuple[str, ...] = ()
    view: Any = None
    event: Event | None = None  # None: not answered, or not yet
    answer: str = ""  # the move, report or injected value, by name
    odds: tuple[tuple[str, float], ...] = ()
    truth: str | None = None  # None: not scored, or hidden from this observer
    right: bool | None = None


class Story(msgspec.Struct, frozen=True):
    """A whole episode as scenes, in log order."""

    episode: Episode
    rules: dict[str, str]  # by seat
    scenes: tuple[Scene, ...]
    after: dict[str, tuple[str, ...]]  # lines each seat could read after its last scene

    def seen_by(self, eyes: str) -> tuple[Scene, ...]:
        """Return the scenes visible to an observer; a seat sees only its own scenes, without the
        true answers to probes."""
        if eyes == REFEREE:
            return self.scenes
        own_scenes = [s for s in self.scenes if s.seat == eyes and not _unseen(s.event)]
        return tuple(msgspec.structs.replace(s, truth=None, right=None) for s in own_scenes)


def _unseen(event: Event | None) -> bool:
    """Return whether an event is shown to no seat: an end of the game, or an injection without a
    value."""
    return isinstance(event, Ended | Censored) or (isinstance(event, Told) and event.value is None)


def tell(episode: Episode) -> Story:
    """Return an episode as a sequence of scenes; raises BadInput if its log does not replay."""
    spec, setup = registry.game(episode.setup.instance.game), episode.setup
    require_version(spec, episode)
    texts = {seat: texts_read_by(episode, seat) for seat in setup.lineup}
    try:
        match = Match(spec, setup, ask_nature=True, texts=texts)
        teller = _SceneRecorder(match)
        scenes = teller.scenes(episode)
    except (LookupError, NotAsked, IllegalMove, TypeError, msgspec.ValidationError) as error:
        raise BadInput(f"Episode {episode.id} does not replay: {error}") from None
    rules = {str(seat): _rules(match.context(seat)) for seat in match.game.seats}
    return Story(episode, rules, scenes, teller.lines_after_last_turn())


def texts_read_by(episode: Episode, seat: str) -> Mapping[str, str]:
    """Return the texts that a seat's player read instead of the built-in ones: those of a model's
    words pack or, for a person, those of the study's pack or of the game's texts for people."""
    player = episode.setup.lineup.get(seat)
    if player is None or player.player != PERSON:
        return texts_of(player)
    spec, pack = registry.game(episode.setup.instance.game), str(episode.used.get(PEOPLE_READ, ""))
    if pack == FOR_MODELS:
        return {}
    return packs.find(pack).texts if pack in packs.shipped_packs() else spec.people.texts


def texts_of(player: PlayerSpec | None) -> Mapping[str, str]:
    """Return the texts of the player's words pack, which replace the built-in ones."""
    name = player.params.get("pack") if player is not None else None
    return packs.find(name).texts if name else {}


def outlook(context: SeatContext, turn: int, view: Any, new: Sequence[str] = ()) -> Scene:
    """Return the scene of a seat that is not being asked anything."""
    return Scene(
        turn, context.seat, tuple(new), _or_none(lambda: context.words.now(view)), view=view
    )


def moment(turn: Turn, new: Sequence[str] = ()) -> Scene:
    """Return the scene of a seat that is about to answer: what it has read and what it is asked."""
    context, view, question = turn.context, turn.view, turn.question
    if turn.seat == NATURE:
        return Scene(turn.number, NATURE)
    words = context.words
    if question is None:
        question_text = _or_none(lambda: words.question(view, turn.options))
        names = option_names(words, turn.options)
        format_text = _or_none(lambda: words.format(view, turn.options))
    else:
        probe_question, asker = question, words.of(question)
        question_text = _or_none(lambda: asker.aside(probe_question, view, turn.pending))
        names = tuple(asker.choice_name(question, c) for c in question.choices)
        format_text = asker.aside_format(question)
    return msgspec.structs.replace(
        outlook(context, turn.number, view, new),
        told=tuple(context.tell_injected(turn.told)),
        probe="" if question is None else about(question),
        question=question_text,
        format=format_text,
        options=names,
    )


def on_a_page(turn: Turn, scene: Scene) -> Scene:
    """Return the scene as a person saw it: the board and the controls of the page, instead of the
    sentences that tell a model where the game stands and how to write its answer."""
    board = board_of(turn.context, turn.view)
    now = scene.now if board is None else "\n".join(board_lines(board))
    return msgspec.structs.replace(scene, now=now, format=controls_text(turn, scene.options))


def controls_text(turn: Turn, names: Sequence[str]) -> str:
    """Return the buttons and fields with which a person answers, as one line."""
    question, options = turn.question, turn.options
    scale = turn.context.words.scale(options) if question is None else question.scale
    if scale is not None:
        return f"[a number from {scale.low} to {scale.high}]"
    if question is not None and question.kind != "choice":
        return "[a number for each of: " + ", ".join(names) + "]"
    forms = [option for option in options if type(option) is Form] if question is None else []
    buttons = [f"[{name}]" for name in (names[: len(names) - len(forms)] if forms else names)]
    fields = [f"[{form.kind}: {', '.join(name for name, _ in form.fields)}]" for form in forms]
    return " ".join((*buttons, *fields))


class _SceneRecorder:
    """Recorder of scenes from a match that replays a log."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._asked: dict[AskId, Scene] = {}
        self._logged = 0

    def scenes(self, episode: Episode) -> tuple[Scene, ...]:
        match, out, number = self._match, list[Scene](), 0
        people = {s for s, player in episode.setup.lineup.items() if player.player == PERSON}

        def show(turn: Turn) -> Scene:
            nonlocal number
            out.extend(self._since(number))
            number = match.turn
            scene = moment(turn, turn.context.reader.news(turn.view) if turn.seat != NATURE else ())
            return on_a_page(turn, scene) if turn.seat in people else scene

        def note(turn: Turn, event: Event) -> None:
            self._asked[turn.id] = show(turn)

        for turn in Driver(match).replay(episode, ask_again=note):
            out.append(show(turn))
        out += self._since(number)
        return tuple(judge_scene(match, scene) for scene in out)

    def lines_after_last_turn(self) -> dict[str, tuple[str, ...]]:
        """Return, for each seat, the lines that the last turn added to its prompt."""
        match, replay = self._match, self._match.replay
        last = {seat: replay.view(len(replay), seat) for seat in match.game.seats}
        return {str(s): tuple(match.context(s).reader.news(view)) for s, view in last.items()}

    def _since(self, number: int) -> Iterator[Scene]:
        """Yield one scene for each event of turn `number`: what the seat saw, and the event
        itself."""
        events = self._match.events[self._logged :]
        self._logged = len(self._match.events)
        for event in events:
            move = (number, event.seat, "", "")
            if (ask := ask_of(event)) is not None and ask in self._asked:
                scene = self._asked.pop(ask)
            elif isinstance(event, Told) and move in self._asked:
                # the injection is shown together with the question that follows
                following = self._asked[move]
                self._asked[move] = msgspec.structs.replace(following, new=())
                scene = Scene(number, event.seat, following.new, following.now)
            else:
                scene = Scene(number if isinstance(event, Told) else event.turn, event.seat)
            yield msgspec.structs.replace(scene, event=event)


def judge_scene(match: Match, scene: Scene) -> Scene:
    """Return the scene with the answer in words and the truth added."""
    spec, replay, event = match.spec, match.replay, scene.event
    if event is None or isinstance(event, Ended | Censored):
        return scene
    words = match.context(Seat(event.seat)).words
    if isinstance(event, Moved):
        action = action_of(spec, event.action) if event.seat != NATURE else event.action
        done = named_move(words, event.seat, action)
        if scene.view is not None and (refusal := words.refusal(scene.view, action)):
            done = f"{done} (refused: {refusal.rstrip('.')})"
        return msgspec.structs.replace(scene, answer=done)
    if isinstance(event, Forfeited | Skipped):
        probe = about(event) if isinstance(event, Skipped) else ""
        return msgspec.structs.replace(scene, answer=event.reason, probe=probe)
    judged_report = judge_report(spec, replay, event)
    question, truth = (
        (judged_report.question, judged_report.truth) if judged_report else (None, None)
    )
    words = words if question is None else words.of(question)
    names = [words.choice_name(question, c) for c in question.choices] if question else []
    odds = (event.odds or ()) if isinstance(event, Reported) else ()
    return msgspec.structs.replace(
        scene,
        probe=about(event),
        answer=named_value(words, question, event.value, event),
        odds=tuple(zip(names, odds, strict=False)),
        truth=None if truth is None else named_value(words, question, truth, event),
        right=judged_report.right if judged_report else None,
    )


# --- values in words --------------------------------------------------------------------------


def about(subject: Question | Reported | Told | Skipped) -> str:
    """Return the probe's name with its subject."""
    return f"{subject.probe} about {subject.about}" if subject.about else subject.probe


def option_names(words: Words, options: Sequence[Any]) -> tuple[str, ...]:
    """Return the names of the options; an option with fields to fill in is named by its kind."""
    ready = tuple(option for option in options if type(option) is not Form)
    return (*words.menu(ready), *(f"{o.kind} ..." for o in options if type(o) is Form))


def named_move(words: Words, seat: str, action: Any) -> str:
    """Return the name of a move; for a move without a name, such as a deal of cards, its fields."""
    name = "" if seat == NATURE else words.name(action)
    if name and not (isinstance(action, msgspec.Struct) and name == str(action)):
        return name
    if not isinstance(action, dict | msgspec.Struct):
        return plain_text(action)
    fields: dict[str, Any] = dict(msgspec.to_builtins(action))
    kind = fields.pop("kind", None)
    if kind is None and isinstance(action, msgspec.Struct):
        tag = action.__struct_config__.tag
        fields.pop(str(action.__struct_config__.tag_field), None)
        kind = str(tag or type(action).__name__)
    fields_text = "; ".join(
        f"{key} {amounts_text(value)}"
        for key, value in fields.items()
        if seat == NATURE or value not in ("", [], (), None)
    )
    return ": ".join(part for part in (kind, fields_text) if part)


def named_value(words: Words, question: Question | None, value: Any, event: Reported | Told) -> str:
    """Return an answer to a probe in words: a choice's name, or each item's name and number."""
    if value is None:
        nothing = isinstance(event, Told)
        return "nothing, as nothing was known" if nothing else "nothing readable"
    if question is None:
        return plain_text(value)
    words = words.of(question)
    if isinstance(value, dict):
        names = {str(c): words.choice_name(question, c) for c in question.choices}
        values_text = plain_text(
            {names.get(item, item): value_of_item for item, value_of_item in value.items()}
        )
        left_out = [name for choice, name in names.items() if choice not in value]
        return (
            f"{values_text} (partial: nothing on {join_names(left_out, 'and')})"
            if left_out
            else values_text
        )
    return words.choice_name(question, value)


def amounts_text(value: Any) -> str:
    """Return a list of items with amounts, or any other value, as text."""
    if isinstance(value, tuple | list):
        parts = (" ".join(map(str, v)) if isinstance(v, tuple | list) else str(v) for v in value)
        return ", ".join(parts)
    return plain_text(value)


def plain_text(value: Any) -> str:
    """Return a simple value as text, and any other value as JSON."""
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, dict) and all(isinstance(v, int | float) for v in value.values()):
        return ", ".join(f"{key} {v:.4g}" for key, v in value.items())
    return msgspec.json.encode(value).decode()


def ending(end: Ended | Censored, eyes: str = REFEREE) -> str:
    """Return one line on how an episode ended, with only what the observer may know."""
    if isinstance(end, Censored):
        seat_text = f" at {end.seat}" if end.seat else ""
        return f"stopped without a result ({end.cause}{seat_text}): {end.detail}".removesuffix(": ")
    if not end.payoffs:
        return "end of the position"
    if eyes != REFEREE:
        return f"over; {eyes} got {end.payoffs.get(eyes, 0):g}"
    return "over: " + ", ".join(f"{seat} {pay:g}" for seat, pay in end.payoffs.items())


def _rules(context: SeatContext) -> str:
    frame, rules = context.words.texts["frame"], _or_none(lambda: context.words.rules(context.seat))
    return "\n\n".join(part for part in (frame, rules) if part)


def _or_none(say: Callable[[], str]) -> str:
    """Return the text that `say` produces, or "" if the game has no such text, for example for a
    helper seat."""
    try:
        return say()
    except LookupError:
        return ""
