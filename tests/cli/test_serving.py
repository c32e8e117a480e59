"""`sally serve`: what cannot be is one sentence, before anybody is let in."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli
from sally.cli import serve as serve_command
from sally.core.errors import BadInput
from sally.core.prompt.model import ModelKind
from sally.core.registry import registry
from sally.models.stub import always


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """The command makes files private for all of its process; this process is ours."""
    old_setting = os.umask(0o022)
    yield
    os.umask(old_setting)


def serve(*arguments: str, folder: Path) -> str:
    result = CliRunner().invoke(cli, ["serve", "--data", str(folder / "data"), *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("--database", "mysql://x"), "The database must be a file or postgresql://"),
        (("--allow-model", "no-such-model"), "There is no model named 'no-such-model'"),
        (("--study", "no_such_study.toml"), "no_such_study.toml"),
        (("--host", "256.256.256.256"), "cannot be opened"),
    ],
)
def test_invalid_options_are_refused_with_one_message(
    given: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=why) as error:
        serve(*given, folder=tmp_path)
    assert "\n" not in str(error.value)


def test_occupied_port_is_reported(tmp_path: Path) -> None:
    with socket.socket() as busy_socket:
        busy_socket.bind(("127.0.0.1", 0))
        busy_socket.listen()
        port = busy_socket.getsockname()[1]
        with pytest.raises(BadInput, match=f"Port {port} of 127.0.0.1 cannot be opened"):
            serve("--port", str(port), folder=tmp_path)


def test_store_of_another_study_is_refused(tmp_path: Path) -> None:
    store.claim(tmp_path / "theirs", store.Manifest("quickstart", ""))
    with pytest.raises(BadInput, match="belongs to study 'quickstart'"):
        serve("--out", str(tmp_path / "theirs"), folder=tmp_path)


def test_secret_that_can_be_guessed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(serve_command.SECRET, "secret")
    with pytest.raises(BadInput, match="must have at least 12 characters, not 6"):
        serve(folder=tmp_path)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What would be served; it is stopped before anybody comes."""
    results: list[object] = []

    def run(app: object, listening: socket.socket, https: bool) -> None:
        listening.close()
        app.state.database.close()  # type: ignore[attr-defined]
        results.append(app)

    monkeypatch.setattr(serve_command, "_run", run)
    return results


def test_models_without_token_limit_are_reported(
    tmp_path: Path, served: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = ModelKind("stub", "answers at once", lambda name: always("Option: J"))
    monkeypatch.setitem(registry._added["models"], "stub", stub)
    arguments = ("--port", "0", "--allow-model", "stub")
    assert "without a limit; --budget-tokens sets one" in serve(*arguments, folder=tmp_path)
    assert "without a limit" not in serve(*arguments, "--budget-tokens", "1000", folder=tmp_path)
    assert len(served) == 2


def test_server_prints_its_addresses_and_keeps_files_private(
    tmp_path: Path, served: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = serve("--port", "0", folder=tmp_path)
    assert "Play at" in process and "Experimenters at" in process
    secret = process.split("Their secret")[1].split()[0]
    assert len(secret) >= 32 and served
    for path in (tmp_path / "data", tmp_path / "data" / "database.sqlite"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    monkeypatch.setenv(serve_command.SECRET, "a secret of ours")
    assert "a secret of ours" not in serve("--port", "0", "--json", folder=tmp_path)
