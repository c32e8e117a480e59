"""The target answers what was asked, echoes what it was told, and lists nothing in goal order."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.problem_sets.mindgames import reletter, sample
from sally.games.mindgames.claims import Asked, Claims, Disclosure, Names, claims
from sally.games.mindgames.puzzles import Puzzle
from sally.games.mindgames.replies import (
    PERSON,
    SYSTEM,
    BadMessage,
    answer,
    as_json,
    in_words,
    parse_discrete,
)
from sally.games.mindgames.target import first_mind, learn_cells

NAMES = Names(proposals=("A", "B", "C"), attributes=("x", "y", "z"))
PUZZLE = Puzzle(
    utilities=((1, -1, 0), (1, 1, -1), (0, -1, -1)),
    hidden=((0, 1), (1, 1)),
    target_values=(1, -1, 0),
    persuader_values=(0, 0, 1),
    goal=0,
    trap=0,
    initial=2,
    winning=(),
)
ALL_CELLS = [Asked(p, a) for p in "ABC" for a in "xyz"]


def says(found_claims: Claims, puzzle: Puzzle = PUZZLE) -> str:
    cells = [NAMES.cell(d.proposal, d.attribute) for d in found_claims.disclosures]
    mind = learn_cells(puzzle, first_mind(puzzle), cells, "sequential")
    return in_words(answer(puzzle, mind, found_claims, NAMES), NAMES)


def test_disclosure_is_echoed() -> None:
    assert says(claims([Disclosure("A", "y", -1)])) == "Proposal A decreases y."


def test_echo_and_answer_about_one_proposal_share_a_sentence() -> None:
    actual_claims = claims([Disclosure("A", "y", -1)], informational=[Asked("A", "x")])
    assert says(actual_claims) == "Proposal A increases x and decreases y."


def test_reply_to_partial_request_names_unknown_cells() -> None:
    actual_claims = claims(informational=[Asked("A", "x"), Asked("A", "y")])
    assert says(actual_claims) == "Proposal A increases x. I do not know what proposal A does to y."


def test_reply_to_request_for_whole_proposal_omits_unknown_cells() -> None:
    actual_claims = claims(informational=[Asked("B", a) for a in "xyz"])
    assert says(actual_claims) == "Proposal B increases x and decreases z."


def test_likes_come_in_the_order_of_the_story() -> None:
    assert says(claims(motivational=["z", "x", "y"])) == (
        "I like x, I dislike y and I am indifferent to z."
    )


def test_asking_about_one_proposal_gets_the_whole_ranking_with_the_tie() -> None:
    assert says(claims(inferential=["B"])) == (
        "I prefer proposals A, B and C equally. "
        "On a tie at the top I stay with what I preferred earlier: for now that is proposal C."
    )


def test_reply_parts_are_ordered_and_clear_winner_has_no_tie_sentence() -> None:
    actual_claims = claims([Disclosure("A", "y", -1)], motivational=["x"], inferential=["A"])
    assert says(actual_claims) == (
        "Proposal A decreases y. I like x. I prefer proposals B and C equally. "
        "I prefer proposal A to proposals B and C."
    )


def test_unrecognised_message_gets_the_generic_reply() -> None:
    assert says(Claims()) == PERSON.generic


def test_system_reply_uses_no_mental_terms() -> None:
    names = Names(proposals=("A", "B", "C"), attributes=("x", "y", "z"), noun="choice")
    actual_claims = claims(
        motivational=["x", "y", "z"], informational=[Asked("A", "y")], inferential=["A"]
    )
    sentence = in_words(answer(PUZZLE, first_mind(PUZZLE), actual_claims, names), names, SYSTEM)
    assert sentence.startswith("The system holds no record of what choice A does to y.")
    assert " I " not in sentence and "think" not in sentence and "proposal" not in sentence


@given(st.permutations(range(3)), st.integers(0, 251))
@settings(max_examples=40, deadline=None)
def test_proposals_are_listed_in_letter_order_for_any_roles(order: list[int], index: int) -> None:
    puzzle = reletter(PUZZLES[index], tuple(order))
    sentence = says(claims(informational=ALL_CELLS), puzzle)
    letters = [w for s in sentence.split(".") for w in s.split()[1:2]]
    assert letters == sorted(letters)


PUZZLES = sample(252, seed=8)


@given(st.integers(0, 251), st.data())
@settings(max_examples=60, deadline=None)
def test_reply_never_reveals_an_undisclosed_hidden_cell(index: int, data: st.DataObject) -> None:
    """Two puzzles that differ in one hidden cell's utility answer alike until it is disclosed."""
    puzzle = PUZZLES[index]
    row, column = data.draw(st.sampled_from(puzzle.hidden))
    rows = [list(r) for r in puzzle.utilities]
    rows[row][column] = data.draw(
        st.sampled_from([u for u in (-1, 0, 1) if u != rows[row][column]])
    )
    other_puzzle = msgspec.structs.replace(puzzle, utilities=tuple(map(tuple, rows)))
    everything = claims(
        motivational=NAMES.attributes, informational=ALL_CELLS, inferential=NAMES.proposals
    )
    assert says(everything, puzzle) == says(everything, other_puzzle)


