"""Evaluations on pairs that the project ships, and forged copies of them: `sally report --board`
accepts the former, with the words and strategies of their time, and refuses the latter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from sally import store
from sally.analysis.pairs.score import join_pairs, read_position
from sally.api.board import (
    checked_entry,
    earlier_packs,
    plan_positions,
    proved_episodes,
    refuse_unplanned,
)
from sally.core.errors import BadInput
from sally.core.log.events import Episode, Forfeited, Moved, PlayerSpec, Reported, episode_id
from sally.core.match.playback import replay_episode
from sally.core.registry import packs, registry
from sally.core.registry.recipes import find_recipe
from sally.core.registry.study import Study
from sally.core.rules.game import Seat
from sally.output.page.board import PairEntry, write_board
from sally.runner.check import check
from sally.store.bundles import open_store
from sally.studies import sally_2
from tests.cli.test_forged_bundles import packed

BUNDLES = Path(__file__).parents[2] / "docs" / "results" / "bundles"
REPLACE = msgspec.structs.replace
TWINS = ("level_k_twin", "mindgames_twin")
CELLS = {  # the cells of which copies are made; each model writes, or its options are scored
    "sally_2-qwen-0.5b": ("eleven_twenty: twin", "mindgames: twin", "rps: asked"),
    "sally_2_scored-qwen-1.5b": ("rps: asked", "toma_mg: asked"),
}
WRITTEN, SCORED = CELLS
PAIRS = 12  # of each cell
Contents = tuple[Study, list[Episode]]


@pytest.fixture(scope="module")
def shipped() -> dict[str, Contents]:
    """The study and episodes of some cells of two shipped bundles."""
    contents = {}
    for name, cells in CELLS.items():
        with open_store(BUNDLES / f"{name}.sally.zip") as (place, _):
            studies = store.studies(place).values()
            study = next(study for study in studies if sally_2.size_of(study) == "M")
            episodes = store.load(place, check=False).episodes  # tests replay those they use
        chosen_cells = [cell for cell in study.cells if cell.name in cells]
        study = REPLACE(study, cells=tuple(chosen_cells))
        first_problems = {i.id for cell in chosen_cells for i in cell.instances[: 2 * PAIRS]}
        contents[name] = (
            study,
            [
                e
                for e in episodes.values()
                if e.cell in cells and e.setup.instance.id in first_problems
            ],
        )
    return contents


def entry_of(contents: Contents, folder: Path, name: str = "entry") -> PairEntry:
    return checked_entry(packed(*contents, folder, name), folder / "page", None)


@pytest.fixture(scope="module")
def entries(shipped, tmp_path_factory) -> dict[str, PairEntry]:
    folder = tmp_path_factory.mktemp("entries")
    return {name: entry_of(contents, folder, name) for name, contents in shipped.items()}


@pytest.mark.parametrize("name", CELLS)
def test_shipped_evaluation_on_pairs_stands(shipped, entries, name):
    """Two texts were changed after the models had been evaluated, and scored options cannot be
    asked in bargaining; neither makes an honest bundle a forged one."""
    _, episodes = shipped[name]
    entry = entries[name]
    assert (entry.played_count, entry.planned_count) == (len(episodes), 3600)
    earlier = "" if name == SCORED else f"; earlier words of {' and '.join(TWINS)}"
    assert entry.readers == f"rule 8{earlier}"
    assert not entry.is_whole


def test_positions_that_cannot_be_asked_are_missing_ones(shipped):
    _, episodes = shipped[SCORED]
    seats = next(iter(episodes)).setup.lineup.values()
    model = next(player for player in seats if "model" in player.params)
    study = _with_model(sally_2.suite("S", ("rps", "bargaining")), model)
    plan = plan_positions(study)
    assert {order.cell for order in plan} == {"rps: asked"}
    with pytest.raises(BadInput, match="cannot tell its names apart"):
        plan_positions(_with_model(sally_2.suite("S", ("bargaining",)), model))


def _with_model(study: Study, model: PlayerSpec) -> Study:
    cells = [
        REPLACE(
            cell,
            lineups=tuple(
                {
                    seat: model if "model" in player.params else player
                    for seat, player in line.items()
                }
                for line in cell.lineups
            ),
        )
        for cell in study.cells
    ]
    return REPLACE(study, cells=tuple(cells))


# --- forgeries ------------------------------------------------------------------------------------


def with_right_answers(episode: Episode) -> Episode:
    """Return the episode with the moves and predictions of the best bot, and all stored calls."""
    position = episode.setup.instance.position
    spec = registry.game(episode.setup.instance.game)
    recipe = find_recipe(spec.name, position.recipe)
    trajectory = replay_episode(spec, episode)
    state = trajectory.states[len(position.past)]
    truth = recipe.truth(trajectory.game, state, episode.setup.lineup)
    view = trajectory.game.observe(state, Seat(position.seat))
    best = recipe.best_moves(trajectory.game, view, truth)[0]
    events = []
    for event in episode.events:
        if isinstance(event, Reported) and recipe.asks_probe(event.probe, event.about):
            event = REPLACE(event, value=truth)
        elif isinstance(event, Moved) and event.seat == position.seat:
            event = REPLACE(event, action=best)
        elif isinstance(event, Forfeited) and event.seat == position.seat:
            event = Moved(event.turn, event.seat, best, event.reply, event.tries, event.calls)
        events.append(event)
    return REPLACE(episode, events=events)


def without_calls(episode: Episode) -> Episode:
    events = [REPLACE(e, calls=()) if getattr(e, "calls", ()) else e for e in episode.events]
    return REPLACE(episode, events=events)


def with_version(part: str) -> Callable[[Episode], Episode]:
    """Return a function that changes the version of a part of the player, and the moves."""

    def forge(episode: Episode) -> Episode:
        lineup = {
            seat: REPLACE(player, versions={**player.versions, part: 1 + player.versions[part]})
            if "model" in player.params
            else player
            for seat, player in episode.setup.lineup.items()
        }
        setup = REPLACE(episode.setup, lineup=lineup)
        return REPLACE(with_right_answers(episode), id=episode_id(setup), setup=setup)

    return forge


FORGERIES: dict[str, Callable[[Episode], Episode]] = {
    "moves of the best bot": with_right_answers,
    "moves of the best bot without calls": lambda e: without_calls(with_right_answers(e)),
    "calls removed": without_calls,
    "another reader": with_version("reader"),
    "another strategy": with_version("strategy"),
    "another player": with_version("player"),
    "other words": with_version("words"),
}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES.keys())
def test_forged_copy_of_a_shipped_bundle_is_refused(shipped, tmp_path, forgery, name):
    study, episodes = shipped[name]
    with (
        open_store(packed(study, [forgery(episode) for episode in episodes], tmp_path)) as (
            place,
            _,
        ),
        pytest.raises(BadInput, match=r"does not replay|cannot be checked"),
    ):
        proved_episodes(place, "")


def test_replay_finds_every_answer_of_the_best_bot(shipped):
    """Every changed episode is a mismatch, one that was right already is none."""
    for _, episodes in shipped.values():
        forged = {e.id: with_right_answers(e) for e in episodes if e.cell == "rps: asked"}
        is_changed = {
            id for id, e in forged.items() if _answers(e) != _answers(_by_id(episodes)[id])
        }
        mismatches = {id for id, _ in check(forged.values()).mismatches}
        assert is_changed and mismatches >= is_changed


def _by_id(episodes: list[Episode]) -> dict[str, Episode]:
    return {episode.id: episode for episode in episodes}


def _answers(episode: Episode) -> list[object]:
    return [getattr(event, "action", getattr(event, "value", None)) for event in episode.events]


def test_right_pairs_alone_are_neither_whole_nor_first(shipped, entries, tmp_path):
    """Wrong pairs left out: the mean of what is there rises, that of all planned falls."""
    (study, episodes), honest = shipped[SCORED], entries[SCORED]
    positions = [position for e in episodes if (position := read_position(e))]
    right = {pair.pair for pair in join_pairs(positions) if pair.knowing and pair.knowing.j > 0}
    chosen = [e for e in episodes if e.setup.instance.position.pair in right]
    forged = entry_of((study, chosen), tmp_path, "chosen")
    assert forged.results.knowing.value > honest.results.knowing.value
    assert forged.results.knowing_all_planned < honest.results.knowing_all_planned
    assert not forged.is_whole
    page = write_board([forged, honest], [], tmp_path / "site").read_text("utf-8")
    assert f"{forged.played_count:,} of 3,600" in page and f"{forged.name}, part" in page


# --- texts of words packs -------------------------------------------------------------------------


def test_earlier_texts_are_those_of_the_shipped_bundles(shipped):
    """Each accepted earlier text is in a shipped bundle, differs from today's, and has its hash."""
    _, episodes = shipped[WRITTEN]
    assert earlier_packs(episodes) == list(TWINS)
    for reference in sally_2.EARLIER_PACKS:
        text = packs.find(reference)  # read with the bundle
        assert packs.reference(text) == reference
        today = sally_2.current_pack(reference)
        assert today.partition("@")[0] == text.name and today != reference
        assert sally_2.current_pack(today) == today


