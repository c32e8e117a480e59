"""What players are called in tables."""

from __future__ import annotations

import pytest

from sally.core.log.events import PlayerSpec, label


def language(model: str, strategy: str = "qa", **options: object) -> PlayerSpec:
    return PlayerSpec("language", {"model": model, "strategy": strategy, **options})


@pytest.mark.parametrize(
    ("model", "called"),
    [
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("openai-api/lab/weak", "openai-api/lab/weak"),
        ("ollama/llama3:8b", "ollama/llama3:8b"),
        ("embedded", "embedded"),
        ("embedded:qwen-0.5b", "embedded:qwen-0.5b"),
        ("hf:models/tiny/", "hf:models/tiny/"),
        ("hf:qwen-0.5b", "qwen-0.5b"),
        ("llama_server:http://host:8080", "llama_server:http://host:8080"),
    ],
)
def test_model_has_its_full_name_in_tables(model: str, called: str) -> None:
    assert label(language(model)) == f"{called} qa"


def test_two_models_never_share_a_name() -> None:
    models = ("openai/gpt-4o", "azure/gpt-4o", "hf:a/last", "hf:b/last", "hf:last", "embedded:last")
    assert len({label(language(model)) for model in models}) == len(models)


def test_every_parameter_of_a_model_is_named() -> None:
    asked_player = language(
        "lab/weak", "chat", settings={"temperature": 0.0}, with_={"history": True}
    )
    assert label(asked_player) == "lab/weak chat T=0 history=yes"
    assert label(language("lab/weak", settings={"max_tokens": 5})) == "lab/weak qa"


def test_bots_keep_their_short_names() -> None:
    assert label(PlayerSpec("constant", {"move": "J"})) == "constant J"
    assert label(PlayerSpec("inverse", {"of": "random"})) == "not random"
    assert label(PlayerSpec("tit_for_tat", {"kind": True})) == "tit_for_tat kind=yes"
