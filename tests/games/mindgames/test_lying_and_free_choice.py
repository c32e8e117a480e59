"""Two named settings: what is false is believed, and a player chooses in the target's place."""

from __future__ import annotations

from typing import Any

import pytest

from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.match.player import Decision
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.mindgames.claims import Claims, Disclosure
from sally.games.mindgames.frozen import puzzle
from sally.games.mindgames.rules import PERSUADER, READER, TARGET, Say
from sally.games.mindgames.target import values

ONE = puzzle("standard", 0)


def match_of(**params: Any) -> Match:
    lineup = {"persuader": PlayerSpec("hidden"), "reader": PlayerSpec("rules")}
    lineup["target"] = PlayerSpec("random" if params.get("target") == "free" else "exact")
    setup = Setup(Instance("m", "mindgames", params), 1, lineup)
    return Match(registry.game("mindgames"), setup)


def tell(match: Match, *facts: tuple[int, int, int]) -> None:
    """The persuader states cells by row, column and utility; the reader reads just that."""
    names = match.game.names  # type: ignore[attr-defined]
    disclosures = tuple(Disclosure(names.proposals[p], names.attributes[a], u) for p, a, u in facts)
    for action in (Say("something"), Claims(disclosures=disclosures)):
        (turn,) = match.asks()
        match.answer(turn.id, Decision(action))


def choose(match: Match, place: int = 0) -> None:
    (turn,) = match.asks()
    assert turn.seat == TARGET
    match.answer(turn.id, Decision(turn.options[place]))


def lies_for(goal: int) -> list[tuple[int, int, int]]:
    """Statements after which the goal has all that the target likes, and others nothing."""
    return [
        (p, a, like if p == goal else -like)
        for p in range(3)
        for a, like in enumerate(ONE.target_values)
    ]


def test_lie_is_rejected_unless_lying_is_allowed() -> None:
    honest = match_of(messages=1)
    tell(honest, *lies_for(ONE.goal))
    assert honest.asks()[0].seat == PERSUADER
    assert honest.state.refused == 1
    liar = match_of(messages=1, lying=True)
    tell(liar, *lies_for(ONE.goal))
    choose(liar)
    assert liar.over
    assert liar.game.payoffs(liar.state) == {"persuader": 1.0}
    assert liar.state.story[-1].chosen == ONE.goal


def test_later_truth_replaces_an_earlier_lie() -> None:
    match = match_of(messages=2, lying=True)
    p, a = ONE.cells[0]
    truth = ONE.utility((p, a))
    tell(match, (p, a, (truth + 2) % 3 - 1))
    choose(match)
    assert len(match.state.believed) == 1
    tell(match, (p, a, truth))
    choose(match)
    assert match.state.believed == ()


def test_persuader_rules_state_whether_lies_are_rejected() -> None:
    pages = [
        match_of(lying=lying).context(PERSUADER).words.rules(PERSUADER) for lying in (False, True)
    ]
    assert "has to be true" in pages[0] and "is believed" not in pages[0]
    assert "is believed" in pages[1] and "has to be true" not in pages[1]


def test_free_target_chooses_freely_and_is_paid_true_value() -> None:
    for place in range(3):
        match = match_of(messages=1, target="free")
        assert match.game.seats == (PERSUADER, TARGET)
        assert match.game.helpers == (READER,)
        tell(match)
        choose(match, place)
        value = values(ONE, ONE.cells)
        assert match.game.payoffs(match.state) == {
            "persuader": float(place == ONE.goal),
            "target": value[place],
        }


def test_free_target_page_omits_hidden_cells() -> None:
    page = match_of(target="free").context(TARGET).words.rules(TARGET)
    names = match_of().game.names  # type: ignore[attr-defined]
    effects = {1: "increases", 0: "has no effect on", -1: "decreases"}
    for p, a in ONE.hidden:
        row = next(x for x in page.split("\n") if x.startswith(f"- Proposal {names.proposals[p]}"))
        assert f"{effects[ONE.utility((p, a))]} {names.attributes[a]}" not in row


@pytest.mark.parametrize("typed", ["B", " b. ", "Option: proposal B"])
def test_free_target_may_answer_with_a_letter(typed: str) -> None:
    match = match_of(messages=1, target="free")
    tell(match)
    (turn,) = match.asks()
    names = match.game.names.proposals  # type: ignore[attr-defined]
    words: Any = turn.context.words
    assert words.read(typed, turn.view, turn.options).chosen == names.index("B")


def test_free_target_that_forfeits_keeps_its_choice() -> None:
    match = match_of(messages=1, target="free")
    tell(match)
    state = match.game.forfeit(match.state, {}, (Seat("target"),))
    assert state.story[-1].chosen == ONE.initial  # type: ignore[attr-defined]


def test_both_seats_see_the_final_choice() -> None:
    match = match_of(messages=1, target="free")
    tell(match)
    choose(match, ONE.goal)
    pasts = {}
    for seat in match.game.seats:
        view = match.game.observe(match.state, seat)
        pasts[seat] = match.context(seat).past(view, "")
    letter = match.game.names.proposals[ONE.goal]  # type: ignore[attr-defined]
    assert pasts[TARGET][1].startswith("You: ")
    assert pasts[TARGET][-1] == f"You chose proposal {letter}."
    assert pasts[PERSUADER][-1] == (
        f"The other player chooses proposal {letter}, by its own choice."
    )
