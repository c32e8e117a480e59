"""Language players at the four games: what strategies ask, and how their replies are measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from sally.analysis.compare import published_figures as reference
from sally.core.log.events import Episode, Instance, PlayerSpec, Setup
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.prompt.model import Message, Settings
from sally.core.registry import registry
from sally.frames.replays import replay_for_measures as laid_open
from sally.games.toma.po.game import PartlySeen, frozen_scenarios
from sally.games.toma.po.rules import AGENTS, answer, predictions
from sally.models.stub import Scripted
from sally.papers.kang2026.study import STUDY
from sally.papers.kang2026.tables import facts
from sally.runner.check import check
from sally.runner.seating import players_of, resolve_setup
from tests.games.toma.table import row_of

LEVEL_2 = next(s for s in frozen_scenarios().values() if s.level == 2 and answer(s) < 4)
Reply = Callable[[str], str]


def talked(
    game: str,
    reply: Reply,
    strategy: str,
    others: dict[str, str] | None = None,
    arms: Mapping[str, tuple[str, ...]] | None = None,
    seats: tuple[str, ...] = ("player",),
    listening: tuple[str, ...] = (),
    **params: Any,
) -> Episode:
    """An episode in which a scripted model sits in these seats."""

    def script(messages: Sequence[Message], settings: Settings) -> str:
        return reply("\n".join(message.text for message in messages))

    registry.add("models", "toma_stub", lambda name: Scripted(script, name="toma_stub"))
    registry._make_model.cache_clear()
    model = PlayerSpec("language", {"model": "toma_stub", "strategy": strategy})
    lineup = {seat: PlayerSpec(player) for seat, player in (others or {}).items()}
    plain = PlayerSpec("language", {"model": "toma_stub", "strategy": "cot"})
    lineup |= dict.fromkeys(seats, model) | dict.fromkeys(listening, plain)
    setup = resolve_setup(Setup(Instance(game, game, params), 1, lineup, arms=dict(arms or {})))
    match = Match(registry.game(game), setup)
    Driver(match, players_of(match)).run()
    return match.episode()


def knowing(page: str) -> str:
    """Says the true predictions in whatever form is asked for, then the right answer."""
    names = LEVEL_2.tasks
    right = [names[task] for task in predictions(LEVEL_2).values()]
    about = re.search(r"Which \w[\w ]* will Agent (\w) take\?", page)
    if about and "Predicted Action" not in page:
        return f"Answer: {names[predictions(LEVEL_2)[AGENTS.index(about[1])]]}"
    lines = "\n".join(f"Predicted Action {n}: {name}" for n, name in enumerate(right, 1))
    return f"Reasoning: ...\n{lines}\nAnswer: {answer(LEVEL_2) + 1}"


@pytest.mark.parametrize("strategy", ["zero_shot", "self_consistency", "cot"])
def test_probed_strategies_predict_and_act_correctly(strategy: str) -> None:
    arms = {"player": ("their_choice",)}
    row = row_of(talked("toma_po", knowing, strategy, arms=arms, scenario=LEVEL_2.id))
    measures = ("tom_accuracy_published", "action_consistency", "task_success")
    assert [row[name] for name in measures] == [1, 1, 1]
    assert row["knowing_doing_both"] == 1


@pytest.mark.parametrize("strategy", ["tom_cot", "tom_guide"])
def test_predicting_strategies_predict_without_probes(strategy: str) -> None:
    episode = talked("toma_po", knowing, strategy, scenario=LEVEL_2.id)
    row = row_of(episode)
    assert (row["tom_percent"], row["action_consistency"], row["task_success"]) == (100, 1, 1)
    assert row["tom_accuracy_published"] is None  # nobody asked
    assert row["calls"] == (1 if strategy == "tom_cot" else 2)
    assert check([episode]).mismatches == []


def test_right_prediction_with_other_action_lowers_consistency() -> None:
    wrong = (answer(LEVEL_2) + 1) % 4 + 1

    def gap(page: str) -> str:
        return re.sub(r"Answer: \d", f"Answer: {wrong}", knowing(page))

    row = row_of(talked("toma_po", gap, "tom_cot", scenario=LEVEL_2.id))
    assert (row["tom_percent"], row["action_consistency"], row["task_success"]) == (100, 0, 0)
    assert row["knowing_doing_knew_only"] == 1


def test_reply_without_an_answer_is_a_forfeit() -> None:
    row = row_of(talked("toma_mg", lambda page: "It depends.", "zero_shot"))
    assert (row["forfeited"], row["task_success"], row["task_success_published"]) == (1, None, 0)


# --- radio and clues ------------------------------------------------------------------------------


def team(page: str) -> str:
    """A guide that waits for the password and an explorer that gives it, then both wait."""
    explorer = "You are Agent B" in page
    code = re.search(r"The password is (\d{4})\. You", page)
    heard = re.search(r'B says: "The password is (\d{4})\."', page)
    ally = "WAIT" if explorer else "SPEAK"
    if explorer and code and not heard:
        act = f'SPEAK "The password is {code[1]}."'
    elif not explorer and heard and "LOCKED" in page:
        act = f"OPEN {heard[1]}"
    else:
        act = "WAIT"
    return f"Reasoning: ...\nally agent's next action: {ally}\nMy Next Action: {act}"


@pytest.mark.parametrize("strategy", ["zero_shot", "tom_cot", "tom_guide"])
def test_team_of_models_on_the_radio(strategy: str) -> None:
    episode = talked(
        "toma_sw",
        team,
        strategy,
        {"eavesdropper": "silent"},
        {"guide": ("ally_action",), "explorer": ("ally_action",)},
        ("guide", "explorer"),
        may_pass=True,
        turns=4,
    )
    row = row_of(episode, "explorer")
    assert (row["forfeited"], row["radio_box_opened"], row["radio_collisions"]) == (0, 1, 0)
    assert row["action_consistency"] == 1 / 4  # expects WAIT for ever, and speaks once
    assert row_of(episode, "guide")["tom_accuracy_published"] == 1 / 4
    assert check([episode]).mismatches == []


def test_model_eavesdrops() -> None:
    others = {"guide": "silent", "explorer": "silent"}
    guess = "Thinking: ...\nTarget: TREASURE\nGuess: [0, 0]"
    episode = talked("toma_sw", lambda page: guess, "zero_shot", others, None, ("eavesdropper",))
    assert row_of(episode, "eavesdropper")["forfeited"] == 0


@pytest.mark.parametrize("strategy", ["zero_shot", "self_consistency", "cot", "tom_cot"])
def test_models_speak_and_listen(strategy: str) -> None:
    def reply(page: str) -> str:
        if "You are Speaker A" in page:
            return "Predicted Action 1: keeps your savings\nAction: Money lies there"
        return "Thinking: hm\nGuess: " + ("bank" if "savings" in page else "shore")

    listening = ("teammate", "opponent")
    episode = talked("toma_ag", reply, strategy, seats=("speaker",), listening=listening)
    row = row_of(episode, "speaker")
    assert (row["forfeited"], row["clue_won"]) == (0, 1)


# --- the study ------------------------------------------------------------------------------------


def test_every_published_model_figure_has_a_cell() -> None:
    """Conditions of Tables 9 and 10, totals apart, as the study's own episodes are read."""
    expected_triples = {
        (figure.row["game"], figure.row["strategy"], figure.row["level"])
        for table in ("9", "10")
        for figure in reference.load("kang2026").tables[table].rows
        if figure.row["level"] != "total"
    }
    names = {"self_consistency": "sc"}
    triples = {
        (
            cell.instances[0].game,
            names.get(lineup["player"].params["strategy"], lineup["player"].params["strategy"]),
            f"L{cell.instances[0].params['level']}",
        )
        for cell in STUDY.cells
        if cell.instances[0].game in ("toma_po", "toma_mg") and not cell.injections
        for lineup in cell.lineups
        if lineup["player"].player == "language"
    }
    assert triples == expected_triples


