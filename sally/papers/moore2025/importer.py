"""Importer of published MindGames games: recorded messages and labels, answered by Sally's target.

An episode holds the recorded messages of the persuader, and the recorded labels as the reader's
moves. The target answers by Sally's rules. Where its answers differ from the record, the difference
is listed; nothing is adjusted to fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Turn
from sally.core.registry.paper import Importer, ImportResult
from sally.games.mindgames import GAME
from sally.games.mindgames.claims import Claims, falsehoods
from sally.games.mindgames.replies import BadMessage, in_json, parse_discrete
from sally.games.mindgames.rules import (
    LIMIT,
    PERSUADER,
    READER,
    TARGET,
    MindGame,
    Reply,
    Say,
    split_message,
)
from sally.games.mindgames.stories import Attribute, Story, aliases, stories
from sally.papers.moore2025.figures import RECORDED
from sally.papers.moore2025.published_layout import (
    Condition,
    PublishedGame,
    PublishedTurn,
    points_in,
    points_of,
    read,
)
from sally.parts.importers import Difference, ImportRun, recorded_player

VARIANTS = ("non_mental", "add_hint", "perfect_game", "discrete_game")
NO_WORDS = "(no words)"  # in place of an empty message
COUNTED = (
    "found",
    "finished",
    "unfinished",
    "messages",
    "final choices reproduced",
    "replies reproduced",
    "messages as recorded",
)
FINAL_CHOICE = "final choice"


def import_games(path: Path) -> ImportResult:
    """Import every game in the published layout under a path."""
    games_found = read(path)
    counts = {**dict.fromkeys(COUNTED, 0), "found": len(games_found.games)}
    run = ImportRun(games_found.oddities, counts)
    for game in games_found.games:
        with run.listing_errors(f"{game.file}:{game.line}:{game.index}"):
            run.add(*as_episode(game))
            run.counts["finished" if game.is_finished else "unfinished"] += 1
            run.counts["messages"] += len(game.turns)
    run.counts.update(oddity.what for oddity in run.oddities if oddity.what != "unfinished")
    run.differences.sort(key=lambda difference: difference.what != FINAL_CHOICE)
    return run.result(allow_empty=True)


def as_episode(
    game: PublishedGame, overhear: Callable[[Turn], object] | None = None
) -> tuple[Episode, list[Difference], Counter[str]]:
    """Return one game, replayed from its messages and labels, with its differences and counts.

    `overhear` is called with each turn of the reader; its return value does not enter the episode.
    """
    played = _RecordedMatch(game, overhear)
    for number, turn in enumerate(game.turns[: game.turn_limit], 1):
        played.play(number, turn)
    return played.episode(), played.differences, played.same


class _RecordedMatch:
    """A match that is replayed from a record, with a list of what differs from the record."""

    def __init__(self, game: PublishedGame, overhear: Callable[[Turn], object] | None) -> None:
        self.record, self.overhear = game, overhear
        self.name = f"{game.file}:{game.line}:{game.index}"  # a line holds one person's games
        self.differences: list[Difference] = []
        self.same: Counter[str] = Counter()
        condition = self._condition(game.condition)
        self.match = Match(GAME, _setup(game, condition, self.name))
        assert isinstance(self.match.game, MindGame)
        self.game = self.match.game

    def note(self, subject: str, turn: int | None, recorded: Any, ours: Any) -> None:
        self.differences.append(Difference(self.name, subject, turn, str(recorded), str(ours)))

    def _condition(self, condition: Condition) -> str:
        if condition.reveal_belief != condition.reveal_motivation:
            self.note("condition", None, "only one of beliefs and likes is revealed", "hidden")
        return "revealed" if condition.reveal_belief and condition.reveal_motivation else "hidden"

    def play(self, number: int, turn: PublishedTurn) -> None:
        """Replay one recorded message and its labels, then play the answer that the rules of the
        game give for the target."""
        message_text = self._text(number, turn)
        self.match.move(PERSUADER, Say(message_text))
        if self.match.game.to_move(self.match.state) == (READER,):
            if self.overhear is not None:
                self.overhear(self.match.asks()[0])
            self.match.move(READER, self._labels(turn))
        state = self.match.state
        assert self.match.game.to_move(state) == (TARGET,), "what is on record was accepted"
        self.same["messages as recorded"] += self.game.message(message_text) == turn.message.strip()
        if state.claims != turn.recorded:
            self.note("label", number, turn.recorded, state.claims)
        ours = self.game.exact(state)
        self._compare(number, turn, ours)
        self.match.move(TARGET, ours)

    def _text(self, number: int, turn: PublishedTurn) -> str:
        """Return thoughts, separator and message. Without thoughts, a separator is added only if
        the message contains one.

        The published engine accepted messages that Sally's rules refuse: empty messages and, in the
        discrete game, JSON with other names or keys. Such a message is replaced by a sentence that
        states its labels, and the replacement is listed.
        """
        thoughts = "" if "---" in turn.thoughts else turn.thoughts.strip()
        if thoughts != turn.thoughts.strip():
            self.note("message", number, "thoughts with a line `---`", "left out")
        message = self._acceptable(number, turn)
        if thoughts or split_message(message)[0]:
            return f"{thoughts}\n---\n{message}"
        return message

    def _acceptable(self, number: int, turn: PublishedTurn) -> str:
        """Return the message or, if Sally's rules refuse it, a sentence that states its labels."""
        instead = NO_WORDS
        if self.game.discrete:
            instead = in_json(self._labels(turn))
            try:
                message_claims = parse_discrete(turn.message.strip(), self.game.names)
            except BadMessage:
                message_claims = None
            if message_claims is not None and not self._false(message_claims):
                return turn.message
        elif turn.message.strip():
            return turn.message
        self.note("message", number, turn.message, f"{instead}, as its labels say")
        return instead

    def _labels(self, turn: PublishedTurn) -> Claims:
        """Return the recorded labels without false disclosures.

        In the original game, a message with a false disclosure would have been rejected and not
        recorded.
        """
        if not self._false(turn.recorded):
            return turn.recorded
        return msgspec.structs.replace(turn.recorded, disclosures=())

    def _false(self, message_claims: Claims) -> bool:
        """Return whether Sally's rules would reject a message with these labels because of a false
        disclosure."""
        return not self.game.lying and bool(
            falsehoods(message_claims, self.game.problem, self.game.names)
        )

    def _compare(self, number: int, turn: PublishedTurn, ours: Reply) -> None:
        names, discrete = self.game.names, self.game.discrete
        recorded = points_in(turn.reply, names, discrete)
        points = points_of(ours.answer, names, discrete)
        self.same["replies reproduced"] += recorded == points
        if recorded != points:
            self.note("reply", number, sorted(recorded - points), sorted(points - recorded))

    def episode(self) -> Episode:
        """Return the episode, with the recorded choice; an unfinished game is censored."""
        game = self.record
        letters = game.names.proposals
        chosen = None if game.final_choice is None else letters[game.final_choice]
        used = {str(TARGET): {RECORDED: chosen}} if game.is_finished else {}
        if not self.match.over:
            self.match.censor("left", f"{len(game.turns)} messages are on record", PERSUADER)
        elif game.is_finished:
            ours = self.match.state.story[-1].chosen
            self.same["final choices reproduced"] += ours == game.final_choice
            if ours != game.final_choice:
                self.note(FINAL_CHOICE, None, chosen, letters[ours])
        return self.match.episode(_cell(game.condition), used)


