"""Reader of the published Hanabi logs: games, surveys, and the person who played each game.

Every line of prose in a log follows from its moves, so each line is regenerated and compared; a
file with any other line is refused. Starting hands are not in a log; they are derived from the seed
with the shuffle of Python 2.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

import msgspec

from sally.core.errors import BadInput
from sally.parts.importers import Oddity, Source, existing

SOURCE = "Eger, Martens and Alfaro Cordoba 2017, github.com/yawgmoth/HanabiData"
LICENCE = "CC BY 4.0"
COLOURS = ("green", "yellow", "white", "blue", "red")
COPIES = (3, 2, 2, 2, 1)
HAND, HINTS, PEOPLE = 5, 8, 240
COLOUR_HINT, RANK_HINT, PLAY, DISCARD = range(4)
YOU = "You"
AIS = ("outer", "intentional", "full")
QUESTIONS = (
    "age",
    "bgg",
    "exp",
    "gamer",
    "recent",
    "score",
    "intention",
    "skill",
    "like",
    "publish",
)
LAST = "publish"  # the question that every survey ends with

GAME_FILE = re.compile(r"game([0-9a-f]{16})\.log")
SURVEY_FILE = re.compile(r"survey([0-9a-f]{16})\.log")
TABLES = ("games.csv", "participants.csv")
_BEFORE = re.compile(r"Old GID: ([0-9a-f]{16})")
_TREATMENT = re.compile(r"Treatment: \('(\w+)', (\d+)\)")
_CARDS = re.compile(r"\((\d), (\d)\)")
_NUMBER = r"(None|\d+)"
_MOVE = re.compile(rf"MOVE: ([01]) ([0-3]) {_NUMBER} {_NUMBER} {_NUMBER} {_NUMBER}")
_SCORE = re.compile(r"Score (\d+)")

Card = tuple[int, int]  # colour from 0, rank from 1


class Move(msgspec.Struct, frozen=True):
    """One recorded move."""

    player: int  # 0: the AI, 1: the person
    kind: int
    slot: int | None
    target: int | None
    colour: int | None
    rank: int | None

    @property
    def is_slip(self) -> bool:
        """Whether a move was carried out in the wrong seat: the person's click in the AI's seat, or
        the reverse."""
        if self.kind in (COLOUR_HINT, RANK_HINT):
            return self.target == self.player
        return self.target != (1 if self.player else None)


class Game(msgspec.Struct, frozen=True):
    """One log."""

    source: Source
    id: str
    previous_game: str  # the game that the same browser played before; "" if none
    ai: str
    seed: int
    deck: tuple[Card, ...]
    moves: tuple[Move, ...]
    score: int
    lives_lost: int

    @property
    def slip(self) -> int | None:
        """The index of the first move in the wrong seat."""
        return next((n for n, move in enumerate(self.moves) if move.is_slip), None)


class FoundLogs(msgspec.Struct, frozen=True):
    """The logs and surveys under a path."""

    files: tuple[Path, ...]  # of games
    surveys: Mapping[str, Mapping[str, str]]
    oddities: tuple[Oddity, ...]


# --- files ----------------------------------------------------------------------------------------


def find(path: Path) -> FoundLogs:
    """Return the logs of a checkout, of a folder below it, or of one file, with their surveys."""
    if existing(path).is_file() and not GAME_FILE.fullmatch(path.name):
        raise BadInput(f"{path} is not a log of a game; logs are named game0123456789abcdef.log.")
    all_logs = sorted((path.parent if path.is_file() else path).rglob("*.log"))
    games = [path] if path.is_file() else [f for f in all_logs if GAME_FILE.fullmatch(f.name)]
    if not games:
        raise BadInput(f"There is no log game0123456789abcdef.log under {path}.")
    odd = [
        Oddity(file.name, "unknown file", "it is neither a game nor a survey")
        for file in all_logs
        if not GAME_FILE.fullmatch(file.name) and not SURVEY_FILE.fullmatch(file.name)
    ]
    if path.is_dir():
        reason = "the authors' table of the same games; the logs are read instead"
        odd += [Oddity(t, "left alone", reason) for t in TABLES if any(path.rglob(t))]
    surveys = {
        name_match[1]: read_survey(file)
        for file in all_logs
        if (name_match := SURVEY_FILE.fullmatch(file.name))
    }
    return FoundLogs(tuple(games), surveys, tuple(odd))


def _text(file: Path) -> tuple[bytes, list[str]]:
    data = file.read_bytes()
    try:
        return data, data.decode().splitlines()
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name} is not UTF-8 text: {error}.") from None


def read_survey(file: Path) -> dict[str, str]:
    """Return the answers of one person by question; if a question was answered twice, the last
    counts."""
    answers: dict[str, str] = {}
    for number, line in enumerate(_text(file)[1], 1):
        question, _, answer = line.partition(" ")
        if question not in QUESTIONS:
            raise BadInput(
                f"{file.name}, line {number}: {line!r} should be an answer to one of "
                f"{', '.join(QUESTIONS)}."
            )
        answers[question] = answer.strip()
    if answers.get(LAST) != "yes":
        raise BadInput(
            f"{file.name} should end with the question {LAST!r}, answered yes; it may be truncated."
        )
    return answers


# --- one game -------------------------------------------------------------------------------------


def shuffle_deck(seed: int) -> tuple[Card, ...]:
    """Return the deck of a seed, as Python 2's `random.shuffle` orders it."""
    draws = random.Random(seed)
    deck = [(c, n + 1) for c in range(len(COLOURS)) for n in range(5) for _ in range(COPIES[n])]
    for i in reversed(range(1, len(deck))):
        j = int(draws.random() * (i + 1))
        deck[i], deck[j] = deck[j], deck[i]
    return tuple(deck)


