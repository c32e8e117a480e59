"""The audit of recorded games finds planted faults in every format, and nothing in clean logs."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally.adapters.game_logs import _kaggle_failures, read_game_logs
from sally.analysis.game_logs import Failure, GameLogAudit, audit_games
from sally.cli import cli
from sally.core.errors import BadInput

PLAYERS = ("ann", "bob")
GAMES, ROUNDS = 60, 24


class Recorder:
    """Random games of two players that swap seats, with faults that can be planted."""

    def __init__(self, forfeits: int = 0, copies: int = 0, first_wins: float = 0.5) -> None:
        stream = random.Random(7)
        self.games: list[dict[str, Any]] = []
        for number in range(GAMES):
            players = PLAYERS if number % 2 else PLAYERS[::-1]
            moves = [[stream.randrange(3), stream.randrange(3)] for _ in range(ROUNDS)]
            winner = int(stream.random() >= first_wins)
            is_cut = number < 2 * forfeits and players[1] == "bob"
            self.games.append(
                {"id": f"g{number}", "players": players, "moves": moves, "is_cut": is_cut,
                 "scores": (1, 0) if is_cut else (1 - winner, winner)}
            )  # fmt: skip
        for number in range(copies):
            self.games.append({**self.games[GAMES - 1 - number], "id": f"copy{number}"})


def write_kaggle(games: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Replays in the form of Kaggle environments, one file each."""
    paths = []
    for game in games:
        agent = {"info": {}, "observation": {}, "reward": 0}
        steps = [[{**agent, "action": None, "status": "ACTIVE"} for _ in (0, 1)]]
        for moves in game["moves"]:
            steps.append([{**agent, "action": move, "status": "ACTIVE"} for move in moves])
        statuses, rewards = ["DONE", "DONE"], list(game["scores"])
        if game["is_cut"]:
            statuses, rewards = ["DONE", "INVALID"], [1, None]
        final = zip(game["moves"][-1], statuses, rewards, strict=True)
        steps.append([{**agent, "action": a, "status": s, "reward": r} for a, s, r in final])
        record = {
            "id": game["id"], "name": "rps", "schema_version": 1, "rewards": rewards,
            "statuses": statuses, "steps": steps, "info": {"TeamNames": list(game["players"])},
        }  # fmt: skip
        paths.append(folder / f"{game['id']}.json")
        paths[-1].write_text(json.dumps(record))
    return paths


