"""Frames of the published layout, written here: moves come in, bots are driven, doubts named."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import shutil
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally import store
from sally.analysis.episodes.atlas import recorded_dots
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Forfeited, to_line
from sally.core.match.playback import mismatch, replay_episode
from sally.core.registry import registry
from sally.core.rules.metric import Played
from sally.papers.brockbank2024.importer import IMPORTER

HEADER = [
    "game_id",
    "version",
    "sona_survey_code",
    "round_index",
    "player_id",
    "is_bot",
    "bot_strategy",
    "round_begin_ts",
    "player_move",
    "player_rt",
    "player_outcome",
    "player_outcome_viewtime",
    "player_points",
    "player_total",
]
BEATS = {"rock": "scissors", "paper": "rock", "scissors": "paper"}
Moves = Callable[[int], str]  # round -> move; `none`, or NA for one that was lost


def points(mine: str, theirs: str) -> tuple[str, int]:
    if mine == "none" or theirs == "none":
        return ("loss", -1) if mine == "none" else ("win", 3)
    if mine == theirs:
        return "tie", 0
    return ("win", 3) if BEATS[mine] == theirs else ("loss", -1)


def rows_of(
    person: Moves, bot: Moves, strategy: str, version: str, game: str, rounds: int = 300
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number in range(1, rounds + 1):
        moves = (person(number), bot(number))
        for is_bot in (0, 1):
            own_move, their_move = moves[is_bot], moves[1 - is_bot]
            lost = "NA" in moves
            if lost and not is_bot and version == "3":
                continue  # there the row is absent
            outcome, paid = ("NA", 0) if lost else points(own_move, their_move)
            rows.append(
                dict.fromkeys(HEADER, "")
                | {
                    "game_id": game,
                    "version": version,
                    "sona_survey_code": "course-account",
                    "round_index": number,
                    "is_bot": is_bot,
                    "bot_strategy": strategy,
                    "player_move": own_move,
                    "player_rt": 0 if is_bot else 1500,
                    "player_outcome": outcome,
                    "player_points": paid,
                }
            )
    return rows


def write_files(folder: Path, frames: Mapping[str, list[dict[str, Any]]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in frames.items():
        text = io.StringIO()
        writer = csv.DictWriter(text, HEADER)
        writer.writeheader()
        writer.writerows(rows)
        data = text.getvalue().encode()
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder


def rock(number: int) -> str:
    return "rock"


def beats_rock(number: int) -> str:
    """What the bot that counts moves after moves plays against rock: anything, then paper."""
    return "rock" if number <= 2 else "paper"


ADAPTIVE = ("opponent_prev_move", "3", "cafe")
STABLE = ("prev_move_positive", "2", "beef")


def test_game_is_imported_with_moves_times_and_totals(tmp_path: Path) -> None:
    import_result = IMPORTER.read(
        write_files(tmp_path, {"rps_v3_data.csv.gz": rows_of(rock, beats_rock, *ADAPTIVE)})
    )
    (episode,) = import_result.episodes
    assert episode.payoffs == {"agent": -298.0, "partner": 298.0 * 3}
    assert episode.setup.instance.id == "rps_v3:cafe:0" and episode.cell == "adaptive bots"
    assert episode.setup.lineup["partner"].player == "adaptive_opponent_previous"
    assert episode.used["recorded_total"] == {"agent": -298.0, "partner": 894.0}
    assert episode.used["people"]["agent"]["seconds"][:2] == [1.5, 1.5]
    assert episode.used["source"]["licence"] == "CC0 1.0"
    assert len(episode.used["source"]["sha256"]) == 64
    assert b"course-account" not in to_line(episode)
    assert mismatch(registry.game("rps"), episode) is None
    assert import_result.counts["adaptive bots: moves outside before a void round"] == 0
    assert not import_result.details["differences"] and not import_result.details["oddities"]


def test_bot_that_breaks_its_rule_is_named(tmp_path: Path) -> None:
    slips = lambda n: "scissors" if n == 9 else beats_rock(n)  # noqa: E731
    import_result = IMPORTER.read(
        write_files(tmp_path, {"rps_v3_data.csv": rows_of(rock, slips, *ADAPTIVE)})
    )
    (difference,) = import_result.details["differences"]
    assert (difference["turn"], difference["recorded"]) == (9, "Scissors")
    assert import_result.counts["adaptive bots: moves outside before a void round"] == 1


def test_rounds_without_a_move_are_void_and_their_points_differ(tmp_path: Path) -> None:
    person = lambda n: {5: "none", 6: "NA"}.get(n, "rock")  # noqa: E731
    bot = lambda n: "scissors" if n == 7 else beats_rock(n)  # noqa: E731
    import_result = IMPORTER.read(
        write_files(tmp_path, {"rps_v3_data.csv": rows_of(person, bot, *ADAPTIVE)})
    )
    (episode,) = import_result.episodes
    lost_events = [e for e in episode.events if isinstance(e, Forfeited)]
    assert [(e.turn, e.reason) for e in lost_events] == [
        (4, "no move within ten seconds"),
        (5, "lost by the server"),
    ]
    assert episode.payoffs is not None  # void rounds end nothing here
    points, move = import_result.details["differences"]
    assert (points["what"], points["turn"], points["recorded"]) == ("points", 5, "-1 and 3")
    assert (move["what"], move["turn"]) == ("bot's move", 7)  # ours would still expect rock
    assert import_result.counts["adaptive bots: moves outside after a void round"] == 1
    assert import_result.counts["adaptive bots: moves outside with void=published"] == 0
    assert (
        import_result.counts["no move in time"] == import_result.counts["lost by the server"] == 1
    )


def test_stable_bot_has_a_rule_and_people_a_regret_against_it(tmp_path: Path) -> None:
    bot = lambda n: ("rock", "paper", "scissors")[n % 3]  # noqa: E731
    import_result = IMPORTER.read(
        write_files(tmp_path, {"rps_v2_data.csv": rows_of(rock, bot, *STABLE)})
    )
    assert import_result.counts["stable bots: rule followed"] == 299
    assert import_result.counts["stable bots: rounds with a rule"] == 299
    (episode,) = import_result.episodes
    played = Played(registry.game("rps"), episode, replay_episode(registry.game("rps"), episode))
    regret = registry.metrics("repeated_games")["functional_regret"].measure(played, "agent")  # type: ignore[arg-type]
    assert regret is not None and regret > 1.5  # rock wins, ties and loses in turn
    assert registry.metrics("repeated_games")["win_rate"].measure(played, "agent") == pytest.approx(  # type: ignore[arg-type]
        1 / 3
    )
    (dot,), other_episodes = recorded_dots(import_result.episodes)
    assert other_episodes == [] and dot.kind == "people" and dot.n == 300 and dot.clusters == 1
    assert dot.who.startswith("people, ") and dot.low is None
    assert dot.column.setting == "300 rounds, by declared bot"
    assert dot.value < 0.1  # rock in every round is no better than even odds


def test_game_that_stops_early_is_censored_and_named(tmp_path: Path) -> None:
    rows = rows_of(rock, beats_rock, *ADAPTIVE, rounds=40)
    import_result = IMPORTER.read(write_files(tmp_path, {"rps_v3_data.csv": rows}))
    last = import_result.episodes[0].events[-1]
    assert isinstance(last, Censored) and last.cause == "left"
    assert [odd["what"] for odd in import_result.details["oddities"]] == ["unfinished"]


def test_r_file_gives_the_same_episodes_as_the_csv(tmp_path: Path) -> None:
    rdata = pytest.importorskip("rdata")
    pandas = pytest.importorskip("pandas")
    person = lambda n: {5: "none", 6: "NA"}.get(n, "rock")  # noqa: E731
    rows = rows_of(person, beats_rock, *ADAPTIVE)
    (table,) = IMPORTER.read(write_files(tmp_path / "csv", {"rps_v3_data.csv": rows})).episodes
    frame = pandas.DataFrame(rows)
    for name in frame:  # as R has them: numbers with a point, or text
        numeric = name in ("version", "round_index", "is_bot", "player_rt", "player_points")
        frame[name] = frame[name].astype(float if numeric else object)
    (tmp_path / "r").mkdir()
    rdata.write_rda(tmp_path / "r" / "rps_v3_data.RData", {"bot_data": frame})
    (episode,) = IMPORTER.read(tmp_path / "r").episodes
    assert episode.id == table.id and episode.events == table.events
    (tmp_path / "r" / "rps_v3_data.RData").write_bytes(b"RDX3 and no more")
    with pytest.raises(BadInput, match="cannot be read as an R file"):
        IMPORTER.read(tmp_path / "r")


class RFile:
    """A writer of R's binary format (R Internals, section 1.8), as far as a frame needs it."""

    def __init__(self, version: int) -> None:
        self.data, self.known = bytearray(b"RDX%d\nX\n" % version), list[str]()
        self.add(version, 0x40203, 0x30500 if version == 3 else 0x20300)
        if version == 3:
            self.add(5)
            self.data += b"UTF-8"

    def add(self, *numbers: int) -> None:
        self.data += struct.pack(f">{len(numbers)}i", *numbers)

    def text(self, text: str | None) -> None:
        self.add(9, -1) if text is None else self.add(9 | 64 << 12, len(text.encode()))
        self.data += b"" if text is None else text.encode()

    def texts(self, texts: Sequence[str | None]) -> None:
        self.add(16, len(texts))
        for text in texts:
            self.text(text)

    def tag(self, name: str) -> None:
        """The head of a link of a pairlist; a name that was written is referred to."""
        self.add(2 | 0x400)
        if name in self.known:
            self.add(255 | (self.known.index(name) + 1) << 8)
        else:
            self.add(1)
            self.text(name)
            self.known.append(name)

    def pointer(self, name: str) -> None:
        """An external pointer (type 22) as an attribute, as data.table and readr attach it."""
        self.tag(name)
        self.add(22, 254, 254)
        self.known.append("")  # later references count it

    def frame(self, rows: list[dict[str, Any]], pointer_first: bool) -> bytes:
        self.tag("bot_data")
        self.add(19 | 0x300, len(rows[0]))
        for name in rows[0]:
            column = [str(row[name]) for row in rows]
            if name in ("version", "round_index", "is_bot"):
                self.add(13, len(column), *map(int, column))
            elif name == "bot_strategy":  # a factor
                self.add(13 | 0x300, len(column), *[1] * len(column))
                self.tag("levels")
                self.texts(column[:1])
                self.tag("class")
                self.texts(["factor"])
                self.add(254)
            else:
                self.texts([None if cell == "NA" else cell for cell in column])
        if pointer_first:
            self.pointer("problems")
        self.tag("names")
        self.texts(list(rows[0]))
        self.tag("row.names")
        self.add(13, 2, -(2**31), -len(rows))
        self.tag("class")
        self.texts(["data.table", "data.frame"])
        self.pointer(".internal.selfref")
        self.add(254, 254)
        return bytes(self.data)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("pointer_first", [True, False])
