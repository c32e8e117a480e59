"""riemer2025 as a study: a cell for every published figure, played as the protocol says."""

from __future__ import annotations

import pytest

from sally.analysis.compare import published_figures as reference
from sally.core.log.events import Censored, Episode, Setup, episode_id
from sally.core.match.playback import replay_episode
from sally.core.registry import registry
from sally.core.registry.study import Study
from sally.core.rules.metric import Played
from sally.papers.riemer2025.study import EPISODES, STUDY, TABLES, conditions, study
from sally.papers.riemer2025.tables import facts
from sally.runner.local import play
from sally.runner.models import with_model
from sally.runner.seating import resolve_setup
from tests.conversations import said
from tests.strategies.talk import Listener


@pytest.fixture
def filled() -> Study:
    names = ("J", "F")
    model = Listener(lambda page, call: said(page, names))
    registry.add("models", "listener", lambda name: model)
    return with_model(STUDY, "listener", {"temperature": 0.5})


def setups(of: Study) -> list[tuple[str, Setup]]:
    first: dict[str, Setup] = {}
    for cell, setup in of.trials():
        first.setdefault(cell, setup)
    return list(first.items())


def test_every_cell_can_be_played(filled: Study) -> None:
    for _, setup in setups(filled):
        resolve_setup(setup)


def test_every_published_value_has_a_matching_cell(filled: Study) -> None:
    """The report's own reading of an episode must give the conditions of the figure back."""
    known_rows = []
    for _, setup in setups(filled):
        full_setup = resolve_setup(setup)
        episode = Episode(episode_id(full_setup), full_setup, [Censored(0, "limit")])
        spec = registry.game(full_setup.instance.game)
        row = facts(Played(spec, episode, replay_episode(spec, episode)))
        assert row is not None
        known_rows.append({k: v for k, v in row.items() if k != "model"})
    for table in TABLES:
        for figure in reference.load("riemer2025").tables[table].rows:
            expected = {k: v for k, v in figure.row.items() if k != "model"}
            assert any(expected.items() <= row.items() for row in known_rows), (table, expected)


def test_cell_has_thirty_episodes_spread_evenly_over_partners() -> None:
    for cell in STUDY.cells:
        assert cell.repeats * len(cell.lineups) == EPISODES
        partners = [lineup["partner"] for lineup in cell.lineups]
        if partners[0].player == "single_action":
            moves = 3 if cell.instances[0].game == "rps" else 2
            assert [p.params["action"] for p in partners] == list(range(moves))
        else:
            opening = 1 if cell.instances[0].game == "rps" else 0
            assert [p.params for p in partners] == [{"first": opening}]


def test_probes_and_injections_follow_the_protocol() -> None:
    for cell in STUDY.cells:
        agent = cell.lineups[0]["agent"]
        strategy = agent.params.get("strategy", agent.player)
        probes = [i.probe for i in cell.injections if i.source == "truth" and not i.error]
        if strategy in ("oracle", "oracle_max"):
            assert (probes, cell.arms) == (["their_move"], {})
        elif strategy in ("social_qa", "social_lm"):
            assert (probes, cell.arms) == ([], {})  # its prediction is in the decision
        else:
            asked_text = "their_move" if strategy == "tabular" else "their_move_given_mine"
            assert (probes, cell.arms) == ([], {"agent": (asked_text,)})


def test_action_names_follow_the_tables() -> None:
    def named(table: str, game: str) -> set[str]:
        rows = [r for r in conditions(table) if r["game"] == game and r["player"] == "language"]
        return {str(r["names"]) for r in rows}

    assert named("1", "rps") == named("2", "rps") == {"R P S"}
    assert named("3", "rps") == named("10", "rps") == {"J F B"}
    assert named("4", "rps") == {"Rock Paper Scissors"} and named("4", "ibs") == {"Fight Ballet"}
    assert {r["memory"] for r in conditions("10") if r.get("strategy") == "reflexion"} == {1, 3}


def test_single_table_can_be_run() -> None:
    assert {cell.name.partition(":")[0] for cell in study(("9",)).cells} == {"table 9"}


def test_cells_shared_by_tables_have_the_same_episode_id(filled: Study) -> None:
    by_name = dict(setups(filled))
    three, nine = (by_name[f"table {t}: ibs, single_action, qa, names J F"] for t in ("3", "9"))
    assert episode_id(resolve_setup(three)) == episode_id(resolve_setup(nine))


def test_whole_episode_of_a_cell_is_played(filled: Study) -> None:
    by_name = dict(setups(filled))
    setup = by_name["table 3: ipd, single_action, oracle_max, history off, payoffs on, names J F"]
    episode = play(resolve_setup(setup))
    assert episode.payoffs is not None and episode.end.turn == 100


def test_quickstart_has_a_learner_and_quickstart_model_open_seats() -> None:
    quick, models = (registry.entries("studies")[n] for n in ("quickstart", "quickstart_model"))
    sitting = {w.player for c in quick.cells for x in c.lineups for w in x.values()}
    assert {"tabular", "random", "constant"} <= sitting
    assert len(list(models.trials())) == 3 * 2 * 2  # games, strategies, partners: one each
    assert {c.repeats for c in models.cells} == {1}
