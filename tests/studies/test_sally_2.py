"""The suite Sally-2: frozen pairs, nested sizes, and players whose score is known beforehand."""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from itertools import islice
from math import isfinite
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

import sally
from sally import store
from sally.analysis.pairs.certificate import certify
from sally.api.pair_evaluation import PairRows, smallest_found, widest_mean
from sally.cli import cli
from sally.cli.pair_screen import print_plan
from sally.core.errors import BadInput, RunFailed
from sally.core.log.events import episode_id
from sally.core.prompt.model import ModelFailure, Reply
from sally.core.registry import registry
from sally.frames.replays import replay_for_measures
from sally.output.files.bundle import pack
from sally.runner.local import manifest, orders, play
from sally.studies import sally_2

SILENT = ("constant", "bargaining")
FROZEN = {
    "rps": "77c38e124e56e7a2",
    "ibs": "a3a3015376206205",
    "stag_hunt": "04d7345a69040a79",
    "eleven_twenty": "77ce0f61d49f7c55",
    "battery": "9844fd723f6ed713",
    "toma_po": "b55876c9201c3122",
    "toma_mg": "b3cb964cc19325b4",
    "mindgames": "8ae02462b7eeb598",
    "bargaining": "00c80992369488b8",
    "pick_the_right_stuff": "cb1d45e2296fe41f",
}


@pytest.mark.parametrize("game", sally_2.GAMES)
def test_pairs_are_frozen(game: str) -> None:
    pairs = sally_2.frozen_pairs(game)
    digest = blake2b(msgspec.json.encode(pairs), digest_size=8).hexdigest()
    assert digest == FROZEN[game], "Sally-2 is frozen: changed pairs belong to a new suite"
    assert len({pair.id for pair in pairs}) == len(pairs) == 400


@pytest.mark.parametrize("game", sally_2.GAMES)
def test_certificate_of_the_first_pairs_holds(game: str) -> None:
    row = sally_2.row_named(game)
    for pair in sally_2.frozen_pairs(game)[: 2 * len(row.kinds)]:
        assert certify(pair).problems == ()


@pytest.mark.parametrize("game", sally_2.GAMES)
def test_kinds_take_turns(game: str) -> None:
    row = sally_2.row_named(game)
    pairs = sally_2.frozen_pairs(game)
    kinds = [(pair.recipe, pair.order) for pair in pairs[: len(row.kinds)]]
    assert kinds == list(row.kinds)


def test_practice_pairs_are_not_in_the_suite() -> None:
    frozen = {msgspec.json.encode(pair.members) for pair in sally_2.frozen_pairs("ibs")}
    practice = {msgspec.json.encode(pair.members) for pair in sally_2.practice_pairs("ibs", 20)}
    assert len(practice) == 20 and not practice & frozen


def test_larger_size_contains_the_smaller_one() -> None:
    small, middle = (
        {episode_id(setup) for _, setup in sally_2.suite(size, ("ibs",)).trials()}
        for size in ("S", "M")
    )
    assert small < middle


def test_small_size_needs_at_most_1200_calls() -> None:
    positions = sum(1 for _ in sally_2.suite("S").trials())
    assert sally_2.QUESTIONS_ASKED * positions <= 1140  # some answers are asked for again


def test_frozen_pairs_are_those_of_the_recipe() -> None:
    row = sally_2.row_named("ibs")
    draws = tuple(islice(sally_2.drawn_pairs(row, sally_2.PAIR_SEED), 4))
    assert draws == sally_2.frozen_pairs("ibs")[:4]


@pytest.mark.parametrize(
    ("bot", "knowing", "doing"),
    [("constant", 0.0, 0.0), ("reasoner", 1.0, 1.0)],
)
def test_score_of_a_bot_is_known_beforehand(bot: str, knowing: float, doing: float) -> None:
    rows = sally.evaluate(bot=bot)
    assert isinstance(rows, PairRows)
    assert [row["game"] for row in rows] == list(sally_2.GAMES)
    for row in rows:
        # the constant player of bargaining is a seller's or buyer's rule without predictions
        assert row["knowing"] == (None if (bot, row["game"]) == SILENT else knowing), row["game"]
        assert row["doing"] == doing, row["game"]
    count = len(sally_2.GAMES) if knowing else 0
    expected = f"in {count} of {len(sally_2.GAMES)} games"
    assert expected in rows.evaluation.sentences[0]


def test_reasoner_of_a_lower_order_knows_nothing() -> None:
    for row in sally.evaluate(bot="lower_order"):
        low, high = row["doing_interval"] or (0.0, 0.0)
        assert row["knowing"] == 0 and low <= 0 <= high, row["game"]


def test_player_that_knows_and_does_not_act() -> None:
    evaluation = sally.evaluate(bot="knows_only", games=["ibs", "rps"]).evaluation
    assert evaluation.knowing.value == 1.0
    assert evaluation.doing.low < 0 < evaluation.doing.high
    assert sum(game.known for game in evaluation.games) == 24 + 28
    assert "52 pairs" in evaluation.sentences[1]


def run_command(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["evaluate", *arguments])


