"""Metrics of MindGames: success, disclosures and appeals, after each message and at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

import msgspec

from sally.core.rules.game import Seat
from sally.core.rules.metric import Metric, Played
from sally.games.mindgames.claims import Claims, disclosed_cells
from sally.games.mindgames.planners import at_start, lead
from sally.games.mindgames.puzzles import Cell
from sally.games.mindgames.rules import MindGame
from sally.games.mindgames.target import (
    Mind,
    choice,
    first_mind,
    learn_cells,
    remember_choice,
    values,
)


class SentMessage(msgspec.Struct, frozen=True):
    """A sent message: its claims, and the target's mind after it."""

    claims: Claims
    mind: Mind


class MessageAppeals(msgspec.Struct, frozen=True):
    """The subjects of a message's questions: the attributes that the target may like (`likes`), and
    the cells that the target may know (`cells`)."""

    likes: frozenset[int] = frozenset()
    cells: frozenset[Cell] = frozenset()


def game_of(played: Played) -> MindGame:
    """Return the rules of the episode."""
    assert isinstance(played.replay.game, MindGame)
    return played.replay.game


def messages(played: Played) -> Iterator[SentMessage]:
    """Yield every message that counted, answered or not; rejected messages do not count."""
    game = game_of(played)
    mind = first_mind(game.problem)
    for exchange in played.replay.states[-1].story:
        if exchange.false or exchange.problem:
            continue
        cells = disclosed_cells(exchange.claims, game.names)
        mind = learn_cells(game.problem, mind, cells, game.memory)
        if game.discrete and exchange.claims.inferential:
            mind = remember_choice(game.problem, mind)
        yield SentMessage(exchange.claims, mind)


def is_finished(played: Played) -> bool:
    """Return whether the target made its final choice after a message; the position of a pair ends
    before one is sent."""
    return played.episode.payoffs is not None and bool(choices(played))


def choices(played: Played) -> tuple[int, ...]:
    """Return the target's choice after each message."""
    now, chosen = game_of(played).problem.initial, []
    for exchange in played.replay.states[-1].story:
        if exchange.false or exchange.problem:
            continue  # rejected, so it does not count
        now = now if exchange.answer is None else exchange.chosen
        chosen.append(now)
    return tuple(chosen)


def choices_with_look_ahead(played: Played) -> tuple[int, ...]:
    """Return the target's choice after each message by the published convention, which breaks every
    tie in favour of the target's final choice."""
    puzzle = game_of(played).problem
    last = choices(played)[-1]
    return tuple(choice(values(puzzle, a.mind.known), last) for a in messages(played))


def would_win(played: Played) -> tuple[bool, ...]:
    """Return whether the target would choose the goal after each message."""
    return tuple(c == game_of(played).problem.goal for c in choices(played))


def won_with_look_ahead(played: Played) -> tuple[bool, ...]:
    """Return whether the target would choose the goal after each message, by the published
    convention."""
    return tuple(c == game_of(played).problem.goal for c in choices_with_look_ahead(played))


def sunk(played: Played) -> tuple[bool, ...]:
    """Return whether the target would choose the trap after each message."""
    puzzle = game_of(played).problem
    return tuple(c == puzzle.trap != puzzle.goal for c in choices(played))


def final_lead(played: Played) -> int:
    """Return the goal's final lead over the best other proposal, by the target's values and
    knowledge."""
    puzzle = game_of(played).problem
    known_cells = [puzzle.visible, *(sent.mind.known for sent in messages(played))][-1]
    return lead(at_start(puzzle, revealed=True), puzzle.target_values, known_cells)


def appeals(played: Played, inferential: bool) -> Iterator[MessageAppeals]:
    """Yield the likes and cells that each message asked about.

    With `inferential`, an inferential appeal (a question about the target's choice) counts as
    asking about all likes and about all cells of the named proposals.
    """
    names = game_of(played).names
    for sent in messages(played):
        claims = sent.claims
        likes = {names.attribute(a) for a in claims.motivational}
        cells = {names.cell(a.proposal, a.attribute) for a in claims.informational}
        if inferential and claims.inferential:
            columns = range(len(names.attributes))
            likes |= set(columns)
            cells |= {(names.proposal(p), a) for p in claims.inferential for a in columns}
        yield MessageAppeals(frozenset(likes), frozenset(cells))


