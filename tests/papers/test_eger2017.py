"""Hanabi logs of the published layout, written here: every line is held to the moves."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Censored
from sally.core.match.playback import mismatch, replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.games.hanabi.judged_turns import judge_turns
from sally.games.hanabi.rules import Hanabi
from sally.papers.eger2017 import figures
from sally.papers.eger2017.importer import AI, IMPORTER, PERSON
from sally.papers.eger2017.reader import (
    COLOUR_HINT,
    DISCARD,
    PLAY,
    RANK_HINT,
    Game,
    Move,
    person_of,
    prose,
    shuffle_deck,
)
from sally.parts.importers import Source

FIRST, SECOND = "00aa11bb22cc33dd", "11bb22cc33dd44ee"
SURVEY = "intention 3\nskill bad\nexp new\npublish yes\n"


def moves_of(seed: int, choose: Callable[[random.Random, tuple[int, ...]], int]) -> list[Move]:
    """A whole game of these choices among the legal moves, by Sally's rules."""
    deck = tuple(5 * colour + rank - 1 for colour, rank in shuffle_deck(seed))
    rules = Hanabi(deck=deck, score="kept", discard_at_full=True)
    state, draws, results = rules.start(), random.Random(seed), []
    while rules.to_move(state):
        seat = rules.seats[state.mover]
        action, me = choose(draws, rules.options(state, seat)), state.mover
        if action >= 10:
            _, value = rules.hint_of(action)
            colour = value < 5
            kind = COLOUR_HINT if colour else RANK_HINT
            told = (value, None) if colour else (None, value - 4)
            results.append(Move(me, kind, None, 1 - me, *told))
        else:
            kind = PLAY if action >= 5 else DISCARD
            results.append(Move(me, kind, action % 5, 1 if me else None, None, None))
        state = rules.step(state, {seat: action})
    return results


def careless(draws: random.Random, legal: tuple[int, ...]) -> int:
    """Rarely plays, so that discards with all tokens come up and the deck runs out."""
    return draws.choice([a for a in legal if not 5 <= a < 10 or draws.random() < 0.2] or legal)


def log_of(moves: list[Move], seed: int = 3, ai: str = "outer", before: str = "") -> str:
    deck = shuffle_deck(seed)
    game = Game(Source("", "", "", ""), FIRST, before, ai, seed, deck, tuple(moves), 0, 0)
    head = [f"Old GID: {before}"] if before else []
    head += [f"Treatment: ('{ai}', {seed})", str(list(deck[10:]))]
    return "\n".join([*head, *prose(Path("x"), game)]) + "\n"


MOVES = moves_of(3, careless)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    log = tmp_path / "log"
    log.mkdir()
    (log / f"game{FIRST}.log").write_text(log_of(MOVES))
    (log / f"survey{FIRST}.log").write_text(SURVEY)
    (log / f"game{SECOND}.log").write_text(log_of(moves_of(7, careless), 7, "full", FIRST))
    return tmp_path


def test_games_are_imported_whole_and_matched_to_the_nearest_survey(folder: Path) -> None:
    result = IMPORTER.import_from(folder)
    assert [e.setup.instance.id for e in result.episodes] == [
        f"hanabidata:{FIRST}:{FIRST}",
        f"hanabidata:{FIRST}:{SECOND}",
    ]
    assert result.details["differences"] == []
    first, second = result.episodes
    assert second.cell == "full" and second.used["previous"] == FIRST
    assert first.used["people"]["bob"]["survey"]["exp"] == "new"
    assert first.payoffs is not None and first.payoffs["bob"] == first.used["recorded_score"]
    assert mismatch(registry.game("hanabi"), first) is None
    assert result.counts["discards with all tokens"] > 0
    assert result.counts["people"] == 1


def test_deck_of_a_seed_is_complete_and_differs_from_python_3() -> None:
    deck = shuffle_deck(3)
    assert sorted(deck) == sorted(
        (c, n) for c in range(5) for n, k in enumerate((3, 2, 2, 2, 1), 1) for _ in range(k)
    )
    python_3 = sorted(deck)
    random.Random(3).shuffle(python_3)
    assert deck != tuple(python_3)