def variant_of(condition: Condition) -> str:
    """Return the variant named by a condition, or the default."""
    variants = [v for v in VARIANTS if getattr(condition, v)]
    if len(variants) > 1:
        raise BadInput(f"A game cannot be {' and '.join(variants)} at the same time.")
    return variants[0] if variants else "plain"


def _cell(condition: Condition) -> str:
    variant = variant_of(condition)
    revealed = condition.reveal_belief and condition.reveal_motivation
    information = "revealed" if revealed else "hidden"
    return f"{condition.persuader} {information if variant == 'plain' else variant}"


def _setup(game: PublishedGame, condition: str, name: str) -> Setup:
    recorded = game.condition
    longest = max((len(t.message) for t in game.turns), default=0)
    params = {
        "puzzle": game.puzzle,
        "cover": _story(game),
        "condition": condition,
        "variant": variant_of(recorded),
        "memory": recorded.memory,
        "messages": game.turn_limit,
        "limit": max(LIMIT, longest),  # every recorded message was accepted
        **({"lying": True} if recorded.allow_lying else {}),
    }
    return Setup(
        Instance(name, GAME.name, msgspec.to_builtins(params)),
        0,
        {
            PERSUADER: recorded_player(recorded.persuader),
            READER: recorded_player("published labels"),
            TARGET: PlayerSpec("exact", {}, {"player": 1}),
        },
        version=GAME.version,
    )


def _story(game: PublishedGame) -> Story:
    """Return the recorded story, named like Sally's story with the same attributes if there is
    one."""
    ours = next((s for s in stories() if _alike(game.names.attributes, s)), None)
    return Story(
        name=ours.name if ours else "unknown",
        text=game.story,
        persuader=ours.persuader if ours else "the persuader",
        target=ours.target if ours else "the target",
        attribute=tuple(Attribute(name) for name in game.names.attributes),
        noun=game.names.noun,
        mental=not game.condition.non_mental,
    )


def _alike(attributes: tuple[str, ...], story: Story) -> bool:
    """Return whether a story of Sally's has these attributes, by name or alias."""
    alias_table = dict(aliases())
    words = [{a, *alias_table.get(a, ())} for a in story.attributes]
    return all(any(name in attribute_words for attribute_words in words) for name in attributes)


IMPORTER = Importer("mindgames", "games of moore2025 in the published layout", import_games)