def test_discrete_reply_has_known_cells_likes_and_the_ranking() -> None:
    actual_claims = claims(
        [Disclosure("A", "y", -1)],
        motivational=["y"],
        informational=[Asked("B", "x"), Asked("B", "y")],
        inferential=["C"],
    )
    mind = learn_cells(PUZZLE, first_mind(PUZZLE), [(0, 1)], "sequential")
    assert msgspec.json.decode(as_json(answer(PUZZLE, mind, actual_claims, NAMES), NAMES)) == {
        "informational": [
            {"proposal": "A", "attribute": "y", "utility": -1},
            {"proposal": "B", "attribute": "x", "utility": 1},
        ],
        "motivational": [{"attribute": "y", "utility": -1}],
        "inferential": [
            {"proposal": "A", "utility": 2, "chosen": True},
            {"proposal": "B", "utility": 1, "chosen": False},
            {"proposal": "C", "utility": 1, "chosen": False},
        ],
    }


def test_empty_discrete_message_gets_empty_reply() -> None:
    assert as_json(answer(PUZZLE, first_mind(PUZZLE), Claims(), NAMES), NAMES) == ""


@pytest.mark.parametrize(
    "message",
    [
        '{"disclosures": [{"proposal": "A", "attribute": "x", "utility": 1}],'
        ' "inferential": ["A"]}',
        "{'disclosures': [{'proposal': 'A', 'attribute': 'x', 'utility': 1}],"
        " 'inferential': ['A']}",
        '```json\n{"disclosures": [{"proposal": "A", "attribute": "x", "utility": 1}],'
        ' "inferential": ["A"], "motivational": []}\n```',
    ],
)
def test_discrete_messages_may_come_in_fences_or_single_quotes(message: str) -> None:
    expected = claims([Disclosure("A", "x", 1)], inferential=["A"])
    assert parse_discrete(message, NAMES) == expected


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("choose A", "one JSON object"),
        ("[]", "one JSON object"),
        ('{"disclosure": []}', "disclosure"),
        ('{"motivational": ["w"]}', "no attribute 'w'"),
        ('{"inferential": ["D"]}', "no proposal 'D'"),
        ('{"disclosures": [{"proposal": "A", "attribute": "x", "utility": 2}]}', "not 2"),
    ],
)
def test_bad_discrete_message_is_refused_with_the_reason(message: str, why: str) -> None:
    with pytest.raises(BadMessage, match=why):
        parse_discrete(message, NAMES)


HOSTILE = (
    "{{'motivational': ['x']}}",
    "[" * 3000 + "'",
    "{'a':" * 3000 + "'",
    "-" * 15_000 + "1'",
    "not " * 4000 + "'",
    "1" * 5000,
    "{'motivational': {'x', 'y'}}",
    "{'motivational': [1j]}",
    "\x00'",
    "\ud800'",
    "'" * 100_000,
)


@pytest.mark.parametrize("message", HOSTILE, ids=lambda m: m[:20].encode("unicode_escape").decode())
def test_hostile_discrete_message_is_refused(message: str) -> None:
    with pytest.raises(BadMessage):
        parse_discrete(message, NAMES)


@given(st.text(alphabet="{}[]()'\":,-+ jxyzABC01\\\n", max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_discrete_message_is_read_or_refused(message: str) -> None:
    try:
        parse_discrete(message, NAMES)
    except BadMessage as why:
        assert str(why)