def test_evaluation_fits_one_screen(tmp_path) -> None:
    result = run_command("--bot", "knows_half", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert len(result.output.splitlines()) <= 30
    assert result.output.startswith("Predicts by the difference that matters in ")
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "What it knew and what it did" in page


@pytest.mark.parametrize("game", sally_2.GAMES)
def test_every_metric_can_be_measured_on_a_position(game: str) -> None:
    for _, cell, setup in orders(sally_2.bot_suite("random", games=(game,)))[:4]:
        played = replay_for_measures(play(setup, cell))
        metrics = registry.metrics(played.spec.family or played.spec.name)
        for seat in played.episode.setup.lineup:
            values = [metric.measure(played, seat) for metric in metrics.values()]
            assert all(value is None or isfinite(value) for value in values)


def test_evaluation_goes_on_until_the_mean_is_known(tmp_path) -> None:
    rows = sally.evaluate(bot="knows_half", games=["ibs"], until=0.2, out=tmp_path)
    assert rows.evaluation.size == "M"
    assert "three looks" in rows.evaluation.knowing.method
    with pytest.raises(BadInput, match="needs the suite sally_2"):
        sally.evaluate(bot="random", suite="sally_1", until=0.1)


@pytest.mark.parametrize(
    ("cost", "currency", "shown"), [(0.8486, "USD", "(USD)"), (0.0, "", "cost"), (None, "", "")]
)
def test_plan_names_the_currency_once(
    cost: float | None, currency: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = {"pairs": 248, "calls": 992, "input tokens": 610_488, "output tokens": 59_520}
    row = {"size": "S", **sizes, "cost": cost, "found in a game": 0.386}
    print_plan([{**row, "interval of the mean": 0.09}], currency)
    table = capsys.readouterr().out.partition("found in a game:")[0]
    assert shown in table and "currency" not in table
    assert ("cost" in table) == (cost is not None) and ("0.8486" in table) == bool(cost)


def test_forfeits_leave_scores_blank_and_exit_with_3(tmp_path) -> None:
    class Silent:
        name = "silent"

        async def complete(self, *arguments: object) -> object:
            return Reply("")

    rows = sally.evaluate(Silent(), games=["ibs"])
    assert rows[0]["knowing"] is None and rows[0]["doing"] is None
    assert rows.evaluation.sentences[0].startswith("No result: 112 of 112 answers")
    assert not rows.is_readable


def test_first_sentence_says_over_how_many_games_the_means_are() -> None:
    class OnlyThreeOptions:
        """Answers rps, with three options, and not ibs, with two."""

        name = "only_three_options"

        async def complete(self, messages: Any, *arguments: object) -> Reply:
            options = re.search(r"Option: <(\w), \w or \w>", messages[-1].text)
            return Reply(f"Option: {options[1]}" if options else "")

    half = sally.evaluate(OnlyThreeOptions(), games=["rps", "ibs"]).evaluation
    assert half.knowing is not None and half.sentences[0].count("] of the 1 with a score") == 2
    whole = sally.evaluate(OnlyThreeOptions(), games=["rps"]).evaluation
    assert "with a score" not in whole.sentences[0]


def test_reason_of_an_unfinished_evaluation_ends_with_one_full_stop(tmp_path) -> None:
    class Disconnected:
        name = "disconnected"

        async def complete(self, *arguments: object) -> object:
            raise ModelFailure("auth", "The server is gone.")

    with pytest.raises(RunFailed) as failure:
        sally.evaluate(Disconnected(), games=["ibs"], out=tmp_path / "out")
    assert str(failure.value).endswith("The server is gone).")


def test_board_replays_an_evaluation_and_refuses_a_changed_one(tmp_path) -> None:
    place = tmp_path / "out"
    sally.evaluate(bot="knows_half", games=["ibs"], out=place)
    pack(place, tmp_path / "half.sally.zip")
    rows = sally.board(tmp_path / "half.sally.zip", out=tmp_path / "site")
    assert [(row["player"], row["game"], row["played"]) for row in rows] == [
        ("knows_half", "ibs", 56)
    ]
    assert rows.entries[0].planned_count > 56  # the other games of the suite are missing
    assert "Sally-2: certified pairs" in (tmp_path / "site" / "index.html").read_text("utf-8")

    episode = next(iter(store.load(place).episodes.values()))
    setup = msgspec.structs.replace(episode.setup, seed=episode.setup.seed + 1)
    other_episode = play(setup, episode.cell)
    changed = tmp_path / "changed"
    store.claim(changed, manifest(sally_2.bot_suite("knows_half")), sally_2.bot_suite("knows_half"))
    with store.Writer(changed) as writer:
        writer.add(other_episode)
    pack(changed, tmp_path / "changed.sally.zip")
    (refused,) = sally.board(tmp_path / "changed.sally.zip").refused
    assert "is not part of Sally-2, size S" in refused.why


def test_plan_states_what_can_be_found() -> None:
    assert smallest_found(28) <= 0.42 and smallest_found(400) < 0.12
    assert widest_mean([28] * 11) <= 0.08
    result = run_command("--plan", "--json", "--game", "ibs", "--model", "embedded")
    assert result.exit_code == 0 and '"pairs": 28' in result.output
    rows = {row["size"]: row for row in json.loads(result.output)}
    # two calls in each of two positions; from size M on also in four arms, one of which only moves
    assert rows["S"]["calls"] == 4 * 28 and rows["M"]["calls"] == 4 * 100 + (3 * 4 + 2) * 20


def test_orders_of_a_larger_size_have_other_arms() -> None:
    cells = {cell.name for cell in sally_2.suite("M", ("ibs",)).cells}
    assert cells == {f"ibs: {arm}" for arm in sally_2.ARMS}
    assert [len(setup.injections) for _, _, setup in orders(sally_2.suite("S", ("ibs",)),
            open_models=False)] == [0] * 56  # fmt: skip
