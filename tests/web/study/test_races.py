"""Withdrawal against everything that goes on at the same time: nothing comes back afterwards."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace

import pytest

from sally.core.registry import registry
from sally.web.study.export import episodes_and_rows
from sally.web.study.running_study import AlreadyWithdrawn
from tests.web.participants import (
    RIGHT,
    TEXT,
    Participant,
    logged_in,
    on_disk,
    study_server,
    through,
)

TABLES = ("people", "people_steps", "people_tables", "matches", "seats", "answers")


@pytest.fixture
def server(tmp_path):
    with study_server(tmp_path, TEXT) as client:
        yield client


def rows(server) -> dict[str, int]:
    """How many rows each table has."""
    database = server.app.state.database

    async def count() -> dict[str, int]:
        return await database.run(
            lambda tx: {t: tx.first(f"SELECT COUNT(*) FROM {t}")[0] for t in TABLES}
        )

    return server.portal.call(count)


def test_second_tab_restores_no_data_after_withdrawal(server):
    Participant(server).agree("goes")
    two_games, ask = server.app.state.studies["two_games"], server.portal.call
    place = ask(two_games.place, ask(two_games.person_of_platform, "goes"))
    ask(two_games.withdraw, place.person)
    assert ask(two_games.answer, place, place.step, {}) == (False, {})
    at_table = type(place)(place.person, place.condition, "round-0", {})
    assert ask(two_games._seat_or_wait, at_table) is None
    with pytest.raises(AlreadyWithdrawn):
        ask(two_games.place, place.person)
    assert set(rows(server).values()) == {0}


def test_participant_of_older_rules_is_informed_and_can_withdraw(server, tmp_path, monkeypatch):
    through(Participant(server), "played")
    person = Participant(server).agree("goes0away0id").read_on().check(*RIGHT)
    person.answer_all(person.seat_token, limit=1)
    server.app.state.live_matches._by_id.clear()  # as after a restart with another Sally
    older = registry.game
    monkeypatch.setattr(registry, "game", lambda name: replace(older(name), version=99))
    assert person.get().heading == "The game cannot be continued" and "version 99" in person.text
    assert logged_in(server).browser.get("/experimenter").status_code == 200
    person.get("/withdraw").post("/withdraw", token=person.field("token"))
    assert person.heading == "You have withdrawn"
    assert on_disk(tmp_path, "goes0away0id") == [] and rows(server)["matches"] == 2


def test_locked_files_do_not_prevent_withdrawal(server, monkeypatch, caplog):
    def locked(*_, **__):
        raise sqlite3.OperationalError("database is locked")

    person = Participant(server).agree("goes").get("/withdraw")
    monkeypatch.setattr(sqlite3, "connect", locked)
    person.post("/withdraw", token=person.field("token"))
    assert person.heading == "You have withdrawn" and set(rows(server).values()) == {0}
    assert "may still be present in the database files: database is locked" in caplog.text


def test_withdrawal_during_export_is_all_or_nothing(server, monkeypatch):
    for name in ("goes", "stays"):
        through(Participant(server), name)
    two_games = server.app.state.studies["two_games"]
    read, begun = two_games.live_matches.episode, asyncio.Event()

    async def slowly(match):
        begun.set()
        await asyncio.sleep(0.05)
        return await read(match)

    monkeypatch.setattr(two_games.live_matches, "episode", slowly)

    async def both():
        export = asyncio.create_task(episodes_and_rows(two_games))
        await begun.wait()
        await two_games.withdraw(await two_games.person_of_platform("goes"))
        return await export, await episodes_and_rows(two_games)

    (before, people), (after, left) = server.portal.call(both)
    assert (len(before), len(people)) == (4, 2) and (len(after), len(left)) == (2, 1)
    assert {e["episode"] for p in people for e in p["episodes"]} == {e.id for e in before}
