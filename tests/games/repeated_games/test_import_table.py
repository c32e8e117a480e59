"""Anybody's table of rounds: what comes in, what is refused, and the way out and in again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Forfeited, PlayerSpec, Reported
from sally.core.match.playback import mismatch, replay_episode
from sally.core.registry import registry
from sally.core.registry.paper import ImportResult
from sally.core.rules.metric import Played
from sally.frames.measured_seat import person_of
from sally.games.repeated_games.importers.table import import_table
from tests.table import play_episode
from tests.table import table as table_of

HEADER = "episode,round,player1,player2,action1,action2,payoff1,payoff2"
GAME = f"""{HEADER}
a,1,human:ann,bot,J,J,8,8
a,2,human:ann,bot,F,J,10,0
a,3,human:ann,bot,J,F,0,10
b,1,gpt,bot,F,J,10,0
b,2,gpt,bot,F,F,5,5
b,3,gpt,bot,F,F,5,5
"""


IPD = 'game = "ipd"\n'
BOT = IPD + 'partners = { bot = { player = "tit_for_tat" } }\n'


def table(folder: Path, text: str, description: str = IPD) -> Path:
    path = folder / "play.csv"
    path.write_text(text)
    path.with_suffix(".toml").write_text(description)
    return path


def take_all(folder: Path, text: str, description: str = IPD) -> ImportResult:
    return import_table(table(folder, text, description))


def measure_metric(
    import_result: ImportResult, metric: str, n: int = 0, seat: str = "agent"
) -> float | None:
    episode = import_result.episodes[n]
    spec = registry.game(episode.setup.instance.game)
    played = Played(spec, episode, replay_episode(spec, episode))
    return registry.metrics("repeated_games")[metric].measure(played, seat)  # type: ignore[arg-type]


# --- what comes in --------------------------------------------------------------------------------


def test_rounds_become_episodes_with_people_named_and_payoffs_checked(tmp_path: Path) -> None:
    result = take_all(tmp_path, GAME, IPD + 'source = "lab"\nlicence = "CC0"\n')
    first, second = result.episodes
    assert first.setup.instance.id == "lab:ann:a" and second.setup.instance.id == "lab:-:b"
    assert (person_of(first.setup, "agent"), person_of(first.setup, "partner")) == ("ann", "")
    assert first.payoffs == {"agent": 18.0, "partner": 18.0}
    assert second.setup.lineup["agent"].params == {"name": "gpt"}
    assert first.used["source"]["licence"] == "CC0" and not result.lines
    assert mismatch(registry.game("ipd"), first) is None


def test_declared_bot_fills_its_seat_and_regret_is_exact(tmp_path: Path) -> None:
    result = take_all(tmp_path, GAME, BOT)
    assert not result.lines
    assert measure_metric(result, "functional_regret", 1) == pytest.approx((26 - 20) / 3)


def test_moves_differing_from_declared_bot_are_listed_by_round(tmp_path: Path) -> None:
    partners = 'partners = { bot = { player = "single_action", params = { action = 0 } } }'
    result = take_all(tmp_path, GAME, IPD + partners)
    assert [(d["game"], d["turn"], d["recorded"]) for d in result.details["differences"]] == [
        ("a", 3, "F"),
        ("b", 2, "F"),
        ("b", 3, "F"),
    ]


def test_gaps_and_empty_cells_are_void_rounds(tmp_path: Path) -> None:
    text = "episode,round,action1,action2,payoff1,payoff2\na,1,J,J,,\na,3,,J,3,0\na,4,F,F,,\n"
    result = take_all(tmp_path, text)
    (episode,) = result.episodes
    lost_triples = [(e.turn, e.seat, e.reason) for e in episode.events if isinstance(e, Forfeited)]
    assert lost_triples == [
        (1, "agent", "the round is not in the table"),
        (1, "partner", "the round is not in the table"),
        (2, "agent", "no move"),
    ]
    assert episode.payoffs == {"agent": 13.0, "partner": 13.0}
    assert result.counts["void rounds"] == 2
    (differs,) = result.details["differences"]
    assert (differs["what"], differs["recorded"]) == ("payoff of a void round", "3 and 0")


def test_predictions_are_scored_and_times_kept(tmp_path: Path) -> None:
    text = (
        "episode,round,action1,action2,prediction1,prediction2,rt1,mood\n"
        "a,1,J,F,F,,1.2,x\na,2,J,J,J:.3 F:.7,,,x\na,3,J,J,,,.9,x\n"
    )
    result = take_all(tmp_path, text)
    (episode,) = result.episodes
    triples = [(e.turn, e.value, e.odds) for e in episode.events if isinstance(e, Reported)]
    assert triples == [(0, 1, None), (1, 1, (0.3, 0.7))]
    spec = registry.game("ipd")
    played = Played(spec, episode, replay_episode(spec, episode))
    assert registry.metrics("repeated_games")["tom_percent"].measure(played, "agent") == 50.0  # type: ignore[arg-type]
    assert episode.used["people"] == {"agent": {"seconds": [1.2, None, 0.9]}}
    assert mismatch(spec, episode) is None
    assert result.lines == (f"columns not read: {tmp_path}/play.csv:1: mood",)


def test_matrix_and_names_of_moves_are_parameters_of_the_game(tmp_path: Path) -> None:
    matrix = "[[[3, 3], [0, 5]], [[5, 0], [1, 1]]]"
    text = "episode,round,action1,action2,payoff1,payoff2\ng,1,Cooperate,Defect,0,5\n"
    result = take_all(
        tmp_path, text, f'params = {{ matrix = {matrix}, names = ["Cooperate", "Defect"] }}'
    )
    assert result.episodes[0].setup.instance.game == "repeated_games"
    assert result.episodes[0].payoffs == {"agent": 0.0, "partner": 5.0}


def test_shorter_episodes_are_abandoned_only_if_rounds_is_declared(tmp_path: Path) -> None:
    text = GAME + "c,1,gpt,bot,J,J,8,8\n"
    assert take_all(tmp_path, text).episodes[-1].payoffs == {"agent": 8.0, "partner": 8.0}
    cut = take_all(tmp_path, text, IPD + "params = { rounds = 3 }").episodes[-1].events[-1]
    assert isinstance(cut, Censored) and cut.cause == "left"


def test_random_stop_is_recorded_as_move_of_nature(tmp_path: Path) -> None:
    text = GAME + "c,1,gpt,bot,J,J,8,8\n"
    result = take_all(tmp_path, text, IPD + "params = { stop_chance = 0.2, rounds = 3 }")
    assert result.episodes[-1].payoffs == {"agent": 8.0, "partner": 8.0}
    assert all(mismatch(registry.game("ipd"), e) is None for e in result.episodes)


# --- what is refused ------------------------------------------------------------------------------


def test_all_errors_are_reported_together_with_line_and_column(tmp_path: Path) -> None:
    text = (
        "episode,round,player1,action1,action2,payoff1,payoff2,prediction1,rt1\n"
        "a,1,x,J,j,8,8,,\n"
        "a,one,x,J,J,8,8,,\n"
        "a,2,y,J,J,8,,,\n"
        "a,2,x,J,J,8,8,,\n"
        "a,3,x,J,J,8,8,J:.5 F:.2,\n"
        ",4,x,J,J,8,x,,\n"
        "a,4,x,J,J,8,8,J:nan F:.5,\n"
        "a,6,x,J,J,8,8,,inf\n"
        "a,5,x,J,F,8,8,J:.5 F:.5 K:0,\n"
    )
    with pytest.raises(BadInput) as refused:
        take_all(tmp_path, text)
    lines = str(refused.value).splitlines()[1:]
    assert lines == [
        "line 2, column action2: There is no move named 'j'; the known names are F and J.",
        "line 3, column round: 'one' is not a whole number from 1",
        "line 4, column payoff1: the payoffs are 8 and -, but 8 and 8 by the matrix",
        "line 4, column player1: 'y' instead of 'x', as in the first round",
        "line 5, column round: round 2 of a is already in line 4",
        "line 6, column prediction1: the odds sum to 0.7, not to 1",
        "line 7, column episode: '' is not a name",
        "line 8, column prediction1: 'nan' is not a probability",
        "line 9, column rt1: 'inf' is not a number",
        "line 10, column payoff1: the payoffs are 8 and 8, but 0 and 10 by the matrix",
        "line 10, column prediction1: There is no move named 'K'; the known names are F and J.",
    ]


def test_errors_beyond_twenty_are_only_counted(tmp_path: Path) -> None:
    rows = "".join(f"a,{n},X,J\n" for n in range(1, 31))
    with pytest.raises(BadInput) as refused:
        take_all(tmp_path, f"episode,round,action1,action2\n{rows}")
    assert len(str(refused.value).splitlines()) == 22
    assert str(refused.value).endswith("and 10 more")


@pytest.mark.parametrize(
    ("description", "says"),
    [
        ('game = "chess"', "no game named 'chess'"),
        ('game = "hanabi"', "no repeated game named 'hanabi'"),
        ("rounds = 3", "unknown field `rounds`"),
        (BOT.replace("tit_for_tat", "tit_for_tatt"), "did you mean tit_for_tat"),
        (BOT.replace("bot =", "nobody ="), "'nobody' is not a player in the table"),
        (IPD + "params = { rounds = 2 }", "more than `rounds` = 2"),
        (IPD + "params = { stop_chance = 0.1 }", "`stop_chance` needs `rounds`"),
        (IPD + 'params = { names = ["J", "F", "B"] }', "3 names for 2 moves"),
        ("game = ", "play.toml: Invalid value"),
    ],
)
def test_wrong_descriptions_are_refused(tmp_path: Path, description: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        take_all(tmp_path, GAME, description)


def test_missing_files_columns_and_rows_are_refused(tmp_path: Path) -> None:
    path = table(tmp_path, GAME.replace("round", "trial", 1))
    with pytest.raises(BadInput, match="line 1: there is no column round"):
        import_table(path)
    with pytest.raises(BadInput, match="has no rows"):
        take_all(tmp_path, HEADER + "\n")
    path.with_suffix(".toml").unlink()
    with pytest.raises(BadInput, match=r"There is no .*play.toml, which describes play.csv"):
        import_table(path)
    with pytest.raises(BadInput, match=r"ends in \.csv"):
        import_table(tmp_path)


# --- commands -------------------------------------------------------------------------------------


def run(*args: str) -> str:
    result = CliRunner().invoke(cli, list(args), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_export_and_reimport_give_same_episodes(tmp_path: Path) -> None:
    text = (
        "episode,round,player1,player2,action1,action2,prediction1,rt1,condition\n"
        "a,1,human:ann,bot,J,J,F,1.25,hot\na,2,human:ann,bot,,J,J:.25 F:.75,,hot\n"
        "a,4,human:ann,bot,F,J,,2,hot\nb,1,human:bob,bot,F,J,,,cold\n"
    )
    first, repeated_folder = tmp_path / "first", tmp_path / "again"
    partners = 'partners = { bot = { player = "tit_for_tat", params = { first = 0 } } }\n'
    path = table(tmp_path, text, IPD + partners + "params = { rounds = 4 }")
    run("import", "table", str(path), "--out", str(first))
    run("export", str(first), "--what", "rounds", "--out", str(tmp_path / "out.csv"))
    run("import", "table", str(tmp_path / "out.csv"), "--out", str(repeated_folder))
    episode, two = (store.load(folder).episodes for folder in (first, repeated_folder))
    assert episode.keys() == two.keys() and len(episode) == 2
    for id in episode:
        assert episode[id].events == two[id].events
        assert (episode[id].cell, episode[id].used.get("people")) == (
            two[id].cell,
            two[id].used.get("people"),
        )
    reply_text = run("import", "table", str(tmp_path / "out.csv"), "--out", str(first), "--json")
    assert json.loads(reply_text)["counts"]["already there"] == 2


def test_changed_table_under_same_name_is_refused(tmp_path: Path) -> None:
    path, out = table(tmp_path, GAME), str(tmp_path / "out")
    run("import", "table", str(path), "--out", out)
    table(tmp_path, GAME.replace("b,3,gpt,bot,F,F,5,5", "b,3,gpt,bot,J,F,0,10"))
    result = CliRunner().invoke(
        cli,
        ["import", "table", str(path), "--out", out],
    )
    assert isinstance(result.exception, BadInput) or "another record" in result.output
    assert len(store.load(tmp_path / "out").episodes) == 2


def test_bot_episodes_export_to_table_and_import_again(tmp_path: Path) -> None:
    existing = [
        play_episode(
            table_of("ipd", seed, agent=PlayerSpec("random"), partner=PlayerSpec("grim_trigger"))
        )
        for seed in range(4)
    ]
    out, back, path = (str(tmp_path / name) for name in ("bots", "back", "bots.csv"))
    store.claim(Path(out), store.Manifest("bots", asks="bots"))
    with store.Writer(Path(out)) as writer:
        for episode in existing:
            writer.add(episode)
    run("export", out, "--what", "rounds", "--out", path)
    data = json.loads(run("import", "table", path, "--out", back, "--json"))
    assert data["counts"]["stored"] == len(existing) and not data["differences"]
    repeated_episodes = store.load(Path(back)).episodes.values()
    assert sorted(str(e.payoffs) for e in existing) == sorted(
        str(e.payoffs) for e in repeated_episodes
    )
    assert {e.setup.lineup["partner"].player for e in repeated_episodes} == {"grim_trigger"}
