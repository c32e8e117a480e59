"""Games in the published JSON-lines layout, as plain values; whatever is odd is listed."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

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
from sally.games.mindgames.target import Memory, choice_of, first_mind, ranking, refreshed, told
from sally.games.mindgames.target import values as target_values


class Condition(msgspec.Struct, frozen=True):
    """What the folder name says: who persuades, and which variant was played."""

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
        """People met a target with sequential memory, models one with frozen memory."""
        return "sequential" if self.human else "frozen"


class PublishedTurn(msgspec.Struct, frozen=True):
    """One message, the thoughts before it, the labels recorded for it and the reply."""

    message: str
    reply: str
    recorded: Claims
    thoughts: str = ""


class PublishedGame(msgspec.Struct, frozen=True):
    """One recorded game; `final_choice` is None when it was not finished."""

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
    def finished(self) -> bool:
        """Was every message sent and a choice recorded?"""
        return self.final_choice is not None and len(self.turns) == self.turn_limit


class Oddity(msgspec.Struct, frozen=True):
    """Something in the files that could not be taken at its word."""

    file: str
    line: int
    index: int | None
    what: Literal["unreadable", "unfinished", "duplicate", "label", "superseded"]
    why: str


class Reading(msgspec.Struct, frozen=True):
    """Everything found under a path: the games, and what was odd about the rest."""

    games: tuple[PublishedGame, ...]
    oddities: tuple[Oddity, ...]


class BadLayout(ValueError):
    """A record does not have the published layout; the message says where and why."""


def condition_of(folder: str) -> Condition:
    """The condition named by a folder `key=value&key=value`; an absent flag is false."""
    pairs = dict(part.split("=", 1) for part in folder.split("&") if "=" in part)
    if "human_persuader" not in pairs and "llm_persuader" not in pairs:
        raise BadLayout(
            f"The folder name {folder!r} does not say who persuades; "
            "it should hold human_persuader=True or llm_persuader=NAME."
        )
    human = pairs.get("human_persuader") == "True"
    flags = {
        name: pairs.get(name) == "True"
        for name in Condition.__struct_fields__
        if name not in ("persuader", "human")
    }
    name = "human" if human else pairs.get("llm_persuader", "unknown").replace("__", "/")
    return Condition(persuader=name, human=human, **flags)


SUPERSEDED = ("_wrong_reveal", "_half_done")  # so the authors marked what they played again


def superseded(file: str) -> bool:
    """Is it a file that its authors replaced by another, by its name?"""
    return any(mark in file for mark in SUPERSEDED)


def files_under(path: Path) -> tuple[Path, ...]:
    """The JSON-lines files at a path: itself, or all below it in name order."""
    if path.is_file():
        return (path,)
    found = tuple(sorted(path.rglob("*.jsonl")))
    if not found:
        raise BadLayout(f"There is no .jsonl file under {path.name!r}.")
    return found


def read(path: Path) -> Reading:
    """All games under a path; unreadable, unfinished and repeated ones are listed."""
    games: list[PublishedGame] = []
    odd: list[Oddity] = []
    seen: set[str] = set()
    for file in files_under(path):
        if superseded(file.name) and file != path:
            why = "A later file replaces it; name the file itself to read it."
            odd.append(Oddity(f"{file.parent.name}/{file.name}", 0, None, "superseded", why))
            continue
        condition = condition_of(file.parent.name)
        place = f"{file.parent.name}/{file.name}"
        for line, index, raw in _records(file, place, odd):
            print_of = hashlib.sha256(msgspec.json.encode([place, raw], order="sorted")).hexdigest()
            if print_of in seen:
                odd.append(Oddity(place, line, index, "duplicate", "The same record came before."))
                continue
            seen.add(print_of)
            try:
                game = _game(raw, place, line, index, condition, odd)
            except BadLayout as error:
                odd.append(Oddity(place, line, index, "unreadable", str(error)))
                continue
            except Exception as error:  # a record of anybody's holds anything
                why = f"It is not as published ({type(error).__name__}: {error})."
                odd.append(Oddity(place, line, index, "unreadable", why))
                continue
            if not game.finished:
                why = f"{len(game.turns)} of {game.turn_limit} turns were played."
                odd.append(Oddity(place, line, index, "unfinished", why))
            games.append(game)
    return Reading(games=tuple(games), oddities=tuple(odd))


def _records(file: Path, place: str, odd: list[Oddity]) -> Iterator[tuple[int, int, Any]]:
    """Each game of each line; a line holds a list of games, or a single one."""
    with file.open("rb") as lines:
        for number, text in enumerate(lines, 1):
            if not text.strip():
                continue
            try:
                content = msgspec.json.decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                odd.append(Oddity(place, number, None, "unreadable", f"Not JSON: {error}."))
                continue
            for index, raw in enumerate(content if isinstance(content, list) else [content]):
                yield number, index, raw


def _field(raw: Any, name: str) -> Any:
    if not isinstance(raw, dict) or name not in raw:
        raise BadLayout(f"The field {name!r} is missing.")
    return raw[name]


def _game(
    raw: Any, place: str, line: int, index: int, condition: Condition, odd: list[Oddity]
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
        raise BadLayout(f"The recorded choice {chosen!r} is none of {', '.join(names.proposals)}.")

    def note(why: str) -> None:
        odd.append(Oddity(place, line, index, "label", why))

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
        raise BadLayout(f"The table {field!r} has no entry for {error}.") from error


def _puzzle(model: Any, names: Names) -> Puzzle:
    """The puzzle in letter order; the recorded order of proposals is goal, trap, initial."""

    def flagged(field: str) -> tuple[Cell, ...]:
        table = _table(model, field, names)
        return tuple((p, a) for p, row in enumerate(table) for a, on in enumerate(row) if on)

    def weights(field: str) -> tuple[int, ...]:
        given = _field(model, field)
        return tuple(int(given[a]) for a in names.attributes)

    goal, trap, initial = (names.proposal(p) for p in _field(model, "proposals"))
    puzzle = Puzzle(
        utilities=tuple(tuple(int(u) for u in row) for row in _table(model, "utilities", names)),
        hidden=flagged("hidden"),
        target_values=weights("target_coefficients"),
        persuader_values=weights("persuader_coefficients"),
        goal=goal,
        trap=trap,
        initial=initial,
        winning=flagged("ideal_revealed"),
        letters=names.proposals,
    )
    first = ranking(target_values(puzzle, puzzle.visible))[0]
    if first != (initial,):
        raise BadLayout("The recorded initial proposal is not the unique first choice.")
    return puzzle


def _turns(raw: Any, names: Names, note: Any) -> Iterator[PublishedTurn]:
    """The turns, matched by order: persuader's message, reply, labels, thoughts."""
    spoken = [(m.get("role"), m.get("content") or "") for m in raw.get("messages") or []]
    thoughts = [
        t.get("content") or ""
        for t in raw.get("chain_of_thought") or []
        if t.get("role") == "persuader"
    ]
    said = [text for role, text in spoken if role == "persuader"]
    replies = [text for role, text in spoken if role == "target"]
    told_of = raw.get("all_disclosures") or []
    asked = raw.get("all_appeals") or []
    if not len(said) == len(told_of) == len(asked):
        note(f"{len(said)} messages, {len(told_of)} disclosures, {len(asked)} appeals.")
    for i, message in enumerate(said):
        yield PublishedTurn(
            message=message,
            reply=replies[i] if i < len(replies) else "",
            recorded=_recorded(_at(told_of, i), _at(asked, i), names, note),
            thoughts=thoughts[i] if i < len(thoughts) else "",
        )


