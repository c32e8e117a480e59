"""The rules reader against messages of our own, each labelled by hand.

Rows of the file: `told` holds cells with + - 0, `likes` columns, `knows` cells (`A*`: all of A,
`**`: all), `picks` proposals; x, y, z are the story's attributes in order. `after` holds earlier
(message, reply) pairs. A row marked `beyond` names what the rules do not reach yet.
"""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.problem_sets.mindgames import sample
from sally.games.mindgames.claims import Asked, Claims, Disclosure, Names, claims, falsehoods
from sally.games.mindgames.puzzles import Cell
from sally.games.mindgames.reader import LONGEST, read
from sally.games.mindgames.reader.tokens import MOST_TOKENS, Sentence, sentences, vocabulary
from sally.games.mindgames.stories import aliases, story
from tests.fixtures.any_text import any_text


class Labelled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    story: str
    text: str
    told: str = ""
    likes: str = ""
    knows: str = ""
    picks: str = ""
    after: tuple[tuple[str, str], ...] = ()
    beyond: str = ""

    def claims(self, names: Names) -> Claims:
        column = dict(zip("xyz", names.attributes, strict=True))
        utility = {"+": 1, "-": -1, "0": 0}
        return claims(
            [Disclosure(c[0], column[c[1]], utility[c[2]]) for c in self.told.split()],
            [column[x] for x in self.likes],
            [Asked(p, column[x]) for p, x in _cells(self.knows)],
            list(self.picks),
        )


def _cells(text: str) -> list[tuple[str, str]]:
    return [
        (p, x)
        for row, col in zip(text[::2], text[1::2], strict=True)
        for p in ("ABC" if row == "*" else row)
        for x in ("xyz" if col == "*" else col)
    ]


LINES = Path(__file__).with_name("messages.jsonl").read_text(encoding="utf-8").splitlines()
MESSAGES = [msgspec.json.decode(line, type=Labelled) for line in LINES]


def found(row: Labelled) -> Claims:
    return read(row.text, story(row.story).names(), row.after)


@pytest.mark.parametrize("row", [m for m in MESSAGES if not m.beyond], ids=lambda m: m.text[:60])
def test_labelled_messages_are_read_as_labelled(row: Labelled) -> None:
    assert found(row) == row.claims(story(row.story).names())


@pytest.mark.parametrize("row", [m for m in MESSAGES if m.beyond], ids=lambda m: m.text[:60])
def test_messages_marked_beyond_the_reader_are_still_misread(row: Labelled) -> None:
    assert found(row) != row.claims(story(row.story).names())


TEXT = (
    "proposal A B C a b c it they both neither unlike others all increases decreases no effect on "
    "not without safety and control development speed public trust which because while do you "
    "know like prefer what why ? . , ( ) does would if since only never them"
)
WORDS = TEXT.split()


@given(st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join) | any_text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_text_can_be_read_and_yields_only_valid_names(text: str) -> None:
    names = story("language_models").names()
    seen_claims = read(
        text, names, [("Proposal A increases public trust.", "I like public trust.")]
    )
    for d in seen_claims.disclosures:
        assert names.cell(d.proposal, d.attribute) and d.utility in (-1, 0, 1)
    cells = [(d.proposal, d.attribute) for d in seen_claims.disclosures]
    assert len(cells) == len(set(cells))
    assert set(seen_claims.motivational) <= set(names.attributes)
    assert set(seen_claims.inferential) <= set(names.proposals)
    assert read(text, names) == read(text, names)


PUZZLE = sample(1, seed=6)[0]
MOVES = {1: "increases", 0: "has no effect on", -1: "decreases"}


@pytest.mark.parametrize("cell", PUZZLE.cells)
def test_plain_lie_is_read_literally_despite_the_known_puzzle(cell: Cell) -> None:
    names = story("ocean_energy").names()
    proposal, attribute = names.proposals[cell[0]], names.attributes[cell[1]]
    for reply in (-1, 0, 1):
        text = f"Proposal {proposal} {MOVES[reply]} {attribute}."
        lie = read(text, names, puzzle=PUZZLE)
        assert lie == claims([Disclosure(proposal, attribute, reply)])
        assert bool(falsehoods(lie, PUZZLE, names)) == (PUZZLE.utility(cell) != reply)


