"""Questions aside come before the move that they belong to, whatever a client sends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sally.web.app import Settings, make_app
from tests.web.client import Client

TABLE = {"game": "ipd", "seat": "agent", "params": {"rounds": 1}}


def test_move_is_asked_after_the_probe_is_answered(tmp_path: Path) -> None:
    settings = Settings(database=str(tmp_path / "database.sqlite"), out=None)
    with Client(make_app(settings)) as client:
        plain = _sight(client, _sit(client, TABLE))
        assert [ask["kind"] for ask in plain["asks"]] == ["move"]
        seat = _sit(client, {**TABLE, "probes": ["their_move", "their_odds"]})
        probes = _sight(client, seat)["asks"]
        assert [ask["kind"] for ask in probes] == ["probe", "probe"]
        _say(client, seat, probes[1], [50, 50])
        assert len(_sight(client, seat)["asks"]) == 1
        _say(client, seat, probes[0], 1)
        (move,) = _sight(client, seat)["asks"]
        assert move["kind"] == "move"
        _say(client, seat, move, 0)
        assert _sight(client, seat)["over"]["how"] == "ended"


def test_move_sent_before_the_probe_answer_is_refused(tmp_path: Path) -> None:
    from sally.web.live.screen import ask_name

    settings = Settings(database=str(tmp_path / "database.sqlite"), out=None)
    with Client(app := make_app(settings)) as client:
        seat = _sit(client, {**TABLE, "probes": ["their_move"]})
        (live,) = app.state.live_matches.in_progress()
        hidden = {"id": ask_name(live.id, (0, "agent", "", ""))}  # nobody is told this name yet
        refused = _post(client, seat, hidden, 0)
        assert refused.status_code == 409
        assert refused.json() == {"error": "Please answer the other question first."}
        (probe,) = _sight(client, seat)["asks"]
        assert probe["kind"] == "probe"


def _sit(client: Client, table: dict[str, Any]) -> dict[str, str]:
    token = client.post("/api/tables", json=table).json()["token"]
    return {"Authorization": f"Bearer {token}"}


def _sight(client: Client, seat: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = client.get("/api/seat", headers=seat).json()
    return fields


def _post(client: Client, seat: dict[str, str], ask: dict[str, Any], value: Any) -> Any:
    body = {"ask": ask["id"], "value": value, "key": f"{ask['id']} {value}"}
    return client.post("/api/seat/answer", headers=seat, json=body)


def _say(client: Client, seat: dict[str, str], ask: dict[str, Any], value: Any) -> None:
    assert _post(client, seat, ask, value).status_code == 200
