"""The page of a game: short rules first, rounds and points, and the end with everything open."""

from __future__ import annotations

from pathlib import Path

import pytest

from sally.core.display.board import board_of
from sally.core.display.reveal import SeatScore
from sally.core.log.events import Ended
from sally.core.match.seat_context import SeatContext
from sally.core.registry import registry
from sally.core.rules.game import Seat
from sally.games.toma.mg import game as minority
from sally.games.toma.po import game as partly_seen
from sally.web.live.screen import over_of
from sally.web.live.screen_text import MOST_WORDS, Labels, words_of
from sally.web.play.lobby import sentences_of
from sally.web.texts import shipped_texts
from tests.web.guests import play, sit, web_server

OURS = {family for family, home in registry.packages().items() if home.startswith("sally.")}
GAMES = sorted(game for game in registry.games() if registry.family(game).name in OURS)


@pytest.mark.parametrize("game", GAMES)
def test_first_screen_of_the_rules_has_at_most_sixty_words(game: str) -> None:
    spec = registry.game(game)
    rules = spec.build({})
    for seat in rules.seats:
        context = SeatContext(spec, rules, seat, 1, words_of(spec))
        text = context.words.rules(seat)
        brief = Labels().brief(context, text)
        assert len(brief.split()) <= MOST_WORDS
        assert brief or len(text.split()) <= MOST_WORDS, seat


def brief_of(game: str, **params: object) -> str:
    spec = registry.game(game)
    rules = spec.build(params)
    context = SeatContext(spec, rules, rules.seats[0], 1, words_of(spec))
    return Labels().brief(context, context.words.rules(context.seat))


def test_first_screen_names_the_numbers_of_this_game() -> None:
    assert "100 points each" in brief_of("elicitation")
    assert "times 3" in brief_of("elicitation")
    assert "is 5 points" in brief_of("taboo")
    assert "wrong twice" in brief_of("cipher")
    assert "wrong 3 times" in brief_of("cipher", tokens=3)
    assert "from 1 up to 3" in brief_of("hanabi_mini")
    assert "2 more per rival card" in brief_of("codenames", bonus=2.0)


def test_first_screen_speaks_of_following_only_if_somebody_follows() -> None:
    together, alone = brief_of("toma_mg", level=2), brief_of("toma_mg", level=1)
    assert "follow" in together and "avoid" in together
    assert "dislike" in alone and "follow" not in alone and "avoid" not in alone
    assert "If they have ruled it out" in together


@pytest.mark.parametrize("game", ["toma_mg", "toma_po"])
def test_first_screen_has_at_most_sixty_words_in_every_scenario(game: str) -> None:
    scenarios = {"toma_mg": minority.frozen_scenarios, "toma_po": partly_seen.frozen_scenarios}
    briefs = {brief_of(game, scenario=each) for each in scenarios[game]()}
    assert len(briefs) > 5 and max(len(brief.split()) for brief in briefs) <= MOST_WORDS


def test_rules_in_words_of_a_study_are_not_shortened() -> None:
    spec = registry.game("taboo")
    context = SeatContext(spec, spec.build({}), spec.build({}).seats[0], 1)
    rules = context.words.rules(context.seat)
    assert Labels().brief(context, rules)
    assert not Labels(words={"taboo": {"rules": "Another wording."}}).brief(context, rules)
    assert not Labels(language="de").brief(context, rules)


@pytest.mark.parametrize("game", GAMES)
def test_rules_of_every_game_have_a_picture_that_a_study_can_leave_out(game: str) -> None:
    spec = registry.game(game)
    rules = spec.build({})
    for seat in rules.seats:
        context = SeatContext(spec, rules, seat, 1, words_of(spec))
        example = Labels().example(context)
        assert example is not None and example.parts, seat
        assert len(example.parts) <= 2 and "xample" in example.parts[0].caption  # type: ignore[attr-defined]
        assert Labels(examples=False).example(context) is None
        assert Labels(language="de").example(context) is None
        other_words = {spec.name: {**words_of(spec), "rules": "Another wording."}}
        assert Labels(words=other_words).example(context) is None


