"""Registry entry of MindGames: rules, words, and the probes about the target's mind."""

from __future__ import annotations

from sally.core.rules.game import Doing, GameSpec, MeasureSpec, PeopleSpec, Seat
from sally.core.rules.probe import At, Probe, Question
from sally.core.rules.replay import Trajectory
from sally.games.mindgames.rules import (
    PERSUADER,
    READER,
    TARGET,
    Action,
    MindGame,
    State,
    View,
)
from sally.games.mindgames.target import values
from sally.games.mindgames.words import PEOPLE, TEXTS, MindWords

Moves = Trajectory[State, Action, View]


def _target_choice(game: MindGame, view: View, seat: Seat) -> tuple[Question, ...]:
    rows = tuple(range(len(view.brief.utilities)))
    return (Question("target_choice", "choice", rows, about=TARGET),)


def _likes(game: MindGame, view: View, seat: Seat) -> tuple[Question, ...]:
    columns = tuple(range(len(view.brief.utilities[0])))
    return (Question("target_likes", "values", columns, TARGET, -1, 1),)


def _knows(game: MindGame, view: View, seat: Seat) -> tuple[Question, ...]:
    cells = tuple(range(len(view.brief.utilities) * len(view.brief.utilities[0])))
    return (Question("target_knows", "values", cells, TARGET, 0, 1),)


def an_episode(game: MindGame, seat: Seat) -> tuple[float, float]:
    """Return the minimum and maximum payoff: 0 and 1 for the persuader; for the target, the
    lowest and highest true value of a proposal."""
    if seat != TARGET:
        return 0.0, 1.0
    proposal_values = values(game.problem, game.problem.cells)
    return float(min(proposal_values)), float(max(proposal_values))


def _game(replay: Moves) -> MindGame:
    assert isinstance(replay.game, MindGame)
    return replay.game


def true_choice(replay: Moves, place: At) -> int:
    """Return the target's choice before this message."""
    return _game(replay).current_choice(replay.state(place.turn))


def true_likes(replay: Moves, place: At) -> dict[str, float]:
    """Return the target's coefficient of each attribute, by column."""
    values = _game(replay).problem.target_values
    return {str(column): float(value) for column, value in enumerate(values)}


def true_knowledge(replay: Moves, place: At) -> dict[str, float]:
    """Return whether the target knows each cell before this message, row by row."""
    known_cells = replay.state(place.turn).mind.known
    cells = _game(replay).problem.cells
    return {str(n): float(cell in known_cells) for n, cell in enumerate(cells)}


PROBES = (
    Probe(
        "target_choice",
        "which proposal the target would choose now",
        "before",
        "choice",
        (PERSUADER,),
        _target_choice,
        true_choice,
    ),
    Probe(
        "target_likes",
        "what the target likes, by attribute: 1, 0 or -1",
        "before",
        "values",
        (PERSUADER,),
        _likes,
        true_likes,
    ),
    Probe(
        "target_knows",
        "which effects the target knows now: 1 or 0",
        "before",
        "values",
        (PERSUADER,),
        _knows,
        true_knowledge,
    ),
)

GAME: GameSpec[State, Action, View] = GameSpec(
    name="mindgames",
    about="talk a target into choosing your proposal by telling it some things and not others "
    "(moore2025)",
    game=MindGame,
    words=MindWords,
    texts=TEXTS,
    action=Action,
    words_version=2,
    probes=PROBES,
    occupants={READER: "rules", TARGET: "exact"},
    people=PeopleSpec.read(
        __package__,
        texts=PEOPLE,
        fresh=lambda draws, name: {"number": draws.below(40)},
        settings={"messages": (1, 20), "number": (0, 999), "story": None},
    ),
    measured=MeasureSpec(
        doing=Doing(
            "mindgames_success",
            no_split="only a set of disclosures, made over several messages, can persuade, so no "
            "single message is a best reply to a prediction of what the target knows or likes",
        ),
        pays=an_episode,
        reference="hidden",
    ),
)
