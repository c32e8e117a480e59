"""The board of the partially observable game: the costs as a table."""

from __future__ import annotations

from collections.abc import Mapping

from sally.core.errors import join_names
from sally.core.match.seat_context import SeatContext
from sally.core.rules.board import Board, Cell, Note, Notes, Part, Reveal, Row, Table
from sally.core.rules.replay import Trajectory
from sally.games.toma.one_shot import State
from sally.games.toma.po.game import PartlySeen, View
from sally.games.toma.po.rules import AGENTS, FAILURE, Scenario, answer, cost_text, predictions
from sally.games.toma.po.words import PartlySeenWords


def board(context: SeatContext, view: View) -> Board:
    """Return the costs, one row per agent; rows missing from the view are shown as not known.

    Rows that the player must not use by the rules are left out, although the prompt for models
    contains them.
    """
    game, words = context.game, context.words
    assert isinstance(game, PartlySeen) and isinstance(words, PartlySeenWords)
    problem = game.problem
    unknown = Cell("?", "hidden", "not known to you")
    rows = tuple(
        Row(
            AGENTS[agent] + ("\N{NO-BREAK SPACE}(you)" if agent == problem.player else ""),
            tuple(Cell(cost_text(cost)) for cost in row)
            if row
            else (unknown,) * len(problem.tasks),
            "yours" if agent == problem.player else "",
        )
        for agent, row in enumerate(view.costs)
        if row is None or agent == problem.player or agent in problem.knows[problem.player]
    )
    table = Table(f"Costs of each {words.phrases['task']}, in {words.unit}", problem.tasks, rows)
    knowledge = Notes("Who knows whose costs", _knowledge(game, words))
    return Board((table, knowledge, _decide(problem)))


def _decide(problem: Scenario) -> Notes:
    """Return how the agents decide, and when no task is right."""
    return Notes("How they decide", (Note("", DECIDE[problem.goal]),))


DECIDE = {
    "own": "Those who know only their own costs take what is cheapest for them. Those who know the "
    "costs of others work out what these take, and take what is cheapest for themselves of the "
    "rest. If two others take the same one, everything fails, whatever you take: answer “None "
    "helps”.",
    "total": "They divide up the four so that the sum of the four costs is lowest.",
}


def _knowledge(game: PartlySeen, words: PartlySeenWords) -> tuple[Note, ...]:
    """Return whose costs the player, and the agents that the player can predict, know."""
    problem = game.problem

    def known_to(agent: int) -> str:
        others = [AGENTS[n] for n in sorted(problem.knows[agent])]
        return f"own costs and those of {join_names(others, 'and')}" if others else "own costs only"

    me = problem.player
    rows = [Note("You know", f"your {known_to(me)}", "yours")]
    rows += [
        Note(f"{AGENTS[agent]} knows", f"their {known_to(agent)}")
        for agent in sorted(problem.knows[me])
    ]
    return tuple(rows)


def REVEAL(context: SeatContext, replay: Trajectory[State, int, View]) -> Reveal:
    """Return all costs, the task that each predictable agent takes, and the rule of the
    scenario."""
    game, words = replay.rules(PartlySeen), context.words
    assert isinstance(words, PartlySeenWords)
    problem, chosen = game.problem, replay.present.chosen
    tasks = predictions(problem)
    rows = tuple(
        Row(
            AGENTS[agent] + ("\N{NO-BREAK SPACE}(you)" if agent == problem.player else ""),
            tuple(
                _revealed_cell(cost, task, chosen if agent == problem.player else tasks.get(agent))
                for task, cost in enumerate(row)
            ),
            "yours" if agent == problem.player else "",
        )
        for agent, row in enumerate(problem.costs)
    )
    right = answer(problem)
    own_choice = "nothing" if chosen is None else f"“{words.name(chosen)}”"
    verdict = "which was right" if chosen == right else f"but “{words.name(right)}” was right"
    costs = Table(f"All costs; ✔ the {words.phrases['task']} taken", problem.tasks, rows)
    return Reveal(
        f"You chose {own_choice}, {verdict}: {_reason(problem, tasks, right)}.",
        parts=(costs, Notes("Who knows whose costs", _knowledge(game, words)), _decide(problem)),
    )


def _reason(problem: Scenario, tasks: Mapping[int, int], right: int) -> str:
    """Return why an option is right, from the tasks of the agents that the player can predict."""
    if not tasks:
        return (
            f"{problem.tasks[right]} is your cheapest, and you could not know what the others take"
        )
    choices = [f"{AGENTS[agent]} takes {problem.tasks[task]}" for agent, task in tasks.items()]
    choices_text = join_names(choices, "and")
    if right == FAILURE:
        return f"by the rule {choices_text}, so two take the same one"
    if problem.goal == "total":
        return f"the sum of the four costs is lowest if {choices_text}"
    return f"by the rule {choices_text}, and {problem.tasks[right]} is your cheapest of the rest"


def _revealed_cell(cost: int, task: int, taken_task: int | None) -> Cell:
    return (
        Cell(f"✔ {cost_text(cost)}", "last", "taken")
        if task == taken_task
        else Cell(cost_text(cost))
    )


def EXAMPLE(context: SeatContext) -> tuple[Part, ...]:
    """Return the picture beside the rules: two people, of whom one knows the other's costs."""
    rows = (
        Row("You", (Cell("2"), Cell("✔ 5", "good")), "yours"),
        Row("B", (Cell("✔ 1", "last"), Cell("9"))),
    )
    caption = "Example: the first is cheapest for B, so you take the second"
    return (Table(caption, ("first", "second"), rows, corner="cost"),)


BOARD = board
