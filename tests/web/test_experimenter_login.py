"""The experimenter's pages open only with the secret."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Mount, Route

from sally.web import security
from tests.web.guests import web_server

SECRET = "the secret of this test"


@pytest.fixture
def web(tmp_path: Path) -> Any:
    with web_server(tmp_path, secret=SECRET) as client:
        yield client


def logged_in(web: Any, **form: str) -> Any:
    return web.post("/experimenter/login", data={"secret": SECRET, **form}, follow_redirects=False)


def test_login_with_the_secret_sets_a_restricted_cookie(web: Any) -> None:
    reply = logged_in(web, next="/experimenter/studies")
    assert reply.status_code == 303 and reply.headers["location"] == "/experimenter/studies"
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Max-Age" in cookie
    assert SECRET not in cookie


@pytest.mark.parametrize(
    "onward", ["//evil.example", "https://evil.example", "/\\evil.example", ""]
)
def test_login_redirects_only_within_the_site(onward: str, web: Any) -> None:
    assert logged_in(web, next=onward).headers["location"] == "/experimenter"


def test_cookie_is_secure_over_https(tmp_path: Path) -> None:
    with web_server(tmp_path, secret=SECRET, secure=True) as web:
        assert "Secure" in logged_in(web).headers["set-cookie"]


def test_wrong_secrets_are_rate_limited(web: Any) -> None:
    codes = [logged_in(web, secret=str(n)).status_code for n in range(7)]
    assert codes == [403] * 5 + [429] * 2
    assert logged_in(web).status_code == 429  # even the right one has to wait


def test_successful_logins_are_not_rate_limited(web: Any) -> None:
    assert [logged_in(web).status_code for _ in range(12)] == [303] * 12
    assert logged_in(web, secret="wrong").status_code == 403


def test_experimenter_pages_require_login(web: Any) -> None:
    closed = 0
    for route in web.app.routes:
        if isinstance(route, Mount) or not isinstance(route, Route):
            continue
        if not route.path.startswith(("/experimenter", "/explorer")) or "login" in route.path:
            continue
        path = re.sub(r"\{[^}]*\}", "x", route.path)
        for method in route.methods or ():
            if method == "HEAD":
                continue
            form = {"data": {"x": "y"}} if method == "POST" else {}
            reply = web.request(method, path, follow_redirects=False, **form)
            assert reply.status_code in (303, 401), (method, path, reply.status_code)
            closed += 1
    assert closed


def test_form_needs_the_token_of_its_session(web: Any) -> None:
    logged_in(web)
    assert web.post("/experimenter/logout", data={"x": "y"}).status_code == 403
    assert web.post("/experimenter/logout", data={"form_token": "x"}).status_code == 403
    (token, _), *_ = web.app.state.login._sessions.values()
    out = web.post("/experimenter/logout", data={"form_token": token}, follow_redirects=False)
    assert out.status_code == 303
    repeated_response = web.post(
        "/experimenter/logout", data={"form_token": token}, follow_redirects=False
    )
    assert repeated_response.status_code == 401


def test_session_expires(web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    logged_in(web)
    later = security.time.time() + security.SESSION_SECONDS + 1
    monkeypatch.setattr(security.time, "time", lambda: later)
    assert web.post("/experimenter/logout", data={}).status_code == 401


def test_secret_is_generated_at_every_start(tmp_path: Path) -> None:
    results = []
    for n in range(2):
        with web_server(tmp_path / str(n)) as web:
            results.append(web.app.state.login._secret)
    assert len(set(results)) == 2 and all(len(secret) >= 32 for secret in results)


def test_browser_gets_a_page_and_a_program_json_for_the_same_refusal(web: Any) -> None:
    for_program = web.get("/nowhere")
    for_browser = web.get("/nowhere", headers={"accept": "text/html,*/*;q=0.8"})
    assert for_program.status_code == for_browser.status_code == 404
    sentence = for_program.json()["error"]
    assert for_browser.headers["content-type"].startswith("text/html")
    assert "<h1>That did not work</h1>" in for_browser.text and sentence in for_browser.text
