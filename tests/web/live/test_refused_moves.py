"""Moves that the rules refuse: said at the field, with the word kept and the tries left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.web.guests import sit, web_server

CLUES = {
    "codenames": ("giver", lambda word: {"kind": "clue", "word": word, "number": 1}),
    "taboo": ("giver", lambda word: {"kind": "hint", "word": word}),
    "wavelength": ("psychic", lambda word: {"kind": "clue", "word": word}),
    "toma_ag": ("speaker", lambda word: {"kind": "clue", "text": word}),
}


def refused_word(screen: dict[str, Any], game: str) -> str:
    """A word that the rules refuse at the first move."""
    if game == "codenames":
        return str(screen["board"]["parts"][0]["squares"][0]["option"])
    if game == "wavelength":
        return str(screen["board"]["parts"][0]["ends"][0])
    return next(
        str(note["text"])
        for note in screen["board"]["parts"][0]["notes"]
        if note["label"] == "Secret word"
    )


@pytest.mark.parametrize("game", CLUES)
def test_refused_clue_comes_back_with_its_reason_and_tries_left(game: str, tmp_path: Path) -> None:
    seat, clue = CLUES[game]
    with web_server(tmp_path) as web:
        guest, _ = sit(web, game, seat)
        screen = guest.see()
        (ask,) = screen["asks"]
        assert ask["is_checked"] and ask["draft"] is None and ask["refused"] is None
        move = clue(refused_word(screen, game))
        checked = guest.call("POST", "/api/seat/check", {"ask": ask["id"], "value": move}).json()
        assert checked["problem"]
        assert guest.see() == screen  # a check is no try and changes nothing
        assert guest.say(ask["id"], move).status_code == 200
        (repeated_ask,) = guest.see()["asks"]
        assert repeated_ask["draft"] == move
        assert checked["problem"] in repeated_ask["refused"]
        tries_left = repeated_ask["tries_left"]
        guest.say(repeated_ask["id"], move)
        (third,) = guest.see()["asks"]
        assert third["tries_left"] == tries_left - 1


def test_message_that_mindgames_refuses_comes_back(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        guest, _ = sit(web, "mindgames", "persuader")
        (ask,) = guest.see()["asks"]
        move = {"kind": "say", "text": "Only a note to myself.\n---\n"}
        guest.say(ask["id"], move)
        (repeated_ask,) = guest.see()["asks"]
        assert (
            repeated_ask["draft"] == move and repeated_ask["refused"] and repeated_ask["tries_left"]
        )


def test_reason_of_a_refused_form_has_no_regular_expression(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        guest, _ = sit(web, "cipher", "encoder")
        (ask,) = guest.see()["asks"]
        (form,) = ask["forms"]
        words = {field["name"]: "two words" for field in form["fields"]}
        reply = guest.say(ask["id"], {"kind": form["kind"], **words})
        assert reply.status_code == 422
        assert "one word, written in letters" in reply.json()["error"]
        assert "[A-Za-z]" not in reply.json()["error"]


def test_own_message_is_shown_while_the_other_player_is_awaited(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        buyer, invited = sit(web, "bargaining", "buyer", others={"seller": "person"})
        seller = invited["seller"]
        (ask,) = buyer.see()["asks"]
        buyer.say(ask["id"], {"kind": ask["forms"][0]["kind"], "text": "I can pay forty."})
        assert "I can pay forty." in buyer.see()["sent"]
        assert seller.see()["sent"] == "" and "forty" not in str(seller.see())


def test_two_message_fields_of_the_step_race_have_two_labels(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        guest, _ = sit(web, "step_race", "player_1")
        (ask,) = guest.see()["asks"]
        labels = [field["label"] for form in ask["forms"] for field in form["fields"]]
        assert len(labels) == len(set(labels)) == 2
