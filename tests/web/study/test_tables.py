"""What researchers get: tidy tables, a Psych-DS folder, payments, progress of a running server."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from sally.cli import cli
from sally.core.match.player import Decision
from sally.core.registry import registry
from sally.web.live.answers import GivenAnswer, to_text
from sally.web.study import pages
from sally.web.study.export import response_times
from sally.web.study.participants import Secrets
from sally.web.study.tables import COLUMNS
from tests.web.participants import RIGHT, TEXT, Participant, logged_in, study_server, through

WATCHED = TEXT.replace(
    "[consent]",
    """[quality]
log = true
attention = "flag"
least_seconds = 5
[consent]""",
    1,
).replace(
    "[[survey]]",
    """[[survey]]
kind = "choice"
name = "reads"
question = "Please choose blue here."
options = ["red", "blue"]
attention = "blue"
[[survey]]
kind = "likert"
name = "fair"
question = "The other player was fair."
[[survey]]
kind = "slider"
name = "sure"
question = "How sure are you?"
[[survey]]
kind = "matrix"
name = "felt"
question = "How did you feel?"
rows = ["calm", "angry"]
options = ["no", "a little", "yes"]
[[survey]]""",
    1,
)
ANSWERS = {"reads": "blue", "fair": "4", "sure": "62.5", "felt-0": "yes", "felt-1": "no"}
REST = {"human": "4", "device": "A phone", "why": "=1+1, I guess"}


@pytest.fixture
def server(tmp_path):
    with study_server(tmp_path, WATCHED) as first:
        yield first


def finish(server: Any, id: str, **answers: str) -> Participant:
    person = Participant(server).agree(id).read_on().check(*RIGHT).play_all()
    return person.survey(**{**ANSWERS, **REST, **answers})


def tables(server: Any) -> dict[str, list[dict[str, str]]]:
    """The tables as a researcher reads them."""
    data = logged_in(server).browser.get("/experimenter/study/psych-ds.zip").content
    with zipfile.ZipFile(io.BytesIO(data)) as folder:
        return {
            name.split("_description-")[1].removesuffix("_data.csv"): list(
                csv.DictReader(io.StringIO(folder.read(name).decode()))
            )
            for name in folder.namelist()
            if name.endswith(".csv")
        }


def test_every_choice_is_a_row_with_its_label_and_its_time(server: Any) -> None:
    finish(server, "p1")
    records = tables(server)
    assert len(records["trials"]) == 10  # two games of five rounds
    assert {row["label"] for row in records["trials"]} <= {"J", "F", "A", "B"}
    assert all(float(row["response_seconds"]) >= 0 for row in records["trials"])
    assert [row["game_number"] for row in records["trials"]] == ["1"] * 5 + ["2"] * 5
    for row in records["probes"]:
        assert row["correct"] == ("true" if row["answer"] == row["truth"] else "false")


def test_trial_rows_are_self_contained(server: Any) -> None:
    finish(server, "p1")
    finish(server, "p2")
    records = tables(server)
    probes = {(r["participant"], r["episode"], r["turn"]): r for r in records["probes"]}
    matrices = {
        "ipd": registry.game("ipd").build().matrix,
        "ibs": registry.game("ibs").build().matrix,
    }
    for row in records["trials"]:
        their_partner = msgspec.json.decode(row["others_option"])["partner"]
        paid = matrices[row["game"]][int(row["option"])][their_partner][0]
        assert float(row["points"]) == paid
        assert msgspec.json.decode(row["others_label"])["partner"]
        questions = probes.get((row["participant"], row["episode"], row["turn"]))
        assert (row["probe"] != "") == (questions is not None) == (row["condition"] == "asked")
        if questions is not None:
            assert row["probe_truth"] == questions["truth"] == str(their_partner)
            assert (row["probe_answer"], row["probe_correct"]) == (
                questions["answer"],
                questions["correct"],
            )
    for person in records["participants"]:
        own_values = [
            float(r["points"])
            for r in records["trials"]
            if r["participant"] == person["participant"]
        ]
        assert sum(own_values) == float(person["points"]) and len(own_values) == 10


def test_survey_answers_are_rows_by_item_and_row(server: Any) -> None:
    finish(server, "p1")
    answers = {(row["item"], row["row"]): row["answer"] for row in tables(server)["survey"]}
    assert answers["fair", ""] == "4" and answers["sure", ""] == "62.5"
    assert answers["felt", "calm"] == "yes" and answers["felt", "angry"] == "no"
    assert answers["why", ""] == "'=1+1, I guess"  # a spreadsheet must not run it


def test_matrix_item_with_a_missing_row_is_asked_again(server: Any) -> None:
    person = finish(server, "p1", **{"felt-1": ""})
    assert person.page.status_code == 422 and "Please answer every row." in person.text
    assert person.survey(**ANSWERS, **REST).heading == "Thank you"


def test_attention_and_events_are_recorded_without_affecting_pay(server: Any) -> None:
    person = Participant(server).agree("p1").read_on()
    sent = [{"kind": "paste", "detail": "12 characters", "page": "x"}, {"kind": "blur"}]
    response = person.browser.post(f"{person.address}/events", json={"events": sent})
    assert response.status_code == 204
    wrong = person.browser.post(f"{person.address}/events", json={"events": [{"kind": "key"}]})
    assert wrong.status_code == 422
    person.check(*RIGHT).play_all().survey(**{**ANSWERS, **REST, "reads": "red"})
    finish(server, "p2")
    participant, two = tables(server)["participants"]
    assert (participant["pastes"], participant["times_away"], participant["attention_passed"]) == (
        "1",
        "1",
        "0",
    )
    assert (two["pastes"], two["times_away"], two["attention_passed"]) == ("0", "0", "1")
    assert (
        participant["state"] == two["state"] == "done"
        and participant["bonus_pay"]
        and participant["survey_fast"]
    )
    assert [row["kind"] for row in tables(server)["events"]] == ["paste", "blur"]


def test_events_not_declared_by_the_study_are_refused(tmp_path) -> None:
    with study_server(tmp_path, TEXT) as server:
        person = Participant(server).agree("p1")
        assert "paste" not in person.get().text
        sent = {"events": [{"kind": "paste"}]}
        assert person.browser.post(f"{person.address}/events", json=sent).status_code == 404


def test_consent_page_states_what_is_recorded(server: Any) -> None:
    assert "paste text" in Participant(server).get(PROLIFIC_PID="p1").text


def test_study_may_exclude_for_attention_and_still_pays(tmp_path) -> None:
    with study_server(tmp_path, WATCHED.replace('"flag"', '"exclude"')) as server:
        finish(server, "p1", reads="red")
        (row,) = tables(server)["participants"]
        assert row["state"] == "excluded" and Decimal(row["bonus_pay"]) >= 0
        payments = logged_in(server).browser.get("/experimenter/study/payments.csv").text
        assert payments.splitlines()[1].startswith("p1,Prolific,excluded,1.00,")


def test_formula_as_name_is_text_in_the_payments_list(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "GIVEN", re.compile(".+"))  # links are checked before; do not rely
    finish(server, "=cmd|' /C calc'!A0")
    payments = logged_in(server).browser.get("/experimenter/study/payments.csv").text
    assert payments.splitlines()[1].startswith("'=cmd|")


def test_form_token_is_valid_only_for_its_cookie_and_link() -> None:
    secrets = Secrets("00" * 32, "11" * 32)
    cookies, links = ("a", "ab", "", '"', 'a","b'), (None, "", "b", "bc", '","', "c")
    made = {(c, g): secrets.form_token(c, g) for c in cookies for g in links}
    assert len(set(made.values())) == len(made)  # no part of one runs into another
    assert made["a", "bc"] != made["ab", "c"]


def test_documented_columns_equal_exported_columns(server: Any) -> None:
    finish(server, "p1")
    data = logged_in(server).browser.get("/experimenter/study/psych-ds.zip").content
    with zipfile.ZipFile(io.BytesIO(data)) as folder:
        reply_data = msgspec.json.decode(folder.read("dataset_description.json"))
        names = {variable["name"] for variable in reply_data["variableMeasured"]}
        assert reply_data["@type"] == "Dataset" and reply_data["@context"] == "https://schema.org/"
        for table, columns in COLUMNS.items():
            head = folder.read(f"data/study-twogames_description-{table}_data.csv").decode()
            assert head.split("\n")[0].split(",") == list(columns) and names >= set(columns)
        assert broken_rules(folder) == []


PSYCH_DS_KEYS = "study|site|subject|session|task|condition|trial|stimulus|description"


def broken_rules(folder: zipfile.ZipFile) -> list[str]:
    """What the schema of Psych-DS 1.x would object to: an error of its validator, each."""
    data = msgspec.json.decode(folder.read("dataset_description.json"))
    asked = ("@context", "@type", "name", "description", "variableMeasured")
    texts = [f"{key} is missing" for key in asked if not data.get(key)]
    known_names = [variable["name"] for variable in data["variableMeasured"]]
    texts += [
        f"{name} is explained twice" for name in set(known_names) if known_names.count(name) > 1
    ]
    expected_pattern = re.compile(rf"data/((?:{PSYCH_DS_KEYS})-[a-zA-Z0-9]+_)+data\.csv")
    for name in folder.namelist():
        if not name.endswith(".csv"):
            continue
        texts += [] if expected_pattern.fullmatch(name) else [f"{name} is no name of a data file"]
        head, *rows = csv.reader(io.StringIO(folder.read(name).decode("utf-8")))
        texts += [f"{name}: {c} is not explained" for c in head if c not in known_names]
        texts += [f"{name}: a column stands twice" for _ in [0] if len(set(head)) < len(head)]
        texts += [f"{name}: row {n} is cut" for n, r in enumerate(rows) if len(r) != len(head)]
    return texts


def test_progress_and_people_are_listed_while_the_server_runs(server: Any, tmp_path) -> None:
    finish(server, "p1")
    Participant(server).agree("p2")
    where = [
        str(tmp_path / "study.toml"),
        "--database",
        str(tmp_path / "database.sqlite"),
        "--json",
    ]
    result = CliRunner().invoke(cli, ["people", "progress", *where])
    assert result.exit_code == 0, result.output
    assert msgspec.json.decode(result.output)["states"]["done"] == 1
    rows = msgspec.json.decode(CliRunner().invoke(cli, ["people", "list", *where]).output)
    assert [row["state"] for row in rows] == ["done", "active"]
    assert rows[0]["attention"] == "1 of 1" and rows[1]["step"] == "instructions-0"


def test_withdrawn_participant_is_in_no_table(server: Any, tmp_path) -> None:
    finish(server, "stays")
    gone = finish(server, "goes")
    logged_in(server).browser.get("/experimenter/study")
    gone.get("/withdraw").post("/withdraw", token=gone.field("token"))
    assert {len({row["participant"] for row in rows}) for rows in tables(server).values()} <= {0, 1}


def test_example_study_can_be_completed(tmp_path) -> None:
    with study_server(tmp_path, TEXT) as server:
        assert through(Participant(server), "p1").heading == "Thank you"


class Rows:
    """A transaction that finds the answers of one match, which began at 100 s."""

    def __init__(self, *answers: tuple[str, float, int, str] | tuple[str, float, int, str, float]):
        self._made = [
            (seat, moves, to_text(GivenAnswer((turn, seat, probe, ""), Decision(0), (), *shown)))
            for seat, moves, turn, probe, *shown in answers
        ]

    def all(self, sql: str, *arguments: Any) -> list[Any]:
        return self._made

    def first(self, sql: str, *arguments: Any) -> Any:
        return (100.0,)


def test_fast_partner_does_not_shorten_the_response_time() -> None:
    rows = Rows(
        ("agent", 101.0, 0, ""),
        ("partner", 107.5, 0, ""),  # asked at 100, as the agent was
        ("agent", 109.0, 1, "their_move"),  # asked when the round before was over
        ("partner", 110.0, 1, ""),
        ("agent", 112.25, 1, ""),  # asked for the move after its forecast
    )
    agent, partner = (
        [answer.seconds for answer in response_times(rows, "m", seat)]  # type: ignore[arg-type]
        for seat in ("agent", "partner")
    )
    assert agent == [1.0, 1.5, 3.25] and partner == [7.5, 2.5]


def test_response_time_starts_at_display_and_never_exceeds_server_time() -> None:
    rows = Rows(
        ("agent", 130.0, 0, "", 4.5),  # the rules were read for 25 seconds
        ("agent", 133.0, 1, "", 99.0),  # no browser can have shown it for so long
    )
    answers = response_times(rows, "m", "agent")  # type: ignore[arg-type]
    assert [answer.seconds for answer in answers] == [4.5, 3.0]
    assert [answer.stored_at for answer in answers] == [130.0, 133.0]
