"""Logs of the published layout, written here: games come in as recorded, slips are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sally.core.errors import BadInput
from sally.core.log.events import Censored, Ended, Episode, Moved, from_line, to_line
from sally.core.registry.paper import ImportResult
from sally.papers.tradecraft2026.importer import IMPORTER
from sally.runner.check import check

HANDS = [
    {"minecraft:coal": 1, "minecraft:oak_planks": 2},
    {"minecraft:stick": 1, "minecraft:egg": 3},
]
TARGETS = [{"minecraft:torch": 1}, {"minecraft:lever": 1}]
REBUILT = "TC_evaluation/rebuild/aa_vs_bb"


def server(kind: str, body: str) -> str:
    return f"### x Server Event: `server__{kind}`\n{body}\n\n"


def player(kind: str, body: str) -> str:
    return f"### x Player Event: `player__{kind}`\n{body}\n\n"


def goods(**items: Any) -> str:
    return "[" + "".join(f"minecraft:{item} * {n}, " for item, n in items.items()) + "]"


def proposal(name: str, to: str, request: str, offer: str, message: str = "Hi") -> str:
    text = f"{name}  submit a proposal to {to} , request {request}, offer {offer}"
    return player("submit_proposal", f"{text} together with a text message: {message}")


def decision(name: str, answer: str) -> str:
    text = f"{name} decided to {answer} the proposal with a text message: fine"
    return player("approval_or_reject", text)


def checked(name: str, inputs: str, output: str, good: bool = True) -> str:
    text = (
        f"{name} check the validity of the recipe: Input {inputs}, Output {output}, the recipe is"
    )
    how = "**valid**" if good else "**invalid**"
    return player("craft_recipe_check", text) + server("craft_recipe_validity", f"{how} so.")


def apply(name: str, hand: str) -> str:
    return player("craft_recipe_apply", f"{name} apply the recipe") + hand_of(hand)


def done(name: str, hand: str) -> str:
    return player("craft_done", f"{name} has finished crafting") + hand_of(hand)


def hand_of(hand: str) -> str:
    return server("private_hand_change", f"Currently: {hand}")


def is_over(**results: str) -> str:
    item = "\n".join(
        f"**{name.replace('_', ' ')} ** [{result}] the game." for name, result in results.items()
    )
    return server("game_over", item)


START = "# Log\n\n" + "".join(
    server("private_start_info", f"{who}  enters the game with a private target: [{item} * 1, ]")
    for who, item in (("Player 1", "minecraft:torch"), ("player 2", "minecraft:lever"))
)
TURN = "## x Turn {} start!\n---\n\n"
TRADE = proposal("Player 1", "player 2", goods(stick=1), goods(oak_planks=1))
TORCH = checked("Player 1", goods(coal=1, stick=1), goods(torch=4))
LAST = done("Player 1", goods(oak_planks=1, torch=4)) + done("player 2", goods(egg=3, oak_planks=1))
MADE = apply("Player 1", goods(oak_planks=1, torch=4))
WON = is_over(Player_1="win", player_2="lose")
CLEAN = START + TURN.format(1) + TRADE + decision("player 2", "accept") + TORCH + MADE + LAST + WON


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the public problems and an empty folder of logs."""
    tasks = tmp_path / "tradeCraft/src/TC_GAMES/minecraft/1p_v_1p/game_task.json"
    tasks.parent.mkdir(parents=True)
    tasks.write_text(json.dumps([{"hands": HANDS, "targets": TARGETS}]), "utf-8")
    (tmp_path / REBUILT).mkdir(parents=True)
    return tmp_path


def imported(checkout: Path, text: str, id: str = "abcdefgh") -> tuple[ImportResult, Episode]:
    log = checkout / REBUILT / f"TradeCraft.Duo_{id}-log.md"
    log.write_text(text, "utf-8")
    import_result = IMPORTER.read(log)
    (episode,) = import_result.episodes
    return import_result, from_line(to_line(episode))


def test_clean_game_is_imported_as_recorded_and_replays(checkout: Path) -> None:
    result, episode = imported(checkout, CLEAN)
    assert isinstance(episode.events[-1], Ended)
    assert episode.events[-1].payoffs == {"p1": 3.0, "p2": 0.0}
    assert result.counts["hands as recorded"] == result.counts["hands"] == 2
    assert result.counts["results as recorded"] == result.counts["won by first player"] == 1
    assert check([episode]).mismatches == []
    assert [spec.params["name"] for spec in episode.setup.lineup.values()] == ["aa", "bb"]
    assert result.lines == ()


def test_log_in_two_folders_is_imported_once(checkout: Path) -> None:
    for folder in ("paper_experiments", "paper_experiments_same"):
        current_folder = checkout / "TC_evaluation" / folder / "aa_vs_bb"
        current_folder.mkdir(parents=True)
        (current_folder / "TradeCraft.Duo_abcdefgh-log.md").write_text(CLEAN, "utf-8")
    import_result = IMPORTER.read(checkout)
    assert import_result.counts["found"] == 2 and len(import_result.episodes) == 1
    (copy,) = import_result.details["oddities"]
    assert copy["what"] == "copy" and "paper_experiments_same" in copy["file"]
    assert copy["why"].startswith("byte for byte aa_vs_bb/TradeCraft.Duo_abcdefgh-log.md")


