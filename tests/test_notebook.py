"""The laboratory in a notebook: every test executes a cell of a real kernel, whose loop runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import notebooks
from tests.kernel import CellFailed, Kernel, kernel

FIRST_CELL = '''
import asyncio
import sally


class Mine:
    """A model that always names the first option."""

    name = "mine"

    async def complete(self, messages, settings=None, tools=()):
        await asyncio.sleep(0)
        return sally.Reply("Option: R")


def paper(turn):
    return turn.choose("paper")


mine = ("language", {"model": Mine()})
against = {"partner": "tit_for_tat"}
'''


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel(tmp_path_factory.mktemp("notebook")) as running:
        running.outputs(FIRST_CELL)
        yield running


def test_event_loop_of_the_kernel_is_running(cells: Kernel) -> None:
    assert cells.shown("asyncio.get_running_loop().is_running()") == "True"


def test_model_object_plays(cells: Kernel) -> None:
    page_text = cells.shown('sally.play("rps", {"agent": mine, **against}, rounds=2)')
    assert "agent = own:mine qa, partner = tit_for_tat; agent -2, partner 2" in page_text


def test_awaited_play_gives_the_same_episode(cells: Kernel) -> None:
    cell = """
    lineup = {"agent": mine, **against}
    two = await asyncio.gather(*(sally.aplay("rps", lineup, seed, rounds=2) for seed in (1, 2)))
    two == [sally.play("rps", lineup, seed, rounds=2) for seed in (1, 2)]
    """
    assert cells.shown(cell) == "True"


def test_concurrent_runs_keep_their_own_objects(cells: Kernel) -> None:
    """Both functions have the same name while both studies are in progress."""
    cell = """
    from sally.core.registry.study import instance

    def study_of(action):
        def same_name(turn):
            return action
        lineup = {"agent": same_name, "partner": "random"}
        return sally.Study(f"always_{action}", "", (
            sally.Cell("all", (instance("rps", rounds=3),), [lineup], repeats=40),))

    both = await asyncio.gather(*(sally.arun(study_of(action)) for action in (0, 1)))
    [{event.action for episode in episodes for event in episode.events if event.seat == "agent"}
     for episodes in both]
    """
    assert cells.shown(cell) == "[{0}, {1}]"


def test_registered_model_plays_by_name(cells: Kernel) -> None:
    cells.outputs('sally.register(Mine(), "registered")')
    lineup = '{"agent": ("language", {"model": "registered"}), **against}'
    assert "registered qa" in cells.shown(f'sally.play("rps", {lineup}, rounds=1)')


def test_asynchronous_function_plays(cells: Kernel) -> None:
    cell = """
    async def slow_paper(turn):
        await asyncio.sleep(0)
        return turn.choose("paper")

    sally.play("rps", {"agent": slow_paper, **against}, rounds=2)
    """
    assert "own:slow_paper" in cells.shown(cell)


def test_names_of_moves(cells: Kernel) -> None:
    cell = """
    names = []

    def look(turn):
        names.append(turn.names)
        return turn.choose("Rock")

    words = {"names": ("rock", "paper", "scissors"), "rounds": 1}
    (sally.play("rps", {"agent": look, **against}, **words), names)[1]
    """
    assert cells.shown(cell) == "[('rock', 'paper', 'scissors')]"


def test_wrong_name_of_a_move_lists_the_options(cells: Kernel) -> None:
    cell = 'sally.play("ipd", {"agent": lambda turn: turn.choose("stay"), **against})'
    with pytest.raises(CellFailed, match=r"no option of agent named 'stay'.* F and J"):
        cells.outputs(cell)


PROBED = '{"agent": %s, **against}, probes={"agent": "their_move"}, rounds=2'


def test_string_names_one_probe(cells: Kernel) -> None:
    cell = f'len(sally.play("rps", {PROBED % repr("random")}).events)'
    assert cells.shown(cell) == "7"


def test_function_answers_probes_with_a_second_value(cells: Kernel) -> None:
    cell = f"""
    def guess(turn):
        return turn.choose("paper"), "scissors"

    episode = sally.play("rps", {PROBED % "guess"})
    [event.value for event in episode.events if hasattr(event, "probe")]
    """
    assert cells.shown(cell) == "[2, 2]"


def test_second_function_answers_probes(cells: Kernel) -> None:
    cell = f"""
    def report(turn):
        return {{"R": 0.25, "P": 0.25, "S": 0.5}}

    episode = sally.play("rps", {PROBED % "(paper, report)"})
    [event.odds for event in episode.events if hasattr(event, "probe")]
    """
    assert cells.shown(cell) == "[(0.25, 0.25, 0.5), (0.25, 0.25, 0.5)]"


def test_silence_of_a_function_is_said_once(cells: Kernel) -> None:
    cell = f'_ = sally.play("rps", {PROBED % "paper"})'
    output = cells.printed(cell, "stderr")
    assert output.count("does not answer the probe 'their_move'") == 1
    assert "return (move, answer)" in output


STUDY = """
from sally.core.registry.study import instance

