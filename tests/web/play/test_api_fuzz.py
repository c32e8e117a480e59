"""Whatever is sent: never a 500, never a change that was not acknowledged."""

from __future__ import annotations

import copy
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sally.web.rehearsal import value_for
from sally.web.security import RateLimiter
from tests.fixtures.any_text import any_text
from tests.web.guests import Guest, Json, sit, web_server

FORMS = ("haggle", "mindgames", "toma_ag", "toma_sw", "tradecraft", "cups", "ipd")
POSTS = (
    "/api/tables",
    "/api/lobby",
    "/api/seat/take",
    "/api/seat/answer",
    "/api/seat/check",
    "/api/seat/look",
    "/api/seat/leave",
    "/experimenter/login",
    "/experimenter/logout",
)
NAMES = (
    *("game", "seat", "others", "params", "probes"),
    *("ask", "value", "key", "tool", "arguments", "token"),
)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text(max_size=20)
    | st.sampled_from(["ipd", "agent", "person", "kind", "say", "\x00", "\U0001f600", "1/0", "0"])
)
plain = st.recursive(
    leaves,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(any_text(max_size=8), inside),
    max_leaves=12,
)
calm = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with web_server(tmp_path_factory.mktemp("fuzz"), most_open=10**6) as client:
        client.app.state.rates = RateLimiter(1e9, 1e9)
        yield client


def observe(guest: Guest) -> Json:
    """What a guest sees, but for the version and for what it was just refused."""
    screen = guest.see()
    return {**screen, "version": 0, "asks": [{**ask, "refused": None} for ask in screen["asks"]]}


# --- anything at all ----------------------------------------------------------------------------


@calm
@given(path=st.sampled_from(POSTS), body=st.binary(max_size=200), kind=st.booleans())
def test_arbitrary_bytes_are_refused_with_a_client_error(
    path: str, body: bytes, kind: bool, web: Any
) -> None:
    web.app.state.login.tries = RateLimiter(1e9, 1e9)
    content = "application/json" if kind else "application/x-www-form-urlencoded"
    headers = {"Content-Type": content, "Authorization": "Bearer x"}
    reply = web.post(path, content=body, headers=headers)
    assert 400 <= reply.status_code < 500
    if path.startswith("/api"):
        assert reply.json()["error"]


@calm
@given(path=st.sampled_from(POSTS[:6]), sent=st.dictionaries(st.sampled_from(NAMES), plain))
def test_arbitrary_object_is_accepted_or_refused(path: str, sent: Json, web: Any) -> None:
    guest, _ = sit(web, "ipd", params={"rounds": 2})
    json_before = observe(guest)
    reply = guest.call("POST", path, sent)
    assert reply.status_code < 500, reply.text
    if reply.status_code >= 400:
        assert observe(guest) == json_before


@calm
@given(
    query=st.dictionaries(st.sampled_from(["since", "lines", "wait", "x"]), any_text(max_size=12))
)
def test_arbitrary_query_is_accepted_or_refused(query: dict[str, str], web: Any) -> None:
    guest, _ = sit(web, "ipd", params={"rounds": 2})
    query.pop("since", None) if query.get("since", "").isdigit() else None  # that one waits
    headers = {"Authorization": f"Bearer {guest.token}"}
    assert web.get("/api/seat", params=query, headers=headers).status_code in (200, 400)


@pytest.mark.parametrize(
    "number", ["1e999", "-1e999", "NaN", "Infinity", "9" * 400, "1e-999", "0.1e1", "-0", "01", "1."]
)
def test_extreme_numbers_are_accepted_or_refused_without_side_effects(
    number: str, web: Any
) -> None:
    guest, _ = sit(web, "rps", probes=["their_odds"], params={"rounds": 2})
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {guest.token}"}
    for ask in guest.see()["asks"]:
        for value in (number, f"[{number},50,50]", f'{{"kind":"x","n":{number}}}'):
            body = f'{{"ask":"{ask["id"]}","key":"k","value":{value}}}'.encode()
            json_before = observe(guest)
            reply = web.post("/api/seat/answer", content=body, headers=headers)
            assert reply.status_code in (200, 400, 409, 422), reply.text
            if reply.status_code != 200:
                assert observe(guest) == json_before


# --- forms, one leaf wrong ----------------------------------------------------------------------


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(value, dict | list):
        return [path]
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(p for key, v in inside for p in places(v, (*path, key)))]


