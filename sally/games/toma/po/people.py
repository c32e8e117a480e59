"""The partially observable game as people read it: a trade and a letter instead of an agent."""

from __future__ import annotations

from collections.abc import Mapping

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
