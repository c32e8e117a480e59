"""MindGames at the table: what is learned, what comes back, what the target answers and chooses."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks.problem_sets.mindgames import holds
from sally.core.errors import BadInput
from sally.core.log.events import Forfeited, from_line, to_line
from sally.core.match.playback import mismatch
from sally.core.match.player import Forfeit
from sally.games.mindgames import GAME
from sally.games.mindgames.claims import Asked, Disclosure, claims
from sally.games.mindgames.rules import LIMIT, PERSUADER, split_message
from tests.games.mindgames.table import EVERYTHING, NOTHING, PUZZLE, Talk, X, Y, Z, played

A_Y, C_Y, B_X = ("A", Y, 1), ("C", Y, -1), ("B", X, -1)


def test_puzzle_of_these_tests_is_a_standard_one() -> None:
    assert holds(PUZZLE)


@pytest.mark.parametrize("memory", ["sequential", "frozen"])
def test_winning_set_wins_and_one_cell_of_it_does_not(memory: str) -> None:
    talk = Talk(puzzle=PUZZLE, memory=memory)
    assert talk.tell(A_Y).choice == "C"  # level with A, and C was there first
    assert talk.tell(C_Y).choice == "A"


def test_only_sequential_memory_keeps_the_win_after_a_spoiling_cell() -> None:
    """B's x brings B level with A: a tie at the top, which goes to what is remembered."""
    told = (A_Y, C_Y, B_X)
    assert Talk(puzzle=PUZZLE, memory="sequential").tell(*told[:2]).tell(told[2]).choice == "A"
    assert Talk(puzzle=PUZZLE, memory="frozen").tell(*told[:2]).tell(told[2]).choice == "C"


def test_tie_is_resolved_by_remembered_choice_even_if_not_best() -> None:
    talk = Talk(puzzle=PUZZLE, memory="frozen").tell(A_Y, C_Y, B_X)
    assert talk.say("Which do you prefer?", EVERYTHING).choice == "C"
    assert "I prefer proposals A and B equally." in talk.reply
    assert "for now that is proposal C" in talk.reply


def test_in_the_discrete_game_an_inferential_answer_refreshes_frozen_memory() -> None:
    text = '{"disclosures": [%s]}'
    cell = '{"proposal": "%s", "attribute": "%s", "utility": %d}'
    win = text % ", ".join(cell % c for c in (A_Y, C_Y))
    ask = '{"inferential": ["A"]}'
    asked_talk = Talk(puzzle=PUZZLE, memory="frozen", variant="discrete_game")
    assert asked_talk.say(win).say(ask).say(text % (cell % B_X)).choice == "A"
    unasked = Talk(puzzle=PUZZLE, memory="frozen", variant="discrete_game")
    assert unasked.say(win).say("{}").say(text % (cell % B_X)).choice == "C"


def test_false_cell_rejects_the_whole_message() -> None:
    talk = Talk(puzzle=PUZZLE)
    knowledge = talk.match.state.mind.known
    talk.tell(A_Y, ("C", Y, 1))
    state = talk.match.state
    assert state.mind.known == knowledge and state.sent == 0 and state.refused == 1
    assert "proposal C increases development speed, and that is not so" in talk.page()
    assert "proposal A increases development speed, and" not in talk.page()
    assert talk.tell(A_Y).match.state.refused == 0


def test_message_rejected_too_often_costs_only_itself() -> None:
    talk = Talk(retries=1, puzzle=PUZZLE)
    for _ in range(2):
        talk.tell(("C", Y, 1))
    assert talk.match.state.sent == 1 and talk.match.state.refused == 0
    lost_events = [e for e in talk.match.events if isinstance(e, Forfeited)]
    assert [(e.seat, e.reason) for e in lost_events] == [("persuader", "rejected")]
    assert "one message is lost" in talk.page()


def test_exactly_eight_messages_and_then_the_choice_counts() -> None:
    talk = Talk(puzzle=PUZZLE).tell(A_Y, C_Y)
    for remaining_count in range(7, 0, -1):
        assert not talk.match.over
        assert f"Messages left: {remaining_count} of 8" in talk.page()
        talk.say("Thanks.", NOTHING)
    assert talk.match.over
    assert talk.match.episode().payoffs == {"persuader": 1.0}


def test_persuader_that_forfeits_every_message_loses() -> None:
    talk = Talk(puzzle=PUZZLE)
    for _ in range(8):
        talk.match.answer((talk.match.turn, PERSUADER, "", ""), Forfeit("unreadable"))
    assert talk.match.episode().payoffs == {"persuader": 0.0}


def test_text_before_the_separator_is_private_thought() -> None:
    assert split_message("I plan.\n---\nHello.") == ("I plan.", "Hello.")
    assert split_message("a --- b") == ("", "a --- b")
    assert split_message("---\nHello.\n---\nBye.") == ("", "Hello.\n---\nBye.")
    talk = Talk(puzzle=PUZZLE).say("My secret plan.\n---\nHello there.")
    assert "(Your thoughts: My secret plan.)" in talk.page()
    assert "You: Hello there." in talk.page()
    for seat in ("reader", "target"):
        assert "secret" not in talk.page(seat)