def _at(items: list[Any], i: int) -> Mapping[str, Any]:
    found = items[i] if i < len(items) else {}
    return found if isinstance(found, dict) else {}


def _recorded(
    told_of: Mapping[str, Any], asked: Mapping[str, Any], names: Names, note: Any
) -> Claims:
    """The recorded labels; names the game does not have are left out and noted."""

    def known(name: Any, among: tuple[str, ...]) -> str | None:
        found = _meant(name, among, names.noun)
        if found is None:
            note(f"A label names {name!r}, which is none of {', '.join(among)}.")
        return found

    def pairs(table: Any) -> Iterator[tuple[str, str, Any]]:
        for proposal, attributes in table.items() if isinstance(table, dict) else ():
            row = known(proposal, names.proposals)
            for attribute in attributes if row and isinstance(attributes, dict | list) else ():
                if attribute != "utility" and (column := known(attribute, names.attributes)):
                    said = attributes[attribute] if isinstance(attributes, dict) else None
                    yield str(row), column, said

    def each(field: str, among: tuple[str, ...]) -> list[str]:
        given = asked.get(field)
        return [n for a in (given if isinstance(given, list) else []) if (n := known(a, among))]

    return claims(
        disclosures=[Disclosure(p, a, u) for p, a, u in pairs(told_of) if u in (-1, 0, 1)],
        motivational=each("motivational", names.attributes),
        informational=[Asked(p, a) for p, a, _ in pairs(asked.get("informational"))],
        inferential=each("inferential", names.proposals),
    )


def _meant(name: Any, among: tuple[str, ...], noun: str) -> str | None:
    """The name that a label means: `Proposal A` and `a` are A, as the published engine had it."""
    if not isinstance(name, str):
        return None
    plain = name.strip().casefold().removeprefix(noun.casefold()).removeprefix("proposal").strip()
    return next((each for each in among if each.casefold() in (plain, name.casefold())), None)


def rerun(game: PublishedGame, found: Iterable[Claims], memory: Memory) -> int:
    """The target's last choice when each message is taken to mean what `found` says.

    A message with a false claim teaches nothing, as in play. In the discrete game an inferential
    answer refreshes a frozen memory.
    """
    mind = first_mind(game.puzzle)
    for claim in found:
        if falsehoods(claim, game.puzzle, game.names):
            continue
        mind = told(game.puzzle, mind, disclosed_cells(claim, game.names), memory)
        if game.condition.discrete_game and claim.inferential:
            mind = refreshed(game.puzzle, mind)
    return choice_of(game.puzzle, mind)


def reproduces(game: PublishedGame, memory: Memory | None = None) -> bool:
    """Do the recorded labels lead the target to the recorded final choice?"""
    recorded = (turn.recorded for turn in game.turns)
    return rerun(game, recorded, memory or game.condition.memory) == game.final_choice
