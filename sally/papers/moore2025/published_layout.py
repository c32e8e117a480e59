"""Reader of games in the published JSON-lines layout, and of the statements in their replies.

Deviations from the layout are listed, not repaired.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from sally.core.errors import BadInput
from sally.games.mindgames.claims import (
    Asked,
    Claims,
    Disclosure,
    Names,
    claims,
    disclosed_cells,
    falsehoods,
)
from sally.games.mindgames.puzzles import Cell, Puzzle
from sally.games.mindgames.replies import Answer
from sally.games.mindgames.target import (
    Memory,
    choice_of,
    first_mind,
    learn_cells,
    ranking,
    remember_choice,
)
from sally.games.mindgames.target import values as target_values
from sally.parts.importers import Oddity, existing

_log = logging.getLogger(__name__)

Point = tuple[str | int, ...]  # one statement: its kind, then what it is about
EFFECTS = {"increase": 1, "have no effect on": 0, "decrease": -1}
LIKES = {
    "like": 1,
    "dislike": -1,
    "feel indifferent to": 0,
    "maximizes": 1,
    "minimizes": -1,
    "ignores": 0,
}


def points_of(answer: Answer, names: Names, discrete: bool = False) -> frozenset[Point]:
    """Return the statements in an answer of Sally's target; with `discrete`, statements about
    unknown cells are left out."""
    points: set[Point] = set()
    for part in answer.information:
        row = names.proposals[part.proposal]
        points |= {("does", row, names.attributes[a], u) for a, u in part.known}
        if not discrete:
            points |= {("unknown", row, names.attributes[a]) for a in part.unknown}
    points |= {("feels", names.attributes[a], v) for a, v in answer.motivation}
    ranked = answer.inference
    if ranked is None:
        return frozenset(points)
    places = ["".join(names.proposals[p] for p in place) for place in ranked.places]
    if discrete:
        points |= {("value", names.proposals[p], v) for p, v in enumerate(ranked.values)}
    else:
        points |= {("same", place) for place in places if len(place) > 1}
        points |= {("over", *pair) for pair in pairwise(places)}
    if discrete or len(ranked.places[0]) > 1:
        points.add(("chosen", names.proposals[ranked.chosen]))
    return frozenset(points)


def points_in(reply: str, names: Names, discrete: bool = False) -> frozenset[Point]:
    """Return the statements in a recorded reply."""
    if discrete:
        return frozenset(_points_in_json(reply))
    points: set[Point] = set()
    for sentence in re.split(r"(?<=\.)\s+", reply):
        points |= set(_facts(sentence, names)) | set(_ranks(sentence, names))
    return frozenset(points)


def _facts(sentence: str, names: Names) -> Iterator[Point]:
    proposals = "|".join(map(re.escape, names.proposals))
    about = re.match(rf"\w+ ({proposals}) will ", sentence)
    unknown = re.search(rf"information about (?:\w+ )?({proposals})'s effect on ", sentence)
    for attribute in names.attributes:
        name = re.escape(attribute)
        for words, sign in EFFECTS.items():
            if about and re.search(rf"will {words} {name}\b", sentence):
                yield ("does", about[1], attribute, sign)
        for words, sign in LIKES.items():
            if re.search(rf"(?i)\b(?:I|the system) {words} {name}\b", sentence):
                yield ("feels", attribute, sign)
        if unknown and re.search(rf"\b{name}\b", sentence):
            yield ("unknown", unknown[1], attribute)


def _ranks(sentence: str, names: Names) -> Iterator[Point]:
    def letters(text: str) -> str:
        return "".join(p for p in names.proposals if re.search(rf"\b{re.escape(p)}\b", text))

    if now := re.match(r"Right now, that is (\w+)\.", sentence):
        yield ("chosen", now[1])
    ranking = re.match(r"(?:I prefer|The system ranks) (.*)\.", sentence)
    if ranking is None:
        return
    if equal_match := re.match(r"(.*) the same$", ranking[1]):
        yield ("same", letters(equal_match[1]))
    elif order_match := re.match(r"(.*) over (.*)", ranking[1]):
        yield ("over", letters(order_match[1]), letters(order_match[2]))


class _Cell(msgspec.Struct):
    proposal: str
    attribute: str
    utility: int


class _Like(msgspec.Struct):
    attribute: str
    utility: int


class _Rank(msgspec.Struct):
    proposal: str
    utility: int
    chosen: bool


class _Json(msgspec.Struct):
    informational: list[_Cell] = []
    motivational: list[_Like] = []
    inferential: list[_Rank] = []


def _points_in_json(reply: str) -> Iterator[Point]:
    try:
        json_reply = msgspec.json.decode(reply, type=_Json) if reply.strip() else _Json()
    except msgspec.MsgspecError:
        yield ("unreadable", reply)
        return
    yield from (("does", c.proposal, c.attribute, c.utility) for c in json_reply.informational)
    yield from (("feels", like.attribute, like.utility) for like in json_reply.motivational)
    for rank in json_reply.inferential:
        yield ("value", rank.proposal, rank.utility)
        if rank.chosen:
            yield ("chosen", rank.proposal)


class Condition(msgspec.Struct, frozen=True):
    """The condition named by a folder: the kind of persuader, and the variant that was played."""

    persuader: str
    human: bool = False
    reveal_belief: bool = False
    reveal_motivation: bool = False
    add_hint: bool = False
    discrete_game: bool = False
    non_mental: bool = False
    perfect_game: bool = False
    allow_lying: bool = False

    @property
    def memory(self) -> Memory:
        """The target's memory: sequential for people, frozen for models."""
        return "sequential" if self.human else "frozen"


