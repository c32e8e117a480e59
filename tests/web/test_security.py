"""Request limits, origin checks, headers and tokens."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sally.web import app as web_app
from sally.web import security
from sally.web.security import MOST_BYTES, RateLimiter, depth
from tests.web.guests import Guest, sit, web_server

SECRET = "the secret of this test"


@pytest.fixture
def web(tmp_path: Path) -> Any:
    with web_server(tmp_path, secret=SECRET) as client:
        yield client


# --- tokens -------------------------------------------------------------------------------------


def test_tokens_are_long_and_not_stored_on_disk(tmp_path: Path) -> None:
    with web_server(tmp_path) as web:
        tokens = [sit(web, "rps", others={"partner": "person"})[0].token for _ in range(20)]
    assert len(set(tokens)) == 20 and all(len(token) >= 43 for token in tokens)
    disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not any(token.encode() in disk for token in tokens)


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Bearer x", "Basic x", "Bearer é", "x"]
)
def test_seat_requires_a_valid_token(header: str, web: Any) -> None:
    guest, _ = sit(web, "ipd")
    sent = {"ask": guest.see()["asks"][0]["id"], "value": 0, "key": "k"}
    for method, path in (("GET", "/api/seat"), ("POST", "/api/seat/answer")):
        body = None if method == "GET" else sent
        headers = {"Authorization": header.encode("latin-1")} if header else {}
        assert web.request(method, path, headers=headers, json=body).status_code == 401
    assert guest.see()["lines"] == []


def test_token_in_the_address_is_refused(web: Any) -> None:
    guest, _ = sit(web, "ipd")
    assert web.get(f"/api/seat?token={guest.token}").status_code == 401


def invited(web: Any) -> tuple[Guest, Guest]:
    """Return the guest who opened a table, and the token of an invitation to it."""
    opened = web.post("/api/tables", json={"game": "rps", "others": {"partner": "person"}}).json()
    return Guest(web, opened["token"]), Guest(web, opened["invites"]["partner"])


def test_invitation_gives_exclusive_access_to_the_seat(web: Any) -> None:
    _, link = invited(web)
    own_guest = Guest(web, "a" * 64)
    assert own_guest.call("GET", "/api/seat").status_code == 401
    for _ in range(2):  # the first acknowledgement may be lost
        assert link.call("POST", "/api/seat/take", {"token": own_guest.token}).status_code == 200
    assert own_guest.see()["seat"] == "partner"
    assert link.call("GET", "/api/seat").status_code == 401  # who sent it still has this one
    late = link.call("POST", "/api/seat/take", {"token": "b" * 64})
    assert late.status_code == 401 and "used already" in late.json()["error"]


def test_invitation_token_can_only_take_the_seat(web: Any) -> None:
    _, link = invited(web)
    request_fields = {"ask": "x", "value": 0, "key": "k"}
    assert link.call("GET", "/api/seat").status_code == 401
    assert link.call("GET", "/api/seat?since=0").status_code == 401
    assert link.call("POST", "/api/seat/answer", request_fields).status_code == 401
    assert link.call("POST", "/api/seat/look", request_fields).status_code == 401
    assert link.call("POST", "/api/seat/leave", {"key": "k"}).status_code == 401
    assert link.call("POST", "/api/seat/take", {"token": "a" * 64}).status_code == 200
    assert Guest(web, "a" * 64).see()["asks"]


def test_poll_does_not_outlive_its_token(web: Any) -> None:
    guest, _ = invited(web)
    version = guest.see()["version"]
    with ThreadPoolExecutor(1) as other_executor:
        poll = other_executor.submit(guest.call, "GET", f"/api/seat?since={version}")
        time.sleep(0.3)  # until it waits
        assert guest.call("POST", "/api/seat/take", {"token": "d" * 64}).status_code == 200
        own_guest = Guest(web, "d" * 64)
        own_guest.answer(own_guest.see()["asks"][0])
        assert poll.result().status_code == 401


@pytest.mark.parametrize("own", ["short", "a" * 65, "é" * 50, "a b" * 20, 5, None])
def test_custom_token_must_be_long(own: Any, web: Any) -> None:
    guest, _ = sit(web, "ipd")
    assert guest.call("POST", "/api/seat/take", {"token": own}).status_code == 400
    assert guest.see()


def test_token_in_use_cannot_be_taken_for_another_seat(web: Any) -> None:
    guest, others = sit(web, "rps", others={"partner": "person"})
    other_partner = others["partner"]
    text = "c" * 64
    assert guest.call("POST", "/api/seat/take", {"token": text}).status_code == 200
    assert other_partner.call("POST", "/api/seat/take", {"token": text}).status_code == 401
    assert Guest(web, text).see()["seat"] == "agent" and other_partner.see()["seat"] == "partner"


# --- other sites --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver:81"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_requests_from_another_site_are_refused(headers: dict[str, str], web: Any) -> None:
    for path in ("/api/tables", "/api/lobby", "/experimenter/login"):
        reply = web.post(path, json={"game": "ipd"}, headers=headers)
        assert reply.status_code == 403 and "other sites" in reply.json()["error"]


def test_requests_from_own_pages_are_allowed(web: Any) -> None:
    headers = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    assert web.post("/api/tables", json={"game": "ipd"}, headers=headers).status_code == 201


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_form_content_type_is_refused_by_the_api(kind: str, web: Any) -> None:
    reply = web.post("/api/tables", content=b'{"game": "ipd"}', headers={"Content-Type": kind})
    assert reply.status_code == 400


def test_responses_have_no_cors_headers(web: Any) -> None:
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for reply in (
        web.get("/api/games", headers=headers),
        web.options("/api/seat/answer", headers=headers),
    ):
        assert not [name for name in reply.headers if name.startswith("access-control")]


def test_unknown_host_header_is_refused(tmp_path: Path) -> None:
    with web_server(tmp_path, hosts=("lab.example", "testserver")) as web:
        assert web.get("/api/games").status_code == 200
        for host in ("evil.example", "lab.example.evil.example", "", "[::1"):
            assert web.get("/api/games", headers={"Host": host}).status_code == 400


STYLE = f"{web_app.static_address()}/style.css"


@pytest.mark.parametrize("path", ["/", "/table", "/api/games", "/api/seat", "/nowhere", STYLE])
def test_every_response_has_the_security_headers(path: str, web: Any) -> None:
    reply = web.get(path)
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "same-origin"
    assert "set-cookie" not in reply.headers


def test_browser_caches_static_files_but_no_pages_or_responses(web: Any) -> None:
    kept_matches = re.findall(
        r'(?:src|href)="(/static/[^"]+)"', web.get("/").text + web.get("/table").text
    )
    assert STYLE in kept_matches
    for path in kept_matches:
        assert web.get(path).headers["cache-control"] == web_app.FOREVER
    for path in ("/", "/table", "/api/games", "/api/seat", f"{web_app.static_address()}/none.js"):
        assert web.get(path).headers["cache-control"] == "no-store"


def test_static_files_of_an_older_version_are_served_uncached(web: Any) -> None:
    old = web.get("/static/0123456789ab/style.css")
    assert old.content == web.get(STYLE).content
    assert old.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["", "/", "/style.css", f"/{web_app.static_version()}", "/x/../../app.py"]
)
def test_static_path_serves_only_files(path: str, web: Any) -> None:
    assert web.get(f"/static{path}").status_code in (404, 405)


def test_pages_have_no_inline_script_or_style(web: Any) -> None:
    for path in ("/", "/table", "/experimenter/login"):
        page = web.get(path).text
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page)
        assert all(re.search(r"\ssrc=", tag) for tag in re.findall(r"<script[^>]*>", page))


# --- sizes and rates ----------------------------------------------------------------------------


def test_large_request_is_refused_with_or_without_content_length(web: Any) -> None:
    body = b'{"game": "' + b"x" * MOST_BYTES + b'"}'
    headers = {"Content-Type": "application/json"}
    assert web.post("/api/tables", content=body, headers=headers).status_code == 413
    in_parts = (body[i : i + 1000] for i in range(0, len(body), 1000))
    assert web.post("/api/tables", content=in_parts, headers=headers).status_code == 413


@pytest.mark.parametrize(
    ("text", "level"),
    [("1", 0), ("[]", 1), ('{"a":[[1]]}', 3), ('"[[["', 0), (r'["\"[["]', 1), ('["]]]",[[', 3)],
)
def test_json_depth_ignores_brackets_in_strings(text: str, level: int) -> None:
    assert depth(text.encode()) == level


def test_deep_json_is_refused_before_parsing(web: Any) -> None:
    deep = b'{"game": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    reply = web.post("/api/tables", content=deep, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400 and "nested" in reply.json()["error"]


def test_bucket_empties_and_refills() -> None:
    rates = RateLimiter(a_second=2, burst=3)
    assert [rates.take("a", now=0.0) for _ in range(3)] == [0, 0, 0]
    assert rates.take("a", now=0.0) == 0.5 and rates.take("b", now=0.0) == 0
    assert rates.take("a", now=0.6) == 0 and rates.take("a", now=0.6) > 0


def test_many_client_names_do_not_fill_the_memory() -> None:
    rates = RateLimiter(a_second=1, burst=2, max_clients=100)
    for n in range(10_000):
        rates.take(str(n), now=n / 1000)
    assert len(rates._buckets) <= 100


def test_requests_above_the_rate_are_refused_with_retry_after(tmp_path: Path) -> None:
    with web_server(tmp_path, a_second=1) as web:
        replies = [web.get("/api/games") for _ in range(12)]
        assert [r.status_code for r in replies] == [200] * 10 + [429] * 2
        assert replies[-1].headers["retry-after"] == "1"
        assert "wait" in replies[-1].json()["error"]


def test_rate_limit_of_one_token_does_not_affect_others(web: Any) -> None:
    guest, _ = sit(web, "ipd")
    codes = [guest.call("GET", "/api/seat").status_code for _ in range(80)]
    assert codes[0] == 200 and 429 in codes
    assert sit(web, "ipd")[0].see()  # others do not feel it


def test_tables_per_address_are_rate_limited(tmp_path: Path) -> None:
    with web_server(tmp_path, a_second=2) as web:
        wishes = ("/api/tables", "/api/lobby") * 3
        codes = [web.post(path, json={"game": "ipd"}).status_code for path in wishes]
        assert codes == [201] * 4 + [429] * 2


@pytest.mark.parametrize(
    ("host", "counts_as"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::2:0:0:1", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
    ],
)
def test_ipv6_addresses_of_one_network_count_as_one(host: str, counts_as: str) -> None:
    assert security.address_of({"client": (host, 5)}) == counts_as


# --- what a visitor may set ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"params": {"rounds": 10**9}}, "from 1 to 100"),
        ({"params": {"rounds": 0}}, "from 1 to 100"),
        ({"params": {"rounds": True}}, "whole number"),
        ({"params": {"rounds": "5"}}, "whole number"),
        ({"params": {"matrix": [[[1, 1]]]}}, "parameter that can be set here"),
        ({"params": {"__class__": 1}}, "parameter that can be set here"),
        ({"others": {"partner": "language"}}, "player for seat"),
        ({"others": {"partner": "model:embedded"}}, "player for seat"),
        ({"others": {"partner": "axelrod"}}, "player for seat"),
        ({"others": {"nature": "random"}}, "seat of ipd"),
        ({"others": {"agent": "random"}, "seat": "agent"}, "is your own"),
        ({"seat": "nobody"}, "seat of ipd"),
        ({"probes": ["no such"]}, "probe for seat"),
        ({"probes": ["their_move", "their_move"]}, "twice"),
        ({"game": "no_such_game"}, "game"),
        ({"game": "tradecraft", "params": {"ruleset": "/etc/passwd"}}, "parameter that can be set"),
        ({"game": "toma_mg", "params": {"scenario": "x" * 100}}, "at most 60"),
        ({"game": "toma_mg", "params": {"scenario": {"id": "x"}}}, "name"),
    ],
)
def test_unavailable_options_are_refused_by_name(wish: dict[str, Any], why: str, web: Any) -> None:
    reply = web.post("/api/tables", json={"game": "ipd", **wish})
    assert reply.status_code == 422 and why in reply.json()["error"], reply.text


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"game": 5},
        {"game": None},
        {"game": "ipd", "seat": []},
        {"game": "ipd", "others": []},
        {"game": "ipd", "others": {"partner": 5}},
        {"game": "ipd", "params": 3},
        {"game": "ipd", "probes": "x"},
        {"game": "ipd", "extra": 1},
        {"game": "x" * 300},
        [],
        "text",
        None,
    ],
)
def test_malformed_request_is_refused_with_a_message(sent: Any, web: Any) -> None:
    reply = web.post("/api/tables", json=sent)
    assert reply.status_code == 400 and reply.json()["error"].endswith(".")


def test_only_allowed_models_can_be_seated(tmp_path: Path) -> None:
    with web_server(tmp_path, models=("embedded",)) as web:
        offer = next(o for o in web.get("/api/games").json() if o["name"] == "ipd")
        assert "model:embedded" in offer["players"]["partner"]
        refused = web.post("/api/tables", json={"game": "ipd", "others": {"partner": "model:x"}})
        assert refused.status_code == 422


def test_number_of_open_tables_is_limited(tmp_path: Path) -> None:
    with web_server(tmp_path, most_open=2) as web:
        codes = [web.post("/api/tables", json={"game": "ipd"}).status_code for _ in range(3)]
        assert codes == [201, 201, 503]


def test_text_of_people_is_data_and_never_markup(web: Any) -> None:
    guest, invited = sit(web, "toma_ag", "speaker", others={"teammate": "person"})
    evil = "<img/src=x/onerror=alert(1)>"
    said = guest.say(guest.see()["asks"][0]["id"], {"kind": "clue", "text": evil})
    assert said.status_code in (200, 422)
    reply = invited["teammate"].call("GET", "/api/seat")
    assert reply.headers["content-type"] == "application/json"
    login = web.get('/experimenter/login?next="><script>alert(1)</script>')
    assert "<script>alert" not in login.text and "&lt;script&gt;" in login.text


# --- storage ------------------------------------------------------------------------------------


def test_full_disk_is_reported_and_changes_nothing(web: Any) -> None:
    guest, _ = sit(web, "ipd", params={"rounds": 100})
    database, run = web.app.state.database, web.portal.call
    (pages,) = run(database.run, lambda tx: tx.first("PRAGMA page_count"))
    run(database.run, lambda tx: tx.first(f"PRAGMA max_page_count={pages}"))
    for n in range(200):
        screen_before = guest.see()
        said = guest.say(screen_before["asks"][0]["id"], 0, f"k{n}")
        if said.status_code != 200:
            break
        web.app.state.rates._buckets.clear()
    assert said.status_code == 507 and "disk is full" in said.json()["error"]
    moving = {"version": 0, "due": 0}  # the deadline is rounded anew for each reply
    assert {**guest.see(), **moving} == {**screen_before, **moving}
    opened = (web.post("/api/tables", json={"game": "ipd"}).status_code for _ in range(100))
    assert next(code for code in opened if code != 201) == 507
    run(database.run, lambda tx: tx.first("PRAGMA max_page_count=1000000"))
    assert guest.say(screen_before["asks"][0]["id"], 0, f"k{n}").status_code == 200
    assert len(guest.see()["lines"]) == len(screen_before["lines"]) + 1


# --- answers to strangers ------------------------------------------------------------------------


def test_internal_errors_reveal_no_details(web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("a path, a password, a line of code")

    monkeypatch.setattr(web.app.state.lobby, "offers", broken)
    reply = web.get("/api/games")
    assert reply.status_code == 500
    assert reply.json() == {"error": "Internal server error; it has been logged."}
    assert "default-src 'none'" in reply.headers["content-security-policy"]


def test_unknown_token_is_refused(web: Any) -> None:
    assert Guest(web, "x" * 43).call("GET", "/api/seat").status_code == 401
