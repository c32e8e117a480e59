"""A real llama.cpp server behind the same two verbs, on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from sally.core.errors import BadInput
from sally.core.prompt.model import Settings, System, User
from sally.models import llama_server
from sally.models.embedded import Embedded
from sally.models.llama_server import LlamaServer, _open_server

pytestmark = pytest.mark.slow

pytest.importorskip("xllamacpp", reason="the server is the one inside the wheel xllamacpp")

CHAT = [System("You play a game."), User("Rock, paper or scissors?")]


@pytest.fixture(scope="module")
def inside() -> Iterator[Embedded]:
    embedded = Embedded(form="q8_0", context=512, threads=1)
    yield embedded
    embedded.close()


@pytest.fixture(scope="module")
def served(inside: Embedded) -> LlamaServer:
    return LlamaServer(inside.address, weights="smollm2", key=inside.key)


def test_server_scores_equal_in_process_scores(inside: Embedded, served: LlamaServer) -> None:
    candidates = (" rock.", " paper.", " scissors.")
    over_http = asyncio.run(served.score(CHAT, candidates)).logprobs
    assert over_http == pytest.approx(
        asyncio.run(inside.score(CHAT, candidates)).logprobs, abs=1e-3
    )


def test_server_reply_equals_in_process_reply(inside: Embedded, served: LlamaServer) -> None:
    settings = Settings(temperature=0, max_tokens=12)
    over_http = asyncio.run(served.complete(CHAT, settings))
    assert over_http.text == asyncio.run(inside.complete(CHAT, settings)).text
    assert over_http.usage.output > 0


def test_used_record_names_the_reference_of_the_score_check(served: LlamaServer) -> None:
    assert served.used.checked == "smollm2"
    assert served.name.startswith("llama_server/smollm2")


def test_server_with_scores_unlike_the_reference_is_refused(
    inside: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(llama_server.KEY_VARIABLE, inside.key)
    with pytest.raises(BadInput, match="from those of qwen"):
        _open_server(f"llama_server:{inside.address}?weights=qwen-0.5b")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("llama_server", "Give the server's address"),
        ("llama_server:here", "Give the server's address"),
        ("llama_server:http://127.0.0.1:9", "No llama.cpp server answers"),
        ("llama_server:http://127.0.0.1:9?colour=red", "setting of llama_server"),
        ("llama_server:http://127.0.0.1:9?weights=gpt", "set of reference weights"),
    ],
)
def test_invalid_name_is_refused_with_one_message(name: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        _open_server(name)
