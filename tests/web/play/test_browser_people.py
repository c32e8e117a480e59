"""People in browsers of their own: meeting, coming back, and what goes wrong on the way."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.web.browser import NEEDS_BROWSER, Person, Server, server

pytestmark = NEEDS_BROWSER
Arrive = Callable[..., Person]


# --- meeting --------------------------------------------------------------------------------------


def test_two_people_by_invitation_see_each_other_move(person: Arrive) -> None:
    ann, bob = person(), person()
    ann.page.goto(ann.address)
    ann.page.locator(".tile[data-game=ipd]").click()
    ann.page.get_by_text("Settings").click()
    ann.page.get_by_label("Rounds").fill("2")
    ann.page.get_by_label("Partner is played by").select_option("person")
    ann.page.get_by_role("button", name="Play", exact=True).click()
    link = ann.page.get_by_label("Link for partner").input_value()
    ann.page.get_by_role("link", name="Start the game").click()
    ann.page.get_by_role("button", name="I have read the rules").click()
    bob.page.goto(link)
    bob.page.get_by_role("button", name="I have read the rules").click()
    assert bob.page.locator("body").get_attribute("data-seat") == "partner"
    sent = link.partition("#")[2].partition("&")[0]
    headers_sent = {"Authorization": f"Bearer {sent}"}
    seat = httpx.get(f"{ann.address}/api/seat", headers=headers_sent, verify=False)
    assert seat.status_code == 401  # who sent the link cannot look in any more
    bob.page.goto("about:blank")
    bob.page.goto(link)  # and who followed it may follow it again
    bob.page.locator("body[data-seat=partner]").wait_for()

    ann.ask().get_by_role("button", name="J").click()
    ann.page.get_by_text("Waiting for the other player").wait_for()
    ann.shot("waiting")
    assert ann.lines() == bob.lines() == []  # nobody sees a move before both have moved
    bob.pick("F")
    ann.page.locator("#lines li").wait_for()
    assert ann.lines() == [
        "Round 1: you picked J, the other player picked F. "
        "You won 0 points, the other player won 10 points."
    ]
    bob.ask().get_by_role("button", name="F").click()
    ann.pick("F")
    assert "Your result: 5" in ann.result()
    assert "Your result: 15" in bob.result()


def test_visitors_who_stop_waiting_or_leave_are_not_paired(person: Arrive, served: Server) -> None:
    def wait() -> tuple[Person, dict[str, str]]:
        first = person()
        first.page.goto(first.address)
        first.page.locator(".tile[data-game=rps]").click()
        with first.page.expect_response("**/api/lobby") as told:
            first.page.get_by_role("button", name="Play with another visitor").click()
        first.page.get_by_role("button", name="Stop waiting").wait_for()
        return first, {"Authorization": f"Bearer {told.value.json()['ticket']}"}

    def in_line(ticket: dict[str, str]) -> httpx.Response:
        return httpx.get(f"{served.address}/api/lobby", headers=ticket, verify=False)

    with_a_word, _ = wait()
    with with_a_word.page.expect_response("**/api/lobby/leave"):
        with_a_word.page.get_by_role("button", name="Stop waiting").click()
    without, ticket = wait()
    without.page.goto("about:blank")
    while in_line(ticket).status_code != 401:  # what a page says as it goes comes a little later
        without.page.wait_for_timeout(20)
    last, ticket = wait()
    assert in_line(ticket).json() == {"token": None, "waiting": 1, "needed": 2}
    assert last.page.url == f"{last.address}/"


def test_two_waiting_visitors_are_paired(person: Arrive) -> None:
    ann, bob = person(), person()
    for item in (ann, bob):
        item.page.goto(item.address)
        item.page.locator(".tile[data-game=ibs]").click()
        item.page.get_by_role("button", name="Play with another visitor").click()
    for item in (ann, bob):
        item.page.wait_for_url("**/table#*")
        item.page.get_by_role("button", name="I have read the rules").click()
    for item in (ann, bob):
        item.page.locator("body[data-seat]").wait_for()
    seats = {item.page.locator("body").get_attribute("data-seat") for item in (ann, bob)}
    assert seats == {"agent", "partner"}


def test_invalid_setting_is_refused_beside_its_field(person: Arrive) -> None:
    me = person(excused="status of 422")
    me.page.goto(me.address)
    me.page.locator(".tile[data-game=ipd]").click()
    me.page.get_by_text("Settings").click()
    me.page.get_by_label("Rounds").fill("0")
    me.page.get_by_text("Settings").click()  # folded away again
    me.page.get_by_role("button", name="Play", exact=True).click()
    field = me.page.locator(".field", has=me.page.get_by_label("Rounds"))
    refused = field.get_by_role("alert").filter(has_text="whole number from 1 to 100")
    refused.wait_for()  # unfolded to be seen
    me.page.get_by_label("Rounds").fill("1")
    me.page.get_by_role("button", name="Play", exact=True).click()
    me.page.wait_for_url("**/table#*")


def test_trade_between_two_people_wins_the_game(person: Arrive, served: Server) -> None:
    table = served.table("tradecraft", "p1", others={"p2": "person"}, params={"max_turns": 3})
    ann, bob = person(), person()
    ann.sit(table["token"])
    bob.sit(f"{table['invites']['p2']}&invited")
    bob.page.get_by_text("Waiting for Player 1").wait_for()
    assert "shears" not in bob.page.content().split("The rules")[0]
    offer = ann.ask().get_by_role("form", name="Propose")
    offer.get_by_role("button", name="more coal").click()
    offer.get_by_role("button", name="more raw iron").click()
    offer.get_by_role("button", name="Propose").click()
    proposal = bob.page.locator("#board .part-hands", has_text="Player 1 proposes to you")
    proposal.wait_for()
    assert "coal" in proposal.locator(".hand", has_text="You would get").inner_text()
    assert "raw iron" in proposal.locator(".hand", has_text="You would give").inner_text()
    bob.pick("accept")
    ann.page.get_by_role("button", name="craft 1 iron ingot from").click()
    ann.page.get_by_text("Waiting for Player 2").wait_for()  # both craft at the same time
    bob.pick("done")
    question_before = ann.question_id()
    ann.page.get_by_role("button", name="craft 1 pair of shears from").click()
    ann.until_taken(question_before)
    bob.page.get_by_text("Waiting for Player 1").wait_for()
    ann.pick("done")
    assert "Your result: 3" in ann.result()
    assert "Your result: 0" in bob.result()


def test_leaving_stops_the_game_for_both_players(person: Arrive, served: Server) -> None:
    table = served.table("ipd", "agent", others={"partner": "person"})
    ann, bob = person(), person()
    ann.sit(table["token"])
    bob.sit(f"{table['invites']['partner']}&invited")
    ann.page.get_by_text("Leave the game", exact=True).click()
    ann.page.get_by_role("button", name="Leave and stop the game").click()
    assert "You left or" in ann.result()
    assert "A player left or" in bob.result()
    assert "Your result" not in bob.result()


# --- coming back ----------------------------------------------------------------------------------


def test_reload_during_a_game_continues_at_the_same_point(person: Arrive, served: Server) -> None:
    me = person()
    me.sit(served.table("ipd", "agent", params={"rounds": 3})["token"])
    me.pick("J")
    me.page.reload()
    me.page.locator("#lines li").wait_for()
    assert len(me.lines()) == 1
    assert not me.page.locator("#rules").get_attribute("open")  # they have been read
    me.pick("J")
    me.pick("J")
    assert "Your result: 24" in me.result()  # tit for tat
    me.page.reload()
    assert "Your result: 24" in me.result()


def test_two_tabs_stay_synchronized(person: Arrive, served: Server) -> None:
    first = person()
    two = Person(first.page.context.new_page(), first.address)
    token = served.table("ipd", "agent", params={"rounds": 2})["token"]
    first.sit(token)
    two.sit(token)
    first.pick("J")
    two.page.locator("#lines li").wait_for()
    assert first.lines() == two.lines()
    two.pick("F")
    assert "Your result: 18" in first.result()
    assert "Your result: 18" in two.result()
    two.check()


def test_stale_tab_reports_that_the_question_is_closed(person: Arrive, served: Server) -> None:
    first = person()
    two = person(excused="status of 409")
    token = served.table("ipd", "agent", params={"rounds": 2})["token"]
    held: list[object] = []
    two.page.route(re.compile(r"/api/seat\?since"), lambda route: held.append(route))
    first.sit(token)
    two.sit(token)
    first.pick("J")  # the other tab does not hear of it
    two.ask().locator(".options button").first.click()
    two.page.get_by_text("it was answered already").wait_for()
    two.page.locator("#lines li").wait_for()
    assert len(two.lines()) == 1
    two.page.unroute_all(behavior="ignoreErrors")


MODEL = """
from sally.models.stub import Scripted