def new_appeals(played: Played, inferential: bool = False) -> tuple[MessageAppeals, ...]:
    """Return the likes and cells that each message asked about for the first time."""
    earlier_appeals, new = MessageAppeals(), []
    for message_appeals in appeals(played, inferential):
        new.append(
            MessageAppeals(
                message_appeals.likes - earlier_appeals.likes,
                message_appeals.cells - earlier_appeals.cells,
            )
        )
        earlier_appeals = MessageAppeals(
            message_appeals.likes | earlier_appeals.likes,
            message_appeals.cells | earlier_appeals.cells,
        )
    return tuple(new)


def asked_all(played: Played, inferential: bool) -> list[bool]:
    """Return, for each message, whether every like and every cell had been asked about by then."""
    game = game_of(played)
    n_wanted = len(game.names.attributes) + len(game.problem.cells)
    new = (
        len(message_appeals.likes) + len(message_appeals.cells)
        for message_appeals in new_appeals(played, inferential)
    )
    return [n_asked == n_wanted for n_asked in accumulate(new)]


def appealed_to_all(played: Played, inferential: bool) -> bool:
    """Return whether every like and every cell had been asked about by the end."""
    return any(asked_all(played, inferential))


def disclosures(played: Played) -> tuple[int, ...]:
    """Return how many cells each message disclosed, including cells already known."""
    return tuple(len(sent.claims.disclosures) for sent in messages(played))


def turned_down(played: Played) -> int:
    """Return how many messages were rejected."""
    return sum(bool(x.false or x.problem) for x in played.replay.states[-1].story)


def _once_finished(measure: Callable[[Played], float]) -> Callable[[Played, Seat], float | None]:
    """Restrict a measure to finished games; its value is None for unfinished games."""
    return lambda played, seat: float(measure(played)) if is_finished(played) else None


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values)


METRICS = (
    Metric(
        name="mindgames_success",
        bounds=(0, 1),
        about="1 if the target chose the goal in the end (moore2025)",
        measure=_once_finished(lambda played: would_win(played)[-1]),
        better="higher",
        headline=True,
        label="success",
    ),
    Metric(
        name="mindgames_lead",
        about="the goal's value to the target minus that of the best other proposal, at the end",
        measure=_once_finished(final_lead),
        better="higher",
        label="lead",
    ),
    Metric(
        name="mindgames_sink",
        bounds=(0, 1),
        about="1 if the target chose the trap in the end, the best for it once it knows everything",
        measure=_once_finished(lambda played: sunk(played)[-1]),
        better="lower",
        headline=True,
        label="trap",
    ),
    Metric(
        name="mindgames_time_at_goal",
        bounds=(0, 1),
        about="share of messages after which the target would choose the goal",
        measure=_once_finished(lambda played: _share(would_win(played))),
        better="higher",
        label="time at goal",
    ),
    Metric(
        name="mindgames_time_at_goal_published",
        about="share of messages after which the goal is chosen, ties settled by the final choice",
        measure=_once_finished(lambda played: _share(won_with_look_ahead(played))),
        unit="share",
        published=True,
        label="time at goal, published",
    ),
    Metric(
        name="mindgames_disclosures",
        about="cells told in the game, repeated ones included",
        measure=_once_finished(lambda played: sum(disclosures(played))),
        unit="cells",
        headline=True,
        label="told",
    ),
    Metric(
        name="mindgames_motivational_appeals",
        about="attributes whose worth to the target was asked for",
        measure=_once_finished(
            lambda played: sum(len(appeal.likes) for appeal in new_appeals(played))
        ),
        unit="attributes",
        label="likes asked",
    ),
    Metric(
        name="mindgames_informational_appeals",
        about="cells that the target was asked about",
        measure=_once_finished(
            lambda played: sum(len(appeal.cells) for appeal in new_appeals(played))
        ),
        unit="cells",
        label="cells asked",
    ),
    Metric(
        name="mindgames_appealed_to_all",
        bounds=(0, 1),
        about="1 if every like and cell was asked for by the end; a ranking asks for both",
        measure=_once_finished(lambda played: appealed_to_all(played, inferential=True)),
        headline=True,
        label="asked all",
    ),
    Metric(
        name="mindgames_appealed_to_all_literally",
        bounds=(0, 1),
        about="1 if every like and cell was asked for by the end, rankings not counted",
        measure=_once_finished(lambda played: appealed_to_all(played, inferential=False)),
        label="asked all, literally",
    ),
    Metric(
        name="mindgames_turned_down",
        about="messages that were rejected as false or unusable",
        measure=_once_finished(turned_down),
        unit="messages",
        better="lower",
        label="came back",
    ),
)
