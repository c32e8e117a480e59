"""The partially observable game in language: sentences of our own, in the order used in the prompts
of kang2026."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sally.core.errors import join_names
from sally.core.log.events import Told
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.probe import Question
from sally.core.rules.words import read_texts
from sally.games.toma.one_shot import NumberedWords
from sally.games.toma.po.game import PartlySeen, View
from sally.games.toma.po.rules import AGENTS, FAILURE, cost_text, knowledge
from sally.games.toma.po.stories import stories

TEXTS: Mapping[str, str] = read_texts(__package__)


class PartlySeenWords(NumberedWords[int, "View"]):
    """Texts of the partially observable game; costs are taken from the view only."""

    def __init__(self, game: PartlySeen, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        problem = game.problem
        self._tasks = self.relabel(problem.tasks)
        self._level, self._goal = problem.level, problem.goal
        self._me, self._knows = problem.player, problem.knows
        self._story = stories().get(problem.story)
        self._shows_more = game.matrix == "full" and problem.level < 2

    @property
    def phrases(self) -> Mapping[str, str]:
        return {"task": self._task, "team": self._story.team if self._story else "people"}

    @property
    def unit(self) -> str:
        """The unit of the costs."""
        return self._story.cost if self._story else "cost"

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
        rows = [self._row(AGENTS[agent], row) for agent, row in enumerate(view.costs)]
        return [self.say("costs", cost=self.unit, task=self._task), *self.listing(rows), ""]

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