class PublishedTurn(msgspec.Struct, frozen=True):
    """One message, the thoughts before it, the labels recorded for it and the reply."""

    message: str
    reply: str
    recorded: Claims
    thoughts: str = ""


class PublishedGame(msgspec.Struct, frozen=True):
    """One recorded game; `final_choice` is None if the game was not finished."""

    file: str
    line: int
    index: int
    condition: Condition
    puzzle: Puzzle
    names: Names
    story: str
    turns: tuple[PublishedTurn, ...]
    final_choice: int | None
    turn_limit: int

    @property
    def is_finished(self) -> bool:
        """Return whether every message was sent and a choice recorded."""
        return self.final_choice is not None and len(self.turns) == self.turn_limit


class GameOddity(Oddity, frozen=True):
    """A deviation from the published layout; a line may hold several games."""

    index: int | None = None  # of the game in its line

    @property
    def place(self) -> str:
        """The file, the line and, if known, the index of the game in the line."""
        file_place = super().place
        return file_place if self.index is None else f"{file_place}:{self.index}"


class FoundGames(msgspec.Struct, frozen=True):
    """All games found under a path, and the oddities found in the files."""

    games: tuple[PublishedGame, ...]
    oddities: tuple[GameOddity, ...]


def condition_of(folder: str) -> Condition:
    """Parse the condition from a folder name `key=value&key=value`; an absent flag is false."""
    pairs = dict(part.split("=", 1) for part in folder.split("&") if "=" in part)
    if "human_persuader" not in pairs and "llm_persuader" not in pairs:
        raise BadInput(
            f"The folder name {folder!r} does not name the persuader; it should contain "
            "human_persuader=True or llm_persuader=NAME."
        )
    human = pairs.get("human_persuader") == "True"
    flags = {
        name: pairs.get(name) == "True"
        for name in Condition.__struct_fields__
        if name not in ("persuader", "human")
    }
    name = "human" if human else pairs.get("llm_persuader", "unknown").replace("__", "/")
    return Condition(persuader=name, human=human, **flags)


SUPERSEDED = ("_wrong_reveal", "_half_done")  # the authors' marks for games that they played again


def is_superseded(file: str) -> bool:
    """Return whether a file's name marks it as replaced by its authors."""
    return any(mark in file for mark in SUPERSEDED)


def files_under(path: Path) -> tuple[Path, ...]:
    """Return the game files at a path: the file itself, or those in the condition folders below
    it."""
    if existing(path).is_file():
        return (path,)
    all_files = sorted(path.rglob("*.jsonl"))
    game_files = tuple(file for file in all_files if "_persuader=" in file.parent.name)
    if all_files and not game_files:  # the repository root also holds files that are not games
        condition_of(all_files[0].parent.name)
    if not game_files:
        raise BadInput(f"There is no .jsonl file under {path.name!r}.")
    return game_files


