"""Words and packs: every sentence has a key, and a pack may replace it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sally.core.errors import BadInput, Unreadable
from sally.core.match.engine import Match
from sally.core.match.seat_context import SeatContext
from sally.core.rules.probe import Question
from sally.core.rules.words import Pack, check_pack, read_form, slots
from sally.games.repeated_games.words import TEXTS
from tests.fixtures.haggle import TEXTS as HAGGLE
from tests.fixtures.haggle_rules import Pass, Put, Say
from tests.table import match_of, seat, spec_of, table


def pack(**texts: str) -> Pack:
    return Pack("mine", "ipd", {key.replace("_", "."): text for key, text in texts.items()})


def test_pack_replaces_a_sentence_for_its_seat_only() -> None:
    ours = check_pack(pack(now="Runde {round}."), TEXTS)
    match: Match = Match(spec_of("ipd"), table("ipd"), texts={"agent": ours.texts})
    page_text = {t.seat: t.context.words.now(t.view) for t in match.asks()}
    assert page_text == {"agent": "Runde 1.", "partner": "This is round 1."}


def test_pack_may_leave_a_fact_out_and_use_one_twice() -> None:
    check_pack(pack(now="Go.", question="{names}! {names}?"), TEXTS)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"nwo": "x"}, "did you mean now"),
        ({"now": "{turn}"}, "{turn} is not a placeholder of this text; its placeholders are round"),
        ({"now": "{round.__class__}"}, "only plain {names}"),
        ({"now": "{round!r:>5}"}, "only plain {names}"),
        ({"now": "{0}"}, "only plain {names}"),
        ({"now": "{round"}, "write {{ and }} for literal braces"),
    ],
)
def test_invalid_pack_is_refused(texts: dict[str, str], why: str) -> None:
    with pytest.raises(BadInput) as refused:
        check_pack(Pack("mine", "ipd", texts), TEXTS)
    assert why in str(refused.value)
    assert "mine" in str(refused.value)


def test_escaped_braces_are_not_slots() -> None:
    assert slots("{{a}} {b}", "here") == {"b"}


def test_facts_with_braces_in_them_are_harmless() -> None:
    match = match_of(table("haggle"))
    words = match.asks()[0].context.words
    assert "{x} {0}" in words.say("past.said", seat="ada", text="{x} {0}")


def test_every_sentence_of_the_fixtures_is_a_plain_template() -> None:
    for key, text in {**TEXTS, **HAGGLE}.items():
        slots(text, key)


# --- desks --------------------------------------------------------------------------------------


def test_words_use_the_menu_of_their_seat() -> None:
    match = match_of(table("repeated_games, unlike seats"))
    agent, partner = match.asks()
    assert agent.context.words.menu(agent.options) == ("Tea", "Milk")
    assert partner.context.words.menu(partner.options) == ("Cup", "Glass", "Mug")
    assert partner.context.words.read("Option: Mug", partner.view, partner.options) == 2


def test_one_context_renders_pages_with_and_without_example() -> None:
    match = match_of(table("ipd"))
    (turn, _) = match.asks()
    context: SeatContext = turn.context
    plain, hashed_text = (context.opening(turn.view, "agent_first", e) for e in ("", "An example."))
    assert "An example." in hashed_text and "An example." not in plain
    assert context.opening(turn.view, "agent_first") == plain


# --- forms --------------------------------------------------------------------------------------

SECRET = (Pass(), Put("wood"))


def menu() -> Any:
    return match_of(table("haggle")).asks()[0].options


def test_action_is_read_from_the_one_json_object_of_a_reply() -> None:
    fields = {"kind": "say", "text": 'I {really} "mean" it'}
    assert read_form(f"Well:\n```json\n{json.dumps(fields)}\n```", menu()) == Say(fields["text"])
    assert read_form('{"kind": "put", "item": "wood"}', SECRET) == Put("wood")
    assert read_form('{"kind": "pass"}', SECRET) == Pass()


@pytest.mark.parametrize(
    "reply",
    [
        "say hello",
        "{}",
        '{"kind": "say"}',
        '{"kind": "say", "text": 3}',
        '{"kind": "say", "text": ""}',
        '{"kind": "say", "text": "a", "loud": true}',
        '{"kind": "say", "text": "\\ud800"}',
        '{"kind": "say", "text": "a"} {"kind": "say", "text": "b"}',
        '{"text": ' * 50_000,
        '{"text": ' * 50_000 + "1" + "}" * 50_000,
        '{"kind": NaN}',
        '["say", "a"]',
    ],
)
def test_json_without_a_valid_action_is_refused(reply: str) -> None:
    with pytest.raises(Unreadable):
        read_form(reply, menu())


def test_option_names_containing_or_are_kept_in_the_format() -> None:
    words = SeatContext(spec_of("haggle"), match_of(table("haggle")).game, seat("ada"), 1).words
    question = Question("p", "odds", ("this or that", "neither"))
    assert "this or that and neither" in words.aside_format(question)