def read_game(file: Path) -> Game:
    """Return one log after comparing every line with the text that its moves imply.

    Raises:
        BadInput: A line is not in the published format, or does not follow from the moves.
    """
    name_match = GAME_FILE.fullmatch(file.name)
    assert name_match is not None
    data, lines = _text(file)
    head = 1 if lines and lines[0].startswith("Old GID") else 0
    game_before = (
        _match_line(file, lines, 0, _BEFORE, "Old GID: and 16 hex digits")[1] if head else ""
    )
    treatment = _match_line(file, lines, head, _TREATMENT, "Treatment: with an AI and a seed")
    ai, seed = treatment[1], int(treatment[2])
    if ai not in AIS:
        raise BadInput(f"{file.name}, line {head + 1}: {ai!r} is not one of {', '.join(AIS)}.")
    deck = shuffle_deck(seed)
    deck_left = [(int(c), int(n)) for c, n in _CARDS.findall("".join(lines[head + 1 : head + 2]))]
    if tuple(deck_left) != deck[2 * HAND :]:
        raise BadInput(
            f"{file.name}, line {head + 2}: the deck does not match seed {seed}; it should be "
            "the forty cards left after the deal."
        )
    moves = [
        _move(file, number, line) for number, line in enumerate(lines, 1) if line.startswith("MOVE")
    ]
    score = int(_match_line(file, lines, len(lines) - 1, _SCORE, "Score and a number")[1])
    game = Game(
        Source.of(SOURCE, LICENCE, file.name, data),
        name_match[1],
        game_before,
        ai,
        seed,
        deck,
        tuple(moves),
        score,
        sum(" and fails. Board was " in line for line in lines),
    )
    _compare(file, lines[head + 2 :], head + 3, game)
    return game


def _match_line(
    file: Path, lines: Sequence[str], line_index: int, pattern: re.Pattern[str], expected_text: str
) -> re.Match[str]:
    line = lines[line_index] if 0 <= line_index < len(lines) else ""
    match_found = pattern.fullmatch(line)
    if match_found is None:
        raise BadInput(
            f"{file.name}, line {line_index + 1}: {line[:60]!r} should be {expected_text}; the "
            f"file may be "
            "truncated."
        )
    return match_found


