"""Places in line: who is called, when, and what is left of those who went."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec, Setup
from sally.core.match.engine import Match
from sally.core.registry import registry
from sally.web.play.lobby import Lobby, fresh_instance
from tests.web.live_matches import live_matches


def test_visitor_who_completes_a_table_is_seated_immediately(tmp_path: Path) -> None:
    """After a restart the last to come back makes the pair, and must not wait for a next one."""

    async def come_back() -> list[tuple[bool, int, int]]:
        async with live_matches(tmp_path) as live:
            lobby_before, lobby_after = Lobby(live), Lobby(live)  # the second has seen nobody
            tickets = [await lobby_before.wait("rps")]
            lobby_before._seen.clear()
            tickets.append(await lobby_before.wait("rps"))
            async with asyncio.timeout(50):
                return list(
                    await asyncio.gather(*(lobby_after.queue_status(t, 60) for t in tickets))
                )

    assert asyncio.run(come_back()) == [(True, 2, 2), (True, 2, 2)]


def test_stale_tickets_are_removed_from_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sally.web.play.lobby.STALE", 0.0)  # everybody goes at once
    monkeypatch.setattr("sally.web.play.lobby.KEPT", 0.0)

    async def come_and_go() -> tuple[int, Any]:
        async with live_matches(tmp_path) as live:
            lobby = Lobby(live)
            for _ in range(5):
                await lobby.wait("rps")
            kept = await live.database.run(lambda tx: tx.first("SELECT COUNT(*) FROM tickets"))
            return len(lobby._seen), kept

    assert asyncio.run(come_and_go()) == (0, (1,))


def test_leaving_the_queue_ends_a_pending_poll(tmp_path: Path) -> None:
    async def go() -> list[Any]:
        async with live_matches(tmp_path) as live:
            lobby = Lobby(live)
            ticket = await lobby.wait("rps")
            waits = asyncio.create_task(lobby.queue_status(ticket, 600))
            await asyncio.sleep(0.1)
            async with asyncio.timeout(60):
                responses = [await lobby.leave(ticket), await lobby.leave(ticket), await waits]
            return [*responses, list(lobby._seen)]

    assert asyncio.run(go()) == [True, False, (False, 0, 2), []]


def test_visitor_plays_the_chosen_problem(tmp_path: Path) -> None:
    async def sit(problem: str) -> Any:
        async with live_matches(tmp_path) as match_host:
            params = {"max_turns": 2}
            opened = await Lobby(match_host).open("tradecraft", "", {}, params, problem=problem)
            setup = await match_host.act_on(
                opened.tokens["p1"], lambda live, seat: asyncio.sleep(0, live)
            )
            return setup.match.setup

    setup = asyncio.run(sit("alchemy-3p-01"))
    assert list(setup.lineup) == ["p1", "p2", "p3"]
    assert setup.instance.id == "alchemy-3p-01"
    assert setup.instance.params["ruleset"] == "alchemy"
    assert setup.instance.params["max_turns"] == 2
    with pytest.raises(BadInput, match="problem of tradecraft"):
        asyncio.run(sit("alchemy-3p-99"))


def test_visitor_sets_the_number_of_players_and_defaults_fill_seats(
    tmp_path: Path,
) -> None:
    async def sit(others: dict[str, str]) -> Any:
        async with live_matches(tmp_path) as match_host:
            opened = await Lobby(match_host).open("hanabi_mini", "bob", others, {"players": 4})
            live = await match_host.act_on(
                opened.tokens["bob"], lambda live, seat: asyncio.sleep(0, live)
            )
            return live.match.setup.lineup

    lineup = asyncio.run(sit({"dan": "iggi"}))
    seated = {seat: player_spec.player for seat, player_spec in lineup.items()}
    assert seated == {"ann": "smart", "bob": "person", "cat": "smart", "dan": "iggi"}
    with pytest.raises(BadInput, match="seat of hanabi_mini"):
        asyncio.run(sit({"eve": "iggi"}))


# Games without a hidden key: everything that decides the result is public or is the others' choice.
NOTHING_HIDDEN = {"level_k", "public_goods", "repeated_games"}


@pytest.mark.parametrize("game", sorted(registry.games()))
def test_every_table_draws_a_new_problem(game: str) -> None:
    spec = registry.game(game)
    if (spec.family or spec.name) in NOTHING_HIDDEN:
        pytest.skip("there is nothing to look up")
    tables = set()
    for seed in range(6):
        instance = fresh_instance(game, {})
        seats = spec.build(instance.params).seats
        lineup = {seat: PlayerSpec("random") for seat in seats}
        setup = Setup(instance, seed, lineup, version=spec.version)
        tables.add(repr((sorted(instance.params.items()), Match(spec, setup).state)))
    assert len(tables) > 1


def test_new_problem_keeps_the_visitors_parameters() -> None:
    for level in (1, 2):
        scenarios = {
            fresh_instance("toma_po", {"level": level}).params["scenario"] for _ in range(6)
        }
        assert len(scenarios) > 1 and all(f"-L{level}-" in id for id in scenarios)
    assert fresh_instance("codenames", {"number": 7}).params["number"] == 7
    assert fresh_instance("rps", {"rounds": 4}).params["rounds"] == 4
    assert fresh_instance("ipd", {"rounds": 4}).params == {"rounds": 4}
