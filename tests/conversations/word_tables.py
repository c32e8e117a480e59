"""Tables of the word games and of a number game, for golden conversations.

Strategies add to a page what the other tables show for all of them; here two are enough to show
what the pages of these games say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

STRATEGIES = ("cot", "qa")
SEATS = {
    "codenames": ("giver", {"guesser": "associates"}, {"boards": 1}),
    "taboo": ("giver", {"guesser": "associates"}, {"rounds": 2, "hints": 2}),
    "wavelength": ("psychic", {"guesser": "own_dial"}, {"rounds": 2}),
    "eleven_twenty": ("player_1", {"player_2": "level"}, {"rounds": 2}),
}
ASKED = {
    "codenames": ("their_pick", "their_run"),
    "taboo": ("their_guess", "will_find"),
    "wavelength": ("their_dial", "their_side"),
    "eleven_twenty": ("their_move", "their_depth"),
}
WORDS: Mapping[str, tuple[str, ...]] = {  # plain clues, the next one where one was said already
    "codenames": ("ocean", "music", "travel", "weather", "kitchen", "holiday", "metal", "garden"),
    "taboo": ("forest", "garden", "metal", "kitchen"),
    "wavelength": ("tomorrow", "holiday"),
}


def said_at(game: str, page: str) -> str:
    """An answer in the form that the page asks for."""
    asked_page = page[page.rfind("\n\n") :]
    odds = re.search(r"gives each of (.*) its chance", asked_page)
    if odds is not None:
        first, *others = re.split(r", | and ", odds[1])
        return _after_thoughts(
            asked_page, ", ".join([f"Odds: {first} 100", *(f"{o} 0" for o in others)])
        )
    label = re.search(r"of the form `(\w+): ", asked_page)
    match = re.search(r"<name> is (\w+)", asked_page)
    low = re.search(r"whole number from (\d+) to", asked_page)
    if label is None:
        return "Thoughts: nothing is asked."
    if "<one word>" in asked_page:
        word = next((w for w in WORDS[game] if f'"{w}"' not in page), WORDS[game][0])
        answer = f"{word}, {low[1]}" if low is not None else word
    else:
        answer = match[1] if match is not None else str(int(low[1]) + 2 if low else 0)
    return _after_thoughts(asked_page, f"{label[1]}: {answer}")


def _after_thoughts(asked: str, answer: str) -> str:
    if "`Thoughts" not in asked:
        return answer
    return f"Thoughts: it follows from what was said.\n{answer}"