def test_second_import_adds_nothing(folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "store")
    for stored in (2, 0):
        run = CliRunner().invoke(cli, ["import", "eger2017", str(folder), "--out", out])
        assert run.exit_code == 0, run.output
        assert f"stored: {stored}\n" in run.output
    assert len(store.load(out).episodes) == 2
    result = CliRunner().invoke(cli, ["paper", "eger2017", "figures", out, "--bots", "--json"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("cut", [0.3, 0.7, 0.99])
def test_truncated_log_aborts_the_import(folder: Path, cut: float) -> None:
    file = folder / "log" / f"game{FIRST}.log"
    text = file.read_text()
    file.write_text(text[: int(len(text) * cut)])
    with pytest.raises(BadInput, match=file.name):
        IMPORTER.import_from(folder)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("hints remaining: 7", "hints remaining: 6", "its moves imply"),
        ("'outer', 3", "'outer', 4", "seed 4"),
        ("'outer', 3", "'other', 3", "not one of"),
        ("Score ", "Score 1", "its moves imply"),
        ("MOVE: 0 ", "MOVE: 2 ", "is not a move"),
        ("trash is now ", "trash is now red 5, ", "its moves imply"),
    ],
)
def test_changed_log_aborts_the_import(folder: Path, old: str, new: str, why: str) -> None:
    file = folder / "log" / f"game{FIRST}.log"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(BadInput, match=why):
        IMPORTER.import_from(folder)
    result = IMPORTER.import_from(folder, skip_bad=True) if old == "Score " else None
    assert result is None or any("not imported" in line for line in result.lines)


def test_dropped_move_is_detected_as_out_of_turn(folder: Path) -> None:
    (folder / "log" / f"game{FIRST}.log").write_text(log_of([*MOVES[:4], *MOVES[5:]]))
    with pytest.raises(BadInput, match=r"out of turn|not legal|no card"):
        IMPORTER.import_from(folder)


def test_game_is_truncated_where_seats_get_out_of_step(folder: Path) -> None:
    index = next(n for n, m in enumerate(MOVES) if m.player == 0 and m.kind == DISCARD)
    slipped = [
        *MOVES[:index],
        Move(0, DISCARD, MOVES[index].slot, 1, None, None),
        *MOVES[index + 1 :],
    ]
    (folder / "log" / f"game{FIRST}.log").write_text(log_of(slipped))
    result = IMPORTER.import_from(folder)
    last = result.episodes[0].events[-1]
    assert isinstance(last, Censored) and f"move {index + 1} of" in last.detail
    assert result.counts["games cut where the seats slip"] == 1


def test_participant_is_the_nearest_survey_and_doubts_are_listed() -> None:
    chain = {"a": "", "b": "a", "c": "b", "d": "lost", "e": "f", "f": "e"}
    assert [person_of(g, chain, {"a": 1, "c": 1}) for g in "abc"] == ["a", "a", "c"]
    for game, reason in (("d", "no log here"), ("e", "circular"), ("a", "no survey")):
        with pytest.raises(BadInput, match=reason):
            person_of(game, chain, {})


def test_turns_are_judged_by_what_the_mover_could_know(folder: Path) -> None:
    spec = registry.game("hanabi")
    games = [
        Played(spec, e, replay_episode(spec, e)) for e in IMPORTER.import_from(folder).episodes
    ]
    turns = [t for played in games for seat in (AI, PERSON) for t in judge_turns(played, seat)]
    assert {t.kind for t in turns} == {"hint", "play", "discard"}
    assert all(t.scored for t in turns if t.certain)
    assert not any(t.scored for t in turns if t.hopeless)
    assert all(t.touches_playable for t in turns if t.only_playable)
    assert not any(t.dead and t.last_copy for t in turns)
    sides = figures.side_games(games, ("iggi",))
    assert {g.person for g in sides} == {FIRST} and sum(g.first for g in sides) == 2
    assert figures.measure(sides, "hints").value == pytest.approx(
        sum(t.kind == "hint" for t in turns) / len(turns)
    )
    assert 0 < (figures.agreement(sides, "iggi").value or 0) < 1


def test_paths_without_logs_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no file or folder"):
        IMPORTER.import_from(tmp_path / "no")
    with pytest.raises(BadInput, match="There is no log"):
        IMPORTER.import_from(tmp_path)