def replace(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    changed = copy.deepcopy(value)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = by
    return changed


@pytest.mark.parametrize("game", FORMS)
@settings(calm, max_examples=15)
@given(seed=st.integers(0, 10**6), wrong=plain)
def test_form_with_a_wrong_field_is_accepted_or_refused(
    game: str, seed: int, wrong: Any, web: Any
) -> None:
    draw = random.Random(seed)
    guest, _ = sit(web, game)
    ask = guest.see()["asks"][0]
    value = value_for(ask, draw)
    json_before = observe(guest)
    reply = guest.say(ask["id"], replace(value, draw.choice(places(value)), wrong))
    assert reply.status_code in (200, 400, 422), reply.text
    assert (observe(guest) == json_before) == (reply.status_code != 200)


# --- two people, any order ----------------------------------------------------------------------


class TwoAtATable(RuleBasedStateMachine):
    """Moves, replays, junk and restarts in any order, against a count kept beside."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self._server = web_server(Path(self.folder.name))
        self.web = self._server.__enter__()
        self.web.app.state.rates = RateLimiter(1e9, 1e9)
        self.said: dict[int, list[tuple[str, int, str]]] = {0: [], 1: []}
        self.left = False

    def teardown(self) -> None:
        self._server.__exit__(None, None, None)
        self.folder.cleanup()

    @initialize()
    def sit_down(self) -> None:
        first, invited = sit(self.web, "rps", others={"partner": "person"}, params={"rounds": 4})
        self.guests = (first, invited["partner"])

    def lines(self) -> int:
        return min(len(self.said[0]), len(self.said[1]))

    @property
    def over(self) -> bool:
        return self.left or self.lines() == 4

    @rule(who=st.integers(0, 1), value=st.integers(0, 2), key=st.integers())
    def move(self, who: int, value: int, key: int) -> None:
        asks = self.guests[who].see()["asks"]
        to_move = len(self.said[who]) == self.lines() and not self.over
        assert bool(asks) == to_move
        if asks:
            name = f"{key}-{len(self.said[who])}"
            assert self.guests[who].say(asks[0]["id"], value, name).status_code == 200
            self.said[who].append((asks[0]["id"], value, name))

    @rule(who=st.integers(0, 1), which=st.integers(0, 3), same=st.booleans())
    def say_again(self, who: int, which: int, same: bool) -> None:
        if which < len(self.said[who]):
            ask, value, key = self.said[who][which]
            second_result = self.guests[who].say(ask, (value + 1) % 3, key if same else "another")
            assert second_result.status_code == (200 if same else 409)

    @rule(who=st.integers(0, 1), value=plain)
    def say_for_the_other(self, who: int, value: Any) -> None:
        for ask in self.guests[1 - who].see()["asks"]:
            assert self.guests[who].say(ask["id"], value).status_code in (400, 409)

    @rule(who=st.integers(0, 1), value=plain.filter(lambda v: type(v) is not int))
    def say_nonsense(self, who: int, value: Any) -> None:
        for ask in self.guests[who].see()["asks"]:
            assert self.guests[who].say(ask["id"], value).status_code in (400, 422)

    @rule()
    def restart(self) -> None:
        self._server.__exit__(None, None, None)
        self._server = web_server(Path(self.folder.name))
        web = self._server.__enter__()
        web.app.state.rates = RateLimiter(1e9, 1e9)
        self.web = self.guests[0].web = self.guests[1].web = web

    @precondition(lambda self: sum(map(len, self.said.values())) > 4)
    @rule(who=st.integers(0, 1))
    def leave(self, who: int) -> None:
        assert self.guests[who].call("POST", "/api/seat/leave", {"key": "x"}).status_code == 200
        self.left = self.left or not self.over

    @invariant()
    def both_see_what_was_played(self) -> None:
        for seat_number, guest in enumerate(getattr(self, "guests", ())):
            screen = guest.see()
            assert len(screen["lines"]) == self.lines()
            assert (screen["over"] is not None) == self.over
            own_values = [value for _, value, _ in self.said[seat_number]][: self.lines()]
            names = [f"you picked {'RPS'[value]}" for value in own_values]
            assert all(name in line for name, line in zip(names, screen["lines"], strict=True))


def test_two_players_can_act_in_any_order() -> None:
    # A failure is not made smaller: that takes minutes, and twenty steps can be read.
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    how = settings(max_examples=10, stateful_step_count=20, deadline=None, phases=phases)
    run_state_machine_as_test(TwoAtATable, settings=how)


def test_responses_are_valid_json(web: Any) -> None:
    """The answers are JSON that any reader takes: no NaN, no lone surrogate."""
    guest, _ = sit(web, "tradecraft")
    raw = guest.call("GET", "/api/seat").content
    assert msgspec.json.decode(raw)["seat"] == "p1" and b"NaN" not in raw
