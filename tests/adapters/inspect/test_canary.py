"""Keys in addresses are refused, and a dummy key changes no record (`tests/test_canaries.py` walks
the outputs)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sally import store
from sally.cli import cli, main
from sally.core import redaction
from sally.core.errors import BadInput
from sally.runner.config import read_config, use_config
from tests.adapters.inspect.server import Handler, serving
from tests.adapters.inspect.test_running import STUDY
from tests.canary import contents

pytest.importorskip("openai", reason="the local server speaks the language of openai-api")

CANARY = "lab-Zq7Xw2Vb9Nm4Kd6Ts1"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://me:secret@localhost:1/v1", "holds a user name or a password"),
        ("http://me@localhost:1/v1", "holds a user name or a password"),
        ("http://localhost:1/v1?api_key=secret", "holds a key"),
        ("http://localhost:1/v1?x=1&access-token=secret", "holds a key"),
        (f"http://localhost:1/{CANARY}/v1", "holds a key"),
    ],
)
def test_base_url_with_key_is_refused_with_advice_on_env_variable(
    address: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", CANARY)
    redaction.remember(CANARY)
    file = tmp_path / "sally.toml"
    file.write_text(f'[models.lab]\nname = "openai-api/lab/x"\nbase_url = "{address}"\n')
    with pytest.raises(BadInput, match=f"base_url {why}; put the key into an env") as refused:
        read_config(file)
    assert "secret" not in str(refused.value) and CANARY not in str(refused.value)


def test_base_url_with_password_from_environment_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:hush@127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.chdir(tmp_path)
    arguments = [
        "run",
        "quickstart_model",
        "--model",
        "openai/x",
        "--limit",
        "1",
        "--without",
        "lm",
    ]
    monkeypatch.setattr(sys, "argv", ["sally", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    captured = capsys.readouterr()
    assert end.value.code == 2
    assert (
        "holds a user name or a password" in captured.err
        and "hush" not in captured.out + captured.err
    )


def hinting(handler: Handler) -> None:
    """A server whose replies hold words of which a dummy key is a part."""
    handler.say("I like this task, so I pick the token J\nOption: J")


@pytest.mark.parametrize("transport", ["server", "inspect"])
def test_dummy_key_of_one_letter_changes_no_record(
    transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(STUDY)
    with serving(always=hinting) as server:
        Path("sally.toml").write_text(
            f'[models.lab]\nname = "openai-api/lab/canary"\nbase_url = "{server.address}"\n'
            f'api_key_env = "LAB_KEY"\ntransport = "{transport}"\n'
        )
        done = CliRunner().invoke(cli, ["run", "tiny.toml", "--model", "lab", "--out", "out"])
    use_config(None)
    assert done.exit_code == 0, done.output
    calls = [
        c for e in store.load(Path("out")).episodes.values() for v in e.events for c in v.calls
    ]
    assert calls and {call.reply for call in calls} == {
        "I like this task, so I pick the token J\nOption: J"
    }
    assert all(call.usage["input"] and call.usage["output"] for call in calls)
    assert not [name for name, data in contents(tmp_path) if b"[key]" in data]
