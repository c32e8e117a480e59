"""How moves follow a stated forecast: players of known kind, and what an informant's page shows."""

from __future__ import annotations

import msgspec
import pytest

import sally
from benchmarks import told_players
from sally.analysis.pairs.positions import page_of
from sally.analysis.pairs.told import told_slopes
from sally.core.errors import BadInput
from sally.core.log.events import (
    Episode,
    Injection,
    Moved,
    PlayerSpec,
    Reported,
    Setup,
    Told,
)
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.registry import packs, registry
from sally.runner import local
from sally.runner.seating import resolve_setup, seat_player
from sally.studies.causal_acting import AGENT, PARTNER, PROBE, STUDY, cells
from tests.analysis.profiles import profiled

POSITIONS = 48


@pytest.fixture(scope="module")
def rows() -> dict[str, list[told_players.Row]]:
    table: dict[str, list[told_players.Row]] = {}
    for row in told_players.measure_players(POSITIONS):
        table.setdefault(row.player, []).append(row)
    return table


def test_slopes_of_graded_players_are_those_they_were_made_with(
    rows: dict[str, list[told_players.Row]],
) -> None:
    missed = [miss for group in rows.values() for row in group for miss in row.misses]
    assert len(missed) == 2 * 4 * len(told_players.PLAYERS)
    assert sum(missed) <= told_players.MOST_MARKED * len(missed)
    assert not [row.player for group in rows.values() for row in group if row.is_wrong]


def test_measures_tell_the_kinds_of_players_apart(
    rows: dict[str, list[told_players.Row]],
) -> None:
    def found(name: str, reliability: float, arm: str = "told") -> told_players.ToldSlope:
        (row,) = (
            row
            for row in rows[name]
            if (row.slope.arm, row.slope.reliability) == (arm, reliability)
        )
        return row.slope

    ideal = {r: found("ideal", r) for r in (0.2, 0.5, 0.8)}
    assert [slope.ideal for slope in ideal.values()] == [-1, 0, 1]
    assert ideal[0.2].slope.high < 0 < ideal[0.8].slope.low
    assert abs(ideal[0.5].slope.value) < 0.2  # two of six kinds of positions are drawn
    parrot = found("repeats the label", 0.8)
    assert (parrot.slope.value, parrot.repeats.value) == (0, 1)
    assert (parrot.same_label.value, parrot.other_label.value) == (1, -1)
    assert found("repeats the label", 0.8, "irrelevant").repeats.value == 1
    follower = found("follower 1", 0.8)
    assert (follower.same_label.value, follower.other_label.value) == (1, 1)
    assert follower.repeats.value == 0
    seen = found("sees the pick", 0.8)
    assert (seen.if_true.value, seen.if_false.value) == (1, -1)
    for arm in ("told", "irrelevant"):
        assert found("reports only", 0.8, arm).slope.value == 0
    assert found("reports only", 0.8).forecast.value == 1


def test_differences_are_those_of_the_same_positions() -> None:
    result = told_slopes(told_players._as_one(told_players.play("follower 1", 12)))
    contrasts = {(d.reliability, d.base_arm, d.base_reliability): d for d in result.differences}
    assert set(contrasts) == {(0.8, "irrelevant", 0.8), (0.8, "told", 0.2)}
    assert contrasts[0.8, "told", 0.2].slope.value == 0
    irrelevant = next(slope for slope in result.slopes if slope.arm == "irrelevant")
    difference = contrasts[0.8, "irrelevant", 0.8]
    assert difference.slope.value == pytest.approx(1 - irrelevant.slope.value)
    assert difference.positions == 12


def test_an_arm_that_cannot_be_read_has_no_slope() -> None:
    episodes = told_players.play("follower 1", 6)
    lost = [
        msgspec.structs.replace(
            episode,
            events=[
                sally.core.log.events.Forfeited(event.turn, event.seat, "unreadable")
                if isinstance(event, Moved) and event.seat == AGENT
                else event
                for event in episode.events
            ],
        )
        for episode in episodes
    ]
    for slope in told_slopes(told_players._as_one(lost)).slopes:
        assert slope.slope is None and slope.unreadable_moves == slope.moves > 0
        assert slope.forecast is not None


def test_twin_is_an_arm_of_the_same_player_and_found_by_the_profile() -> None:
    """In stored episodes the words pack has a name with the hash of its text."""
    model = PlayerSpec("language", {"model": "scripted", "strategy": "lm"})
    episodes = [_scripted(setup) for cell in cells([model], 6) for _, setup in _trials(cell)]
    stored = {str(episode.setup.lineup[AGENT].params.get("pack", "")) for episode in episodes}
    assert any(name.startswith("repeated_games_twin@") for name in stored)
    slopes = told_slopes(episodes).slopes
    assert len({slope.player for slope in slopes}) == 1
    assert [(slope.arm, slope.reliability) for slope in slopes] == [
        ("told", 0.2), ("told", 0.5), ("told", 0.8), ("irrelevant", 0.8), ("twin", 0.8),
    ]  # fmt: skip
    assert any("twin" in row.arms for row in profiled(episodes, AGENT))


