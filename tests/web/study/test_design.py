"""Studies with people: pay, counterbalancing, pairs, study files."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sally.core.errors import BadInput
from sally.core.log.events import from_line
from sally.core.registry import registry
from sally.models.stub import always
from sally.runner.check import check
from sally.web.study import participants, steps
from sally.web.study.assignment import Assignment, assign_place
from sally.web.study.definition import Bonus, HumanStudy, order, read_human_study
from sally.web.study.definition import order_rows as rows
from tests.web.participants import (
    RIGHT,
    STUDY,
    TEXT,
    Participant,
    logged_in,
    study_server,
    through,
)


@pytest.fixture
def server(tmp_path):
    with study_server(tmp_path, TEXT) as client:
        yield client


# --- pay ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bonus", "payoffs", "paid"),
    [
        (Bonus(), [10.0], "0.00"),
        (Bonus(base=1.5), [], "1.50"),
        (Bonus(base=1.0, per_point=0.01), [40.0, 50.0], "1.90"),
        (Bonus(base=1.0, per_point=0.01, most=1.5), [40.0, 50.0], "1.50"),
        (Bonus(base=1.0, per_point=0.01), [40.0, None], "1.40"),
        (Bonus(base=0.5, per_point=0.1), [-20.0], "0.00"),
        (Bonus(per_point=0.1), [0.1, 0.2], "0.03"),  # 0.1 * (0.1 + 0.2) is not 0.03 in floats
        (Bonus(base=0.005), [], "0.01"),
        (Bonus(base=0.0, per_point=1.0, most=0.0), [5.0], "0.00"),
    ],
)
def test_bonus_is_base_plus_points_within_bounds(bonus, payoffs, paid):
    assert bonus.of(payoffs) == Decimal(paid)


def test_shown_and_paid_bonus_follow_the_rule(server):
    person = through(Participant(server), "paid")
    (row,) = logged_in(server).browser.get("/experimenter/study/people.json").json()
    points = sum(r["payoff"] for r in row["rounds"])
    paid = str(Decimal("1.00") + Decimal(str(points)) / 100)
    assert row["bonus"] == paid and f"{paid} EUR" in person.text.replace("<strong>", "").replace(
        "</strong>", ""
    )
    payments = logged_in(server).browser.get("/experimenter/study/payments.csv").text
    assert payments.splitlines() == [
        "participant_id,platform,state,base,bonus,currency,code,participant",
        f"paid,Prolific,done,1.00,{Decimal(paid) - 1},EUR,C1A2B3,{row['participant']}",
    ]


# --- counterbalancing -----------------------------------------------------------------------------


def design(conditions: int, instances: int, rounds: int | None = None) -> HumanStudy:
    problems = [
        {"id": f"i{n}", "game": "ipd", "params": {"rounds": n + 1}} for n in range(instances)
    ]
    cells = [
        {"name": f"c{n}", "people": ["agent"], "others": {"partner": {"player": "constant"}}}
        for n in range(conditions)
    ]
    return msgspec.convert(
        {
            "name": "design",
            "title": "t",
            "participants": 1000,
            "consent": {"text": "x"},
            "option_order": "balanced",
            "instances": problems,
            "conditions": cells,
            "rounds": rounds,
        },
        HumanStudy,
    )


def spread(counts: Counter, levels: int) -> int:
    filled = [*counts.values(), *([0] * (levels - len(counts)))]
    return max(filled) - min(filled)


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 60))
def test_factors_are_balanced_within_one_without_dropouts(conditions, instances, people):
    study = design(conditions, instances)
    filled: list[Assignment] = []
    for number in range(people):
        filled.append(assign_place(study, filled, number))
    assert spread(Counter(a.condition for a in filled), conditions) <= 1
    for name in {a.condition for a in filled}:
        here = [a for a in filled if a.condition == name]
        assert spread(Counter(a.row for a in here), rows(instances)) <= 1
        assert spread(Counter(a.reverse for a in here), 2) <= 1


@given(st.lists(st.integers(0, 9), max_size=80), st.integers(2, 3))
def test_later_participants_replace_drop_outs(events, conditions):
    """Digits 0 to 6: a person joins; 7 to 9: a participant drops out."""
    study = design(conditions, 3)
    filled: list[Assignment] = []
    for number, event in enumerate(events):
        if event >= 7 and filled:
            filled.pop((event * number) % len(filled))
            continue
        counts = Counter(a.condition for a in filled)
        new = assign_place(study, filled, number)
        assert counts[new.condition] == min(counts[f"c{n}"] for n in range(conditions))
        filled.append(new)
    for number in range(len(events), len(events) + 100):  # nobody drops out any more
        filled.append(assign_place(study, filled, number))
    assert spread(Counter(a.condition for a in filled), conditions) <= 1


@pytest.mark.parametrize("n", range(1, 8))
def test_orders_are_balanced_for_position_and_succession(n):
    square = [order(n, row) for row in range(rows(n))]
    assert all(sorted(row) == list(range(n)) for row in square)
    for column in zip(*square, strict=True):
        assert len(set(Counter(column).values())) == 1
    pairs = Counter(pair for row in square for pair in pairwise(row))
    assert len(pairs) == n * (n - 1) and len(set(pairs.values())) <= 1


def test_assignment_depends_only_on_seed_and_number():
    study = design(3, 4)
    assert assign_place(study, [], 5) == assign_place(study, [], 5)
    assert len({assign_place(study, [], n) for n in range(40)}) > 10
    assert len({assign_place(study, [], n).condition for n in range(40)}) == 3


def test_participants_get_the_declared_design(server):
    counts = Counter()
    for n in range(8):
        person = Participant(server).agree(f"p{n}").read_on().check(*RIGHT)
        screen = person.screen(person.seat_token)
        ask = screen["asks"][0]
        menu = ask["items"] or ask["options"]
        counts[screen["title"], ask["kind"] == "probe", tuple(o["value"] for o in menu)] += 1
    rows_ = logged_in(server).browser.get("/experimenter/study/people.json").json()
    assert Counter(r["condition"] for r in rows_) == {"asked": 4, "not asked": 4}
    assert Counter(r["order"][0] for r in rows_) == {"ipd-5": 4, "ibs-5": 4}
    assert Counter(r["option_order"] for r in rows_) == {"as given": 4, "reversed": 4}
    assert {request for _, request, _ in counts} == {True, False}
    assert sum(n for (_, _, values), n in counts.items() if values[0] > values[-1]) == 4


# --- pairs ----------------------------------------------------------------------------------------

PAIRS = re.sub(
    r"\[\[conditions\]\] .*?(?=\[\[survey\]\])",
    '[[conditions]]\nname = "pairs"\npeople = ["agent", "partner"]\n',
    TEXT,
    flags=re.S,
)


@pytest.fixture
def pair(tmp_path):
    with study_server(tmp_path, PAIRS) as server:
        first = Participant(server).agree("one").read_on().check(*RIGHT)
        assert "Waiting for another participant" in first.text
        assert first.browser.get(f"{first.address}/waiting").json() == {
            "waiting": True,
            "seconds": 0,
        }
        two = Participant(server).agree("two").read_on().check(*RIGHT)
        assert two.seat_token
        assert first.browser.get(f"{first.address}/waiting").json()["waiting"] is False
        yield first.get(), two, server


def play_together(first: Participant, two: Participant) -> None:
    tokens = first.seat_token, two.seat_token
    while not first.screen(tokens[0])["over"]:
        first.answer_all(tokens[0])
        two.answer_all(tokens[1])
    first.get(), two.get()


def test_two_participants_play_all_rounds_with_each_other(pair):
    first, two, server = pair
    assert first.screen(first.seat_token)["seat"] != two.screen(two.seat_token)["seat"]
    play_together(first, two)
    assert first.heading == two.heading == "Game 2 of 2"
    play_together(first, two)
    for person in (first, two):
        assert person.survey(human="4", device="A phone").heading == "Thank you"
    rows_ = logged_in(server).browser.get("/experimenter/study/people.json").json()
    assert rows_[0]["pair"] == rows_[1]["pair"] and rows_[0]["order"] == rows_[1]["order"]
    assert rows_[0]["episodes"] == rows_[1]["episodes"] and len(rows_[0]["episodes"]) == 2


def test_other_participant_continues_and_is_paid_if_the_partner_leaves(pair):
    first, two, _ = pair
    play_together(first, two)
    first.leave(first.seat_token)
    two.get()
    assert two.heading == "Final questions" and "not your fault" in two.text
    assert two.survey(human="4", device="A phone").heading == "Thank you"


def test_other_participant_keeps_earnings_if_the_partner_withdraws(pair, tmp_path):
    first, two, server = pair
    play_together(first, two)
    first.get("/withdraw")
    first.post("/withdraw", token=first.field("token"))
    assert first.heading == "You have withdrawn"
    two.get()
    assert two.heading == "Final questions" and "other participant has left" in two.text
    two.survey(human="4", device="A phone")
    (row,) = logged_in(server).browser.get("/experimenter/study/people.json").json()
    assert [r["how"] for r in row["rounds"]] == ["ended", "partner left"]
    assert row["rounds"][0]["payoff"] is not None and row["episodes"] == []


def test_participant_in_play_is_informed_of_a_withdrawal_and_continues(pair):
    first, two, _ = pair
    token = two.seat_token
    first.get("/withdraw")
    first.post("/withdraw", token=first.field("token"))
    answer = two.browser.get("/api/seat", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 401  # two seconds were enough for a page that listens
    assert two.get().heading == "Final questions" and "other participant has left" in two.text


def test_participant_without_partner_continues_after_the_wait_limit(tmp_path, monkeypatch):
    with study_server(tmp_path, PAIRS) as server:
        alone = Participant(server).agree("alone").read_on().check(*RIGHT)
        now = participants.time.time
        monkeypatch.setattr(participants.time, "time", lambda: now() + 11 * 60)
        assert alone.get().heading == "Final questions"
        assert "No other participant came" in alone.text


def test_inactive_participant_is_not_paired(tmp_path, monkeypatch):
    with study_server(tmp_path, PAIRS) as server:
        Participant(server).agree("gone").read_on().check(*RIGHT)
        now = participants.time.time
        monkeypatch.setattr(participants.time, "time", lambda: now() + participants.HEARTBEAT + 1)
        late = Participant(server).agree("late").read_on().check(*RIGHT)
        assert "Waiting for another participant" in late.text


def test_model_may_be_the_partner(tmp_path, monkeypatch):
    monkeypatch.setitem(registry._added["models"], "dull", lambda name: always("Option: J"))
    player = '{ player = "language", params = { model = "dull" } }'
    text = TEXT.replace('{ player = "tit_for_tat" }', player)
    with study_server(tmp_path, text) as server:
        person = Participant(server).agree("m").read_on().check(*RIGHT)
        token, seen = person.seat_token, {"over": None}
        while not seen["over"]:
            seen = person.answer_all(token)
        assert person.get().heading == "Game 2 of 2"
        episode = logged_in(server).browser.get("/experimenter/study/episodes.jsonl").content
        assert check([from_line(episode)]).replayed == 1 and b'"calls"' in episode


# --- study files ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ('name = "two_games"', 'name = "Two Games"', "name must be 1 to 40 lower-case letters"),
        ("participants = 40", "participants = 0", "participants must be from 1 to 1,000,000"),
        ("participants = 40", f"participants = 1{'0' * 400}", "participants must be from 1 to"),
        (
            "participants = 40",
            'participants = "many"',
            "line 6: participants must be a whole number, not a text in quotes",
        ),
        ("rounds = 2 ", "rounds = 3 ", "rounds is 3, but there are 2 instances"),
        ('player = "tit_for_tat"', 'player = "tit_for_tatt"', "did you mean"),
        ('people = ["agent"]', 'people = ["agnt"]', "condition 'asked'"),
        (
            '["their_move"]',
            '["their_moove"]',
            "line 50: condition 'asked': There is no probe of ipd",
        ),
        ('right = "1 cent"', 'right = "2 cents"', "right must be one of its options"),
        ('game = "ibs"', 'game = "ibbs"', "game named 'ibbs'"),
        ('id = "ibs-5"', 'id = "ipd-5"', "two instances have the id"),
        (
            'kind = "scale"',
            'kind = "slidr"',
            "line 58: there is no kind 'slidr', did you mean `slider`; "
            "it is choice, likert, scale, slider, matrix or text",
        ),
        ('kind = "scale"', 'kind = ["scale"]', "line 58: there is no kind ['scale']"),
        ('kind = "scale"', "kind = { scale = 1 }", "line 58: there is no kind {'scale': 1}"),
        ('kind = "scale"', "", "line 57: the key `kind` is missing; it is choice, likert"),
        ('title = "Dec', '# title = "Dec', "the key `title` is missing"),
        (
            '{ player = "tit',
            '{ plyer = "tit',
            "line 49: unknown key `plyer`, did you mean `player`",
        ),
        ("[limits]", '[limits]\ncontact = "x"', "belongs to the top of the file, before the first"),
        ("params = { rounds = 5 }", "params = { rouns = 5 }", "line 40: condition 'asked'"),
        ("base = 1.00", "base = -1.00", "base must be at least 0"),
        ("most = 3.00", "most = 0.99", "line 77: bonus: most is 0.99, below base (1)."),
        ("per_point = 0.01", "", "most is 3, but per_point is 0, so nobody can earn it"),
        ("per_point = 0.01", "per_point = -0.01", "line 76: bonus: per_point must be at least 0"),
        ("per_point = 0.01", "per_point = nan", "bonus: per_point must be at least 0"),
        ("most = 3.00", "most = inf", "bonus: most must be at least 0 and below 1000000"),
        ("base = 1.00", "base = 1.005", "bonus: base must be whole cents, not 1.005"),
        ('currency = "EUR"', "", 'bonus: currency is missing, such as currency = "EUR"'),
        (
            'currency = "EUR"',
            'currency = "EUR"\npartner_left = 2.50',
            "below base and partner_left",
        ),
        ('currency = "EUR"', 'currency = "EUR"\nrandom_games = 3', "play 2 games"),
        (
            'name = "not asked"',
            'name = "not asked"\nbonus = { most = 0.5 }',
            "line 54: bonus of condition 'not asked': most is 0.5, below base (1).",
        ),
        (
            'name = "not asked"',
            'name = "not asked"\nbonus = { base = -1 }',
            "line 54: conditions[1].bonus: base must be at least 0 and below 1000000, not -1.0",
        ),
        (
            "[bonus] ",
            "[by_partner.bot]\nbonus = { most = inf }\n[bonus] ",
            "most must be at least 0",
        ),
        (
            "[bonus] ",
            "[bonus]\nformula = '__import__(\"os\")'\n#",
            "line 75: unknown key `formula`",
        ),
        ('url = "https://app', 'url = "javascript://app', "completion.url must begin with https"),
        ("contact =", "contakt =", "line 9: unknown key `contakt`, did you mean `contact`?"),
        ('name = "not asked"', 'name = "asked"', "two conditions have the name 'asked'"),
        (
            "[[survey]]",
            2 * '[[conditions.blocks]]\nname = "a"\n' + "[[survey]]",
            "two blocks have the name 'a'",
        ),
        ("[consent]", "[consent", "is not TOML"),
        ('id = "ibs-5"', 'id = ["ibs-5"]', "instances[1].id must be a text in quotes, not a list"),
        ('option_order = "balanced"', 'option_order = "x"', 'must be "as given" or "balanced"'),
        ("idle_minutes = 30", "idle_minutes = nan", "at most a year"),
        ("answer_seconds = 300", "answer_seconds = 1e30", "at most a year"),
        ("[limits]", "[limits]\nmodel_seconds = [1]", "must be a list of 2 values, not 1"),
        ('name = "not asked"', 'name = ""', "name must not be empty"),
        ('name = "not asked"', 'name = "a\\u0000"', "contains the control character"),
        (
            "[consent]",
            "[titles]\nipdd = 'x'\n[consent]",
            "line 22: titles: There is no game of this",
        ),
        ("[consent]", "[roles]\nagnet = 'x'\n[consent]", "did you mean agent or partner?"),
        (
            "[bonus] ",
            "[by_partner.modell]\n[bonus] ",
            "unknown key `modell`, did you mean `model`?",
        ),
        ('id = "ibs-5"', "id = {}", "instances[1].id must be a text in quotes, not a table"),
    ],
)
def test_bad_study_file_gives_one_clear_message(tmp_path, was, becomes, said):
    assert was in TEXT
    file = tmp_path / "study.toml"
    file.write_text(TEXT.replace(was, becomes, 1))
    with pytest.raises(BadInput) as error:
        read_human_study(file)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_instances_can_come_from_a_registered_study(tmp_path):
    text = re.sub(r"\[\[instances\]\].*?(?=\[\[conditions\]\])", "", TEXT, flags=re.S)
    text = text.replace(
        "rounds = 2 ", 'rounds = 1\ninstances_of = { study = "quickstart", cell = "ipd" }\n#'
    )
    file = tmp_path / "study.toml"
    file.write_text(text)
    study = read_human_study(file)
    (cell,) = (c for c in registry.entries("studies")["quickstart"].cells if c.name == "ipd")
    assert study.problems(study.conditions[0]) == cell.instances
    file.write_text(text.replace('cell = "ipd"', 'cell = "ipdd"'))
    with pytest.raises(BadInput, match="did you mean"):
        read_human_study(file)


def test_steps_have_a_fixed_order():
    condition = STUDY.conditions[1]
    fields: dict[str, object] = {}
    recorded = []
    values = {"check-0": {"right": False}, "check-1": {"right": True}}
    while (step := steps.current(STUDY, condition, fields)) != steps.END:
        recorded.append(step)
        fields[step] = values.get(step, True)
    assert recorded == [
        "instructions-0",
        "instructions-1",
        "check-0",
        "check-1",
        "round-0",
        "round-1",
        "survey",
    ]


def test_study_of_the_documentation_works(tmp_path):
    page = Path(__file__).parents[3] / "docs" / "how-to" / "human_study.md"
    text = re.search(r'write_text\("""\n(.*?)"""\)', page.read_text(), re.S)[1]
    with study_server(tmp_path, text) as server:
        person = Participant(server, "guess").agree("doc").read_on().check("2 cents").play_all()
        assert person.survey(human="4").heading == "Thank you" and "C1A2B3" in person.text
        (row,) = logged_in(server).browser.get("/experimenter/study/people.json").json()
        assert row["bonus"] == str(min(Decimal("2.00"), Decimal("0.50") + 2 * points(row) / 100))


def points(row: dict) -> Decimal:
    return sum((Decimal(str(r["payoff"])) for r in row["rounds"]), Decimal(0))
