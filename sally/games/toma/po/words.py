"""The partially observable game in language: sentences of our own, in the order used in the prompts
of kang2026."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sally.core.errors import join_names
from sally.core.log.events import Told
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.probe import Question
from sally.games.toma.one_shot import NumberedWords
from sally.games.toma.po.game import PartlySeen, View
from sally.games.toma.po.rules import AGENTS, FAILURE, cost_text, knowledge
from sally.games.toma.po.stories import stories

TEXTS: Mapping[str, str] = {
    "scenario": "SCENARIO\n{scene} The four {team} are Agent A, Agent B, Agent C and Agent D. "
    "Each takes exactly one {task}, all at the same moment, and they cannot talk to each other. "
    "If two agents take the same {task}, the whole mission fails.\n"
    "You are Agent {me}. {goal}",
    "scenario.bare": "Four agents have to do four tasks.",
    "goal.own": "Your aim: the lowest cost for yourself, without taking a {task} that another "
    "agent takes.",
    "goal.total": "Your aim, and that of every agent: the lowest total cost of the four together, "
    "with no {task} taken twice.",
    "rules.own": "HOW AGENTS DECIDE\n"
    "- An agent that knows nobody else's costs takes the {task} that is cheapest for itself.\n"
    "- An agent that knows the costs of others works out what they will take, leaves that out, "
    "and takes the cheapest {task} that remains for itself.\n"
    "- You decide the same way. Pay no attention to agents whose costs you do not know.\n"
    "- If agents whose choices you can work out are bound to take the same {task}, no choice of "
    "yours can help: then the right answer is that mission failure is inevitable.",
    "rules.total": "HOW AGENTS DECIDE\n"
    "- All four look for the one way of sharing out the four tasks that has the lowest total "
    "cost, and each takes its own part in it.\n"
    "- If agents were bound to take the same {task}, the right answer would be that mission "
    "failure is inevitable.",
    "knows.0": "INFORMATION STRUCTURE\n- You (Agent {me}) know only your own costs.",
    "knows.1": "INFORMATION STRUCTURE\n- You (Agent {me}) know your own costs and those of "
    "{known}.\n- You know that {known} each know only their own costs.",
    "knows.2": "INFORMATION STRUCTURE\n- You (Agent {me}) know everybody's costs.\n"
    "- {middle} know their own costs and those of {first}, and they know that {first} simply "
    "takes what is cheapest. They know neither each other's costs nor yours.\n"
    "- {first} knows only its own costs.",
    "knows.3": "INFORMATION STRUCTURE\n- You (Agent {me}) know everybody's costs, and who knows "
    "what.\n- {third} knows its own costs, those of {second} and {first}, and what these two "
    "know.\n- {second} knows its own costs and those of {first}, and that {first} knows only "
    "itself.\n- {first} knows only its own costs.",
    "knows.4": "INFORMATION STRUCTURE\n- Every agent knows the costs of all four.",
    "knows.page": "- The table below lists the costs of all four, but in your role you know, and "
    "may use, only the rows named here.",
    "agent": "Agent {letter}",
    "costs": "AGENT COSTS ({cost})",
    "row": "- {agent}: {costs}",
    "row.hidden": "- {agent}: not known to you",
    "question": "QUESTION\nYou are Agent {me}. Which {task} do you take?",
    "failure": "Mission failure is inevitable",
    "format.number": "Choose one of these options:\n{options}\n"
    "Give your choice on a line of its own, in the form `Answer: [option number]`.",
    "aside.their_choice": "Which {task} will {agent} take?",
    "told.truth": "You are told that {agent} will take {value}.",
    "told.own": "You have predicted that {agent} will take {value}.",
}


class PartlySeenWords(NumberedWords[int, "View"]):
    """Texts of the partially observable game; costs are taken from the view only."""

    def __init__(self, game: PartlySeen, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        problem = game.problem
        self._tasks = self.labelled(problem.tasks)
        self._level, self._goal = problem.level, problem.goal
        self._me, self._knows = problem.player, problem.knows
        self._story = stories().get(problem.story)
        self._shows_more = game.matrix == "full" and problem.level < 2

    @property
    def _task(self) -> str:
        return self._story.task if self._story else "task"

    @property
    def _agent_noun(self) -> str:
        """The noun for one of the four agents; the plurals of all nouns end in s."""
        return self._story.team.removesuffix("s") if self._story else "person"

    def agent(self, letter: str) -> str:
        """Return the name of one of the four agents."""
        return self.say("agent", letter=letter, one=self._agent_noun)

    def rules(self, seat: Seat) -> str:
        story, me = self._story, AGENTS[self._me]
        scenario = self.say(
            "scenario",
            scene=story.scene if story else self.say("scenario.bare"),
            team=story.team if story else "agents",
            task=self._task,
            one=self._agent_noun,
            me=me,
            goal=self.say(f"goal.{self._goal}", task=self._task),
        )
        decide = self.say(f"rules.{self._goal}", task=self._task)
        return "\n\n".join((scenario, decide, self._who_knows_what(me)))

    def _who_knows_what(self, me: str) -> str:
        roles = knowledge(self._level, self._me, self._knows)
        assert roles is not None  # the game has checked its scenario
        _, first, second, third = (self.agent(AGENTS[seat]) for seat in roles)
        known_names = join_names(sorted((first, second)), "and")
        middle = join_names(sorted((second, third)), "and")
        facts = {
            "me": me,
            "one": self._agent_noun,
            "first": first,
            "second": second,
            "third": third,
        }
        knowledge_text = self.say(f"knows.{self._level}", known=known_names, middle=middle, **facts)
        return f"{knowledge_text}\n{self.say('knows.page')}" if self._shows_more else knowledge_text

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        """Yield the lines about costs, which never change."""
        yield from self._costs(view)[since:]

    def _costs(self, view: View) -> list[str]:
        unit = self._story.cost if self._story else "cost"
        rows = [self._row(AGENTS[agent], row) for agent, row in enumerate(view.costs)]
        return [self.say("costs", cost=unit, task=self._task), *self.listing(rows), ""]

    def _row(self, agent: str, row: tuple[int, ...] | None) -> str:
        if row is None:
            return self.say("row.hidden", agent=agent)
        pairs = self.listing(zip(self._tasks, row, strict=True))
        return self.say(
            "row", agent=agent, costs=", ".join(f"{t} ({cost_text(c)})" for t, c in pairs)
        )

    def question(self, view: View, options: Options[int]) -> str:
        return self.say("question", me=AGENTS[self._me], one=self._agent_noun, task=self._task)

    def name(self, action: int | str) -> str:
        return self.say("failure") if int(action) == FAILURE else self._tasks[int(action)]

    def aside(self, question: Question, view: View, pending: int | None = None) -> str:
        agent = self.agent(question.about)
        return self.say("aside.their_choice", task=self._task, agent=agent)

    def told(self, injected: Told, question: Question | None = None) -> str:
        assert isinstance(injected.value, int)
        agent, value = self.agent(injected.about), self.name(injected.value)
        return self.say(f"told.{injected.source}", agent=agent, value=value)


PEOPLE: Mapping[str, str] = {
    "agent": "{one} {letter}",
    "scenario": "{scene}\nThe four {team} are called A, B, C and D. Each takes exactly one {task}, "
    "all at the same moment, and they cannot talk to each other. If two of them take the same "
    "{task}, everything fails.\nYou are {one} {me}. {goal}",
    "scenario.bare": "Four people have to do four tasks.",
    "goal.own": "You want the {task} that costs you least, but none that somebody else takes.",
    "goal.total": "All four of you want the lowest total cost of the four together, with no {task} "
    "taken twice.",
    "rules.own": "How everybody decides:\n"
    "- Whoever knows nobody else's costs takes the {task} that is cheapest for themselves.\n"
    "- Whoever knows the costs of others works out what these will take, leaves that out, and "
    "takes the cheapest {task} that remains.\n"
    "- You decide in the same way. Pay no attention to those whose costs you do not know.\n"
    "- If two whose choices you can work out are bound to take the same {task}, no choice of yours "
    "can help. Then the right answer is: failure cannot be avoided.",
    "rules.total": "How everybody decides:\n"
    "- All four look for the one way of sharing out the four that has the lowest total cost, and "
    "each takes their own part in it.\n"
    "- If two were bound to take the same {task}, the right answer would be: failure cannot be "
    "avoided.",
    "knows.0": "Who knows what:\n- You ({one} {me}) know only your own costs.",
    "knows.1": "Who knows what:\n- You ({one} {me}) know your own costs and those of {known}.\n"
    "- You know that {known} each know only their own costs.",
    "knows.2": "Who knows what:\n- You ({one} {me}) know everybody's costs.\n"
    "- {middle} know their own costs and those of {first}, and they know that {first} simply takes "
    "what is cheapest. They know neither each other's costs nor yours.\n"
    "- {first} knows only their own costs.",
    "knows.3": "Who knows what:\n- You ({one} {me}) know everybody's costs, and who knows what.\n"
    "- {third} knows their own costs, those of {second} and {first}, and what these two know.\n"
    "- {second} knows their own costs and those of {first}, and that {first} knows only their "
    "own.\n- {first} knows only their own costs.",
    "knows.4": "Who knows what:\n- Everybody knows the costs of all four.",
    "knows.page": "- The table lists the costs of all four, but in your role you know, and may "
    "use, only the rows named here.",
    "costs": "What each {task} costs whom ({cost}):",
    "question": "You are {one} {me}. Which {task} do you take?",
    "failure": "Failure cannot be avoided",
}
