"""Published games become episodes; whatever does not fit is counted and named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Moved
from sally.core.match.playback import mismatch
from sally.core.prompt.model import Settings
from sally.games.mindgames import GAME
from sally.models.stub import Scripted
from sally.papers.moore2025.agreement import agreement, by_model, by_rules
from sally.papers.moore2025.figures import recorded_choice
from sally.papers.moore2025.importer import import_games
from sally.papers.moore2025.published_layout import read
from sally.papers.moore2025.tables import facts
from tests.games.mindgames.records import MODEL, PEOPLE, record, written
from tests.games.mindgames.table import X, Y, laid_open

WIN = [[(0, 1)], [(2, 1)]]
WON = record(WIN, "A")
LOST = record([[(0, 1), (1, 0)]], "C")


def test_game_is_imported_with_messages_labels_and_choice(tmp_path: Path) -> None:
    result = import_games(written(tmp_path, {PEOPLE: [[WON, LOST]]}))
    assert not result.details["oddities"] and not result.details["differences"]
    assert result.counts["found"] == result.counts["final choices reproduced"] == 2
    assert result.counts["replies reproduced"] == result.counts["messages"] == 16
    first, second = result.episodes
    assert (first.payoffs, second.payoffs) == ({"persuader": 1.0}, {"persuader": 0.0})
    for episode in result.episodes:
        assert mismatch(GAME, episode) is None
    labels = [e.action for e in first.events if isinstance(e, Moved) and e.seat == "reader"]
    assert [d.attribute for d in labels[0].disclosures] == [Y]


def test_people_have_sequential_memory_and_models_frozen_memory(tmp_path: Path) -> None:
    result = import_games(written(tmp_path, {PEOPLE: [[WON]], MODEL: [[WON]]}))
    games = [laid_open(e).replay.game for e in result.episodes]
    assert sorted((g.condition, g.memory) for g in games) == [  # type: ignore[attr-defined]
        ("hidden", "sequential"),
        ("revealed", "frozen"),
    ]
    names = {e.setup.lineup["persuader"].params["name"] for e in result.episodes}
    assert names == {"human", "o1-preview-2024-09-12"}


def test_differing_choices_and_replies_are_listed(tmp_path: Path) -> None:
    wrong = record(WIN, "B")
    wrong["messages"][1]["content"] = f"Proposal A will decrease {Y}."
    result = import_games(written(tmp_path, {PEOPLE: [[wrong]]}))
    choice, reply = result.details["differences"]  # what matters is said first
    assert (choice["what"], choice["recorded"], choice["ours"]) == ("final choice", "B", "A")
    assert (reply["what"], reply["turn"]) == ("reply", 1) and "'does', 'A'" in reply["recorded"]
    assert result.counts["final choices reproduced"] == 0
    assert result.episodes[0].payoffs == {"persuader": 1.0}  # ours, by our rules


def test_impossible_label_has_no_effect_and_is_listed(tmp_path: Path) -> None:
    wrong = record(WIN, "C")
    wrong["all_disclosures"][1] = {"C": {Y: 1}}
    result = import_games(written(tmp_path, {PEOPLE: [[wrong]]}))
    assert {d["what"] for d in result.details["differences"]} == {"label", "reply"}
    assert result.episodes[0].payoffs == {"persuader": 0.0}


def test_unfinished_games_are_censored_and_duplicates_omitted(tmp_path: Path) -> None:
    cut = record(WIN, None)
    for part in ("messages", "all_disclosures", "all_appeals"):
        cut[part] = cut[part][: 6 if part == "messages" else 3]
    result = import_games(written(tmp_path, {PEOPLE: [[WON, cut], [WON], "{broken"]}))
    assert result.counts["unfinished"] == result.counts["duplicate"] == 1
    assert result.counts["unreadable"] == 1 and len(result.episodes) == 2
    last = result.episodes[1].events[-1]
    assert isinstance(last, Censored) and last.cause == "left"
    assert mismatch(GAME, result.episodes[1]) is None


def test_thoughts_are_private_and_separator_in_a_message_is_kept(tmp_path: Path) -> None:
    thinking = record(WIN, "A")
    thinking["chain_of_thought"] = [{"role": "persuader", "content": "My plan."}]
    thinking["messages"][2]["content"] += "\n---\nMore."
    result = import_games(written(tmp_path, {MODEL: [[thinking]]}))
    story = laid_open(result.episodes[0]).replay.states[-1].story
    game: Any = laid_open(result.episodes[0]).replay.game
    assert game.message(story[0].text) == f"Proposal A increases {Y}."
    assert game.message(story[1].text).endswith("---\nMore.")
    assert all(d["what"] == "reply" for d in result.details["differences"])


def test_discrete_games_are_parsed_by_the_rules(tmp_path: Path) -> None:
    fields = {"disclosures": [{"proposal": "A", "attribute": Y, "utility": 1}]}
    answer = {"informational": fields["disclosures"]}
    game = record([[(0, 1)]], "C")
    game["messages"][0]["content"] = json.dumps(fields)
    game["messages"][1]["content"] = json.dumps(answer)
    for turn in range(1, 8):
        game["messages"][2 * turn]["content"] = "{}"
        game["messages"][2 * turn + 1]["content"] = ""
    folder = "human_persuader=False&llm_persuader=some__model&discrete_game=True"
    result = import_games(written(tmp_path, {folder: [[game]]}))
    assert not result.details["differences"] and result.counts["final choices reproduced"] == 1
    assert result.episodes[0].cell == "some/model discrete_game"


DISCRETE = "human_persuader=False&llm_persuader=some__model&discrete_game=True"


def _discrete(first: str) -> Any:
    """A discrete game that asks for a ranking first, in a text of its own."""
    game = record([[]], "C")
    for turn in range(8):
        game["messages"][2 * turn]["content"] = first if turn == 0 else "{}"
        game["messages"][2 * turn + 1]["content"] = ""
    return game


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ('{"inferential": ["Proposal A"]}', {"inferential": ["Proposal A"]}),
        (
            json.dumps({"informational": [{"proposal": "A", "attribute": Y, "utility": 1}]}),
            {"informational": {"A": [Y]}},
        ),
        ("", {}),
    ],
    ids=["a proposal by its full name", "a utility in a question", "no text"],
)
def test_messages_accepted_by_the_published_engine_are_played_to_the_end(
    tmp_path: Path, text: str, labels: Any
) -> None:
    game = _discrete(text)
    game["all_appeals"][0] = labels
    result = import_games(written(tmp_path, {DISCRETE: [[game]]}))
    assert result.counts["final choices reproduced"] == 1
    assert result.episodes[0].payoffs is not None
    assert result.counts["messages as recorded"] == (7 if result.details["differences"] else 8)
    assert all(o["what"] != "label" for o in result.details["oddities"])


def test_game_with_an_empty_message_is_still_finished(tmp_path: Path) -> None:
    game = record(WIN, "A")
    game["messages"][6]["content"] = " "
    result = import_games(written(tmp_path, {MODEL: [[game]]}))
    assert result.counts["final choices reproduced"] == result.counts["finished"] == 1
    assert [(d["what"], d["turn"]) for d in result.details["differences"]] == [("message", 4)]
    assert result.counts["messages as recorded"] == 7


def test_game_that_was_not_played_to_its_end_reproduces_nothing(tmp_path: Path) -> None:
    cut = record(WIN, "A")
    for part in ("messages", "all_disclosures", "all_appeals"):
        cut[part] = cut[part][: 6 if part == "messages" else 3]
    result = import_games(written(tmp_path, {PEOPLE: [[cut]]}))
    assert result.counts["final choices reproduced"] == 0
    assert result.counts["replies reproduced"] == 3


def test_recorded_choice_is_stored_beside_the_computed_one(tmp_path: Path) -> None:
    restarted = record(WIN, "B")
    result = import_games(written(tmp_path, {MODEL: [[restarted]]}))
    (episode,) = result.episodes
    assert episode.payoffs == {"persuader": 1.0}
    assert recorded_choice(laid_open(episode)) == 1
    assert mismatch(GAME, episode) is None


def test_superseded_files_are_omitted_and_named_unless_requested(tmp_path: Path) -> None:
    source = written(tmp_path, {PEOPLE: [[WON]]})
    old = source / PEOPLE / "2024-12-01_wrong_reveal.jsonl"
    old.write_text(json.dumps([LOST]), encoding="utf-8")
    result = import_games(source)
    assert result.counts["found"] == result.counts["superseded"] == 1
    assert "_wrong_reveal" in result.lines[0]
    (kept_apart,) = import_games(old).episodes
    assert facts(laid_open(kept_apart)) is None  # no table counts it
    assert facts(laid_open(result.episodes[0])) is not None


def test_root_of_the_repository_is_accepted(tmp_path: Path) -> None:
    root = written(tmp_path / "results", {PEOPLE: [[record([[(0, 1)]], "C")]]}).parent
    (root / "analysis").mkdir()
    (root / "analysis" / "ratings.jsonl").write_text('{"no": "game"}\n')
    assert import_games(root).counts["found"] == 1
    with pytest.raises(BadInput, match="does not name the persuader"):
        import_games(root / "analysis")


def test_folder_with_two_variants_is_listed_as_oddity(tmp_path: Path) -> None:
    folder = "human_persuader=False&llm_persuader=m&add_hint=True&perfect_game=True"
    result = import_games(written(tmp_path, {folder: [[WON]]}))
    assert not result.episodes
    assert "cannot be add_hint and perfect_game at the same time" in result.lines[0]


def test_empty_or_missing_path_is_refused_with_one_message(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(BadInput, match="There is no"):
            import_games(path)


# --- commands -------------------------------------------------------------------------------------


def run(*args: str) -> str:
    result = CliRunner().invoke(cli, list(args), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_command_stores_once_and_reports_counts(tmp_path: Path) -> None:
    source, out = written(tmp_path / "in", {PEOPLE: [[WON, LOST]]}), tmp_path / "out"
    data = json.loads(run("import", "mindgames", str(source), "--out", str(out), "--json"))
    assert data["counts"]["stored"] == 2 and data["differences"] == []
    repeated_text = run("import", "mindgames", str(source), "--out", str(out))
    assert "stored: 0" in repeated_text and "already there: 2" in repeated_text
    assert len(store.load(out).episodes) == 2
    assert "2 of 2 episodes replayed" in run("replay", str(out))


def test_readers_are_compared_with_the_record(tmp_path: Path) -> None:
    source = written(tmp_path, {PEOPLE: [[WON, LOST]], MODEL: [[WON]]})
    rows = json.loads(run("paper", "moore2025", "readers", str(source), "--json"))
    told_rows = {row["games"]: row for row in rows if row["labels"] == "disclosures"}
    assert told_rows["all"]["f1"] == 1.0 and told_rows["people"]["n"] == 4
    assert {r["games"]: r["agreement"] for r in rows if r["labels"] == "final choice"} == {
        "all": 1.0,
        "people": 1.0,
        "models": 1.0,
    }
    mislabelled = record([[(0, 1)]], "C")
    mislabelled["all_disclosures"][0]["A"][X] = 1
    other_path = written(tmp_path / "more", {PEOPLE: [[mislabelled]]})
    rows = json.loads(run("paper", "moore2025", "readers", str(other_path), "--json"))
    assert (rows[0]["precision"], rows[0]["recall"]) == (1.0, 0.5)


def test_halves_partition_the_games(tmp_path: Path) -> None:
    games = [record([[(0, 1)], *[[]] * n, [(2, 1)]], "A") for n in range(6)]
    source = written(tmp_path, {PEOPLE: [[game] for game in games]})
    finished = {
        half: next(
            row["n"]
            for row in json.loads(
                run("paper", "moore2025", "readers", str(source), "--half", half, "--json")
            )
            if row["labels"] == "final choice"
        )
        for half in ("tuning", "held-out")
    }
    assert sum(finished.values()) == 6 and min(finished.values()) > 0


def test_model_reader_is_measured_on_the_same_games_as_the_rules(tmp_path: Path) -> None:
    source = written(tmp_path, {PEOPLE: [[WON]]})
    fields = {"disclosures": [{"proposal": "A", "attribute": Y, "utility": 1}]}
    answers = iter([json.dumps(fields), *["{}"] * 15])  # two calls a message
    reader = by_model(Scripted(lambda messages, settings: next(answers)), Settings())
    (game,) = read(source).games
    actual_agreement = agreement([game], reader)
    assert actual_agreement.tallies["disclosures"].in_both == 1  # of the two on record
    assert actual_agreement.tallies["disclosures"].record_only == 1
    assert (actual_agreement.games, actual_agreement.same_choice, actual_agreement.came_back) == (
        1,
        0,
        0,
    )


def test_messages_that_the_reader_would_reject_are_counted(tmp_path: Path) -> None:
    lied = record(WIN, "A")
    lied["messages"][4]["content"] = f"Proposal A decreases {Y}."
    (game,) = read(written(tmp_path, {PEOPLE: [[lied]]})).games
    actual_agreement = agreement([game], by_rules)
    assert (actual_agreement.came_back, actual_agreement.messages) == (1, 8)
