"""What players are called in tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sally.core.log.events import PlayerSpec, label
from sally.core.registry import model_names as names


@pytest.fixture(autouse=True)
def nobody_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(names, "_known", {})
    yield


def language(model: str, strategy: str = "qa", **more: object) -> PlayerSpec:
    return PlayerSpec("language", {"model": model, "strategy": strategy, **more})


@pytest.mark.parametrize(
    ("model", "called"),
    [
        ("openai/gpt-4o", "gpt-4o"),
        ("openai-api/lab/weak", "weak"),
        ("ollama/llama3:8b", "llama3:8b"),
        ("embedded", "embedded"),
        ("embedded:qwen-0.5b", "qwen-0.5b"),
        ("hf:models/tiny/", "tiny"),
        ("llama_server:http://host:8080", "host:8080"),
    ],
)
def test_a_model_is_called_without_its_provider(model: str, called: str) -> None:
    assert label(language(model)) == f"{called} qa"


def test_two_models_are_never_called_alike() -> None:
    alike = ("openai/gpt-4o", "azure/gpt-4o", "hf:a/last", "hf:b/last")
    names.remember(alike)
    assert [names.called(model) for model in alike] == [
        "openai/gpt-4o",
        "azure/gpt-4o",
        "a/last",
        "b/last",
    ]
    assert names.called("x/other") == "other"


def test_every_parameter_of_a_model_is_named() -> None:
    asked = language("lab/weak", "chat", settings={"temperature": 0.0}, with_={"history": True})
    assert label(asked) == "weak chat T=0 history=yes"
    assert label(language("lab/weak", settings={"max_tokens": 5})) == "weak qa"


def test_bots_keep_their_short_names() -> None:
    assert label(PlayerSpec("constant", {"move": "J"})) == "constant J"
    assert label(PlayerSpec("inverse", {"of": "random"})) == "not random"
    assert label(PlayerSpec("tit_for_tat", {"kind": True})) == "tit_for_tat kind=yes"