def test_facts_of_an_episode_match_the_table_labels() -> None:
    episode = talked("toma_po", knowing, "self_consistency", scenario=LEVEL_2.id)
    assert facts(laid_open(episode)) == {
        "game": "toma_po",
        "model": "toma_stub",
        "strategy": "sc",
        "level": "L2",
        "player": "language",
        "told": "nothing",
    }
    known_episode = talked("toma_po", knowing, "zero_shot", scenario=LEVEL_2.id, matrix="known")
    assert facts(laid_open(known_episode)) is None


def test_sets_have_the_published_sizes_and_errors_go_from_0_to_1() -> None:
    # toma_mg has 40 scenarios a level, not the paper's 30: matched sets come in fours
    by_game = {
        game: sum(
            len(cell.instances) for cell in STUDY.cells if cell.name.startswith(game)
            and cell.name.endswith("bots")
        )
        for game in ("toma_po", "toma_mg", "toma_ag")
    }  # fmt: skip
    assert by_game == {"toma_po": 150, "toma_mg": 120, "toma_ag": 100}
    errors = [cell.injections[0].error for cell in STUDY.cells if cell.injections]
    assert sorted(set(errors)) == pytest.approx([n / 10 for n in range(11)])
    assert isinstance(registry.game("toma_po").build(), PartlySeen)
