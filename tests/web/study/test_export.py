"""Studies with people: withdrawal deletes all data, exports contain no names."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import psycopg
import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import PlayerSpec
from sally.core.registry.study import Cell, Study
from sally.runner.check import check
from sally.runner.run import run_study
from tests.web.participants import (
    RIGHT,
    STUDY,
    TEXT,
    Participant,
    logged_in,
    on_disk,
    study_server,
    through,
)
from tests.web.postgres import empty_database


@pytest.fixture
def server(tmp_path):
    with study_server(tmp_path, TEXT) as client:
        yield client


# --- withdrawal -----------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["at once", "in a game", "at the end"])
def test_withdrawal_leaves_no_trace_in_any_file(server, tmp_path, when):
    stays = through(Participant(server), "stays0id")
    person = Participant(server).agree("goes0away0id")
    if when != "at once":
        person.read_on().check(*RIGHT)
        person.answer_all(person.seat_token, limit=3)
    if when == "at the end":
        person.get().play_all().survey(human="4", device="A phone", why="a secret remark")
    assert on_disk(tmp_path, "goes0away0id")
    exported = logged_in(server).browser.get("/experimenter/study/people.json").json()
    (own_participant,) = [
        r["participant"]
        for r in exported
        if r["state"] != "done" or r["survey"]["why"] == "a secret remark"
    ]
    person.get("/withdraw")
    assert "cannot be deleted from here" in person.text
    person.post("/withdraw", token=person.field("token"))
    assert person.heading == "You have withdrawn" and "made before" in person.text
    assert on_disk(tmp_path, "goes0away0id") == []
    assert on_disk(tmp_path, "a secret remark") == []
    # The code, which stood in the setups of matches, stays only to be listed for deletion, because
    # the download above was an export.
    assert set(on_disk(tmp_path, own_participant)) <= {"database.sqlite", "database.sqlite-wal"}
    assert on_disk(tmp_path, "stays0id") and stays.get().heading == "Thank you"
    assert person.get().page.status_code == 400  # the cookie opens nothing any more
    progress = logged_in(server).browser.get("/experimenter/study").text
    assert "Withdrawn 1" in progress


def test_withdrawal_removes_the_participant_from_the_servers_export(server, tmp_path):
    person = through(Participant(server), "goes")
    through(Participant(server), "stays")
    experimenter = logged_in(server)
    folder = tmp_path / "two_games"

    def export() -> None:
        page = experimenter.browser.get("/experimenter/study").text
        token = re.search(r'name="form_token" value="([^"]+)"', page)[1]
        answer = experimenter.browser.post("/experimenter/study/export", data={"form_token": token})
        assert answer.status_code == 200

    export()
    episodes_before, people = set(store.load(folder).episodes), (folder / "people.json").read_text()
    person.get("/withdraw")
    person.post("/withdraw", token=person.field("token"))
    episodes_after, remaining_text = (
        set(store.load(folder).episodes),
        (folder / "people.json").read_text(),
    )
    assert (
        len(episodes_before) == 4 and len(episodes_after) == 2 and episodes_after < episodes_before
    )
    assert people.count('"participant"') == 2 and remaining_text.count('"participant"') == 1
    export()
    assert set(store.load(folder).episodes) == episodes_after


def test_whole_study_with_withdrawal_runs_on_postgresql(tmp_path):
    with empty_database() as database, study_server(tmp_path, TEXT, database) as server:
        assert through(Participant(server), "stays").heading == "Thank you"
        person = through(Participant(server), "goes0away0id")
        assert Participant(server).get(PROLIFIC_PID="stays").page.status_code == 409
        person.get("/withdraw")
        person.post("/withdraw", token=person.field("token"))
        assert person.heading == "You have withdrawn"
        rows = logged_in(server).browser.get("/experimenter/study/people.json").json()
        assert [row["state"] for row in rows] == ["done"] and len(rows[0]["episodes"]) == 2
        with psycopg.connect(database) as db:
            names = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            for (table,) in names.fetchall():
                actual_rows = db.execute(
                    f"SELECT COUNT(*) FROM {table} t WHERE t::text LIKE '%goes0a%'"
                )
                assert actual_rows.fetchone() == (0,)


# --- export ---------------------------------------------------------------------------------------


@pytest.fixture
def exported(server, tmp_path):
    for id in ("alice01", "bob02"):
        through(Participant(server), id)
    left = Participant(server).agree("carol03").read_on().check(*RIGHT)
    left.leave(left.seat_token)
    left.get()
    experimenter = logged_in(server).browser
    token = re.search(
        r'name="form_token" value="([^"]+)"', experimenter.get("/experimenter/study").text
    )[1]
    experimenter.post("/experimenter/study/export", data={"form_token": token})
    return tmp_path / "two_games"


def test_ids_in_exports_are_hashes_and_the_salt_is_not_exported(exported, server):
    for id in ("alice01", "bob02", "carol03"):
        assert on_disk(exported, id) == []
    kept_secrets = server.app.state.studies["two_games"].secrets
    assert on_disk(exported, kept_secrets.salt) == on_disk(exported, kept_secrets.sign) == []
    people = msgspec.json.decode((exported / "people.json").read_bytes())
    assert len({row["participant"] for row in people}) == 3
    from hashlib import blake2b, md5, sha1, sha256

    for plain in (blake2b, md5, sha1, sha256):
        assert not any(plain(b"alice01").hexdigest()[:12] in r["participant"] for r in people)


def test_id_hashes_differ_between_studies(tmp_path):
    recorded = []
    for n in (1, 2):
        (tmp_path / str(n)).mkdir()
        with study_server(tmp_path / str(n), TEXT) as server:
            Participant(server).agree("same")
            recorded += logged_in(server).browser.get("/experimenter/study/people.json").json()
    assert recorded[0]["participant"] != recorded[1]["participant"]


def test_every_exported_episode_replays(exported):
    episodes = store.load(exported).episodes
    replay_check = check(episodes.values())
    assert (
        replay_check.replayed == replay_check.episodes == 5
        and not replay_check.mismatches
        and not replay_check.unchecked
    )
    assert Counter(e.payoffs is None for e in episodes.values()) == {False: 4, True: 1}


def test_reports_show_people_beside_models(exported):
    problems = STUDY.instances
    models = Study(
        "two_games",
        "the same rounds for a bot",
        tuple(
            Cell(c.name, problems, ({"agent": PlayerSpec("random"), **c.others},), arms=c.arms)
            for c in STUDY.conditions
        ),
        seed=STUDY.seed,
    )
    run_study(models, exported)
    result = CliRunner().invoke(cli, ["score", str(exported), "--json"], catch_exceptions=False)
    players = {
        row["player"] for row in msgspec.json.decode(result.output) if row["seat"] == "agent"
    }
    assert players == {"person", "random"}
    seeds = {}
    for episode in store.load(exported).episodes.values():
        seeds.setdefault(episode.setup.instance.id, set()).add(episode.setup.seed)
    assert all(len(seed) == 1 for seed in seeds.values())  # people and bots meet the same deals


def test_exported_episodes_contain_study_metadata(exported):
    for episode in store.load(exported).episodes.values():
        (known_person,) = episode.used["people"].values()
        assert known_person["participant"] == episode.setup.lineup["agent"].params["participant"]
        assert known_person["option_order"] in ("as given", "reversed")
        assert all(seconds >= 0 for seconds in known_person["seconds"])
        assert episode.cell in ("asked", "not asked")


def test_export_does_not_overwrite_other_files(server, tmp_path):
    through(Participant(server), "someone")
    (tmp_path / "two_games").mkdir()
    (tmp_path / "two_games" / "thesis.txt").write_text("mine")
    experimenter = logged_in(server).browser
    page = experimenter.get("/experimenter/study").text
    token = re.search(r'name="form_token" value="([^"]+)"', page)[1]
    answer = experimenter.post("/experimenter/study/export", data={"form_token": token})
    assert answer.status_code == 409 and "other files" in answer.text


def test_progress_and_downloads_require_the_experimenter_login(server):
    person = Participant(server).agree("nosy")
    for path in ("", "/payments.csv", "/people.json", "/episodes.jsonl"):
        answer = person.browser.get(f"/experimenter/study{path}", follow_redirects=False)
        assert answer.status_code == 303 and "login" in answer.headers["location"]
    assert person.browser.post("/experimenter/study/export", data={}).status_code == 401


# --- the command line ---------------------------------------------------------------------------


def sally(*args: str) -> str:
    result = CliRunner().invoke(cli, ["people", *args], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_template_study_passes_its_check(tmp_path):
    (tmp_path / "mine.toml").write_text(sally("template"))
    data = msgspec.json.decode(sally("check", str(tmp_path / "mine.toml"), "--json"))
    assert data["study"] == "two_games" and len(data["conditions"]) == 2


def test_export_works_after_the_server_stopped(tmp_path):
    with study_server(tmp_path, TEXT) as server:
        through(Participant(server), "one")
        file, database = str(tmp_path / "study.toml"), str(tmp_path / "database.sqlite")
        early = ("--database", database, "--out", str(tmp_path / "early"))
        assert "2 episodes" in sally("export", file, *early)  # beside the running server
        with pytest.raises(BadInput, match="already uses the database"):
            sally("withdraw", file, "one", "--database", database, "--yes")
    data = msgspec.json.decode(sally("progress", file, "--database", database, "--json"))
    assert data["states"] == {"done": 1, "withdrawn": 0, "declined": 0}
    out = str(tmp_path / "out")
    assert "2 episodes" in sally("export", file, "--database", database, "--out", out)
    assert len(store.load(tmp_path / "out").episodes) == 2
    with pytest.raises(BadInput, match="There is no database"):
        sally("progress", file, "--database", str(tmp_path / "nowhere"))