def read(path: Path) -> FoundGames:
    """Return all games under a path; unreadable, unfinished and repeated games are listed as
    oddities."""
    games: list[PublishedGame] = []
    odd: list[GameOddity] = []
    prints_seen: set[str] = set()
    for file in files_under(path):
        if is_superseded(file.name) and file != path:
            reason = "A later file replaces it; name the file itself to read it."
            odd.append(GameOddity(f"{file.parent.name}/{file.name}", "superseded", reason))
            continue
        condition = condition_of(file.parent.name)
        place = f"{file.parent.name}/{file.name}"
        for line, index, raw in _records(file, place, odd):
            print_of = hashlib.sha256(msgspec.json.encode([place, raw], order="sorted")).hexdigest()
            if print_of in prints_seen:
                reason = "It repeats an earlier record."
                odd.append(GameOddity(place, "duplicate", reason, line, index))
                continue
            prints_seen.add(print_of)
            try:
                game = _game(raw, place, line, index, condition, odd)
            except BadInput as error:
                odd.append(GameOddity(place, "unreadable", str(error), line, index))
                continue
            except Exception as error:  # a foreign file may hold anything
                _log.debug("a game of %s was not read", place, exc_info=True)
                reason = f"It is not in the published format ({type(error).__name__}: {error})."
                odd.append(GameOddity(place, "unreadable", reason, line, index))
                continue
            if not game.is_finished:
                reason = f"{len(game.turns)} of {game.turn_limit} turns were played."
                odd.append(GameOddity(place, "unfinished", reason, line, index))
            games.append(game)
    return FoundGames(games=tuple(games), oddities=tuple(odd))


def _records(file: Path, place: str, odd: list[GameOddity]) -> Iterator[tuple[int, int, Any]]:
    """Yield the games of a file with line and index; a line holds one game or a list of games."""
    with file.open("rb") as lines:
        for number, text in enumerate(lines, 1):
            if not text.strip():
                continue
            try:
                content = msgspec.json.decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                odd.append(GameOddity(place, "unreadable", f"Not JSON: {error}.", number))
                continue
            for index, raw in enumerate(content if isinstance(content, list) else [content]):
                yield number, index, raw


def _field(raw: Any, name: str) -> Any:
    if not isinstance(raw, dict) or name not in raw:
        raise BadInput(f"The field {name!r} is missing.")
    return raw[name]


def _game(
    raw: Any, place: str, line: int, index: int, condition: Condition, odd: list[GameOddity]
) -> PublishedGame:
    model = _field(raw, "model")
    names = Names(
        proposals=tuple(sorted(_field(model, "proposals"))),
        attributes=tuple(_field(model, "attributes")),
        noun=raw.get("proposal_name") or "proposal",
    )
    puzzle = _puzzle(model, names)
    chosen = raw.get("target_choice")
    if chosen is not None and chosen not in names.proposals:
        raise BadInput(
            f"The recorded choice {chosen!r} is not one of {', '.join(names.proposals)}."
        )

    def note(reason: str) -> None:
        odd.append(GameOddity(place, "label", reason, line, index))

    return PublishedGame(
        file=place,
        line=line,
        index=index,
        condition=condition,
        puzzle=puzzle,
        names=names,
        story=str(raw.get("cover_story") or ""),
        turns=tuple(_turns(raw, names, note)),
        final_choice=None if chosen is None else names.proposal(chosen),
        turn_limit=int(raw.get("turn_limit") or 8),
    )


def _table(model: Any, field: str, names: Names) -> list[list[Any]]:
    table = _field(model, field)
    try:
        return [[table[p][a] for a in names.attributes] for p in names.proposals]
    except (KeyError, TypeError) as error:
        raise BadInput(f"The table {field!r} has no entry for {error}.") from error


def _puzzle(model: Any, names: Names) -> Puzzle:
    """Return the puzzle with its proposals in the order of their letters; the record has them in
    the order goal, trap, initial."""

    def flagged_cells(field: str) -> tuple[Cell, ...]:
        table = _table(model, field, names)
        return tuple(
            (p, a) for p, row in enumerate(table) for a, is_flagged in enumerate(row) if is_flagged
        )

    def weights(field: str) -> tuple[int, ...]:
        weight_of = _field(model, field)
        return tuple(int(weight_of[a]) for a in names.attributes)

    goal, trap, initial = (names.proposal(p) for p in _field(model, "proposals"))
    puzzle = Puzzle(
        utilities=tuple(tuple(int(u) for u in row) for row in _table(model, "utilities", names)),
        hidden=flagged_cells("hidden"),
        target_values=weights("target_coefficients"),
        persuader_values=weights("persuader_coefficients"),
        goal=goal,
        trap=trap,
        initial=initial,
        winning=flagged_cells("ideal_revealed"),
        letters=names.proposals,
    )
    first = ranking(target_values(puzzle, puzzle.visible))[0]
    if first != (initial,):
        raise BadInput("The recorded initial proposal is not the target's unique first choice.")
    return puzzle