lineups = [{"agent": player, **against} for player in (paper, mine, ("constant", {"place": 2}))]
study = sally.Study("own", "objects", (sally.Cell("all", (instance("rps", rounds=3),), lineups),))
"""


def test_study_with_a_function_and_a_model_runs_with_progress(cells: Kernel) -> None:
    outputs = cells.outputs(f"{STUDY}\nsally.run(study, 'store')")
    progress, result = outputs
    assert progress["output_type"] == "display_data"
    assert progress["data"]["text/plain"].startswith("own: 3 of 3 episodes, 3 calls")
    assert '<progress value="3" max="3">' in progress["data"]["text/html"]
    assert result["data"]["text/plain"].startswith("3 episodes of rps\ngame   seat")
    players = 'sorted(row["player"] for row in sally.episodes("store") if row["seat"] == "agent")'
    assert cells.shown(players) == "['constant 2', 'own:mine qa', 'own:paper']"


def test_changed_function_is_a_new_player_and_an_unchanged_one_is_not(cells: Kernel) -> None:
    cells.outputs(STUDY)
    repeated_text = "len(sally.run(study, 'store'))"
    assert cells.shown(repeated_text) == cells.shown(repeated_text)
    number_before = int(cells.shown("len(sally.run(study, 'changing'))"))
    cell = """
    study = sally.Study("own", "objects", (sally.Cell("all", (instance("rps", rounds=3),), [
        {"agent": f, **against}]),))
    len(sally.run(study, "changing"))
    """
    same_text = "def paper(turn):\n    return turn.choose('paper')\nf = paper\n"
    other_source = "def paper(turn):\n    return turn.choose('rock')\nf = paper\n"
    dedented = "\n".join(line.strip() for line in cell.splitlines())
    assert int(cells.shown(same_text + dedented)) == number_before
    assert int(cells.shown(other_source + dedented)) == number_before + 1
    cells.outputs(FIRST_CELL)


def test_awaited_run_and_plan(cells: Kernel) -> None:
    cells.outputs(STUDY)
    assert cells.shown("(await sally.arun(study)).title") == "'3 episodes of rps'"
    assert "own:mine: 3 calls" in cells.shown("sally.plan(study)")


def test_study_with_objects_is_refused_elsewhere(cells: Kernel) -> None:
    cells.outputs(STUDY)
    with pytest.raises(CellFailed, match=r"objects of this process \(own:mine and own:paper\)"):
        cells.outputs("sally.run(study, on='pool:2')")


def test_model_object_fills_open_seats(cells: Kernel) -> None:
    cell = 'sally.run("quickstart_model", model=Mine(), limit=1, without=["lm"])'
    assert "episodes of" in cells.shown(cell)


def test_fork_takes_tuples_and_functions(cells: Kernel) -> None:
    cell = """
    episode = sally.play("rps", {"agent": "random", **against}, rounds=3)
    forks = [
        sally.fork(episode, 1, {"agent": player})[0].setup.lineup["agent"].player
        for player in (("constant", {"place": 1}), paper, mine)
    ]
    forks
    """
    assert cells.shown(cell) == "['constant', 'own:paper', 'language']"


def test_own_game_object_plays(cells: Kernel) -> None:
    cell = """
    from dataclasses import replace
    from sally.core.registry import registry

    mine_too = replace(registry.game("rps"), name="stone_paper", family="")
    sally.play(mine_too, {"agent": "random", "partner": lambda turn: 0}, rounds=2)
    """
    assert "of stone_paper: agent = random, partner = own:<lambda>" in cells.shown(cell)


def test_missing_player_is_named_with_an_example(cells: Kernel) -> None:
    with pytest.raises(CellFailed, match="'partner' of rps has no player; for example tit_for_tat"):
        cells.outputs('sally.play("rps", {"agent": paper})')


def test_interrupt_ends_a_call_with_a_model(cells: Kernel) -> None:
    """The main thread waits for the thread that plays; an interrupt cancels the play."""
    cell = """
    import os, signal

    class Endless(Mine):
        name = "endless"

        async def complete(self, messages, settings=None, tools=()):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()

    try:
        sally.play("rps", {"agent": ("language", {"model": Endless()}), **against})
    except KeyboardInterrupt:
        print("interrupted")
    """
    assert cells.printed(cell) == "interrupted\n"


# --- results --------------------------------------------------------------------------------------

PLAYED = """
lineups = [{"agent": player, **against} for player in ("random", paper)]
episodes = sally.run(sally.Study("own", "results", (
    sally.Cell("all", (instance("rps", rounds=6),), lineups, repeats=6),)))