MODEL = lambda name: Scripted(lambda messages, settings: "Option: J")
"""


def test_server_crash_in_a_game_with_a_model_loses_nothing(person: Arrive, tmp_path: Path) -> None:
    (tmp_path / "friend.py").write_text(MODEL)
    use, more = ("--use", str(tmp_path / "friend.py")), ("--allow-model", "friend")
    with server(tmp_path, use, more) as live_matches:
        me = person(address=live_matches.address, excused="net::ERR_")
        others = {"partner": "model:friend"}
        me.sit(live_matches.table("ipd", "agent", others=others, params={"rounds": 3})["token"])
        me.pick("J")
        live_matches.kill()
        me.page.get_by_text("The connection is lost").wait_for()
        me.ask().locator(".options button").first.click()  # sent as soon as somebody listens
        me.page.get_by_text("Sending").wait_for()
        me.shot("connection_lost")
        live_matches.start()
        me.page.get_by_text("Connected again").wait_for()
        me.page.locator("#lines li").nth(1).wait_for()
        assert len(me.lines()) == 2
        me.pick("J")
        assert "Your result: 24" in me.result()
        assert len(me.lines()) == 3


def test_lost_connection_is_reported_and_the_answer_sent_once(
    person: Arrive, served: Server
) -> None:
    me = person(excused="ERR_INTERNET_DISCONNECTED|ERR_NETWORK")
    me.sit(served.table("ipd", "agent", params={"rounds": 2})["token"])
    me.page.context.set_offline(True)
    me.ask().get_by_role("button", name="J").click()
    me.page.get_by_text("The connection is lost").wait_for()
    me.page.context.set_offline(False)
    me.page.locator("#lines li").wait_for()
    me.page.get_by_text("Connected again").wait_for()
    assert len(me.lines()) == 1


def test_full_disk_is_reported_and_the_question_stays_open(person: Arrive, served: Server) -> None:
    me = person(excused="status of 507")
    me.sit(served.table("ipd", "agent", params={"rounds": 1})["token"])
    full = {"error": "The server's disk is full, so nothing was changed; try again later."}
    me.page.route("**/api/seat/answer", lambda route: route.fulfill(status=507, json=full))
    me.ask().locator(".options button").first.click()
    me.ask().get_by_role("alert").filter(has_text="The server's disk is full").wait_for()
    me.page.unroute("**/api/seat/answer")
    me.pick("J")  # there is space again
    assert "Your result: 8" in me.result()


def test_invalid_table_link_is_reported(person: Arrive) -> None:
    me = person(excused="status of 401")
    me.page.goto(f"{me.address}/table#made-up")
    me.page.get_by_text("This token does not open any seat.").wait_for()
    assert me.page.get_by_role("link", name="Play another game").is_visible()
    me.page.goto("about:blank")
    me.page.goto(f"{me.address}/table#withdrawn&back=/study/demo")
    assert me.page.get_by_role("link", name="Continue").get_attribute("href") == "/study/demo"
    me.page.goto(f"{me.address}/")
    me.page.goto(f"{me.address}/table")
    me.page.get_by_text("This address does not include a seat.").wait_for()


# --- what others write ----------------------------------------------------------------------------

HOSTILE = (
    '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
    "</li></ol><svg onload=window.pwned=1>{{7*7}}${7*7}"
)


def test_text_of_the_other_player_is_never_markup(person: Arrive, served: Server) -> None:
    table = served.table("tradecraft", "p1", others={"p2": "person"})
    ann, bob = person(), person()
    ann.sit(table["token"])
    bob.sit(f"{table['invites']['p2']}&invited")
    offer = ann.ask().get_by_role("form", name="Propose")
    offer.get_by_role("button", name="more coal").click()
    offer.get_by_label("Message").fill(HOSTILE)
    offer.get_by_role("button", name="Propose").click()
    locator = bob.page.locator("#lines li", has_text="proposed to you")
    locator.wait_for()
    assert "<script>window.pwned=1</script>" in locator.inner_text()
    assert "{{7*7}}${7*7}" in locator.inner_text()
    for item in (ann, bob):
        assert item.page.evaluate("window.pwned") is None
        assert item.page.locator("img, svg:not(.glyph), li script").count() == 0


def test_hostile_clue_on_the_board_is_shown_as_text(person: Arrive, served: Server) -> None:
    table = served.table("toma_ag", "speaker", others={"teammate": "person"})
    ann, bob = person(), person()
    ann.sit(table["token"])
    ann.ask().get_by_label("Your clue").fill(HOSTILE[:199])
    ann.ask().get_by_role("button", name="Send").click()
    bob.sit(f"{table['invites']['teammate']}&invited")
    clue = bob.page.locator(".note", has_text="The clue")
    clue.wait_for()
    assert "<img src=x" in clue.inner_text()
    assert bob.page.evaluate("window.pwned") is None


def test_continue_link_must_be_within_a_study(person: Arrive, served: Server) -> None:
    me = person()
    token = served.table("ipd", "agent", params={"rounds": 1})["token"]
    me.sit(f"{token}&back=/study/demo?step=2")
    me.pick("J")
    assert me.page.locator("#end a").get_attribute("href") == "/study/demo?step=2"
    for elsewhere in ("//evil.example/study/", "javascript:alert(1)", "/study/../x"):
        me.page.goto("about:blank")
        me.sit(f"{token}&back={elsewhere}", read_rules=False)
        assert me.page.locator("#end a").get_attribute("href") == "/"