@pytest.mark.parametrize("compressed", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_r_file_with_an_external_pointer_gives_the_same_episodes(
    version: int, pointer_first: bool, compressed: Any, tmp_path: Path
) -> None:
    rows = rows_of(lambda n: {5: "none", 6: "NA"}.get(n, "rock"), beats_rock, *ADAPTIVE)
    (table,) = IMPORTER.read(write_files(tmp_path / "csv", {"rps_v3_data.csv": rows})).episodes
    (tmp_path / "r").mkdir()
    saved = RFile(version).frame(rows, pointer_first)
    (tmp_path / "r" / "rps_v3_data.RData").write_bytes(compressed(saved))
    (episode,) = IMPORTER.read(tmp_path / "r").episodes
    assert episode.id == table.id and episode.events == table.events


SAVE = """
bot_data <- read.csv("rps_v3_data.csv", stringsAsFactors = TRUE)
pointer <- new("externalptr")
more <- list(problems = pointer, again = pointer, env = new.env(), call = quote(a + b(c)),
             base = asNamespace("stats"), primitive = sum, formula = y ~ x)
attributes(bot_data) <- c(more, attributes(bot_data))
attr(bot_data, "reader") <- compiler::cmpfun(function(x) x + 1)
save(pointer, bot_data, file = "rps_v3_data.RData", version = %d)
"""


@pytest.mark.skipif(not shutil.which("Rscript"), reason="needs R")
@pytest.mark.parametrize("version", [2, 3])
def test_file_saved_by_r_itself_gives_the_same_episodes(version: int, tmp_path: Path) -> None:
    rows = rows_of(lambda n: {5: "none", 6: "NA"}.get(n, "rock"), beats_rock, *ADAPTIVE)
    place = write_files(tmp_path / "csv", {"rps_v3_data.csv": rows})
    (table,) = IMPORTER.read(place).episodes
    subprocess.run(["Rscript", "-e", SAVE % version], cwd=place, check=True, capture_output=True)
    (place / "rps_v3_data.csv").unlink()
    (episode,) = IMPORTER.read(place).episodes
    assert episode.id == table.id and episode.events == table.events


# --- bad input ------------------------------------------------------------------------------------


def test_copies_and_pointers_are_named_and_not_read_twice(tmp_path: Path) -> None:
    rows = rows_of(rock, beats_rock, *ADAPTIVE)
    write_files(tmp_path, {"rps_v3_data.csv": rows, "rps_v3_data.csv.gz": rows})
    (tmp_path / "rps_v3_freeResp.csv").write_text("version https://git-lfs.github.com/spec/v1\n")
    import_result = IMPORTER.read(tmp_path)
    assert len(import_result.episodes) == 1
    reason = {odd["what"]: odd["why"] for odd in import_result.details["oddities"]}
    assert "Git LFS" in reason["unknown file"] and "csv.gz is read instead" in reason["copy"]


def test_unknown_bot_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    rows = rows_of(rock, beats_rock, "opponent_prev_mov", "3", "cafe")
    with pytest.raises(BadInput, match="did you mean opponent_prev_move"):
        IMPORTER.read(write_files(tmp_path, {"rps_v3_data.csv": rows}))
    good = rows_of(rock, beats_rock, "opponent_prev_move", "3", "beef")
    with pytest.raises(BadInput, match="did you mean opponent_prev_move"):  # nothing is let in
        IMPORTER.read(write_files(tmp_path, {"rps_v3_data.csv": [*good, *rows]}))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"player_move": "lizard"}, "player_move is 'lizard'"),
        ({"round_index": "301"}, "round_index is '301'"),
        ({"is_bot": "2"}, "is_bot is '2'"),
        ({"player_rt": "soon"}, "player_rt is 'soon'"),
        ({"round_index": "1"}, "occurs twice"),
    ],
)
def test_invalid_row_is_refused_with_its_line(
    tmp_path: Path, change: dict[str, str], says: str
) -> None:
    rows = rows_of(rock, beats_rock, *ADAPTIVE)
    rows[2] |= change
    with pytest.raises(BadInput, match=f"line 4: .*{says}"):
        IMPORTER.read(write_files(tmp_path, {"rps_v3_data.csv": rows}))


