"""The ideal observer of Hanabi: its odds by enumeration of whole decks, and its rows."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.analysis.profile.ideal_scale import ideal_rows, without_pool
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.rules.chance import Stream
from sally.games.hanabi.bots import BOTS
from sally.games.hanabi.ideal import POOL, PoolObserver, is_observable
from sally.games.hanabi.probes import move_name
from sally.games.hanabi.rules import Hanabi
from sally.games.hanabi.state import State
from sally.output.figures.ideal import ideal_figure
from sally.output.page.profile import ideal_section

TINY = Hanabi(colours=2, ranks=2, copies=(2, 1), hand=2, hints=2, lives=2)
ONE_COLOUR = Hanabi(colours=1, ranks=3, hand=2, hints=2, lives=3)


def observe(game: Hanabi, state: State, me: int) -> object:
    view = game.observe(state, game.seats[me])
    return view.hands, tuple(view.past)


@pytest.mark.parametrize("game", [TINY, ONE_COLOUR])
@pytest.mark.parametrize("me", [0, 1])
def test_observer_odds_equal_enumeration_of_decks_and_bots(game: Hanabi, me: int) -> None:
    policies = [BOTS[name](game) for name in POOL]
    decks = Counter(permutations(game.cards))
    asked_count = 0
    for place, policy in enumerate(policies):
        draws = Stream(f"ideal {me} {place}")
        state = game.dealt(tuple(draws.shuffled(game.cards)))
        observer = PoolObserver(game)
        worlds = [
            (start, n, bot)
            for deck, n in decks.items()
            for bot in range(len(POOL))
            if observe(game, start := game.dealt(deck), me) == observe(game, state, me)
        ]
        while not game.is_over(state):
            seat, odds = game.seats[state.mover], Counter[str]()
            triples_after = []
            if state.mover == me:
                action = draws.pick(game.legal(state, me))
                triples_after = [(game.step(s, {seat: action}), w, bot) for s, w, bot in worlds]
            else:
                moves = policy(game.observe(state, seat))
                action = draws.draw(moves)
                for s, w, bot in worlds:
                    for its, p in policies[bot](game.observe(s, seat)).items():
                        odds[move_name(game, state.mover, its)] += w * p
                        triples_after.append((game.step(s, {seat: its}), w * p, bot))
                forecast = observer.forecast(game.observe(state, game.seats[me]))
                assert forecast is not None and sum(forecast.values()) == pytest.approx(1)
                for move, p in forecast.items():
                    assert p == pytest.approx(odds[move] / odds.total())
                asked_count += 1
            state = game.step(state, {seat: action})
            worlds = [
                world
                for world in triples_after
                if observe(game, world[0], me) == observe(game, state, me)
            ]
    assert asked_count > 2 * len(POOL)


def episodes(player: str | tuple[str, dict[str, str]], game: str, deals: int = 3) -> list:
    return [
        sally.play(game, {"ann": player, "bob": partner}, deal=deal, probes={"ann": ["their_move"]})
        for partner in POOL
        for deal in range(deals)
    ]


def test_profile_shows_knowing_of_ideal_but_no_regret() -> None:
    played = episodes(("observer", {"of": "iggi"}), "hanabi_very_small")
    played += episodes("iggi", "hanabi_very_small")
    rows = {row.player.partition(" ")[0]: row for row in ideal_rows(played) if row.seat == "ann"}
    observer, bot = rows["observer"], rows["iggi"]
    assert observer.knowing_of_ideal.value == pytest.approx(1)
    assert bot.knowing_of_ideal.value is not None and bot.knowing_of_ideal.value < 1
    assert bot.ideal_accuracy.value == pytest.approx(observer.ideal_accuracy.value)
    assert bot.earned.value == pytest.approx(observer.earned.value)
    assert bot.adaptive is None and bot.pool_regret.value is None and bot.per == "episode"
    assert "ideal observer" in str(ideal_section([observer, bot]))
    with pytest.raises(BadInput, match="nothing to draw"):
        ideal_figure([observer, bot])


def test_command_and_the_report_show_predictions_only(tmp_path: Path) -> None:
    folder, page = tmp_path / "store", tmp_path / "page.html"
    folder.mkdir()
    with store.Writer(folder) as writer:
        for episode in episodes("iggi", "hanabi_very_small", deals=1):
            writer.add(episode)
    result = CliRunner().invoke(cli, ["profile", str(folder), "--ideal"])
    assert result.exit_code == 0, result.output
    assert "Only predictions are compared" in result.output and "of ideal" in result.output
    reported = CliRunner().invoke(cli, ["report", str(folder), "--out", str(page)])
    assert reported.exit_code == 0 and "Players beside an ideal mind" in page.read_text()


def test_only_probed_small_games_with_pool_partner_have_ideal_rows() -> None:
    assert not is_observable(Hanabi()) and not is_observable(Hanabi(players=3, colours=1, hand=2))
    asked_probes = {"ann": ["their_move"]}
    lineup = {"ann": "iggi", "bob": "iggi"}
    assert not ideal_rows([sally.play("hanabi_very_small", lineup, deal=1)])
    outside = {"ann": "iggi", "bob": "play_oldest"}
    assert not ideal_rows([sally.play("hanabi_very_small", outside, deal=1, probes=asked_probes)])
    large = sally.play("hanabi", {"ann": "simple", "bob": "simple"}, deal=1, probes=asked_probes)
    assert not ideal_rows([large])
    (reason,) = without_pool(["hanabi"])
    assert "hanabi_mini" in reason
    with pytest.raises(BadInput, match="ideal observer"):
        sally.play("hanabi", {"ann": "observer", "bob": "simple"}, deal=1, probes=asked_probes)


def test_observer_plays_on_with_partner_outside_the_pool() -> None:
    episode = sally.play(
        "hanabi_mini",
        {"ann": "observer", "bob": "play_oldest"},
        deal=2,
        probes={"ann": ["their_move"]},
    )
    assert episode.payoffs is not None
