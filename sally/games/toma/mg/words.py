"""The minority game in language: sentences of our own, in the order used in the prompts of
kang2026."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sally.core.errors import join_names
from sally.core.log.events import Told
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options
from sally.core.rules.probe import Question
from sally.core.rules.words import read_texts
from sally.games.toma.mg.game import Minority, View
from sally.games.toma.mg.rules import Agent, Place, meets
from sally.games.toma.mg.stories import stories
from sally.games.toma.one_shot import NumberedWords

TEXTS: Mapping[str, str] = read_texts(__package__)
# parts of the brief that apply only if somebody follows or avoids somebody
FOLLOWS = (
    "Those who follow somebody go to the same {place}. If they have ruled it out, they and all "
    "others"
)
AVOIDS = ", and the {place} of somebody they avoid"


class MinorityWords(NumberedWords[int, "View"]):
    """Texts of the minority game: everything about places and agents except the agents'
    destinations."""

    def __init__(self, game: Minority, texts: Mapping[str, str]) -> None:
        super().__init__(game, texts)
        self._story, self._problem = stories().get(game.problem.story), game.problem
        self._names = self.relabel(place.name for place in game.problem.places)

    def agent_name(self, name: str) -> str:
        """Return the noun and name of an agent, such as `Agent 3`; the plurals of all nouns end in
        s."""
        noun = self.phrases["people"].removesuffix("s").capitalize()
        return self.say("name", name=name, number=name.split()[-1], one=noun)

    def wish(self, wish: str) -> str:
        """Return a wish as it is written, or as the full name of the feature that it names, for
        people."""
        features = (f for place in self._problem.places for f in place.features if meets(f, wish))
        return self.texts.get("field.wish", "{wish}").format(
            wish=wish, feature=next(features, wish)
        )

    @property
    def phrases(self) -> Mapping[str, str]:
        story, agents = self._story, self._problem.agents
        place, people = (story.place, story.people) if story else ("place", "agents")
        follows, avoids = "They", ""
        if any(agent.follows is not None for agent in agents):
            follows = FOLLOWS.format(place=place)
        if any(agent.avoids is not None for agent in agents):
            avoids = AVOIDS.format(place=place)
        return {"place": place, "people": people, "follows": follows, "avoids": avoids}

    def rules(self, seat: Seat) -> str:
        story = self._story
        scene = story.scene if story else self.say("scene.bare")
        goal = story.goal if story else self.say("goal.bare")
        return "\n\n".join(
            (self.say("scenario", scene=scene, goal=goal), self.say("rules", **self.phrases))
        )

    def lines(self, view: View, since: int, form: str) -> Iterator[str]:
        """Yield the lines about places and profiles, which never change."""
        named_places = zip(self._names, view.places, strict=True)
        places = self.listing(self._place(name, place) for name, place in named_places)
        agents = self.listing(self._agent(agent, view) for agent in view.agents)
        heads = [self.say(key, **self.phrases) for key in ("places", "agents")]
        page = [heads[0], *places, "", heads[1], *agents, ""]
        yield from page[since:]

    def _place(self, name: str, place: Place) -> str:
        return self.say("place", name=name, features=", ".join(self.listing(place.features)))

    def _agent(self, agent: Agent, view: View) -> str:
        relations = ""
        if agent.follows is not None:
            relations += self.say("follows", other=self.agent_name(view.agents[agent.follows].name))
        if agent.avoids is not None:
            relations += self.say("avoids", other=self.agent_name(view.agents[agent.avoids].name))
        return self.say(
            "agent",
            name=self.agent_name(agent.name),
            likes=self._wishes(agent.likes),
            dislikes=self._wishes(agent.dislikes),
            relations=relations,
        )

    def _wishes(self, wishes: tuple[str, ...]) -> str:
        return join_names(map(self.wish, wishes), "and") if wishes else self.say("nothing")

    def question(self, view: View, options: Options[int]) -> str:
        return self.say("question", **self.phrases)

    def name(self, action: int | str) -> str:
        return self._names[int(action)]

    def aside(self, question: Question, view: View, pending: int | None = None) -> str:
        return self.say("aside.their_place", agent=self.agent_name(question.about), **self.phrases)

    def told(self, injected: Told, question: Question | None = None) -> str:
        assert isinstance(injected.value, int)
        return self.say(
            f"told.{injected.source}",
            agent=self.agent_name(injected.about),
            value=self.name(injected.value),
        )
