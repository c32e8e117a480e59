"""The rules reader: free text to claims, by rules alone, without a model."""

from collections.abc import Sequence

from sally.games.mindgames.claims import Claims, Disclosure, Names, claims
from sally.games.mindgames.matrices import Puzzle
from sally.games.mindgames.reading.facts import Fact, facts
from sally.games.mindgames.reading.groups import Topic
from sally.games.mindgames.reading.tokens import sentences, vocabulary

ALIASES = (
    ("safety and control", ("safety", "control", "safety controls", "safeguards", "security")),
    ("development speed", ("speed", "dev speed", "development", "dev", "pace", "rollout")),
    ("public trust", ("trust",)),
    ("scientific advancement", ("science", "scientific progress", "scientific")),
    ("commercial opportunities", ("commercial", "commerce", "commercialization", "commercial growth")),
    ("preservation of the lunar environment",
     ("lunar preservation", "environment", "preservation", "moon's environment",
      "environmental preservation", "environmental")),
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
    for sentence in sentences(message, words):
        new, topic = facts(sentence, topic, len(names.proposals))
        found += new
    return claims(disclosures=_disclosures(found, names, puzzle))


def _disclosures(found: list[Fact], names: Names, puzzle: Puzzle | None) -> list[Disclosure]:
    told: dict[tuple[int, int], int] = {}
    for fact in found:
        truth = None if puzzle is None else puzzle.utilities[fact.row][fact.column]
        utility = truth if truth in fact.allowed else fact.allowed[0]
        told.setdefault((fact.row, fact.column), int(utility))
    return [Disclosure(names.proposals[r], names.attributes[c], u) for (r, c), u in told.items()]