def test_message_is_cut_at_the_limit_but_not_in_the_discrete_game() -> None:
    fact = f"Proposal A increases {Y}."
    cut = Talk(puzzle=PUZZLE).say("x" * LIMIT + fact)
    assert cut.match.state.mind.known == PUZZLE.visible
    fits = Talk(puzzle=PUZZLE).say("Well. " * 20 + fact)
    assert (0, 1) in fits.match.state.mind.known
    padded = f'{{"motivational": ["{X}"]{" " * LIMIT}}}'
    assert '"utility": -1' in Talk(puzzle=PUZZLE, variant="discrete_game").say(padded).reply


def test_empty_message_is_rejected() -> None:
    talk = Talk(puzzle=PUZZLE).say("Only thoughts.\n---\n  ")
    assert talk.match.state.refused == 1 and "There is no message in it." in talk.page()


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("Hello", "must be one JSON object"),
        ('{"likes": []}', "must be one JSON object"),
        ('{"motivational": ["beauty"]}', "There is no attribute 'beauty' here"),
        ('{"disclosures": [{"proposal": "A", "attribute": "public trust", "utility": 2}]}', "-1"),
        ('{"disclosures": [{"proposal": "A", "attribute": "public trust", "utility": 1}]}', "not"),
    ],
)
def test_bad_json_is_rejected_with_the_reason(message: str, why: str) -> None:
    talk = Talk(puzzle=PUZZLE, variant="discrete_game").say(message)
    assert talk.match.state.refused == 1 and talk.match.state.sent == 0
    assert why in talk.page()


def test_target_has_exactly_one_legal_answer() -> None:
    talk = Talk(puzzle=PUZZLE)
    talk._move("persuader", msgspec.convert({"kind": "say", "text": "Hi."}, GAME.action))
    talk._move("reader", EVERYTHING)
    (exact,) = talk.match.asks()[0].options
    with pytest.raises(BadInput):
        talk._move("target", msgspec.structs.replace(exact, chosen=0))
    assert talk.match.asks()[0].options == (exact,)


def test_reader_cannot_name_an_unknown_proposal() -> None:
    talk = Talk(puzzle=PUZZLE)
    with pytest.raises(BadInput, match="'D' is not one of A, B or C"):
        talk.say("Hi.", claims([Disclosure("D", X, 1)]))


def test_disclosure_of_known_cell_is_echoed_and_changes_nothing() -> None:
    talk = Talk(puzzle=PUZZLE).tell(("C", X, -1))
    assert talk.reply == f"Proposal C decreases {X}."
    assert talk.match.state.mind.known == PUZZLE.visible


def test_reply_about_whole_proposal_told_and_asked_omits_unknown_cells() -> None:
    """In the published replies they are, whichever part of the three was told."""
    part = claims([Disclosure("A", Y, 1)], (), [Asked("A", X)])
    text = f"Proposal A increases {Y}."
    assert Talk(puzzle=PUZZLE).say("?", part).reply == (
        f"{text} I do not know what proposal A does to {X}."
    )
    full_claims = claims([Disclosure("A", Y, 1)], (), [Asked("A", X), Asked("A", Z)])
    assert Talk(puzzle=PUZZLE).say("?", full_claims).reply == (
        f"Proposal A increases {Y} and has no effect on {Z}."
    )


@pytest.mark.parametrize("variant", ["plain", "non_mental", "discrete_game", "perfect_game"])
@pytest.mark.parametrize("memory", ["sequential", "frozen"])
def test_hidden_planner_wins_every_frozen_puzzle(variant: str, memory: str) -> None:
    for number in range(0, 40, 4):
        episode = played("hidden", number=number, variant=variant, memory=memory)
        assert episode.payoffs == {"persuader": 1.0}
        assert mismatch(GAME, from_line(to_line(episode))) is None


def test_results_of_the_other_planners() -> None:
    for number in range(0, 40, 5):
        assert played("revealed", number=number, condition="revealed").payoffs == {"persuader": 1}
        for loser in ("tell_all", "goal_only", "silent", "ask_only"):
            assert played(loser, number=number).payoffs == {"persuader": 0.0}


def test_revealed_planner_needs_the_revealed_condition() -> None:
    with pytest.raises(BadInput, match="revealed"):
        played("revealed")


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"number": 40}, "puzzles 0 to 39, not 40"),
        ({"story": "mars"}, "no story 'mars'"),
        ({"story": "metals"}, "variant plain does not fit the story 'metals'"),
        ({"variant": "non_mental", "story": "moon"}, "does not fit"),
        ({"messages": 0}, "at least 1"),
        ({"memory": "vague"}, "vague"),
    ],
)
def test_invalid_parameters_are_refused_with_one_message(params: dict, why: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(BadInput, match=why):
        GAME.build(params)


def test_ambiguous_message_is_asked_again_and_is_not_a_lie() -> None:
    talk = Talk(puzzle=PUZZLE)
    knowledge = talk.match.state.mind.known
    talk.say("B or C raises it.", claims(unclear=[Disclosure("B", X, 1)]))
    assert talk.match.state.sent == 0 and talk.match.state.mind.known == knowledge
    tried = talk.match.state.story[-1]
    assert tried.answer is None and tried.false == ()
    assert f"does it say that proposal B increases {X}?" in tried.problem
