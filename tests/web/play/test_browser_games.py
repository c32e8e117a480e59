"""One whole game of each family, played in a real browser with mouse and keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable

from sally.core.registry import registry
from sally.games.pick_the_right_stuff.locker import questions
from sally.games.pick_the_right_stuff.words import NAMES
from sally.games.toma.mg import rules as mg_rules
from sally.games.toma.po import rules as po_rules
from tests.web.browser import NEEDS_BROWSER, Person, Server

pytestmark = NEEDS_BROWSER
Arrive = Callable[..., Person]


def test_repeated_games_from_the_lobby_to_the_result(person: Arrive) -> None:
    me = person()
    me.page.goto(me.address)
    me.page.locator(".tile[data-game=rps]").click(timeout=60_000)  # every bot is built once
    me.page.get_by_text("Settings").click()
    me.page.get_by_label("Rounds").fill("3")
    me.page.get_by_label("Partner is played by").select_option("single_action")
    me.shot("lobby")
    me.page.get_by_role("button", name="Play", exact=True).click()
    me.page.get_by_role("button", name="I have read the rules").click()
    for _ in range(3):
        me.pick("Paper")
    assert "Your result: " in me.result()
    me.shot("end")
    assert len(me.lines()) == 3
    assert me.lines()[0].startswith("Round 1: you picked Paper, the other player picked ")
    assert me.page.locator("#board .part-table").count() == 3  # payoffs, rounds, how often


def test_probe_is_shown_separately_and_answered_first(person: Arrive, served: Server) -> None:
    me = person()
    probes = ["their_odds", "their_move_given_mine"]
    table = served.table("ipd", "agent", params={"rounds": 1}, probes=probes)
    me.sit(table["token"])
    aside = me.page.get_by_role("complementary", name="A question for you")
    assert "changes nothing in the game" in aside.inner_text()
    assert me.ask().count() == 0  # the move waits for the question
    assert me.status() == "Please answer the question above first."
    aside.get_by_label("J", exact=True).fill("70")
    aside.get_by_label("F", exact=True).fill("20")
    assert "Total: 90 of 100" in aside.inner_text()
    aside.get_by_role("button", name="Answer").click()
    assert "must add up to 100" in aside.get_by_role("alert").inner_text()
    me.shot("repeated_games_aside")
    aside.get_by_label("F", exact=True).fill("30")
    aside.get_by_role("button", name="Answer").click()
    me.pick("J")
    locator_after = me.page.locator(".probe", has_text="In this round you pick J")
    locator_after.get_by_role("button", name="F").click()
    assert "Your result: " in me.result()


def test_pick_the_right_stuff_can_be_played_with_right_answers(
    person: Arrive, served: Server
) -> None:
    instance = registry.game("pick_the_right_stuff").build({}).instance
    me = person()
    me.sit(served.table("pick_the_right_stuff", "manager")["token"])
    for screen, believed in questions(instance):
        texts = me.page.locator("#board .lockers .inside").all_inner_texts()
        assert texts == ["empty" if user is None else NAMES[user] for user in screen.states[-1]]
        me.pick(f"Box {'ABCDEFGH'[believed]}")
        if len(screen.states) == 5:
            me.shot("pick_the_right_stuff")
    assert f"Your result: {instance.users}" in me.result()


def test_toma_po_can_be_solved_in_the_browser(person: Arrive, served: Server) -> None:
    problem = registry.game("toma_po").build({}).problem
    me = person()
    me.sit(served.table("toma_po", "player")["token"])
    assert me.page.locator("#board tr").nth(1).inner_text().startswith("A\t")
    me.shot("toma_po")
    options = (*problem.tasks, "None helps: two others take the same")
    me.pick(options[po_rules.answer(problem)])
    assert "Your result: 1" in me.result()
    assert "How they decide" in me.page.locator("#board").inner_text()


def test_toma_mg_can_be_played_with_a_probe_about_every_agent(
    person: Arrive, served: Server
) -> None:
    problem = registry.game("toma_mg").build({}).problem
    me = person()
    me.sit(served.table("toma_mg", "player", probes=["their_place"])["token"])
    me.shot("toma_mg")
    for agent, place in mg_rules.predictions(problem).items():
        number = problem.agents[agent].name.split()[-1]
        question = me.page.locator(".probe", has_text=re.compile(rf" {number} go\?"))
        question.get_by_role("button", name=problem.places[place].name).click()
        question.wait_for(state="detached")
    me.pick(problem.places[mg_rules.answer(problem)].name)
    assert "Your result: 1" in me.result()


def test_toma_ag_clue_can_be_typed(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("toma_ag", "speaker")["token"])
    assert "keeps your savings" in me.page.locator("#board").inner_text()
    clue = me.ask().get_by_label("Your clue")
    clue.fill("x" * 201)
    assert "201 of 200 characters; 1 too many" in me.ask().inner_text()
    me.ask().get_by_role("button", name="Send").click()
    assert "At most 200 characters" in me.ask().get_by_role("alert").first.inner_text()
    clue.fill("an account at the bank")
    me.ask().get_by_role("button", name="Send").click()
    me.page.locator("#lines li", has_text="It does not count").wait_for()  # the rules' objection
    me.shot("toma_ag")
    me.ask().get_by_label("Your clue").fill("money")
    me.ask().get_by_role("button", name="Send").click()
    assert "Your result: " in me.result()


def test_toma_sw_speaks_moves_and_waits_on_the_map(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("toma_sw", "explorer", params={"turns": 3})["token"])
    password = me.page.locator(".note", has_text="Password").locator("dd").inner_text()
    locator = me.page.locator(".map td", has_text="You")
    assert locator.count() == 1
    question_before = me.question_id()
    me.ask().get_by_label("Your message").fill(f"The password is {password}.")
    assert f"{len(f'The password is {password}.')} of 300 characters" in me.ask().inner_text()
    me.ask().get_by_role("button", name="Send").click()
    me.until_taken(question_before)
    me.shot("toma_sw")
    for _ in range(2):
        if me.page.locator("#end .result").count():
            break
        me.pick("Wait")
    assert "game is over" in me.result()


def test_toma_sw_listens_and_guesses_with_a_form(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("toma_sw", "eavesdropper", params={"turns": 2})["token"])
    guess = me.ask().get_by_role("button", name="Guess")
    guess.click()
    assert me.ask().get_by_role("alert").filter(has_text="Choose one").count() == 1
    for group, choice in (("Whom or what", "the treasure"), ("Row", "3"), ("Column", "0")):
        me.ask().get_by_role("group", name=group).get_by_role("radio", name=choice).check()
    question_before = me.question_id()
    guess.click()
    me.until_taken(question_before)
    assert "game is over" in me.result()


def test_mindgames_counter_counts_only_the_message_after_the_separator(
    person: Arrive, served: Server
) -> None:
    game = registry.game("mindgames").build({"messages": 2})
    noun, puzzle = game.names.noun, game.problem
    verb = {1: "increases", 0: "has no effect on", -1: "decreases"}
    texts = [
        f"{noun.capitalize()} {game.names.proposals[p]} {verb[puzzle.utility((p, a))]} "
        f"{game.names.attributes[a]}."
        for p, a in puzzle.winning
    ]
    me = person()
    me.sit(served.table("mindgames", "persuader", params={"messages": 2})["token"])
    text = me.ask().get_by_label("Your message")
    text.fill("a" * 400)
    assert "400 of 300 characters; the rest will be cut off" in me.ask().inner_text()
    text.fill("I keep this to myself.\n---\n" + " ".join(texts))
    assert f"{len(' '.join(texts))} of 300 characters" in me.ask().inner_text()
    me.shot("mindgames")
    for message in (None, "Which one do you prefer?"):
        question_before = me.question_id()
        if message is not None:
            me.ask().get_by_label("Your message").fill(message)
        me.ask().get_by_role("button", name="Send").click()
        me.until_taken(question_before)
    assert "Your result: 1" in me.result()
    assert any("I keep this to myself" in line for line in me.lines())


def test_problem_is_chosen_in_the_lobby_and_its_recipes_are_browsed(person: Arrive) -> None:
    me = person()
    page = me.page
    page.goto(me.address)
    page.locator(".tile[data-game=tradecraft]").click()
    page.get_by_label("Players").select_option("3")
    page.get_by_label("Problem", exact=True).select_option("2, easy, 1 trade")
    assert page.get_by_label("Player 3 is played by").count() == 1
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="I have read the rules").click()
    assert page.locator("#board .hand").count() == 4  # three hands and a target
    assert page.locator(".hand .glyph").count() == page.locator(".hand .named").count() > 4
    good = page.locator(".hand.mark-yours .named").first
    good.click()
    assert page.get_by_label("What it is for").is_checked()
    assert page.get_by_label("Search the recipes").input_value() in good.inner_text()
    offer = me.ask().get_by_role("form", name="Propose")
    offer.get_by_label("Player 2").check()
    offer.get_by_role("group", name="Offer").get_by_role("button").nth(1).click()
    offer.get_by_label("Message").fill("A gift.")
    question_before = me.question_id()
    offer.get_by_role("button", name="Propose").click()
    me.until_taken(question_before)
    page.locator("#talk .mark-yours", has_text="A gift.").wait_for()
    page.get_by_label("Search the recipes").fill("")
    page.get_by_label("What I can make now").check()
    ready = page.locator(".book .recipes .ready").all_inner_texts()
    assert ready
    assert len(ready) == page.locator(".book .recipes li").count()
    page.locator(".book").get_by_role("button", name="Fill in").first.click()
    craft = me.ask().get_by_role("form", name="Craft")
    question_before = me.question_id()
    craft.get_by_role("button", name="Craft").click()
    me.until_taken(question_before)
    page.locator("#lines li", has_text="You crafted").wait_for()


def test_tradecraft_values_offers_look_ups_and_crafts(person: Arrive, served: Server) -> None:
    me = person(excused="status of 422")
    params = {"max_turns": 1}
    table = served.table("tradecraft", "p1", params=params, probes=["v0"], others={"p2": "hoarder"})
    me.sit(table["token"])
    value = me.page.get_by_role("complementary", name="A question for you")
    value.get_by_label("iron ingot").fill("11")
    value.get_by_role("button", name="Answer").click()
    assert "must be from 0 to 10" in value.get_by_role("alert").inner_text()
    value.get_by_label("iron ingot").fill("9.5")
    value.get_by_role("button", name="Answer").click()
    me.page.locator("summary", has_text="Look up: What an item is for").click()
    me.page.get_by_label("Item", exact=True).fill("shears")
    me.page.get_by_role("button", name="Look up").first.click()
    me.page.locator(".found", has_text="2 iron ingots → 1 pair of shears").wait_for()
    offer = me.ask().get_by_role("form", name="Propose")
    offer.get_by_role("button", name="more coal").click()
    offer.get_by_role("button", name="more coal").click()
    assert offer.get_by_label("coal of").input_value() == "2"
    offer.get_by_label("raw iron of").fill("7")
    offer.get_by_role("button", name="Propose").click()
    refused = offer.get_by_role("group", name="Request").get_by_role("alert")
    refused.filter(has_text="at most 3").wait_for()  # beside its field
    me.shot("tradecraft", me.page.locator("#turn"))
    offer.get_by_label("raw iron of").fill("1")
    offer.get_by_label("Message").fill("A fair trade?")
    question_before = me.question_id()
    offer.get_by_role("button", name="Propose").click()
    me.until_taken(question_before)
    me.page.locator("#lines li", has_text="You proposed to Player 2").wait_for()
    question_before = me.question_id()
    me.ask().get_by_role("button", name="craft 9 iron nuggets").click()
    me.until_taken(question_before)
    assert "9" in me.page.locator(".hand", has_text="(you)").inner_text()
    me.pick("done")
    assert "Your result: 0" in me.result()


def test_custom_game_needs_no_custom_page(person: Arrive) -> None:
    me = person(excused="status of 422")
    me.page.goto(me.address)
    me.page.locator(".tile[data-game=order_form]").click()
    me.page.get_by_role("button", name="Play", exact=True).click()
    me.page.get_by_role("button", name="I have read the rules").click()
    assert me.page.locator("#board").is_hidden()
    form = me.ask().get_by_role("form", name="Order")
    lines = form.get_by_role("group", name="Lines", exact=True)
    for item, count in (("item 3", "40"), ("item 10", "2")):
        lines.get_by_role("button", name="Add one").click()
        entry = lines.locator(".entry").last
        entry.get_by_label("Item").select_option(label=item)
        entry.get_by_label("Count", exact=True).fill(count)
    assert lines.get_by_role("button", name="Add one").is_hidden()  # two are the most
    tags = form.get_by_role("group", name="Tags", exact=True)
    for tag in ("gift", "rush"):
        tags.get_by_role("button", name="Add one").click()
        tags.locator(".entry").last.get_by_role("radio", name=tag).check()
    tags.get_by_role("button", name="Remove").first.click()
    form.get_by_label("gold of").fill("1/3")
    form.get_by_role("button", name="more silver").click()
    form.get_by_role("button", name="more silver").click()
    form.get_by_label("Street").fill("Mill Lane")
    form.get_by_role("button", name="Order", exact=True).click()
    floor = form.get_by_role("group", name="Floor")
    floor.get_by_role("alert").filter(has_text="Choose one").wait_for()
    floor.get_by_role("radio", name="-1").check()
    form.get_by_role("button", name="Order", exact=True).click()
    assert "Your result: 42" in me.result()
