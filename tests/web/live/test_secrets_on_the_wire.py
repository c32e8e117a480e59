"""A browser receives only its seat's view: all traffic is kept and searched for every secret."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sally.core.display.board import example_of
from sally.core.log.events import Instance, PlayerSpec, Setup
from sally.core.registry import registry
from sally.games.hanabi.rules import Hanabi
from sally.games.mindgames.frozen import puzzle
from sally.web.live.matches import OpenedMatch
from tests.web.client import Client
from tests.web.guests import Guest, play, value_for, web_server

SEED = 987_654_321_987


def open_page(web: Client, game: str, params: dict[str, Any], arms: Any = None) -> OpenedMatch:
    """A table at which people sit in every seat, under one seed."""
    seats = registry.game(game).build(params).seats
    lineup = {str(seat): PlayerSpec("person") for seat in seats}
    setup = Setup(Instance("i", game, params), SEED, lineup, arms=arms or {})
    assert web.portal is not None
    opened_match: OpenedMatch = web.portal.call(
        web.app.state.live_matches.open, setup, list(lineup)
    )  # type: ignore[attr-defined]
    return opened_match


# --- two worlds that a seat cannot tell apart send it the same bytes ----------------------------

WORLD: dict[str, Any] = {
    "landmarks": [[3, 2], [2, 3], [2, 0]],
    "start": [3, 0],
    "treasure": [0, 3],
    "password": "4874",
}
PUZZLE: dict[str, Any] = msgspec.to_builtins(puzzle("standard", 0))
UNREADABLE = {**PUZZLE, "target_values": [1, 1, -1], "hidden": [[0, 0], [0, 1]]}
ITEM = {"word": "bank", "b_hint": "keeps your savings", "c_hint": "edge of a river"}
HANDS = [{"coal": 2, "oak_planks": 3}, {"cobblestone": 2, "oak_planks": 2, "raw_iron": 3}]
TARGETS = [{"torch": 1}, {"shears": 1}]
DECK = list(Hanabi(deal=1).start().deck)  # ann's five cards, bob's five, then the deck
BOB_HOLDS_OTHERS = [*DECK[:5], *DECK[-5:], *DECK[10:-5], *DECK[5:10]]

UNLIKE: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("toma_sw", "guide", {"world": WORLD}, {"world": {**WORLD, "password": "9119"}}),
    ("toma_sw", "guide", {"world": WORLD}, {"world": {**WORLD, "start": [1, 1]}}),
    ("toma_sw", "guide", {"world": WORLD}, {"world": {**WORLD, "treasure": [3, 3]}}),
    ("toma_sw", "explorer", {"world": WORLD}, {"world": {**WORLD, "treasure": [3, 3]}}),
    (
        "toma_sw",
        "eavesdropper",
        {"world": WORLD},
        {
            "world": {
                "landmarks": [[2, 0], [3, 2], [2, 3]],
                "start": [1, 1],
                "treasure": [3, 3],
                "password": "9119",
            }
        },
    ),
    ("toma_ag", "teammate", {"item": ITEM}, {"item": {**ITEM, "word": "bill", "c_hint": "a beak"}}),
    ("toma_ag", "opponent", {"item": ITEM}, {"item": {**ITEM, "word": "bill", "b_hint": "a sum"}}),
    (
        "tradecraft",
        "p1",
        {"hands": HANDS, "targets": TARGETS},
        {"hands": HANDS, "targets": [{"torch": 1}, {"oak_button": 1}]},
    ),
    ("hanabi", "bob", {"deck": DECK}, {"deck": BOB_HOLDS_OTHERS}),
    ("hanabi", "ann", {"deck": DECK}, {"deck": [*DECK[:10], *DECK[:9:-1]]}),
    ("mindgames", "persuader", {"puzzle": PUZZLE}, {"puzzle": UNREADABLE}),
    ("rps", "partner", {"rounds": 3}, {"rounds": 3}),  # the agent has moved, each time otherwise
]


def traffic(folder: Path, game: str, seat: str, params: dict[str, Any], others: int) -> list[str]:
    """All that a seat receives until it has answered once; others answer before it."""
    with web_server(folder) as web:
        probes = tuple(p.name for p in registry.game(game).probes if seat in p.seats)
        table = open_page(web, game, params, {seat: probes} if probes else {})
        me = Guest(web, table.tokens[seat])
        me.see()
        for counterpart, token in table.tokens.items():
            guest = Guest(web, token)
            for ask in guest.see()["asks"] if counterpart != seat and game == "rps" else ():
                guest.say(ask["id"], others)
        me.see()
        me.call("GET", "/api/seat?lines=3")
        for ask in me.see()["asks"]:
            me.say(ask["id"], {"no": "such answer"})
            for tool in ask["tools"]:
                sent = {"ask": ask["id"], "tool": tool["name"], "arguments": {"item": "coal"}}
                me.call("POST", "/api/seat/look", sent)
        for ask in me.see()["asks"]:
            me.say(ask["id"], value_for(ask, me.draw))
            if game not in ("rps", "mindgames", "hanabi"):  # here others' minds show now
                me.see()
        return [NOT_OURS.sub("", text) for text in me.received]


# Versions are times, and so is what is left for an answer; the names of asks are hashes.
NOT_OURS = re.compile(r'"version":\d+|"due":[\d.]+|"id":"[0-9a-f]{24}"|content-length\', \'\d+')


@pytest.mark.parametrize(("game", "seat", "one", "two"), UNLIKE)
def test_hidden_information_changes_no_byte_sent_to_a_seat(
    game: str, seat: str, one: dict[str, Any], two: dict[str, Any], tmp_path: Path
) -> None:
    texts = traffic(tmp_path / "one", game, seat, one, others=0)
    folder = traffic(tmp_path / "two", game, seat, two, others=1)
    assert texts == folder and len(texts) > 8


@pytest.mark.parametrize("game", ["rps", "haggle", "tradecraft", "eleven_twenty"])
def test_hidden_action_of_another_seat_is_not_observable(game: str, tmp_path: Path) -> None:
    """Not in the screen, not in its version, and not by waking who waits for news."""
    with web_server(tmp_path) as web:
        table = open_page(web, game, {})
        guests = [Guest(web, token) for token in table.tokens.values()]
        for _ in range(12):
            asked_guests = [guest for guest in guests if guest.see()["asks"]]
            if len(asked_guests) > 1:
                first, *others = asked_guests
                screen_before = [guest.see() for guest in others]
                first.answer(first.see()["asks"][0])
                assert [guest.see() for guest in others] == screen_before
                return
            asked_guests[0].answer(asked_guests[0].see()["asks"][0])
    raise AssertionError(f"in {game} nobody ever acted at the same time as another")


# --- whole games, searched for every word that another seat has and this one has not ------------

FAMILIES = {
    "cups": {},
    "haggle": {},
    "rps": {"rounds": 3},
    "eleven_twenty": {"rounds": 3},
    "hide_and_seek": {"rounds": 3},
    "toma_ag": {"item": ITEM},
    "toma_sw": {"world": WORLD, "turns": 4},
    "tradecraft": {"max_turns": 3},
    "mindgames": {"messages": 2},
    "pick_the_right_stuff": {},
    "toma_mg": {},
    "toma_po": {},
}


OVER = '"over":{"how":"ended"'  # in the last screens of a game
NO_SECRETS = ("seat", "move", "probe", "kind")  # fields of every screen


def public(game: Any) -> set[str]:
    """Return the public texts of a game, such as the cover story of a puzzle."""
    return words_in(game.tale) if hasattr(game, "tale") else set()


def words_in(value: Any) -> set[str]:
    """Return all strings of three letters or more in a value, without amounts."""
    quoted = re.findall(r"'([^'\n]*)'|\"([^\"\n]*)\"", repr(value))
    texts = {text for pair in quoted for text in pair if len(text) > 2}
    return {text for text in texts if not re.fullmatch(r"\d+/\d+", text)}


@pytest.mark.parametrize("game", FAMILIES)
def test_no_seat_receives_words_private_to_others(game: str, tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        table = open_page(web, game, FAMILIES[game])
        guests = {seat: Guest(web, token) for seat, token in table.tokens.items()}
        play(list(guests.values()))
        assert web.portal is not None
        live = web.portal.call(web.app.state.live_matches.find, table.match)  # type: ignore[attr-defined]
    replay, spec = live.match.replay, live.match.spec
    turns = range(len(replay.states))
    hands = {s: set[str]().union(*(words_in(replay.view(t, s)) for t in turns)) for s in guests}
    states = set[str]().union(*(words_in(state) for state in replay.states))
    everybody = {*map(str, (*live.match.game.seats, *live.match.game.helpers)), *spec.texts}
    for seat, guest in guests.items():
        during = [text for text in guest.received if OVER not in text]  # the end opens everything
        assert len(during) < len(guest.received)
        wire = NOT_OURS.sub("", "\n".join(during))  # digits occur in times by chance
        their_hand = states.union(*(hands[s] for s in guests if s != seat))
        own_text = " ".join(
            (
                *hands[seat],
                *spec.texts.values(),
                *NO_SECRETS,
                *public(live.match.game),
                repr(example_of(live.match.context(seat))),  # made without a view
            )
        )
        secrets = {word for word in their_hand - everybody if word not in own_text}
        actual_secrets = sorted(word for word in secrets if word in wire)
        assert not actual_secrets, f"{seat} of {game} received {actual_secrets}"
        others = (g.token for s, g in guests.items() if s != seat)
        assert not [h for h in (table.match, str(SEED), *others) if h in wire]


def test_game_that_was_stopped_opens_nothing(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        table = open_page(web, "toma_ag", {"item": ITEM})
        guests = {seat: Guest(web, token) for seat, token in table.tokens.items()}
        guests["speaker"].call("POST", "/api/seat/leave", {"key": "x"})
        end = guests["opponent"].see()
        assert end["over"]["how"] == "censored" and not end["over"]["scores"]
        assert ITEM["word"] not in str(end) and ITEM["b_hint"] not in str(end)
