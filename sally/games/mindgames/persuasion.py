"""A game of persuasion message by message: the target's mind, choices, disclosures and appeals.

Whatever is measured after a message uses only what was said up to it. The published figures
settle a tie after an early message with the choice at the end of the game; that convention is
kept beside ours, by name.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from sally.core.rules.metric import Played
from sally.games.mindgames.claims import Claims, disclosed_cells
from sally.games.mindgames.planners import at_start, lead
from sally.games.mindgames.puzzles import Cell
from sally.games.mindgames.rules import MindGame
from sally.games.mindgames.target import (
    Mind,
    choice,
    first_mind,
    refreshed,
    told,
    values,
)

GAMES = ("mindgames",)


class After(msgspec.Struct, frozen=True):
    """One used-up message: what it claimed, and the target's mind after it."""

    claims: Claims
    mind: Mind


class Asked(msgspec.Struct, frozen=True):
    """What has been asked for: attributes the target may like, and cells it may know."""

    likes: frozenset[int] = frozenset()
    cells: frozenset[Cell] = frozenset()


def game_of(played: Played) -> MindGame:
    """The rules of the episode."""
    assert isinstance(played.replay.game, MindGame)
    return played.replay.game


def messages(played: Played) -> Iterator[After]:
    """Every message that was used up, lost ones included; those that came back are no messages."""
    game = game_of(played)
    mind = first_mind(game.problem)
    for said in played.replay.states[-1].story:
        if said.false or said.problem:
            continue
        cells = disclosed_cells(said.claims, game.names)
        mind = told(game.problem, mind, cells, game.memory)
        if game.discrete and said.claims.inferential:
            mind = refreshed(game.problem, mind)
        yield After(said.claims, mind)


def finished(played: Played) -> bool:
    """Whether the target came to choose."""
    return played.episode.payoffs is not None


def choices(played: Played) -> tuple[int, ...]:
    """What the target would choose after each message."""
    now, found = game_of(played).problem.initial, []
    for said in played.replay.states[-1].story:
        if said.false or said.problem:
            continue  # it came back, and is no message
        now = now if said.answer is None else said.chosen
        found.append(now)
    return tuple(found)


def choices_with_look_ahead(played: Played) -> tuple[int, ...]:
    """The same as published: a tie after an early message goes to the choice at the end."""
    puzzle = game_of(played).problem
    last = choices(played)[-1]
    return tuple(choice(values(puzzle, a.mind.known), last) for a in messages(played))


def won(played: Played) -> tuple[bool, ...]:
    """Whether the goal would be chosen after each message."""
    return tuple(c == game_of(played).problem.goal for c in choices(played))


def won_with_look_ahead(played: Played) -> tuple[bool, ...]:
    """The same by the published convention."""
    return tuple(c == game_of(played).problem.goal for c in choices_with_look_ahead(played))


def sunk(played: Played) -> tuple[bool, ...]:
    """Whether the trap would be chosen after each message."""
    puzzle = game_of(played).problem
    return tuple(c == puzzle.trap != puzzle.goal for c in choices(played))


def final_lead(played: Played) -> int:
    """By how much the goal is ahead of the best other proposal in the target's eyes at the end."""
    puzzle = game_of(played).problem
    known = [puzzle.visible, *(after.mind.known for after in messages(played))][-1]
    return lead(at_start(puzzle, revealed=True), puzzle.target_values, known)


def appeals(played: Played, inferential: bool) -> Iterator[Asked]:
    """What was asked for, message by message.

    Where inferential appeals count, one asks for all likes and all cells of the named proposals.
    """
    names = game_of(played).names
    for after in messages(played):
        claims = after.claims
        likes = {names.attribute(a) for a in claims.motivational}
        cells = {names.cell(a.proposal, a.attribute) for a in claims.informational}
        if inferential and claims.inferential:
            columns = range(len(names.attributes))
            likes |= set(columns)
            cells |= {(names.proposal(p), a) for p in claims.inferential for a in columns}
        yield Asked(frozenset(likes), frozenset(cells))


def new_appeals(played: Played, inferential: bool = False) -> tuple[Asked, ...]:
    """What each message asked for that no earlier one had."""
    seen, new = Asked(), []
    for asked in appeals(played, inferential):
        new.append(Asked(asked.likes - seen.likes, asked.cells - seen.cells))
        seen = Asked(asked.likes | seen.likes, asked.cells | seen.cells)
    return tuple(new)


def appealed_to_all(played: Played, inferential: bool) -> bool:
    """Whether by the end every like and every cell had been asked for."""
    names, asked = game_of(played).names, list(new_appeals(played, inferential))
    likes, cells = (sum(len(part) for part in parts) for parts in _columns(asked))
    return likes == len(names.attributes) and cells == len(game_of(played).problem.cells)


def _columns(asked: list[Asked]) -> tuple[list[frozenset[int]], list[frozenset[Cell]]]:
    return [a.likes for a in asked], [a.cells for a in asked]


def disclosures(played: Played) -> tuple[int, ...]:
    """How many cells each message told, known ones included."""
    return tuple(len(after.claims.disclosures) for after in messages(played))


def turned_down(played: Played) -> int:
    """How many messages came back."""
    return sum(bool(x.false or x.problem) for x in played.replay.states[-1].story)