def test_nothing_is_shown_as_zero_and_not_as_minus_zero() -> None:
    spec = registry.game("toma_sw")
    context = SeatContext(spec, spec.build({}), spec.build({}).seats[0], 1)
    score = Labels(per_point=1.0).score(context, "guide", SeatScore("guide", -0.0, 1.0))
    assert (score.points, score.money) == ("0", "0.00")
    over = over_of("guide", Ended(turn=9, payoffs={"guide": -0.0}), shipped_texts("en"))
    assert str(over.payoff) == "0.0" and "-0" not in over.text


def test_board_counts_rounds_and_points_and_shows_both_choices(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        guest, _ = sit(web, "ipd", params={"rounds": 3}, others={"partner": "tit_for_tat"})
        progress = guest.see()["board"]["progress"]
        assert (progress["number"], progress["total"], progress["score"]) == (1, 3, "")
        guest.say(guest.see()["asks"][0]["id"], 0)
        board = guest.see()["board"]
        assert (board["progress"]["number"], board["progress"]["score"]) == (2, "8")
        (showdown,) = (part for part in board["parts"] if part["kind"] == "showdown")
        assert [(s["choice"], s["points"]) for s in showdown["sides"]] == [("J", "8"), ("J", "8")]


def test_end_tells_who_got_what_and_the_study_may_switch_it_off(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        guest, _ = sit(web, "bargaining", "buyer", params={"rounds": 2})
        (screen,) = play([guest])
        over = screen["over"]
        assert [score["who"] for score in over["scores"]] == ["", "the seller"]
        assert over["why"]  # one's own value was not hidden
        assert [note["label"] for note in over["hidden"]] == ["The seller's cost"]
        matches = web.app.state.live_matches  # type: ignore[attr-defined]
        matches.labels[""] = Labels(reveals=False)
        guest, _ = sit(web, "bargaining", "buyer", params={"rounds": 2})
        (screen,) = play([guest])
        assert screen["over"]["scores"] == [] and screen["over"]["hidden"] == []


def test_points_are_also_told_in_money_where_they_are_paid() -> None:
    spec = registry.game("ipd")
    context = SeatContext(spec, spec.build({}), spec.build({}).seats[0], 1)
    paid = Labels(per_point=0.05, currency="GBP")
    own_text = paid.score(context, "agent", SeatScore("agent", 12.0, 30.0))
    assert (own_text.who, own_text.points, own_text.most, own_text.money) == (
        "",
        "12",
        "30",
        "0.60 GBP",
    )
    assert paid.score(context, "agent", SeatScore("partner", 12.0)).money == ""
    assert Labels().score(context, "agent", SeatScore("agent", 12.0)).money == ""


@pytest.mark.parametrize(
    ("game", "seat", "own", "other"),
    [
        ("matching_pennies", "player_1", "", "the other player"),
        ("beauty_contest", "player_1", "Player 1", "Player 2"),
        ("hanabi", "ann", "Ann", "Bob"),
        ("tradecraft", "p1", "Player 1", "Player 2"),
    ],
)
def test_the_other_one_of_two_has_a_number_only_if_texts_use_it(
    game: str, seat: str, own: str, other: str
) -> None:
    spec = registry.game(game)
    rules = spec.build({})
    context = SeatContext(spec, rules, Seat(seat), 1, words_of(spec))
    assert [Labels().role(context, str(each)) for each in rules.seats[:2]] == [own, other]


def test_wishes_of_the_minority_game_have_the_names_of_the_features() -> None:
    spec = registry.game("toma_mg")
    rules = spec.build({})
    (seat,) = rules.seats
    context = SeatContext(spec, rules, seat, 1, words_of(spec))
    view = rules.observe(rules.start(), seat)
    places, wishes = board_of(context, view).parts
    features = {good.item for hand in places.hands for good in hand.goods}
    for row in wishes.rows:
        for cell in row.cells[:2]:
            assert set(cell.text.split(", ")) - {"–"} <= features
    profiles = list(context.words.lines(view, 0, context.words.forms[0]))[-len(view.agents) - 1 :]
    for agent, line in zip(view.agents, profiles, strict=False):
        named = {feature for feature in features if feature in line}
        assert len(named) == len({*agent.likes, *agent.dislikes}), line
    assert {wish for agent in view.agents for wish in agent.likes} - features  # some are partial


def test_every_tile_of_the_lobby_has_a_picture_and_a_duration() -> None:
    for game in GAMES:
        people = registry.game(game).people
        assert people.glyphs.get(game) and people.minutes.get(game), game
    assert "last move" in sentences_of("ipd", {"tit_for_tat"})["tit_for_tat"]
