"""Every analysis gives the same numbers from Python and on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

import sally
from sally.cli import cli
from sally.cli.compare import plain
from sally.frames.frame import Frame, as_frame
from sally.output.tables.console import json_values

DOCS = Path(__file__).parents[2] / "docs"
BUNDLES = DOCS / "results" / "bundles"
# In the first three every analysis has a result; in the last, nothing was played twice, asked and
# not asked.
STORED = (
    DOCS / "board" / "tabular.sally.zip",
    DOCS / "board" / "fictitious_learner.sally.zip",
    BUNDLES / "tang2024-0.5b.sally.zip",
    BUNDLES / "quickstart_model-1.5b.sally.zip",
)
ANALYSES: dict[str, Callable[[Frame], Any]] = {
    "score": lambda frame: list(sally.score(frame)),
    "crossplay": lambda frame: list(sally.crossplay(frame)),
    "profile": lambda frame: plain(sally.profile(frame).estimates),
    "reliability": lambda frame: plain(sally.reliability(frame).measures),
    "variance": lambda frame: plain(sally.variance(frame).sources),
    "compare": lambda frame: plain(list(sally.compare(frame, *two_players(frame)))),
    "contrast": lambda frame: plain(
        [c.comparison for c in sally.contrast(frame, "asked").contrasts]
    ),
}
COMMANDS = {  # of analyses that are an option of a command
    "crossplay": ("score", "--crossplay"),
    "reliability": ("profile", "--reliability"),
    "variance": ("profile", "--variance"),
    "contrast": ("compare",),
}
RESULTS = {"reliability": "measures", "compare": "comparisons", "contrast": "rows"}  # in the JSON


def two_players(frame: Frame) -> tuple[str, str]:
    """Return the first and the last player of the seat that has most players."""
    players = frame.seats("seat", "player").unique(maintain_order=True)
    lists = players.group_by("seat", maintain_order=True).agg("player")["player"].to_list()
    longest = max(lists, key=len)
    return longest[0], longest[-1]


def numbers(value: Any) -> Iterator[float]:
    """Yield every number of a result, whatever its layout."""
    if isinstance(value, dict):
        for part in value.values():
            yield from numbers(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def from_python(analysis: str, frame: Frame) -> Any:
    """Return the result of a function as JSON shows it, or the sentence with which it refuses."""
    try:
        return json_values(msgspec.to_builtins(ANALYSES[analysis](frame)))
    except sally.BadInput as error:
        return str(error)


def on_the_command_line(analysis: str, bundle: Path, *arguments: str) -> Any:
    command = COMMANDS.get(analysis, (analysis,))
    result = CliRunner().invoke(cli, [*command, str(bundle), *arguments, "--json"])
    if isinstance(result.exception, sally.BadInput):
        return str(result.exception)
    if result.exit_code:
        return result.output
    printed = json.loads(result.stdout)
    return printed[RESULTS[analysis]] if analysis in RESULTS else printed


@pytest.fixture(scope="module", params=STORED, ids=lambda path: path.name.partition(".sally")[0])
def bundle(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.mark.parametrize("analysis", ANALYSES)
def test_command_prints_the_numbers_of_the_function(analysis: str, bundle: Path) -> None:
    frame = as_frame(bundle)
    arguments = {"compare": two_players(frame), "contrast": ("--asked",)}.get(analysis, ())
    expected = from_python(analysis, frame)
    assert isinstance(expected, str) == (bundle == STORED[-1] and analysis == "contrast"), expected
    assert_same(expected, on_the_command_line(analysis, bundle, *arguments))


def test_contrast_of_wordings_is_the_same_both_ways() -> None:
    bundle = BUNDLES / "words-0.5b.sally.zip"
    contrasts = sally.contrast(bundle, "packs").contrasts
    assert contrasts
    expected = plain([contrast.comparison for contrast in contrasts])
    assert_same(expected, on_the_command_line("contrast", bundle, "--packs"))


@pytest.mark.parametrize(
    "options",
    [
        {"bot": "knows_half", "games": ["ibs"]},
        {"bot": "noisy_50", "games": ["eleven_twenty"], "suite": "sally_1"},
    ],
    ids=lambda options: options.get("suite", "sally_2"),
)
def test_evaluation_is_the_same_both_ways(options: dict[str, Any], tmp_path: Path) -> None:
    evaluation = msgspec.to_builtins(sally.evaluate(**options).evaluation, str_keys=True)
    arguments = ["evaluate", "--bot", options["bot"], "--game", *options["games"]]
    arguments += ["--suite", options.get("suite", "sally_2"), "--out", str(tmp_path / "store")]
    for more in ([], ["--no-play"]):  # just played, and read from the store
        result = CliRunner().invoke(cli, [*arguments, *more, "--json"])
        printed = json.loads(result.stdout)
        del printed["page"], printed["out"]
        assert_same(evaluation, printed)


def assert_same(expected: Any, printed: Any) -> None:
    if isinstance(expected, str):
        assert expected in str(printed)
        return
    values = sorted(numbers(expected))
    assert values or not printed
    assert values == pytest.approx(sorted(numbers(printed)), rel=1e-12)
