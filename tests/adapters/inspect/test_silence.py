"""Where all is well, a run through Inspect prints no warning and sends the settings as given."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from sally.adapters.inspect.run import play_orders
from sally.runner.config import use_config
from sally.runner.models import with_model
from tests.adapters.inspect.server import Handler, serving
from tests.adapters.inspect.tables import stored, tiny, wanted

pytest.importorskip("openai", reason="the local server speaks the language of openai")


@pytest.mark.parametrize(
    ("model", "is_sent"), [("labmodel", True), ("demo1", True), ("o3", False), ("gpt-5", False)]
)
def test_temperature_reaches_a_compatible_server(
    model: str,
    is_sent: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    bodies: list[dict[str, Any]] = []

    def answer(call: Handler) -> None:
        bodies.append(call.asked)
        call.say("Option: J")

    with serving(always=answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "abcdefgh")
        monkeypatch.chdir(tmp_path)
        use_config(None)
        name = f"openai/{model}"
        study = with_model(tiny(rounds=1, repeats=1), name, {"temperature": 0.5, "max_tokens": 99})
        orders = wanted(study, name, tmp_path / "out")
        with caplog.at_level(logging.WARNING):
            play_orders("tiny", orders, tmp_path / "out", display="none")
    assert stored(tmp_path / "out")[0].payoffs is not None
    assert bodies and all(("temperature" in body) == is_sent for body in bodies)
    assert all(("max_tokens" in body) == is_sent for body in bodies)
    if is_sent:
        assert [record.message for record in caplog.records] == []