def _scripted(setup: Setup) -> Episode:
    """Return an episode in the name of a model whose moves are always the first option."""
    player = setup.lineup[AGENT]
    if pack := player.params.get("pack"):
        reference = packs.remember(packs.find(pack))
        player = msgspec.structs.replace(player, params={**player.params, "pack": reference})
        lineup = {**setup.lineup, AGENT: player}
        setup = msgspec.structs.replace(setup, lineup=lineup)
    match = Match(registry.game("repeated_games"), setup)
    bots = {AGENT: PlayerSpec("single_action", {"action": 0}), PARTNER: setup.lineup[PARTNER]}
    seats = {seat: seat_player(match.spec, match.game, seat, bot) for seat, bot in bots.items()}
    Driver(match, seats).run()
    return match.episode()


def test_without_an_informant_there_is_one_clear_sentence() -> None:
    lineup = {"agent": "random", "partner": "tit_for_tat"}
    with pytest.raises(BadInput, match="sally run causal_acting --model MODEL"):
        sally.told([sally.play("ipd", lineup, 1, rounds=2)])


# --- the study ------------------------------------------------------------------------------------


def test_statements_of_a_position_differ_and_are_true_as_often_as_stated() -> None:
    true = {}
    for cell in cells([PlayerSpec("random")], 96):
        told: dict[str, list[Told]] = {}
        for setup in (setup for _, setup in _trials(cell)):
            episode = local.play(setup, cell.name)
            (statement,) = (event for event in episode.events if isinstance(event, Told))
            told.setdefault(setup.instance.id, []).append(statement)
            (move,) = (e for e in episode.events if isinstance(e, Moved) and e.seat == PARTNER)
            true.setdefault(statement.reliability, []).append(statement.value == move.action)
        assert all({event.value for event in pair} == {0, 1} for pair in told.values())
    for reliability, right in true.items():
        assert abs(sum(right) / len(right) - reliability) < 0.12


def _trials(cell):
    return msgspec.structs.replace(STUDY, cells=(cell,)).trials()


def test_pages_of_a_position_differ_in_the_statement_only() -> None:
    pages = {}
    for cell in STUDY.cells[:4]:
        pages[cell.name] = [_pages(cell, number) for number in (0, 1)]
        first, second = pages[cell.name]
        for question in ("", PROBE):
            changed = [
                (a, b)
                for a, b in zip(
                    first[question].splitlines(), second[question].splitlines(), strict=True
                )
                if a != b
            ]
            assert (
                len(changed) == 1 and "An informant whose statements are right in" in changed[0][0]
            )
    irrelevant = pages["irrelevant, right in 8 of 10"][0][""]
    assert "a game between other people, which has nothing to do with yours" in irrelevant
    assert "right in 2 of 10 cases" in pages["told, right in 2 of 10"][0][""]


def _pages(cell, action: int) -> dict[str, str]:
    """Return the pages of the agent, by the name of the probe; "" is the move."""
    lineup = {AGENT: PlayerSpec("random"), PARTNER: PlayerSpec("single_action", {"action": action})}
    setup = Setup(cell.instances[0], 1, lineup, arms=cell.arms, injections=cell.injections)
    match = Match(registry.game("repeated_games"), resolve_setup(setup))
    assert [turn.seat for turn in match.asks()] == [PARTNER]  # an informant waits for the pick
    match.answer(match.asks()[0].id, action)
    assert all(turn.told for turn in match.asks())
    return {turn.id[2]: page_of(turn) for turn in match.asks()}


def test_an_informant_speaks_before_the_probe_in_the_log() -> None:
    (_, setup), *_ = _trials(cells([PlayerSpec("random")], 1)[0])
    kinds = [type(event) for event in local.play(setup, "").events if event.seat == AGENT]
    assert kinds == [Told, Reported, Moved]


@pytest.mark.parametrize(
    ("injections", "sentence"),
    [
        (
            (
                Injection(AGENT, PROBE, "informant", error=0.2),
                Injection(AGENT, PROBE, "own"),
            ),
            "agent has an informant, and can then be told nothing else",
        ),
        (
            (Injection(AGENT, "their_move_given_mine", "informant"),),
            "only if it is asked before the move, not at the point 'after'",
        ),
        (
            (Injection(AGENT, PROBE, "informant"), Injection(PARTNER, PROBE, "informant")),
            "cannot both be told the truth",
        ),
    ],
)
def test_setups_in_which_an_informant_cannot_speak_are_refused(
    injections: tuple[Injection, ...], sentence: str
) -> None:
    cell = cells([PlayerSpec("random")], 1)[0]
    setup = Setup(cell.instances[0], 1, cell.lineups[0], arms=cell.arms, injections=injections)
    with pytest.raises(BadInput, match=sentence):
        local.play(resolve_setup(setup), "")


def test_what_an_informant_says_is_not_kept() -> None:
    with pytest.raises(ValueError, match="leave keep out"):
        Injection(AGENT, PROBE, "informant", keep=True)
