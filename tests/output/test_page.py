"""The page of a study: every number leads to its episodes, and what is missing is said."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sally
from sally import store
from sally.api.files import profile_seats
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import Censored, Moved, PlayerSpec, Reported, episode_id, to_line
from sally.core.registry import registry
from sally.core.registry.study import Cell, Study, grid, instance, player_spec
from sally.frames import build
from sally.frames.frame import as_frame
from sally.frames.rows import trial_key
from sally.output.files.provenance import provenance_of
from sally.output.page import results, write
from sally.output.page.page_data import PageData
from sally.output.page.reliability import reliability_section
from sally.output.page.transcripts import transcript_of
from sally.output.page.write import PageOptions, chosen_of, in_turn, write_page
from sally.output.tables.console import cell
from sally.output.tables.reliability import correlation_rows, reliability_rows, variance_rows
from sally.runner.check import prompts_of
from sally.runner.local import orders
from tests.metrics.test_answers import random_episode
from tests.output.hostile import hostile_store

MADE = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def small_study(repeats: int = 4) -> Study:
    cell = Cell(
        "short",
        (instance("ipd", "ipd-3", rounds=3),),
        grid(
            agent=(player_spec("random"), player_spec("tabular")),
            partner=player_spec("tit_for_tat"),
        ),
        arms={"agent": ("their_move_given_mine",)},
        repeats=repeats,
    )
    return Study("small", "two agents", (cell,))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("small") / "store"
    sally.run(small_study(), out)
    return out


def page_of(folder: Path, out: Path, **wishes: object) -> str:
    write_page(PageData(folder), out, PageOptions(made=MADE, **wishes))  # type: ignore[arg-type]
    return out.read_text("utf-8")


@pytest.fixture(scope="module")
def page(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_of(folder, tmp_path_factory.mktemp("page") / "page.html")


def text_of(markup: str) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", markup)).split())


def test_page_from_the_cache_equals_page_from_the_lines(
    page: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SALLY_CACHE", str(tmp_path / "cache"))
    copied = Path(shutil.copytree(folder, tmp_path / folder.name))
    assert page_of(copied, tmp_path / "first.html") == page
    monkeypatch.setattr(build, "replay_episode", lambda episode: 1 / 0)  # nothing is replayed
    assert page_of(copied, tmp_path / "again.html") == page


def test_page_lists_only_the_first_episodes_and_states_the_rest(
    page: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "LISTED", 12)
    monkeypatch.setattr(results, "LEAST", 1)
    short = page_of(folder, tmp_path / "short.html")
    assert short.count("The first 3; 1 more are not listed.") == 4
    assert page.count("<tr><td>") - short.count("<tr><td>") == 4
    assert "not listed" not in page


def test_finished_episode_replaces_a_censored_one(folder: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(folder, tmp_path / folder.name))
    first, two, *_ = sally.load(folder)
    stop = [Censored(turn=0, cause="budget")]
    cut = [msgspec.structs.replace(item, events=stop) for item in (first, first, two)]
    lines = b"".join(to_line(item) for item in (*cut[:2], two, cut[2], two))
    (path / "00.jsonl").write_bytes(lines)
    page_data = PageData(path)
    frame = page_data.frame
    assert (len(page_data), frame.replaced, frame.doubled) == (8, 3, 2)
    assert page_data.provenance.ends == {"over": 8}
    assert [frame.episode_by_id(first.id), frame.episode_by_id(two.id)] == [first, two]


def test_plot_is_explained_only_if_present(folder: Path, tmp_path: Path) -> None:
    records = grid(agent=player_spec("random"), partner=player_spec("tit_for_tat"))
    cell = Cell("rps", (instance("rps", rounds=4),), records, repeats=3)
    sally.run(Study("quiet", "nobody is asked", (cell,)), tmp_path / "quiet")
    replies = []
    for place in (folder, tmp_path / "quiet"):
        done = CliRunner().invoke(cli, ["report", str(place), "--out", str(tmp_path / "p.html")])
        assert done.exit_code == 0, done.output
        text = text_of((tmp_path / "p.html").read_text("utf-8"))
        replies.append(("Bottom right" in text, "No plot: no player" in text))
    assert replies == [(True, False), (False, True)]


def test_page_shows_the_reliability_and_variance_that_the_command_prints(
    folder: Path, tmp_path: Path
) -> None:
    text = text_of(page_of(folder, tmp_path / "page.html", profile=profile_seats))
    both = sally.reliability(folder)
    tables = [
        reliability_rows(both.measures, 0.8),
        correlation_rows(both.matrix),
        variance_rows(sally.variance(folder).sources),
    ]
    assert tables[0] and tables[2]  # two players are too few for correlations
    for rows in tables:
        for row in rows:
            assert " ".join(row) in text
            assert " ".join(map(cell, row.values())) in text
    alone = as_frame(folder).filter(pl.col("setup").cast(pl.String).str.contains("tabular"))
    assert 0 < len(alone) < len(as_frame(folder)) and reliability_section(alone) is None


def test_every_link_has_a_target_and_ids_are_unique(page: str) -> None:
    places = Counter(re.findall(r'id="([^"]*)"', page))
    links = set(re.findall(r'href="#([^"]*)"', page))
    assert len(links) > 50
    assert links <= set(places)
    assert [place for place, n in places.items() if n > 1] == []


def test_every_mean_equals_the_mean_of_its_linked_column(page: str, folder: Path) -> None:
    means = sally.score(folder, ["functional_regret"], seat="agent", by=("others", "player"))
    for mean in means:
        text = f"{mean['value']:.3f}" if abs(mean["value"]) < 1 else f"{mean['value']:.2f}"
        cell = re.search(rf'href="#(g\d+)-(\d+)"[^>]*>{re.escape(text)}</a>', page)
        assert cell, text
        group = page[page.index(f'<details id="{cell[1]}"') :].partition("</details>")[0]
        head, *lines = group.split("<tr>")[1:]
        column = re.findall(r"<th [^>]*?(?:id=\"(g[\d-]+)\")?>", head)
        index = column.index(f"{cell[1]}-{cell[2]}")
        values = [re.findall(r"<td[^>]*>", line)[index] for line in lines]
        numbers = [float(v) for cell in values for v in re.findall(r'data-v="([^"]*)"', cell)]
        assert len(lines) == 4
        assert sum(numbers) / len(numbers) == pytest.approx(mean["value"], rel=1e-4)


def test_every_episode_is_listed_per_seat_with_link_to_transcript(page: str, folder: Path) -> None:
    for episode in sally.load(folder):
        assert page.count(f'href="#e-{episode.id}"') == 2
        assert page.count(f'id="e-{episode.id}"') == 1


def test_transcript_shows_turns_probes_answers_and_truth(page: str, folder: Path) -> None:
    episode = sally.load(folder)[0]
    told = page[page.index(f'id="e-{episode.id}"') :].partition("<h2")[0]
    assert "Turn 0" in told and "Turn 2" in told
    assert text_of(told).count("says aside") >= 3
    assert ">right<" in told or ">true: " in told
    assert "The rules, as agent reads them" in told
    assert "Over: agent " in told


def test_page_loads_nothing_and_runs_only_its_own_script(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert policy[1].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy[1]
    assert page.count("<script>") == page.count("<style>") == 1
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", page)


def test_same_store_gives_the_same_page(page: str, folder: Path, tmp_path: Path) -> None:
    assert page_of(folder, tmp_path / "again.html") == page


def test_missing_episodes_are_reported(folder: Path, tmp_path: Path, page: str) -> None:
    assert "were not played" not in page
    half = tmp_path / "half"
    sally.run(small_study(), half, limit=2)
    assert "6 of 8 planned episodes were not played" in text_of(page_of(half, tmp_path / "h.html"))


def test_censored_and_unreadable_episodes_are_counted(folder: Path, tmp_path: Path) -> None:
    first, second = sally.load(folder)[:2]
    other_folder = tmp_path / "other"
    store.claim(other_folder, store.Manifest("other", "x"))
    with store.Writer(other_folder) as writer:
        writer.add(first)
        cut = [*second.events[:3], Censored(1, "budget", "gone <b>")]
        writer.add(msgspec.structs.replace(second, events=cut))
    (other_folder / "9-z.jsonl").write_bytes(b"{}\n")
    text = text_of(page_of(other_folder, tmp_path / "c.html"))
    assert "1 of 2 episodes have no result;" in text and "1 without a result (budget" in text
    assert "1 lines of the store are unreadable" in text
    assert "has no study, so missing episodes are unknown" in text
    assert "gone <b>" in text


def test_header_adds_up_and_is_folded(folder: Path, tmp_path: Path) -> None:
    """Voids count as episodes without a result, and the lines of reasons add up to the header."""
    episodes = sally.load(folder)
    other_folder = tmp_path / "other"
    store.claim(other_folder, store.Manifest("other", "x"))
    with store.Writer(other_folder) as writer:
        for number, episode in enumerate(episodes[:6]):
            ends = [Censored(1, "limit", f"no answer within 30 s in call {number}")]
            if number == 3:
                ends = [Censored(1, "limit", "3 rounds in a row were void")]
            if number > 3:
                ends = [Censored(1, f"cause{number}", "")]
            writer.add(msgspec.structs.replace(episode, events=[*episode.events[:3], *ends]))
    html = page_of(other_folder, tmp_path / "c.html")
    text = text_of(html)
    assert "6 of 6 episodes have no result;" in text
    assert "3 without a result (limit: no answer within 30 s in call N)" in text
    assert "1 without a result (limit: 3 rounds in a row were void)" in text
    counts = [int(n) for n in re.findall(r"(\d+) without a result \(", text)]
    assert sum(counts) == 6
    assert re.search(r"<details>\s*<summary>\d+ remarks on missing data", html)


def test_episodes_of_other_rule_versions_are_excluded_and_reported(
    folder: Path, tmp_path: Path
) -> None:
    first, second = sally.load(folder)[:2]
    other_folder = tmp_path / "other"
    store.claim(other_folder, store.Manifest("other", "x"))
    with store.Writer(other_folder) as writer:
        writer.add(first)
        setup = msgspec.structs.replace(second.setup, version=99)
        second = msgspec.structs.replace(second, setup=setup, id=episode_id(setup))
        writer.add(second)
    page = page_of(other_folder, tmp_path / "o.html")
    assert "1 episodes could not be measured and are in no mean" in page
    assert page.count("Not shown: Episode") == 1
    assert page.count(f'href="#e-{first.id}"') == 2 and f'href="#e-{second.id}"' not in page


def test_page_is_written_for_a_game_that_is_not_installed(folder: Path, tmp_path: Path) -> None:
    episode = sally.load(folder)[0]
    named_instance = msgspec.structs.replace(episode.setup.instance, game="<b>theirs")
    setup = msgspec.structs.replace(episode.setup, instance=named_instance)
    other_folder = tmp_path / "other"
    store.claim(other_folder, store.Manifest("</title><script>", "x"))
    with store.Writer(other_folder) as writer:
        writer.add(msgspec.structs.replace(episode, setup=setup, id=episode_id(setup)))
    page = page_of(other_folder, tmp_path / "o.html")
    assert "There is no game named" in page
    assert "<b>theirs: played under rules version 1; the game is not installed" in text_of(page)
    assert "<title>&lt;/title&gt;&lt;script&gt;: Sally report</title>" in page


def test_trials_shared_by_two_cells_are_counted_once(tmp_path: Path) -> None:
    both_study = small_study()
    twice = msgspec.structs.replace(
        both_study,
        cells=(*both_study.cells, msgspec.structs.replace(both_study.cells[0], name="again")),
    )
    sally.run(twice, tmp_path / "s")
    counts = provenance_of(as_frame(tmp_path / "s")).counts([twice])
    assert (counts.wanted, counts.missing, counts.others) == (len(orders(twice)), 0, 0)
    assert [(c.cell, c.wanted, c.there) for c in counts.cells] == [("short", 8, 8), ("again", 8, 8)]


@pytest.mark.parametrize("name", ["quickstart", "tradecraft2026", "moore2025"])
def test_trial_key_is_the_same_before_and_after_resolution(name: str) -> None:
    study = registry.entries("studies")[name]
    bots = [
        (c, s) for c, s in study.trials() if all(w.player != "language" for w in s.lineup.values())
    ]
    asked_trial_keys = {trial_key(setup) for _, setup in bots}
    cells = tuple(
        msgspec.structs.replace(cell, lineups=kept_lineups)
        for cell in study.cells
        if (kept_lineups := tuple(lineup for lineup in cell.lineups if not _has_model(lineup)))
    )
    seated = {trial_key(s) for _, _, s in orders(msgspec.structs.replace(study, cells=cells), 1)}
    assert seated and seated <= asked_trial_keys


def _has_model(lineup: dict[str, PlayerSpec]) -> bool:
    return any(player.player == "language" for player in lineup.values())


def test_transcripts_are_chosen_evenly_within_the_budget(monkeypatch) -> None:
    lineups = in_turn(np.array([7, 3, 7, 5, 5, 7]))
    assert [lineup.tolist() for lineup in lineups] == [[0, 2, 5], [1], [3, 4]]
    sizes = np.full(6, 10)
    monkeypatch.setattr(write, "BUDGET", 40)
    assert list(chosen_of(lineups, sizes, None)) == [0, 1, 2, 3]
    assert list(chosen_of(lineups, sizes, 1)) == [0, 1, 3]
    assert list(chosen_of(lineups, sizes, 9)) == [0, 1, 2, 3, 4, 5]
    assert list(chosen_of(lineups, sizes, 0)) == []
    sizes[4] = 5  # a smaller one fits where no other does
    monkeypatch.setattr(write, "BUDGET", 35)
    assert list(chosen_of(lineups, sizes, None)) == [0, 1, 3, 4]
    monkeypatch.setattr(write, "BUDGET", 1)
    assert list(chosen_of(lineups, sizes, None)) == [0]


def test_page_states_how_many_episodes_have_a_transcript(folder: Path, tmp_path: Path) -> None:
    page = page_of(folder, tmp_path / "one.html", transcripts=1)
    assert "2 of 8 episodes have a transcript below" in page
    assert page.count('class="episode"') == 2


def test_empty_store_and_unwritable_path_are_refused_with_one_message(
    folder: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    store.claim(empty, store.Manifest("none", "x"))
    with pytest.raises(BadInput, match="contains no episode to report"):
        write_page(PageData(empty), tmp_path / "x.html")
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot be written"):
        write_page(PageData(folder), tmp_path / "file" / "x.html")


@pytest.mark.parametrize("game", sorted(registry.games()))
def test_every_game_has_a_transcript(game: str) -> None:
    """Random players, asked everything: every report has its truth or says that it has none."""
    episode = random_episode(game).episode
    text = str(transcript_of(episode))
    assert "Not shown" not in text and "Turn" in text
    reports = [e for e in episode.events if isinstance(e, Reported)]
    judged = re.findall(r'class="badge[^"]*">(right|true: |not scored)', text)
    assert len(judged) == len(reports)
    moves = [e for e in episode.events if isinstance(e, Moved) and e.seat != "nature"]
    assert text.count(">does</span>") == len(moves)


def test_prompts_are_shown_as_they_were_sent(tmp_path: Path) -> None:
    """Whole once, then only what is new: put together, the shown parts are the prompts."""
    folder = hostile_store(tmp_path / "hostile")
    episode = next(e for e in sally.load(folder) if e.setup.lineup["agent"].player == "language")
    prompts = prompts_of(episode)
    calls = [call for event in episode.events for call in getattr(event, "calls", ())]
    assert sum(map(len, prompts.values())) == len(calls) > 0
    page = page_of(folder, tmp_path / "p.html", prompts_of=prompts_of)
    told = page[page.index(f'id="e-{episode.id}"') :].partition('class="episode"')[0]
    first = next(iter(prompts.values()))[0][0].text
    assert first in unescape(re.sub("<[^>]*>", "", told))
    for call in calls:
        assert call.prompt in told


def variants(partners: int, episodes: int) -> list[dict[str, object]]:
    """Rows of a studied agent with many partners, and of these partners."""
    return [
        {"game": "ipd", "seat": seat, "cell": "c", "player": player, "others": other,
         "name": player.split()[0], "studied": seat == "agent"}
        for number in range(partners)
        for _ in range(episodes)
        for seat, player, other in (("agent", "model qa", f"table ({number})"),
                                    ("partner", f"table ({number})", "model qa"))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("partners", "episodes", "groups"),
    [(30, 2, 1), (30, 5, 30), (12, 1, 12), (13, 1, 1)],
    ids=["positions", "tournament", "few partners", "many partners"],
)
def test_partners_that_vary_from_episode_to_episode_are_one_group(partners, episodes, groups):
    rows = results.pool_variants(pl.DataFrame(variants(partners, episodes)))
    assert rows.group_by("seat", "player", "others").len().height == 2 * groups
    assert set(rows.filter(pl.col("studied"))["player"]) == {"model qa"}
    if groups == 1:
        assert set(rows["player"]) == {"model qa", f"table, {partners} variants"}
        assert set(rows["others"]) == {"model qa", f"other players, {partners} variants"}
