"""The rule-based reader: it extracts claims from free text without a model."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from sally.games.mindgames import stories
from sally.games.mindgames.claims import Asked, Claims, Disclosure, Names, claims
from sally.games.mindgames.puzzles import Puzzle
from sally.games.mindgames.reader.facts import Fact, facts
from sally.games.mindgames.reader.questions import Appeals, Asking, Cells, appeals
from sally.games.mindgames.reader.tokens import Topic, Vocabulary, sentences, vocabulary

LONGEST = 2_000  # the game cuts messages at 300 characters by default


def read(
    message: str,
    names: Names,
    earlier: Sequence[tuple[str, str]] = (),
    puzzle: Puzzle | None = None,
) -> Claims:
    """Return the claims in a message; `earlier` holds the (message, reply) pairs before it.

    Words that allow several utilities (`does not harm X`: 0 or 1) are read charitably: as the true
    value if they allow it and the puzzle is given, otherwise as the likeliest value. Unambiguous
    words are never adapted to the truth, so a false statement stays false; a meaning that is only
    likely is left out if it would be false. At most LONGEST characters are read.
    """
    message = message[:LONGEST]
    words = vocabulary(names, stories.aliases())
    topic = _topic(tuple(earlier_message for earlier_message, _ in earlier), names)
    facts_found: list[Fact] = []
    appeals_found: list[Appeals] = []
    leaning = _asking(topic, earlier, names, words)
    parts = sentences(message, words)
    answer_due = any(part.asks for part in parts)
    for part in parts:
        new, next_topic = facts(part, topic, len(names.proposals))
        facts_found += new
        asking = msgspec.structs.replace(
            leaning, topic=topic, stated=_cells(facts_found), news=_cells(new) if answer_due else ()
        )
        appeals_found.append(appeals(part, asking))
        topic = next_topic
    disclosures, unclear = _disclosures(facts_found, names, puzzle)
    return claims(
        disclosures=disclosures,
        motivational=[names.attributes[c] for a in appeals_found for c in a.motivational],
        informational=[
            Asked(names.proposals[r], names.attributes[c])
            for a in appeals_found
            for r, c in a.informational
        ],
        inferential=[names.proposals[r] for a in appeals_found for r in a.inferential],
        unclear=unclear,
    )


@lru_cache(maxsize=1024)  # a conversation grows by one message, so its past is read once
def _topic(messages: tuple[str, ...], names: Names) -> Topic:
    """Return the persuader's last topic, to resolve pronouns in its next message."""
    if not messages:
        return Topic()
    topic = _topic(messages[:-1], names)
    for sentence in sentences(messages[-1][:LONGEST], vocabulary(names, stories.aliases())):
        _, topic = facts(sentence, topic, len(names.proposals))
    return topic


def _asking(
    topic: Topic, earlier: Sequence[tuple[str, str]], names: Names, words: Vocabulary
) -> Asking:
    """Return the context for the questions in this message."""
    reply = earlier[-1][1] if earlier else ""
    liked = {
        token.column
        for sentence in sentences(reply, words)
        if re.match(
            r"(?:I|The system) (?:like|dislike|feel|am|maximi|minimi|ignore)", sentence.text
        )
        for token in sentence.tokens
        if token.sort == "attribute"
    }
    return Asking(
        topic=topic,
        reply=tuple(sorted(liked)),
        ranked="prefer" in reply,
        stated=(),
        news=(),
        everyone=tuple(range(len(names.proposals))),
        everything=tuple(range(len(names.attributes))),
    )


def _cells(stated_facts: Iterable[Fact]) -> Cells:
    return tuple(dict.fromkeys((fact.row, fact.column) for fact in stated_facts))


def _disclosures(
    stated_facts: list[Fact], names: Names, puzzle: Puzzle | None
) -> tuple[list[Disclosure], list[Disclosure]]:
    """Return the first statement about each cell and, separately, false statements that need
    clarification because they may be unintended."""
    values_by_cell: dict[tuple[int, int], int] = {}
    unclear: dict[tuple[int, int], int] = {}
    for fact in stated_facts:
        cell = (fact.row, fact.column)
        truth = None if puzzle is None else puzzle.utilities[fact.row][fact.column]
        if truth in fact.allowed:
            values_by_cell.setdefault(cell, int(truth))
        elif truth is not None and fact.doubtful:
            unclear.setdefault(cell, fact.allowed[0])
        elif truth is None or not fact.likely:
            values_by_cell.setdefault(cell, fact.allowed[0])
    return _as_disclosures(values_by_cell, names), _as_disclosures(unclear, names)


def _as_disclosures(cells: Mapping[tuple[int, int], int], names: Names) -> list[Disclosure]:
    return [Disclosure(names.proposals[r], names.attributes[c], u) for (r, c), u in cells.items()]