def _move(file: Path, number: int, line: str) -> Move:
    move_match = _MOVE.fullmatch(line)
    fields = (
        [None if field_text == "None" else int(field_text) for field_text in move_match.groups()]
        if move_match
        else []
    )
    if move_match is not None:
        player, kind, slot, target, colour, rank = fields
        hint = kind in (COLOUR_HINT, RANK_HINT)
        fits = (
            (slot is None) == hint
            and (colour is not None) == (kind == COLOUR_HINT)
            and (rank is not None) == (kind == RANK_HINT)
            and (colour is None or colour < len(COLOURS))
            and (rank is None or 1 <= rank <= len(COPIES))
            and (target in (0, 1) if hint else target in (None, 1))
        )
        if fits and player is not None and kind is not None:
            return Move(player, kind, slot, target, colour, rank)
    raise BadInput(
        f"{file.name}, line {number}: {line!r} is not a move; it should be MOVE: followed by "
        "player, kind, card, target, colour and rank."
    )


def _compare(file: Path, lines: Sequence[str], first: int, game: Game) -> None:
    for number, (log_line, ours) in enumerate(zip_longest(lines, prose(file, game)), first):
        if log_line != ours:
            raise BadInput(
                f"{file.name}, line {number}: the log has {log_line!r}, but its moves imply "
                f"{ours!r}."
            )


def card_text(card: Card) -> str:
    """Return a card as the logs name it."""
    return f"{COLOURS[card[0]]} {card[1]}"


def prose(file: Path, game: Game) -> Iterator[str]:
    """Yield the lines of a log below its deck, regenerated from its moves."""
    deck = list(game.deck)
    hands = [deck[:HAND], deck[HAND : 2 * HAND]]
    deck = deck[2 * HAND :]
    piles, trash, tokens, names = [0] * len(COLOURS), [], HINTS, (game.ai, YOU)

    def board() -> str:
        return ", ".join(f"{colour} {n}" for colour, n in zip(COLOURS, piles, strict=True))

    for move in game.moves:
        name, hand = names[move.player], hands[move.player]
        yield "MOVE: " + " ".join(str(field) for field in msgspec.structs.astuple(move))
        if move.kind in (COLOUR_HINT, RANK_HINT):
            tokens -= 1
            assert move.target is not None
            of = f"{COLOURS[move.colour]} cards" if move.colour is not None else str(move.rank)
            to = names[move.target]
            yield f"{name} hints {to} about all their {of} hints remaining: {tokens}"
            yield f"{to} has {', '.join(map(card_text, hands[move.target]))}"
            continue
        if move.slot is None or move.slot >= len(hand):
            raise BadInput(f"{file.name}: {name} has no card {move.slot} in a hand of {len(hand)}.")
        card = hand.pop(move.slot)
        if move.kind == DISCARD:
            tokens = min(tokens + 1, HINTS)
            trash.append(card)
            yield f"{name} discards {card_text(card)}"
            yield f"trash is now {', '.join(map(card_text, trash))}"
        elif piles[card[0]] == card[1] - 1:
            piles[card[0]] += 1
            tokens = min(tokens + (card[1] == len(COPIES)), HINTS)
            yield f"{name} plays {card_text(card)} successfully! Board is now {board()}"
        else:
            trash.append(card)
            yield f"{name} plays {card_text(card)} and fails. Board was {board()}"
        if deck:
            hand.append(deck.pop(0))
        yield f"{name} now has {', '.join(map(card_text, hand))}"
    yield f"Score {sum(piles)}"


# --- people ---------------------------------------------------------------------------------------


def person_of(game: str, games_before: Mapping[str, str], surveys: Mapping[str, object]) -> str:
    """Return an id for the person who played a game. It is the id of the latest game, up to this
    one, after which the person filled in a survey.

    Args:
        game: The id of the game.
        games_before: The previous game of the same browser, by id; "" for the first game.
        surveys: A mapping whose keys are the ids of games after which a survey was filled in.

    Raises:
        BadInput: An earlier game is missing, the chain is circular, or no survey is found.
    """
    game_id, ids_seen = game, {game}
    while game_id not in surveys:
        if not games_before.get(game_id):
            reason = (
                "has no survey and no earlier game"
                if game_id in games_before
                else "has no log here"
            )
            raise BadInput(
                f"game{game}.log cannot be assigned to a person: game {game_id} {reason}."
            )
        game_id = games_before[game_id]
        if game_id in ids_seen:
            raise BadInput(f"game{game}.log: the chain of Old GID entries is circular.")
        ids_seen.add(game_id)
    return game_id
