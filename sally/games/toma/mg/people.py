"""The minority game as people read it: those who choose are called what they are."""

from __future__ import annotations

from collections.abc import Mapping

PEOPLE: Mapping[str, str] = {
    "name": "{one} {number}",
    "scenario": "{scene} They do not talk about it. {goal}",
    "scene.bare": "Several people each go to one of four places.",
    "goal.bare": "You want the place with the fewest people.",
    "rules": "How each of the {people} decides:\n"
    "1. They rule out every {place} that has something they dislike, and the {place} of somebody "
    "whom they avoid.\n"
    "2. If they follow somebody and that one's {place} is not ruled out, they go there.\n"
    "3. Otherwise they go to the {place} with most of the things they like, among those that are "
    "left.\n"
    'A thing may be named in part: "mint leaves" means any {place} with "fresh mint leaves". '
    "You are not counted.",
    "places": "What there is in each {place}:",
    "agents": "What the {people} want:",
    "question": "Which {place} do you choose, so that you meet the fewest {people}?",
}