def _turns(raw: Any, names: Names, note: Any) -> Iterator[PublishedTurn]:
    """Yield the turns, matching messages, replies, labels and thoughts by their order."""
    spoken = [(m.get("role"), m.get("content") or "") for m in raw.get("messages") or []]
    thoughts = [
        t.get("content") or ""
        for t in raw.get("chain_of_thought") or []
        if t.get("role") == "persuader"
    ]
    messages = [text for role, text in spoken if role == "persuader"]
    replies = [text for role, text in spoken if role == "target"]
    told_of = raw.get("all_disclosures") or []
    appeals = raw.get("all_appeals") or []
    if not len(messages) == len(told_of) == len(appeals):
        note(f"{len(messages)} messages, {len(told_of)} disclosures, {len(appeals)} appeals.")
    for i, message in enumerate(messages):
        yield PublishedTurn(
            message=message,
            reply=replies[i] if i < len(replies) else "",
            recorded=_recorded_labels(_entry_at(told_of, i), _entry_at(appeals, i), names, note),
            thoughts=thoughts[i] if i < len(thoughts) else "",
        )


def _entry_at(items: list[Any], i: int) -> Mapping[str, Any]:
    entry = items[i] if i < len(items) else {}
    return entry if isinstance(entry, dict) else {}


def _recorded_labels(
    told_of: Mapping[str, Any], appeals: Mapping[str, Any], names: Names, note: Any
) -> Claims:
    """Return the recorded labels; a label with a name that the game does not have is dropped and
    noted."""

    def known_name(name: Any, among: tuple[str, ...]) -> str | None:
        meant = _name_meant(name, among, names.noun)
        if meant is None:
            note(f"A label names {name!r}, which is not one of {', '.join(among)}.")
        return meant

    def pairs(table: Any) -> Iterator[tuple[str, str, Any]]:
        for proposal, attributes in table.items() if isinstance(table, dict) else ():
            row = known_name(proposal, names.proposals)
            for attribute in attributes if row and isinstance(attributes, dict | list) else ():
                if attribute != "utility" and (column := known_name(attribute, names.attributes)):
                    utility = attributes[attribute] if isinstance(attributes, dict) else None
                    yield str(row), column, utility

    def known_names(field: str, among: tuple[str, ...]) -> list[str]:
        labels = appeals.get(field)
        return [
            n for a in (labels if isinstance(labels, list) else []) if (n := known_name(a, among))
        ]

    return claims(
        disclosures=[Disclosure(p, a, u) for p, a, u in pairs(told_of) if u in (-1, 0, 1)],
        motivational=known_names("motivational", names.attributes),
        informational=[Asked(p, a) for p, a, _ in pairs(appeals.get("informational"))],
        inferential=known_names("inferential", names.proposals),
    )


def _name_meant(name: Any, among: tuple[str, ...], noun: str) -> str | None:
    """Return the name that a label stands for, as published: `Proposal A` and `a` stand for A."""
    if not isinstance(name, str):
        return None
    plain = name.strip().casefold().removeprefix(noun.casefold()).removeprefix("proposal").strip()
    return next(
        (candidate for candidate in among if candidate.casefold() in (plain, name.casefold())), None
    )


def rerun(game: PublishedGame, claims_read: Iterable[Claims], memory: Memory) -> int:
    """Return the target's final choice if the messages have the labels in `claims_read`.

    As in play, the target learns nothing from a message with a false claim. With `memory="frozen"`,
    the target breaks ties in favour of its first choice. In the discrete game, however, being asked
    for its ranking makes it remember its current choice instead.
    """
    mind = first_mind(game.puzzle)
    for claim in claims_read:
        if falsehoods(claim, game.puzzle, game.names):
            continue
        mind = learn_cells(game.puzzle, mind, disclosed_cells(claim, game.names), memory)
        if game.condition.discrete_game and claim.inferential:
            mind = remember_choice(game.puzzle, mind)
    return choice_of(game.puzzle, mind)
