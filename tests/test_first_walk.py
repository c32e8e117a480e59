"""What a new user met on the first walk through the README, each with its own test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sally.adapters.terminal import Left, Person
from sally.analysis.evaluation import Control
from sally.analysis.pairs.comparison import GameDifference, PairComparison, QuestionDifference
from sally.api.play import play
from sally.cli import cli
from sally.core.errors import BadInput
from sally.games.tradecraft.trades import exchange
from sally.output.page.axis import Axis
from sally.output.page.evaluation import _controls
from sally.output.page.pair_comparison import picture
from sally.stats.intervals import Estimate


def test_rate_of_exchange_without_a_proposal_is_unknown() -> None:
    rate = exchange([], [], [], seed=1)
    assert (rate.r, rate.slope_interval, rate.proposals) == (None, None, 0)


def test_probe_at_the_terminal_comes_after_the_position() -> None:
    texts: list[str] = []

    def leave(prompt: str) -> str:
        raise Left

    person: Any = Person(texts.append, leave)
    play("bargaining", {"buyer": person, "seller": "random"}, 3, probes={"buyer": ["their_value"]})
    position = next(n for n, text in enumerate(texts) if "Your value is 94" in text)
    question = next(n for n, text in enumerate(texts) if "What is the cost of the seller" in text)
    assert position < question, texts


def test_value_outside_the_axis_is_marked_with_its_number() -> None:
    axis = Axis(left_edge=160, width=500, margin=16, low=-0.5, high=1.0)
    for value, is_outside in ((axis.low - 0.3, True), (axis.high, False), (0.2, False)):
        estimate = Estimate(value, None, None, 9, "t")
        text = "".join(map(str, axis.estimate("rps", estimate, 10.0, "dot")))
        assert ('class="outside"' in text) is is_outside
        assert (f">{value:.2f}</text>" in text) is is_outside


@pytest.mark.parametrize(("low", "high", "arrows"), [(-0.4, 0.9, 0), (-0.6, 0.9, 1), (-1, 2, 2)])
def test_interval_that_leaves_the_axis_is_marked(low: float, high: float, arrows: int) -> None:
    axis = Axis(left_edge=160, width=500, margin=16, low=-0.5, high=1.0)
    estimate = Estimate(0.2, low, high, 9, "t")
    text = "".join(map(str, axis.estimate("rps", estimate, 10.0, "dot")))
    assert text.count('class="outside"') == arrows


def test_figure_of_a_comparison_holds_its_intervals() -> None:
    for low, end in ((-0.9, "1"), (-1.06, "1.5")):
        wide = QuestionDifference(0.5, -0.2, Estimate(-0.7, low, -0.3, 24, "t"), 0.01)
        games = (GameDifference("rps", 24, wide, None),)
        page = str(picture(PairComparison("a", "b", games, None, None, ())))
        assert 'class="outside"' not in page
        assert f">-{end}<" in page and f">{end}<" in page and ">a better<" in page


def test_controls_name_the_unit_of_their_metric() -> None:
    none = Estimate(None, None, None, 0, "t")
    page = str(_controls([Control("twin", "rps", "tom_percent", none, "undecided", 4, "x")]))
    assert ">ToM %<" in page and ">%<" in page


def test_controls_of_two_wordings_are_told_apart() -> None:
    none = Estimate(None, None, None, 0, "t")
    rows = [
        Control("reworded", "ibs", "payoff", none, "undecided", 4, f"ibs_{skin}")
        for skin in ("formal", "plain")
    ]
    page = str(_controls(rows))
    assert "ibs_formal" in page and "ibs_plain" in page


@pytest.mark.parametrize("command", [["run", "quickstart_model"], ["evaluate"]])
def test_key_that_is_not_set_is_said_without_the_place_in_the_study(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAB_KEY", raising=False)
    address = 'base_url = "http://localhost:8000/v1"\napi_key_env = "LAB_KEY"\n'
    (tmp_path / "sally.toml").write_text(f'[models.mine]\nname = "server/x"\n{address}')
    without = ["--without", "lm"] if command[0] == "run" else []
    done = CliRunner().invoke(cli, [*command, "--model", "mine", *without])
    assert isinstance(done.exception, BadInput)
    assert str(done.exception).startswith("The model 'server/x' takes its key from")


@pytest.mark.parametrize("command", [["run", "quickstart"], ["evaluate", "--bot", "random"]])
def test_store_inside_a_file_is_refused_with_one_sentence(
    command: list[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = CliRunner().invoke(cli, [*command, "--out", str(tmp_path / "file" / "out")])
    assert isinstance(done.exception, BadInput)
    assert "cannot be created: Not a directory" in str(done.exception)
