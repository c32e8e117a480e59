"""One-word clues, guesses and questions, the same in every word game."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sally.core.errors import IllegalMove, Unreadable
from sally.core.match.replay import Trajectory
from sally.core.prompt.words import read_form
from sally.core.reply.plain_text import after_label, doubtful, plain
from sally.core.rules.game import Seat
from sally.core.rules.menu import Options, admitted
from sally.core.rules.probe import At, Probe, Question


def read_word(reply: str, options: Options[Any], label: str, teach: str) -> Any:
    """Return the action whose word a reply gives after `label` or as JSON.

    The first option must be the form for an action with a word.
    """
    if "{" in reply:
        return read_form(reply, options)
    stated = after_label(reply, label)
    if stated is None:
        raise Unreadable(teach)
    word = plain(stated)
    if _BLANK.fullmatch(stated) or word.endswith("?") or (" " in word and doubtful(word)):
        raise Unreadable(teach)
    form: Any = options[0]
    try:
        return admitted(options, form.make(unquoted(stated)))
    except (IllegalMove, ValueError):
        raise Unreadable(teach) from None


_BLANK = re.compile(r"(?i)\W*[<\[](?:your |one |the )?(?:word|clue|hint|guess)[>\]]\W*")  # as asked


def unquoted(text: str) -> str:
    """Return a text without surrounding quotes, markup or final full stop."""
    return re.sub(r"^[\s\"'“‘*_`\[<]+|[\s\"'”’*_`\]>.]+$", "", text)


def one_line(text: str) -> str:
    """Return a text on one line, so that it cannot imitate another line of the prompt."""
    return " ".join(text.split()).replace('"', "'")


def number_question(probe: str, about: str = "") -> Question:
    """Return a question whose answer is a whole number from 0 to 100."""
    return Question(probe, "choice", tuple(range(101)), about=about, numeric=True)


# --- questions -----------------------------------------------------------------------------------

Past = Trajectory[Any, Any, Any]
NO_SPLIT = (
    "the player was not asked what other words would lead to, so the best reply to its prediction "
    "is not known"
)


def own_answer(probe: str, of: Seat) -> Callable[[Past, At], int | None]:
    """Return a function that finds a probe's true value: the answer of the seat `of` to the same
    question."""

    def truth(replay: Past, at: At) -> int | None:
        if at.seat == of:
            return None
        said = replay.report(at.turn, of, probe, at.about)
        return said.value if said is not None and isinstance(said.value, int) else None

    return truth


def closeness_probe(
    giver: Seat, guesser: Seat, ask: Callable[[Any, Any, Seat], tuple[Question, ...]]
) -> Probe:
    """Return the probe that asks how close two words are for the guesser, from 0 to 100."""
    return Probe(
        "closeness",
        "how close two words are for the guesser; judged by its own answer",
        "start",
        "choice",
        (giver, guesser),
        ask,
        own_answer("closeness", guesser),
    )