"""


@pytest.fixture(scope="module")
def played(cells: Kernel) -> Kernel:
    cells.outputs(STUDY + PLAYED)
    return cells


def test_episodes_and_scores_print_their_numbers(played: Kernel) -> None:
    text = played.shown("episodes")
    assert text.startswith("12 episodes of rps\n")
    assert "own:paper" in text
    printed = played.printed('print(sally.score(episodes, ["payoff"], seat="agent"))')
    assert "own:paper" in printed and "[" in printed
    html = played.shown('sally.score(episodes, ["payoff"])', "text/html")
    assert "<td>own:paper</td>" in html


def test_metric_object_is_scored(played: Kernel) -> None:
    cell = """
    rounds = sally.Metric("rounds_played", "rounds", lambda played, seat: float(len(played.replay)))
    sally.score(episodes, [rounds], seat="agent")[0]["value"]
    """
    assert played.shown(cell) == "6.0"


def test_changed_metric_object_is_measured_anew(played: Kernel) -> None:
    cell = """
    rounds = sally.Metric("rounds_played", "twice", lambda played, seat: 2.0 * len(played.replay))
    sally.score(episodes, [rounds], seat="agent")[0]["value"]
    """
    assert played.shown(cell) == "12.0"


def test_slices_and_filters_keep_their_type(played: Kernel) -> None:
    cell = """
    rows = sally.score(episodes)
    results = (episodes[:2], episodes.filter(agent="random"), rows[:2], rows.filter(seat="agent"))
    [(type(result).__name__, len(result)) for result in results[:3]]
    """
    assert played.shown(cell) == "[('Episodes', 2), ('Episodes', 6), ('ScoreRows', 2)]"
    assert played.shown('{row["seat"] for row in results[3]}') == "{'agent'}"


def test_filter_names_the_columns(played: Kernel) -> None:
    with pytest.raises(CellFailed, match=r"no column of episodes named 'players'.*partner"):
        played.outputs('episodes.filter(players="random")')


@pytest.mark.parametrize(
    "result",
    [
        "episodes",
        'sally.score(episodes, ["payoff"])',
        'sally.compare(episodes, "random", "own:paper", metrics=["reward_per_round"])',
        "sally.crossplay(episodes)",
        "evaluated",
    ],
)
def test_every_result_is_drawn_and_converted(played: Kernel, result: str) -> None:
    if result == "evaluated":
        played.outputs(
            'evaluated = sally.evaluate(bot="random", suite="sally_1", games=["toma_po"])'
        )
    outputs = played.outputs(f"{result}.plot()")
    assert "image/png" in outputs[-1]["data"]
    assert played.shown(f"type({result}.polars()).__name__") == "'DataFrame'"


def test_model_object_is_evaluated(played: Kernel) -> None:
    progress, result = played.outputs('sally.evaluate(Mine(), games=["ibs"])')
    assert "sally_2: 56 of 56 episodes" in progress["data"]["text/plain"]
    assert result["data"]["text/plain"].startswith("own:mine qa T=0, Sally-2, version 1, size S")


def test_transcript_prints(played: Kernel) -> None:
    page_text = played.shown("sally.transcript(episodes[0])")
    assert "at the table: agent = random, partner = tit_for_tat\nstep 0\n" in page_text


def test_game_prints_its_parameters(played: Kernel) -> None:
    assert "parameters: matrix=" in played.shown('sally.game("ipd")')


# --- the notebooks of the documentation -----------------------------------------------------------


@pytest.fixture(scope="module")
def second_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel(tmp_path_factory.mktemp("tutorials")) as running:
        yield running


@pytest.mark.parametrize("page", notebooks.TUTORIALS, ids=lambda page: page.stem)
def test_notebooks_of_the_tutorials_run(page: Path, second_kernel: Kernel) -> None:
    """Cells of Python print what the notebook holds; the first command ends without an error.

    The other commands are run by the test of the page (`test_examples_of_a_page_run`).
    """
    book = json.loads(page.with_suffix(".ipynb").read_text(encoding="utf-8"))["cells"]
    executed = notebooks.executed(page, second_kernel, commands=1)
    for stored, now in zip(book, executed["cells"], strict=True):
        if stored["cell_type"] == "code" and not stored["source"][0].startswith("!"):
            assert _without_progress(now) == _without_progress(stored), "python -m tests.notebooks"


def _without_progress(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a cell but for displays of progress, which name calls per second."""
    return [output for output in cell["outputs"] if output["output_type"] != "display_data"]
