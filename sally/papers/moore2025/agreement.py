"""Agreement of a reader (rules or a model) with the recorded labels, and with the final choices
that follow from them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import msgspec

from sally.core.errors import BadInput
from sally.core.event_loop import run_coroutine
from sally.core.match.player import Decision, Fault, Turn
from sally.core.prompt.model import Model, Settings
from sally.games.mindgames.claims import Claims, falsehoods
from sally.games.mindgames.players import ModelReader
from sally.games.mindgames.reader import read
from sally.papers.moore2025.importer import as_episode
from sally.papers.moore2025.published_layout import PublishedGame, rerun


def by_model(model: Model, settings: Settings) -> Callable[[PublishedGame], list[Claims]]:
    """Return a reader of games: a model labels each message, given the recorded conversation before
    it.

    If the model's answer cannot be read, the message counts as claiming nothing. Raises BadInput if
    the model fails.
    """
    reader = ModelReader(model, settings)

    def read(game: PublishedGame) -> list[Claims]:
        claims_read: list[Claims] = []

        def overhear(turn: Turn) -> None:
            answer = run_coroutine(reader.decide(turn))
            if isinstance(answer, Fault):
                raise BadInput(f"The reading model failed: {answer.detail}")
            claims_read.append(answer.action if isinstance(answer, Decision) else Claims())

        as_episode(game, overhear)
        return claims_read

    return read


LabelKind = Literal["disclosures", "motivational", "informational", "inferential"]
KINDS: tuple[LabelKind, ...] = ("disclosures", "motivational", "informational", "inferential")
GameReader = Callable[[PublishedGame], Sequence[Claims]]


HALVES = ("tuning", "held-out")


def hash_of(game: PublishedGame) -> bytes:
    """Return the hash of a game's place in the files, which orders games at random."""
    return hashlib.sha256(f"{game.file}:{game.line}:{game.index}".encode()).digest()


def half_of(game: PublishedGame) -> str:
    """Return the half that a game belongs to, by a hash of its place in the files; rules are tuned
    on one half."""
    return HALVES[hash_of(game)[0] % 2 == 0]


class LabelCounts(msgspec.Struct, frozen=True):
    """Numbers of labels that are in both the reader's result and the record, or in only one of
    them."""

    in_both: int = 0
    reader_only: int = 0
    record_only: int = 0

    def __add__(self, other: LabelCounts) -> LabelCounts:
        return LabelCounts(
            self.in_both + other.in_both,
            self.reader_only + other.reader_only,
            self.record_only + other.record_only,
        )

    @property
    def precision(self) -> float | None:
        """The share of the labels assigned by the reader (rules or a model) that the published data
        contain too; None if the reader assigned no labels."""
        n_found = self.in_both + self.reader_only
        return self.in_both / n_found if n_found else None

    @property
    def recall(self) -> float | None:
        """The share of the published labels that the reader assigned too; None if there are no
        published labels."""
        recorded = self.in_both + self.record_only
        return self.in_both / recorded if recorded else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None if neither side has any label."""
        total = 2 * self.in_both + self.reader_only + self.record_only
        return 2 * self.in_both / total if total else None


class Agreement(msgspec.Struct, frozen=True):
    """Agreement of a reader with the record over a set of games."""

    tallies: dict[LabelKind, LabelCounts]
    same_choice: int
    games: int
    came_back: int = 0
    messages: int = 0

    @property
    def choices(self) -> float | None:
        """The share of finished games in which the reader's labels lead to the same final choice as
        the recorded labels."""
        return self.same_choice / self.games if self.games else None

    @property
    def returns(self) -> float | None:
        """The share of messages that would be rejected under the reader's labels, although all were
        accepted in the recorded games."""
        return self.came_back / self.messages if self.messages else None


def by_rules(game: PublishedGame, *, charity: bool = False) -> list[Claims]:
    """Return the labels that the rules find in every message, given the conversation before it.

    With `charity` the rules also see the true table, as in play, so that a loose phrase is not
    taken for a lie. Agreement is measured without it, because the table reveals what a message may
    say.
    """
    claims_read: list[Claims] = []
    earlier: list[tuple[str, str]] = []
    puzzle = game.puzzle if charity else None
    for turn in game.turns:
        claims_read.append(read(turn.message, game.names, earlier, puzzle))
        earlier.append((turn.message, turn.reply))
    return claims_read


def compare_labels(claims_read: Claims, recorded: Claims) -> dict[LabelKind, LabelCounts]:
    """Return tallies, by kind of label, of the labels found in one message and the recorded
    labels."""
    tallies: dict[LabelKind, LabelCounts] = {}
    for kind in KINDS:
        ours, recorded_labels = set(getattr(claims_read, kind)), set(getattr(recorded, kind))
        tallies[kind] = LabelCounts(
            len(ours & recorded_labels), len(ours - recorded_labels), len(recorded_labels - ours)
        )
    return tallies


FOLDS = 5


def fold_of(game: PublishedGame) -> int:
    """Return the fold of a game; the games of one person (one line of the file) share a fold."""
    return hashlib.sha256(f"{game.file}:{game.line}".encode()).digest()[1] % FOLDS


def read_at_once(
    games: Sequence[PublishedGame], reader: GameReader, at_once: int
) -> dict[int, Sequence[Claims]]:
    """Return the labels of all games, keyed by `id(game)`, reading `at_once` games at a time."""
    with ThreadPoolExecutor(at_once) as threads:
        return dict(zip(map(id, games), threads.map(reader, games), strict=True))


def agreement(games: Iterable[PublishedGame], reader: GameReader) -> Agreement:
    """Return the agreement of a reader with the record, over all messages and all final choices."""
    tallies: dict[LabelKind, LabelCounts] = dict.fromkeys(KINDS, LabelCounts())
    n_same = finished = back = messages = 0
    for game in games:
        claims_read = reader(game)
        messages += len(claims_read)
        back += sum(bool(c.unclear or falsehoods(c, game.puzzle, game.names)) for c in claims_read)
        for claim, turn in zip(claims_read, game.turns, strict=True):
            for kind, tally in compare_labels(claim, turn.recorded).items():
                tallies[kind] += tally
        if game.is_finished:
            finished += 1
            n_same += rerun(game, claims_read, game.condition.memory) == game.final_choice
    return Agreement(tallies, n_same, finished, back, messages)