def test_truncated_or_wrong_file_is_refused_with_one_message(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "a", {"rps_v3_data.csv.gz": rows_of(rock, rock, *ADAPTIVE)})
    full_data = (folder / "rps_v3_data.csv.gz").read_bytes()
    (folder / "rps_v3_data.csv.gz").write_bytes(full_data[: len(full_data) // 2])
    with pytest.raises(BadInput, match="may be incomplete"):
        IMPORTER.read(folder)
    other_file = tmp_path / "b" / "rps_v2_data.csv"
    other_file.parent.mkdir()
    other_file.write_text("game_id,round\n1,1\n")
    with pytest.raises(BadInput, match="no column version"):
        IMPORTER.read(other_file)
    for path in (tmp_path / "nowhere", tmp_path / "c"):
        (tmp_path / "c").mkdir(exist_ok=True)
        with pytest.raises(BadInput, match="There is no"):
            IMPORTER.read(path)


def test_command_stores_once_and_lists_unchecked_parts(tmp_path: Path) -> None:
    source = write_files(tmp_path / "in", {"rps_v3_data.csv": rows_of(rock, beats_rock, *ADAPTIVE)})
    out = tmp_path / "out"

    def run(*args: str) -> str:
        result = CliRunner().invoke(cli, list(args), catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    assert "stored: 1" in run("import", "brockbank2024", str(source), "--out", str(out))
    repeated_text = run("import", "brockbank2024", str(source), "--out", str(out))
    assert "stored: 0" in repeated_text and "already there: 1" in repeated_text
    assert len(store.load(out).episodes) == 1
    text = run("replay", str(out))
    assert "1 of 1 episodes replayed, 0 mismatches, 1 not checked" in text
    assert "agent played elsewhere" in text