def test_hand_not_given_by_the_rules_is_a_difference(checkout: Path) -> None:
    result, _ = imported(checkout, CLEAN.replace(goods(egg=3, oak_planks=1), goods(egg=2)))
    (difference,) = result.details["differences"]
    assert difference["what"] == "hand" and "2 egg" in difference["recorded"]


def test_invalid_proposals_and_unapplied_checks_are_counted_not_played(
    checkout: Path,
) -> None:
    invalid = proposal("Player 1", "nobody", goods(), goods()) + server("proposal_invalid", "no")
    failed = checked("Player 1", goods(coal=1), goods(torch=1), good=False)
    text = CLEAN.replace(TRADE, invalid + TRADE).replace(TORCH, failed + TORCH)
    result, episode = imported(checkout, text)
    assert episode.used["invalid_proposals"] == 1 and episode.used["checks"] == 2
    assert result.counts["hands as recorded"] == 2
    _, plain = imported(checkout, CLEAN, "hgfedcba")
    assert len(episode.events) == len(plain.events)


def test_answer_to_an_empty_proposal_is_stored_beside_the_events(checkout: Path) -> None:
    empty = proposal("Player 1", "player 2", "[]", "[]", "Shall we wait?")
    text = START + TURN.format(1) + empty + decision("player 2", "Accept")
    _, episode = imported(checkout, text)
    assert episode.used["answers_to_empty_proposals"][0]["answer"] == "Accept"
    first = episode.events[0]
    assert isinstance(first, Moved) and first.action["message"] == "Shall we wait?"
    assert isinstance(episode.events[-1], Censored) and episode.events[-1].cause == "log cut"


@pytest.mark.parametrize(
    ("slip", "old", "new"),
    [
        ("case", "decided to accept", "decided to Accept"),
        ("apply", "**valid**", "**invalid**"),
        ("surplus", goods(coal=1, stick=1), goods(coal=1, stick=1, oak_planks=1)),
    ],
)
def test_game_is_censored_from_a_server_error_on(
    checkout: Path, slip: str, old: str, new: str
) -> None:
    result, episode = imported(checkout, CLEAN.replace(old, new))
    last = episode.events[-1]
    assert isinstance(last, Censored) and (last.cause, last.detail) == ("server slip", slip)
    assert result.counts[f"slip: {slip}"] == 1 and f"server slip {slip}" in result.lines[0]
    assert episode.used["recorded_winners"] == ["p1"]


def test_raw_log_import_drops_tokens_and_allows_either_first_proposer(checkout: Path) -> None:
    def amounts(lot: dict[str, int]) -> dict[str, Any]:
        return {item: {"n": n, "d": 1} for item, n in lot.items()}

    names = ["GPT-4o-player17", "Alice"]
    triples: list[tuple[str, str, Any]] = [
        (f"secret{n}", "player__ready_to_start", {"username": name}) for n, name in enumerate(names)
    ]
    triples += [("g", "server__update_all_hands", {"hands": [amounts(hand) for hand in HANDS]})]
    for n, name in enumerate(names):
        start = {"index": n, "username": name, "target": amounts(TARGETS[n])}
        triples.append((f"secret{n}", "server__private_start_info", start))
    offered = {"offer": {"minecraft:stick": 1}, "request": {}, "partner": names[0], "self": "Alice"}
    triples += [
        ("g", "server__start_proposal", {"turn_index": 1, "proposer": "Alice"}),
        ("secret1", "player__submit_proposal", {"proposal": offered, "message": "A gift."}),
        ("secret0", "player__approval_or_reject", {"decision": "accept", "message": ""}),
    ]
    events = [{"domain": [name], "event": kind, "msg": json.dumps(m)} for name, kind, m in triples]
    log = checkout / "Duo_rawrawra.json"
    log.write_text(json.dumps(events), "utf-8")
    (episode,) = IMPORTER.read(log).episodes
    assert [e.seat for e in episode.events if isinstance(e, Moved)] == ["p2", "p1"]
    assert episode.setup.instance.params["first"] == 1
    assert [name.params["name"] for name in episode.setup.lineup.values()] == [
        "GPT-4o",
        "human",
    ]
    assert b"secret" not in to_line(episode)
    assert check([episode]).mismatches == []


def test_folder_without_logs_is_refused_with_one_message(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="contains no game log"):
        IMPORTER.read(tmp_path)


def test_log_with_unknown_problem_is_listed_as_oddity(checkout: Path) -> None:
    log = checkout / REBUILT / "TradeCraft.Duo_abcdefgh-log.md"
    log.write_text(CLEAN.replace("minecraft:torch * 1", "minecraft:bucket * 1"), "utf-8")
    import_result = IMPORTER.read(log)
    assert (
        list(import_result.episodes) == []
        and "no public problem has the targets bucket" in import_result.lines[0]
    )
