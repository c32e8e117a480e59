"""Two evaluations on certified pairs, compared pair by pair."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import sally
from sally.api.pair_evaluation import compare_on_pairs
from sally.cli import cli
from sally.core.errors import BadInput
from sally.output.files.bundle import pack
from sally.output.page.pair_comparison import write_pair_comparison


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Evaluations of two bots in one game, and of one of them in another."""
    folder = tmp_path_factory.mktemp("evaluations")
    fields = {
        "random": ("random", "ibs"),
        "reasoner": ("reasoner", "ibs"),
        "rps": ("random", "rps"),
    }
    for name, (bot, game) in fields.items():
        sally.evaluate(bot=bot, games=[game], out=folder / name)
    return {name: folder / name for name in fields}


def test_second_player_is_compared_with_the_first_on_shared_pairs(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    comparison = compare_on_pairs(stores["random"], stores["reasoner"])
    (game,) = comparison.games
    assert game.game == "ibs" and game.knowing is not None and game.doing is not None
    assert game.knowing.second == game.doing.second == 1.0
    change = game.doing.difference
    assert change.value == pytest.approx(1.0 - game.doing.first)
    assert change.low is not None and change.low > 0.3 and game.doing.is_decided
    assert "moves better than random" in comparison.sentences[1].replace("\n", " ")
    assert "in 1 of 1 games and worse in 0" in comparison.sentences[1]
    back = compare_on_pairs(stores["reasoner"], stores["random"]).games[0].doing
    assert back is not None and back.difference.value == pytest.approx(-(change.value or 0))
    write_pair_comparison(comparison, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "ibs, doing: 1" in page or "ibs, doing: 0." in page


def test_bot_that_is_another_player_in_every_game_is_named_after_its_store(
    tmp_path: Path, stores: dict[str, Path]
) -> None:
    sally.evaluate(bot="knows_half", games=["ibs", "rps"], out=tmp_path / "sally_2-knows_half")
    comparison = compare_on_pairs(tmp_path / "sally_2-knows_half", stores["rps"])
    assert (comparison.first, comparison.second) == ("knows_half", "random")
    write_pair_comparison(comparison, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert ">random better<" in page and ">knows_half better<" in page


def test_player_does_not_differ_from_itself(stores: dict[str, Path]) -> None:
    (game,) = compare_on_pairs(stores["random"], stores["random"]).games
    assert game.doing is not None and game.doing.difference.value == 0
    assert not game.doing.is_decided


def test_evaluations_without_a_shared_pair_are_refused(stores: dict[str, Path]) -> None:
    with pytest.raises(BadInput, match="no pair in common"):
        compare_on_pairs(stores["random"], stores["rps"])


def test_command_takes_stores_bundles_and_names(
    stores: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sally_2-lab-random").symlink_to(stores["random"])
    pack(stores["reasoner"], tmp_path / "reasoner.sally.zip")
    done = CliRunner().invoke(cli, ["compare", "lab/random", "reasoner.sally.zip"])
    assert done.exit_code == 0, done.output
    assert "in 1 of 1 games and worse in 0" in done.output
    assert (tmp_path / "comparison.html").exists() and len(done.output.splitlines()) <= 30
    missing = CliRunner().invoke(cli, ["compare", "lab/random", "lab/other"])
    assert isinstance(missing.exception, BadInput) and "out/sally_2-lab-other" in str(
        missing.exception
    )
