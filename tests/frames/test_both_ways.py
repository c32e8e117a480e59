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
from sally.cli.comparing import plain
from sally.frames.frame import Frame, as_frame

BUNDLES = Path(__file__).parents[2] / "docs" / "results" / "bundles"
THREE = ("quickstart_model-0.5b", "quickstart_model-1.5b", "beliefs_mori2024")
ANALYSES: dict[str, Callable[[Frame], Any]] = {
    "score": lambda frame: list(sally.score(frame)),
    "crossplay": lambda frame: list(sally.crossplay(frame)),
    "profile": lambda frame: plain(sally.profile(frame).estimates),
    "reliability": lambda frame: plain(sally.reliability(frame).measures),
    "variance": lambda frame: plain(sally.variance(frame).sources),
}


def numbers(value: Any) -> Iterator[float]:
    """Yield every number of a result, whatever its layout."""
    if isinstance(value, dict):
        for part in value.values():
            yield from numbers(part)
    elif isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def from_python(analysis: str, frame: Frame) -> Any:
    """Return the result of a function, or the sentence with which it refuses."""
    try:
        return msgspec.to_builtins(ANALYSES[analysis](frame))
    except sally.BadInput as error:
        return str(error)


def on_the_command_line(analysis: str, bundle: Path) -> Any:
    result = CliRunner().invoke(cli, [analysis, str(bundle), "--json"])
    if isinstance(result.exception, sally.BadInput):
        return str(result.exception)
    if result.exit_code:
        return result.output
    printed = json.loads(result.stdout)
    return printed["measures"] if analysis == "reliability" else printed


@pytest.fixture(scope="module", params=THREE)
def bundle(request: pytest.FixtureRequest) -> Path:
    return BUNDLES / f"{request.param}.sally.zip"


@pytest.mark.parametrize("analysis", ANALYSES)
def test_command_prints_the_numbers_of_the_function(analysis: str, bundle: Path) -> None:
    expected = from_python(analysis, as_frame(bundle))
    printed = on_the_command_line(analysis, bundle)
    if isinstance(expected, str):
        assert expected in str(printed)
        return
    values = sorted(numbers(expected))
    assert values == pytest.approx(sorted(numbers(printed)), rel=1e-12)