@pytest.mark.parametrize("cell", PUZZLE.cells)
def test_open_wording_is_read_as_the_truth_it_allows(cell: Cell) -> None:
    names = story("ocean_energy").names()
    text = f"Proposal {names.proposals[cell[0]]} does not decrease {names.attributes[cell[1]]}."
    (disclosure,) = read(text, names, puzzle=PUZZLE).disclosures
    assert disclosure.utility == max(PUZZLE.utility(cell), 0)


@pytest.mark.parametrize("cell", PUZZLE.cells)
def test_loose_phrase_is_not_read_as_a_lie(cell: Cell) -> None:
    names = story("ocean_energy").names()
    text = f"Proposal {names.proposals[cell[0]]} safeguards {names.attributes[cell[1]]}."
    disclosures = read(text, names, puzzle=PUZZLE).disclosures
    assert [d.utility for d in disclosures] == (
        [] if PUZZLE.utility(cell) < 0 else [PUZZLE.utility(cell)]
    )


def _falsely(text: str, cell: Cell) -> str:
    """The text with a direction that is not so of this cell."""
    names = story("ocean_energy").names()
    wrong = "increases" if PUZZLE.utility(cell) < 1 else "decreases"
    return text.format(p=names.proposals[cell[0]], wrong=wrong, x=names.attributes[cell[1]])


LOOSE = (
    "Proposal {p} could mean that, in time, it {wrong} {x}.",
    "If proposal {p} {wrong} {x}, so be it.",
    "Proposal {p} is sure to sway those whom it {wrong} less in their {x}.",
)


@pytest.mark.parametrize("cell", PUZZLE.cells)
@pytest.mark.parametrize("text", LOOSE)
def test_only_plain_wording_counts_as_a_lie(text: str, cell: Cell) -> None:
    names = story("ocean_energy").names()
    assert falsehoods(read(_falsely(text, cell), names, puzzle=PUZZLE), PUZZLE, names) == ()


TWO_WAYS = (
    "Proposal {q} beats proposal {p} since it {wrong} {x}.",
    "Proposal {q} or proposal {p} {wrong} {x}.",
)


@pytest.mark.parametrize("cell", PUZZLE.cells)
@pytest.mark.parametrize("text", TWO_WAYS)
def test_ambiguous_message_is_unclear_and_not_a_lie(text: str, cell: Cell) -> None:
    names = story("ocean_energy").names()
    other_proposal = names.proposals[(cell[0] + 1) % 3]
    seen_claims = read(_falsely(text.replace("{q}", other_proposal), cell), names, puzzle=PUZZLE)
    wrong = 1 if PUZZLE.utility(cell) < 1 else -1
    rows = [(cell[0] + 1) % 3] if "it" in text.split() else [cell[0], (cell[0] + 1) % 3]
    doubtful = [r for r in rows if PUZZLE.utility((r, cell[1])) != wrong]
    assert {names.proposal(d.proposal) for d in seen_claims.unclear} == set(doubtful)
    assert not falsehoods(seen_claims, PUZZLE, names)


HOSTILE = ("\n", "a ", "what like ", "\nA", "it ", "increases trust ", "so, ", "x", "a'", "a = ")


@pytest.mark.parametrize("piece", HOSTILE)
def test_megabyte_message_is_read_only_up_to_the_limit(piece: str) -> None:
    names = story("language_models").names()
    long = piece * (1_000_000 // len(piece))
    assert read(long, names) == read(long[:LONGEST], names)
    assert all(len(s.tokens) <= MOST_TOKENS for s in _sentences(long[:LONGEST], names))


def _sentences(text: str, names: Names) -> list[Sentence]:
    return list(sentences(text, vocabulary(names, aliases())))


def test_there_are_at_least_300_messages_over_all_stories_and_kinds() -> None:
    assert len(MESSAGES) >= 300
    assert len({m.story for m in MESSAGES}) == 6
    for kind in ("told", "likes", "knows", "picks", "after"):
        assert sum(bool(getattr(m, kind)) for m in MESSAGES) >= 12
    assert sum(bool(m.beyond) for m in MESSAGES) <= 15