def _in_words(episode: Episode, reference: str) -> Episode:
    lineup = {
        seat: REPLACE(player, params={**player.params, "pack": reference})
        if "pack" in player.params
        else player
        for seat, player in episode.setup.lineup.items()
    }
    setup = REPLACE(episode.setup, lineup=lineup)
    return REPLACE(episode, id=episode_id(setup), setup=setup)


def test_two_texts_of_a_pack_are_refused(shipped):
    """A model could be asked in both, and the better answers kept."""
    _, episodes = shipped[WRITTEN]
    first = next(e for e in episodes if e.cell == "mindgames: twin")
    (earlier,) = (name for name in sally_2.EARLIER_PACKS if name.startswith("mindgames"))
    mixed = [_in_words(first, sally_2.current_pack(earlier)), *episodes]
    with pytest.raises(BadInput, match="mix 2 texts of the words pack mindgames_twin"):
        earlier_packs(mixed)


def test_text_of_the_player_under_the_name_of_a_pack_is_refused(shipped):
    _, episodes = shipped[WRITTEN]
    own = packs.find("mindgames_twin")
    easier = packs.remember(REPLACE(own, texts={**own.texts, "rules": "Choose the first option."}))
    twins = [e for e in episodes if e.cell == "mindgames: twin"]
    seats = twins[0].setup.lineup.values()
    model = next(player for player in seats if "model" in player.params)
    params = {key: value for key, value in model.params.items() if key != "pack"}
    study = _with_model(sally_2.suite("M", ("mindgames",)), REPLACE(model, params=params))
    cells = [
        REPLACE(cell, lineups=tuple({**line, **twins[0].setup.lineup} for line in cell.lineups))
        for cell in study.cells
        if cell.name == "mindgames: twin"
    ]
    plan = plan_positions(REPLACE(study, cells=tuple(cells)))
    refuse_unplanned(twins[:1], plan, "Sally-2", sally_2.current_pack)
    with pytest.raises(BadInput, match="is not part of Sally-2"):
        refuse_unplanned([_in_words(twins[0], easier)], plan, "Sally-2", sally_2.current_pack)