def write_arena(games: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Replays as `open_spiel_env` of kaggle-environments 1.33.2 writes them: the seats take turns,
    and an illegal move leaves all of them DONE, with rewards of 1 and -1."""
    paths = []
    for game in games:
        idle = {"action": {"submission": -1}, "info": {}, "observation": {}, "reward": 0}
        states = [[{**idle, "status": "ACTIVE"}, {**idle, "status": "INACTIVE"}]]
        moves = [(seat, move) for pair in game["moves"] for seat, move in enumerate(pair)]
        for number, (seat, move) in enumerate(moves):
            is_last = number == len(moves) - 1
            is_illegal = is_last and game["is_cut"]  # the second seat moves last
            details = {
                "actionSubmitted": move, "timeTaken": 0.1, "agentSelfReportedStatus": "OK",
                "actionSubmittedToString": None if is_illegal else f"move {move}",
                "actionApplied": None if is_illegal else move,
            }  # fmt: skip
            agents = [{**idle, "status": "ACTIVE" if s != seat else "INACTIVE"} for s in (0, 1)]
            agents[seat] |= {"action": {"submission": move}, "info": details}
            if is_last:
                for s in (0, 1):
                    agents[s] |= {"status": "DONE", "reward": 2 * game["scores"][s] - 1}
            states.append(agents)
        record = {
            "id": game["id"], "name": "open_spiel_chess", "schema_version": 1,
            "rewards": [agent["reward"] for agent in states[-1]], "statuses": ["DONE", "DONE"],
            "steps": states, "info": {"TeamNames": list(game["players"])},
        }  # fmt: skip
        paths.append(folder / f"{game['id']}.json")
        paths[-1].write_text(json.dumps(record))
    return paths


def test_offender_of_a_simultaneous_illegal_move_is_the_first_without_a_name() -> None:
    submitted = {"actionApplied": None, "actionSubmitted": 1}
    infos = [
        submitted | {"actionSubmittedToString": "left"},
        submitted | {"actionSubmittedToString": None, "actionSubmitted": 9},
        submitted | {"actionSubmittedToString": None, "actionSubmitted": None},  # not looked at
    ]
    agents = [{"status": "DONE", "action": {}, "info": details} for details in infos]
    assert list(_kaggle_failures(agents, (0, 1, 2), True)) == [Failure(1, "illegal")]
    missing = [{"status": "DONE", "action": None}, {"status": "DONE", "action": None}]
    assert list(_kaggle_failures(missing, (1,), True)) == [Failure(1, "unreadable")]
    assert list(_kaggle_failures(missing, (1,), False)) == []


def test_clembench_counts_of_violations_and_losses_are_read(tmp_path: Path) -> None:
    """As clemcore 3.7.2 logs them: `Violated Request Count` by round, and `Lose`."""
    said = {"from": "Player 1", "to": "GM", "action": {"type": "get message", "content": "?"}}
    note = {"from": "GM", "to": "GM", "action": {"type": "parse", "content": "ok"}}
    record = {
        "meta": {"game_name": "wordle", "game_id": 1},
        "players": {"GM": {}, "Player 1": {"model_name": "m"}},
        "turns": [[said, said, note], [said]],
        "Violated Request Count": [1, 0],
        "Aborted": 0,
        "Lose": 1,
    }
    path = tmp_path / "interactions.json"
    path.write_text(json.dumps(record))
    (game,) = read_game_logs([path])
    assert (game.failures, game.scores, len(game.moves)) == ((Failure(0, "unreadable"),), (0.0,), 2)
    path.write_text(json.dumps(record | {"Aborted": 1, "Lose": 0}))
    (game,) = read_game_logs([path])
    assert (game.is_cut, game.scores) == (True, (None,))


def write_textarena(games: list[dict[str, Any]], folder: Path) -> list[Path]:
    lines = []
    for game in games:
        steps = [
            {"player": seat, "reply": f"[{move}]"}
            for moves in game["moves"]
            for seat, move in enumerate(moves)
        ]
        info = {"0": {"invalid_move": False}, "1": {"invalid_move": game["is_cut"]}}
        rewards = {str(seat): score for seat, score in enumerate(game["scores"])}
        lines.append(
            {"env": "Any-v0", "players": game["players"], "steps": steps, "rewards": rewards,
             "game_info": info, "id": game["id"]}
        )  # fmt: skip
    path = folder / "games.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return [path]


def write_clembench(games: list[dict[str, Any]], folder: Path) -> list[Path]:
    lines = []
    for number, game in enumerate(games):
        turns = []
        for moves in game["moves"]:
            turns.append([
                {"from": f"Player {seat + 1}", "to": "GM",
                 "action": {"type": "get message", "content": f"option {move}"}}
                for seat, move in enumerate(moves)
            ])  # fmt: skip
        if game["is_cut"]:
            note = {"type": "invalid format", "content": "no option"}
            turns[-1].append({"from": "GM", "to": "GM", "action": note})
        names = {
            f"Player {seat + 1}": {"model_name": name} for seat, name in enumerate(game["players"])
        }
        lines.append(
            {"meta": {"game_name": "any", "game_id": number, "results_folder": game["id"]},
             "players": {"GM": {"model_name": "programmatic"}, **names}, "turns": turns,
             "Aborted": int(game["is_cut"]), "total points": list(game["scores"])}
        )  # fmt: skip
    path = folder / "interactions.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return [path]


def write_table(games: list[dict[str, Any]], folder: Path) -> list[Path]:
    path = folder / "games.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["game", "round", "seat", "player", "action", "score", "failure"])
        for game in games:
            for number, moves in enumerate(game["moves"]):
                is_last = number == ROUNDS - 1
                for seat, move in enumerate(moves):
                    failure = "illegal" if is_last and seat and game["is_cut"] else ""
                    score = game["scores"][seat] if is_last else ""
                    row = (game["id"], number, seat, game["players"][seat], move, score, failure)
                    writer.writerow(row)
    return [path]


WRITERS = {
    "kaggle": write_kaggle,
    "arena": write_arena,
    "textarena": write_textarena,
    "clembench": write_clembench,
    "table": write_table,
}


def audited(recorder: Recorder, form: str, folder: Path) -> GameLogAudit:
    return audit_games(read_game_logs(WRITERS[form](recorder.games, folder)))


@pytest.mark.parametrize("form", WRITERS)
def test_nothing_is_found_in_clean_logs(form: str, tmp_path: Path) -> None:
    audit = audited(Recorder(), form, tmp_path)
    assert audit.sentences == ()
    assert (audit.games, audit.same_moves, audit.unjudged) == (GAMES, 0, 0)
    assert audit.first_seat is not None and audit.first_seat_games == GAMES


@pytest.mark.parametrize("form", WRITERS)
def test_planted_faults_are_found(form: str, tmp_path: Path) -> None:
    audit = audited(Recorder(forfeits=10, copies=5, first_wins=0.95), form, tmp_path)
    cut = [row for row in audit.players if row.games_cut]
    assert [(row.player, row.seat, row.games_cut) for row in cut] == [("bob", 1, 10)]
    assert sum(sum(row.failures.values()) for row in audit.players) == 10
    assert audit.same_moves == 5
    edge = audit.first_seat
    assert edge is not None and edge.low is not None and edge.low > 0
    assert len(audit.sentences) >= 4


def test_result_without_forfeits_changes_the_places(tmp_path: Path) -> None:
    """Bob loses by forfeits what he wins on the board."""
    recorder = Recorder(forfeits=25)
    for game in recorder.games:
        if not game["is_cut"]:
            game["scores"] = tuple(int(name == "bob") for name in game["players"])
    audit = audited(recorder, "kaggle", tmp_path)
    places = {row.player: (row.rank, row.rank_without) for row in audit.results}
    assert places["bob"][1] == 1 and any("changes" in line for line in audit.sentences) == (
        places["bob"][0] != 1
    )
    results = {row.player: row for row in audit.results}
    assert results["bob"].without_cut.value == 1.0
    assert (results["bob"].every_game.value or 0) < 1.0


def test_constant_player_that_beats_a_player_is_named(tmp_path: Path) -> None:
    """In a dilemma with payoffs of each round, defecting against cooperators pays more."""
    path = tmp_path / "rounds.csv"
    payoffs = {("C", "C"): 3, ("C", "D"): 0, ("D", "C"): 5, ("D", "D"): 1}
    stream = random.Random(1)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["game", "round", "seat", "player", "action", "payoff"])
        for number in range(20):
            for turn in range(10):
                pair = [stream.choice("CD"), stream.choice("CD")]
                for seat in (0, 1):
                    payoff = payoffs[pair[seat], pair[1 - seat]]
                    row = (f"g{number}", turn, seat, PLAYERS[seat], pair[seat], payoff)
                    writer.writerow(row)
    audit = audit_games(read_game_logs([path]))
    better = {row.simple for row in audit.simple if row.difference.low and row.difference.low > 0}
    assert better == {"always D"}


def test_file_given_twice_counts_its_games_once(tmp_path: Path) -> None:
    paths = write_textarena(Recorder().games, tmp_path)
    audit = audit_games(read_game_logs([*paths, *paths]))
    assert (audit.games, audit.same_id, audit.same_moves) == (2 * GAMES, GAMES, 0)


def test_command_prints_one_screen_and_writes_a_page(tmp_path: Path) -> None:
    write_kaggle(Recorder(forfeits=10).games, tmp_path)
    page = tmp_path / "audit.html"
    arguments = ["audit", "--logs", str(tmp_path), "--out", str(page)]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0 and len(result.output.splitlines()) <= 30
    assert "10 of 60 games were decided" in " ".join(result.output.split())
    assert "10 of 60 games were decided" in page.read_text()
    plain = json.loads(CliRunner().invoke(cli, ["audit", "--logs", str(tmp_path), "--json"]).stdout)
    assert plain["games"] == GAMES


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.json", "{", "not JSON"),
        ("a.json", '{"steps": 1, "rewards": [1], "statuses": []}', "incomplete"),
        ("a.json", '{"x": 1}', "not a record of a game"),
        ("a.csv", "game,seat\n1,0\n", "lacks the column player"),
        ("a.txt", "hello", "is not a log of games"),
    ],
)
def test_wrong_files_get_one_sentence(name: str, text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=says):
        read_game_logs([tmp_path / name])
