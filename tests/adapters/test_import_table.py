"""Anybody's table of rounds: what comes in, what is refused, and the way out and in again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally import store
from sally.adapters.importers.table import imported
from sally.adapters.importers.table_layout import layout_of
from sally.analysis.profile.estimates import person_of
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Forfeited, PlayerSpec, Reported
from sally.core.match.playback import mismatch, replayed
from sally.core.registry import registry
from sally.core.registry.paper import ImportResult
from sally.core.rules.metric import Played
from tests.table import played
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


def table(folder: Path, text: str, name: str = "play.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def taken(path: Path, **flags: Any) -> ImportResult:
    given = {"game": "ipd", "moves": "simultaneous", **flags}
    return imported(path, layout_of(path, {k: v for k, v in given.items() if v is not None}))


def measured(found: ImportResult, metric: str, n: int = 0, seat: str = "agent") -> float | None:
    episode = found.episodes[n]
    spec = registry.game(episode.setup.instance.game)
    played = Played(spec, episode, replayed(spec, episode))
    return registry.metrics("repeated_games")[metric].measure(played, seat)  # type: ignore[arg-type]


# --- what comes in --------------------------------------------------------------------------------


def test_rounds_become_episodes_with_people_named_and_payoffs_checked(tmp_path: Path) -> None:
    found = taken(table(tmp_path, GAME), source="lab", licence="CC0")
    first, second = found.episodes
    assert first.setup.instance.id == "lab:ann:a" and second.setup.instance.id == "lab:-:b"
    assert (person_of(first.setup, "agent"), person_of(first.setup, "partner")) == ("ann", "")
    assert first.payoffs == {"agent": 18.0, "partner": 18.0}
    assert second.setup.lineup["agent"].params == {"name": "gpt"}
    assert first.used["source"]["licence"] == "CC0" and not found.lines
    assert mismatch(registry.game("ipd"), first) is None


def test_declared_bot_fills_its_seat_and_regret_is_exact(tmp_path: Path) -> None:
    found = taken(table(tmp_path, GAME), partners={"bot": "tit_for_tat"})
    assert not found.lines
    assert measured(found, "functional_regret", 1) == pytest.approx((26 - 20) / 3)


def test_moves_differing_from_declared_bot_are_listed_by_round(tmp_path: Path) -> None:
    found = taken(table(tmp_path, GAME), partners={"bot": "single_action,action=0"})
    assert [(d["game"], d["turn"], d["recorded"]) for d in found.details["differences"]] == [
        ("a", 3, "F"),
        ("b", 2, "F"),
        ("b", 3, "F"),
    ]


def test_gaps_and_empty_cells_are_void_rounds(tmp_path: Path) -> None:
    text = "episode,round,action1,action2\na,1,J,J\na,3,,J\na,4,F,F\n"
    found = taken(table(tmp_path, text))
    (episode,) = found.episodes
    lost = [(e.turn, e.seat, e.reason) for e in episode.events if isinstance(e, Forfeited)]
    assert lost == [
        (1, "agent", "the round is not in the table"),
        (1, "partner", "the round is not in the table"),
        (2, "agent", "no move"),
    ]
    assert episode.payoffs == {"agent": 13.0, "partner": 13.0}
    assert found.counts["void rounds"] == 2


def test_predictions_are_scored_and_times_kept(tmp_path: Path) -> None:
    text = (
        "episode,round,action1,action2,prediction1,prediction2,rt1\n"
        "a,1,J,F,F,,1200\na,2,J,J,J:.3 F:.7,,\na,3,J,J,,,900\n"
    )
    found = taken(table(tmp_path, text), rt="ms")
    (episode,) = found.episodes
    said = [(e.turn, e.value, e.odds) for e in episode.events if isinstance(e, Reported)]
    assert said == [(0, 1, None), (1, 1, (0.3, 0.7))]
    spec = registry.game("ipd")
    played = Played(spec, episode, replayed(spec, episode))
    assert registry.metrics("repeated_games")["tom_percent"].measure(played, "agent") == 50.0  # type: ignore[arg-type]
    assert episode.used["people"] == {"agent": {"seconds": [1.2, None, 0.9]}}
    assert mismatch(spec, episode) is None


def test_one_row_per_player_and_custom_names(tmp_path: Path) -> None:
    text = (
        "game,trial,who,action,payoff,extra\n"
        "g,1,x,Cooperate,0,1\ng,1,y,Defect,10,1\ng,2,y,Defect,5,1\ng,2,x,Defect,5,1\n"
    )
    found = taken(
        table(tmp_path, text),
        columns={"episode": "game", "round": "trial"},
        long="who",
        names=("Cooperate", "Defect"),
    )
    (episode,) = found.episodes
    assert episode.payoffs == {"agent": 5.0, "partner": 15.0}
    assert [episode.setup.lineup[s].params["name"] for s in ("agent", "partner")] == ["x", "y"]
    assert found.lines[0].endswith("extra") and "columns not read" in found.lines[0]


def test_matrix_is_inferred_from_payoffs_if_every_cell_occurs(tmp_path: Path) -> None:
    text = f"{HEADER}\na,1,,,J,J,8,8\na,2,,,F,J,10,0\na,3,,,J,F,0,10\n"
    with pytest.raises(BadInput, match="F and F was never played"):
        taken(table(tmp_path, text), game=None, infer=True)
    found = taken(table(tmp_path, text + "a,4,,,F,F,5,5\n"), game=None, infer=True)
    assert found.episodes[0].setup.instance.params["names"] == ["J", "F"]
    assert found.episodes[0].payoffs == {"agent": 23.0, "partner": 23.0}
    twice = text + "a,4,,,F,F,5,5\na,5,,,F,F,4,4\n"
    with pytest.raises(BadInput, match="line 6: F and F pay"):
        taken(table(tmp_path, twice), game=None, infer=True)


def test_shorter_episodes_are_censored_unless_as_played(tmp_path: Path) -> None:
    path = table(tmp_path, GAME + "c,1,gpt,bot,J,J,8,8\n")
    cut = taken(path).episodes[-1].events[-1]
    assert isinstance(cut, Censored) and cut.cause == "left"
    assert taken(path, as_played=True).episodes[-1].payoffs == {"agent": 8.0, "partner": 8.0}


def test_random_stop_is_recorded_as_move_of_nature(tmp_path: Path) -> None:
    path = table(tmp_path, GAME + "c,1,gpt,bot,J,J,8,8\n")
    found = taken(path, stop_chance=0.2)
    assert found.episodes[-1].payoffs == {"agent": 8.0, "partner": 8.0}
    assert all(mismatch(registry.game("ipd"), e) is None for e in found.episodes)


def test_toml_file_beside_the_table_sets_its_layout(tmp_path: Path) -> None:
    table(
        tmp_path,
        'game = "ipd"\nmoves = "simultaneous"\nsource = "lab"\n[partners]\nbot = "tit_for_tat"\n',
        "play.toml",
    )
    path = tmp_path / "play.csv.gz"
    path.write_bytes(gzip.compress(GAME.encode()))
    found = imported(path, layout_of(path, {}))
    assert found.episodes[0].setup.lineup["partner"].player == "tit_for_tat"
    assert found.episodes[0].setup.instance.id.startswith("lab:")


# --- what is refused ------------------------------------------------------------------------------


def test_all_errors_are_reported_together_with_line_and_column(tmp_path: Path) -> None:
    text = (
        "episode,round,player1,action1,action2,payoff1,payoff2,prediction1\n"
        "a,1,x,J,j,8,8,\n"
        "a,one,x,J,J,8,8,\n"
        "a,2,y,J,J,8,,\n"
        "a,2,x,J,J,8,8,\n"
        "a,3,x,J,J,8,8,J:.5 F:.2\n"
    )
    with pytest.raises(BadInput) as refused:
        taken(table(tmp_path, text))
    said = str(refused.value).splitlines()[1:]
    assert said == [
        "line 2, column action2: there is no move 'j'; the moves are J and F; did you mean J?",
        "line 3, column round: 'one' is not a positive whole number",
        "line 4, column player1: 'y' plays where 'x' played in round 1",
        "line 4, column payoff2: only one of the two payoffs is given",
        "line 5, column round: round 2 of a is already in line 4",
        "line 6, column prediction1: the odds sum to 0.7, not to 1",
    ]


def test_wrong_flags_columns_and_cells_are_reported_together(tmp_path: Path) -> None:
    path = table(tmp_path, GAME)
    with pytest.raises(BadInput) as refused:
        taken(path, game=None, moves=None, columns={"round": "trial"})
    said = str(refused.value)
    for part in ("in exactly one way", "before they saw", "no column trial"):
        assert part in said
    with pytest.raises(BadInput) as refused:
        taken(path, game="ibs", rounds=1, partners={"nobody": "tit_for_tat"})
    said = str(refused.value)
    for part in ("more than `rounds` = 1", "'nobody', which is not", "contradict the matrix"):
        assert part in said


def test_errors_beyond_twenty_are_only_counted(tmp_path: Path) -> None:
    rows = "".join(f"a,{n},X,J\n" for n in range(1, 31))
    with pytest.raises(BadInput) as refused:
        taken(table(tmp_path, f"episode,round,action1,action2\n{rows}"))
    assert len(str(refused.value).splitlines()) == 22
    assert str(refused.value).endswith("and 10 more")


def test_payoffs_against_the_matrix_are_an_error_with_three_examples(tmp_path: Path) -> None:
    path = table(tmp_path, GAME)
    with pytest.raises(BadInput, match="contradict the matrix") as refused:
        taken(path, game="ibs")
    assert len(str(refused.value).splitlines()) == 6 and "and 3 more" in str(refused.value)
    found = taken(path, game="ibs", allow_differences=True)
    assert [d["what"] for d in found.details["differences"]] == ["payoff"] * 6


def test_skip_bad_omits_invalid_episodes_and_names_them(tmp_path: Path) -> None:
    found = taken(table(tmp_path, GAME.replace("b,2,gpt,bot,F", "b,2,gpt,bot,K")), skip_bad=True)
    assert [e.used["episode"] for e in found.episodes] == ["a"]
    assert "skipped episode b" in found.lines[0] and "line 6" in found.lines[0]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"game": None}, "in exactly one way"),
        ({"moves": None}, "before they saw the other's move"),
        ({"moves": "in turn"}, "not a repeated matrix game"),
        ({"game": "chess"}, "no repeated game named 'chess'"),
        ({"partners": {"bot": "tit_for_tatt"}}, "did you mean tit_for_tat"),
        ({"partners": {"bot": "tit_for_tat,frist=1"}}, "did you mean first"),
        ({"partners": {"nobody": "tit_for_tat"}}, "'nobody', which is not a player in"),
        ({"columns": {"round": "trial"}}, "no column trial"),
        ({"columns": {"rund": "trial"}}, "did you mean round"),
        ({"rounds": 2}, "more than"),
        ({"rounds": 3, "as_played": True}, "exclude each other"),
        ({"names": ("J", "F", "B")}, "3 names for 2 moves"),
    ],
)
def test_wrong_flags_are_refused_with_one_message(
    tmp_path: Path, flags: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        taken(table(tmp_path, GAME), **flags)


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
    first, again = tmp_path / "first", tmp_path / "again"
    path = table(tmp_path, text)
    flags = ["--game", "ipd", "--moves", "simultaneous", "--partner", "bot=tit_for_tat,first=0"]
    run("import", "table", str(path), "--out", str(first), *flags)
    run("export", str(first), "--what", "rounds", "--to", str(tmp_path / "out.csv"))
    run("import", "table", str(tmp_path / "out.csv"), "--out", str(again))
    one, two = (store.load(folder).episodes for folder in (first, again))
    assert one.keys() == two.keys() and len(one) == 2
    for id in one:
        assert one[id].events == two[id].events
        assert (one[id].cell, one[id].used.get("people")) == (
            two[id].cell,
            two[id].used.get("people"),
        )
    said = run("import", "table", str(tmp_path / "out.csv"), "--out", str(first), "--json")
    assert json.loads(said)["counts"]["already there"] == 2


def test_changed_table_under_same_name_is_refused(tmp_path: Path) -> None:
    path, out = table(tmp_path, GAME), str(tmp_path / "out")
    run("import", "table", str(path), "--out", out, "--game", "ipd", "--moves", "simultaneous")
    table(tmp_path, GAME.replace("b,3,gpt,bot,F,F,5,5", "b,3,gpt,bot,J,F,0,10"))
    result = CliRunner().invoke(
        cli,
        ["import", "table", str(path), "--out", out, "--game", "ipd", "--moves", "simultaneous"],
    )
    assert isinstance(result.exception, BadInput) or "another record" in result.output
    assert len(store.load(tmp_path / "out").episodes) == 2


def test_bot_episodes_export_to_table_and_import_again(tmp_path: Path) -> None:
    there = [
        played(
            table_of("ipd", seed, agent=PlayerSpec("random"), partner=PlayerSpec("grim_trigger"))
        )
        for seed in range(4)
    ]
    out, back, path = (str(tmp_path / name) for name in ("bots", "back", "bots.csv"))
    store.claim(Path(out), store.Manifest("bots", asks="bots"))
    with store.Writer(Path(out)) as writer:
        for episode in there:
            writer.add(episode)
    run("export", out, "--what", "rounds", "--to", path)
    said = json.loads(run("import", "table", path, "--out", back, "--json"))
    assert said["counts"]["stored"] == len(there) and not said["differences"]
    again = store.load(Path(back)).episodes.values()
    assert sorted(str(e.payoffs) for e in there) == sorted(str(e.payoffs) for e in again)
    assert {e.setup.lineup["partner"].player for e in again} == {"grim_trigger"}
