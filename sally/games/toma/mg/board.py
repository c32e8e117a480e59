"""The board of the minority game: places with their features, and the agents' wishes."""

from __future__ import annotations

from collections.abc import Sequence

from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Good, Hand, Hands, Note, Part, Reveal, Row, Table
from sally.core.rules.replay import Trajectory
from sally.games.toma.mg.game import Minority, View
from sally.games.toma.mg.rules import Agent, answer, headcounts, predictions
from sally.games.toma.mg.words import MinorityWords
from sally.games.toma.one_shot import State


def board(context: SeatContext, view: View) -> Board:
    """Return the board: the features of each place, and each agent's likes, dislikes and relations,
    without the agents' destinations."""
    words = context.words
    assert isinstance(words, MinorityWords)
    cards = tuple(Hand(p.name, tuple(Good(f, "") for f in p.features)) for p in view.places)
    places = Hands(f"What each {words.phrases['place']} has", cards)
    names = [words.agent_name(agent.name) for agent in view.agents]
    wishes = [_wishes(words, agent, names) for agent in view.agents]
    columns = tuple(key for key in WISHES if any(key in wish for wish in wishes))
    agents = tuple(
        Row(name, tuple(Cell(wish.get(column, "–")) for column in columns))
        for name, wish in zip(names, wishes, strict=True)
    )
    return Board((places, Table(f"What the {words.phrases['people']} want", columns, agents)))


def REVEAL(context: SeatContext, replay: Trajectory[State, int, View]) -> Reveal:
    """Return where each agent goes, and how many are at each place."""
    game, words, chosen = replay.rules(Minority), context.words, replay.present.chosen
    assert isinstance(words, MinorityWords)
    problem = game.problem
    goes, right = predictions(problem), answer(problem)
    view = game.observe(replay.present, context.seat)
    counts = headcounts(goes)
    places = [place.name for place in view.places]
    names = [words.agent_name(agent.name) for agent in view.agents]
    headcount_text = ", ".join(
        f"{place} {count}" for place, count in zip(places, counts, strict=True)
    )
    own_place = "nowhere" if chosen is None else places[chosen]
    people = words.phrases["people"]
    verdict = (
        f"with the fewest {people}" if chosen == right else f"but {places[right]} had the fewest"
    )
    hidden = tuple(Note(names[agent], f"goes to {places[place]}") for agent, place in goes.items())
    parts = BOARD(context, view).parts
    return Reveal(
        f"You went to {own_place}, {verdict}. "
        f"The {people} at each {words.phrases['place']}: {headcount_text}.",
        hidden,
        parts,
    )


WISHES = ("likes", "dislikes", "follows", "avoids")


def _wishes(words: MinorityWords, agent: Agent, names: Sequence[str]) -> dict[str, str]:
    """Return what an agent wants, by kind of wish; kinds without a wish are left out."""

    def agent_name(number: int | None) -> str:
        return "" if number is None else names[number]

    texts = (
        ", ".join(map(words.wish, agent.likes)),
        ", ".join(map(words.wish, agent.dislikes)),
        agent_name(agent.follows),
        agent_name(agent.avoids),
    )
    return {key: text for key, text in zip(WISHES, texts, strict=True) if text}


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: where three people go, one of them a follower who has
    ruled out the place, and the emptiest place."""
    game = context.game
    assert isinstance(game, Minority)
    is_followed = any(agent.follows is not None for agent in game.problem.agents)
    columns = ("music", "follows", "goes to") if is_followed else ("music", "goes to")
    examples = {
        "Ann": ("likes", "–", "the bar"),
        "Ben": ("–", "Ann", "the bar") if is_followed else ("likes", "–", "the bar"),
        "Cleo": ("dislikes", "Ann", "the park"),
    }
    rows = []
    for name, (wish, followed, place) in examples.items():
        texts = (wish, followed, place) if is_followed else (wish, place)
        rows.append(Row(name, tuple(map(Cell, texts))))
    caption = "Example: the bar has music; the park has the fewest people"
    return (Table(caption, columns, tuple(rows)),)


BOARD = board
