"""Hanabi in words."""

from __future__ import annotations

import pytest

from sally.core.match.seat_context import SeatContext
from sally.core.registry import packs, registry
from sally.core.rules.words import check_pack
from sally.games.hanabi.rules import SEATS, Hanabi
from sally.games.hanabi.words import HanabiWords
from tests.games.hanabi.sitting import deck_of, played

SPEC = registry.game("hanabi")
GAME = Hanabi(score="kept")
DEALT = GAME.dealt(
    deck_of(GAME, *["r1", "r1", "r2", "y5", "g5", "y1", "y2", "r3", "r4", "b1", "w1", "w2", "w3"])
)
ANN, BOB, CAT = SEATS[:3]


def page(seat: str, *actions: int) -> str:
    context = SeatContext(SPEC, GAME, SEATS[SEATS.index(seat)], 1)
    return str(
        context.opening(GAME.observe(played(GAME, DEALT, *actions), context.seat), "agent_first")
    )


def test_page_describes_what_the_seat_saw() -> None:
    told, mine, their_count = GAME.hint(1, 0), GAME.play(0), 0
    ann = page("ann", told, GAME.hint(1, 0), mine, their_count)
    assert ann.endswith(
        "The cards are dealt. Bob holds, from the oldest to the newest: yellow 1, yellow 2, red 3, "
        "red 4 and blue 1. You hold 5 cards that you cannot see.\n"
        "You told Bob which cards are red: cards 3 and 4.\n"
        "Bob told you which cards are red: cards 1, 2 and 3.\n"
        "You played card 1. It was red 1 and is now on its pile. You drew a card.\n"
        "Bob discarded card 1. It was yellow 1. Bob drew white 2.\n"
    )
    assert "You drew a card." in page("bob", told, GAME.hint(1, 0), mine, their_count)
    assert "Ann drew white 1." in page("bob", told, GAME.hint(1, 0), mine, their_count)


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ((), "Your cards: nothing. Bob's cards: nothing."),
        ((GAME.hint(1, 0),), "Your cards: nothing. Bob's cards: card 1 is not red"),
        ((GAME.hint(1, 0),), "card 3 is red, card 4 is red, card 5 is not red."),
        (
            (GAME.hint(1, 0), GAME.hint(1, 0), GAME.hint(1, 7)),
            "card 3 is red 3, card 4 is red and is not rank 3",
        ),
    ],
)
def test_page_repeats_the_hints_received(actions: tuple[int, ...], said: str) -> None:
    words = HanabiWords(GAME, SPEC.texts)
    assert said in words.now(GAME.observe(played(GAME, DEALT, *actions), ANN))


def test_reminders_can_be_left_out() -> None:
    game = Hanabi(reminders=False)
    words = HanabiWords(game, SPEC.texts)
    assert "What hints have said" not in words.now(game.observe(DEALT, ANN))


def test_rules_state_the_scoring_convention() -> None:
    kept_rule, zero = (
        HanabiWords(Hanabi(score=s), SPEC.texts).rules(ANN) for s in ("kept", "zero")
    )
    assert "still count" in kept_rule
    assert "the score is 0" in zero


def test_hints_name_the_receiving_seat() -> None:
    game = Hanabi(players=3)
    context = SeatContext(SPEC, game, BOB, 1)
    assert context.words.name(game.hint(1, 0)) == "tell Cat red"
    assert context.words.name(game.hint(2, game.colours + 4)) == "tell Ann rank 5"


def test_words_pack_renames_the_game_and_colours() -> None:
    pack = check_pack(packs.find("hanabi_garden"), SPEC.texts)
    words = HanabiWords(GAME, {**SPEC.texts, **pack.texts})
    assert words.card(0) == "rose 1"
    text = words.rules(ANN) + words.now(GAME.observe(DEALT, ANN))
    assert "Hanabi" not in text
    assert "red" not in text.split()
