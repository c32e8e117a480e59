"""The rules reader: free text to claims, by rules alone, without a model."""

import re
from collections.abc import Sequence

from sally.games.mindgames.claims import Asked, Claims, Disclosure, Names, claims
from sally.games.mindgames.matrices import Puzzle
from sally.games.mindgames.reading.facts import Fact, facts
from sally.games.mindgames.reading.groups import Topic
from sally.games.mindgames.reading.questions import Asking, appeals
from sally.games.mindgames.reading.tokens import Vocabulary, sentences, vocabulary

ALIASES = (
    ("safety and control", ("safety", "control", "safety controls", "safeguards", "security")),
    ("development speed", ("speed", "dev speed", "development", "dev", "pace", "rollout")),
    ("public trust", ("trust",)),
    ("scientific advancement", ("science", "scientific progress", "scientific")),
    (
        "commercial opportunities",
        ("commercial", "commerce", "commercialization", "commercial growth"),
    ),
    (
        "preservation of the lunar environment",
        (
            "lunar preservation",
            "environment",
            "preservation",
            "moon's environment",
            "environmental preservation",
            "environmental",
        ),
    ),
    ("energy production", ("energy", "energy output")),
    ("marine ecosystems", ("marine", "ecosystems", "marine life", "ecosystem", "marine health")),
    ("coastal economies", ("coastal", "coastal economy", "coast", "economies")),
    ("student achievement", ("achievement", "student success", "student performance")),
    ("teacher satisfaction", ("satisfaction", "teacher morale")),
    ("economic competitiveness", ("economy", "competitiveness", "economic")),
    ("cost to school", ("cost", "costs", "expenses", "money", "school's cost", "school costs")),
    ("student choice", ("students choice", "student freedom")),
    ("animal suffering", ("suffering", "-animal welfare", "-animals", "-welfare")),
    ("molybdenum", ("moly",)),
)


def read(
    message: str,
    names: Names,
    earlier: Sequence[tuple[str, str]] = (),
    puzzle: Puzzle | None = None,
    aliases: tuple[tuple[str, tuple[str, ...]], ...] = (),
) -> Claims:
    words = vocabulary(names, aliases or ALIASES)
    topic = Topic()
    for said, _ in earlier:
        for sentence in sentences(said, words):
            _, topic = facts(sentence, topic, len(names.proposals))
    found: list[Fact] = []
    likes: set[int] = set()
    knows: set[tuple[int, int]] = set()
    picks: set[int] = set()
    for sentence in sentences(message, words):
        asked = appeals(sentence, _asking(topic, earlier, names, words))
        likes |= set(asked.motivational)
        knows |= set(asked.informational)
        picks |= set(asked.inferential)
        new, topic = facts(sentence, topic, len(names.proposals))
        found += new
    return claims(
        disclosures=_disclosures(found, names, puzzle),
        motivational=[names.attributes[c] for c in likes],
        informational=[Asked(names.proposals[r], names.attributes[c]) for r, c in knows],
        inferential=[names.proposals[r] for r in picks],
    )


def _asking(
    topic: Topic, earlier: Sequence[tuple[str, str]], names: Names, words: Vocabulary
) -> Asking:
    """What questions in this message can lean on."""
    reply = earlier[-1][1] if earlier else ""
    liked = {
        token.column
        for sentence in sentences(reply, words)
        if re.match(r"I (?:like|dislike|feel|am|do|care)", sentence.text)
        for token in sentence.tokens
        if token.sort == "attribute"
    }
    return Asking(
        topic=topic,
        reply=tuple(sorted(liked)),
        ranked="prefer" in reply,
        everyone=tuple(range(len(names.proposals))),
        everything=tuple(range(len(names.attributes))),
    )


def _disclosures(found: list[Fact], names: Names, puzzle: Puzzle | None) -> list[Disclosure]:
    told: dict[tuple[int, int], int] = {}
    for fact in found:
        truth = None if puzzle is None else puzzle.utilities[fact.row][fact.column]
        utility = truth if truth in fact.allowed else fact.allowed[0]
        told.setdefault((fact.row, fact.column), int(utility))
    return [Disclosure(names.proposals[r], names.attributes[c], u) for (r, c), u in told.items()]
