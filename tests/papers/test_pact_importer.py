"""Logs of the published layout, written here: moves come in, rules agree, doubts are named."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.pact_reader import PASSES, measure_reader, place_of, scores
from sally import store
from sally.cli import cli
from sally.core.errors import BadInput
from sally.core.log.events import to_line
from sally.core.match.playback import mismatch
from sally.core.registry import registry
from sally.games.bargaining.rules import BUYER, SELLER
from sally.papers.pact.findings import (
    HABITS,
    doing,
    estimate,
    kept_pair,
    mindless,
    ratings,
    seat_games,
)
from sally.papers.pact.importer import IMPORTER
from sally.papers.pact.reader import model_name, read_record
from tests.games.bargaining.second import cleared

ROUNDS = 20
SAMPLES = os.environ.get("SALLY_PACT_LOGS", "")  # a checkout or folder of the published logs


def log_of(
    game: str = "ab_1",
    value: int = 60,
    cost: int = 20,
    quotes: Any = lambda n: (40, 35),
    when: str = "2025-08-01",
    names: tuple[str, str] = ("gpt-5-medium", "o3"),
    schema: str = "1.4.0",
    said: Any = lambda n: (("B1", f"I will bid {40 + n % 2}."), ("S1", "My cost is 20.")),
) -> list[dict[str, Any]]:
    """A game in the published layout, cleared by the second implementation of the rules."""
    head = {"schema_version": schema, "game_id": game}
    agents = {
        "B1": {"role": "buyer", "model_name": names[0], "valuation": value, "cost": None},
        "S1": {"role": "seller", "model_name": names[1], "valuation": None, "cost": cost},
    }
    data = {
        "distribution": "uniform",
        "num_rounds": ROUNDS,
        "random_seed_value": 7,
        "agents": agents,
    }
    lines: list[dict[str, Any]] = [{**head, "type": "init", "data": data}]
    past = [(*quotes(n), n % 3 == 0) for n in range(ROUNDS)]
    for n, (bid, ask, up) in enumerate(past, 1):
        row = {**head, "round": n, "timestamp": f"{when} 10:00:00"}
        for player, text in said(n):
            lines.append({**row, "type": "conversation", "player_id": player, "message": text})
        for player, price in (("B1", bid), ("S1", ask)):
            lines.append({**row, "type": "bid_ask", "agent_id": player, "price": price})
        prices, buyer, seller = cleared(value, cost, past[:n])
        if (price := prices[-1]) is not None:
            half = bool((bid + ask) % 2)
            cleared_at = {"cleared_price": float(price), "clearing_random_pick": up and half}
            lines.append({**row, "type": "trade", "bid": bid, "ask": ask, **cleared_at})
        paid = {"B1": float(buyer), "S1": float(seller)}
        lines.append({**row, "type": "round_end", "data": {"payoff_map": paid}})
    prices, buyer, seller = cleared(value, cost, past)
    traded = sum(price is not None for price in prices)
    final = {"final_payoff_map": {"B1": buyer, "S1": seller}, "market_efficiency": traded / ROUNDS}
    lines.append({**head, "type": "final", "data": final})
    return lines


def write_files(folder: Path, lines: list[dict[str, Any]], name: str = "") -> Path:
    file = folder / f"auction_{name or lines[0]['game_id']}_20260510_000000_000000.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


@pytest.mark.parametrize("when", ["2025-08-01", "2026-04-02"])
def test_game_is_imported_and_replays_without_differences(tmp_path: Path, when: str) -> None:
    write_files(tmp_path / "logs", log_of(when=when, quotes=lambda n: (30 + n, 45)))
    result = IMPORTER.import_from(tmp_path)
    (episode,) = result.episodes
    assert result.details["differences"] == [] and result.counts["rounds"] == ROUNDS
    era = "sequential" if when < "2026-04" else "simultaneous"
    assert episode.cell == f"{era} uniform" and episode.setup.instance.params["talk"] == era
    assert mismatch(registry.game("bargaining"), episode) is None
    assert episode.used["models"]["buyer"] == {
        "provider": "OpenAI", "model": "gpt-5", "effort": "medium", "raw": "gpt-5-medium",
    }  # fmt: skip
    _, buyer, seller = cleared(60, 20, [(30 + n, 45, n % 3 == 0) for n in range(ROUNDS)])
    assert episode.payoffs == {"buyer": buyer, "seller": seller}


def test_order_of_talk_follows_the_log(tmp_path: Path) -> None:
    turned = log_of(said=lambda n: (("S1", "Hello."), ("B1", "Hello, too.")))
    write_files(tmp_path, turned)
    (episode,) = IMPORTER.import_from(tmp_path).episodes
    first = next(event for event in episode.events if event.seat == "nature")
    assert first.action == 1  # type: ignore[attr-defined]


def test_absent_message_is_silence_and_is_counted(tmp_path: Path) -> None:
    write_files(tmp_path, log_of(said=lambda n: () if n == 3 else (("B1", "Hi."), ("S1", "Hi."))))
    result = IMPORTER.import_from(tmp_path)
    assert result.counts["absent messages"] == 2
    assert len(result.episodes) == 1


def test_deviations_of_the_record_are_differences(tmp_path: Path) -> None:
    lines = log_of()
    for line in lines:
        if line["type"] == "trade" and line["round"] == 4:
            line["cleared_price"] = 12.0
        if line["type"] == "final":
            line["data"]["final_payoff_map"]["B1"] = 1
    write_files(tmp_path, lines)
    result = IMPORTER.import_from(tmp_path)
    assert {(d["what"], d["turn"]) for d in result.details["differences"]} == {
        ("price", 4), ("final payoffs", None),
    }  # fmt: skip


def test_broken_logs_are_named_and_the_others_imported(tmp_path: Path) -> None:
    write_files(tmp_path, log_of())
    write_files(tmp_path, log_of("ab_2")[:-5])
    (tmp_path / "auction_ab_3_x.jsonl").write_text("{broken\n")
    write_files(tmp_path, log_of("ab_4", quotes=lambda n: (200, 10)))
    write_files(tmp_path, log_of("ab_1"), name="again")
    result = IMPORTER.import_from(tmp_path)
    assert len(result.episodes) == 1
    assert len(result.details["oddities"]) == 4
    assert all(str(tmp_path) in oddity["file"] for oddity in result.details["oddities"])


def test_every_log_is_named_if_none_can_be_imported(tmp_path: Path) -> None:
    for n in (1, 2):
        (tmp_path / f"auction_ab_{n}_x.jsonl").write_text("{broken\n")
    order = ["import", "pact", str(tmp_path), "--out", str(tmp_path / "store"), "--json"]
    data = json.loads(CliRunner().invoke(cli, order).output)
    assert data["counts"]["stored"] == 0
    assert [Path(oddity["file"]).name for oddity in data["oddities"]] == [
        "auction_ab_1_x.jsonl",
        "auction_ab_2_x.jsonl",
    ]


def test_folder_without_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no PACT log"):
        IMPORTER.import_from(tmp_path)
    with pytest.raises(BadInput, match="no file or folder"):
        IMPORTER.import_from(tmp_path / "none")


def test_command_fills_a_store_once(tmp_path: Path) -> None:
    write_files(tmp_path / "logs", log_of())
    for expected_name in ("stored: 1", "already there: 1"):
        ran = CliRunner().invoke(
            cli, ["import", "pact", str(tmp_path / "logs"), "--out", str(tmp_path / "store")]
        )
        assert ran.exit_code == 0 and expected_name in ran.output
    (episode,) = store.load(tmp_path / "store").episodes.values()
    assert b"I will bid" in to_line(episode)


@pytest.mark.parametrize(
    ("raw", "provider", "model", "effort"),
    [
        ("claude-sonnet-4-20250514-16K", "Anthropic", "claude-sonnet-4-20250514", "16K"),
        ("claude-opus-4-20250514-0K", "Anthropic", "claude-opus-4-20250514", "off"),
        ("claude-opus-4-7-adaptive", "Anthropic", "claude-opus-4-7", "high"),
        ("grok-4-fast-non-reasoning", "xAI", "grok-4-fast", "off"),
        ("grok-4-fast-reasoning", "xAI", "grok-4-fast", "on"),
        ("haiku45", "Anthropic", "claude-4.5-haiku", ""),
        ("deepseek-v31", "DeepSeek", "deepseek-v3.1", "off"),
        ("o3", "OpenAI", "o3", "medium"),
        ("gpt-4o_mini", "OpenAI", "gpt-4o-mini", ""),
        ("phi-4", "Microsoft", "phi-4", ""),
    ],
)
def test_model_names_are_split_and_the_raw_name_kept(
    raw: str, provider: str, model: str, effort: str
) -> None:
    actual_model_name = model_name(raw)
    assert (actual_model_name.provider, actual_model_name.model, actual_model_name.effort) == (
        provider,
        model,
        effort,
    )
    assert actual_model_name.raw == raw


# --- findings -------------------------------------------------------------------------------------


def test_measures_of_one_game_by_hand(tmp_path: Path) -> None:
    record = read_record(write_files(tmp_path, log_of(quotes=lambda n: (40, 40))))
    buyer, seller = seat_games([record])
    assert (buyer.seat, seller.seat) == (BUYER, SELLER)
    assert buyer.share == pytest.approx(0.5) and seller.share == pytest.approx(0.5)
    assert kept_pair(buyer) == (10, 20) and seller.first_claim == "true"
    top, below = doing(buyer)
    assert top == pytest.approx(below)
    actual_estimate = estimate([buyer, seller], mindless(HABITS["truthful"]))
    assert actual_estimate is not None and 0 < actual_estimate.value < 1


def test_rating_adjusts_for_opponents_and_separates_unconnected_players(tmp_path: Path) -> None:
    records = []
    pairs = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("x", "y")] * 3
    strong = {"a": 25, "b": 30, "c": 35, "x": 30, "y": 30}
    for n, (first, two) in enumerate(pairs):
        price = 30 + (strong[first] - 30) - (strong[two] - 30) + 10
        lines = log_of(f"g_{n}", quotes=lambda k, p=price: (p, p), names=(first, two))
        records.append(read_record(write_files(tmp_path, lines)))
    actual_ratings = ratings(seat_games(records), draws=20)
    order = [model.model for model in actual_ratings.models]
    assert order.index("a") < order.index("b") < order.index("c")
    assert actual_ratings.components == 2
    assert all(
        model.low <= model.rating <= model.high
        for model in actual_ratings.models
        if model.model == "b"
    )


# --- the reader of talk ---------------------------------------------------------------------------


def test_precision_and_recall_count_exact_matches() -> None:
    actual_scores = scores([(40, 40), (40, 41), (None, 50), (60, None), (None, None)])
    assert (actual_scores["read"], actual_scores["there"], actual_scores["right"]) == (3, 3, 1)


def test_reader_is_measured_against_every_pass(tmp_path: Path) -> None:
    record = read_record(write_files(tmp_path, log_of()))
    place = place_of("ab_1", 1, BUYER)
    labels = json.dumps([[place, [41, None, 41], [None, None, None]]]).encode()
    reader = measure_reader([record], labels)
    assert reader["found"] == 1
    first, second, other_pass = PASSES
    assert reader[f"announced: {first} and {second}"]["agree"] == 0
    assert reader[f"announced: {first} and {other_pass}"]["agree"] == 1
    assert reader[f"announced: reader against {other_pass}"]["right"] == 1
    assert reader[f"announced: reader against {second}"]["right"] == 0


# --- the published logs, where they are at hand ---------------------------------------------------


@pytest.mark.skipif(not SAMPLES, reason="SALLY_PACT_LOGS names no folder of published logs")
def test_published_logs_replay_twice_without_differences() -> None:
    """Our rules by the importer, and the second implementation from the protocol alone."""
    result = IMPORTER.import_from(Path(SAMPLES))
    assert result.details["differences"] == [] and result.details["oddities"] == []
    for file in sorted(Path(SAMPLES).rglob("auction_*.jsonl")):
        record = read_record(file)
        rounds = [(r.quotes[BUYER], r.quotes[SELLER], r.is_rounded_up) for r in record.rounds]
        prices, buyer, seller = cleared(record.value, record.cost, rounds)
        assert [r.price for r in record.rounds] == prices
        assert record.final == {BUYER: buyer, SELLER: seller}


@pytest.mark.skipif(not SAMPLES, reason="SALLY_PACT_LOGS names no folder of published logs")
@pytest.mark.parametrize(
    ("habit", "published"),
    [
        ("truthful", 0.403),
        ("half", 0.251),
        ("three_quarters", 0.573),
        ("fifty_capped", 0.452),
        ("copy_last_capped", 0.817),
        ("split_own_and_last", 0.547),
        ("always_concede_1", 0.439),
    ],
)
def test_mindless_habits_match_the_protocol_within_sampling_error(
    habit: str, published: float
) -> None:
    games = seat_games(map(read_record, sorted(Path(SAMPLES).rglob("auction_*.jsonl"))))
    actual_estimate = estimate(games, mindless(HABITS[habit]))
    assert (
        actual_estimate is not None
        and actual_estimate.low is not None
        and actual_estimate.high is not None
    )
    assert actual_estimate.low <= published <= actual_estimate.high
