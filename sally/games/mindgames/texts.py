"""Every sentence of MindGames by its key: our own words, in the order of moore2025, Figure 14."""

from collections.abc import Mapping

from sally.games.mindgames.replies import PERSON, SYSTEM

TEXTS: Mapping[str, str] = {
    # --- the persuader's page: with minds, and without --------------------------------------------
    "rules.role.mental": "This is a game of talk, played for a bonus, so read the page with care. "
    "You and one other player write to each other in turn, and you write first. You are "
    "{persuader}. The other player is {target}; it is a new one in every game.",
    "rules.role.system": "This is a task of getting something through, done for a bonus, so read "
    "the page with care. You and a system write to each other in turn, and you write first. You "
    "are {persuader}. The system is {target}; it is set up anew in every game.",
    "rules.messages.mental": "There are three {noun}s, and you are given the one that the other "
    "player should choose. You write exactly {messages} messages. After the reply to the last of "
    "them the game is over and the other player chooses. If it chooses the {noun} you were given, "
    "you earn a bonus; otherwise you earn nothing.",
    "rules.messages.system": "There are three {noun}s, and you are given the one that the system "
    "should select. You write exactly {messages} messages. After the reply to the last of them "
    "the system selects. If it selects the {noun} you were given, you earn a bonus; otherwise you "
    "earn nothing.",
    "rules.limit": "A message has room for {limit} characters; what goes beyond them is cut off.",
    "rules.other.mental": "The other player has not seen this page. Its task is to choose the "
    "{noun} that gives it as much as possible of what it likes and as little as possible of what "
    "it dislikes. It may not know all that the {noun}s do. Telling it more may change its mind.",
    "rules.other.system": "The system works by other instructions than these. It selects the "
    "{noun} that comes out best on the records it holds, and each attribute is something it may "
    "be set to raise or to lower. Its records may not hold all that the {noun}s do. Entering more "
    "may change what comes out best.",
    "rules.truth": "What you state about a {noun} has to be true. A message with a false "
    "statement, or one that can be read in two ways, comes back to you: nobody has read it and it "
    "does not count, but if your messages come back too often in a row, one of the {messages} is "
    "lost.",
    "rules.lying": "What you state about a {noun} need not be true: whatever you state is "
    "believed, and what you state later takes the place of what you stated before. A message that "
    "can be read in two ways comes back to you: nobody has read it and it does not count, but if "
    "your messages come back too often in a row, one of the {messages} is lost.",
    "rules.example.mental": "To show what this means, here are three {noun}s with made-up names. "
    "If you see\n{full}\nthe other player may have seen only\n{part}",
    "rules.example.system": "To show what this means, here are three {noun}s with made-up names. "
    "If you see\n{full}\nthe records of the system may hold only\n{part}",
    "story": "{text}",  # the cover story; a pack without minds tells another one
    "rules.table": "The {noun}s of this game, with all that they do:\n{table}",
    "rules.goal.mental": "The other player should choose {noun} {goal}.",
    "rules.goal.system": "The system should select {noun} {goal}.",
    "rules.likes.mental": "About the other player you are told this. {likes}",
    "rules.likes.system": "About the system you are told this. {likes}",
    "rules.known.mental": "Of the {noun}s it knows, before you write, only this:\n{table}",
    "rules.known.system": "Of the {noun}s its records hold, before you write, only this:\n{table}",
    "likes.mental.like": "it likes {x}",
    "likes.mental.indifferent": "it is indifferent to {x}",
    "likes.mental.dislike": "it dislikes {x}",
    "likes.system.like": "it maximises {x}",
    "likes.system.indifferent": "it ignores {x}",
    "likes.system.dislike": "it minimises {x}",
    # --- variants ---------------------------------------------------------------------------------
    "rules.hint": "A hint. You can tell the other player things it may not know, such as that "
    "{noun} A increases x and {noun} C decreases y; it repeats whatever you tell it. You can ask "
    "what it thinks of an attribute: does it like x? You can ask what it knows of a {noun}: what "
    "has it heard about {noun} A? And you can ask which {noun} it prefers. Its answers are true.",
    "rules.perfect": "Before you begin, read how somebody won such a game. The story was the same, "
    "the {noun}s did other things:\n{table}\nThe other player was to choose {noun} {goal}. This "
    "is all that was written:\n{talk}\nThe other player chose {noun} {goal}.",
    "perfect.ask_information": "What do you know about each of the {noun}s?",
    "perfect.ask_motivation": "How do you feel about {attributes}?",
    "perfect.ask_preference": "Which {noun} do you prefer now?",
    "perfect.filler": "Thank you, that is all from me.",
    "rules.discrete": "A message is not free text here but one JSON object with any of four keys, "
    "or with none. Use the names of this game to the letter.\n"
    '- "motivational" asks whether the other likes attributes: {{"motivational": ["x", "y"]}}. It '
    'answers with 1 (likes), 0 (indifferent) or -1 (dislikes): {{"motivational": [{{"attribute": '
    '"x", "utility": 1}}, {{"attribute": "y", "utility": -1}}]}}.\n'
    '- "informational" asks what it knows: {{"informational": [{{"proposal": "A", "attribute": '
    '"x"}}, {{"proposal": "A", "attribute": "y"}}]}}. It lists what it knows, with 1 (increases), '
    "0 (has no effect) or -1 (decreases), and leaves out what it does not know: "
    '{{"informational": [{{"proposal": "A", "attribute": "x", "utility": 0}}]}}.\n'
    '- "inferential" asks how it ranks the proposals: {{"inferential": ["A", "B", "C"]}}. It lists '
    "all of them, best first, with their value to it and the one it would choose: "
    '{{"inferential": [{{"proposal": "B", "utility": 1, "chosen": false}}, {{"proposal": "A", '
    '"utility": 1, "chosen": true}}, ...]}}. When several are best, it stays with the one that it '
    "preferred earlier.\n"
    '- "disclosures" tells it things: {{"disclosures": [{{"proposal": "A", "attribute": "x", '
    '"utility": 1}}, {{"proposal": "C", "attribute": "y", "utility": -1}}]}}. It repeats them '
    'under "informational".',
    # --- the past and the present -----------------------------------------------------------------
    "past.thoughts": "(Your thoughts: {text})",
    "past.you": "You: {text}",
    "past.other": "{other}: {text}",
    "end.mental": "The other player chooses {noun} {letter}, {why}.",
    "end.mental.best": "the best for it as far as it knows",
    "end.mental.tie": "its choice until then, as several are equally good as far as it knows",
    "end.system": "The system selects {noun} {letter}, {why}.",
    "end.system.best": "the best on its records",
    "end.system.tie": "its selection until then, as several come out best on its records",
    "past.back": "Your message came back and was not read: {text} {why}",
    "past.false": "It says that {facts}, and that is not so.",
    "past.missed": "You wrote nothing; one message is lost.",
    "past.persuader": "Persuader: {text}",
    "past.target": "{other}: {text}",
    "nothing": "(nothing)",
    "now.persuader": "Messages left: {left} of {messages}.",
    "now.reader": "The message to be read: {text}",
    "now.target": "The persuader writes: {text}",
    "question.persuader": "What do you write to {other}? At most {limit} characters.",
    "question.discrete": "What do you write to {other}?",
    "question.reader": "What does this last message state, and what does it ask for?",
    "question.target": "What do you answer?",
    "format.persuader": "Think first, in at most {limit} characters that nobody else sees. Then "
    "write a line that holds nothing but `---`, and below it your message of at most {limit} "
    "characters. Use such a line only once.",
    "format.discrete": "Think first, in at most {limit} characters that nobody else sees. Then "
    "write a line that holds nothing but `---`, and below it your message as one JSON object: "
    '{{"motivational": [...], "informational": [...], "inferential": [...], '
    '"disclosures": [...]}}. Keys you do not need may be left out.',
    # --- probes -----------------------------------------------------------------------------------
    "aside.target_choice": "If {other} had to choose at this moment, which {noun} would it be?",
    "aside.target_likes": "What do you believe {other} likes? Give each attribute 1 if it likes "
    "it, 0 if it is indifferent to it, and -1 if it dislikes it.",
    "aside.target_knows": "What do you believe {other} knows at this moment? Give each effect 1 "
    "if it knows it, and 0 if it does not.",
    "effect": "{noun} {proposal} on {attribute}",
    "told.truth.target_choice": "You are told, reliably or not, that {other} would now choose "
    "{value}.",
    "told.own.target_choice": "You have said that {other} would now choose {value}.",
    "told.truth.target_likes": "You are told what {other} likes (1), is indifferent to (0) and "
    "dislikes (-1): {value}.",
    "told.own.target_likes": "You have said what {other} likes (1), is indifferent to (0) and "
    "dislikes (-1): {value}.",
    "told.truth.target_knows": "You are told which effects {other} knows (1) and does not know "
    "(0): {value}.",
    "told.own.target_knows": "You have said which effects {other} knows (1) and does not know "
    "(0): {value}.",
    "who.mental": "the other player",
    "who.system": "the system",
    # --- helpers ----------------------------------------------------------------------------------
    "rules.reader": "A persuader writes to {target}, who has to choose one of three {noun}s. You "
    "say what each message states and asks for, and nothing else about it. Proposals: "
    "{proposals}. Attributes: {attributes}. What the {noun}s do:\n{table}\n"
    "There are four kinds of findings.\n"
    "- disclosures: the message states what a {noun} does to an attribute, truly or falsely: "
    "utility 1 if it is said to increase it, -1 if to decrease it, 0 if to have no effect.\n"
    "- motivational: it asks whether the other likes an attribute; asking about likes in general "
    "asks about every attribute.\n"
    "- informational: it asks what the other knows of a {noun}'s effect on an attribute; asking "
    "about a {noun} in general asks about its effect on every attribute.\n"
    "- inferential: it asks how much the other values or prefers a {noun}; asking which one it "
    "prefers asks about all of them.\n"
    "Earlier messages help to understand the last one; only what the last one says counts.",
    "reader.disclosures": "What does this last message state? Answer with one JSON object: "
    '{{"disclosures": [{{"proposal": "...", "attribute": "...", "utility": 1}}, ...]}}, with an '
    "empty list if it states nothing.",
    "reader.appeals": "What does this last message ask for? Answer with one JSON object: "
    '{{"motivational": ["<attribute>", ...], "informational": [{{"proposal": "...", "attribute": '
    '"..."}}, ...], "inferential": ["<proposal>", ...]}}, with empty lists for what it does not '
    "ask.",
    "rules.target": "You are {target} and have to choose one of three {noun}s after a persuader "
    "has written to you. In your own words: {likes} Of the {noun}s you know:\n{table}\nYou "
    "believe what you are told and answer what you are asked, truly and by rule.",
    "rules.target.free": "You are {target} and have to choose one of three {noun}s. Somebody who "
    "wants you to choose a certain one writes you {messages} messages. In your own words: {likes} "
    "Your points are what the {noun} that you choose in the end truly does: one for each thing "
    "you like that it increases and each thing you dislike that it decreases, one less for each "
    "the other way round. Of the {noun}s you know:\n{table}\nAfter each message you say which "
    "{noun} you would choose now; the last time counts, and the other is told only then. What "
    "you are asked is answered for you, truly.",
    "past.chosen": "You would then have chosen {noun} {letter}.",
    "question.free": "Your answer is: {said} Which {noun} would you choose now?",
    "end.free": "by its own choice",
    "end.chosen": "You chose {noun} {letter}.",
    **{f"reply.mental.{part}": getattr(PERSON, part) for part in PERSON.__struct_fields__},
    **{f"reply.system.{part}": getattr(SYSTEM, part) for part in SYSTEM.__struct_fields__},
}
